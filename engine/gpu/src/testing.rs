//! For tests of passes: a device with validation on, that fails the test when validation says anything.

use crate::device::Messages;
use crate::{Gpu, GpuDesc};
use std::ops::Deref;
use std::sync::Arc;

/// A device for one test. Dropping it panics when validation has said anything or device memory was not freed, unless the
/// test panics already.
pub struct TestGpu {
    gpu: Gpu,
    /// After the device, so that it hears what validation says of its end.
    judge: Judge,
}

struct Judge(Arc<Messages>);

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
        Ok(gpu) => TestGpu {
            judge: Judge(gpu.inner.instance.messages.clone()),
            gpu,
        },
        Err(error) => panic!(
            "GPU tests need a Vulkan 1.3 device and the validation layer (`cargo verify` installs both): {error}"
        ),
    }
}

impl TestGpu {
    /// The messages so far; the test then answers for them, and the drop does not fail for them.
    pub fn take_messages(&self) -> Vec<String> {
        self.judge.0.take()
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
        if let Err(error) = self.gpu.wait_idle() {
            self.judge.0.add(error.to_string());
        }
    }
}

impl Drop for Judge {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let texts = self.0.texts();
            assert!(texts.is_empty(), "validation said: {}", texts.join("\n"));
        }
    }
}
