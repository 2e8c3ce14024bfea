//! The state of one driver: its objects, errors, injected failures and clock.

use super::desc::{Failure, NoopDesc};
use super::device::EnabledDevice;
use super::queue::Submission;
use ash::vk::{self, Handle};
use std::any::Any;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What all handles of one driver share.
pub(super) struct Shared {
    pub(super) desc: NoopDesc,
    /// The host's monotonic clock at the driver's start, in nanoseconds.
    pub(super) start: u64,
    state: Mutex<State>,
}

impl Shared {
    pub(super) fn new(desc: NoopDesc) -> Self {
        let failures = desc.failures.clone();
        let state = State {
            failures,
            next: 0x1000,
            next_address: 1 << 32,
            ..State::default()
        };
        Shared {
            desc,
            start: super::clock::Clock::Monotonic.nanoseconds(),
            state: Mutex::new(state),
        }
    }

    /// The state stays usable when a test panicked with the lock held.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a call of a function that returns `VkResult` and gives the injected result, if this call has one.
    pub(super) fn injected(&self, function: &'static str) -> Option<vk::Result> {
        let mut state = self.state();
        let calls = state.calls.entry(function).or_default();
        let call = *calls;
        *calls += 1;
        let hit =
            |f: &&Failure| f.function == function && call >= f.first && call - f.first < f.count;
        state
            .failures
            .iter()
            .find(hit)
            .map(|failure| failure.result)
    }
}

/// One object that was created; kept after its end, so that a late use can be told from a wrong handle.
pub(super) struct Object {
    pub(super) kind: vk::ObjectType,
    /// The instance or device that it was created from.
    pub(super) parent: u64,
    /// The pool or swapchain that frees it implicitly, or 0.
    pub(super) owner: u64,
    pub(super) name: String,
    pub(super) alive: bool,
    pub(super) data: Box<dyn Any + Send>,
}

/// An object that was not destroyed before its device or instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leak {
    /// Its type.
    pub kind: vk::ObjectType,
    /// Its handle.
    pub handle: u64,
    /// Its debug name; empty when it has none.
    pub name: String,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) objects: HashMap<u64, Object>,
    pub(super) errors: Vec<String>,
    pub(super) leaks: Vec<Leak>,
    pub(super) enabled: Vec<EnabledDevice>,
    pub(super) failures: Vec<Failure>,
    pub(super) calls: HashMap<&'static str, u64>,
    pub(super) submissions: Vec<Submission>,
    /// Submissions that have not finished (only with `NoopDesc::defer`).
    pub(super) pending: Vec<super::queue::Pending>,
    /// The checkpoint that was set last.
    pub(super) checkpoint: Option<u64>,
    /// Bytes allocated per (physical device, heap).
    pub(super) heap_used: HashMap<(usize, u32), u64>,
    /// Ticks of the last timestamp written.
    pub(super) last_tick: u64,
    /// The next fake device address, and the next handle.
    pub(super) next_address: u64,
    next: u64,
    /// Dispatchable objects: their handles are pointers, so they stay until the driver goes.
    pub(super) dispatchable: Vec<Box<dyn Any + Send>>,
}

impl State {
    pub(super) fn error(&mut self, message: String) {
        self.errors.push(message);
    }

    /// Makes a non-dispatchable object and its handle.
    pub(super) fn create<T: Handle>(&mut self, parent: impl Handle, data: impl Any + Send) -> T {
        self.create_owned(parent, 0, data)
    }

    /// [`State::create`] for an object that `owner` frees.
    pub(super) fn create_owned<T: Handle>(
        &mut self,
        parent: impl Handle,
        owner: u64,
        data: impl Any + Send,
    ) -> T {
        let raw = self.next;
        self.next += 0x10;
        self.register::<T>(raw, parent.as_raw(), owner, data)
    }

    /// Enters an object with a handle of its own (dispatchable ones).
    pub(super) fn register<T: Handle>(
        &mut self,
        raw: u64,
        parent: u64,
        owner: u64,
        data: impl Any + Send,
    ) -> T {
        let object = Object {
            kind: T::TYPE,
            parent,
            owner,
            name: String::new(),
            alive: true,
            data: Box::new(data),
        };
        self.objects.insert(raw, object);
        T::from_raw(raw)
    }

    /// The data of a live object; an error naming `function` is kept when there is none.
    pub(super) fn data<D: Any>(
        &mut self,
        handle: impl Handle + Copy,
        function: &str,
    ) -> Option<&mut D> {
        if !self.check(handle, function) {
            return None;
        }
        self.objects.get_mut(&handle.as_raw())?.data.downcast_mut()
    }

    /// The data of an object, alive or not, without a check.
    pub(super) fn peek<D: Any>(&self, handle: impl Handle) -> Option<&D> {
        self.objects.get(&handle.as_raw())?.data.downcast_ref()
    }

    /// Whether a handle is a live object of its type; an error is kept when not.
    pub(super) fn check<T: Handle>(&mut self, handle: T, function: &str) -> bool {
        self.check_raw(T::TYPE, handle.as_raw(), function)
    }

    pub(super) fn check_raw(&mut self, kind: vk::ObjectType, raw: u64, function: &str) -> bool {
        let wrong = match self.objects.get(&raw) {
            Some(object) if object.kind != kind => format!("is {}", describe(object, raw)),
            Some(object) if !object.alive => format!("was destroyed: {}", describe(object, raw)),
            Some(_) => return true,
            None => "is no handle of this driver".to_owned(),
        };
        self.error(format!("{function}: {kind:?} {raw:#x} {wrong}"));
        false
    }

    /// Ends an object. The null handle is allowed; a second end is an error.
    pub(super) fn destroy<T: Handle>(&mut self, handle: T, function: &str) {
        let raw = handle.as_raw();
        if raw == 0 || !self.check_raw(T::TYPE, raw, function) {
            return;
        }
        if self
            .pending
            .iter()
            .any(|pending| pending.uses.contains(&raw))
        {
            let what = self
                .objects
                .get(&raw)
                .map(|object| describe(object, raw))
                .unwrap_or_default();
            self.error(format!(
                "{function}: {what} is in use by a submission that has not finished"
            ));
        }
        self.end(raw);
        use vk::ObjectType as O;
        if !matches!(
            T::TYPE,
            O::COMMAND_POOL | O::DESCRIPTOR_POOL | O::SWAPCHAIN_KHR
        ) {
            return;
        }
        self.end_owned(raw);
    }

    /// Ends what a pool or swapchain owns.
    pub(super) fn end_owned(&mut self, owner: u64) {
        let owned: Vec<u64> = self
            .objects
            .iter()
            .filter(|(_, o)| o.alive && o.owner == owner)
            .map(|(&handle, _)| handle)
            .collect();
        for handle in owned {
            self.end(handle);
        }
    }

    fn end(&mut self, raw: u64) {
        if let Some(object) = self.objects.get_mut(&raw) {
            object.alive = false;
            // Layouts are needed to judge commands recorded with them, also after their end.
            if !matches!(
                object.kind,
                vk::ObjectType::PIPELINE_LAYOUT | vk::ObjectType::PIPELINE
            ) {
                object.data = Box::new(());
            }
        }
    }

    /// Keeps as leaks all objects that should have been destroyed before `parent`, and ends them.
    pub(super) fn end_children(&mut self, parent: u64) {
        let mut children: Vec<u64> = self
            .objects
            .iter()
            .filter(|(_, o)| o.alive && o.parent == parent)
            .map(|(&handle, _)| handle)
            .collect();
        children.sort_unstable();
        for handle in children {
            let implicit = |o: &Object| {
                o.owner != 0
                    || matches!(
                        o.kind,
                        vk::ObjectType::QUEUE | vk::ObjectType::PHYSICAL_DEVICE
                    )
            };
            if let Some(object) = self.objects.get(&handle).filter(|object| !implicit(object)) {
                let leak = Leak {
                    kind: object.kind,
                    handle,
                    name: object.name.clone(),
                };
                self.leaks.push(leak);
            }
            self.end(handle);
        }
    }
}

/// Type, handle and name of an object, for messages.
pub(super) fn describe(object: &Object, raw: u64) -> String {
    format!("{:?} {raw:#x} '{}'", object.kind, object.name)
}
