//! The hazard tracker: decides which barrier a pass needs.
//!
//! Every pass has a sequence number. The tracker knows, per resource, the last write and the reads since, and per pair
//! of scopes up to which sequence number the device has already been told to order work. A barrier is global, so what
//! one resource needed also serves every other one that was written before it: the tables remember that, chains of
//! barriers included, and nothing is asked for twice.
//!
//! Granularity is the whole resource. Rules (Vulkan 1.3, "Synchronization and cache control"):
//! read after write needs availability and visibility; write after write the same; write after read needs order only;
//! read after read needs nothing.

use super::scope::{
    SCOPES, STAGE_BIT, STAGE_OF, STAGES, Scopes, WRITE_INDEX, WRITE_SCOPES, WRITES, bits,
    vk_access, vk_stages, widen,
};
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

/// Sequence number of a pass. Signed, since that is what every processor compares by vectors.
type Number = i32;

/// How a pass touches a resource.
pub(crate) type Access = (ResourceId, Scopes);

/// A memory barrier that a pass must be preceded by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Barrier {
    src_stages: u16,
    src_scopes: u32,
    dst_stages: u16,
    dst_scopes: u32,
}

impl Barrier {
    pub(crate) fn is_empty(self) -> bool {
        self.src_stages == 0
    }

    pub(crate) fn to_vk(self) -> vk::MemoryBarrier2<'static> {
        vk::MemoryBarrier2::default()
            .src_stage_mask(vk_stages(self.src_stages))
            .src_access_mask(vk_access(self.src_scopes))
            .dst_stage_mask(vk_stages(self.dst_stages))
            .dst_access_mask(vk_access(self.dst_scopes))
    }
}

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
    /// Whether a pass after the writing one has read.
    read_since: bool,
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
            read_since: false,
            read_at: [0; STAGES],
        }
    }

    /// Enters how the pass of number `now` touches the resource.
    #[inline]
    fn note(&mut self, scopes: Scopes, now: Number) {
        let writes = scopes.writes();
        if !writes.is_empty() {
            self.note_write(writes, now);
        }
        for scope in bits(scopes.reads().0) {
            let stage = STAGE_OF[scope] as usize;
            self.read_stages |= STAGE_BIT[scope];
            self.read_at[stage] = now;
            self.read_since |= self.write_at != now;
            self.in_order &= !WRITE_SCOPES;
        }
    }

    fn note_write(&mut self, writes: Scopes, now: Number) {
        self.in_order = 0;
        if self.write_at == now {
            self.write_scopes |= writes.0;
            return;
        }
        self.write_scopes = writes.0;
        self.write_at = now;
        self.read_since = false;
        // Reads by this very pass, noted before, stay; older ones are ordered before the write.
        for stage in bits(u32::from(self.read_stages)) {
            if self.read_at[stage] != now {
                self.read_stages &= !(1 << stage);
            }
        }
    }
}

/// A row of the tables: one number per stage, or per scope that writes. Padded so that rows are joined by vector
/// instructions.
type Row = [Number; 12];

const _: () = assert!(STAGES <= 12 && WRITES <= 12);

/// Raises each number of `row` to at least that of `other`.
fn raise(row: &mut Row, other: &Row) {
    for (number, other) in row.iter_mut().zip(other) {
        *number = (*number).max(*other);
    }
}

/// Tracks hazards over all passes of one queue.
pub(crate) struct Tracker {
    states: Vec<State>,
    /// Sequence number of the pass being prepared.
    now: Number,
    /// `executed[b][a]`: work of stage `a` up to this number is ordered before later work of stage `b`.
    executed: [Row; STAGES],
    /// `available[b][w]`: writes of scope `w` up to this number are available, and ordered before stage `b`.
    available: [Row; STAGES],
    /// `visible[d][w]`: writes of scope `w` up to this number are visible to scope `d`.
    visible: [Row; SCOPES],
}

impl Default for Tracker {
    fn default() -> Self {
        Tracker {
            states: Vec::new(),
            now: 1,
            executed: [Row::default(); STAGES],
            available: [Row::default(); STAGES],
            visible: [Row::default(); SCOPES],
        }
    }
}

impl Tracker {
    /// Takes the accesses of one pass, gives the barrier that must come before it, and counts the pass as done.
    /// A resource may be named several times.
    pub(crate) fn pass(&mut self, accesses: &[Access]) -> Barrier {
        let mut barrier = Barrier::default();
        for &(resource, scopes) in accesses {
            let index = resource.index as usize;
            match self.states.get_mut(index) {
                Some(state) if state.generation == resource.generation => {
                    let asked = scopes.0 & !state.in_order;
                    if asked != 0 {
                        // After the barrier of this pass they will be.
                        state.in_order |= asked;
                        self.check(index, asked, &mut barrier);
                    }
                }
                _ => self.add(resource),
            }
        }
        if !barrier.is_empty() {
            self.apply(barrier);
        }
        for &(resource, scopes) in accesses {
            // There since the first loop.
            if let Some(state) = self.states.get_mut(resource.index as usize) {
                state.note(scopes, self.now);
            }
        }
        self.now += 1;
        barrier
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

    /// Whether sequence numbers are about to run out: the caller then records a full barrier, after which counting
    /// starts anew.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.now >= Number::MAX - 1
    }

    /// Counts a full barrier (all commands, all memory) before the pass being prepared.
    pub(crate) fn full_barrier(&mut self) {
        if self.is_exhausted() {
            *self = Tracker::default();
            return;
        }
        let done = self.now - 1;
        self.executed = [[done; 12]; STAGES];
        self.available = [[done; 12]; STAGES];
        self.visible = [[done; 12]; SCOPES];
    }

    /// Adds to the barrier what must come between what was done to a resource and an access to it.
    #[inline(never)]
    fn check(&self, index: usize, scopes: u32, barrier: &mut Barrier) {
        let Some(state) = self.states.get(index) else {
            return;
        };
        // Reads since the last write were ordered after it, and the new write is ordered after them below; so order
        // after the write itself follows by the chain.
        let after_write = if state.read_since {
            scopes & !WRITE_SCOPES
        } else {
            scopes
        };
        for write in bits(state.write_scopes) {
            let column = WRITE_INDEX[write] as usize;
            for scope in bits(after_write) {
                if self.visible[scope][column] < state.write_at {
                    barrier.src_stages |= STAGE_BIT[write];
                    barrier.src_scopes |= 1 << write;
                    barrier.dst_stages |= STAGE_BIT[scope];
                    barrier.dst_scopes |= 1 << scope;
                }
            }
        }
        for read in bits(u32::from(state.read_stages)) {
            for scope in bits(scopes & WRITE_SCOPES) {
                let stage = STAGE_OF[scope] as usize;
                if self.executed[stage][read] < state.read_at[read] {
                    barrier.src_stages |= 1 << read;
                    barrier.dst_stages |= 1 << stage;
                }
            }
        }
    }

    /// Enters a barrier into the tables.
    fn apply(&mut self, barrier: Barrier) {
        let done = self.now - 1;
        let sources = u32::from(barrier.src_stages);
        if barrier.src_stages == barrier.dst_stages && sources.is_power_of_two() {
            // Most barriers: one stage waits for itself, so there is no chain to follow.
            let stage = sources.trailing_zeros() as usize;
            self.executed[stage][stage] = done;
            for write in bits(barrier.src_scopes) {
                self.available[stage][WRITE_INDEX[write] as usize] = done;
            }
            for target in bits(barrier.dst_scopes) {
                raise(&mut self.visible[target], &self.available[stage]);
            }
            return;
        }
        self.apply_chain(barrier, done);
    }

    /// What was ordered before a source stage is, by the chain, ordered before the target stages.
    #[inline(never)]
    fn apply_chain(&mut self, barrier: Barrier, done: Number) {
        let sources = u32::from(barrier.src_stages);
        let (mut executed, mut available) = (Row::default(), Row::default());
        for source in bits(sources) {
            raise(&mut executed, &self.executed[source]);
            raise(&mut available, &self.available[source]);
        }
        for source in bits(sources) {
            executed[source] = done;
        }
        for write in bits(widen(barrier.src_scopes, barrier.src_stages) & WRITE_SCOPES) {
            available[WRITE_INDEX[write] as usize] = done;
        }
        for target in bits(u32::from(barrier.dst_stages)) {
            raise(&mut self.executed[target], &executed);
            raise(&mut self.available[target], &available);
        }
        for target in bits(widen(barrier.dst_scopes, barrier.dst_stages)) {
            raise(&mut self.visible[target], &available);
        }
    }
}
