//! Fences, semaphores and events.

use super::handle::{self, chain, slice};
use super::loader::functions;
use super::state::State;
use ash::vk::{self, Handle};

pub(super) struct Fence {
    pub(super) signaled: bool,
}

pub(super) struct Semaphore {
    pub(super) timeline: bool,
    /// The counter of a timeline; of a binary semaphore 1 when signaled, else 0.
    pub(super) value: u64,
}

pub(super) struct Event {
    pub(super) set: bool,
}

impl State {
    fn reached(&self, semaphore: vk::Semaphore, value: u64) -> bool {
        self.peek::<Semaphore>(semaphore)
            .is_none_or(|semaphore| semaphore.value >= value)
    }

    fn signaled(&self, fence: vk::Fence) -> bool {
        self.peek::<Fence>(fence).is_none_or(|fence| fence.signaled)
    }
}

/// Waits, which takes no time: pending submissions finish, in order, as far as needed. What then is still not reached never
/// will be by this thread, so that a real driver would wait for ever: that is an error, unless it is a poll (timeout 0).
fn wait(
    state: &mut State,
    function: &str,
    timeout: u64,
    what: &dyn std::fmt::Debug,
    done: impl Fn(&State) -> bool,
) -> Result<(), vk::Result> {
    if timeout > 0 {
        state.finish_until(&done);
    }
    if done(state) {
        return Ok(());
    }
    if timeout > 0 {
        state.error(format!(
            "{function}: waits for {what:?}, which nothing submitted signals"
        ));
    }
    Err(vk::Result::TIMEOUT)
}

functions! { Device, None;
    result fn create_fence as PFN_vkCreateFence(
        device: vk::Device,
        info: *const vk::FenceCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        fence: *mut vk::Fence,
    ) {
        let signaled = (*info).flags.contains(vk::FenceCreateFlags::SIGNALED);
        fence.write(
            handle::shared(device)
                .state()
                .create(device, Fence { signaled }),
        );
        Ok(())
    }
    call fn destroy_fence as PFN_vkDestroyFence(
        device: vk::Device,
        fence: vk::Fence,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        handle::shared(device)
            .state()
            .destroy(fence, "vkDestroyFence");
    }
    result fn reset_fences as PFN_vkResetFences(
        device: vk::Device,
        count: u32,
        fences: *const vk::Fence,
    ) {
        let mut state = handle::shared(device).state();
        for &fence in slice(fences, count) {
            if state
                .pending
                .iter()
                .any(|pending| pending.uses.contains(&fence.as_raw()))
            {
                state.error(format!(
                    "vkResetFences: {fence:?} is in use by a submission that has not finished"
                ));
            }
            if let Some(fence) = state.data::<Fence>(fence, "vkResetFences") {
                fence.signaled = false;
            }
        }
        Ok(())
    }
    result fn get_fence_status as PFN_vkGetFenceStatus(device: vk::Device, fence: vk::Fence) {
        let signaled = handle::shared(device)
            .state()
            .data::<Fence>(fence, "vkGetFenceStatus")
            .is_some_and(|fence| fence.signaled);
        if signaled {
            Ok(())
        } else {
            Err(vk::Result::NOT_READY)
        }
    }
    result fn wait_for_fences as PFN_vkWaitForFences(
        device: vk::Device,
        count: u32,
        fences: *const vk::Fence,
        all: vk::Bool32,
        timeout: u64,
    ) {
        let mut state = handle::shared(device).state();
        let fences = slice(fences, count);
        for &fence in fences {
            state.check(fence, "vkWaitForFences");
        }
        wait(&mut state, "vkWaitForFences", timeout, &fences, |state| {
            let mut signaled = fences.iter().map(|&fence| state.signaled(fence));
            if all == vk::TRUE {
                signaled.all(|done| done)
            } else {
                signaled.any(|done| done)
            }
        })
    }
    result fn create_semaphore as PFN_vkCreateSemaphore(
        device: vk::Device,
        info: *const vk::SemaphoreCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        semaphore: *mut vk::Semaphore,
    ) {
        let mut data = Semaphore {
            timeline: false,
            value: 0,
        };
        for link in chain((*info).p_next) {
            if (*link).s_type == vk::StructureType::SEMAPHORE_TYPE_CREATE_INFO {
                let link = &*link.cast::<vk::SemaphoreTypeCreateInfo<'_>>();
                data = Semaphore {
                    timeline: link.semaphore_type == vk::SemaphoreType::TIMELINE,
                    value: link.initial_value,
                };
            }
        }
        semaphore.write(handle::shared(device).state().create(device, data));
        Ok(())
    }
    call fn destroy_semaphore as PFN_vkDestroySemaphore(
        device: vk::Device,
        semaphore: vk::Semaphore,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        handle::shared(device)
            .state()
            .destroy(semaphore, "vkDestroySemaphore");
    }
    result fn get_counter as PFN_vkGetSemaphoreCounterValue(
        device: vk::Device,
        semaphore: vk::Semaphore,
        value: *mut u64,
    ) {
        let mut state = handle::shared(device).state();
        value.write(
            state
                .data::<Semaphore>(semaphore, "vkGetSemaphoreCounterValue")
                .map_or(0, |semaphore| semaphore.value),
        );
        Ok(())
    }
    result fn wait_semaphores as PFN_vkWaitSemaphores(
        device: vk::Device,
        info: *const vk::SemaphoreWaitInfo<'_>,
        timeout: u64,
    ) {
        let mut state = handle::shared(device).state();
        let info = &*info;
        let semaphores = slice(info.p_semaphores, info.semaphore_count);
        let waits: Vec<_> = semaphores
            .iter()
            .copied()
            .zip(slice(info.p_values, info.semaphore_count).iter().copied())
            .collect();
        for &semaphore in semaphores {
            state.check(semaphore, "vkWaitSemaphores");
        }
        wait(&mut state, "vkWaitSemaphores", timeout, &waits, |state| {
            let mut reached = waits
                .iter()
                .map(|&(semaphore, value)| state.reached(semaphore, value));
            if info.flags.contains(vk::SemaphoreWaitFlags::ANY) {
                reached.any(|done| done)
            } else {
                reached.all(|done| done)
            }
        })
    }
    result fn signal_semaphore as PFN_vkSignalSemaphore(
        device: vk::Device,
        info: *const vk::SemaphoreSignalInfo<'_>,
    ) {
        handle::shared(device).state().signal(
            (*info).semaphore,
            (*info).value,
            "vkSignalSemaphore",
        );
        Ok(())
    }
    result fn create_event as PFN_vkCreateEvent(
        device: vk::Device,
        _info: *const vk::EventCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        event: *mut vk::Event,
    ) {
        event.write(
            handle::shared(device)
                .state()
                .create(device, Event { set: false }),
        );
        Ok(())
    }
    call fn destroy_event as PFN_vkDestroyEvent(
        device: vk::Device,
        event: vk::Event,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        handle::shared(device)
            .state()
            .destroy(event, "vkDestroyEvent");
    }
    result fn get_event_status as PFN_vkGetEventStatus(device: vk::Device, event: vk::Event) {
        let set = handle::shared(device)
            .state()
            .data::<Event>(event, "vkGetEventStatus")
            .is_some_and(|event| event.set);
        Err(if set {
            vk::Result::EVENT_SET
        } else {
            vk::Result::EVENT_RESET
        })
    }
    result fn set_event as PFN_vkSetEvent(device: vk::Device, event: vk::Event) {
        if let Some(event) = handle::shared(device)
            .state()
            .data::<Event>(event, "vkSetEvent")
        {
            event.set = true;
        }
        Ok(())
    }
    result fn reset_event as PFN_vkResetEvent(device: vk::Device, event: vk::Event) {
        if let Some(event) = handle::shared(device)
            .state()
            .data::<Event>(event, "vkResetEvent")
        {
            event.set = false;
        }
        Ok(())
    }
}
