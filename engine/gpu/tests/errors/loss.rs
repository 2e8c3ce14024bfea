//! A device that is lost or hangs: what is said of it.

use crate::common::{color, compute, expect_error, noop_with, storage};
use crate::programs::{self, fill};
use impel_gpu::noop::{Command, Failure, NoopDesc, NoopDriver};
use impel_gpu::{Error, Gpu, GpuDesc, Result, vk};
use std::sync::Mutex;
use std::time::Duration;

#[test]
fn a_lost_device_names_the_passes_under_way() {
    let gpu = noop_with(
        NoopDesc {
            defer: true,
            ..Default::default()
        },
        &GpuDesc::default(),
    );
    let (work, buffer) = (
        compute(&gpu, "fill", fill::SHADERS),
        storage(&gpu, "buffer", 64),
    );
    let push = programs::fill::Push { first: 0, count: 1 };
    let record = |name: &str| -> Result<impel_gpu::SubmittedFrame> {
        let mut frame = gpu.begin_frame()?;
        frame
            .compute(name, &work)
            .bind([buffer.whole()])
            .push(&push)
            .dispatch([1, 1, 1])?;
        frame.submit()
    };
    let first = record("shadow map").unwrap();
    gpu.driver
        .fail_next("vkQueueSubmit2", vk::Result::ERROR_DEVICE_LOST);
    let error = record("bloom").err().unwrap();
    assert!(matches!(error, Error::DeviceLost { .. }), "{error}");
    assert_eq!(
        error.to_string(),
        "device lost; passes not known to be finished (IMPEL_MARKERS=1 tells more where the device can): \
         shadow map (frame 1), bloom (frame 2); the driver reports: a fault of the no-op driver"
    );
    // From here on every frame says so.
    expect_error(record("later"), &["device lost", "shadow map (frame 1)"]);
    gpu.driver
        .fail_next("vkWaitSemaphores", vk::Result::ERROR_DEVICE_LOST);
    expect_error(first.wait(), &["device lost", "bloom (frame 2)"]);
    gpu.driver
        .fail_next("vkDeviceWaitIdle", vk::Result::ERROR_DEVICE_LOST);
    // By now the first frame is done.
    let said = expect_error(gpu.wait_idle(), &["device lost", "bloom (frame 2)"]);
    assert!(!said.contains("shadow map"), "{said}");
}

/// With markers just the passes are named that the device was at, by either extension; with what the driver says of the fault.
#[test]
fn markers_narrow_down_where_the_device_was_lost() {
    for extension in [
        "VK_AMD_buffer_marker",
        "VK_NV_device_diagnostic_checkpoints",
    ] {
        let mut noop = NoopDesc::with(|device| device.extensions.push(extension.into()));
        noop.defer = true;
        noop.faults = vec![(vk::DeviceFaultAddressTypeEXT::WRITE_INVALID, 0x1234_5678)];
        let desc = GpuDesc {
            markers: true,
            ..Default::default()
        };
        let gpu = noop_with(noop, &desc);
        assert!(gpu.info().features.markers && gpu.info().features.device_fault);
        let (work, buffer) = (
            compute(&gpu, "fill", fill::SHADERS),
            storage(&gpu, "buffer", 64),
        );
        let push = programs::fill::Push { first: 0, count: 1 };
        let record = |names: &[&str]| {
            let mut frame = gpu.begin_frame().unwrap();
            for name in names {
                let pass = frame.compute(name, &work).bind([buffer.whole()]);
                pass.push(&push).dispatch([1, 1, 1]).unwrap();
            }
            frame.submit().unwrap()
        };
        let lost = |frame: &impel_gpu::SubmittedFrame| {
            gpu.driver
                .fail_next("vkWaitSemaphores", vk::Result::ERROR_DEVICE_LOST);
            frame.wait().unwrap_err().to_string()
        };
        // A place in flight is used again, so that what an earlier frame left there must not count.
        record(&["warm-up"; 9]);
        record(&["warm-up"]);
        gpu.wait_idle().unwrap();
        let first = record(&["shadow map", "bloom"]);
        let second = record(&["tone map"]);
        let submissions = gpu.driver.submissions();
        let commands: Vec<_> = submissions[2].commands().collect();
        let dispatches: Vec<_> = (0..commands.len())
            .filter(|&at| matches!(commands[at], Command::Dispatch { .. }))
            .collect();
        let said = |passes: &str| {
            format!(
                "device lost; passes begun and not finished: {passes}; the driver reports: \
                 a fault of the no-op driver, invalid write at 0x12345600 to 0x123456ff"
            )
        };
        assert_eq!(lost(&first), said("none"), "{extension}");
        let mut done = 0;
        for (upto, passes) in [
            (dispatches[0], "shadow map (frame 3)"),
            (dispatches[1], "bloom (frame 3)"),
            (commands.len(), "none"),
        ] {
            gpu.driver.run_commands(upto - done);
            done = upto;
            assert_eq!(lost(&first), said(passes), "{extension}");
        }
        first.wait().unwrap();
        let tone_map = submissions[3].commands();
        let tone_map = tone_map.take_while(|command| !matches!(command, Command::Dispatch { .. }));
        gpu.driver.run_commands(tone_map.count());
        assert_eq!(lost(&second), said("tone map (frame 4)"), "{extension}");
    }
}

/// A device that hangs in a pass is waited for, and every ten seconds a warning names the pass by the timestamps.
#[test]
fn a_pass_that_hangs_is_named_while_it_is_waited_for() {
    static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());
    struct Listener;
    impl log::Log for Listener {
        fn enabled(&self, _: &log::Metadata<'_>) -> bool {
            true
        }
        fn log(&self, record: &log::Record<'_>) {
            SAID.lock().unwrap().push(record.args().to_string());
        }
        fn flush(&self) {}
    }
    log::set_logger(&Listener).unwrap();
    log::set_max_level(log::LevelFilter::Warn);
    let gpu = noop_with(
        NoopDesc {
            defer: true,
            ..Default::default()
        },
        &GpuDesc::default(),
    );
    let (work, buffer) = (
        compute(&gpu, "fill", fill::SHADERS),
        storage(&gpu, "buffer", 64),
    );
    let push = programs::fill::Push { first: 0, count: 1 };
    let mut frame = gpu.begin_frame().unwrap();
    for name in ["shadow map", "bloom", "tone map"] {
        let pass = frame.compute(name, &work).bind([buffer.whole()]);
        pass.push(&push).dispatch([1, 1, 1]).unwrap();
    }
    let frame = frame.submit().unwrap();
    let submissions = gpu.driver.submissions();
    let commands: Vec<_> = submissions[0].commands().collect();
    let dispatch = |command: &&Command| matches!(command, Command::Dispatch { .. });
    let second = commands.iter().rposition(dispatch).unwrap();
    let second = commands[..second].iter().rposition(dispatch).unwrap();
    gpu.driver.run_commands(second);
    let said = || std::mem::take(&mut *SAID.lock().unwrap());
    said();
    let stall = || {
        gpu.driver
            .fail_next("vkWaitSemaphores", vk::Result::TIMEOUT);
    };
    stall();
    frame.wait().unwrap();
    let warning = "frame 1 is not done after 10 s: passes begun and not finished: bloom (frame 1)";
    assert_eq!(said(), [warning]);
    // The driver does not say which.
    let mut frame = gpu.begin_frame().unwrap();
    frame.fill(&buffer, 0, 64, 0).unwrap();
    frame.submit().unwrap();
    stall();
    gpu.wait_idle().unwrap();
    assert_eq!(
        said(),
        ["frame 2 is not done after 10 s: passes handed over: fill (frame 2)"]
    );
    log::set_max_level(log::LevelFilter::Off);
}

/// Where waits have a limit, a device that hangs is an error that names the pass; and nothing waits for it afterwards, or
/// destroys what it may still use.
#[test]
fn a_limit_ends_the_wait_for_a_device_that_hangs() {
    // Two waits of ten seconds, and one of five; with one of them less the wait ends well.
    let stall = |first, count| Failure {
        function: "vkWaitSemaphores".into(),
        first,
        count,
        result: vk::Result::TIMEOUT,
    };
    let driver = NoopDriver::new(NoopDesc {
        defer: true,
        failures: vec![stall(0, 2), stall(3, 3)],
        ..Default::default()
    });
    let gpu = Gpu::with_entry(&GpuDesc::default(), driver.entry()).unwrap();
    let (work, buffer) = (
        compute(&gpu, "fill", fill::SHADERS),
        storage(&gpu, "buffer", 64),
    );
    let push = programs::fill::Push { first: 0, count: 1 };
    let record = || {
        let mut frame = gpu.begin_frame()?;
        let pass = frame.compute("bloom", &work).bind([buffer.whole()]);
        pass.push(&push).dispatch([1, 1, 1])?;
        frame.submit()
    };
    gpu.limit_waits(Some(Duration::from_secs(25)));
    let frame = record().unwrap();
    frame.wait().unwrap();
    let frame = record().unwrap();
    let said =
        "the device hangs: frame 2 is not done after 25 s; passes handed over: bloom (frame 2)";
    assert_eq!(frame.wait().unwrap_err().to_string(), said);
    let waits = driver.calls("vkWaitSemaphores");
    record().unwrap();
    assert!(
        matches!(record(), Err(Error::Hung { frame: 2, .. })),
        "at once"
    );
    assert!(matches!(gpu.wait_idle(), Err(Error::Hung { frame: 3, .. })));
    assert_eq!(driver.calls("vkWaitSemaphores"), waits + 3);
    drop((frame, work, buffer));
    drop(gpu);
    for call in ["vkDeviceWaitIdle", "vkDestroyDevice", "vkDestroyBuffer"] {
        assert_eq!(driver.calls(call), 0, "{call}");
    }
}

/// Without being asked for, or without either extension, nothing is marked.
#[test]
fn markers_cost_nothing_unless_asked_for() {
    for (offered, markers) in [(true, false), (false, true)] {
        let noop = NoopDesc::with(|device| {
            if offered {
                device.extensions.push("VK_AMD_buffer_marker".into());
            }
        });
        let desc = GpuDesc {
            markers,
            ..Default::default()
        };
        let gpu = noop_with(noop, &desc);
        assert_eq!(gpu.info().features.markers, offered);
        let target = color(&gpu, "target");
        let mut frame = gpu.begin_frame().unwrap();
        frame.clear(&target, [0.0; 4]).unwrap();
        frame.submit().unwrap().wait().unwrap();
        let submissions = gpu.driver.submissions();
        let mut commands = submissions.iter().flat_map(|one| one.commands());
        assert!(!commands.any(|command| matches!(
            command,
            Command::WriteBufferMarker { .. } | Command::SetCheckpoint { .. }
        )));
        let enabled = &gpu.driver.enabled()[0].extensions;
        assert!(!enabled.iter().any(|name| name == "VK_AMD_buffer_marker"));
    }
}
