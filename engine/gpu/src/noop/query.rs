//! Query pools and the device's clock.

use super::clock::Clock;
use super::handle::{self, Device, Queue, slice};
use super::loader::functions;
use super::state::{Shared, State};
use ash::vk::{self, Handle};
use std::ffi::c_void;

pub(super) struct QueryPool {
    /// Values per query: one, or one per pipeline statistic.
    width: usize,
    kind: vk::QueryType,
    slots: Vec<Option<Vec<u64>>>,
}

/// Ticks between two timestamps of one submission.
const TICK_STEP: u64 = 1000;

impl State {
    /// The device's time: since the driver's start, by the host's monotonic clock, in ticks; never behind a timestamp already
    /// given.
    pub(super) fn now(&mut self, shared: &Shared, device: usize) -> u64 {
        let desc = &shared.desc.devices[device];
        let elapsed = Clock::Monotonic.nanoseconds().saturating_sub(shared.start);
        let ticks = elapsed as f64 / f64::from(desc.limits.timestamp_period);
        self.last_tick = self.last_tick.max(ticks as u64);
        self.last_tick.wrapping_add(desc.timestamp_origin)
    }

    /// The value of one more timestamp on a queue with so many valid bits: `TICK_STEP` after the last one, so that what a
    /// test measures within one submission is always the same.
    fn timestamp(&mut self, shared: &Shared, device: usize, valid_bits: u32) -> u64 {
        self.last_tick += TICK_STEP;
        let value = self
            .last_tick
            .wrapping_add(shared.desc.devices[device].timestamp_origin);
        value
            & u64::MAX
                .checked_shr(64u32.saturating_sub(valid_bits))
                .unwrap_or(0)
    }

    pub(super) fn reset_queries(
        &mut self,
        pool: vk::QueryPool,
        first: u32,
        count: u32,
        function: &str,
    ) {
        let end = first.saturating_add(count) as usize;
        let Some(slots) = self
            .data::<QueryPool>(pool, function)
            .map(|pool| &mut pool.slots)
        else {
            return;
        };
        match slots.get_mut(first as usize..end) {
            Some(slots) => slots.fill(None),
            None => self.error(format!(
                "{function}: queries {first}..{end} are not in {pool:?}"
            )),
        }
    }

    /// What a written timestamp or an ended query leaves.
    pub(super) fn complete_query(
        &mut self,
        shared: &Shared,
        queue: vk::Queue,
        pool: vk::QueryPool,
        query: u32,
    ) {
        // SAFETY: the queue was checked by the submission.
        let (device, valid_bits) = unsafe {
            let queue = handle::object::<Queue>(queue);
            (
                handle::object::<Device>(vk::Device::from_raw(queue.device)).index,
                queue.valid_bits,
            )
        };
        let function = "vkQueueSubmit2";
        let Some(kind) = self.data::<QueryPool>(pool, function).map(|pool| pool.kind) else {
            return;
        };
        let value = if kind == vk::QueryType::TIMESTAMP {
            self.timestamp(shared, device, valid_bits)
        } else {
            1
        };
        let Some(data) = self.data::<QueryPool>(pool, function) else {
            return;
        };
        let width = data.width;
        match data.slots.get_mut(query as usize) {
            Some(slot @ None) => *slot = Some(vec![value; width]),
            Some(Some(_)) => self.error(format!(
                "{function}: query {query} of {pool:?} is written without a reset"
            )),
            None => self.error(format!("{function}: query {query} is not in {pool:?}")),
        }
    }
}

/// Writes one number in 4 or 8 bytes.
///
/// # Safety
/// `place` has the room.
unsafe fn write_number(place: *mut u8, value: u64, wide: bool) {
    // SAFETY: by the condition above.
    unsafe {
        if wide {
            place.cast::<u64>().write_unaligned(value);
        } else {
            place.cast::<u32>().write_unaligned(value as u32);
        }
    }
}

functions! { Device, None;
    result fn create_query_pool as PFN_vkCreateQueryPool(
        device: vk::Device,
        info: *const vk::QueryPoolCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        pool: *mut vk::QueryPool,
    ) {
        let info = &*info;
        let width = if info.query_type == vk::QueryType::PIPELINE_STATISTICS {
            info.pipeline_statistics.as_raw().count_ones() as usize
        } else {
            1
        };
        let data = QueryPool {
            width,
            kind: info.query_type,
            slots: vec![None; info.query_count as usize],
        };
        pool.write(handle::shared(device).state().create(device, data));
        Ok(())
    }
    call fn destroy_query_pool as PFN_vkDestroyQueryPool(
        device: vk::Device,
        pool: vk::QueryPool,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        handle::shared(device)
            .state()
            .destroy(pool, "vkDestroyQueryPool");
    }
    call fn reset_query_pool as PFN_vkResetQueryPool(
        device: vk::Device,
        pool: vk::QueryPool,
        first: u32,
        count: u32,
    ) {
        handle::shared(device)
            .state()
            .reset_queries(pool, first, count, "vkResetQueryPool");
    }
    result fn get_results as PFN_vkGetQueryPoolResults(
        device: vk::Device,
        pool: vk::QueryPool,
        first: u32,
        count: u32,
        size: usize,
        data: *mut c_void,
        stride: vk::DeviceSize,
        flags: vk::QueryResultFlags,
    ) {
        let (driver, index) = (
            handle::shared(device),
            handle::object::<Device>(device).index,
        );
        let mut state = driver.state();
        if !driver.desc.record {
            // Commands are not kept, so nobody knows what was written: each query has a result.
            let valid_bits = driver.desc.devices[index]
                .queue_families
                .first()
                .map_or(64, |family| family.timestamp_valid_bits);
            for query in first..first.saturating_add(count) {
                let value = state.timestamp(driver, index, valid_bits);
                if let Some(pool) = state.data::<QueryPool>(pool, "vkGetQueryPoolResults") {
                    let width = pool.width;
                    if let Some(slot) = pool.slots.get_mut(query as usize) {
                        *slot = Some(vec![value; width]);
                    }
                }
            }
        }
        let (waits, available) = (
            flags.contains(vk::QueryResultFlags::WAIT),
            flags.contains(vk::QueryResultFlags::WITH_AVAILABILITY),
        );
        let (partial, wide) = (
            flags.contains(vk::QueryResultFlags::PARTIAL),
            flags.contains(vk::QueryResultFlags::TYPE_64),
        );
        if waits {
            state.finish_until(&|_: &State| false);
        }
        let Some(data_of_pool) = state.data::<QueryPool>(pool, "vkGetQueryPoolResults") else {
            return Err(vk::Result::ERROR_UNKNOWN);
        };
        let (width, number) = (data_of_pool.width, if wide { 8 } else { 4 });
        let slots = data_of_pool
            .slots
            .get(first as usize..first.saturating_add(count) as usize)
            .map(<[_]>::to_vec);
        let room = u64::from(count.saturating_sub(1)) * stride
            + (number * (width + usize::from(available))) as u64;
        let Some(slots) = slots.filter(|_| room <= size as u64) else {
            state.error(format!("vkGetQueryPoolResults: queries {first} + {count} are not in {pool:?}, or {size} bytes are too few"));
            return Err(vk::Result::ERROR_UNKNOWN);
        };
        let mut ready = true;
        for (query, slot) in slots.iter().enumerate() {
            let place = data.cast::<u8>().add(query * stride as usize);
            ready &= slot.is_some() || partial;
            for value in 0..width {
                if slot.is_some() || partial {
                    write_number(
                        place.add(value * number),
                        slot.as_ref().map_or(0, |values| values[value]),
                        wide,
                    );
                }
            }
            if available {
                write_number(place.add(width * number), slot.is_some().into(), wide);
            }
        }
        if !ready && waits {
            state.error(format!(
                "vkGetQueryPoolResults: waits for queries of {pool:?} that nothing submitted writes"
            ));
        }
        if ready {
            Ok(())
        } else {
            Err(vk::Result::NOT_READY)
        }
    }
}

pub(super) mod calibrated {
    use super::*;

    functions! { Device, Some("VK_KHR_calibrated_timestamps");
        result fn get_timestamps as PFN_vkGetCalibratedTimestampsKHR(
            device: vk::Device,
            count: u32,
            infos: *const vk::CalibratedTimestampInfoKHR<'_>,
            timestamps: *mut u64,
            deviation: *mut u64,
        ) {
            let (driver, index) = (
                handle::shared(device),
                handle::object::<Device>(device).index,
            );
            for (slot, info) in slice(infos, count).iter().enumerate() {
                let value = match info.time_domain {
                    vk::TimeDomainKHR::DEVICE => driver.state().now(driver, index),
                    vk::TimeDomainKHR::CLOCK_MONOTONIC_RAW => Clock::MonotonicRaw.nanoseconds(),
                    _ => Clock::Monotonic.nanoseconds(),
                };
                timestamps.add(slot).write(value);
            }
            deviation.write(TICK_STEP);
            Ok(())
        }
    }
}

pub(super) mod time_domains {
    use super::*;

    functions! { Instance, Some("VK_KHR_calibrated_timestamps");
        result fn get_time_domains as PFN_vkGetPhysicalDeviceCalibrateableTimeDomainsKHR(
            _physical: vk::PhysicalDevice,
            count: *mut u32,
            domains: *mut vk::TimeDomainKHR,
        ) {
            let known = [
                vk::TimeDomainKHR::DEVICE,
                vk::TimeDomainKHR::CLOCK_MONOTONIC,
                vk::TimeDomainKHR::CLOCK_MONOTONIC_RAW,
            ];
            handle::enumerate(&known, count, domains)
        }
    }
}
