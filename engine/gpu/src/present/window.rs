//! Pictures in a window: a surface and its swapchain, made anew whenever the window system says so.
//!
//! ```no_run
//! # fn run(gpu: &impel_gpu::Gpu, window: &mut impel_gpu::Window) -> impel_gpu::Result<()> {
//! let mut frame = gpu.begin_frame()?;
//! // Passes that draw the picture come here: an image of the window is best asked for late.
//! if let Some(image) = window.acquire(&mut frame)? {
//!     // A pass that draws to `image`.
//! }
//! let submitted = frame.submit()?;
//! window.present(&submitted)?;
//! # Ok(())
//! # }
//! ```

use super::surface::{self, Choice};
use super::swapchain::Swapchain;
use crate::device::{Gpu, Instance};
use crate::frame::{Frame, PresentTarget, SubmittedFrame};
use crate::memory::Texture;
use crate::{Error, Result};
use ash::vk;
use raw_window_handle::{HasDisplayHandle, HasWindowHandle};
use std::ffi::CStr;
use std::sync::atomic::Ordering;

/// How to show pictures in a window.
#[derive(Clone, Copy, Debug)]
pub struct WindowDesc<'a> {
    /// Name of the images, shown in errors, debuggers and captures.
    pub name: &'a str,
    /// Width and height of the window's content in pixels.
    pub size: [u32; 2],
    /// Whether pictures come in step with the display, which avoids tearing, or as fast as there is a way.
    pub vsync: bool,
    /// Whether a format that converts to sRGB is preferred to one that takes sRGB values as they are.
    pub srgb: bool,
    /// How many images are asked for; the surface has the last word.
    pub images: u32,
}

impl Default for WindowDesc<'_> {
    fn default() -> Self {
        WindowDesc {
            name: "window",
            size: [1, 1],
            vsync: true,
            srgb: false,
            images: 3,
        }
    }
}

type MakeSurface = Box<dyn Fn(&Instance) -> Result<vk::SurfaceKHR, vk::Result>>;

/// What must be done before the next image is acquired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stale {
    Nothing,
    Swapchain,
    Surface,
}

/// Images of a window, used as the window system hands them out. Submit the last frame before dropping it.
pub struct Window {
    gpu: Gpu,
    surfaces: ash::khr::surface::Instance,
    swapchains: ash::khr::swapchain::Device,
    make_surface: MakeSurface,
    surface: vk::SurfaceKHR,
    name: String,
    size: [u32; 2],
    vsync: bool,
    srgb: bool,
    wanted_images: u32,
    swapchain: Option<Swapchain>,
    /// Replaced, but still used by frames or presentation.
    retired: Vec<Swapchain>,
    stale: Stale,
    /// Semaphores for acquiring, each with the number of the last frame that waits for it.
    free: Vec<(vk::Semaphore, u64)>,
    acquired: Option<Acquired>,
    rebuilds: u64,
}

#[derive(Clone, Copy)]
struct Acquired {
    index: u32,
    frame: u64,
}

/// The instance extensions that windows of a display need, for [`GpuDesc::surface_extensions`](crate::GpuDesc).
///
/// # Errors
/// [`Error::Invalid`] for a window system that Vulkan has no surfaces for.
pub fn surface_extensions(display: &dyn HasDisplayHandle) -> Result<Vec<&'static CStr>> {
    let unknown = |reason: String| Error::invalid("the display", reason);
    let handle = display
        .display_handle()
        .map_err(|error| unknown(error.to_string()))?;
    let names = ash_window::enumerate_required_extensions(handle.as_raw()).map_err(|_| {
        unknown(format!(
            "there are no Vulkan surfaces for {:?}",
            handle.as_raw()
        ))
    })?;
    // SAFETY: the names are constants of `ash`, which end with a zero.
    Ok(names
        .iter()
        .map(|&name| unsafe { CStr::from_ptr(name) })
        .collect())
}

impl Window {
    /// Makes the surface of a window, which lives as long as this does. The device must have been opened with the
    /// [extensions of its display](surface_extensions).
    ///
    /// # Errors
    /// [`Error::Invalid`] for a device that cannot present to the window or was opened without surfaces, [`Error::Vulkan`].
    pub fn new(
        gpu: &Gpu,
        window: impl HasDisplayHandle + HasWindowHandle + 'static,
        desc: &WindowDesc<'_>,
    ) -> Result<Window> {
        Window::with_surface(
            gpu,
            Box::new(move |instance| {
                let gone = |_| vk::Result::ERROR_SURFACE_LOST_KHR;
                let display = window.display_handle().map_err(gone)?.as_raw();
                let handle = window.window_handle().map_err(gone)?.as_raw();
                // SAFETY: both handles belong to `window`, which this closure keeps alive for as long as the surface.
                unsafe {
                    ash_window::create_surface(
                        &instance.entry,
                        &instance.raw,
                        display,
                        handle,
                        None,
                    )
                }
            }),
            desc,
        )
    }

    /// A window without a window system (`VK_EXT_headless_surface`): everything goes its usual way, and nobody sees it.
    /// The device must have been opened with the extensions `VK_KHR_surface` and `VK_EXT_headless_surface`.
    ///
    /// # Errors
    /// As [`Window::new`].
    pub fn headless(gpu: &Gpu, desc: &WindowDesc<'_>) -> Result<Window> {
        Window::with_surface(
            gpu,
            Box::new(|instance| {
                let functions =
                    ash::ext::headless_surface::Instance::new(&instance.entry, &instance.raw);
                // SAFETY: the instance is alive and has the extension, see `with_surface`.
                unsafe { functions.create_headless_surface(&Default::default(), None) }
            }),
            desc,
        )
    }

    fn with_surface(gpu: &Gpu, make_surface: MakeSurface, desc: &WindowDesc<'_>) -> Result<Window> {
        let inner = &gpu.inner;
        if inner.desc.surface_extensions.is_empty() {
            return Err(Error::invalid(
                format!("window {:?}", desc.name),
                "the device was opened without surface extensions",
            ));
        }
        let instance = &inner.instance;
        let mut this = Window {
            gpu: gpu.clone(),
            surfaces: ash::khr::surface::Instance::new(&instance.entry, &instance.raw),
            swapchains: ash::khr::swapchain::Device::new(&instance.raw, &inner.device),
            make_surface,
            surface: vk::SurfaceKHR::null(),
            name: desc.name.to_owned(),
            size: desc.size,
            vsync: desc.vsync,
            srgb: desc.srgb,
            wanted_images: desc.images,
            swapchain: None,
            retired: Vec::new(),
            stale: Stale::Surface,
            free: Vec::new(),
            acquired: None,
            rebuilds: 0,
        };
        this.remake_surface()?;
        this.rebuild()?;
        this.rebuilds = 0;
        Ok(this)
    }

    /// Tells the size of the window's content in pixels; zero while it is minimised. To be told whenever it may have
    /// changed: not every driver says that a swapchain has become the wrong size.
    pub fn resize(&mut self, size: [u32; 2]) {
        if size != self.size {
            self.size = size;
            self.stale = self.stale.max(Stale::Swapchain);
        }
    }

    /// Whether pictures come in step with the display.
    pub fn vsync(&self) -> bool {
        self.vsync
    }

    /// Switches that from the next picture on.
    pub fn set_vsync(&mut self, vsync: bool) {
        if vsync != self.vsync {
            self.vsync = vsync;
            self.stale = self.stale.max(Stale::Swapchain);
        }
    }

    /// Does as if the window system had taken the surface away: for tests of what comes then.
    pub fn lose_surface(&mut self) {
        self.stale = Stale::Surface;
    }

    /// Width and height of the images; `None` while there is nothing to see.
    pub fn image_size(&self) -> Option<[u32; 2]> {
        let extent = self.swapchain.as_ref()?.choice.extent;
        Some([extent.width, extent.height])
    }

    /// Format of the images; `None` while there is nothing to see.
    pub fn format(&self) -> Option<vk::Format> {
        Some(self.swapchain.as_ref()?.choice.format.format)
    }

    /// How images follow each other; `None` while there is nothing to see.
    pub fn present_mode(&self) -> Option<vk::PresentModeKHR> {
        Some(self.swapchain.as_ref()?.choice.mode)
    }

    /// How often the swapchain was made anew.
    pub fn rebuilds(&self) -> u64 {
        self.rebuilds
    }

    /// Takes an image to draw to with the passes that follow in `frame`; what it held before is lost. `None` when there is
    /// none now, such as while the window is minimised: then wait for events of the window.
    ///
    /// # Errors
    /// [`Error::Vulkan`] for what the rules of window systems do not foresee, such as a lost device.
    pub fn acquire(&mut self, frame: &mut Frame) -> Result<Option<&Texture>> {
        puffin::profile_scope!("acquire");
        self.present_acquired()?;
        // A window that changes all the time may make each new swapchain old before it is used.
        for _ in 0..3 {
            self.collect_retired();
            if self.stale == Stale::Surface && !self.remake_surface()? {
                return Ok(None);
            }
            if self.stale == Stale::Swapchain || self.swapchain.is_none() {
                self.rebuild()?;
                if self.stale != Stale::Nothing {
                    continue;
                }
            }
            let Some(handle) = self.swapchain.as_ref().map(|swapchain| swapchain.handle) else {
                return Ok(None);
            };
            let semaphore = self.semaphore(frame.number())?;
            // SAFETY: the semaphore is unsignalled and nothing waits for it; no image of the swapchain is held.
            let result = unsafe {
                self.swapchains
                    .acquire_next_image(handle, SECOND, semaphore, vk::Fence::null())
            };
            match result {
                Ok((index, suboptimal)) => {
                    if suboptimal {
                        // It did signal: the image is used, and a better one follows.
                        self.stale = self.stale.max(Stale::Swapchain);
                    }
                    return self.hand_out(frame, index, semaphore).map(Some);
                }
                Err(vk::Result::TIMEOUT | vk::Result::NOT_READY) => return Ok(None),
                Err(result) => {
                    let noted = self.note("vkAcquireNextImageKHR", result);
                    noted.map_err(|error| frame.name_passes(error))?;
                }
            }
        }
        Ok(None)
    }

    fn hand_out(
        &mut self,
        frame: &mut Frame,
        index: u32,
        semaphore: vk::Semaphore,
    ) -> Result<&Texture> {
        let number = frame.number();
        let name = &self.name;
        let image = self
            .swapchain
            .as_mut()
            .and_then(|swapchain| {
                swapchain.last_frame = number;
                swapchain.images.get(index as usize)
            })
            .ok_or_else(|| {
                Error::invalid(
                    format!("window {name:?}"),
                    format!("the driver gave image {index}, which does not exist"),
                )
            })?;
        if let Some(entry) = self.free.iter_mut().find(|entry| entry.0 == semaphore) {
            entry.1 = number;
        }
        self.acquired = Some(Acquired {
            index,
            frame: number,
        });
        frame.set_present_target(PresentTarget {
            image: image.texture.image,
            acquired: semaphore,
            drawn: image.drawn,
        });
        Ok(&image.texture)
    }

    /// Shows the image that was acquired for a frame; nothing happens if none was.
    ///
    /// # Errors
    /// As [`Window::acquire`].
    pub fn present(&mut self, _: &SubmittedFrame) -> Result<()> {
        self.present_acquired()
    }

    fn present_acquired(&mut self) -> Result<()> {
        let Some(acquired) = self.acquired else {
            return Ok(());
        };
        let inner = self.gpu.inner.clone();
        if acquired.frame >= inner.frame_number.load(Ordering::Acquire) {
            return Err(Error::invalid(
                format!("window {:?}", self.name),
                "the frame that an image was acquired for has not been submitted",
            ));
        }
        self.acquired = None;
        let Some(swapchain) = &mut self.swapchain else {
            return Ok(());
        };
        let Some(drawn) = swapchain
            .images
            .get(acquired.index as usize)
            .map(|image| image.drawn)
        else {
            return Ok(());
        };
        let fences = [swapchain.fence(&inner, acquired.index)?];
        let (waits, handles, indices) = ([drawn], [swapchain.handle], [acquired.index]);
        let mut link = vk::SwapchainPresentFenceInfoEXT::default().fences(&fences);
        let mut info = vk::PresentInfoKHR::default()
            .wait_semaphores(&waits)
            .swapchains(&handles)
            .image_indices(&indices);
        if inner.swapchain_maintenance {
            info = info.push_next(&mut link);
        }
        let result = {
            puffin::profile_scope!("present");
            let _queue = crate::lock(&inner.queue_access);
            // SAFETY: the image is held, the frame that signals the semaphore was submitted, and nobody else uses the queue.
            unsafe { self.swapchains.queue_present(inner.queue, &info) }
        };
        match result {
            Ok(false) => Ok(()),
            Ok(true) => {
                self.stale = self.stale.max(Stale::Swapchain);
                Ok(())
            }
            Err(result) => {
                use vk::Result as R;
                let took_place = [R::ERROR_OUT_OF_DATE_KHR, R::ERROR_SURFACE_LOST_KHR];
                if !took_place.contains(&result) {
                    swapchain.forget_fence(acquired.index);
                }
                self.note("vkQueuePresentKHR", result)
            }
        }
    }

    /// Notes what an error asks for, if anything can be done about it.
    fn note(&mut self, call: &'static str, result: vk::Result) -> Result<()> {
        use vk::Result as R;
        let stale = match result {
            R::ERROR_OUT_OF_DATE_KHR | R::ERROR_FULL_SCREEN_EXCLUSIVE_MODE_LOST_EXT => {
                Stale::Swapchain
            }
            R::ERROR_SURFACE_LOST_KHR => Stale::Surface,
            _ => {
                let error = Error::vulkan(call, format!("window {:?}", self.name))(result);
                return Err(self.gpu.inner.name_passes(error));
            }
        };
        log::debug!("window {:?}: {call}: {result:?}", self.name);
        self.stale = self.stale.max(stale);
        Ok(())
    }

    /// A semaphore that nothing waits for any more.
    fn semaphore(&mut self, frame: u64) -> Result<vk::Semaphore> {
        let done = frame.saturating_sub(u64::from(self.gpu.inner.desc.frames_in_flight));
        if let Some((semaphore, _)) = self.free.iter().find(|(_, used)| *used <= done) {
            return Ok(*semaphore);
        }
        let inner = &self.gpu.inner;
        // SAFETY: the device is alive.
        let made = unsafe { inner.device.create_semaphore(&Default::default(), None) };
        let semaphore = made.map_err(Error::vulkan("vkCreateSemaphore", self.name.as_str()))?;
        inner.name(semaphore, &format!("{} acquired", self.name));
        self.free.push((semaphore, 0));
        Ok(semaphore)
    }

    /// Destroys the surface with its swapchains and makes it anew. False while the window system gives none.
    fn remake_surface(&mut self) -> Result<bool> {
        let inner = self.gpu.inner.clone();
        if self.surface != vk::SurfaceKHR::null() {
            self.retire_swapchain();
            self.destroy_retired();
            // SAFETY: all swapchains of the surface are gone.
            unsafe { self.surfaces.destroy_surface(self.surface, None) };
            self.surface = vk::SurfaceKHR::null();
            self.rebuilds += 1;
        }
        let thing = || format!("window {:?}", self.name);
        self.surface = match (self.make_surface)(&inner.instance) {
            Ok(surface) => surface,
            Err(vk::Result::ERROR_SURFACE_LOST_KHR) => return Ok(false),
            Err(result) => return Err(Error::vulkan("vkCreateSurfaceKHR", thing())(result)),
        };
        // SAFETY: surface and physical device belong to the same instance.
        let supported = unsafe {
            self.surfaces.get_physical_device_surface_support(
                inner.physical_device,
                inner.queue_family,
                self.surface,
            )
        };
        match supported {
            Ok(true) => {}
            Ok(false) => {
                let device = &inner.info.name;
                return Err(Error::invalid(
                    thing(),
                    format!("device {device:?} cannot present to it; choose another device"),
                ));
            }
            Err(result) => {
                let call = "vkGetPhysicalDeviceSurfaceSupportKHR";
                return Err(Error::vulkan(call, thing())(result));
            }
        }
        self.stale = Stale::Swapchain;
        Ok(true)
    }

    /// Makes a swapchain for what the surface is now; none while it has no extent.
    fn rebuild(&mut self) -> Result<()> {
        let choice = match self.choose() {
            Ok(choice) => choice,
            Err((call, result)) => return self.note(call, result),
        };
        let Some(choice) = choice else {
            self.retire_swapchain();
            self.stale = Stale::Nothing;
            return Ok(());
        };
        let old = self
            .swapchain
            .as_ref()
            .map_or(vk::SwapchainKHR::null(), |swapchain| swapchain.handle);
        let (gpu, name) = (self.gpu.clone(), self.name.clone());
        let made = Swapchain::new(&gpu, &self.swapchains, self.surface, choice, old, &name);
        // Also when the call failed, the old one is retired.
        self.retire_swapchain();
        match made {
            Ok(swapchain) => {
                self.swapchain = Some(swapchain);
                self.stale = Stale::Nothing;
                self.rebuilds += 1;
                Ok(())
            }
            Err(vk::Result::ERROR_NATIVE_WINDOW_IN_USE_KHR) => {
                self.stale = Stale::Surface;
                Ok(())
            }
            Err(result) => self.note("vkCreateSwapchainKHR", result),
        }
    }

    /// What to make a swapchain with; none while there is nothing to see. An error has the name of its call.
    fn choose(&self) -> Result<Option<Choice>, (&'static str, vk::Result)> {
        let device = self.gpu.inner.physical_device;
        let of = |call| move |result| (call, result);
        // SAFETY: surface and physical device belong to the same instance.
        let (able, formats, modes) = unsafe {
            let surfaces = &self.surfaces;
            (
                surfaces
                    .get_physical_device_surface_capabilities(device, self.surface)
                    .map_err(of("vkGetPhysicalDeviceSurfaceCapabilitiesKHR"))?,
                surfaces
                    .get_physical_device_surface_formats(device, self.surface)
                    .map_err(of("vkGetPhysicalDeviceSurfaceFormatsKHR"))?,
                surfaces
                    .get_physical_device_surface_present_modes(device, self.surface)
                    .map_err(of("vkGetPhysicalDeviceSurfacePresentModesKHR"))?,
            )
        };
        let Some(extent) = surface::extent(&able, self.size) else {
            return Ok(None);
        };
        let Some(format) = surface::format(&formats, self.srgb) else {
            return Ok(None);
        };
        let copies = vk::ImageUsageFlags::TRANSFER_SRC & able.supported_usage_flags;
        Ok(Some(Choice {
            format,
            mode: surface::mode(&modes, self.vsync),
            alpha: surface::alpha(able.supported_composite_alpha),
            transform: able.current_transform,
            usage: vk::ImageUsageFlags::COLOR_ATTACHMENT | copies,
            extent,
            images: surface::images(&able, self.wanted_images),
        }))
    }

    /// Puts the swapchain aside until nothing uses it.
    fn retire_swapchain(&mut self) {
        if let Some(swapchain) = self.swapchain.take() {
            self.retired.push(swapchain);
        }
        if !self.gpu.inner.swapchain_maintenance {
            self.destroy_retired();
        }
    }

    fn collect_retired(&mut self) {
        if self.retired.is_empty() {
            return;
        }
        let inner = &self.gpu.inner;
        // SAFETY: the timeline semaphore lives as long as the device.
        let done = unsafe { inner.device.get_semaphore_counter_value(inner.timeline) }.unwrap_or(0);
        let swapchains = &self.swapchains;
        self.retired.retain_mut(|swapchain| {
            let unused = swapchain.is_unused(inner, done);
            if unused {
                swapchain.destroy(inner, swapchains);
            }
            !unused
        });
    }

    /// Waits until nothing uses what was put aside, and destroys it.
    fn destroy_retired(&mut self) {
        if self.retired.is_empty() {
            return;
        }
        let inner = &self.gpu.inner;
        {
            let _queue = crate::lock(&inner.queue_access);
            // Without fences nothing tells better when presentation has used its semaphores.
            // SAFETY: nobody else uses the queue, since that needs the lock.
            let _ = unsafe { inner.device.queue_wait_idle(inner.queue) };
        }
        for mut swapchain in self.retired.drain(..) {
            swapchain.wait(inner);
            swapchain.destroy(inner, &self.swapchains);
        }
    }
}

/// How long to wait for an image. Some window systems give none while a window cannot be seen.
const SECOND: u64 = 1_000_000_000;

impl Drop for Window {
    fn drop(&mut self) {
        let inner = self.gpu.inner.clone();
        let next = inner.frame_number.load(Ordering::Acquire);
        if self.acquired.is_some_and(|acquired| acquired.frame >= next) {
            log::error!(
                "window {:?} was dropped before the frame that draws to it was submitted",
                self.name
            );
            // That frame will use what would be destroyed here.
            std::mem::forget(inner);
            let kept: MakeSurface = Box::new(|_| Err(vk::Result::ERROR_UNKNOWN));
            std::mem::forget(std::mem::replace(&mut self.make_surface, kept));
            return;
        }
        if let Err(error) = self.present_acquired() {
            log::error!("{error}");
        }
        self.retire_swapchain();
        if self.retired.is_empty() {
            let _ = self.gpu.wait_idle();
        }
        self.destroy_retired();
        // SAFETY: the queue is idle, so nothing waits for the semaphores, and all swapchains of the surface are gone.
        unsafe {
            for (semaphore, _) in self.free.drain(..) {
                inner.device.destroy_semaphore(semaphore, None);
            }
            self.surfaces.destroy_surface(self.surface, None);
        }
    }
}
