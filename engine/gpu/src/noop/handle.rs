//! Dispatchable handles: pointers to structs that begin with a [`Header`], as a Vulkan loader wants it.

use super::command::Command;
use super::state::Shared;
use ash::vk::{self, Handle};
use std::collections::HashSet;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a loader expects in the first word of a dispatchable object of a driver (`ICD_LOADER_MAGIC`).
const LOADER_MAGIC: usize = 0x01CD_C0DE;

/// The head of each dispatchable object.
#[repr(C)]
pub(super) struct Header {
    magic: usize,
    shared: *const Shared,
}

impl Header {
    pub(super) fn new(shared: &Shared) -> Self {
        Header {
            magic: LOADER_MAGIC,
            shared,
        }
    }
}

// SAFETY: the pointer is only read, and `Shared` is Sync; it lives as long as any handle, see `instance::create_instance`.
unsafe impl Send for Header {}
// SAFETY: as above.
unsafe impl Sync for Header {}

/// Behind a `vk::Instance`.
#[repr(C)]
pub(super) struct Instance {
    pub(super) header: Header,
    pub(super) extensions: HashSet<String>,
    pub(super) physical_devices: Vec<u64>,
    /// Keeps the driver's state while the instance lives, also when the `NoopDriver` is dropped first.
    pub(super) keep: Mutex<Option<Arc<Shared>>>,
}

/// Behind a `vk::PhysicalDevice`.
#[repr(C)]
pub(super) struct PhysicalDevice {
    pub(super) header: Header,
    /// Index in `NoopDesc::devices`.
    pub(super) index: usize,
    pub(super) instance: AtomicU64,
}

/// Behind a `vk::Device`.
#[repr(C)]
pub(super) struct Device {
    pub(super) header: Header,
    /// Index of the physical device in `NoopDesc::devices`.
    pub(super) index: usize,
    pub(super) extensions: HashSet<String>,
    pub(super) instance_extensions: HashSet<String>,
    /// Per family, per index.
    pub(super) queues: Mutex<Vec<Vec<u64>>>,
}

/// Behind a `vk::Queue`.
#[repr(C)]
pub(super) struct Queue {
    pub(super) header: Header,
    pub(super) device: u64,
    pub(super) family: u32,
    pub(super) valid_bits: u32,
}

/// Behind a `vk::CommandBuffer`.
#[repr(C)]
pub(super) struct CommandBuffer {
    pub(super) header: Header,
    pub(super) secondary: bool,
    pub(super) recording: Mutex<Recording>,
}

/// The life of a command buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Phase {
    #[default]
    Initial,
    Recording,
    Executable,
    /// Submitted with `ONE_TIME_SUBMIT`: not to be submitted again.
    Spent,
}

#[derive(Default)]
pub(super) struct Recording {
    pub(super) phase: Phase,
    pub(super) one_time: bool,
    pub(super) commands: Arc<Vec<Command>>,
}

impl CommandBuffer {
    pub(super) fn recording(&self) -> MutexGuard<'_, Recording> {
        self.recording
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// The driver's state behind any dispatchable handle.
///
/// # Safety
/// `handle` is a dispatchable handle of a no-op driver whose instance has not been destroyed.
pub(super) unsafe fn shared<'a>(handle: impl Handle) -> &'a Shared {
    // SAFETY: such a handle points to a struct that begins with a `Header`, and these stay until the driver goes.
    unsafe { &*(*(handle.as_raw() as *const Header)).shared }
}

/// The struct behind a dispatchable handle.
///
/// # Safety
/// As for [`shared`]; `T` is the struct that belongs to the handle's type.
pub(super) unsafe fn object<'a, T>(handle: impl Handle) -> &'a T {
    // SAFETY: by the condition above.
    unsafe { &*(handle.as_raw() as *const T) }
}

/// Puts a dispatchable object into the driver's state and gives its handle.
pub(super) fn dispatchable<H: Handle, T: Send + Sync + 'static>(
    shared: &Shared,
    parent: u64,
    owner: u64,
    object: T,
) -> H {
    let object = Box::new(object);
    let raw = std::ptr::from_ref::<T>(&object) as u64;
    let mut state = shared.state();
    state.dispatchable.push(object);
    state.register(raw, parent, owner, ())
}

/// Copies an array given by pointer and count; empty when there is none.
///
/// # Safety
/// `first` is null or points to `count` values.
pub(super) unsafe fn slice<'a, T>(first: *const T, count: u32) -> &'a [T] {
    if first.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: by the condition above.
    unsafe { std::slice::from_raw_parts(first, count as usize) }
}

/// The structures of a `pNext` chain.
///
/// # Safety
/// `first` is null or begins a chain of valid Vulkan structures, which live as long as the iterator.
pub(super) unsafe fn chain(
    first: *const std::ffi::c_void,
) -> impl Iterator<Item = *mut vk::BaseOutStructure<'static>> {
    let first = first.cast_mut().cast::<vk::BaseOutStructure<'static>>();
    std::iter::successors(Some(first), |link| {
        // SAFETY: by the condition above, each link is null or valid.
        unsafe { link.as_ref() }.map(|link| link.p_next)
    })
    .take_while(|link| !link.is_null())
}

/// Vulkan's way to hand out a list: the count alone when there is no array, else as many as fit.
///
/// # Safety
/// `count` is valid; `first` is null or points to `*count` values.
pub(super) unsafe fn enumerate<T: Clone>(
    items: &[T],
    count: *mut u32,
    first: *mut T,
) -> Result<(), vk::Result> {
    // SAFETY: by the condition above.
    unsafe { enumerate_with(items, count, first, |item, slot| slot.write(item.clone())) }
}

/// [`enumerate`] for structures whose `pNext` must be kept.
///
/// # Safety
/// As for [`enumerate`].
pub(super) unsafe fn enumerate_with<S, T>(
    items: &[S],
    count: *mut u32,
    first: *mut T,
    write: impl Fn(&S, *mut T),
) -> Result<(), vk::Result> {
    let available = items.len() as u32;
    // SAFETY: `count` is valid.
    let room = unsafe { *count };
    let written = if first.is_null() {
        available
    } else {
        available.min(room)
    };
    if !first.is_null() {
        for (index, item) in items.iter().take(written as usize).enumerate() {
            // SAFETY: `first` points to at least `written` values.
            write(item, unsafe { first.add(index) });
        }
    }
    // SAFETY: as above.
    unsafe { *count = written };
    if written < available {
        Err(vk::Result::INCOMPLETE)
    } else {
        Ok(())
    }
}

/// A name as Vulkan's fixed arrays want it, cut at 255 bytes.
pub(super) fn fixed<const N: usize>(text: &str) -> [std::ffi::c_char; N] {
    let mut array = [0; N];
    for (slot, byte) in array.iter_mut().take(N - 1).zip(text.bytes()) {
        *slot = byte as std::ffi::c_char;
    }
    array
}

/// A string given by pointer; empty when null.
///
/// # Safety
/// `text` is null or a null-terminated string.
pub(super) unsafe fn string(text: *const std::ffi::c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: by the condition above.
    unsafe { std::ffi::CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned()
}
