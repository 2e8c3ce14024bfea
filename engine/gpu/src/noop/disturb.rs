//! Which descriptor sets are undisturbed at each draw and dispatch, by Vulkan's rule of pipeline layout compatibility.
//!
//! The rule (Vulkan 1.3, "Pipeline Layout Compatibility"): binding or pushing set N under a layout keeps the lower sets if all
//! of them were bound under layouts compatible for their numbers, and keeps the higher ones if, besides, the former set N was
//! bound under a layout compatible for N. Else they are disturbed: from then on they hold undefined descriptors, as if bound
//! under the new layout. A pipeline reaches a set if it and all lower ones were bound under layouts compatible with its own.
//! A lower set that was never bound counts as disturbed by the binding above it, and harms no other set.

use super::command::Command;
use super::layout::{PipelineLayout, SetLayout};
use super::pipeline::PipelineInfo;
use super::state::Shared;
use ash::vk;
use std::collections::HashMap;
use std::sync::Arc;

/// The descriptor sets that one draw or dispatch finds.
#[derive(Clone, Debug)]
pub struct BoundSets {
    /// Index of the draw or dispatch in the commands.
    pub command: usize,
    /// The pipeline bound; null when none is.
    pub pipeline: vk::Pipeline,
    /// Each set of the pipeline's layout that has bindings.
    pub sets: Vec<BoundSet>,
    /// Whether all push constants of the pipeline's layout were pushed, and under a layout with the same ranges.
    pub push_constants: bool,
}

impl BoundSets {
    /// Whether a pipeline is bound and finds all its sets and push constants.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.pipeline != vk::Pipeline::null()
            && self.push_constants
            && self.sets.iter().all(|set| set.state == SetState::Valid)
    }

    /// How a set is found; `None` when the pipeline has no bindings there.
    #[must_use]
    pub fn set(&self, set: u32) -> Option<SetState> {
        self.sets
            .iter()
            .find(|bound| bound.set == set)
            .map(|bound| bound.state)
    }
}

/// One set of a [`BoundSets`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoundSet {
    /// Its number.
    pub set: u32,
    /// The command that bound or pushed it last.
    pub bound_by: Option<usize>,
    /// How it is found.
    pub state: SetState,
}

/// How a draw or dispatch finds a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetState {
    /// Bound or pushed, and undisturbed.
    Valid,
    /// Nothing was ever bound or pushed there.
    Missing,
    /// Disturbed by the command of this index.
    Disturbed(usize),
    /// Undisturbed, but it or a lower set was bound under a layout that does not fit the pipeline's.
    Incompatible,
}

/// What a bind point holds for one set number.
#[derive(Clone)]
struct Slot {
    /// The layout under which it counts as bound.
    layout: Arc<PipelineLayout>,
    bound_by: Option<usize>,
    disturbed_by: Option<usize>,
}

/// One bind point.
#[derive(Default)]
struct Point {
    pipeline: vk::Pipeline,
    slots: Vec<Option<Slot>>,
}

impl Point {
    fn disturb(
        &mut self,
        sets: std::ops::Range<usize>,
        layout: &Arc<PipelineLayout>,
        command: usize,
    ) {
        for slot in self
            .slots
            .iter_mut()
            .take(sets.end)
            .skip(sets.start)
            .flatten()
        {
            slot.layout = Arc::clone(layout);
            slot.disturbed_by = slot.bound_by.map(|_| command);
        }
    }

    fn bind(&mut self, first: usize, count: usize, layout: &Arc<PipelineLayout>, command: usize) {
        let end = first + count;
        self.slots.resize(self.slots.len().max(end), None);
        let compatible = |slot: &Option<Slot>, set: usize| {
            slot.as_ref()
                .map(|slot| slot.layout.compatible_for_set(layout, set as u32))
        };
        let lower_kept = self
            .slots
            .iter()
            .take(first)
            .enumerate()
            .all(|(n, slot)| compatible(slot, n) != Some(false));
        if !lower_kept {
            self.disturb(0..first, layout, command);
        }
        // Several sets in one command are bound one after the other: each must have been compatible.
        let own = self.slots.iter().enumerate().take(end).skip(first);
        let higher_kept = lower_kept
            && own.fold(true, |all, (n, slot)| {
                all && compatible(slot, n) == Some(true)
            });
        if !higher_kept {
            self.disturb(end..self.slots.len(), layout, command);
        }
        for (number, slot) in self.slots.iter_mut().enumerate().take(end) {
            if number >= first {
                *slot = Some(Slot {
                    layout: Arc::clone(layout),
                    bound_by: Some(command),
                    disturbed_by: None,
                });
            } else if slot.is_none() {
                *slot = Some(Slot {
                    layout: Arc::clone(layout),
                    bound_by: None,
                    disturbed_by: None,
                });
            }
        }
    }

    fn state(&self, set: usize, layout: &PipelineLayout) -> BoundSet {
        let slot = self.slots.get(set).and_then(Option::as_ref);
        let bound_by = slot.and_then(|slot| slot.bound_by);
        let fits = |(number, slot): (usize, &Option<Slot>)| {
            slot.as_ref()
                .is_some_and(|slot| slot.layout.compatible_for_set(layout, number as u32))
        };
        let state = match slot {
            Some(Slot {
                disturbed_by: Some(command),
                ..
            }) => SetState::Disturbed(*command),
            Some(Slot {
                bound_by: Some(_), ..
            }) => {
                let fits = self.slots.iter().enumerate().take(set + 1).all(fits);
                if fits {
                    SetState::Valid
                } else {
                    SetState::Incompatible
                }
            }
            _ => SetState::Missing,
        };
        BoundSet {
            set: set as u32,
            bound_by,
            state,
        }
    }
}

type Ranges = Vec<(vk::ShaderStageFlags, u32, u32)>;

/// Push constants that were pushed: under which ranges, and which bytes of which stages.
#[derive(Default)]
struct Pushed {
    ranges: Ranges,
    bytes: HashMap<u32, vk::ShaderStageFlags>,
}

impl Pushed {
    fn push(
        &mut self,
        layout: &PipelineLayout,
        stages: vk::ShaderStageFlags,
        offset: u32,
        size: u32,
    ) {
        if self.ranges != layout.push_ranges {
            *self = Pushed {
                ranges: layout.push_ranges.clone(),
                bytes: HashMap::new(),
            };
        }
        for byte in offset..offset.saturating_add(size) {
            *self.bytes.entry(byte).or_default() |= stages;
        }
    }

    fn covers(&self, layout: &PipelineLayout) -> bool {
        let pushed = |&(stages, offset, size): &(vk::ShaderStageFlags, u32, u32)| {
            (offset..offset.saturating_add(size))
                .all(|b| self.bytes.get(&b).is_some_and(|s| s.contains(stages)))
        };
        layout.push_ranges.is_empty()
            || self.ranges == layout.push_ranges && layout.push_ranges.iter().all(pushed)
    }
}

fn has_bindings(set: &Option<Arc<SetLayout>>) -> bool {
    set.as_ref().is_some_and(|set| !set.bindings.is_empty())
}

/// See [`NoopDriver::bound_sets`](super::NoopDriver::bound_sets).
pub(super) fn bound_sets(shared: &Shared, commands: &[Command]) -> Vec<BoundSets> {
    let state = shared.state();
    let layout_of = |layout: vk::PipelineLayout| state.peek::<Arc<PipelineLayout>>(layout).cloned();
    let mut points: HashMap<vk::PipelineBindPoint, Point> = HashMap::new();
    let mut pushed = Pushed::default();
    let mut found = Vec::new();
    for (index, command) in commands.iter().enumerate() {
        let binds = match command {
            Command::BindDescriptorSets {
                bind_point,
                layout,
                first_set,
                sets,
                ..
            } => Some((bind_point, layout, first_set, sets.len())),
            Command::PushDescriptorSet {
                bind_point,
                layout,
                set,
                ..
            }
            | Command::PushDescriptorSetWithTemplate {
                bind_point,
                layout,
                set,
                ..
            } => Some((bind_point, layout, set, 1)),
            _ => None,
        };
        if let Some((&point, &layout, &first, count)) = binds
            && let Some(layout) = layout_of(layout)
        {
            points
                .entry(point)
                .or_default()
                .bind(first as usize, count, &layout, index);
        }
        match command {
            Command::BindPipeline {
                bind_point,
                pipeline,
            } => {
                points.entry(*bind_point).or_default().pipeline = *pipeline;
            }
            Command::PushConstants {
                layout,
                stages,
                offset,
                data,
            } => {
                if let Some(layout) = layout_of(*layout) {
                    pushed.push(&layout, *stages, *offset, data.len() as u32);
                }
            }
            // A secondary command buffer leaves all state undefined.
            Command::ExecuteCommands { .. } => {
                points.clear();
                pushed = Pushed::default();
            }
            _ => {}
        }
        let bind_point = if command.is_draw() {
            vk::PipelineBindPoint::GRAPHICS
        } else if command.is_dispatch() {
            vk::PipelineBindPoint::COMPUTE
        } else {
            continue;
        };
        let point = points.entry(bind_point).or_default();
        let info = state.peek::<Arc<PipelineInfo>>(point.pipeline);
        let layout = info.and_then(|info| layout_of(info.layout));
        let mut bound = BoundSets {
            command: index,
            pipeline: point.pipeline,
            sets: Vec::new(),
            push_constants: true,
        };
        if let Some(layout) = layout {
            let used = layout
                .sets
                .iter()
                .enumerate()
                .filter(|(_, set)| has_bindings(set));
            bound.sets = used.map(|(set, _)| point.state(set, &layout)).collect();
            bound.push_constants = pushed.covers(&layout);
        }
        found.push(bound);
    }
    found
}
