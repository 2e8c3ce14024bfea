//! For tests of passes: a device with validation on, that fails the test when validation says anything.

use crate::{Gpu, GpuDesc};
use std::ops::Deref;

/// A device for one test. Dropping it panics when validation has said anything, unless the test panics already.
pub struct TestGpu {
    gpu: Gpu,
}

/// Opens the device that tests use, with validation and synchronization validation.
///
/// # Panics
/// Without a device or the validation layer; the message says how to get them.
pub fn gpu() -> TestGpu {
    gpu_with(&GpuDesc::default())
}

/// As [`gpu`], with a description of the caller's; validation is switched on in any case.
///
/// # Panics
/// As [`gpu`].
pub fn gpu_with(desc: &GpuDesc) -> TestGpu {
    match Gpu::new(&GpuDesc {
        validation: true,
        ..desc.clone()
    }) {
        Ok(gpu) => TestGpu { gpu },
        Err(error) => panic!(
            "GPU tests need a Vulkan 1.3 device and the validation layer (`cargo verify` installs both): {error}"
        ),
    }
}

impl TestGpu {
    /// The messages so far; the test then answers for them, and the drop does not fail for them.
    pub fn take_messages(&self) -> Vec<String> {
        self.gpu.inner.instance.messages.take()
    }
}

impl Deref for TestGpu {
    type Target = Gpu;

    fn deref(&self) -> &Gpu {
        &self.gpu
    }
}

impl Drop for TestGpu {
    fn drop(&mut self) {
        let messages = self.gpu.inner.instance.messages.clone();
        let _ = self.gpu.wait_idle();
        if !std::thread::panicking() {
            let texts = messages.texts();
            assert!(texts.is_empty(), "validation said: {}", texts.join("\n"));
        }
    }
}
