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
    SCOPES, STAGE_OF, STAGES, Scopes, WRITE_INDEX, WRITE_SCOPES, WRITES, bits, vk_access,
    vk_stages, widen,
};
use ash::vk;

/// Names a tracked resource: an index that is used again after a drop, and a generation that tells the users apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ResourceId {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

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

#[derive(Clone, Copy, Default)]
struct State {
    generation: u32,
    /// Scopes of the last pass that wrote; 0 when never written.
    write_scopes: u32,
    write_at: u32,
    /// Stages that have read since; with `read_at` by stage.
    read_stages: u16,
    /// Whether a pass after the writing one has read.
    read_since: bool,
    read_at: [u32; STAGES],
}

/// A row of the tables: one number per stage, or per scope that writes. Padded so that rows are joined by vector
/// instructions.
type Row = [u32; 12];

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
    now: u32,
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
    pub(crate) fn pass(&mut self, accesses: &[(ResourceId, Scopes)]) -> Barrier {
        let mut barrier = Barrier::default();
        for &(resource, scopes) in accesses {
            self.check(resource, scopes.0, &mut barrier);
        }
        if !barrier.is_empty() {
            self.apply(barrier);
        }
        for &(resource, scopes) in accesses {
            self.note(resource, scopes);
        }
        self.now += 1;
        barrier
    }

    /// Whether sequence numbers are about to run out: the caller then records a full barrier, after which counting
    /// starts anew.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.now >= u32::MAX - 1
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

    fn state(&mut self, resource: ResourceId) -> &mut State {
        let index = resource.index as usize;
        if index >= self.states.len() {
            self.states.resize(index + 1, State::default());
        }
        let state = &mut self.states[index];
        if state.generation != resource.generation {
            *state = State {
                generation: resource.generation,
                ..State::default()
            };
        }
        state
    }

    fn check(&mut self, resource: ResourceId, scopes: u32, barrier: &mut Barrier) {
        // Not by `state`, which would hold on to all of `self`.
        let Some(state) = self.states.get(resource.index as usize) else {
            return;
        };
        let writes = scopes & WRITE_SCOPES;
        let untouched = state.write_scopes == 0 && (writes == 0 || state.read_stages == 0);
        if state.generation != resource.generation || untouched {
            return;
        }
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
                    barrier.src_stages |= 1 << STAGE_OF[write];
                    barrier.src_scopes |= 1 << write;
                    barrier.dst_stages |= 1 << STAGE_OF[scope];
                    barrier.dst_scopes |= 1 << scope;
                }
            }
        }
        if writes != 0 {
            for read in bits(u32::from(state.read_stages)) {
                for scope in bits(writes) {
                    let stage = STAGE_OF[scope] as usize;
                    if self.executed[stage][read] < state.read_at[read] {
                        barrier.src_stages |= 1 << read;
                        barrier.dst_stages |= 1 << stage;
                    }
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
        // What was ordered before a source stage is, by the chain, ordered before the target stages.
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

    fn note(&mut self, resource: ResourceId, scopes: Scopes) {
        let now = self.now;
        let state = self.state(resource);
        let writes = scopes.writes();
        if !writes.is_empty() {
            if state.write_at == now {
                state.write_scopes |= writes.0;
            } else {
                // Reads by this very pass, noted before, stay; older ones are ordered before the write.
                state.write_scopes = writes.0;
                state.write_at = now;
                state.read_since = false;
                for stage in bits(u32::from(state.read_stages)) {
                    if state.read_at[stage] != now {
                        state.read_stages &= !(1 << stage);
                    }
                }
            }
        }
        for scope in bits(scopes.reads().0) {
            let stage = STAGE_OF[scope] as usize;
            state.read_stages |= 1 << stage;
            state.read_at[stage] = now;
            state.read_since |= state.write_at != now;
        }
    }
}
