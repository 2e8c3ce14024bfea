//! What every run begins with, in a window or without: the device, the scene, its settings.

use crate::arguments::RunArguments;
use crate::data::{CameraData, SceneData, mesh_source};
use crate::{Error, progress};
use impel::geometry::{self, Cache};
use impel::gpu::{DeviceInfo, Gpu, GpuDesc};
use impel::renderer::{Capacities, Renderer, Settings};
use impel::scene::{CameraPath, Scene};
use std::ffi::CStr;
use std::sync::Arc;

/// A scene that is ready to be drawn.
pub(crate) struct Setup {
    pub(crate) data: SceneData,
    pub(crate) gpu: Gpu,
    pub(crate) scene: Scene,
    pub(crate) settings: Settings,
    pub(crate) camera_name: String,
    pub(crate) path: CameraPath,
    pub(crate) size: [u32; 2],
    pub(crate) seed: u64,
}

impl Setup {
    /// Finds the scene, opens the device (for windows with these instance extensions), loads the meshes.
    pub(crate) fn new(
        arguments: &RunArguments,
        surface_extensions: Vec<&'static CStr>,
    ) -> Result<Self, Error> {
        let data = SceneData::find(&arguments.scene)?;
        let camera_name = arguments
            .camera
            .clone()
            .unwrap_or_else(|| data.camera.clone());
        let camera = data.camera(&camera_name)?;
        let mut path = data.path(&camera);
        let gpu = Gpu::new(&GpuDesc {
            app_name: "scenes".into(),
            device: arguments.device.clone(),
            validation: arguments.validate,
            pipeline_cache: Cache::of_user().map(|cache| cache.folder().join("pipelines")),
            surface_extensions,
            ..GpuDesc::default()
        })?;
        for line in gpu.info().features.fallbacks() {
            log::info!("{line}");
        }
        let seed = arguments.seed.unwrap_or_else(|| data.seed());
        let scene = load(&data, arguments, seed)?;
        if let Some(orbit) = data.orbit(&scene)
            && arguments.camera.is_none()
        {
            path.keys = vec![crate::orbit::framed(&orbit, &path)];
        }
        let settings = settings(&data, &camera, arguments, gpu.info());
        let size = arguments.size.unwrap_or(data.size);
        Ok(Self {
            data,
            gpu,
            scene,
            settings,
            camera_name,
            path,
            size,
            seed,
        })
    }

    /// Uploads the scene.
    pub(crate) fn renderer(&self) -> Result<Renderer, Error> {
        let bar = progress::busy("pipelines and uploads");
        let room = Capacities::default();
        let renderer = Renderer::new(&self.gpu, &self.scene, self.size, self.settings, room);
        let ready = renderer.and_then(|renderer| {
            self.gpu.wait_idle()?;
            Ok(renderer)
        });
        bar.finish_and_clear();
        Ok(ready?)
    }
}

fn settings(
    data: &SceneData,
    camera: &CameraData,
    arguments: &RunArguments,
    info: &DeviceInfo,
) -> Settings {
    let best = Settings::for_device(info);
    Settings {
        path: arguments.path.unwrap_or(best.path),
        raster_threshold: arguments
            .raster_threshold
            .unwrap_or(Settings::RASTER_THRESHOLD),
        deterministic: arguments.deterministic,
        culling: arguments.culling(),
        lod: arguments.lod.unwrap_or_default(),
        view: arguments.view.unwrap_or_default(),
        hzb_level: arguments.hzb_level,
        fog_distance: camera.fog_distance.unwrap_or(data.fog_distance),
        ..best
    }
}

/// Loads the meshes, through the cache, and places their instances.
fn load(data: &SceneData, arguments: &RunArguments, seed: u64) -> Result<Scene, Error> {
    let names = if arguments.mesh.is_empty() {
        &data.meshes
    } else {
        &arguments.mesh
    };
    let sources = names
        .iter()
        .map(|name| mesh_source(name))
        .collect::<Result<Vec<_>, _>>()?;
    let settings = geometry::Settings {
        normalise_radius: data.mesh_radius,
        ..geometry::Settings::default()
    };
    let bars = progress::MeshBars::new();
    let meshes = geometry::load_all(&sources, &settings, Cache::of_user().as_ref(), &|step| {
        bars.show(step);
    })?;
    bars.finish();
    let of_each = data.one_of_each().then_some(meshes.len() as u32);
    let instances = data.generate(
        arguments
            .draws
            .or(of_each)
            .unwrap_or_else(|| data.instances()),
        seed,
        meshes.len() as u32,
    );
    let mut scene = Scene {
        meshes: meshes.into_iter().map(Arc::new).collect(),
        moving: arguments.moving.min(instances.len() as u32),
        instances,
    };
    scene.sort_spatially();
    Ok(scene)
}
