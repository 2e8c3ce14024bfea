//! Recording a pass allocates nothing on the heap once the lists have grown to size.

mod common;
#[path = "shaders/src/generated/mod.rs"]
#[allow(dead_code, unreachable_pub, missing_docs)]
mod programs;

use common::{color, compute, depth, graphics, noop_with, storage};
use impel_gpu::noop::NoopDesc;
use impel_gpu::{Color, Depth, Frame, GpuDesc, Load, PassDesc, ResourceRef, Scopes};
use programs::{add, touch_vertex, triangle};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Counts the allocations of each thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: all is handed on to the system's allocator; a counter of the thread without a destructor allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise.
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn allocations(run: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    run();
    ALLOCATIONS.get() - before
}

const PASSES: usize = 1000;

/// Allocations of 1,000 passes in a frame, after frames that have let the lists grow.
fn in_the_steady_state(gpu: &common::Noop, mut pass: impl FnMut(&mut Frame, usize)) -> u64 {
    let mut counted = u64::MAX;
    for _ in 0..4 {
        let mut frame = gpu.begin_frame().unwrap();
        counted = allocations(|| {
            for i in 0..PASSES {
                pass(&mut frame, i);
            }
        });
        frame.submit().unwrap();
    }
    counted
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))), 1);
    assert_eq!(allocations(|| ()), 0);
}

#[test]
fn passes_allocate_nothing_in_either_tier() {
    let gpu = noop_with(NoopDesc::quiet(), &GpuDesc::default());
    let adds = compute(&gpu, "add", add::SHADERS);
    let buffers: Vec<_> = (0..8)
        .map(|i| storage(&gpu, &format!("buffer {i}"), 256))
        .collect();
    let push = add::Push {
        count: 64,
        factor: 1,
        offset: 2,
        reserved: 0,
    };
    // Each pass reads what the one before wrote, so that each has a barrier.
    let bound = |i: usize| [0, 1, 2].map(|k| &buffers[(i + k) % 8]);

    let upper = in_the_steady_state(&gpu, |frame, i| {
        let [a, b, c] = bound(i);
        frame
            .compute("compute, upper tier", &adds)
            .bind(add::Bindings {
                a: a.whole(),
                b: b.whole(),
                c: c.whole(),
            })
            .push(&push)
            .dispatch_threads([64, 1, 1])
            .unwrap();
    });
    let by_name = in_the_steady_state(&gpu, |frame, i| {
        let [a, b, c] = bound(i);
        frame
            .compute("compute, by name", &adds)
            .bind([("A", a.whole()), ("B", b.whole()), ("C", c.whole())])
            .push(&push)
            .reads(&buffers[(i + 5) % 8])
            .dispatch_indirect(&buffers[7 - i % 8], 0)
            .unwrap();
    });
    let lower = in_the_steady_state(&gpu, |frame, i| {
        let [a, b, c] = bound(i);
        let desc = PassDesc {
            name: "compute, lower tier",
            pipeline: Some(&adds),
            bindings: &[a.whole(), b.whole(), c.whole()],
            push_constants: bytemuck::bytes_of(&push),
            accesses: &[(buffers[(i + 5) % 8].id(), Scopes::TRANSFER_WRITE)],
            ..Default::default()
        };
        // SAFETY: the pass has bound what the pipeline needs.
        frame
            .pass(&desc, |raw| unsafe {
                raw.device.cmd_dispatch(raw.commands, 1, 1, 1);
            })
            .unwrap();
    });
    assert_eq!(
        (upper, by_name, lower),
        (0, 0, 0),
        "in {PASSES} compute passes"
    );

    let draws = graphics(&gpu, "triangle", triangle::SHADERS);
    let touches = graphics(&gpu, "touch", touch_vertex::SHADERS);
    let (target, deep) = (color(&gpu, "target"), depth(&gpu, "deep"));
    let upper = in_the_steady_state(&gpu, |frame, i| {
        let [a, b, _] = bound(i);
        frame
            .graphics("graphics, upper tier", &draws)
            .color(&target, Load::Load)
            .depth(&deep, Load::Load)
            .bind(triangle::Bindings { corners: a.whole() })
            .draw(3, 1)
            .unwrap();
        frame
            .graphics("graphics, indirect", &touches)
            .color(&target, Load::Load)
            .bind([a.whole(), b.whole()])
            .draw_indirect(&buffers[(i + 5) % 8], 0, 1, 16)
            .unwrap();
    });
    let lower = in_the_steady_state(&gpu, |frame, i| {
        let [a, ..] = bound(i);
        let desc = PassDesc {
            name: "graphics, lower tier",
            pipeline: Some(&draws),
            bindings: &[a.whole()],
            colors: &[Color {
                texture: &target,
                load: Load::Load,
            }],
            depth: Some(Depth {
                texture: &deep,
                load: Load::Load,
            }),
            ..Default::default()
        };
        // SAFETY: the pass has bound what the pipeline needs.
        frame
            .pass(&desc, |raw| unsafe {
                raw.device.cmd_draw(raw.commands, 3, 1, 0, 0);
            })
            .unwrap();
    });
    let transfers = in_the_steady_state(&gpu, |frame, i| {
        frame.fill(&buffers[i % 8], 0, 64, 7).unwrap();
        frame
            .copy_buffer(&buffers[i % 8], 0, &buffers[(i + 1) % 8], 64, 64)
            .unwrap();
    });
    assert_eq!(
        (upper, lower, transfers),
        (0, 0, 0),
        "in {PASSES} graphics passes"
    );
}
