//! Memory by hand and through VMA.

use super::super::{NoopDesc, NoopDevice};
use super::Context;
use ash::vk::{self, Handle};
use vk_mem::Alloc;

fn allocator(context: &Context) -> vk_mem::Allocator {
    let mut info =
        vk_mem::AllocatorCreateInfo::new(&context.instance, &context.device, context.physical);
    info.vulkan_api_version = vk::API_VERSION_1_3;
    info.flags = vk_mem::AllocatorCreateFlags::BUFFER_DEVICE_ADDRESS;
    // SAFETY: instance and device outlive the allocator.
    unsafe { vk_mem::Allocator::new(info).unwrap() }
}

#[test]
fn vma_works_for_buffers_and_images_quiet_or_not() {
    for desc in [NoopDesc::default(), NoopDesc::quiet()] {
        let context = Context::new(desc);
        let allocator = allocator(&context);
        let info = vk::BufferCreateInfo::default().size(1 << 20).usage(
            vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS,
        );
        let upload = vk_mem::AllocationCreateInfo {
            usage: vk_mem::MemoryUsage::AutoPreferHost,
            flags: vk_mem::AllocationCreateFlags::HOST_ACCESS_SEQUENTIAL_WRITE
                | vk_mem::AllocationCreateFlags::MAPPED,
            ..Default::default()
        };
        let local = vk_mem::AllocationCreateInfo {
            usage: vk_mem::MemoryUsage::AutoPreferDevice,
            ..Default::default()
        };
        let image = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(vk::Format::R8G8B8A8_UNORM)
            .extent(vk::Extent3D {
                width: 640,
                height: 480,
                depth: 1,
            })
            .mip_levels(4)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::SAMPLED);
        // SAFETY: all valid; the mapped range is as long as the buffer.
        unsafe {
            let (buffer, mut allocation) = allocator.create_buffer(&info, &upload).unwrap();
            let mapped = allocator
                .get_allocation_info(&allocation)
                .mapped_data
                .cast::<u8>();
            assert!(!mapped.is_null());
            assert_eq!(mapped.add((1 << 20) - 1).read(), 0, "fresh memory is zero");
            mapped.write_bytes(7, 1 << 20);
            assert_eq!(mapped.add(12345).read(), 7);
            let (other, mut other_allocation) = allocator.create_buffer(&info, &local).unwrap();
            let address = |buffer| {
                context.device.get_buffer_device_address(
                    &vk::BufferDeviceAddressInfo::default().buffer(buffer),
                )
            };
            assert!(address(buffer) != 0 && address(buffer).abs_diff(address(other)) >= 1 << 20);
            let (texture, mut texture_allocation) = allocator.create_image(&image, &local).unwrap();
            assert_eq!(
                allocator
                    .calculate_statistics()
                    .unwrap()
                    .total
                    .statistics
                    .allocationCount,
                3
            );
            allocator.destroy_image(texture, &mut texture_allocation);
            allocator.destroy_buffer(other, &mut other_allocation);
            allocator.destroy_buffer(buffer, &mut allocation);
        }
        drop(allocator);
        context.end_clean();
    }
}

#[test]
fn memory_of_a_type_that_the_host_does_not_see_cannot_be_mapped() {
    let context = Context::new(NoopDesc::default());
    // SAFETY: all valid.
    unsafe {
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(256)
            .memory_type_index(0);
        let memory = context.device.allocate_memory(&info, None).unwrap();
        let mapped =
            context
                .device
                .map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty());
        assert_eq!(mapped.unwrap_err(), vk::Result::ERROR_MEMORY_MAP_FAILED);
        context.device.free_memory(memory, None);
    }
    context.end_clean();
}

#[test]
fn a_heap_can_be_full() {
    let desc = NoopDesc::with(|device: &mut NoopDevice| device.memory_heaps[1].0 = 1000);
    let context = Context::new(desc);
    let allocate = |size| {
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(size)
            .memory_type_index(1);
        // SAFETY: all valid.
        unsafe { context.device.allocate_memory(&info, None) }
    };
    let first = allocate(600).unwrap();
    assert_eq!(
        allocate(600).unwrap_err(),
        vk::Result::ERROR_OUT_OF_DEVICE_MEMORY
    );
    // SAFETY: all valid.
    unsafe { context.device.free_memory(first, None) };
    let second = allocate(1000).unwrap();
    // SAFETY: all valid.
    unsafe { context.device.free_memory(second, None) };
    context.end_clean();
}

#[test]
fn wrong_bindings_and_double_ends_are_errors() {
    let context = Context::new(NoopDesc::default());
    let (buffer, memory) = context.buffer(1000);
    // SAFETY: the no-op driver bears wrong use, which is what is tested.
    unsafe {
        context
            .device
            .bind_buffer_memory(buffer, memory, 512)
            .unwrap();
        context.device.destroy_buffer(buffer, None);
        context.device.destroy_buffer(buffer, None);
        context
            .device
            .free_memory(vk::DeviceMemory::from_raw(buffer.as_raw()), None);
        context.device.free_memory(vk::DeviceMemory::null(), None);
        context.device.free_memory(memory, None);
    }
    let errors = context.end().take_errors();
    assert_eq!(errors.len(), 4, "{errors:#?}");
    assert!(
        errors[0].contains("second time") && errors[1].contains("not inside"),
        "{errors:#?}"
    );
    assert!(
        errors[2].contains("vkDestroyBuffer") && errors[2].contains("was destroyed"),
        "{errors:#?}"
    );
    assert!(
        errors[3].contains("vkFreeMemory") && errors[3].contains("is BUFFER"),
        "{errors:#?}"
    );
}
