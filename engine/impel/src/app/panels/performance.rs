//! Performance: device, frame times, passes, what was culled, memory.

use super::Scene;
use super::history::{FRAMES, History};
use egui::{Color32, Pos2, Rect, Sense, Stroke, Ui, pos2, vec2};
use std::collections::VecDeque;

pub(super) fn show(ui: &mut Ui, history: &History, scene: &mut Scene<'_>) {
    let info = scene.gpu.info();
    ui.label(format!("{} ({})", info.name, info.kind.as_str()))
        .on_hover_text(format!("{}, Vulkan {}", info.driver, info.api));
    ui.add_space(4.0);
    plot(ui, "Frame", &history.frame_ms, Color32::LIGHT_BLUE);
    plot(ui, "GPU", &history.gpu_ms, Color32::LIGHT_GREEN);
    let last = &history.last;
    ui.label(format!(
        "Recording {:.2} ms, {} barriers ({} full)",
        last.cpu_record_ns as f64 / 1e6,
        last.barriers,
        last.full_barriers
    ));
    ui.label(format!(
        "Device memory {:.1} MiB",
        scene.gpu.allocated_bytes() as f64 / f64::from(1 << 20)
    ));
    counts(ui, scene);
    egui::CollapsingHeader::new("Time of each pass")
        .default_open(true)
        .show(ui, |ui| passes(ui, history));
    if scene.gpu.info().features.pipeline_statistics {
        let header = egui::CollapsingHeader::new("Pipeline statistics");
        let header = header.default_open(scene.gpu.counts_invocations());
        header.show(ui, |ui| {
            let mut on = scene.gpu.counts_invocations();
            let help = "Have the device count primitives and invocations; costs time";
            let switched = ui.checkbox(&mut on, "Count").on_hover_text(help);
            if switched.changed() {
                scene.gpu.count_invocations(on);
            }
            if on {
                statistics(ui, history);
            }
        });
    }
}

fn plot(ui: &mut Ui, name: &str, times: &VecDeque<f32>, colour: Color32) {
    let most = times.iter().copied().fold(1.0_f32, f32::max);
    let last = times.back().copied().unwrap_or(0.0);
    ui.label(format!("{name} {last:.2} ms (highest {most:.1})"));
    let size = vec2(ui.available_width(), 40.0);
    let (response, painter) = ui.allocate_painter(size, Sense::hover());
    let rect = response.rect;
    painter.rect_filled(rect, 2.0, Color32::from_black_alpha(120));
    let line: Vec<Pos2> = times
        .iter()
        .enumerate()
        .map(|(index, ms)| at(rect, index as f32 / (FRAMES - 1) as f32, ms / most))
        .collect();
    painter.line(line, Stroke::new(1.0, colour));
}

fn at(rect: Rect, x: f32, y: f32) -> Pos2 {
    pos2(
        rect.left() + x * rect.width(),
        rect.bottom() - 1.0 - y * (rect.height() - 2.0),
    )
}

fn passes(ui: &mut Ui, history: &History) {
    egui::Grid::new("pass times")
        .num_columns(3)
        .striped(true)
        .show(ui, |ui| {
            ui.weak("pass");
            ui.weak("GPU ms");
            ui.weak("CPU µs");
            ui.end_row();
            for pass in &history.passes {
                ui.label(&pass.name);
                ui.monospace(format!("{:.3}", pass.gpu_ms));
                ui.monospace(format!("{:.1}", pass.cpu_us));
                ui.end_row();
            }
        });
}

fn counts(ui: &mut Ui, scene: &Scene<'_>) {
    let Some(statistics) = scene.content.statistics() else {
        return;
    };
    let (instances, meshlets) = (statistics.instances, statistics.meshlets);
    ui.label(format!(
        "{} triangles drawn",
        grouped(statistics.triangles_drawn)
    ));
    ui.label(format!(
        "of {} in the scene",
        grouped(scene.content.triangles())
    ));
    let overflow = statistics.overflow.draws + statistics.overflow.clusters;
    if overflow > 0 {
        ui.colored_label(
            Color32::LIGHT_RED,
            format!("{overflow} things were left out for want of room"),
        );
    }
    egui::CollapsingHeader::new("What was culled")
        .default_open(true)
        .show(ui, |ui| {
            egui::Grid::new("culling")
                .num_columns(3)
                .striped(true)
                .show(ui, |ui| {
                    ui.label("");
                    ui.weak("instances");
                    ui.weak("meshlets");
                    ui.end_row();
                    let mut row = |name: &str, instances: Option<u64>, meshlets: Option<u64>| {
                        ui.label(name);
                        for count in [instances, meshlets] {
                            ui.monospace(count.map_or(String::new(), grouped));
                        }
                        ui.end_row();
                    };
                    row("all", Some(instances.total), Some(meshlets.tested));
                    row("facing away", None, Some(meshlets.cone_culled));
                    row(
                        "outside",
                        Some(instances.frustum_culled),
                        Some(meshlets.frustum_culled),
                    );
                    row(
                        "hidden",
                        Some(instances.occlusion_culled),
                        Some(meshlets.occlusion_culled),
                    );
                    row("drawn early", Some(instances.early), None);
                    row("drawn late", Some(instances.late), None);
                    row("drawn", Some(instances.drawn), Some(meshlets.drawn));
                });
        });
    egui::CollapsingHeader::new("Levels of detail").show(ui, |ui| {
        let most = statistics
            .lod_histogram
            .iter()
            .copied()
            .max()
            .unwrap_or(0)
            .max(1);
        for (lod, count) in statistics.lod_histogram.iter().enumerate() {
            let share = *count as f32 / most as f32;
            ui.add(egui::ProgressBar::new(share).text(format!("{lod}: {}", grouped(*count))));
        }
    });
}

fn statistics(ui: &mut Ui, history: &History) {
    egui::Grid::new("pipeline statistics")
        .num_columns(3)
        .striped(true)
        .show(ui, |ui| {
            ui.weak("pass");
            ui.weak("primitives");
            ui.weak("invocations");
            ui.end_row();
            for pass in &history.last.passes {
                let Some(counted) = pass.statistics else {
                    continue;
                };
                ui.label(pass.name.as_str());
                ui.monospace(grouped(counted.input_primitives + counted.mesh_primitives));
                ui.monospace(grouped(
                    counted.vertex_invocations
                        + counted.fragment_invocations
                        + counted.compute_invocations
                        + counted.task_invocations
                        + counted.mesh_invocations,
                ));
                ui.end_row();
            }
        });
}

/// With a thin space between thousands.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn thousands_stand_apart() {
        assert_eq!(super::grouped(0), "0");
        assert_eq!(super::grouped(999), "999");
        assert_eq!(super::grouped(5_846_713_151), "5 846 713 151");
    }
}
