//! The renderer: arranges the passes of a frame.
//!
//! early cull, early clusters, early draw (clears), HZB, late cull, late clusters, late draw; then the sky behind
//! everything, or, in the hybrid path, the resolve pass. There, a draw is a compute raster of clusters of small triangles
//! and a hardware draw of all others, both into the visibility buffer. What the early phase draws is what was visible last
//! frame; the late phase adds what the early depth does not hide. Whatever the culling does, the picture is the same as
//! without it.

pub(crate) mod arguments;
mod auditor;
mod frame_data;
mod lists;
mod scene_buffers;
mod settings;
mod statistics;
mod targets;

pub use auditor::{AuditReport, AuditTicket, FalseCull};
pub use frame_data::{FrameData, View};
pub(crate) use lists::Lists;
pub use scene_buffers::{GpuMesh, SceneBuffers};
pub use settings::{Capacities, Culling, DebugView, RasterPath, Settings};
pub use statistics::{InstanceStatistics, MeshletStatistics, Overflow, Statistics};
pub use targets::MAX_SIZE;
pub(crate) use targets::{Targets, VisibilityTargets};

use crate::Error;
use crate::math::{Camera, LodSelector};
use crate::passes::{
    Audit, Background, Clusters, Counted, Cull, CullGroups, DownsampleDepth, Draw, Phase, Raster,
    Resolve, Scan, Spin, Step, Submit, SubmitStep,
};
use crate::scene::Scene;
use impel_gpu::{Buffer, Frame, Gpu, Pipeline, ReadBack, Sampler, SamplerDesc, Texture};

/// Draws a scene, frame by frame.
pub struct Renderer {
    gpu: Gpu,
    /// May be changed between frames.
    pub settings: Settings,
    scene: SceneBuffers,
    lists: Lists,
    targets: Targets,
    sampler: Sampler,
    passes: Passes,
    history: History,
    /// Data of the frame recorded last.
    last: Option<FrameData>,
    /// Made at the first audit.
    auditor: Option<auditor::Auditor>,
}

struct Passes {
    spin: Spin,
    cull_groups: CullGroups,
    cull: Cull,
    scan: Scan,
    submit: Submit,
    clusters: Clusters,
    draw: Draw,
    /// Of the hybrid path; none on devices without 64-bit atomics.
    raster: Option<(Raster, Resolve)>,
    /// As those. Made at once, so that an edited shader reaches it before the first audit.
    audit: Option<Audit>,
    hzb: DownsampleDepth,
    background: Background,
}

impl Passes {
    /// Culls groups, instances and clusters of a phase, up to the arguments of its draws.
    fn fill_lists(
        &self,
        frame: &mut Frame,
        phase: Phase,
        resources: &Resources<'_>,
    ) -> Result<(), Error> {
        let steps: &[Step] = match resources.settings.deterministic {
            true => &[Step::Count, Step::Place],
            false => &[Step::AtOnce],
        };
        let scan = |frame: &mut Frame, step, counted| match step {
            Step::Count => self.scan.record(frame, phase, counted, resources),
            Step::AtOnce | Step::Place => Ok(()),
        };
        let lists = resources.lists;
        let task = resources.settings.path == RasterPath::Task;
        for &step in steps {
            self.cull_groups.record(frame, phase, step, resources)?;
            scan(frame, step, Counted::Groups)?;
        }
        (self.submit).record(frame, phase, SubmitStep::Groups, lists)?;
        for &step in steps {
            self.cull.record(frame, phase, step, resources)?;
            scan(frame, step, Counted::Cull)?;
        }
        (self.submit).record(frame, phase, SubmitStep::Chunks, lists)?;
        if task {
            return Ok(()); // The draw culls clusters.
        }
        for &step in steps {
            self.clusters.record(frame, phase, step, resources)?;
            scan(frame, step, Counted::Clusters)?;
        }
        (self.submit).record(frame, phase, SubmitStep::Draws, lists)
    }
}

/// What the passes of a frame work on.
pub(crate) struct Resources<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) scene: &'a SceneBuffers,
    pub(crate) lists: &'a Lists,
    pub(crate) targets: &'a Targets,
    pub(crate) sampler: &'a Sampler,
}

/// What a frame leaves for the next.
#[derive(Default)]
struct History {
    /// Visibility and HZB have been cleared.
    started: bool,
    /// The camera that the depth in the HZB was seen with.
    hzb: Option<View>,
    /// The culling camera while frozen.
    frozen: Option<Camera>,
}

/// A recorded frame's statistics on their way from the GPU.
pub struct StatisticsTicket {
    read_back: ReadBack,
}

impl StatisticsTicket {
    /// Waits for the frame and gives what was counted.
    ///
    /// # Errors
    /// [`Error::Gpu`] when the frame has not been submitted or the device is lost.
    pub fn wait(&self) -> Result<Statistics, Error> {
        Ok(Statistics::from_bytes(&self.read_back.wait()?))
    }

    /// What was counted, if the frame is done; never waits.
    ///
    /// # Errors
    /// [`Error::Gpu`] when the device is lost.
    pub fn try_get(&self) -> Result<Option<Statistics>, Error> {
        let bytes = self.read_back.try_get()?;
        Ok(bytes.map(|bytes| Statistics::from_bytes(&bytes)))
    }
}

impl Renderer {
    /// Uploads a scene and builds everything for pictures of `size` (width, height).
    ///
    /// # Errors
    /// [`Error::Value`] for a size, scene, setting or capacity that cannot be; [`Error::Gpu`].
    pub fn new(
        gpu: &Gpu,
        scene: &Scene,
        size: [u32; 2],
        settings: Settings,
        room: Capacities,
    ) -> Result<Self, Error> {
        settings.check()?;
        let targets = Targets::new(gpu, size)?;
        let scene = SceneBuffers::new(gpu, scene)?;
        let passes = Passes {
            spin: Spin::new(gpu)?,
            cull_groups: CullGroups::new(gpu)?,
            cull: Cull::new(gpu)?,
            scan: Scan::new(gpu)?,
            submit: Submit::new(gpu)?,
            clusters: Clusters::new(gpu)?,
            draw: Draw::new(gpu)?,
            raster: (gpu.info().features.buffer_int64_atomics)
                .then(|| -> Result<_, Error> { Ok((Raster::new(gpu)?, Resolve::new(gpu)?)) })
                .transpose()?,
            audit: (gpu.info().features.buffer_int64_atomics)
                .then(|| Audit::new(gpu))
                .transpose()?,
            hzb: DownsampleDepth::new(gpu)?,
            background: Background::new(gpu)?,
        };
        Ok(Self {
            gpu: gpu.clone(),
            settings,
            lists: Lists::new(gpu, &scene, room)?,
            scene,
            targets,
            sampler: gpu.sampler(&SamplerDesc::nearest())?,
            passes,
            history: History::default(),
            last: None,
            auditor: None,
        })
    }

    /// Makes pictures of another size from the next frame on.
    ///
    /// # Errors
    /// As [`Renderer::new`]; the old size stays then.
    pub fn resize(&mut self, size: [u32; 2]) -> Result<(), Error> {
        if size != self.targets.size {
            self.targets = Targets::new(&self.gpu, size)?;
            self.last = None;
            self.history = History {
                started: false,
                hzb: None,
                frozen: self.history.frozen,
            };
        }
        Ok(())
    }

    /// Every pipeline, so that new shaders can take the place of old ones between frames.
    pub fn pipelines(&mut self) -> Vec<&mut Pipeline> {
        let Passes {
            spin,
            cull_groups,
            cull,
            scan,
            submit,
            clusters,
            draw,
            raster,
            audit,
            hzb,
            background,
        } = &mut self.passes;
        let mut all = spin.pipelines();
        all.extend(cull_groups.pipelines());
        all.extend(cull.pipelines());
        all.extend(scan.pipelines());
        all.extend(submit.pipelines());
        all.extend(clusters.pipelines());
        all.extend(draw.pipelines());
        if let Some((raster, resolve)) = raster {
            all.extend(raster.pipelines());
            all.extend(resolve.pipelines());
        }
        if let Some(audit) = audit {
            all.extend(audit.pipelines());
        }
        all.extend(hzb.pipelines());
        all.extend(background.pipelines());
        all
    }

    /// Width and height of the picture.
    #[must_use]
    pub fn size(&self) -> [u32; 2] {
        self.targets.size
    }

    /// The picture: sRGB values, 8 bits each.
    #[must_use]
    pub fn colour(&self) -> &Texture {
        &self.targets.colour
    }

    /// Its depth: reversed, 32-bit floats. In the hybrid path it is there after the frame's last pass, in a colour format.
    #[must_use]
    pub fn depth(&self) -> &Texture {
        match self.visibility_targets() {
            Some(visibility) => &visibility.depth,
            None => &self.targets.depth,
        }
    }

    /// World-space normals as the hybrid path's resolve pass leaves them: octahedral, `packSnorm2x16`, 0 where nothing is.
    #[must_use]
    pub fn normals(&self) -> Option<&Texture> {
        Some(&self.visibility_targets()?.normals)
    }

    fn visibility_targets(&self) -> Option<&VisibilityTargets> {
        let hybrid = self.settings.path == RasterPath::Hybrid;
        self.targets.visibility.as_ref().filter(|_| hybrid)
    }

    /// The hierarchical depth buffer: the minimum of the early phase's depth.
    #[must_use]
    pub fn hzb(&self) -> &Texture {
        &self.targets.hzb
    }

    /// One `u32` per instance as the culling passes leave it: bit 0 visible, bit 1 in the frustum, bit 2 drawn, the level
    /// of detail from bit 8 on. Only groups that [`Renderer::group_states`] calls culled early or late have been written.
    #[must_use]
    pub fn visibility(&self) -> &Buffer {
        &self.lists.visibility
    }

    /// One `u32` per group of [`CULL_GROUP_SIZE`](crate::config::CULL_GROUP_SIZE) instances: bit 0 one of them visible,
    /// bit 1 in the frustum, bit 2 its instances culled early, bit 3 culled late.
    #[must_use]
    pub fn group_states(&self) -> &Buffer {
        &self.lists.group_states
    }

    /// The clusters of a frame, two `u32` each: instance and meshlet. Those of the compute rasteriser from the beginning
    /// on, those of the hardware from the end backwards.
    #[must_use]
    pub fn clusters(&self) -> &Buffer {
        &self.lists.clusters
    }

    /// Forgets what was visible: the next frame draws everything in the late phase, as a first frame does.
    pub fn forget(&mut self) {
        self.history = History {
            started: false,
            hzb: None,
            frozen: self.history.frozen,
        };
    }

    /// Records the passes of a frame.
    ///
    /// # Errors
    /// [`Error::Value`] for settings that cannot be; [`Error::Gpu`].
    pub fn record(
        &mut self,
        frame: &mut Frame,
        camera: &Camera,
    ) -> Result<StatisticsTicket, Error> {
        self.settings.check()?;
        let data = self.frame_data(camera);
        self.last = Some(data);
        frame.upload(&self.lists.frame, 0, bytemuck::bytes_of(&data))?;
        let Self {
            settings,
            scene,
            lists,
            targets,
            sampler,
            passes,
            ..
        } = self;
        let resources = Resources {
            settings,
            scene,
            lists,
            targets,
            sampler,
        };
        let hybrid = match settings.path {
            RasterPath::Hybrid => passes.raster.as_ref().zip(targets.visibility.as_ref()),
            _ => None,
        };
        let visibility = hybrid.map(|(_, visibility)| visibility);
        if !self.history.started {
            frame.fill(&lists.group_states, 0, lists.group_states.size(), 0)?;
            frame.clear(&targets.hzb, [0.0; 4])?;
        }
        frame.fill(&lists.counters, 0, lists.counters.size(), 0)?;
        if let Some(visibility) = visibility {
            frame.fill(&visibility.pixels, 0, visibility.pixels.size(), 0)?;
            if settings.view == DebugView::Overdraw {
                frame.fill(&visibility.overdraw, 0, visibility.overdraw.size(), 0)?;
            }
        }
        if scene.moving_count > 0 {
            passes.spin.record(frame, &resources)?;
        }
        for phase in [Phase::Early, Phase::Late] {
            passes.fill_lists(frame, phase, &resources)?;
            if let Some(((raster, _), visibility)) = hybrid {
                raster.record(frame, phase, &resources, visibility)?;
            }
            passes.draw.record(frame, phase, &resources)?;
            // While frozen, the depth seen with the frozen camera stays.
            let seen_by_culling = data.draw == data.cull;
            if phase == Phase::Early && settings.culling.any_occlusion() && seen_by_culling {
                passes.hzb.record(frame, &resources, visibility)?;
                self.history.hzb = Some(data.cull);
            }
        }
        match hybrid {
            Some(((_, resolve), visibility)) => resolve.record(frame, &resources, visibility)?,
            None => passes.background.record(frame, &resources)?,
        }
        self.history.started = true;
        if !settings.culling.any_occlusion() {
            self.history.hzb = None;
        }
        let read_back = frame.read_back(&lists.counters, 0, lists.counters.size())?;
        Ok(StatisticsTicket { read_back })
    }

    fn frame_data(&mut self, camera: &Camera) -> FrameData {
        self.history.frozen = self
            .settings
            .freeze_camera
            .then(|| self.history.frozen.unwrap_or(*camera));
        let cull_camera = self.history.frozen.unwrap_or(*camera);
        let (draw, cull) = (View::new(camera), View::new(&cull_camera));
        let mut settings = self.settings;
        if draw != cull && self.history.hzb != Some(cull) {
            // Frozen, and no depth was seen with the frozen camera: nothing can be called hidden.
            (
                settings.culling.occlusion,
                settings.culling.meshlet_occlusion,
            ) = (false, false);
        }
        if settings.view == DebugView::CulledBy {
            // Everything is drawn, and coloured by what it would be culled by.
            settings.culling = Culling::NONE;
        }
        // In a fixed order there is no place for a cluster that could not be put off: then none is.
        let rejects_fit = !settings.deterministic
            || self.scene.most_meshlets <= u64::from(self.lists.reject_capacity);
        let mut data = FrameData {
            draw,
            cull,
            last: self.history.hzb.unwrap_or(cull),
            size: self.targets.size,
            hzb_size: self.targets.hzb_size,
            instance_count: self.scene.instance_count,
            moving_count: self.scene.moving_count,
            offset_stride: self.lists.offset_stride,
            hzb_level: settings.hzb_level.min(self.targets.hzb.mips() - 1),
            flags: FrameData::flags(&settings, self.history.hzb.is_some() && rejects_fit),
            chunk_capacity: self.lists.chunk_capacity,
            cluster_capacity: self.lists.cluster_capacity,
            reject_capacity: self.lists.reject_capacity,
            ..FrameData::default()
        };
        data.set_lod(&LodSelector::new(
            settings.lod,
            &cull_camera.lens,
            self.targets.size[1],
        ));
        data.set_view(settings.view, settings.fog_distance);
        if settings.path == RasterPath::Hybrid {
            data.raster_threshold = settings.raster_threshold;
        }
        data
    }
}
