//! Runs a scene in a window.

use crate::arguments::RunArguments;
use crate::chain::{Chain, ChainContent};
use crate::setup::Setup;
use crate::{Error, picture};
use impel::app::{AppDesc, CameraControl, Content, Display, Preferences, RendererContent, Script};
use impel::gpu::Gpu;

/// Whether a run is to have a window: when it is asked for, or there is a display and nothing speaks against it.
#[must_use]
pub fn wanted(arguments: &RunArguments) -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    // What only makes sense for a run that ends by itself.
    let counted = arguments.frames.is_some()
        || arguments.out.is_some()
        || arguments.json.is_some()
        || arguments.shard.is_some()
        || arguments.warmup.is_some()
        || arguments.give_up.is_some();
    let display = cfg!(not(target_os = "linux")) || is_set("DISPLAY");
    arguments.window || (display && !arguments.headless && !counted)
}

/// Runs until the window closes.
///
/// # Errors
/// Bad input, no display, a device that cannot, or validation messages.
pub fn run(arguments: &RunArguments) -> Result<(), Error> {
    let display = Display::connect()?;
    let setup = Setup::new(arguments, display.surface_extensions()?)?;
    let renderer = setup.renderer()?;
    let triangles = setup.scene.triangle_count();
    let mut scene = RendererContent::new(renderer, triangles);
    scene.spin = crate::run::SPIN.to_radians();
    scene.freeze = arguments.freeze_camera;
    if let Some(audit) = scene.audit() {
        audit.on = arguments.audit;
    }
    let content: Box<dyn Content> = if setup.data.chain {
        Box::new(ChainContent::new(
            scene,
            Chain::new(&setup.gpu, setup.size)?,
        ))
    } else {
        Box::new(scene)
    };
    let orbit = setup.data.orbit(&setup.scene);
    let speed = setup.data.walking_speed();
    let camera = CameraControl::new(setup.path.clone(), speed, orbit);
    let (gpu, title, size) = (setup.gpu.clone(), setup.data.title.clone(), setup.size);
    // The scene's memory is on the device by now.
    drop(setup);
    show(display, &gpu, content, camera, &title, size, arguments)
}

/// Shows content until the window closes.
pub(crate) fn show(
    display: Display,
    gpu: &Gpu,
    content: Box<dyn Content>,
    camera: CameraControl,
    title: &str,
    size: [u32; 2],
    arguments: &RunArguments,
) -> Result<(), Error> {
    let desc = AppDesc {
        title: format!("Impel: {title}"),
        size,
        vsync: true,
        frames: arguments.frames,
        picture: arguments.out.clone(),
        script: match &arguments.script {
            Some(path) => Script::read(path)?,
            None => Script::default(),
        },
        preferences: Preferences::file(),
        reset: arguments.reset,
        write_picture: |path, size, texels| {
            picture::write(path, size, texels).map_err(|error| error.to_string())
        },
        profile: arguments.puffin.clone(),
        serve_profiles: arguments.serve_puffin.clone(),
        reload: reload(),
    };
    display.run(gpu, content, camera, desc)?;
    check_validation(gpu)
}

/// A message of the validation layer fails the run.
pub(crate) fn check_validation(gpu: &Gpu) -> Result<(), Error> {
    match gpu.validation().messages {
        0 => Ok(()),
        messages => Err(Error::value("validation", "no messages", messages)),
    }
}

/// Takes edited shaders of the source tree that the program was built from, where it is still there.
#[cfg(feature = "hot-reload")]
fn reload() -> Option<impel::app::Reload> {
    use std::path::Path;
    let scenes = Path::new(env!("CARGO_MANIFEST_DIR"));
    let watched =
        impel::app::HotReload::watch(&scenes.join("../shaders")).and_then(|mut watched| {
            let recipes = scenes.join("recipes/mixins.toml");
            watched.watch_recipes(&recipes, crate::mixins::RECIPES)?;
            Ok(watched)
        });
    match watched {
        Ok(mut watched) => {
            let mut told = false;
            Some(Box::new(move |shaders| {
                let done = watched.poll(shaders);
                let news = done || !told;
                told = true;
                news.then(|| watched.state().clone())
            }))
        }
        Err(error) => {
            log::warn!("{error}; shaders are those built in");
            let mut state = Some(impel::app::ShaderState {
                errors: vec![format!("{error}; shaders are those built in")],
                ..impel::app::ShaderState::default()
            });
            Some(Box::new(move |_| state.take()))
        }
    }
}

#[cfg(not(feature = "hot-reload"))]
fn reload() -> Option<impel::app::Reload> {
    None
}
