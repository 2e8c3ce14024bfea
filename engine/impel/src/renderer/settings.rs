//! What can be switched at run time.

use crate::Error;
use crate::math::LodMode;
use impel_gpu::{DeviceInfo, DeviceKind};

/// How clusters become pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RasterPath {
    /// A visibility buffer, filled by a compute rasteriser where triangles are small and by the hardware (mesh shaders if
    /// there are any, else vertex shaders) where they are not, and shaded afterwards. For devices with 64-bit atomics.
    Hybrid,
    /// Mesh shaders, one workgroup a cluster, that shade at once.
    #[default]
    Mesh,
    /// Task shaders that cull clusters and start the mesh shaders.
    Task,
    /// Vertex shaders that pull their vertices, one instance a cluster, and shade at once: for devices without mesh shaders.
    Vertex,
}

/// What the picture shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum DebugView {
    /// The shaded scene.
    #[default]
    Shaded = 0,
    /// A colour for each meshlet.
    Meshlets = 1,
    /// A colour for each level of detail, red the finest.
    Lods = 2,
    /// World-space normals.
    Normals = 3,
    /// Distance, in bands.
    Depth = 4,
    /// A colour for each instance: different for all of the first 2^24, black where there is none.
    Instances = 5,
    /// Blue what the compute rasteriser drew, orange what the hardware did.
    Raster = 6,
    /// How often each pixel was drawn, a step of brightness for each doubling. In the hybrid path.
    Overdraw = 7,
    /// Everything, coloured by what the culling camera would cull it by: instances outside of the frustum red, hidden ones
    /// dark blue; meshlets facing away yellow, outside of the frustum orange, hidden light blue; what is drawn white. In the
    /// hybrid path.
    CulledBy = 8,
    /// A level of the hierarchical depth buffer. In the hybrid path.
    Hzb = 9,
}

impl DebugView {
    /// Shows what the renderer did rather than the scene.
    pub(crate) fn inspects(self) -> bool {
        matches!(self, Self::Overdraw | Self::CulledBy | Self::Hzb)
    }
}

/// Culling stages; each may be switched off without a change in the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Culling {
    /// Instances outside of the frustum or beyond the draw distance.
    pub frustum: bool,
    /// Instances behind what is drawn.
    pub occlusion: bool,
    /// Meshlets that face away.
    pub meshlet_cone: bool,
    /// Meshlets outside of the frustum.
    pub meshlet_frustum: bool,
    /// Meshlets behind what is drawn.
    pub meshlet_occlusion: bool,
}

impl Culling {
    /// Every stage on.
    pub const ALL: Self = Self {
        frustum: true,
        occlusion: true,
        meshlet_cone: true,
        meshlet_frustum: true,
        meshlet_occlusion: true,
    };
    /// Every stage off.
    pub const NONE: Self = Self {
        frustum: false,
        occlusion: false,
        meshlet_cone: false,
        meshlet_frustum: false,
        meshlet_occlusion: false,
    };

    /// The stages' names with their switches, in the order of the struct.
    pub fn stages(&mut self) -> [(&'static str, &mut bool); 5] {
        [
            ("frustum", &mut self.frustum),
            ("occlusion", &mut self.occlusion),
            ("meshlet-cone", &mut self.meshlet_cone),
            ("meshlet-frustum", &mut self.meshlet_frustum),
            ("meshlet-occlusion", &mut self.meshlet_occlusion),
        ]
    }

    /// Whether anything needs the hierarchical depth buffer.
    #[must_use]
    pub fn any_occlusion(&self) -> bool {
        self.occlusion || self.meshlet_occlusion
    }
}

impl Default for Culling {
    fn default() -> Self {
        Self::ALL
    }
}

/// Room in the lists that a frame's passes fill. What does not fit is left out, counted, and reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capacities {
    /// Chunks of up to [`CHUNK_MESHLETS`](crate::config::CHUNK_MESHLETS) meshlets per phase; `None` chooses by the scene.
    pub chunks: Option<u32>,
    /// Clusters drawn in a frame; `None` chooses by the scene.
    pub clusters: Option<u32>,
    /// Clusters put off from the early to the late phase; `None` chooses by the scene. Beyond it they are drawn at once.
    pub rejects: Option<u32>,
}

/// Everything that can be switched while running. The default's path needs mesh shaders; [`Settings::for_device`] takes what
/// there is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// How clusters become pixels.
    pub path: RasterPath,
    /// In the hybrid path, the compute rasteriser takes clusters whose triangles are all at most so many pixels wide and
    /// high; 0 leaves everything to the hardware. At most [`RASTER_MAX_EXTENT`](crate::config::RASTER_MAX_EXTENT).
    pub raster_threshold: f32,
    /// In the hybrid path, gives half of the clusters that the compute rasteriser could have to the hardware: shows where
    /// the two do not meet.
    pub raster_shuffle: bool,
    /// In the hybrid path, whether mesh shaders are used where the device has them.
    pub mesh_shaders: bool,
    /// Whether the hierarchical depth buffer is made in one dispatch where the device can, or level by level.
    pub single_dispatch_hzb: bool,
    /// Culling stages.
    pub culling: Culling,
    /// Choice of the level of detail.
    pub lod: LodMode,
    /// Lists are filled in a fixed order, so that two runs give the same picture byte by byte; slower.
    pub deterministic: bool,
    /// Angle by which moving instances are turned about their own Y axes from where they rest, radians.
    pub spin: f32,
    /// Culling, LOD and the hierarchical depth buffer stay with the camera of the moment this was switched on.
    pub freeze_camera: bool,
    /// What the picture shows.
    pub view: DebugView,
    /// The level that the view of the hierarchical depth buffer shows, 0 the finest; beyond the last one, the last.
    pub hzb_level: u32,
    /// Distance in world units by which haze has taken most of a thing's colour; 0 for none.
    pub fog_distance: f32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            path: RasterPath::default(),
            raster_threshold: Self::RASTER_THRESHOLD,
            raster_shuffle: false,
            mesh_shaders: true,
            single_dispatch_hzb: true,
            culling: Culling::ALL,
            lod: LodMode::default(),
            deterministic: false,
            spin: 0.0,
            freeze_camera: false,
            view: DebugView::default(),
            hzb_level: 0,
            fog_distance: 0.0,
        }
    }
}

impl Settings {
    /// The raster threshold unless another is asked for, pixels: the largest is the fastest on all that was measured.
    pub const RASTER_THRESHOLD: f32 = crate::config::RASTER_MAX_EXTENT as f32;

    /// What suits a device: of hybrid, mesh and vertex the first path that it can. On software devices mesh shaders are
    /// slower: on lavapipe of Mesa 25.0.7 three frames of 100,000 meshes took 14.8 s of CPU time with them and 7.9 s without.
    #[must_use]
    pub fn for_device(device: &DeviceInfo) -> Self {
        let features = &device.features;
        let software = device.kind == DeviceKind::Cpu;
        let path = match features.mesh_shaders && !software {
            _ if features.buffer_int64_atomics => RasterPath::Hybrid,
            true => RasterPath::Mesh,
            false => RasterPath::Vertex,
        };
        Self {
            path,
            mesh_shaders: !software,
            ..Self::default()
        }
    }

    /// Thresholds that are worth trying when one is to be found for a device and a scene, pixels.
    pub const RASTER_THRESHOLDS: [f32; 7] = [4.0, 8.0, 16.0, 24.0, 32.0, 48.0, 64.0];

    /// Refuses what makes no sense.
    ///
    /// # Errors
    /// [`Error::Value`] that names the setting.
    pub fn check(&self) -> Result<(), Error> {
        let positive = |what: &str, value: f32| {
            let fine = value.is_finite() && value > 0.0;
            fine.then_some(())
                .ok_or_else(|| Error::value(what, "a finite number greater than 0", value))
        };
        match self.lod {
            LodMode::Error { pixels } => positive("LOD error in pixels", pixels)?,
            LodMode::Distance { base, step } => {
                positive("LOD distance base", base)?;
                if !(step.is_finite() && step > 1.0) {
                    return Err(Error::value(
                        "LOD distance step",
                        "a finite number greater than 1",
                        step,
                    ));
                }
            }
            LodMode::Forced { .. } => {}
        }
        let most = crate::config::RASTER_MAX_EXTENT;
        if !(0.0..=most as f32).contains(&self.raster_threshold) {
            let expected = format!("0 to {most} pixels");
            return Err(Error::value(
                "raster threshold",
                expected,
                self.raster_threshold,
            ));
        }
        if self.view.inspects() && self.path != RasterPath::Hybrid {
            let what = format!("view {}", self.view.name());
            return Err(Error::value(what, "path hybrid", self.path.name()));
        }
        if self.deterministic && self.path == RasterPath::Task {
            let expected = "path hybrid, mesh or vertex: task shaders have no order";
            return Err(Error::value("deterministic", expected, "task"));
        }
        if !self.spin.is_finite() {
            return Err(Error::value("spin", "a finite angle", self.spin));
        }
        if !(self.fog_distance.is_finite() && self.fog_distance >= 0.0) {
            return Err(Error::value(
                "fog distance",
                "a finite number, 0 for none",
                self.fog_distance,
            ));
        }
        Ok(())
    }
}

/// A set of names for the values of an enum, for command lines and scene data.
macro_rules! named {
    ($type:ident, $what:literal, $($variant:ident = $name:literal),+) => {
        impl $type {
            /// Every value with its name.
            pub const NAMED: &'static [(&'static str, Self)] = &[$(($name, Self::$variant)),+];

            /// The value's name.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }

        impl std::str::FromStr for $type {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self, Error> {
                let found = Self::NAMED.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
                found.ok_or_else(|| {
                    let names: Vec<_> = Self::NAMED.iter().map(|(name, _)| *name).collect();
                    Error::value($what, format!("one of {}", names.join(", ")), format!("{text:?}"))
                })
            }
        }
    };
}

named!(
    RasterPath,
    "path",
    Hybrid = "hybrid",
    Mesh = "mesh",
    Task = "task",
    Vertex = "vertex"
);
named!(
    DebugView,
    "view",
    Shaded = "shaded",
    Meshlets = "meshlets",
    Lods = "lods",
    Normals = "normals",
    Depth = "depth",
    Instances = "instances",
    Raster = "raster",
    Overdraw = "overdraw",
    CulledBy = "culled-by",
    Hzb = "hzb"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_both_ways() {
        for (name, view) in DebugView::NAMED {
            assert_eq!(name.parse::<DebugView>().unwrap(), *view);
            assert_eq!(view.name(), *name);
        }
        let error = "fast".parse::<RasterPath>().unwrap_err().to_string();
        assert_eq!(
            error,
            "path: expected one of hybrid, mesh, task, vertex, got \"fast\""
        );
    }

    #[test]
    fn a_device_gets_a_path_that_it_can() {
        use impel_gpu::noop::{NoopDesc, NoopDriver};
        use impel_gpu::{Gpu, GpuDesc, vk::PhysicalDeviceType as Kind};
        let atomics = "shaderBufferInt64Atomics";
        for (kind, lacking, path, mesh_shaders) in [
            (Kind::DISCRETE_GPU, &[][..], RasterPath::Hybrid, true),
            (Kind::CPU, &[], RasterPath::Hybrid, false),
            (Kind::DISCRETE_GPU, &[atomics], RasterPath::Mesh, true),
            (Kind::CPU, &[atomics], RasterPath::Vertex, false),
            (
                Kind::INTEGRATED_GPU,
                &[atomics, "meshShader"],
                RasterPath::Vertex,
                true,
            ),
        ] {
            let driver = NoopDriver::new(NoopDesc::with(|device| {
                device.kind = kind;
                lacking.iter().for_each(|name| device.lacks(name));
            }));
            let gpu = Gpu::with_entry(&GpuDesc::default(), driver.entry()).unwrap();
            let settings = Settings::for_device(gpu.info());
            assert_eq!(
                (settings.path, settings.mesh_shaders),
                (path, mesh_shaders),
                "{lacking:?}"
            );
        }
    }

    #[test]
    fn senseless_settings_are_refused() {
        let with_lod = |lod| Settings {
            lod,
            ..Settings::default()
        };
        with_lod(LodMode::Distance {
            base: 4.0,
            step: 1.25,
        })
        .check()
        .unwrap();
        for lod in [
            LodMode::Error { pixels: 0.0 },
            LodMode::Error { pixels: f32::NAN },
            LodMode::Distance {
                base: -1.0,
                step: 2.0,
            },
            LodMode::Distance {
                base: 1.0,
                step: 1.0,
            },
        ] {
            assert!(with_lod(lod).check().is_err(), "{lod:?}");
        }
        assert!(
            Settings {
                fog_distance: f32::INFINITY,
                ..Settings::default()
            }
            .check()
            .is_err()
        );
    }
}
