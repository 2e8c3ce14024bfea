//! Settings: the renderer's by groups, the camera, the window.

use super::super::calibration::Calibration;
use super::super::controls::{Control, Entry, Value, entries};
use super::Scene;
use crate::renderer::{RasterPath, Settings};
use egui::{Color32, Ui};

pub(super) fn show(
    ui: &mut Ui,
    scene: &mut Scene<'_>,
    calibration: Option<&Calibration>,
    calibrate: &mut bool,
) {
    if let Some(settings) = scene.content.settings() {
        let before = *settings;
        renderer(ui, settings, scene.defaults);
        if settings.check().is_err() {
            *settings = before;
        }
        match calibration {
            Some(calibration) => {
                ui.label(calibration.progress());
            }
            None if settings.path == RasterPath::Hybrid => {
                let help = "Try raster thresholds on what is seen now, and keep the fastest";
                *calibrate = ui.button("Calibrate").on_hover_text(help).clicked();
            }
            None => {}
        }
        let path = settings.path;
        audit(ui, scene, path);
    }
    scene.content.panel(ui);
}

/// The culling auditor, and what it has found.
fn audit(ui: &mut Ui, scene: &mut Scene<'_>, path: RasterPath) {
    let Some(audit) = scene.content.audit() else {
        return;
    };
    ui.add_space(4.0);
    ui.strong("Auditor");
    let help = "Draw each frame once more without culling, and compare; costs time";
    ui.checkbox(&mut audit.on, "Audit culling")
        .on_hover_text(help);
    if !audit.on {
        return;
    }
    if path != RasterPath::Hybrid {
        ui.weak("Only the hybrid path can be audited.");
        return;
    }
    let (frames, last) = (audit.frames, &audit.last);
    if last.overflow.draws + last.overflow.clusters > 0 {
        ui.label("There was not room for all of the scene.");
    }
    if audit.false_frames == 0 {
        ui.label(format!("{frames} frames: culling hid nothing that is seen"));
        return;
    }
    let false_frames = audit.false_frames;
    let text = format!(
        "{false_frames} of {frames} frames lack something, the last of them at {} pixels",
        last.pixels
    );
    ui.colored_label(Color32::LIGHT_RED, text);
    for example in last.examples.iter().take(3) {
        let [x, y] = example.pixel;
        let (instance, meshlet) = (example.instance, example.meshlet);
        ui.label(format!(
            "at {x}, {y}: meshlet {meshlet} of instance {instance}"
        ));
    }
}

/// What belongs to the window and its camera.
pub(super) fn window(ui: &mut Ui, scene: &mut Scene<'_>, record_camera: &mut bool) {
    ui.add_space(4.0);
    ui.strong("Window");
    ui.checkbox(scene.vsync, "In step with the display (V)");
    ui.add_space(4.0);
    ui.strong("Camera");
    let key = scene.camera.key();
    let [x, y, z] = key.position.to_array();
    ui.label(format!(
        "at {x:.2}, {y:.2}, {z:.2}, yaw {:.1}, pitch {:.1}",
        key.yaw, key.pitch
    ));
    ui.add(
        egui::Slider::new(&mut scene.camera.speed, 0.01..=1000.0)
            .logarithmic(true)
            .text("units/s"),
    );
    ui.horizontal_wrapped(|ui| {
        if ui.button("From the start (P)").clicked() {
            scene.camera.restart();
        }
        let label = if scene.camera.is_recording() {
            "End recording (R)"
        } else {
            "Record (R)"
        };
        *record_camera = ui.button(label).clicked();
    });
}

fn renderer(ui: &mut Ui, settings: &mut Settings, defaults: Option<Settings>) {
    let mut group = "";
    for entry in entries() {
        let Some(value) = entry.get(settings) else {
            continue;
        };
        if entry.group != group {
            if !group.is_empty() {
                ui.add_space(4.0);
            }
            group = entry.group;
            ui.strong(group);
        }
        if let Some(value) = widget(ui, entry, value) {
            entry.set(settings, value);
        }
    }
    ui.add_space(4.0);
    let help = "All of the above as the scene and the command line have it";
    if ui.button("Reset").on_hover_text(help).clicked() {
        *settings = defaults.unwrap_or_default();
    }
}

/// Shows one setting; gives its new value when the user has changed it.
fn widget(ui: &mut Ui, entry: &Entry, value: Value) -> Option<Value> {
    match (entry.control, value) {
        (Control::Switch, Value::Switch(mut on)) => ui
            .checkbox(&mut on, entry.label)
            .on_hover_text(entry.help)
            .changed()
            .then_some(Value::Switch(on)),
        (Control::Number(least, most, logarithmic), Value::Number(mut number)) => ui
            .add(
                egui::Slider::new(&mut number, least..=most)
                    .logarithmic(logarithmic)
                    .text(entry.label),
            )
            .on_hover_text(entry.help)
            .changed()
            .then_some(Value::Number(number)),
        (Control::Choice(names), Value::Choice(mut index)) => {
            let names = names();
            let before = index;
            egui::ComboBox::from_label(entry.label)
                .selected_text(names.get(index).copied().unwrap_or_default())
                .show_ui(ui, |ui| {
                    for (at, name) in names.iter().enumerate() {
                        ui.selectable_value(&mut index, at, *name);
                    }
                })
                .response
                .on_hover_text(entry.help);
            (index != before).then_some(Value::Choice(index))
        }
        _ => None,
    }
}
