//! How a command is recorded; the macro that makes each `vkCmd*` function twice, recording and quiet.

use super::command::Command;
use super::handle::{self, CommandBuffer, Phase, object};
use ash::vk;
use std::sync::Arc;

/// Defines `vkCmd*` functions and the table `ROWS` of them. Each function exists twice: one keeps the command that the
/// expression makes of the arguments, the quiet one returns at once. An expression that needs the command buffer names it in
/// brackets.
macro_rules! commands {
    ($extension:expr; $(fn $name:ident as $pfn:ident $([$buffer:ident])? ($($arg:ident : $ty:ty),* $(,)?) $command:block)*) => {
        $(unsafe extern "system" fn $name(command_buffer: ash::vk::CommandBuffer $(, $arg: $ty)*) {
            $(let $buffer = command_buffer;)?
            // SAFETY: whoever calls a Vulkan function keeps to its valid usage: handles are this driver's, pointers point to
            // as many values as the specification says.
            #[allow(unused_unsafe)]
            unsafe { crate::noop::record::record(command_buffer, $command) }
        })*
        mod quiet {
            use super::*;
            $(pub(super) unsafe extern "system" fn $name(_: ash::vk::CommandBuffer $(, _: $ty)*) {})*
        }
        pub(in crate::noop) const ROWS: &[crate::noop::loader::Row] = &[$({
            let (function, quiet): (ash::vk::$pfn, ash::vk::$pfn) = ($name, quiet::$name);
            // SAFETY: function pointers become others, which are only called after they were turned back.
            let (function, quiet) = unsafe {
                (
                    std::mem::transmute::<ash::vk::$pfn, crate::noop::loader::Function>(function),
                    std::mem::transmute::<ash::vk::$pfn, crate::noop::loader::Function>(quiet),
                )
            };
            crate::noop::loader::Row {
                pointer_type: stringify!($pfn),
                level: crate::noop::loader::Level::Device,
                extension: $extension,
                function,
                quiet,
            }
        }),*];
    };
}
pub(super) use commands;

/// Appends a command, after a look whether all it names lives.
///
/// # Safety
/// `buffer` is a command buffer of a no-op driver.
pub(super) unsafe fn record(buffer: vk::CommandBuffer, command: Command) {
    // SAFETY: by the condition above.
    let (driver, data) = unsafe { (handle::shared(buffer), object::<CommandBuffer>(buffer)) };
    let mut handles = Vec::new();
    command.handles(&mut handles);
    let mut recording = data.recording();
    let mut state = driver.state();
    state.check(buffer, "vkCmd*");
    let mut alive = true;
    for (kind, raw) in handles {
        alive &= state.check_raw(kind, raw, "vkCmd*");
    }
    if !alive {
        state.error(format!("the message before is about {command:?}"));
    }
    if recording.phase != Phase::Recording {
        state.error(format!(
            "vkCmd*: {buffer:?} is {:?}, not being recorded: {command:?}",
            recording.phase
        ));
    }
    Arc::make_mut(&mut recording.commands).push(command);
}
