//! What a window shows.

use crate::Error;
use crate::effects::Effects;
use crate::math::Camera;
use crate::renderer::{
    AuditReport, AuditTicket, RasterPath, Renderer, Settings, Statistics, StatisticsTicket,
};
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

    /// The culling auditor, if there is one.
    fn audit(&mut self) -> Option<&mut CullingAudit> {
        None
    }

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

/// Whether each frame is drawn a second time without culling, and what that has shown.
#[derive(Clone, Debug, Default)]
pub struct CullingAudit {
    /// To be switched between frames. Only the hybrid path can.
    pub on: bool,
    /// Frames audited since it was switched on.
    pub frames: u64,
    /// Those of them that lack anything.
    pub false_frames: u64,
    /// What the last of these lacks; of a frame without fault where there is none.
    pub last: AuditReport,
}

impl CullingAudit {
    fn add(&mut self, report: AuditReport) {
        self.frames += 1;
        let is_false = report.pixels > 0;
        self.false_frames += u64::from(is_false);
        if is_false || self.false_frames == 0 {
            self.last = report;
        }
    }
}

/// A scene, drawn by the standard renderer.
pub struct RendererContent {
    renderer: Renderer,
    /// Angle by which the instances that move turn per frame, radians.
    pub spin: f32,
    /// After the first frame, [`Settings::freeze_camera`] is switched on.
    pub freeze: bool,
    /// Frames recorded.
    frames: u64,
    audit: CullingAudit,
    audits: VecDeque<AuditTicket>,
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
            spin: 0.0,
            freeze: false,
            frames: 0,
            audit: CullingAudit::default(),
            audits: VecDeque::new(),
            triangles,
            tickets: VecDeque::new(),
            statistics: None,
        }
    }

    /// Records the audit of the frame just recorded, and takes what earlier ones have found.
    fn record_audit(&mut self, frame: &mut Frame) -> Result<(), Error> {
        if !self.audit.on {
            self.audits.clear();
            self.audit = CullingAudit::default();
            return Ok(());
        }
        while let Some(ticket) = self.audits.front() {
            let Some(report) = ticket.try_get()? else {
                break;
            };
            self.audit.add(report);
            self.audits.pop_front();
        }
        if self.renderer.settings.path == RasterPath::Hybrid {
            self.audits.push_back(self.renderer.audit(frame)?);
        }
        Ok(())
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
        // Not from the beginning: there is no depth yet to keep.
        if self.freeze && self.frames == 1 {
            self.renderer.settings.freeze_camera = true;
        }
        // In double precision: after hours a step would be lost in the angle.
        let angle = self.frames as f64 * f64::from(self.spin);
        self.frames += 1;
        self.renderer.settings.spin = (angle % std::f64::consts::TAU) as f32;
        let ticket = self.renderer.record(frame, camera);
        // It is no setting of the user's.
        self.renderer.settings.spin = 0.0;
        self.tickets.push_back(ticket?);
        self.record_audit(frame)
    }

    fn picture(&self) -> &Texture {
        self.renderer.colour()
    }

    fn settings(&mut self) -> Option<&mut Settings> {
        Some(&mut self.renderer.settings)
    }

    fn audit(&mut self) -> Option<&mut CullingAudit> {
        Some(&mut self.audit)
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
