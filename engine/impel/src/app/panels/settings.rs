//! Settings: the renderer's by groups, the camera, the window.

use super::super::calibration::Calibration;
use super::super::controls::{Control, Entry, Value, entries};
use super::Scene;
use crate::renderer::{RasterPath, Settings};
use egui::Ui;

pub(super) fn show(
    ui: &mut Ui,
    scene: &mut Scene<'_>,
    calibration: Option<&Calibration>,
    calibrate: &mut bool,
) {
    if let Some(settings) = scene.content.settings() {
        let before = *settings;
        renderer(ui, settings);
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
    }
    scene.content.panel(ui);
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

fn renderer(ui: &mut Ui, settings: &mut Settings) {
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
    if ui.button("Reset").clicked() {
        let fresh = Settings::default();
        // The path hangs on the device, not on taste.
        *settings = Settings {
            path: settings.path,
            fog_distance: settings.fog_distance,
            ..fresh
        };
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
