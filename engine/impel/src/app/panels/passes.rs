//! Passes: those of the frame with what they bind, as reflected, and a look at any picture.

use super::super::application::PREVIEW;
use super::Scene;
use super::history::History;
use crate::passes::{Preview, PreviewDesc};
use egui::Ui;
use impel_gpu::PassRecord;

pub(super) struct Passes {
    /// The last frame that was noted down.
    records: Vec<PassRecord>,
    image: usize,
    desc: PreviewDesc,
}

impl Default for Passes {
    fn default() -> Self {
        Self {
            records: Vec::new(),
            image: 0,
            desc: PreviewDesc {
                mip: 0,
                brightness: 1.0,
            },
        }
    }
}

impl Passes {
    pub(super) fn preview(&self) -> (usize, PreviewDesc) {
        (self.image, self.desc)
    }

    pub(super) fn show(&mut self, ui: &mut Ui, scene: &mut Scene<'_>, history: &History) {
        let records = scene.gpu.inspected();
        if !records.is_empty() {
            self.records = records;
        }
        self.picture(ui, scene);
        ui.add_space(4.0);
        for (index, record) in self.records.iter().enumerate() {
            // Several passes may share a name; their places are the same while the frame stays as it is.
            let time = history
                .passes
                .get(index)
                .filter(|pass| pass.name == record.name)
                .map_or(String::new(), |pass| format!("  {:.3} ms", pass.gpu_ms));
            egui::CollapsingHeader::new(format!("{}{time}", record.name))
                .id_salt(("pass", index))
                .show(ui, |ui| {
                    if !record.pipeline.is_empty() {
                        ui.label(format!("pipeline {}", record.pipeline));
                    }
                    for line in record.bindings.iter().chain(&record.resources) {
                        ui.label(line);
                    }
                });
        }
    }

    fn picture(&mut self, ui: &mut Ui, scene: &Scene<'_>) {
        let mut images = vec![scene.content.picture()];
        images.extend(scene.content.images());
        self.image = self.image.min(images.len() - 1);
        let Some(shown) = images.get(self.image) else {
            return;
        };
        egui::ComboBox::from_label("Picture")
            .selected_text(shown.name())
            .show_ui(ui, |ui| {
                for (index, image) in images.iter().enumerate() {
                    ui.selectable_value(&mut self.image, index, image.name());
                }
            });
        let last = shown.mips().saturating_sub(1);
        self.desc.mip = self.desc.mip.min(last);
        if last > 0 {
            ui.add(egui::Slider::new(&mut self.desc.mip, 0..=last).text("mip"));
        }
        ui.add(
            egui::Slider::new(&mut self.desc.brightness, 0.1..=100.0)
                .logarithmic(true)
                .text("brightness"),
        );
        let [width, height] = Preview::SIZE.map(|side| side as f32);
        let wide = ui.available_width().min(width);
        ui.image((PREVIEW, egui::vec2(wide, wide * height / width)));
        let [width, height, _] = shown.mip_size(self.desc.mip);
        ui.weak(format!("{width}x{height}, {:?}", shown.format()));
    }
}
