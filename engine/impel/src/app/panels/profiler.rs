//! Profiler: puffin's flame graph, with the GPU in it.

use egui::Ui;
use impel_gpu::Profiler;
use puffin_egui::{MaybeMutRef, ProfilerUi};

/// The flame graph, with the GPU above the CPU: it has two rows, and fits at any size.
pub(super) fn flames() -> ProfilerUi {
    let mut flames = ProfilerUi::default();
    // By when they begin, last first: the GPU comes after the CPU that asked for it.
    flames.flamegraph_options.sorting.reversed = true;
    flames
}

pub(super) fn show(ui: &mut Ui, flames: &mut ProfilerUi, profiler: Option<&Profiler>) {
    // Else the panel shrinks to what it happens to hold.
    ui.set_min_height(ui.available_height());
    match profiler {
        Some(profiler) => {
            let mut view = profiler.view();
            flames.ui(ui, &mut MaybeMutRef::MutRef(&mut view));
        }
        // Collecting begins after this frame.
        None => {
            ui.label("Collecting begins.");
        }
    }
}
