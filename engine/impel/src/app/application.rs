//! The application in a window, without a window system: events in, pictures out.

use super::calibration::{Calibration, Step};
use super::camera::CameraControl;
use super::capture::Captures;
use super::content::{Content, Reloadable};
use super::controls::entries;
use super::event::{Command, Event, Key};
use super::input::Input;
use super::panels::{Panels, Scene, ShaderState};
use super::preferences::Preferences;
use super::script::Script;
use super::shots::{Shots, WritePicture, free_name};
use crate::Error;
use crate::math::Camera;
use crate::passes::{Preview, Show, Ui};
use crate::renderer::Settings;
use egui::TextureId;
use impel_gpu::{Frame, Gpu, Profiler, Texture, Window};
use std::path::PathBuf;
use std::time::Instant;

/// Asked once a frame to put new shaders into pipelines and effects; gives what has become of them when anything has.
pub type Reload = Box<dyn FnMut(Reloadable<'_>) -> Option<ShaderState>>;

/// How to run an application in a window.
pub struct AppDesc {
    /// Title of the window.
    pub title: String,
    /// Width and height of the window's content, pixels.
    pub size: [u32; 2],
    /// Whether pictures come in step with the display.
    pub vsync: bool,
    /// Ends after so many frames.
    pub frames: Option<u64>,
    /// Where the last frame's picture goes when `frames` are over, without the user interface.
    pub picture: Option<PathBuf>,
    /// Events by frame.
    pub script: Script,
    /// The user's file, see [`Preferences::file`]; without one nothing is kept.
    pub preferences: Option<PathBuf>,
    /// Begins with what the caller says, not with what the user had last.
    pub reset: bool,
    /// Writes pictures to files.
    pub write_picture: WritePicture,
    /// Where profiles go (a `.puffin` file).
    pub profile: Option<PathBuf>,
    /// Where `puffin_viewer` may connect to.
    pub serve_profiles: Option<String>,
    /// Brings new shaders.
    pub reload: Option<Reload>,
}

impl Default for AppDesc {
    /// A window that stays open, in step with the display, without a file of the user's. It writes no pictures.
    fn default() -> Self {
        Self {
            title: "Impel".into(),
            size: [1280, 720],
            vsync: true,
            frames: None,
            picture: None,
            script: Script::default(),
            preferences: None,
            reset: false,
            write_picture: |_, _, _| Err("there is no `AppDesc::write_picture`".into()),
            profile: None,
            serve_profiles: None,
            reload: None,
        }
    }
}

/// What a frame asks of the window system.
#[derive(Default)]
pub struct Outcome {
    /// End.
    pub close: bool,
    /// There is nothing to see: wait for events.
    pub idle: bool,
    /// Cursor, links, text to copy.
    pub platform: egui::PlatformOutput,
    /// Sizes and the like.
    pub requests: Vec<Command>,
}

/// The user texture that the preview of the panel "passes" has.
pub(super) const PREVIEW: TextureId = TextureId::User(0);

/// An application in a window.
pub struct App {
    gpu: Gpu,
    window: Window,
    content: Box<dyn Content>,
    camera: CameraControl,
    desc: AppDesc,
    egui: egui::Context,
    ui: Ui,
    show: Show,
    preview: Preview,
    panels: Panels,
    input: Input,
    shots: Shots,
    preferences: Preferences,
    profiler: Option<Profiler>,
    captures: Captures,
    /// The camera of the last frame, and the picture's width over its height.
    last_camera: Option<(Camera, f32)>,
    /// Pixels; on some systems zero while minimised.
    size: [u32; 2],
    minimised: bool,
    scale: f64,
    fullscreen: bool,
    frame: u64,
    last: Option<Instant>,
    /// Setting that [`Command::NextSetting`] moves next.
    next_setting: usize,
    requests: Vec<Command>,
    wanted_shots: Vec<PathBuf>,
    close: bool,
    /// The settings of the last frame that went well.
    settings: Option<Settings>,
    /// What the content came with, before the user's preferences.
    defaults: Option<Settings>,
}

impl App {
    /// Puts everything together.
    ///
    /// # Errors
    /// [`Error::Gpu`], [`Error::Value`] for a size that cannot be.
    pub fn new(
        gpu: &Gpu,
        window: Window,
        content: Box<dyn Content>,
        camera: CameraControl,
        desc: AppDesc,
    ) -> Result<Self, Error> {
        let preferences = match (&desc.preferences, desc.reset) {
            (Some(path), false) => Preferences::load(path),
            _ => Preferences::default(),
        };
        let mut profiler = None;
        if desc.profile.is_some() || desc.serve_profiles.is_some() {
            let mut started = Profiler::start(gpu)?;
            if let Some(path) = &desc.profile {
                started.write_to(path)?;
            }
            if let Some(address) = &desc.serve_profiles {
                started.serve(address)?;
            }
            profiler = Some(started);
        }
        let mut this = Self {
            gpu: gpu.clone(),
            window,
            content,
            camera,
            egui: egui::Context::default(),
            ui: Ui::new(gpu)?,
            show: Show::new(gpu)?,
            preview: Preview::new(gpu)?,
            panels: Panels::new(&preferences),
            input: Input::default(),
            shots: Shots::new(desc.write_picture),
            preferences,
            profiler,
            captures: Captures::find(),
            last_camera: None,
            size: desc.size,
            minimised: false,
            scale: 1.0,
            fullscreen: false,
            frame: 0,
            last: None,
            next_setting: 0,
            requests: Vec::new(),
            wanted_shots: Vec::new(),
            close: false,
            settings: None,
            defaults: None,
            desc,
        };
        this.defaults = this.content.settings().copied();
        this.panels.captures = this.captures.is_loaded();
        this.window
            .set_vsync(this.preferences.is_on("vsync", this.desc.vsync));
        if let Some(settings) = this.content.settings() {
            this.preferences.restore_settings(settings);
        }
        Ok(this)
    }

    /// egui's state, for whoever turns events of a window system into its input.
    #[must_use]
    pub fn egui(&self) -> &egui::Context {
        &self.egui
    }

    /// Whether events of a script are still to come.
    #[must_use]
    pub fn has_script(&self) -> bool {
        !self.desc.script.is_over()
    }

    /// Frames so far.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.frame
    }

    /// What is shown.
    pub fn content(&mut self) -> &mut dyn Content {
        &mut *self.content
    }

    /// The window's images.
    #[must_use]
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// Takes an event; `taken` says that the user interface has a use for it.
    pub fn event(&mut self, event: &Event, taken: bool) {
        self.input.event(event, taken);
        match event {
            Event::Resized(size) => {
                self.size = *size;
                self.window.resize(*size);
            }
            Event::Minimised(minimised) => self.minimised = *minimised,
            // Others make no sense, and egui divides by it.
            Event::ScaleFactor(scale) if scale.is_finite() && *scale > 0.0 => {
                self.scale = scale.clamp(0.25, 16.0);
            }
            Event::SurfaceLost => self.window.lose_surface(),
            Event::Close => self.close = true,
            Event::Key { key, pressed: true } if !taken => self.key(*key),
            Event::Command(command) => self.command(command),
            _ => {}
        }
    }

    fn key(&mut self, key: Key) {
        match key {
            Key::F1 => self.panels.help = !self.panels.help,
            Key::H => self.panels.interface = !self.panels.interface,
            Key::F11 => {
                self.fullscreen = !self.fullscreen;
                self.requests.push(Command::Fullscreen(self.fullscreen));
            }
            Key::Escape if self.panels.help => self.panels.help = false,
            Key::Escape if self.fullscreen => {
                self.fullscreen = false;
                self.requests.push(Command::Fullscreen(false));
            }
            Key::F10 => {
                let said = self.captures.trigger();
                self.panels.say(said.to_owned());
            }
            Key::F12 | Key::PrintScreen => self.wanted_shots.push(free_name("screenshot", "png")),
            Key::V => self.window.set_vsync(!self.window.vsync()),
            Key::P | Key::Home => self.camera.restart(),
            Key::R => self.toggle_recording(),
            _ => {}
        }
    }

    fn calibrate(&mut self) {
        self.panels.calibration = self.content.settings().and_then(Calibration::begin);
        if self.panels.calibration.is_none() {
            self.panels
                .say("calibration: only the hybrid path has a threshold".into());
        }
    }

    /// Whether a calibration is under way.
    #[must_use]
    pub fn is_calibrating(&self) -> bool {
        self.panels.calibration.is_some()
    }

    fn toggle_recording(&mut self) {
        if let Some(text) = self.camera.toggle_recording() {
            let path = free_name("camera", "toml");
            let said = match std::fs::write(&path, text) {
                Ok(()) => format!("wrote {}", path.display()),
                Err(error) => format!("{}: {error}", path.display()),
            };
            self.panels.say(said);
        }
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Panel { name, open } => self.panels.set_open(name, *open),
            Command::Interface(shown) => self.panels.interface = *shown,
            Command::Help(shown) => self.panels.help = *shown,
            Command::Screenshot(path) => self.wanted_shots.push(path.clone()),
            Command::NextSetting => {
                let index = self.next_setting % entries().len().max(1);
                self.next_setting += 1;
                if let (Some(settings), Some(entry)) =
                    (self.content.settings(), entries().get(index))
                {
                    entry.step(settings);
                }
            }
            Command::ResetSettings => {
                if let (Some(settings), Some(defaults)) = (self.content.settings(), self.defaults) {
                    *settings = defaults;
                }
            }
            Command::Audit(on) => {
                if let Some(audit) = self.content.audit() {
                    audit.on = *on;
                }
            }
            Command::CountInvocations(on) => {
                self.gpu.count_invocations(*on);
            }
            Command::Calibrate => self.calibrate(),
            Command::Fullscreen(on) => {
                self.fullscreen = *on;
                self.requests.push(command.clone());
            }
            Command::Size(_) | Command::Minimise(_) => self.requests.push(command.clone()),
        }
    }

    /// Draws a frame. `input` is what egui is to know; size and scale are set here.
    ///
    /// # Errors
    /// [`Error::Gpu`] when the device is lost or memory runs out; whatever the content has.
    pub fn frame(&mut self, input: egui::RawInput) -> Result<Outcome, Error> {
        for event in self.desc.script.due(self.frame) {
            self.event(&event, false);
        }
        let mut outcome = Outcome {
            requests: std::mem::take(&mut self.requests),
            ..Outcome::default()
        };
        let now = Instant::now();
        let seconds = self
            .last
            .replace(now)
            .map_or(0.0, |last| (now - last).as_secs_f64());
        if self.minimised || self.size.contains(&0) {
            // Scripts go on, so that what was taken away can come back.
            self.frame += 1;
            outcome.idle = true;
        } else {
            outcome.platform = self.draw(input, seconds)?;
            outcome.idle = self.window.image_size().is_none();
            self.frame += 1;
        }
        if let Some(profiler) = &mut self.profiler {
            profiler.end_frame();
        }
        let over = self.desc.frames.is_some_and(|frames| self.frame >= frames);
        outcome.close = self.close || over;
        Ok(outcome)
    }

    fn draw(
        &mut self,
        mut input: egui::RawInput,
        seconds: f64,
    ) -> Result<egui::PlatformOutput, Error> {
        puffin::profile_scope!("frame");
        let results = self.gpu.frame_results();
        if let Some(profiler) = &mut self.profiler {
            profiler.add_results(&results);
        }
        if let (Some(calibration), Some(settings)) =
            (&mut self.panels.calibration, self.content.settings())
            && let Step::Ends(line) = calibration.step(settings, &results)
        {
            self.panels.calibration = None;
            self.panels.say(line);
        }
        self.panels.history.add(seconds, results);
        if let Some(reload) = &mut self.desc.reload {
            let mut shaders = self.content.shaders();
            shaders.pipelines.extend([
                self.ui.pipeline(),
                self.show.pipeline(),
                self.preview.pipeline(),
            ]);
            if let Some(state) = reload(shaders) {
                self.panels.shaders = state;
            }
        }
        for said in self.shots.collect(false)? {
            self.panels.say(said);
        }
        self.content.resize(self.size)?;

        let points = self.scale as f32 * self.egui.zoom_factor();
        input
            .viewports
            .entry(egui::ViewportId::ROOT)
            .or_default()
            .native_pixels_per_point = Some(self.scale as f32);
        let [width, height] = self.size.map(|pixels| pixels as f32 / points);
        input.screen_rect = Some(egui::Rect::from_min_size(
            egui::Pos2::ZERO,
            egui::vec2(width, height),
        ));
        let output = self.interface(input);
        let primitives = self.egui.tessellate(output.shapes, output.pixels_per_point);
        {
            puffin::profile_scope!("prepare interface");
            self.ui
                .prepare(&output.textures_delta, &primitives, output.pixels_per_point)?;
        }

        let aspect = self.size[0] as f32 / self.size[1] as f32;
        let camera = match self.last_camera {
            // What is compared has to be the same picture.
            Some((camera, of)) if self.is_calibrating() && of == aspect => camera,
            _ => self.camera.update(seconds, &self.input, aspect),
        };
        self.last_camera = Some((camera, aspect));
        self.input.end_frame();
        if self.panels.wants_inspection() {
            self.gpu.inspect_next_frame();
        }
        let mut frame = self.gpu.begin_frame()?;
        self.record(&mut frame, &camera)?;
        let over = self
            .desc
            .frames
            .is_some_and(|frames| self.frame + 1 >= frames);
        if over && let Some(path) = self.desc.picture.take() {
            self.shots.take(&mut frame, self.content.picture(), path)?;
        }
        self.draw_interface(&mut frame)?;
        for path in self.wanted_shots.drain(..) {
            self.shots.take(&mut frame, self.content.picture(), path)?;
        }
        if let Some(image) = self.window.acquire(&mut frame)? {
            self.show
                .record(&mut frame, self.content.picture(), image)?;
        }
        let submitted = frame.submit()?;
        self.window.present(&submitted)?;
        Ok(output.platform_output)
    }

    /// Lets the content record. Settings that it cannot take, such as a path that the device does not have, are taken back.
    fn record(&mut self, frame: &mut Frame, camera: &Camera) -> Result<(), Error> {
        let tried = self.content.settings().copied();
        match (self.content.record(frame, camera), tried) {
            (
                Err(Error::Value {
                    what,
                    expected,
                    given,
                }),
                Some(tried),
            ) if self.settings.is_some_and(|good| good != tried) => {
                if let (Some(settings), Some(good)) = (self.content.settings(), self.settings) {
                    *settings = good;
                }
                let value = Error::Value {
                    what,
                    expected,
                    given,
                };
                self.panels.say(value.to_string());
                Ok(())
            }
            (result, tried) => {
                self.settings = tried;
                result
            }
        }
    }

    /// Runs the panels.
    fn interface(&mut self, input: egui::RawInput) -> egui::FullOutput {
        puffin::profile_scope!("interface");
        let Self {
            gpu,
            window,
            content,
            camera,
            egui,
            panels,
            profiler,
            defaults,
            ..
        } = self;
        let mut vsync = window.vsync();
        let output = egui.run(input, |context| {
            panels.show(
                context,
                &mut Scene {
                    gpu,
                    content: &mut **content,
                    camera,
                    vsync: &mut vsync,
                    profiler: profiler.as_ref(),
                    defaults: *defaults,
                },
            );
        });
        window.set_vsync(vsync);
        if std::mem::take(&mut panels.record_camera) {
            self.toggle_recording();
        }
        if std::mem::take(&mut self.panels.calibrate) {
            self.calibrate();
        }
        // The panel's flame graph needs somebody who collects; files and servers go on without it.
        let wanted = self.panels.is_open("profiler")
            || self.desc.profile.is_some()
            || self.desc.serve_profiles.is_some();
        match (&self.profiler, wanted) {
            (None, true) => match Profiler::start(&self.gpu) {
                Ok(started) => self.profiler = Some(started),
                Err(error) => self.panels.say(error.to_string()),
            },
            (Some(_), false) => self.profiler = None,
            _ => {}
        }
        output
    }

    /// Draws the panels over the picture.
    fn draw_interface(&mut self, frame: &mut Frame) -> Result<(), Error> {
        if !self.panels.interface {
            return Ok(());
        }
        if let Some((index, desc)) = self.panels.previewed() {
            let images = self.images();
            if let Some(image) = images.get(index) {
                self.preview.record(frame, image, desc)?;
            }
        }
        let users = [(PREVIEW, self.preview.picture())];
        self.ui.record(frame, self.content.picture(), &users)
    }

    /// Pictures that the panel "passes" can show.
    fn images(&self) -> Vec<&Texture> {
        let mut images = vec![self.content.picture()];
        images.extend(self.content.images());
        images
    }

    /// Ends: writes pictures, profiles and preferences.
    ///
    /// # Errors
    /// [`Error::Gpu`] and [`Error::File`], after everything was tried.
    pub fn finish(mut self) -> Result<(), Error> {
        let said = self.shots.collect(true);
        if let Ok(said) = &said {
            for line in said {
                log::info!("{line}");
            }
        }
        let profiled = match self.profiler.take() {
            Some(profiler) => profiler.finish().map_err(Error::from),
            None => Ok(()),
        };
        let kept = match &self.desc.preferences {
            Some(path) => {
                self.preferences.set_on("vsync", self.window.vsync());
                self.panels.keep(&mut self.preferences);
                if let Some(settings) = self.content.settings() {
                    self.preferences.keep_settings(settings);
                }
                self.preferences.save(path)
            }
            None => Ok(()),
        };
        let idle = self.gpu.wait_idle().map_err(Error::from);
        said.map(|_| ()).and(profiled).and(kept).and(idle)
    }
}
