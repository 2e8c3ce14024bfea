//! The window system: winit's event loop, with the application in it.

use super::application::{App, AppDesc};
use super::camera::CameraControl;
use super::content::Content;
use super::event::{Command, Event};
use crate::Error;
use impel_gpu::{Gpu, Window, WindowDesc, surface_extensions};
use std::ffi::CStr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use winit::application::ApplicationHandler;
use winit::dpi::PhysicalSize;
use winit::event::{DeviceEvent, DeviceId, StartCause, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop, EventLoopProxy};
use winit::window::{Fullscreen, WindowAttributes, WindowId};

/// How long a frame of a script is while there is nothing to see.
const SCRIPT_FRAME: Duration = Duration::from_millis(20);
/// X11 has no event that says minimised, or minimised no more: so long after the last look there is another.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// A connection to the window system. There can be one in the life of a process, on its main thread.
pub struct Display {
    events: EventLoop<Event>,
}

/// Sends events to the application from any thread, as if the window system had.
#[derive(Clone)]
pub struct Injector {
    proxy: EventLoopProxy<Event>,
}

impl Injector {
    /// Sends an event; says whether there is still somebody to take it.
    pub fn send(&self, event: Event) -> bool {
        self.proxy.send_event(event).is_ok()
    }
}

impl Display {
    /// Connects.
    ///
    /// # Errors
    /// [`Error::Value`] where there is no display.
    pub fn connect() -> Result<Self, Error> {
        let events = EventLoop::with_user_event().build().map_err(|error| {
            // winit puts the place in its source before the reason.
            let text = error.to_string();
            let reason = text.rsplit_once(".rs:").map_or(&*text, |(_, rest)| rest);
            let reason = reason.split_once(": ").map_or(reason, |(_, reason)| reason);
            Error::value("window", "a display (`DISPLAY`)", reason)
        })?;
        Ok(Self { events })
    }

    /// What the device must be opened with to show anything here.
    ///
    /// # Errors
    /// [`Error::Gpu`] for a window system that Vulkan does not know.
    pub fn surface_extensions(&self) -> Result<Vec<&'static CStr>, Error> {
        Ok(surface_extensions(&self.events)?)
    }

    /// A way to send events from elsewhere.
    #[must_use]
    pub fn injector(&self) -> Injector {
        Injector {
            proxy: self.events.create_proxy(),
        }
    }

    /// Opens a window and stays until it closes.
    ///
    /// # Errors
    /// Whatever the application ends with.
    pub fn run(
        self,
        gpu: &Gpu,
        content: Box<dyn Content>,
        camera: CameraControl,
        desc: AppDesc,
    ) -> Result<(), Error> {
        let mut shell = Shell {
            gpu: gpu.clone(),
            begin: Some((content, camera, desc)),
            running: None,
            failure: None,
        };
        self.events.set_control_flow(ControlFlow::Poll);
        let ended = self.events.run_app(&mut shell);
        let finished = match shell.running.take() {
            Some(running) => running.app.finish(),
            None => Ok(()),
        };
        if let Some(failure) = shell.failure {
            return Err(failure);
        }
        ended.map_err(|error| Error::value("window", "an event loop that ends well", error))?;
        finished
    }
}

struct Shell {
    gpu: Gpu,
    /// Taken when the window system lets windows be made.
    begin: Option<(Box<dyn Content>, CameraControl, AppDesc)>,
    running: Option<Running>,
    failure: Option<Error>,
}

struct Running {
    app: App,
    input: egui_winit::State,
    window: Arc<winit::window::Window>,
    /// Nothing to see at the moment.
    idle: bool,
    minimised: bool,
    /// When it was last asked whether the window is minimised.
    looked: Instant,
}

impl Shell {
    fn open(&mut self, events: &ActiveEventLoop) -> Result<(), Error> {
        let Some((content, camera, desc)) = self.begin.take() else {
            return Ok(());
        };
        let [width, height] = desc.size;
        let attributes = WindowAttributes::default()
            .with_title(desc.title.clone())
            .with_inner_size(PhysicalSize::new(width, height));
        let window = events
            .create_window(attributes)
            .map_err(|error| Error::value("window", "one that opens", error))?;
        let window = Arc::new(window);
        let size = <[u32; 2]>::from(window.inner_size());
        let presenter = Window::new(
            &self.gpu,
            window.clone(),
            &WindowDesc {
                name: "window",
                size,
                vsync: desc.vsync,
                ..WindowDesc::default()
            },
        )?;
        let mut app = App::new(&self.gpu, presenter, content, camera, desc)?;
        let scale = window.scale_factor();
        app.event(&Event::Resized(size), false);
        app.event(&Event::ScaleFactor(scale), false);
        let input = egui_winit::State::new(
            app.egui().clone(),
            egui::ViewportId::ROOT,
            &window,
            Some(scale as f32),
            window.theme(),
            Some(self.gpu.info().limits.max_texture_size as usize),
        );
        self.running = Some(Running {
            app,
            input,
            window,
            idle: false,
            minimised: false,
            looked: Instant::now(),
        });
        Ok(())
    }

    /// Ends with an error.
    fn fail(&mut self, events: &ActiveEventLoop, error: Error) {
        self.failure = Some(error);
        events.exit();
    }

    fn draw(&mut self, events: &ActiveEventLoop) {
        let Some(running) = &mut self.running else {
            return;
        };
        running.look();
        let input = running.input.take_egui_input(&running.window);
        match running.app.frame(input) {
            Ok(outcome) => {
                running
                    .input
                    .handle_platform_output(&running.window, outcome.platform);
                for request in outcome.requests {
                    running.request(&request);
                }
                running.idle = outcome.idle;
                if outcome.close {
                    events.exit();
                }
            }
            Err(error) => self.fail(events, error),
        }
    }
}

impl Running {
    /// Asks whether the window is minimised.
    fn look(&mut self) {
        // The answer takes a way to the window system and back. While there is nothing to draw that costs nobody anything.
        if !self.idle && self.looked.elapsed() < LOOK_AGAIN {
            return;
        }
        self.looked = Instant::now();
        let minimised = self.window.is_minimized() == Some(true);
        if minimised != self.minimised {
            self.minimised = minimised;
            self.app.event(&Event::Minimised(minimised), false);
        }
    }

    /// Asks the window system.
    fn request(&mut self, command: &Command) {
        match command {
            Command::Size([width, height]) => {
                let size = PhysicalSize::new(*width, *height);
                // Where the answer comes at once there is no event.
                if let Some(size) = self.window.request_inner_size(size) {
                    self.app.event(&Event::Resized(size.into()), false);
                }
            }
            Command::Minimise(on) => self.window.set_minimized(*on),
            Command::Fullscreen(on) => self
                .window
                .set_fullscreen(on.then_some(Fullscreen::Borderless(None))),
            _ => {}
        }
    }
}

impl ApplicationHandler<Event> for Shell {
    fn new_events(&mut self, _: &ActiveEventLoop, cause: StartCause) {
        if let (Some(running), StartCause::ResumeTimeReached { .. }) = (&self.running, cause) {
            running.window.request_redraw();
        }
    }

    fn resumed(&mut self, events: &ActiveEventLoop) {
        if let Err(error) = self.open(events) {
            self.fail(events, error);
        }
    }

    fn user_event(&mut self, _: &ActiveEventLoop, event: Event) {
        if let Some(running) = &mut self.running {
            running.app.event(&event, false);
            running.window.request_redraw();
        }
    }

    fn window_event(&mut self, events: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(running) = &mut self.running else {
            return;
        };
        if event == WindowEvent::RedrawRequested {
            self.draw(events);
            return;
        }
        let taken = running
            .input
            .on_window_event(&running.window, &event)
            .consumed;
        if let Some(event) = Event::from_winit(&event) {
            running.app.event(&event, taken);
            if event == Event::Close {
                events.exit();
            }
        }
        if running.idle {
            running.window.request_redraw();
        }
    }

    fn device_event(&mut self, _: &ActiveEventLoop, _: DeviceId, event: DeviceEvent) {
        if let (Some(running), DeviceEvent::MouseMotion { delta: (x, y) }) =
            (&mut self.running, event)
        {
            running
                .app
                .event(&Event::Moved([x as f32, y as f32]), false);
        }
    }

    fn about_to_wait(&mut self, events: &ActiveEventLoop) {
        let Some(running) = &self.running else {
            return;
        };
        if !running.idle {
            events.set_control_flow(ControlFlow::Poll);
            running.window.request_redraw();
        } else if running.app.has_script() {
            events.set_control_flow(ControlFlow::wait_duration(SCRIPT_FRAME));
        } else if running.minimised {
            events.set_control_flow(ControlFlow::wait_duration(LOOK_AGAIN));
        } else {
            events.set_control_flow(ControlFlow::Wait);
        }
    }
}
