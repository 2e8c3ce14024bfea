//! What the tests on the no-op device share.

#![allow(dead_code)]

use impel_gpu::noop::{NoopDesc, NoopDriver};
use impel_gpu::{
    Buffer, BufferDesc, ComputePipelineDesc, Gpu, GpuDesc, GraphicsPipelineDesc, GraphicsState,
    Pipeline, Shader, ShaderCode, Texture, TextureDesc, vk,
};
use std::ops::Deref;

/// An open no-op device. When it goes, the driver must have nothing to say: no call used wrongly, no object left.
pub(crate) struct Noop {
    gpu: Gpu,
    pub(crate) driver: Judge,
}

/// The driver, after its device is gone.
pub(crate) struct Judge(NoopDriver);

pub(crate) fn noop() -> Noop {
    noop_with(NoopDesc::default(), &GpuDesc::default())
}

pub(crate) fn noop_with(noop: NoopDesc, desc: &GpuDesc) -> Noop {
    let driver = NoopDriver::new(noop);
    let gpu = Gpu::with_entry(desc, driver.entry()).unwrap();
    Noop {
        gpu,
        driver: Judge(driver),
    }
}

impl Deref for Noop {
    type Target = Gpu;

    fn deref(&self) -> &Gpu {
        &self.gpu
    }
}

impl Deref for Judge {
    type Target = NoopDriver;

    fn deref(&self) -> &NoopDriver {
        &self.0
    }
}

impl Drop for Judge {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            expect_clean(&self.0);
        }
    }
}

/// Fails when the driver was used wrongly or objects were left behind.
pub(crate) fn expect_clean(driver: &NoopDriver) {
    let (errors, leaks) = (driver.errors(), driver.leaks());
    assert!(errors.is_empty(), "{errors:#?}");
    assert!(leaks.is_empty(), "{leaks:#?}");
}

pub(crate) fn shaders(code: &[ShaderCode]) -> Vec<Shader> {
    code.iter()
        .map(|code| Shader::from_code(code).unwrap())
        .collect()
}

pub(crate) fn try_compute(
    gpu: &Gpu,
    name: &str,
    code: &[ShaderCode],
) -> impel_gpu::Result<Pipeline> {
    gpu.compute_pipeline(&ComputePipelineDesc {
        name,
        shader: &shaders(code)[0],
        constants: &[],
    })
}

pub(crate) fn compute(gpu: &Gpu, name: &str, code: &[ShaderCode]) -> Pipeline {
    try_compute(gpu, name, code).unwrap()
}

pub(crate) fn try_graphics(
    gpu: &Gpu,
    name: &str,
    code: &[ShaderCode],
    state: GraphicsState,
) -> impel_gpu::Result<Pipeline> {
    let shaders = shaders(code);
    gpu.graphics_pipeline(&GraphicsPipelineDesc {
        name,
        shaders: &shaders.iter().collect::<Vec<_>>(),
        constants: &[],
        state,
    })
}

pub(crate) fn graphics(gpu: &Gpu, name: &str, code: &[ShaderCode]) -> Pipeline {
    try_graphics(gpu, name, code, GraphicsState::default()).unwrap()
}

pub(crate) fn storage(gpu: &Gpu, name: &str, bytes: u64) -> Buffer {
    gpu.buffer(&BufferDesc::storage(name, bytes)).unwrap()
}

pub(crate) fn texture(
    gpu: &Gpu,
    name: &str,
    format: vk::Format,
    usage: vk::ImageUsageFlags,
) -> Texture {
    gpu.texture(&TextureDesc {
        name,
        format,
        size: [16, 16, 1],
        usage,
        ..Default::default()
    })
    .unwrap()
}

/// A texture to draw colours to, to sample, store to and copy.
pub(crate) fn color(gpu: &Gpu, name: &str) -> Texture {
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT
        | vk::ImageUsageFlags::SAMPLED
        | vk::ImageUsageFlags::STORAGE
        | vk::ImageUsageFlags::TRANSFER_SRC
        | vk::ImageUsageFlags::TRANSFER_DST;
    texture(gpu, name, vk::Format::R8G8B8A8_UNORM, usage)
}

/// A depth buffer to draw to and sample.
pub(crate) fn depth(gpu: &Gpu, name: &str) -> Texture {
    let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT | vk::ImageUsageFlags::SAMPLED;
    texture(gpu, name, vk::Format::D32_SFLOAT, usage)
}

/// The message of what must have failed; it must hold all of `parts`.
#[track_caller]
pub(crate) fn expect_error<T>(result: impel_gpu::Result<T>, parts: &[&str]) -> String {
    let message = match result {
        Ok(_) => panic!("this should have failed with {parts:?}"),
        Err(error) => error.to_string(),
    };
    for part in parts {
        assert!(message.contains(part), "{part:?} is not in: {message}");
    }
    message
}
