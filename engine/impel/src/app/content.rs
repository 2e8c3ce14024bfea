//! What a window shows.

use crate::Error;
use crate::effects::Effects;
use crate::math::Camera;
use crate::renderer::{Renderer, Settings, Statistics, StatisticsTicket};
use impel_gpu::{Frame, Pipeline, Texture};
use std::collections::VecDeque;

/// Something that draws a picture each frame.
pub trait Content {
    /// Makes pictures of another size from the next frame on.
    ///
    /// # Errors
    /// Whatever stands against it; the old size stays then.
    fn resize(&mut self, size: [u32; 2]) -> Result<(), Error>;

    /// Records the passes of a frame.
    ///
    /// # Errors
    /// Whatever stands against it.
    fn record(&mut self, frame: &mut Frame, camera: &Camera) -> Result<(), Error>;

    /// What the last recorded frame draws: sRGB values in a colour attachment without conversion. The user interface is
    /// drawn over it.
    fn picture(&self) -> &Texture;

    /// The renderer's settings, if there is one in it.
    fn settings(&mut self) -> Option<&mut Settings>;

    /// What the GPU counted in the newest frame that it is done with.
    fn statistics(&self) -> Option<Statistics>;

    /// Triangles in the scene at their finest level.
    fn triangles(&self) -> u64;

    /// Pictures to look at, beside the last.
    fn images(&self) -> Vec<&Texture>;

    /// All that new shaders can be put into.
    fn shaders(&mut self) -> Reloadable<'_>;

    /// Settings of its own.
    fn panel(&mut self, _ui: &mut egui::Ui) {}
}

/// What new shaders can be put into between frames.
#[derive(Default)]
pub struct Reloadable<'a> {
    /// Every pipeline.
    pub pipelines: Vec<&'a mut Pipeline>,
    /// Effects composed from classes. Whoever draws with them asks for their pipelines each frame.
    pub effects: Option<&'a mut Effects>,
}

/// A scene, drawn by the standard renderer.
pub struct RendererContent {
    renderer: Renderer,
    triangles: u64,
    tickets: VecDeque<StatisticsTicket>,
    statistics: Option<Statistics>,
}

impl RendererContent {
    /// Takes a renderer; `triangles` are those of the scene at their finest level.
    #[must_use]
    pub fn new(renderer: Renderer, triangles: u64) -> Self {
        Self {
            renderer,
            triangles,
            tickets: VecDeque::new(),
            statistics: None,
        }
    }
}

impl Content for RendererContent {
    fn resize(&mut self, size: [u32; 2]) -> Result<(), Error> {
        self.renderer.resize(size)
    }

    fn record(&mut self, frame: &mut Frame, camera: &Camera) -> Result<(), Error> {
        while let Some(ticket) = self.tickets.front() {
            let Some(statistics) = ticket.try_get()? else {
                break;
            };
            self.statistics = Some(statistics);
            self.tickets.pop_front();
        }
        self.tickets.push_back(self.renderer.record(frame, camera)?);
        Ok(())
    }

    fn picture(&self) -> &Texture {
        self.renderer.colour()
    }

    fn settings(&mut self) -> Option<&mut Settings> {
        Some(&mut self.renderer.settings)
    }

    fn statistics(&self) -> Option<Statistics> {
        self.statistics
    }

    fn triangles(&self) -> u64 {
        self.triangles
    }

    fn images(&self) -> Vec<&Texture> {
        vec![self.renderer.depth(), self.renderer.hzb()]
    }

    fn shaders(&mut self) -> Reloadable<'_> {
        Reloadable {
            pipelines: self.renderer.pipelines(),
            effects: None,
        }
    }
}
