//! The Vulkan layer of Impel: device, memory, pipelines, passes, frames.
//!
//! Pipelines are built from what their shaders say of themselves; a pass binds resources by the shader's own names, and
//! the executor derives the barrier that it needs. Resources free themselves when the device is done with them.

mod binding;
mod device;
mod error;
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
