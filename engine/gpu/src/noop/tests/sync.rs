//! Timelines, fences, queries, pending submissions.

use super::super::{NoopDesc, NoopDriver};
use super::Context;
use ash::vk;

fn wait(
    context: &Context,
    semaphore: vk::Semaphore,
    value: u64,
    timeout: u64,
) -> Result<(), vk::Result> {
    let (semaphores, values) = ([semaphore], [value]);
    let info = vk::SemaphoreWaitInfo::default()
        .semaphores(&semaphores)
        .values(&values);
    // SAFETY: all valid.
    unsafe { context.device.wait_semaphores(&info, timeout) }
}

fn value(context: &Context, semaphore: vk::Semaphore) -> u64 {
    // SAFETY: all valid.
    unsafe {
        context
            .device
            .get_semaphore_counter_value(semaphore)
            .unwrap()
    }
}

fn only_error(driver: &NoopDriver, part: &str) {
    let errors = driver.take_errors();
    assert!(
        errors.len() == 1 && errors[0].contains(part),
        "{part}: {errors:#?}"
    );
}

#[test]
fn timelines_are_signaled_at_submission() {
    let context = Context::new(NoopDesc::default());
    let timeline = context.timeline();
    let commands = context.record(|_| ());
    context.submit(commands, Some((timeline, 5)));
    assert_eq!(value(&context, timeline), 5);
    wait(&context, timeline, 5, u64::MAX).unwrap();
    assert_eq!(
        wait(&context, timeline, 6, 0),
        Err(vk::Result::TIMEOUT),
        "a poll is no error"
    );
    assert!(context.driver.errors().is_empty());
    assert_eq!(
        wait(&context, timeline, 6, u64::MAX),
        Err(vk::Result::TIMEOUT)
    );
    only_error(&context.driver, "nothing submitted signals");
    context.submit(commands, Some((timeline, 5)));
    only_error(&context.driver, "is 5 already");
    // SAFETY: all valid.
    unsafe {
        let info = vk::SemaphoreSignalInfo::default()
            .semaphore(timeline)
            .value(9);
        context.device.signal_semaphore(&info).unwrap();
        assert_eq!(value(&context, timeline), 9);
        context.device.destroy_semaphore(timeline, None);
    }
    context.end_clean();
}

#[test]
fn binary_semaphores_and_fences_keep_their_state() {
    let context = Context::new(NoopDesc::default());
    let device = &context.device;
    // SAFETY: all valid, but for the waits that are to be errors.
    unsafe {
        let semaphore = device
            .create_semaphore(&vk::SemaphoreCreateInfo::default(), None)
            .unwrap();
        let fence = device
            .create_fence(&vk::FenceCreateInfo::default(), None)
            .unwrap();
        assert!(!device.get_fence_status(fence).unwrap());
        let uses = [vk::SemaphoreSubmitInfo::default().semaphore(semaphore)];
        let signal = vk::SubmitInfo2::default().signal_semaphore_infos(&uses);
        let wait = vk::SubmitInfo2::default().wait_semaphore_infos(&uses);
        device
            .queue_submit2(context.queue, &[signal, wait], fence)
            .unwrap();
        assert!(device.get_fence_status(fence).unwrap());
        device.wait_for_fences(&[fence], true, u64::MAX).unwrap();
        device
            .queue_submit2(context.queue, &[wait], vk::Fence::null())
            .unwrap();
        only_error(&context.driver, "which nothing signals");
        device
            .queue_submit2(context.queue, &[signal, signal], vk::Fence::null())
            .unwrap();
        only_error(&context.driver, "signaled twice");
        device.queue_submit2(context.queue, &[], fence).unwrap();
        only_error(&context.driver, "is signaled already");
        device.reset_fences(&[fence]).unwrap();
        assert_eq!(
            device.wait_for_fences(&[fence], true, 1),
            Err(vk::Result::TIMEOUT)
        );
        only_error(&context.driver, "nothing submitted signals");
        device.destroy_fence(fence, None);
        device.destroy_semaphore(semaphore, None);
    }
    context.end_clean();
}

#[test]
fn pending_submissions_finish_when_waited_for() {
    let context = Context::new(NoopDesc {
        defer: true,
        ..NoopDesc::default()
    });
    let timeline = context.timeline();
    let (buffer, memory) = context.buffer(64);
    let (other, other_memory) = context.buffer(64);
    let fill = |buffer| {
        // SAFETY: all valid.
        context
            .record(|commands| unsafe { context.device.cmd_fill_buffer(commands, buffer, 0, 4, 0) })
    };
    let (first, second) = (fill(buffer), fill(other));
    context.submit(first, Some((timeline, 1)));
    context.submit(second, Some((timeline, 2)));
    assert_eq!(
        (value(&context, timeline), wait(&context, timeline, 1, 0)),
        (0, Err(vk::Result::TIMEOUT))
    );
    // SAFETY: wrong use is what is tested.
    unsafe {
        let begin = vk::CommandBufferBeginInfo::default();
        context.device.begin_command_buffer(first, &begin).unwrap();
        only_error(&context.driver, "vkBeginCommandBuffer");
        context.device.end_command_buffer(first).unwrap();
        wait(&context, timeline, 1, u64::MAX).unwrap();
        assert_eq!(value(&context, timeline), 1, "the second is still pending");
        context.device.destroy_buffer(buffer, None);
        assert!(context.driver.errors().is_empty());
        context.device.destroy_buffer(other, None);
        only_error(&context.driver, "in use by a submission");
        context.device.device_wait_idle().unwrap();
        assert_eq!(value(&context, timeline), 2);
        context.device.destroy_semaphore(timeline, None);
        context.device.free_memory(memory, None);
        context.device.free_memory(other_memory, None);
    }
    context.end_clean();
}

#[test]
fn timestamps_increase_and_wrap_at_their_valid_bits() {
    let origin = (1u64 << 36) - 10;
    for valid_bits in [64, 36] {
        let context = Context::new(NoopDesc::with(|device| {
            device.queue_families[0].timestamp_valid_bits = valid_bits;
            device.timestamp_origin = origin;
        }));
        let device = &context.device;
        let info = vk::QueryPoolCreateInfo::default()
            .query_type(vk::QueryType::TIMESTAMP)
            .query_count(4);
        // SAFETY: all valid.
        unsafe {
            let pool = device.create_query_pool(&info, None).unwrap();
            device.reset_query_pool(pool, 0, 4);
            let commands = context.record(|commands| {
                device.cmd_write_timestamp2(
                    commands,
                    vk::PipelineStageFlags2::ALL_COMMANDS,
                    pool,
                    0,
                );
                device.cmd_write_timestamp(commands, vk::PipelineStageFlags::TOP_OF_PIPE, pool, 1);
            });
            let mut results = [[0u64; 2]; 3];
            let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WITH_AVAILABILITY;
            assert_eq!(
                device.get_query_pool_results(pool, 0, &mut results, flags),
                Err(vk::Result::NOT_READY)
            );
            assert_eq!(results, [[0; 2]; 3]);
            context.submit(commands, None);
            let ready = device.get_query_pool_results(pool, 0, &mut results, flags);
            assert_eq!(
                ready,
                Err(vk::Result::NOT_READY),
                "the third was not written"
            );
            assert_eq!([results[0][1], results[1][1], results[2][1]], [1, 1, 0]);
            let mask = if valid_bits == 64 {
                u64::MAX
            } else {
                (1 << valid_bits) - 1
            };
            assert_eq!(results[1][0].wrapping_sub(results[0][0]) & mask, 1000);
            assert!(results[0][0] <= mask && results[1][0] <= mask);
            assert_eq!(
                valid_bits == 64,
                results[0][0] > origin,
                "the clock went over the wrap"
            );
            context.submit(commands, None);
            let errors = context.driver.take_errors();
            assert!(
                errors.len() == 2 && errors[0].contains("without a reset"),
                "{errors:#?}"
            );
            device.destroy_query_pool(pool, None);
        }
        context.end_clean();
    }
}

#[test]
fn statistics_have_a_value_per_bit() {
    let context = Context::new(NoopDesc::default());
    let device = &context.device;
    let statistics = vk::QueryPipelineStatisticFlags::CLIPPING_PRIMITIVES
        | vk::QueryPipelineStatisticFlags::COMPUTE_SHADER_INVOCATIONS;
    let info = vk::QueryPoolCreateInfo::default()
        .query_type(vk::QueryType::PIPELINE_STATISTICS)
        .query_count(1)
        .pipeline_statistics(statistics);
    // SAFETY: all valid.
    unsafe {
        let pool = device.create_query_pool(&info, None).unwrap();
        let commands = context.record(|commands| {
            device.cmd_reset_query_pool(commands, pool, 0, 1);
            device.cmd_begin_query(commands, pool, 0, vk::QueryControlFlags::empty());
            device.cmd_end_query(commands, pool, 0);
        });
        context.submit(commands, None);
        let mut results = [[9u32; 3]; 1];
        let flags = vk::QueryResultFlags::WAIT | vk::QueryResultFlags::WITH_AVAILABILITY;
        device
            .get_query_pool_results(pool, 0, &mut results, flags)
            .unwrap();
        assert_eq!(results, [[1, 1, 1]]);
        device.destroy_query_pool(pool, None);
    }
    context.end_clean();
}

#[test]
fn a_quiet_driver_has_a_result_for_each_query() {
    let context = Context::new(NoopDesc::quiet());
    let device = &context.device;
    let info = vk::QueryPoolCreateInfo::default()
        .query_type(vk::QueryType::TIMESTAMP)
        .query_count(2);
    // SAFETY: all valid.
    unsafe {
        let pool = device.create_query_pool(&info, None).unwrap();
        let mut results = [0u64; 2];
        device
            .get_query_pool_results(pool, 0, &mut results, vk::QueryResultFlags::TYPE_64)
            .unwrap();
        assert!(results[0] > 0 && results[1] > results[0]);
        device.destroy_query_pool(pool, None);
    }
    context.end_clean();
}

#[test]
fn calibrated_timestamps_agree_with_written_ones() {
    let context = Context::new(NoopDesc::default());
    let calibrated =
        ash::ext::calibrated_timestamps::Device::new(&context.instance, &context.device);
    let infos = [
        vk::TimeDomainKHR::DEVICE,
        vk::TimeDomainKHR::CLOCK_MONOTONIC,
    ]
    .map(|domain| vk::CalibratedTimestampInfoKHR::default().time_domain(domain));
    let entry = context.driver.entry();
    let domains = ash::ext::calibrated_timestamps::Instance::new(&entry, &context.instance);
    // SAFETY: all valid.
    unsafe {
        let domains = domains
            .get_physical_device_calibrateable_time_domains(context.physical)
            .unwrap();
        assert!(domains.contains(&vk::TimeDomainKHR::DEVICE));
        let (times, _) = calibrated.get_calibrated_timestamps(&infos).unwrap();
        assert!(
            times[0] > 0 && times[1] >= times[0],
            "the device's clock is the host's: {times:?}"
        );
    }
    context.end_clean();
}
