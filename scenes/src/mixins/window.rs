//! The scene in a window, where edited classes and recipes are seen at once.

use super::grid::Grid;
use crate::Error;
use impel::app::{CameraControl, Content, Reloadable, egui};
use impel::gpu::{Frame, Gpu, Texture};
use impel::math::{Camera, Lens};
use impel::renderer::{Settings, Statistics};
use impel::scene::{CameraKey, CameraPath};

/// The grid as what a window shows.
pub struct MixinsContent {
    gpu: Gpu,
    grid: Grid,
}

impl MixinsContent {
    /// Takes the grid.
    #[must_use]
    pub fn new(gpu: &Gpu, grid: Grid) -> Self {
        Self {
            gpu: gpu.clone(),
            grid,
        }
    }

    /// A camera that nothing is seen with: the grid has one look at it.
    #[must_use]
    pub fn camera() -> CameraControl {
        let path = CameraPath {
            keys: vec![CameraKey::default()],
            turn: 0.0,
            lens: Lens::default(),
        };
        CameraControl::new(path, 1.0, None)
    }
}

impl Content for MixinsContent {
    fn resize(&mut self, size: [u32; 2]) -> Result<(), impel::Error> {
        self.grid
            .resize(&self.gpu, size)
            .map_err(Error::into_engine)
    }

    fn record(&mut self, frame: &mut Frame, _: &Camera) -> Result<(), impel::Error> {
        self.grid.record(frame).map_err(Error::into_engine)
    }

    fn picture(&self) -> &Texture {
        self.grid.picture()
    }

    fn settings(&mut self) -> Option<&mut Settings> {
        None
    }

    fn statistics(&self) -> Option<Statistics> {
        None
    }

    fn triangles(&self) -> u64 {
        self.grid.triangles()
    }

    fn images(&self) -> Vec<&Texture> {
        vec![self.grid.depth()]
    }

    fn shaders(&mut self) -> Reloadable<'_> {
        Reloadable {
            pipelines: Vec::new(),
            effects: Some(self.grid.effects()),
        }
    }

    fn panel(&mut self, ui: &mut egui::Ui) {
        ui.label(
            "Each sphere is drawn by an effect of its own: rows are surfaces, columns lights and features. \
             The camera stands still here.",
        );
        egui::CollapsingHeader::new("Effects").show(ui, |ui| {
            for label in &self.grid.labels {
                ui.label(&label.effect)
                    .on_hover_text(label.classes.join(", "));
            }
        });
    }
}
