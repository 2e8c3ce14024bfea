//! Command pools and command buffers.

use super::handle::{self, CommandBuffer, Header, Phase, Recording, dispatchable, object, slice};
use super::loader::functions;
use ash::vk::{self, Handle};
use std::sync::Mutex;

functions! { Device, None;
    result fn create_command_pool as PFN_vkCreateCommandPool(
        device: vk::Device,
        _info: *const vk::CommandPoolCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        pool: *mut vk::CommandPool,
    ) {
        pool.write(handle::shared(device).state().create(device, ()));
        Ok(())
    }
    call fn destroy_command_pool as PFN_vkDestroyCommandPool(
        device: vk::Device,
        pool: vk::CommandPool,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        handle::shared(device)
            .state()
            .destroy(pool, "vkDestroyCommandPool");
    }
    result fn reset_command_pool as PFN_vkResetCommandPool(
        device: vk::Device,
        pool: vk::CommandPool,
        _flags: vk::CommandPoolResetFlags,
    ) {
        let driver = handle::shared(device);
        if driver.desc.record {
            let mut state = driver.state();
            state.check(pool, "vkResetCommandPool");
            let buffers: Vec<u64> = state
                .objects
                .iter()
                .filter(|(_, o)| o.alive && o.owner == pool.as_raw())
                .map(|(&raw, _)| raw)
                .collect();
            for raw in buffers {
                state.check_idle(raw, "vkResetCommandPool");
                *object::<CommandBuffer>(vk::CommandBuffer::from_raw(raw)).recording() =
                    Recording::default();
            }
        }
        Ok(())
    }
    call fn trim as PFN_vkTrimCommandPool(
        _device: vk::Device,
        _pool: vk::CommandPool,
        _flags: vk::CommandPoolTrimFlags,
    ) {
    }
    result fn allocate_command_buffers as PFN_vkAllocateCommandBuffers(
        device: vk::Device,
        info: *const vk::CommandBufferAllocateInfo<'_>,
        buffers: *mut vk::CommandBuffer,
    ) {
        let driver = handle::shared(device);
        let pool = (*info).command_pool;
        driver.state().check(pool, "vkAllocateCommandBuffers");
        for index in 0..(*info).command_buffer_count as usize {
            let buffer = CommandBuffer {
                header: Header::new(driver),
                secondary: (*info).level == vk::CommandBufferLevel::SECONDARY,
                recording: Mutex::default(),
            };
            buffers
                .add(index)
                .write(dispatchable(driver, device.as_raw(), pool.as_raw(), buffer));
        }
        Ok(())
    }
    call fn free_command_buffers as PFN_vkFreeCommandBuffers(
        device: vk::Device,
        _pool: vk::CommandPool,
        count: u32,
        buffers: *const vk::CommandBuffer,
    ) {
        let mut state = handle::shared(device).state();
        for &buffer in slice(buffers, count) {
            state.destroy(buffer, "vkFreeCommandBuffers");
        }
    }
    result fn begin as PFN_vkBeginCommandBuffer(
        buffer: vk::CommandBuffer,
        info: *const vk::CommandBufferBeginInfo<'_>,
    ) {
        let driver = handle::shared(buffer);
        if driver.desc.record {
            let mut state = driver.state();
            state.check(buffer, "vkBeginCommandBuffer");
            state.check_idle(buffer.as_raw(), "vkBeginCommandBuffer");
            let mut recording = object::<CommandBuffer>(buffer).recording();
            if recording.phase == Phase::Recording {
                state.error(format!(
                    "vkBeginCommandBuffer: {buffer:?} is being recorded already"
                ));
            }
            let one_time = (*info)
                .flags
                .contains(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
            *recording = Recording {
                phase: Phase::Recording,
                one_time,
                ..Recording::default()
            };
        }
        Ok(())
    }
    result fn end as PFN_vkEndCommandBuffer(buffer: vk::CommandBuffer) {
        let driver = handle::shared(buffer);
        if driver.desc.record {
            let data = object::<CommandBuffer>(buffer);
            let mut recording = data.recording();
            let mut messages = super::check::at_end(&recording.commands, data.secondary);
            if recording.phase != Phase::Recording {
                messages.push(format!(
                    "vkEndCommandBuffer: {buffer:?} is not being recorded"
                ));
            }
            recording.phase = Phase::Executable;
            let mut state = driver.state();
            state.check(buffer, "vkEndCommandBuffer");
            state.errors.append(&mut messages);
        }
        Ok(())
    }
    result fn reset as PFN_vkResetCommandBuffer(
        buffer: vk::CommandBuffer,
        _flags: vk::CommandBufferResetFlags,
    ) {
        let driver = handle::shared(buffer);
        if driver.desc.record {
            let mut state = driver.state();
            state.check(buffer, "vkResetCommandBuffer");
            state.check_idle(buffer.as_raw(), "vkResetCommandBuffer");
            *object::<CommandBuffer>(buffer).recording() = Recording::default();
        }
        Ok(())
    }
}
