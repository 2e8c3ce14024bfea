//! Several drivers at once.

use super::super::{Command, NoopDesc, NoopDriver};
use super::Context;
use ash::vk;

#[test]
fn drivers_on_several_threads_do_not_disturb_one_another() {
    let threads: Vec<_> = (1..=4u32)
        .map(|number| {
            std::thread::spawn(move || {
                let context = Context::new(NoopDesc::with(|device| device.name = format!("device {number}")));
                for _ in 0..50 {
                    // SAFETY: all valid.
                    let commands = context.record(|commands| unsafe {
                        context.device.cmd_dispatch(commands, number, 1, 1);
                    });
                    context.submit(commands, None);
                }
                let submissions = context.driver.submissions();
                assert_eq!(submissions.len(), 50);
                for command in submissions.iter().flat_map(|submission| submission.commands()) {
                    assert!(matches!(command, Command::Dispatch { groups: [x, 1, 1], .. } if *x == number));
                }
                assert_eq!(context.driver.enabled()[0].name, format!("device {number}"));
                context.end_clean();
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn two_drivers_live_on_one_thread() {
    let first = Context::new(NoopDesc::default());
    let second = Context::new(NoopDesc::quiet());
    // SAFETY: all valid.
    let record =
        |context: &Context| context.record(|c| unsafe { context.device.cmd_dispatch(c, 1, 1, 1) });
    let (a, b) = (record(&first), record(&second));
    assert_eq!(
        (
            first.driver.commands(a).len(),
            second.driver.commands(b).len()
        ),
        (1, 0)
    );
    first.end_clean();
    second.end_clean();
}

#[test]
fn commands_may_be_recorded_on_another_thread_than_the_instance() {
    let context = Context::new(NoopDesc::default());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // SAFETY: all valid.
            let commands = context.record(|c| unsafe { context.device.cmd_dispatch(c, 7, 1, 1) });
            context.submit(commands, None);
        });
    });
    assert_eq!(context.driver.submissions().len(), 1);
    context.end_clean();
}

#[test]
fn an_instance_outlives_its_driver() {
    let driver = NoopDriver::new(NoopDesc::default());
    let entry = driver.entry();
    // SAFETY: all valid.
    unsafe {
        let instance = entry
            .create_instance(&vk::InstanceCreateInfo::default(), None)
            .unwrap();
        drop(driver);
        assert_eq!(instance.enumerate_physical_devices().unwrap().len(), 1);
        instance.destroy_instance(None);
        let none = entry
            .create_instance(&vk::InstanceCreateInfo::default(), None)
            .err();
        assert_eq!(
            none,
            Some(vk::Result::ERROR_INITIALIZATION_FAILED),
            "the driver is gone"
        );
    }
}
