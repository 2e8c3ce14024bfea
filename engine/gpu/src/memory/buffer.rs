//! Buffers.

use super::{Garbage, Resource};
use crate::binding::Bound;
use crate::device::{Gpu, Inner};
use crate::{Error, Result};
use ash::vk;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use vk_mem::Alloc;

/// Where a buffer lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Memory {
    /// In the device's own memory; filled by uploads, copies and passes.
    #[default]
    Device,
    /// Mapped, written by the CPU in order, read by the device.
    Upload,
    /// Mapped and cached, written by the device, read by the CPU.
    ReadBack,
}

/// How to make a buffer.
#[derive(Clone, Copy, Debug, Default)]
pub struct BufferDesc<'a> {
    /// Name, shown in errors, debuggers and captures.
    pub name: &'a str,
    /// Size in bytes; at least 1.
    pub size: u64,
    /// What it will be used for.
    pub usage: vk::BufferUsageFlags,
    /// Where it lies.
    pub memory: Memory,
}

impl<'a> BufferDesc<'a> {
    /// A buffer in device memory for shaders to read and write, to copy, and to take indirect arguments from.
    pub fn storage(name: &'a str, size: u64) -> BufferDesc<'a> {
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST
            | vk::BufferUsageFlags::INDIRECT_BUFFER
            | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
        BufferDesc {
            name,
            size,
            usage,
            memory: Memory::Device,
        }
    }

    /// A buffer in device memory for shaders to read as a uniform block.
    pub fn uniform(name: &'a str, size: u64) -> BufferDesc<'a> {
        let usage = vk::BufferUsageFlags::UNIFORM_BUFFER | vk::BufferUsageFlags::TRANSFER_DST;
        BufferDesc {
            name,
            size,
            usage,
            memory: Memory::Device,
        }
    }
}

/// A Vulkan buffer with its memory, without an owner.
pub(crate) struct RawBuffer {
    pub(crate) handle: vk::Buffer,
    pub(crate) allocation: vk_mem::Allocation,
    pub(crate) mapped: Option<NonNull<u8>>,
    pub(crate) size: u64,
}

// SAFETY: handles may be used from any thread, and the mapped memory is only reached through methods that say who may.
unsafe impl Send for RawBuffer {}
// SAFETY: as above.
unsafe impl Sync for RawBuffer {}

impl RawBuffer {
    pub(crate) fn new(gpu: &Inner, desc: &BufferDesc<'_>) -> Result<RawBuffer> {
        if desc.size == 0 || desc.usage.is_empty() {
            return Err(Error::invalid(
                format!("buffer {:?}", desc.name),
                format!(
                    "size and usage must not be empty; given {} bytes for {:?}",
                    desc.size, desc.usage
                ),
            ));
        }
        use vk_mem::AllocationCreateFlags as Flags;
        let flags = match desc.memory {
            Memory::Device => Flags::empty(),
            Memory::Upload => Flags::MAPPED | Flags::HOST_ACCESS_SEQUENTIAL_WRITE,
            Memory::ReadBack => Flags::MAPPED | Flags::HOST_ACCESS_RANDOM,
        };
        let usage = match desc.memory {
            Memory::Device => vk_mem::MemoryUsage::AutoPreferDevice,
            Memory::Upload => vk_mem::MemoryUsage::Auto,
            Memory::ReadBack => vk_mem::MemoryUsage::AutoPreferHost,
        };
        let create = vk_mem::AllocationCreateInfo {
            flags,
            usage,
            ..Default::default()
        };
        let mut info = vk::BufferCreateInfo::default()
            .size(desc.size)
            .usage(desc.usage);
        let families = gpu
            .transfer
            .as_ref()
            .map(|transfer| [gpu.queue_family, transfer.family]);
        let copied = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
        if let Some(families) = &families
            && desc.usage.intersects(copied)
        {
            info = info
                .sharing_mode(vk::SharingMode::CONCURRENT)
                .queue_family_indices(families);
        }
        // SAFETY: the description is valid as checked above.
        let (handle, allocation) =
            unsafe { gpu.allocator.create_buffer(&info, &create) }.map_err(Error::vulkan(
                "vmaCreateBuffer",
                format!("buffer {:?} of {} bytes", desc.name, desc.size),
            ))?;
        gpu.name(handle, desc.name);
        let mapped = gpu.allocator.get_allocation_info(&allocation).mapped_data;
        let mapped = NonNull::new(mapped.cast::<u8>()).filter(|_| desc.memory != Memory::Device);
        Ok(RawBuffer {
            handle,
            allocation,
            mapped,
            size: desc.size,
        })
    }

    /// # Safety
    /// The device must be done with the buffer, which must not be used again.
    pub(crate) unsafe fn destroy(&mut self, gpu: &Inner) {
        // SAFETY: the caller's promise.
        unsafe {
            gpu.allocator
                .destroy_buffer(self.handle, &mut self.allocation);
        };
    }

    /// Copies into mapped memory. The caller has checked the range and that the device does not read it now.
    pub(crate) fn write(&self, gpu: &Inner, offset: u64, bytes: &[u8]) -> Result<()> {
        let Some(mapped) = self.mapped else {
            return Err(Error::invalid("buffer", "it is not mapped"));
        };
        if offset
            .checked_add(bytes.len() as u64)
            .is_none_or(|end| end > self.size)
        {
            return Err(Error::invalid(
                "buffer",
                format!(
                    "a write of {} bytes at {offset} does not fit into {}",
                    bytes.len(),
                    self.size
                ),
            ));
        }
        // SAFETY: the range lies in the mapping; the memory is the device's and ours alone.
        unsafe {
            std::ptr::copy_nonoverlapping(
                bytes.as_ptr(),
                mapped.as_ptr().add(offset as usize),
                bytes.len(),
            );
        };
        gpu.allocator
            .flush_allocation(&self.allocation, offset, bytes.len() as u64)
            .map_err(Error::vulkan("vmaFlushAllocation", "a mapped buffer"))
    }

    /// Copies out of mapped memory.
    pub(crate) fn read(&self, gpu: &Inner, offset: u64, size: usize) -> Result<Vec<u8>> {
        let Some(mapped) = self.mapped else {
            return Err(Error::invalid("buffer", "it is not mapped"));
        };
        gpu.allocator
            .invalidate_allocation(&self.allocation, offset, size as u64)
            .map_err(Error::vulkan(
                "vmaInvalidateAllocation",
                "a read-back buffer",
            ))?;
        // SAFETY: callers only ask for ranges inside the buffer, after the device has written them.
        Ok(
            unsafe { std::slice::from_raw_parts(mapped.as_ptr().add(offset as usize), size) }
                .to_vec(),
        )
    }
}

/// A buffer. It frees itself when dropped, once the device is done with it.
pub struct Buffer {
    pub(crate) raw: Option<RawBuffer>,
    pub(crate) handle: vk::Buffer,
    usage: vk::BufferUsageFlags,
    address: u64,
    /// Number of the frame that was being recorded, or the next one, when it was made.
    pub(crate) made_in: u64,
    pub(crate) resource: Resource,
    gpu: Arc<Inner>,
}

impl Gpu {
    /// Makes a buffer. Its contents are undefined until written.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a size of zero or no usage, [`Error::Vulkan`] when memory runs out.
    pub fn buffer(&self, desc: &BufferDesc<'_>) -> Result<Buffer> {
        let raw = RawBuffer::new(&self.inner, desc)?;
        let address = if desc
            .usage
            .contains(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS)
        {
            let info = vk::BufferDeviceAddressInfo::default().buffer(raw.handle);
            // SAFETY: the buffer has the usage that this needs, and the feature is a required one.
            unsafe { self.inner.device.get_buffer_device_address(&info) }
        } else {
            0
        };
        let mut accepts = 0;
        for (usage, types) in [
            (
                vk::BufferUsageFlags::STORAGE_BUFFER,
                vk::DescriptorType::STORAGE_BUFFER,
            ),
            (
                vk::BufferUsageFlags::UNIFORM_BUFFER,
                vk::DescriptorType::UNIFORM_BUFFER,
            ),
        ] {
            if desc.usage.contains(usage) {
                accepts |= 1 << types.as_raw();
            }
        }
        let resource = Resource {
            id: self.inner.ids.take(desc.name),
            device: self.inner.number,
            name: desc.name.to_owned(),
            accepts,
            size: desc.size,
            description: format!("a buffer of {} bytes for {:?}", desc.size, desc.usage),
        };
        Ok(Buffer {
            handle: raw.handle,
            raw: Some(raw),
            usage: desc.usage,
            address,
            made_in: self.inner.frame_number.load(Ordering::Acquire),
            resource,
            gpu: self.inner.clone(),
        })
    }
}

impl Buffer {
    /// Size in bytes.
    pub fn size(&self) -> u64 {
        self.resource.size
    }

    /// Name given at creation.
    pub fn name(&self) -> &str {
        &self.resource.name
    }

    /// What the buffer was made for.
    pub fn usage(&self) -> vk::BufferUsageFlags {
        self.usage
    }

    /// Device address; 0 if the buffer was made without that usage.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// The Vulkan handle.
    pub fn raw(&self) -> vk::Buffer {
        self.handle
    }

    /// The whole buffer, for a storage or uniform buffer slot.
    #[inline]
    pub fn whole(&self) -> Bound<'_> {
        Bound::whole(&self.resource, self.handle)
    }

    /// A part of the buffer, in bytes, for a storage or uniform buffer slot. The range is checked when it is bound.
    #[inline]
    pub fn range(&self, offset: u64, size: u64) -> Bound<'_> {
        Bound::range(&self.resource, self.handle, offset, size)
    }

    /// Writes to a mapped buffer ([`Memory::Upload`] or [`Memory::ReadBack`]). The device must not be reading it.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a buffer that is not mapped or a range outside of it.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let raw = self.raw.as_ref().filter(|raw| raw.mapped.is_some());
        let Some(raw) = raw else {
            return Err(Error::invalid(
                format!("buffer {:?}", self.name()),
                "it lies in device memory; use `Gpu::upload`",
            ));
        };
        let _access = crate::lock(&self.gpu.mapped_access);
        raw.write(&self.gpu, offset, bytes)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.gpu.ids.give_back(self.resource.id);
        if let Some(raw) = self.raw.take() {
            self.gpu.deletions.push(&self.gpu, Garbage::Buffer(raw));
        }
    }
}
