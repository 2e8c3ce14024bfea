//! Device memory: real host memory behind host-visible types, fake device addresses.

use super::handle::{self, Device, chain};
use super::loader::functions;
use super::resource::{Buffer, Image, image_size};
use super::state::State;
use ash::vk::{self, Handle};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::c_void;

/// Device addresses of allocations are multiples of this, with a gap of the same size after each, so that an access past the
/// end hits no other allocation.
const ADDRESS_STEP: u64 = 1 << 16;

/// Memory of a host-visible type. Fresh pages are zero and cost nothing until they are touched: the alignment is that of
/// the C allocator, so that `alloc_zeroed` needn't clear anything, and the start is rounded up within the block.
pub(super) struct HostBlock {
    start: *mut u8,
    layout: Layout,
}

// SAFETY: the block owns its memory; who reads and writes it is the business of the mapping program.
unsafe impl Send for HostBlock {}

impl HostBlock {
    /// More than any `minMemoryMapAlignment`.
    const SLACK: usize = 4096;

    fn new(size: u64) -> Option<Self> {
        let bytes = usize::try_from(size).ok()?.checked_add(HostBlock::SLACK)?;
        let layout = Layout::from_size_align(bytes, 16).ok()?;
        // SAFETY: the size is not zero.
        let start = unsafe { alloc_zeroed(layout) };
        (!start.is_null()).then_some(HostBlock { start, layout })
    }

    fn aligned(&self) -> *mut u8 {
        self.start
            .wrapping_add(self.start.align_offset(HostBlock::SLACK))
    }
}

impl Drop for HostBlock {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.start, self.layout) };
    }
}

pub(super) struct Memory {
    pub(super) size: u64,
    pub(super) address: u64,
    heap: (usize, u32),
    host: Option<HostBlock>,
    mapped: bool,
}

impl State {
    /// Writes a word to the memory of a buffer, if the host can see that memory.
    pub(super) fn write_word(
        &mut self,
        buffer: vk::Buffer,
        offset: u64,
        word: u32,
        function: &str,
    ) {
        let Some(data) = self.data::<Buffer>(buffer, function) else {
            return;
        };
        let (size, address) = (data.size, data.address);
        if offset.checked_add(4).is_none_or(|end| end > size) {
            return self.error(format!("{function}: {offset} is outside of {buffer:?}"));
        }
        let Some(at) = address.map(|address| address + offset) else {
            return self.error(format!("{function}: {buffer:?} has no memory"));
        };
        let memories = self.objects.values().filter(|object| object.alive);
        let mut memories = memories.filter_map(|object| object.data.downcast_ref::<Memory>());
        let holder =
            memories.find(|memory| (memory.address..memory.address + memory.size).contains(&at));
        if let Some((start, block)) =
            holder.and_then(|memory| Some((memory.address, memory.host.as_ref()?)))
        {
            // SAFETY: the buffer lies in the block. The program may read the word meanwhile, as it may on any device.
            unsafe {
                block
                    .aligned()
                    .add((at - start) as usize)
                    .cast::<u32>()
                    .write_volatile(word);
            };
        }
    }
}

fn requirements(size: u64, types: u32) -> vk::MemoryRequirements {
    vk::MemoryRequirements {
        size: size.next_multiple_of(256),
        alignment: 256,
        memory_type_bits: types,
    }
}

/// All memory types of the device: everything may lie everywhere.
///
/// # Safety
/// `device` is a live device.
unsafe fn all_types(device: vk::Device) -> u32 {
    // SAFETY: by the condition above.
    let (driver, object) = unsafe { (handle::shared(device), handle::object::<Device>(device)) };
    let count = driver.desc.devices[object.index]
        .memory_types
        .len()
        .min(vk::MAX_MEMORY_TYPES);
    (1u64 << count).wrapping_sub(1) as u32
}

/// # Safety
/// `out` is valid.
unsafe fn write_requirements(out: *mut vk::MemoryRequirements2<'_>, known: vk::MemoryRequirements) {
    // SAFETY: by the condition above.
    unsafe {
        (*out).memory_requirements = known;
        for link in chain((*out).p_next) {
            if (*link).s_type == vk::StructureType::MEMORY_DEDICATED_REQUIREMENTS {
                let dedicated = &mut *link.cast::<vk::MemoryDedicatedRequirements<'_>>();
                dedicated.prefers_dedicated_allocation = vk::FALSE;
                dedicated.requires_dedicated_allocation = vk::FALSE;
            }
        }
    }
}

/// # Safety
/// `device` is a live device.
unsafe fn buffer_requirements(device: vk::Device, buffer: vk::Buffer) -> vk::MemoryRequirements {
    // SAFETY: by the condition above.
    let (driver, types) = unsafe { (handle::shared(device), all_types(device)) };
    let size = driver
        .state()
        .data::<Buffer>(buffer, "vkGetBufferMemoryRequirements")
        .map_or(0, |buffer| buffer.size);
    requirements(size, types)
}

/// # Safety
/// `device` is a live device.
unsafe fn image_requirements(device: vk::Device, image: vk::Image) -> vk::MemoryRequirements {
    // SAFETY: by the condition above.
    let (driver, types) = unsafe { (handle::shared(device), all_types(device)) };
    let size = driver
        .state()
        .data::<Image>(image, "vkGetImageMemoryRequirements")
        .map_or(0, |image| image.bytes);
    requirements(size, types)
}

/// Binds a buffer or image, which must not have memory yet, to a range inside `memory`.
///
/// # Safety
/// `device` is a live device.
unsafe fn bind<T: Handle + Copy>(
    device: vk::Device,
    resource: T,
    memory: vk::DeviceMemory,
    offset: u64,
) -> Result<(), vk::Result> {
    // SAFETY: by the condition above.
    let mut state = unsafe { handle::shared(device) }.state();
    let function = "bind to memory";
    let Some((room, base)) = state
        .data::<Memory>(memory, function)
        .map(|m| (m.size, m.address))
    else {
        return Err(vk::Result::ERROR_UNKNOWN);
    };
    let bound = if T::TYPE == vk::ObjectType::BUFFER {
        state
            .data::<Buffer>(resource, function)
            .map(|b| (b.size, &mut b.address))
    } else {
        state
            .data::<Image>(resource, function)
            .map(|i| (i.bytes, &mut i.address))
    };
    let Some((size, address)) = bound else {
        return Err(vk::Result::ERROR_UNKNOWN);
    };
    let twice = address.is_some();
    *address = Some(base + offset);
    let what = format!(
        "{function}: {:?} {:#x} of {size} bytes at {offset}",
        T::TYPE,
        resource.as_raw()
    );
    if twice {
        state.error(format!("{what} is bound a second time"));
    }
    if !offset.is_multiple_of(256) || offset.checked_add(size).is_none_or(|end| end > room) {
        state.error(format!(
            "{what}: not a multiple of 256, or not inside the memory of {room} bytes"
        ));
    }
    Ok(())
}

functions! { Device, None;
    result fn allocate_memory as PFN_vkAllocateMemory(
        device: vk::Device,
        info: *const vk::MemoryAllocateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        memory: *mut vk::DeviceMemory,
    ) {
        let (driver, index) = (
            handle::shared(device),
            handle::object::<Device>(device).index,
        );
        let desc = &driver.desc.devices[index];
        let (size, kind) = ((*info).allocation_size, (*info).memory_type_index);
        let mut state = driver.state();
        let Some(&(flags, heap)) = desc.memory_types.get(kind as usize) else {
            state.error(format!("vkAllocateMemory: memory type {kind} is not there"));
            return Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
        };
        let used = state.heap_used.entry((index, heap)).or_default();
        let total = used.checked_add(size).filter(|&total| {
            total
                <= desc
                    .memory_heaps
                    .get(heap as usize)
                    .map_or(0, |heap| heap.0)
        });
        *used = total.ok_or(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)?;
        let host = if flags.contains(vk::MemoryPropertyFlags::HOST_VISIBLE) {
            Some(HostBlock::new(size).ok_or(vk::Result::ERROR_OUT_OF_HOST_MEMORY)?)
        } else {
            None
        };
        let address = state.next_address;
        state.next_address += size.next_multiple_of(ADDRESS_STEP) + ADDRESS_STEP;
        let block = Memory {
            size,
            address,
            heap: (index, heap),
            host,
            mapped: false,
        };
        memory.write(state.create(device, block));
        Ok(())
    }
    call fn free_memory as PFN_vkFreeMemory(
        device: vk::Device,
        memory: vk::DeviceMemory,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        let mut state = handle::shared(device).state();
        if let Some((size, heap)) = state
            .peek::<Memory>(memory)
            .map(|memory| (memory.size, memory.heap))
            && let Some(used) = state.heap_used.get_mut(&heap)
        {
            *used = used.saturating_sub(size);
        }
        state.destroy(memory, "vkFreeMemory");
    }
    result fn map_memory as PFN_vkMapMemory(
        device: vk::Device,
        memory: vk::DeviceMemory,
        offset: vk::DeviceSize,
        size: vk::DeviceSize,
        _flags: vk::MemoryMapFlags,
        data: *mut *mut c_void,
    ) {
        let mut state = handle::shared(device).state();
        let Some(block) = state.data::<Memory>(memory, "vkMapMemory") else {
            return Err(vk::Result::ERROR_MEMORY_MAP_FAILED);
        };
        let end = if size == vk::WHOLE_SIZE {
            Some(block.size)
        } else {
            offset.checked_add(size)
        };
        let inside = offset < block.size && end.is_some_and(|end| end <= block.size);
        let twice = std::mem::replace(&mut block.mapped, true);
        let start = block.host.as_ref().map(HostBlock::aligned);
        if twice || !inside {
            state.error(format!(
                "vkMapMemory: {memory:?} is mapped already, or {offset} and {size} are not inside"
            ));
        }
        let Some(start) = start.filter(|_| inside) else {
            return Err(vk::Result::ERROR_MEMORY_MAP_FAILED);
        };
        data.write(start.wrapping_add(offset as usize).cast());
        Ok(())
    }
    call fn unmap_memory as PFN_vkUnmapMemory(device: vk::Device, memory: vk::DeviceMemory) {
        let mut state = handle::shared(device).state();
        let mapped = state
            .data::<Memory>(memory, "vkUnmapMemory")
            .map(|block| std::mem::replace(&mut block.mapped, false));
        if mapped == Some(false) {
            state.error(format!("vkUnmapMemory: {memory:?} is not mapped"));
        }
    }
    result fn flush as PFN_vkFlushMappedMemoryRanges(
        _device: vk::Device,
        _count: u32,
        _ranges: *const vk::MappedMemoryRange<'_>,
    ) {
        Ok(())
    }
    result fn invalidate as PFN_vkInvalidateMappedMemoryRanges(
        _device: vk::Device,
        _count: u32,
        _ranges: *const vk::MappedMemoryRange<'_>,
    ) {
        Ok(())
    }
    call fn get_commitment as PFN_vkGetDeviceMemoryCommitment(
        _device: vk::Device,
        _memory: vk::DeviceMemory,
        bytes: *mut vk::DeviceSize,
    ) {
        bytes.write(0);
    }
    call fn get_memory_capture_address as PFN_vkGetDeviceMemoryOpaqueCaptureAddress(
        device: vk::Device,
        info: *const vk::DeviceMemoryOpaqueCaptureAddressInfo<'_>,
    ) -> u64 {
        let mut state = handle::shared(device).state();
        state
            .data::<Memory>((*info).memory, "vkGetDeviceMemoryOpaqueCaptureAddress")
            .map_or(0, |memory| memory.address)
    }
    call fn get_buffer_requirements as PFN_vkGetBufferMemoryRequirements(
        device: vk::Device,
        buffer: vk::Buffer,
        out: *mut vk::MemoryRequirements,
    ) {
        out.write(buffer_requirements(device, buffer));
    }
    call fn get_buffer_requirements2 as PFN_vkGetBufferMemoryRequirements2(
        device: vk::Device,
        info: *const vk::BufferMemoryRequirementsInfo2<'_>,
        out: *mut vk::MemoryRequirements2<'_>,
    ) {
        write_requirements(out, buffer_requirements(device, (*info).buffer));
    }
    call fn get_image_requirements as PFN_vkGetImageMemoryRequirements(
        device: vk::Device,
        image: vk::Image,
        out: *mut vk::MemoryRequirements,
    ) {
        out.write(image_requirements(device, image));
    }
    call fn get_image_requirements2 as PFN_vkGetImageMemoryRequirements2(
        device: vk::Device,
        info: *const vk::ImageMemoryRequirementsInfo2<'_>,
        out: *mut vk::MemoryRequirements2<'_>,
    ) {
        write_requirements(out, image_requirements(device, (*info).image));
    }
    call fn get_future_buffer_requirements as PFN_vkGetDeviceBufferMemoryRequirements(
        device: vk::Device,
        info: *const vk::DeviceBufferMemoryRequirements<'_>,
        out: *mut vk::MemoryRequirements2<'_>,
    ) {
        write_requirements(
            out,
            requirements((*(*info).p_create_info).size, all_types(device)),
        );
    }
    call fn get_future_image_requirements as PFN_vkGetDeviceImageMemoryRequirements(
        device: vk::Device,
        info: *const vk::DeviceImageMemoryRequirements<'_>,
        out: *mut vk::MemoryRequirements2<'_>,
    ) {
        write_requirements(
            out,
            requirements(image_size(&*(*info).p_create_info), all_types(device)),
        );
    }
    call fn get_sparse_requirements as PFN_vkGetImageSparseMemoryRequirements(
        _device: vk::Device,
        _image: vk::Image,
        count: *mut u32,
        _out: *mut vk::SparseImageMemoryRequirements,
    ) {
        count.write(0);
    }
    call fn get_sparse_requirements2 as PFN_vkGetImageSparseMemoryRequirements2(
        _device: vk::Device,
        _info: *const vk::ImageSparseMemoryRequirementsInfo2<'_>,
        count: *mut u32,
        _out: *mut vk::SparseImageMemoryRequirements2<'_>,
    ) {
        count.write(0);
    }
    call fn get_future_sparse_requirements as PFN_vkGetDeviceImageSparseMemoryRequirements(
        _device: vk::Device,
        _info: *const vk::DeviceImageMemoryRequirements<'_>,
        count: *mut u32,
        _out: *mut vk::SparseImageMemoryRequirements2<'_>,
    ) {
        count.write(0);
    }
    result fn bind_buffer as PFN_vkBindBufferMemory(
        device: vk::Device,
        buffer: vk::Buffer,
        memory: vk::DeviceMemory,
        offset: vk::DeviceSize,
    ) {
        bind(device, buffer, memory, offset)
    }
    result fn bind_buffer2 as PFN_vkBindBufferMemory2(
        device: vk::Device,
        count: u32,
        infos: *const vk::BindBufferMemoryInfo<'_>,
    ) {
        handle::slice(infos, count).iter().try_for_each(|info| {
            // SAFETY: `device` is live, as in the function around.
            unsafe { bind(device, info.buffer, info.memory, info.memory_offset) }
        })
    }
    result fn bind_image as PFN_vkBindImageMemory(
        device: vk::Device,
        image: vk::Image,
        memory: vk::DeviceMemory,
        offset: vk::DeviceSize,
    ) {
        bind(device, image, memory, offset)
    }
    result fn bind_image2 as PFN_vkBindImageMemory2(
        device: vk::Device,
        count: u32,
        infos: *const vk::BindImageMemoryInfo<'_>,
    ) {
        handle::slice(infos, count).iter().try_for_each(|info| {
            // SAFETY: `device` is live, as in the function around.
            unsafe { bind(device, info.image, info.memory, info.memory_offset) }
        })
    }
}
