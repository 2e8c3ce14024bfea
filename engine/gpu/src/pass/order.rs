//! The barriers recorded so far: which work they have put in order for the device, and what they have made visible.
//!
//! A barrier is global, so what one resource needed also serves every other one that was written before it: the tables
//! remember that, chains of barriers included, and nothing is asked for twice.

use super::scope::{
    SCOPES, STAGES, WRITE_INDEX, WRITE_SCOPES, WRITES, bits, stages_of, vk_access, vk_stages, widen,
};
use ash::vk;

/// Sequence number of a pass. Signed, since that is what every processor compares by vectors.
pub(crate) type Number = i32;

/// A memory barrier that a pass must be preceded by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Barrier {
    /// What has been written, and who looks at it.
    pub(crate) src_scopes: u32,
    pub(crate) dst_scopes: u32,
    /// Stages that are only waited for.
    pub(crate) src_stages: u16,
}

impl Barrier {
    /// Does what both do.
    #[inline]
    pub(crate) fn union(self, other: Barrier) -> Barrier {
        Barrier {
            src_scopes: self.src_scopes | other.src_scopes,
            dst_scopes: self.dst_scopes | other.dst_scopes,
            src_stages: self.src_stages | other.src_stages,
        }
    }

    pub(crate) fn is_empty(self) -> bool {
        self.src_scopes == 0 && self.src_stages == 0
    }

    /// All stages that it waits for, and all that wait.
    fn stages(self) -> (u16, u16) {
        (
            self.src_stages | stages_of(self.src_scopes),
            stages_of(self.dst_scopes),
        )
    }

    fn to_vk(self) -> vk::MemoryBarrier2<'static> {
        let (sources, targets) = self.stages();
        vk::MemoryBarrier2::default()
            .src_stage_mask(vk_stages(sources))
            .src_access_mask(vk_access(self.src_scopes))
            .dst_stage_mask(vk_stages(targets))
            .dst_access_mask(vk_access(self.dst_scopes))
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

/// What the barriers recorded so far have put in order.
#[derive(Default)]
pub(crate) struct Order {
    /// The last barrier, as it is and in Vulkan's terms.
    last: Barrier,
    last_vk: vk::MemoryBarrier2<'static>,
    /// The number of the last pass before the last barrier: nothing is in order yet with what came after that pass.
    up_to: Number,
    /// Whether the last barrier is not in the tables yet. It goes there when they are next asked or another one follows:
    /// passes in a row mostly need the same one, and all of those together do no more than the last of them does.
    pending: bool,
    /// `executed[b][a]`: work of stage `a` up to this number is ordered before later work of stage `b`.
    executed: [Row; STAGES],
    /// `available[b][w]`: writes of scope `w` up to this number are available, and ordered before stage `b`.
    available: [Row; STAGES],
    /// `visible[d][w]`: writes of scope `w` up to this number are visible to scope `d`.
    visible: [Row; SCOPES],
}

impl Order {
    /// Whether no barrier has been recorded since pass `at`, so that nothing is in order with it yet.
    #[inline]
    pub(crate) fn has_none_since(&self, at: Number) -> bool {
        self.up_to < at
    }

    /// Whether `scope` sees what scope `write` wrote in pass `at`.
    #[inline]
    pub(crate) fn is_visible(&mut self, write: usize, at: Number, scope: usize) -> bool {
        !self.has_none_since(at) && {
            self.enter_pending();
            self.visible[scope][WRITE_INDEX[write] as usize] >= at
        }
    }

    /// Whether stage `after` comes after what stage `before` did in pass `at`.
    #[inline]
    pub(crate) fn is_after(&mut self, before: usize, at: Number, after: usize) -> bool {
        !self.has_none_since(at) && {
            self.enter_pending();
            self.executed[after][before] >= at
        }
    }

    /// Counts a barrier after the pass of number `done`, and gives it in Vulkan's terms.
    #[inline]
    pub(crate) fn add(&mut self, barrier: Barrier, done: Number) -> &vk::MemoryBarrier2<'static> {
        if barrier != self.last {
            self.change(barrier);
        }
        self.pending = true;
        self.up_to = done;
        &self.last_vk
    }

    #[inline(never)]
    fn change(&mut self, barrier: Barrier) {
        self.enter_pending();
        self.last = barrier;
        self.last_vk = barrier.to_vk();
    }

    /// Counts a full barrier (all commands, all memory) after the pass of number `done`.
    #[inline(never)]
    pub(crate) fn add_full(&mut self, done: Number) {
        self.pending = false;
        self.up_to = done;
        self.executed = [[done; 12]; STAGES];
        self.available = [[done; 12]; STAGES];
        self.visible = [[done; 12]; SCOPES];
    }

    #[inline]
    fn enter_pending(&mut self) {
        if self.pending {
            self.pending = false;
            self.enter();
        }
    }

    /// Enters the last barrier into the tables. What was ordered before a source stage is, by the chain, ordered before the
    /// target stages.
    #[inline(never)]
    fn enter(&mut self) {
        let (barrier, done) = (self.last, self.up_to);
        let (sources, targets) = barrier.stages();
        let (mut executed, mut available) = (Row::default(), Row::default());
        for source in bits(u32::from(sources)) {
            raise(&mut executed, &self.executed[source]);
            raise(&mut available, &self.available[source]);
        }
        for source in bits(u32::from(sources)) {
            executed[source] = done;
        }
        for write in bits(widen(barrier.src_scopes, sources) & WRITE_SCOPES) {
            available[WRITE_INDEX[write] as usize] = done;
        }
        for target in bits(u32::from(targets)) {
            raise(&mut self.executed[target], &executed);
            raise(&mut self.available[target], &available);
        }
        for target in bits(widen(barrier.dst_scopes, targets)) {
            raise(&mut self.visible[target], &available);
        }
    }
}
