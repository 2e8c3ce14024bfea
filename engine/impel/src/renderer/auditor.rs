//! The culling auditor: draws a frame a second time without culling and reports every pixel that culling has changed.

use super::statistics::Counters;
use super::{Capacities, Lists, RasterPath, Renderer, Resources, Settings, Targets};
use crate::Error;
use crate::config::AUDIT_EXAMPLES;
use crate::passes::Phase;
use crate::renderer::{Overflow, Statistics};
use bytemuck::{Pod, Zeroable};
use impel_gpu::{Buffer, BufferDesc, Frame, Gpu, ReadBack};

/// What the second drawing needs, of the picture's size.
pub(super) struct Auditor {
    lists: Lists,
    targets: Targets,
    result: Buffer,
}

/// `ResultBlock` of `audit.comp`.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct AuditResult {
    count: u32,
    reserved: u32,
    first: [[u32; 4]; AUDIT_EXAMPLES as usize],
}

/// A pixel that shows something culled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FalseCull {
    /// The pixel, from the upper left.
    pub pixel: [u32; 2],
    /// The instance that should be seen there.
    pub instance: u32,
    /// The meshlet of it, counted over all meshes.
    pub meshlet: u32,
}

/// What the auditor found in a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditReport {
    /// Pixels at which the frame lacks what is nearest.
    pub pixels: u64,
    /// Some of them.
    pub examples: Vec<FalseCull>,
    /// What the auditor itself had no room for: if anything, it has not seen all.
    pub overflow: Overflow,
}

/// An audit on its way from the GPU.
pub struct AuditTicket {
    result: ReadBack,
    counters: ReadBack,
}

impl AuditTicket {
    /// Waits for the frame and gives what was found.
    ///
    /// # Errors
    /// [`Error::Gpu`] when the frame has not been submitted or the device is lost.
    pub fn wait(&self) -> Result<AuditReport, Error> {
        Ok(AuditReport::from_bytes(
            &self.result.wait()?,
            &self.counters.wait()?,
        ))
    }

    /// What was found, if the frame is done; never waits.
    ///
    /// # Errors
    /// [`Error::Gpu`] when the device is lost.
    pub fn try_get(&self) -> Result<Option<AuditReport>, Error> {
        let found = self.result.try_get()?.zip(self.counters.try_get()?);
        Ok(found.map(|(result, counters)| AuditReport::from_bytes(&result, &counters)))
    }
}

impl AuditReport {
    fn from_bytes(bytes: &[u8], counters: &[u8]) -> Self {
        let mut found = AuditResult::zeroed();
        let target = bytemuck::bytes_of_mut(&mut found);
        let length = target.len().min(bytes.len());
        target[..length].copy_from_slice(&bytes[..length]);
        let example = |&[x, y, instance, meshlet]: &[u32; 4]| FalseCull {
            pixel: [x, y],
            instance,
            meshlet,
        };
        let first = found.first.iter().take(found.count as usize);
        Self {
            pixels: u64::from(found.count),
            examples: first.map(example).collect(),
            overflow: Statistics::from_bytes(counters).overflow,
        }
    }
}

impl Renderer {
    /// Records the audit of the frame that was just recorded: all of the scene without culling, compared with the picture.
    /// Takes as long as such a frame does, and as much memory again.
    ///
    /// # Errors
    /// [`Error::Value`] when the path is not hybrid or nothing was recorded before; [`Error::Gpu`].
    pub fn audit(&mut self, frame: &mut Frame) -> Result<AuditTicket, Error> {
        let size = self.targets.size;
        let data = match (self.settings.path, self.last) {
            (RasterPath::Hybrid, Some(data)) => data,
            (RasterPath::Hybrid, None) => {
                return Err(Error::value("audit", "a frame recorded before it", "none"));
            }
            (path, _) => return Err(Error::value("audit", "path hybrid", path.name())),
        };
        if self
            .auditor
            .as_ref()
            .is_none_or(|auditor| auditor.targets.size != size)
        {
            self.auditor = Some(Auditor::new(&self.gpu, self, size)?);
        }
        let (Some(auditor), Some(visibility)) = (&self.auditor, &self.targets.visibility) else {
            return Err(Error::value(
                "audit",
                "a device with 64-bit atomics",
                "none",
            ));
        };
        let mut settings = self.settings;
        settings.culling = super::Culling::NONE;
        let data = super::FrameData {
            flags: super::FrameData::flags(&settings, false),
            chunk_capacity: auditor.lists.chunk_capacity,
            cluster_capacity: auditor.lists.cluster_capacity,
            reject_capacity: auditor.lists.reject_capacity,
            offset_stride: auditor.lists.offset_stride,
            ..data
        };
        auditor.record(frame, self, &data, &settings, &visibility.pixels)
    }
}

impl Auditor {
    fn new(gpu: &Gpu, renderer: &Renderer, size: [u32; 2]) -> Result<Self, Error> {
        let name = "audit result";
        Ok(Self {
            lists: Lists::new(gpu, &renderer.scene, Capacities::default())?,
            targets: Targets::new(gpu, size)?,
            result: gpu.buffer(&BufferDesc::storage(name, size_of::<AuditResult>() as u64))?,
        })
    }

    fn record(
        &self,
        frame: &mut Frame,
        renderer: &Renderer,
        data: &super::FrameData,
        settings: &Settings,
        frame_pixels: &Buffer,
    ) -> Result<AuditTicket, Error> {
        let resources = Resources {
            settings,
            scene: &renderer.scene,
            lists: &self.lists,
            targets: &self.targets,
            sampler: &renderer.sampler,
        };
        let hybrid = renderer
            .passes
            .raster
            .as_ref()
            .zip(self.targets.visibility.as_ref());
        let (Some(((raster, _), visibility)), Some(pass)) = (hybrid, &renderer.passes.audit) else {
            return Err(Error::value(
                "audit",
                "a device with 64-bit atomics",
                "none",
            ));
        };
        frame.upload(&self.lists.frame, 0, bytemuck::bytes_of(data))?;
        let (states, counters) = (&self.lists.group_states, &self.lists.counters);
        frame.fill(states, 0, states.size(), 0)?;
        frame.fill(counters, 0, size_of::<Counters>() as u64, 0)?;
        frame.fill(&visibility.pixels, 0, visibility.pixels.size(), 0)?;
        frame.fill(&self.result, 0, self.result.size(), 0)?;
        for phase in [Phase::Early, Phase::Late] {
            renderer.passes.fill_lists(frame, phase, &resources)?;
            raster.record(frame, phase, &resources, visibility)?;
            renderer.passes.draw.record(frame, phase, &resources)?;
        }
        pass.record(frame, frame_pixels, &resources, visibility, &self.result)?;
        Ok(AuditTicket {
            result: frame.read_back(&self.result, 0, self.result.size())?,
            counters: frame.read_back(counters, 0, counters.size())?,
        })
    }
}
