//! The panels: one file each. A bar at the top says which are open; those with lists stand one below the other in a column
//! at the right, the flame graph lies at the bottom, so that nothing covers anything else at any size.

mod help;
mod history;
mod passes;
mod performance;
mod profiler;
mod settings;
mod shaders;

pub(super) use history::History;
pub use shaders::ShaderState;

use super::calibration::Calibration;
use super::camera::CameraControl;
use super::content::Content;
use super::preferences::Preferences;
use crate::passes::PreviewDesc;
use crate::renderer::Settings;
use impel_gpu::{Gpu, Profiler};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Names of the panels.
pub const PANELS: [&str; 5] = ["performance", "settings", "passes", "shaders", "profiler"];

/// How long a message stays.
const MESSAGE: Duration = Duration::from_secs(6);

/// What the panels show and change.
pub(super) struct Scene<'a> {
    pub(super) gpu: &'a Gpu,
    pub(super) content: &'a mut dyn Content,
    pub(super) camera: &'a mut CameraControl,
    pub(super) vsync: &'a mut bool,
    pub(super) profiler: Option<&'a Profiler>,
    /// What settings are put back to.
    pub(super) defaults: Option<Settings>,
}

/// The panels' own state.
pub(super) struct Panels {
    open: [bool; PANELS.len()],
    /// Whether any of it is drawn.
    pub(super) interface: bool,
    pub(super) help: bool,
    pub(super) history: History,
    pub(super) shaders: ShaderState,
    /// The user has pressed the button that records.
    pub(super) record_camera: bool,
    /// The user has pressed the button that calibrates.
    pub(super) calibrate: bool,
    pub(super) calibration: Option<Calibration>,
    /// RenderDoc is there.
    pub(super) captures: bool,
    passes: passes::Passes,
    flames: puffin_egui::ProfilerUi,
    messages: VecDeque<(Instant, String)>,
}

impl Panels {
    pub(super) fn new(preferences: &Preferences) -> Self {
        let is_open = |name: &&str| {
            let first = ["performance", "settings"].contains(name);
            preferences.is_on(&format!("panel.{name}"), first)
        };
        Self {
            open: PANELS.each_ref().map(is_open),
            interface: true,
            help: false,
            history: History::default(),
            shaders: ShaderState::default(),
            record_camera: false,
            calibrate: false,
            calibration: None,
            captures: false,
            passes: passes::Passes::default(),
            flames: profiler::flames(),
            messages: VecDeque::new(),
        }
    }

    pub(super) fn keep(&self, preferences: &mut Preferences) {
        for (name, open) in PANELS.iter().zip(self.open) {
            preferences.set_on(&format!("panel.{name}"), open);
        }
    }

    pub(super) fn is_open(&self, name: &str) -> bool {
        PANELS
            .iter()
            .zip(self.open)
            .any(|(panel, open)| *panel == name && open)
    }

    pub(super) fn set_open(&mut self, name: &str, open: bool) {
        for (panel, is_open) in PANELS.iter().zip(&mut self.open) {
            if *panel == name {
                *is_open = open;
            }
        }
    }

    /// Shows a line for some seconds.
    pub(super) fn say(&mut self, line: String) {
        log::info!("{line}");
        self.messages.push_back((Instant::now(), line));
    }

    /// Whether the next frame's passes are to be noted down.
    pub(super) fn wants_inspection(&self) -> bool {
        self.interface && self.is_open("passes")
    }

    /// The picture to preview, by its place among the content's, and how.
    pub(super) fn previewed(&self) -> Option<(usize, PreviewDesc)> {
        self.wants_inspection().then(|| self.passes.preview())
    }

    pub(super) fn show(&mut self, context: &egui::Context, scene: &mut Scene<'_>) {
        self.messages.retain(|(since, _)| since.elapsed() < MESSAGE);
        if !self.interface {
            return;
        }
        egui::TopBottomPanel::top("bar").show(context, |ui| self.bar(ui, scene));
        if self.is_open("profiler") {
            let most = context.content_rect().height() * 0.6;
            egui::TopBottomPanel::bottom("profiler")
                .resizable(true)
                .default_height(most)
                .max_height(most)
                .show(context, |ui| {
                    profiler::show(ui, &mut self.flames, scene.profiler);
                });
        }
        if PANELS[..4].iter().any(|name| self.is_open(name)) {
            let most = context.content_rect().width() * 0.6;
            egui::SidePanel::right("column")
                .resizable(true)
                .default_width(320.0_f32.min(most))
                .max_width(most)
                .show(context, |ui| {
                    egui::ScrollArea::vertical()
                        .auto_shrink(false)
                        .show(ui, |ui| self.column(ui, scene));
                });
        }
        help::show(context, &mut self.help, self.captures);
    }

    fn bar(&mut self, ui: &mut egui::Ui, scene: &Scene<'_>) {
        ui.horizontal_wrapped(|ui| {
            for (name, open) in PANELS.iter().zip(&mut self.open) {
                ui.toggle_value(open, title(name));
            }
            ui.toggle_value(&mut self.help, "Help (F1)");
            if scene.camera.is_recording() {
                ui.colored_label(egui::Color32::LIGHT_RED, "recording the camera (R ends it)");
            }
            if let Some((_, line)) = self.messages.back() {
                ui.label(line);
            } else {
                ui.weak(self.history.summary());
            }
        });
    }

    fn column(&mut self, ui: &mut egui::Ui, scene: &mut Scene<'_>) {
        let open = |name| {
            PANELS
                .iter()
                .zip(self.open)
                .any(|(panel, open)| *panel == name && open)
        };
        let [performance, settings, passes, shaders] =
            ["performance", "settings", "passes", "shaders"].map(open);
        if performance {
            section(ui, "Performance", |ui| {
                performance::show(ui, &self.history, scene);
            });
        }
        if settings {
            section(ui, "Settings", |ui| {
                settings::show(ui, scene, self.calibration.as_ref(), &mut self.calibrate);
                settings::window(ui, scene, &mut self.record_camera);
            });
        }
        if passes {
            section(ui, "Passes", |ui| {
                self.passes.show(ui, scene, &self.history);
            });
        }
        if shaders {
            section(ui, "Shaders", |ui| shaders::show(ui, &self.shaders));
        }
    }
}

fn section(ui: &mut egui::Ui, title: &str, content: impl FnOnce(&mut egui::Ui)) {
    egui::CollapsingHeader::new(egui::RichText::new(title).strong())
        .default_open(true)
        .show_unindented(ui, content);
    ui.separator();
}

fn title(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}
