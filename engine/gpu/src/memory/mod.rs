//! Memory and what lies in it: buffers, textures, samplers, uploads, read-backs, and the queue of things to delete.

mod buffer;
mod deletion;
mod format;
mod read_back;
mod resource;
mod sampler;
mod texture;
mod upload;

pub(crate) use buffer::RawBuffer;
pub use buffer::{Buffer, BufferDesc, Memory};
pub(crate) use deletion::{DeletionQueue, Garbage};
pub(crate) use format::{Numeric, aspect_of, features_of, has_stencil, texel_bytes};
pub use read_back::ReadBack;
pub(crate) use resource::{IdPool, Resource};
pub(crate) use sampler::SamplerCache;
pub use sampler::{Reduction, Sampler, SamplerDesc};
pub(crate) use texture::NewTextures;
pub use texture::{MipView, Texture, TextureDesc};
pub(crate) use upload::{Copy, Upload, Uploads, check_buffer, check_device};
