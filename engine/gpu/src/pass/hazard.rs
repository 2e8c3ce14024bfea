//! The hazard tracker: decides which barrier a pass needs.
//!
//! Every pass has a sequence number. The tracker knows, per resource, the last write and the reads since; which of them
//! the device has already been told to order, [`Order`] knows.
//!
//! Granularity is the whole resource. Rules (Vulkan 1.3, "Synchronization and cache control"):
//! read after write needs availability and visibility; write after write the same; write after read needs order only;
//! read after read needs nothing. A write after a read is made to see the write before it all the same: order would do for a
//! device, but not for validation layers that overlook the read, as all of them do those of mesh shaders and through addresses.

use super::order::{Barrier, Number, Order};
use super::scope::{STAGE_BIT, STAGE_OF, STAGES, Scopes, WRITE_SCOPES, bits};
use ash::vk;

/// Names a tracked resource: an index that is used again after a drop, and a generation that tells the users apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ResourceId {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

impl ResourceId {
    /// No resource.
    pub(crate) const NONE: ResourceId = ResourceId {
        index: 0,
        generation: 0,
    };
}

/// How a pass touches a resource.
pub(crate) type Access = (ResourceId, Scopes);

/// What is known of one resource: a cache line, so that a pass touches one for each.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct State {
    generation: u32,
    /// Scopes of the last pass that wrote; 0 when never written.
    write_scopes: u32,
    write_at: Number,
    /// Scopes for which the tables need not be asked: they were found to be in order after all that was noted here, and it
    /// stays so until more is. All of them for a resource that was never touched.
    in_order: u32,
    /// Stages that have read since; with `read_at` by stage.
    read_stages: u16,
    read_at: [Number; STAGES],
}

const _: () = assert!(size_of::<State>() == 64);

impl State {
    fn new(generation: u32) -> State {
        State {
            generation,
            write_scopes: 0,
            write_at: 0,
            in_order: u32::MAX,
            read_stages: 0,
            read_at: [0; STAGES],
        }
    }

    /// Enters how the pass of number `now` touches the resource.
    #[inline]
    fn note(&mut self, scopes: Scopes, now: Number) {
        let (reads, writes) = (scopes.reads(), scopes.writes());
        if !writes.is_empty() {
            self.note_write(writes, now);
        }
        if !reads.is_empty() {
            self.in_order &= !WRITE_SCOPES;
            for scope in bits(reads.0) {
                let stage = usize::from(STAGE_OF[scope]);
                self.read_stages |= STAGE_BIT[scope];
                self.read_at[stage] = now;
            }
        }
    }

    #[inline]
    fn note_write(&mut self, writes: Scopes, now: Number) {
        self.in_order = 0;
        if self.write_at == now {
            self.write_scopes |= writes.0;
            return;
        }
        self.write_scopes = writes.0;
        self.write_at = now;
        // Reads by this very pass, noted before, stay; older ones are ordered before the write.
        for stage in bits(u32::from(self.read_stages)) {
            if self.read_at[stage] != now {
                self.read_stages &= !(1 << stage);
            }
        }
    }

    /// What must come between what was done to the resource and an access to it.
    #[inline]
    fn check(&self, scopes: u32, order: &mut Order) -> Barrier {
        if !order.has_none_since(self.write_at) {
            return self.check_each(scopes, order);
        }
        // Nothing is in order with the write, nor with the reads after it.
        Barrier {
            src_scopes: self.write_scopes,
            dst_scopes: scopes,
            src_stages: if scopes & WRITE_SCOPES != 0 {
                self.read_stages
            } else {
                0
            },
        }
    }

    #[inline(never)]
    fn check_each(&self, scopes: u32, order: &mut Order) -> Barrier {
        let mut barrier = Barrier::default();
        let readers = bits(u32::from(self.read_stages))
            .filter(|stage| self.read_at[*stage] > self.write_at)
            .fold(0, |stages, stage| stages | 1 << stage);
        for write in bits(self.write_scopes) {
            for scope in bits(scopes) {
                if order.is_visible(write, self.write_at, scope) {
                    continue;
                }
                barrier.dst_scopes |= 1 << scope;
                if 1 << scope & WRITE_SCOPES != 0 && readers != 0 {
                    // What they saw is available where they are, so order after them is enough.
                    barrier.src_stages |= readers;
                } else {
                    barrier.src_scopes |= 1 << write;
                }
            }
        }
        for read in bits(u32::from(self.read_stages)) {
            for scope in bits(scopes & WRITE_SCOPES) {
                let stage = usize::from(STAGE_OF[scope]);
                if !order.is_after(read, self.read_at[read], stage) {
                    barrier.src_stages |= 1 << read;
                    barrier.dst_scopes |= 1 << scope;
                }
            }
        }
        barrier
    }
}

/// Tracks hazards over all passes of one queue.
pub(crate) struct Tracker {
    states: Vec<State>,
    /// Sequence number of the pass being prepared.
    now: Number,
    order: Order,
}

impl Default for Tracker {
    fn default() -> Self {
        Tracker {
            states: Vec::new(),
            now: 1,
            order: Order::default(),
        }
    }
}

impl Tracker {
    /// Takes the accesses of one pass, gives the barrier that must come before it, and counts the pass as done.
    /// A resource may be named several times.
    #[inline(always)]
    pub(crate) fn pass(&mut self, accesses: &[Access]) -> Option<&vk::MemoryBarrier2<'static>> {
        let mut barrier = Barrier::default();
        for &(resource, scopes) in accesses {
            match self.states.get_mut(resource.index as usize) {
                Some(state) if state.generation == resource.generation => {
                    let asked = scopes.0 & !state.in_order;
                    if asked != 0 {
                        // After the barrier of this pass they will be.
                        state.in_order |= asked;
                        barrier = barrier.union(state.check(asked, &mut self.order));
                    }
                }
                _ => self.add(resource),
            }
        }
        let now = self.now;
        let states = self.states.as_mut_slice();
        for &(resource, scopes) in accesses {
            // There since the first loop.
            if let Some(state) = states.get_mut(resource.index as usize) {
                state.note(scopes, now);
            }
        }
        self.now = now + 1;
        (!barrier.is_empty()).then(|| self.order.add(barrier, now - 1))
    }

    /// Begins to track a resource.
    #[cold]
    fn add(&mut self, resource: ResourceId) {
        let index = resource.index as usize;
        if index >= self.states.len() {
            self.states.resize(index + 1, State::new(0));
        }
        self.states[index] = State::new(resource.generation);
    }

    /// The number of the pass being prepared.
    pub(crate) fn now(&self) -> Number {
        self.now
    }

    /// Whether sequence numbers are about to run out: the caller then records a full barrier, after which counting
    /// starts anew.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.now >= Number::MAX - 1
    }

    /// Counts a full barrier (all commands, all memory) before the pass being prepared.
    pub(crate) fn full_barrier(&mut self) {
        if self.is_exhausted() {
            *self = Tracker::default();
        } else {
            self.order.add_full(self.now - 1);
        }
    }
}
