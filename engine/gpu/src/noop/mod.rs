//! A no-op device: a Vulkan 1.3 driver in Rust that touches no real one.
//!
//! For tests without a driver and for measurements of what the caller alone costs. `ash`, VMA and the engine run on it
//! unchanged: it is a table of functions like that of any driver. It keeps objects, memory (real host memory, so that mapping
//! works), timelines, fences and queries; it keeps each command with its arguments; and it executes nothing else: no copy, no
//! shader. What it must be asked for:
//!
//! - [`NoopDriver::submissions`]: the commands of each submission, see [`Command`];
//! - [`NoopDriver::errors`]: uses of wrong or destroyed handles, waits that nothing ends, broken order of commands;
//! - [`NoopDriver::leaks`]: what was not destroyed before its device or instance;
//! - [`NoopDriver::bound_sets`]: which descriptor sets are undisturbed at each draw and dispatch.
//!
//! [`NoopDesc`] says what the driver pretends to be: limits, features, extensions, memory, queues, and calls that fail.
//!
//! ```
//! use impel_gpu::noop::{NoopDesc, NoopDriver};
//! let driver = NoopDriver::new(NoopDesc::with(|device| device.lacks("meshShader")));
//! let entry = driver.entry();
//! // SAFETY: the structure is valid; the instance is destroyed before the driver.
//! unsafe {
//!     let instance = entry.create_instance(&ash::vk::InstanceCreateInfo::default(), None).unwrap();
//!     assert_eq!(instance.enumerate_physical_devices().unwrap().len(), 1);
//!     instance.destroy_instance(None);
//! }
//! assert!(driver.errors().is_empty() && driver.leaks().is_empty());
//! ```

mod barrier;
mod check;
mod clock;
mod command;
mod command_handles;
mod debug;
mod desc;
mod descriptor;
mod device;
mod disturb;
mod features;
mod format;
mod handle;
mod instance;
mod layout;
mod loader;
mod memory;
mod pipeline;
mod pool;
mod properties;
mod query;
mod queue;
mod record;
mod record_bind;
mod record_draw;
mod record_query;
mod record_state;
mod record_transfer;
mod resource;
mod state;
mod surface;
mod swapchain;
mod sync;

pub use command::{
    Attachment, BufferBarrier, ClearBits, Command, Dependency, ImageBarrier, MemoryBarrier,
};
pub use desc::{Failure, NoopDesc, NoopDevice, NoopLayer};
pub use descriptor::{DescriptorValue, DescriptorWrite};
pub use device::EnabledDevice;
pub use disturb::{BoundSet, BoundSets, SetState};
pub use layout::{LayoutBinding, PipelineLayout, SetLayout};
pub use pipeline::{PipelineInfo, StageInfo};
pub use queue::{RecordedBuffer, SemaphoreUse, Submission};
pub use state::Leak;

use ash::vk::{self, Handle};
use state::Shared;
use std::ffi::CString;
use std::sync::Arc;

/// All functions of the driver.
const ALL_ROWS: &[&[loader::Row]] = &[
    instance::GLOBAL_ROWS,
    instance::ROWS,
    features::ROWS,
    properties::ROWS,
    device::physical::ROWS,
    device::ROWS,
    memory::ROWS,
    resource::ROWS,
    layout::ROWS,
    pipeline::ROWS,
    sync::ROWS,
    query::ROWS,
    query::calibrated::ROWS,
    query::time_domains::ROWS,
    pool::ROWS,
    queue::ROWS,
    barrier::ROWS,
    record_bind::ROWS,
    record_bind::push::ROWS,
    record_draw::ROWS,
    record_draw::mesh::ROWS,
    record_query::ROWS,
    record_state::ROWS,
    record_transfer::ROWS,
    record_transfer::marker::ROWS,
    record_transfer::checkpoint::ROWS,
    record_transfer::checkpoint::queue::ROWS,
    debug::ROWS,
    debug::device::ROWS,
    debug::labels::ROWS,
    debug::fault::ROWS,
    debug::private_data::ROWS,
    surface::ROWS,
    surface::capabilities2::ROWS,
    surface::headless::ROWS,
    swapchain::ROWS,
    swapchain::PRESENT_ROWS,
    surface::rectangles::ROWS,
    swapchain::maintenance1::ROWS,
];

/// A driver that touches no device. Several may live at once, on one thread or on many; each has objects of its own.
pub struct NoopDriver {
    shared: Arc<Shared>,
}

impl NoopDriver {
    /// Starts a driver.
    #[must_use]
    pub fn new(desc: NoopDesc) -> Self {
        NoopDriver {
            shared: Arc::new(Shared::new(desc)),
        }
    }

    /// The way into the driver, and [`NoopDriver::activate`] on this thread.
    ///
    /// Functions without a handle (`vkCreateInstance`, `vkEnumerateInstance*`) mean the driver that was activated last on the
    /// thread that calls them; all others know their driver by the handle, on any thread.
    #[must_use]
    pub fn entry(&self) -> ash::Entry {
        self.activate();
        let functions = ash::StaticFn {
            get_instance_proc_addr: loader::get_instance_proc_addr,
        };
        // SAFETY: the function keeps to `vkGetInstanceProcAddr`'s contract.
        unsafe { ash::Entry::from_static_fn(functions) }
    }

    /// Makes this driver the one that functions without a handle mean on this thread.
    pub fn activate(&self) {
        loader::set_current(&self.shared);
    }

    /// What the driver pretends to be.
    #[must_use]
    pub fn desc(&self) -> &NoopDesc {
        &self.shared.desc
    }

    /// All submissions so far, oldest first. Empty when nothing is recorded.
    #[must_use]
    pub fn submissions(&self) -> Vec<Submission> {
        self.shared.state().submissions.clone()
    }

    /// As [`NoopDriver::submissions`], and forgets them.
    #[must_use]
    pub fn take_submissions(&self) -> Vec<Submission> {
        std::mem::take(&mut self.shared.state().submissions)
    }

    /// The commands that a command buffer holds now, submitted or not.
    #[must_use]
    pub fn commands(&self, buffer: vk::CommandBuffer) -> Vec<Command> {
        if !self.shared.state().check(buffer, "NoopDriver::commands") {
            return Vec::new();
        }
        // SAFETY: it was checked to be a command buffer of this driver.
        let buffer = unsafe { handle::object::<handle::CommandBuffer>(buffer) };
        buffer.recording().commands.to_vec()
    }

    /// What was used wrongly so far: handles destroyed, twice or of another type, waits that nothing ends, commands in places
    /// where they are not allowed. Each message names function, type, handle and debug name.
    #[must_use]
    pub fn errors(&self) -> Vec<String> {
        self.shared.state().errors.clone()
    }

    /// As [`NoopDriver::errors`], and forgets them.
    #[must_use]
    pub fn take_errors(&self) -> Vec<String> {
        std::mem::take(&mut self.shared.state().errors)
    }

    /// Objects that had not been destroyed when their device or instance was.
    #[must_use]
    pub fn leaks(&self) -> Vec<Leak> {
        self.shared.state().leaks.clone()
    }

    /// How many objects of a type live now.
    #[must_use]
    pub fn live(&self, kind: vk::ObjectType) -> usize {
        self.shared
            .state()
            .objects
            .values()
            .filter(|object| object.alive && object.kind == kind)
            .count()
    }

    /// The debug name of an object, live or not.
    #[must_use]
    pub fn name(&self, handle: impl Handle) -> String {
        self.shared
            .state()
            .objects
            .get(&handle.as_raw())
            .map(|object| object.name.clone())
            .unwrap_or_default()
    }

    /// How often a function that returns `VkResult` was called.
    #[must_use]
    pub fn calls(&self, function: &str) -> u64 {
        self.shared
            .state()
            .calls
            .get(function)
            .copied()
            .unwrap_or(0)
    }

    /// Lets the next call of a function fail; see [`Failure`].
    pub fn fail_next(&self, function: &str, result: vk::Result) {
        let first = self.calls(function);
        let failure = Failure {
            function: function.to_owned(),
            first,
            count: 1,
            result,
        };
        self.shared.state().failures.push(failure);
    }

    /// The devices created so far, with the features and extensions switched on.
    #[must_use]
    pub fn enabled(&self) -> Vec<EnabledDevice> {
        self.shared.state().enabled.clone()
    }

    /// A pipeline's stages and constants, also after its end.
    #[must_use]
    pub fn pipeline(&self, pipeline: vk::Pipeline) -> Option<PipelineInfo> {
        self.shared
            .state()
            .peek::<Arc<PipelineInfo>>(pipeline)
            .map(|info| (**info).clone())
    }

    /// A pipeline layout's definition, also after its end.
    #[must_use]
    pub fn pipeline_layout(&self, layout: vk::PipelineLayout) -> Option<Arc<PipelineLayout>> {
        self.shared
            .state()
            .peek::<Arc<PipelineLayout>>(layout)
            .cloned()
    }

    /// The entries of an update template, also after its end.
    #[must_use]
    pub fn template_entries(
        &self,
        template: vk::DescriptorUpdateTemplate,
    ) -> Option<Vec<vk::DescriptorUpdateTemplateEntry>> {
        self.shared
            .state()
            .peek::<layout::Template>(template)
            .map(|known| known.entries.clone())
    }

    /// What a descriptor set holds at a binding's array element: for sets updated by `vkUpdateDescriptorSets`.
    #[must_use]
    pub fn descriptor(
        &self,
        set: vk::DescriptorSet,
        binding: u32,
        element: u32,
    ) -> Option<DescriptorValue> {
        let state = self.shared.state();
        let contents = &state.peek::<layout::DescriptorSet>(set)?.contents;
        contents
            .get(&(binding, element))
            .map(|(_, value)| value.clone())
    }

    /// Which descriptor sets and push constants each draw and dispatch among `commands` finds, by Vulkan's rule of pipeline
    /// layout compatibility; a new command buffer begins with nothing bound.
    #[must_use]
    pub fn bound_sets(&self, commands: &[Command]) -> Vec<BoundSets> {
        disturb::bound_sets(&self.shared, commands)
    }

    /// Changes what a surface can do, as a window system does: its current extent most of all.
    pub fn change_surface(
        &self,
        surface: vk::SurfaceKHR,
        change: impl FnOnce(&mut vk::SurfaceCapabilitiesKHR),
    ) {
        if let Some(surface) = self
            .shared
            .state()
            .data::<surface::Surface>(surface, "NoopDriver::change_surface")
        {
            change(&mut surface.capabilities);
        }
    }

    /// Lets all pending submissions finish; see [`NoopDesc::defer`].
    pub fn finish(&self) {
        self.shared.state().finish_until(&|_| false);
    }

    /// Lets the next commands of the oldest pending submission take effect and no more, as on a device that hangs there; see
    /// [`NoopDesc::defer`].
    pub fn run_commands(&self, count: usize) {
        self.shared.state().run_some(count);
    }

    /// Sends a message to the debug messengers, as a validation layer would.
    pub fn say(&self, severity: vk::DebugUtilsMessageSeverityFlagsEXT, id: &str, text: &str) {
        let c_string = |text: &str| CString::new(text.replace('\0', " ")).unwrap_or_default();
        debug::say(&self.shared, severity, &c_string(id), &c_string(text));
    }
}

#[cfg(test)]
mod tests;
