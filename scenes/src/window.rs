//! Runs a scene in a window.

use crate::arguments::RunArguments;
use crate::chain::{Chain, ChainContent};
use crate::setup::Setup;
use crate::{Error, picture};
use impel::app::{AppDesc, CameraControl, Content, Display, Preferences, RendererContent, Script};

/// Whether a run is to have a window: when it is asked for, or there is a display and nothing speaks against it.
#[must_use]
pub fn wanted(arguments: &RunArguments) -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    // What only makes sense for a run that ends by itself.
    let counted = arguments.frames.is_some()
        || arguments.out.is_some()
        || arguments.json.is_some()
        || arguments.shard.is_some();
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
    let scene = RendererContent::new(renderer, triangles);
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
    let desc = AppDesc {
        title: format!("Impel: {}", setup.data.title),
        size: setup.size,
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
    let camera = CameraControl::new(setup.path.clone(), speed, orbit);
    let gpu = setup.gpu.clone();
    // The scene's memory is on the device by now.
    drop(setup);
    display.run(&gpu, content, camera, desc)?;
    let validation = gpu.validation();
    if validation.messages > 0 {
        return Err(Error::value(
            "validation",
            "no messages",
            validation.messages,
        ));
    }
    Ok(())
}

/// Takes edited shaders of the source tree that the program was built from, where it is still there.
#[cfg(feature = "hot-reload")]
fn reload() -> Option<impel::app::Reload> {
    let folder = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../shaders"));
    match impel::app::HotReload::watch(folder) {
        Ok(mut watched) => {
            let mut told = false;
            Some(Box::new(move |pipelines| {
                let done = watched.poll(pipelines);
                let news = done || !told;
                told = true;
                news.then(|| watched.state().clone())
            }))
        }
        Err(error) => {
            log::warn!("{error}; shaders are those built in");
            None
        }
    }
}

#[cfg(not(feature = "hot-reload"))]
fn reload() -> Option<impel::app::Reload> {
    None
}
