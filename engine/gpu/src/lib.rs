//! The Vulkan layer of Impel: device, memory, pipelines, passes, frames.
//!
//! Pipelines are built from what their shaders say of themselves; a pass binds resources by the shader's own names, and
//! the executor derives the barrier that it needs. Resources free themselves when the device is done with them.
//!
//! From a device to a result:
//!
//! ```no_run
//! use impel_gpu::{BufferDesc, ComputePipelineDesc, Gpu, GpuDesc, Shader};
//!
//! fn fill(spirv: &[u8]) -> Result<Vec<u8>, impel_gpu::Error> {
//!     let gpu = Gpu::new(&GpuDesc::default())?;
//!     let pipeline = gpu.compute_pipeline(&ComputePipelineDesc {
//!         name: "fill",
//!         shader: &Shader::new("fill.comp", spirv)?,
//!         constants: &[],
//!     })?;
//!     let values = gpu.buffer(&BufferDesc::storage("values", 256))?;
//!     let mut frame = gpu.begin_frame()?;
//!     // By name, without generated code; `impel bake` makes a struct for the bindings and one for the push constants.
//!     frame.compute("fill", &pipeline).bind([("values", values.whole())]).dispatch_threads([64, 1, 1])?;
//!     let result = frame.read_back(&values, 0, 256)?;
//!     frame.submit()?;
//!     result.wait()
//! }
//! ```
//!
//! - [`Gpu`] opens a device and makes buffers, textures, samplers and pipelines of it.
//! - [`Frame`] records passes: [`Frame::compute`], [`Frame::graphics`], copies and uploads; [`Frame::pass`] for raw commands.
//! - [`Offscreen`] and [`Window`] give images to draw to; [`Profiler`] collects the times of CPU and GPU.
//! - [`testing`] opens a device under validation for tests, [`noop`] is a driver that only notes down what it is told.

mod binding;
mod device;
mod error;
mod exit;
mod frame;
mod memory;
pub mod noop;
mod pass;
mod pipeline;
mod present;
mod profile;
mod shader;
pub mod testing;

pub use ash;
pub use ash::vk;
pub use binding::{Binding, Bindings, Bound, SlotList};
pub use device::{
    DeviceInfo, DeviceKind, Gpu, GpuDesc, Limits, OptionalFeatures, RawFunctions, ValidationReport,
};
pub use error::{Error, Result};
pub use exit::exit_at_once;
pub use frame::{
    Frame, FrameMoments, FrameResult, PassRecord, PassResult, PassStatistics, SubmittedFrame,
};
pub use memory::{
    Buffer, BufferDesc, Memory, MipView, ReadBack, Reduction, Sampler, SamplerDesc, Texture,
    TextureDesc,
};
pub use pass::{
    Color, Compute, ComputePass, Depth, Graphics, GraphicsPass, Load, PassBuilder, PassDesc,
    PassName, RawPass, ResourceId, ResourceRef, Scopes, ShaderAccess, Stage,
};
pub use pipeline::{
    Blend, ComputePipelineDesc, DepthState, GraphicsPipelineDesc, GraphicsState, Pipeline,
    SetLayoutsDesc, create_set_layouts,
};
pub use present::{Offscreen, OffscreenDesc, Window, WindowDesc, surface_extensions};
pub use profile::Profiler;
pub use puffin;
pub use shader::{Shader, ShaderCode};

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks, also when a panicking thread held the lock: what our mutexes guard is valid between any two statements.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
