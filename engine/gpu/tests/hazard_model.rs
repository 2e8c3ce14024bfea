//! The executor against a slow, obviously right model of hazards.
//!
//! Random lists of passes over random resources go through the executor on the no-op device. The model looks at each pair
//! of an access and a later one to the same resource, follows the barriers recorded in between for that pair alone, and
//! says whether the later one is ordered after the first and sees what it wrote. It shares no table and no code with the
//! tracker. A list passes when no hazard is left, and when every barrier, with every bit of its masks, was needed.

use impel_gpu::noop::{Command, MemoryBarrier, NoopDesc, NoopDriver};
use impel_gpu::{
    Buffer, BufferDesc, Gpu, GpuDesc, PassDesc, ResourceRef, Scopes, ShaderAccess, Stage, vk,
};

/// One way of touching a resource, in Vulkan's own terms.
#[derive(Clone, Copy, Debug)]
struct Access {
    stage: vk::PipelineStageFlags2,
    access: vk::AccessFlags2,
    writes: bool,
}

/// All ways, each beside the scope that the executor is told.
fn ways() -> Vec<(Scopes, Access)> {
    use vk::{AccessFlags2 as A, PipelineStageFlags2 as S};
    let mut ways = vec![
        (
            Scopes::INDIRECT_READ,
            S::DRAW_INDIRECT,
            A::INDIRECT_COMMAND_READ,
            false,
        ),
        (Scopes::INDEX_READ, S::INDEX_INPUT, A::INDEX_READ, false),
        (
            Scopes::DEPTH_READ,
            S::EARLY_FRAGMENT_TESTS | S::LATE_FRAGMENT_TESTS,
            A::DEPTH_STENCIL_ATTACHMENT_READ,
            false,
        ),
        (
            Scopes::DEPTH_WRITE,
            S::EARLY_FRAGMENT_TESTS | S::LATE_FRAGMENT_TESTS,
            A::DEPTH_STENCIL_ATTACHMENT_WRITE,
            true,
        ),
        (
            Scopes::COLOR_READ,
            S::COLOR_ATTACHMENT_OUTPUT,
            A::COLOR_ATTACHMENT_READ,
            false,
        ),
        (
            Scopes::COLOR_WRITE,
            S::COLOR_ATTACHMENT_OUTPUT,
            A::COLOR_ATTACHMENT_WRITE,
            true,
        ),
        (
            Scopes::TRANSFER_READ,
            S::ALL_TRANSFER,
            A::TRANSFER_READ,
            false,
        ),
        (
            Scopes::TRANSFER_WRITE,
            S::ALL_TRANSFER,
            A::TRANSFER_WRITE,
            true,
        ),
        (Scopes::HOST_READ, S::HOST, A::HOST_READ, false),
    ];
    for (stage, flag) in [
        (Stage::Vertex, S::VERTEX_SHADER),
        (Stage::Task, S::TASK_SHADER_EXT),
        (Stage::Mesh, S::MESH_SHADER_EXT),
        (Stage::Fragment, S::FRAGMENT_SHADER),
        (Stage::Compute, S::COMPUTE_SHADER),
    ] {
        for (kind, access, writes) in [
            (ShaderAccess::Uniform, A::UNIFORM_READ, false),
            (ShaderAccess::Sampled, A::SHADER_SAMPLED_READ, false),
            (ShaderAccess::StorageRead, A::SHADER_STORAGE_READ, false),
            (ShaderAccess::StorageWrite, A::SHADER_STORAGE_WRITE, true),
        ] {
            ways.push((Scopes::shader(stage, kind), flag, access, writes));
        }
    }
    ways.into_iter()
        .map(|(scope, stage, access, writes)| {
            (
                scope,
                Access {
                    stage,
                    access,
                    writes,
                },
            )
        })
        .collect()
}

/// What the model sees of a list: passes with their accesses, and the barriers between them.
enum Event {
    Pass(Vec<(usize, Access)>),
    Barrier(MemoryBarrier),
}

/// What barriers have done for one access so far.
#[derive(Default)]
struct Reach {
    /// Stages whose later work comes after the access.
    ordered: vk::PipelineStageFlags2,
    /// Stages whose later work comes after the access, with what it wrote available.
    available: vk::PipelineStageFlags2,
    /// Stages and accesses that see what it wrote.
    visible: Vec<(vk::PipelineStageFlags2, vk::AccessFlags2)>,
}

impl Reach {
    fn barrier(&mut self, first: Access, barrier: &MemoryBarrier) {
        let source = barrier.src_stages;
        if source.contains(first.stage) || source.intersects(self.ordered) {
            self.ordered |= barrier.dst_stages;
        }
        let names_write = source.contains(first.stage) && barrier.src_access.contains(first.access);
        if names_write || source.intersects(self.available) {
            self.available |= barrier.dst_stages;
            self.visible.push((barrier.dst_stages, barrier.dst_access));
        }
    }

    /// Whether `second` may follow `first`.
    fn permits(&self, first: Access, second: Access) -> bool {
        if !first.writes {
            return self.ordered.contains(second.stage);
        }
        // For a write that follows reads of the first, order after them would do; but there are reads that no layer sees.
        self.visible
            .iter()
            .any(|(stages, access)| stages.contains(second.stage) && access.contains(second.access))
    }
}

/// Two accesses in the wrong order, and the stages that have read what the first one wrote.
#[derive(Clone, Copy, Debug)]
struct Hazard {
    first: Access,
    second: Access,
    readers: vk::PipelineStageFlags2,
}

/// Each hazard in front of the pass at `at`; barriers for which `skip` holds do not count.
fn hazards(events: &[Event], at: usize, skip: usize) -> Vec<Hazard> {
    let Event::Pass(accesses) = &events[at] else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for &(resource, second) in accesses {
        let mut readers = vk::PipelineStageFlags2::NONE;
        // From the pass backwards: reads since the last write count for writes, the last write counts for everything.
        for (index, event) in events[..at].iter().enumerate().rev() {
            let Event::Pass(earlier) = event else {
                continue;
            };
            let touching = || {
                earlier
                    .iter()
                    .filter(|(other, _)| *other == resource)
                    .map(|(_, access)| *access)
            };
            for first in touching().filter(|first| first.writes || second.writes) {
                let mut reach = Reach::default();
                for (between, event) in events[..at].iter().enumerate().skip(index) {
                    if let (Event::Barrier(barrier), true) = (event, between != skip) {
                        reach.barrier(first, barrier);
                    }
                }
                if !reach.permits(first, second) {
                    found.push(Hazard {
                        first,
                        second,
                        readers,
                    });
                }
            }
            if touching().any(|access| access.writes) {
                break;
            }
            for read in touching() {
                readers |= read.stage;
            }
        }
    }
    found
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % below as u64) as usize
    }
}

fn events(
    commands: &[Command],
    mut accesses: impl Iterator<Item = Vec<(usize, Access)>>,
) -> Vec<Event> {
    let mut events = Vec::new();
    for command in commands {
        match command {
            Command::PipelineBarrier(dependency) => {
                assert_eq!(dependency.memory.len(), 1, "one global barrier for a pass");
                assert!(dependency.images.is_empty() && dependency.buffers.is_empty());
                assert!(
                    matches!(events.last(), None | Some(Event::Pass(_))),
                    "at most one barrier for a pass"
                );
                events.push(Event::Barrier(dependency.memory[0]));
            }
            Command::BeginLabel { .. } => {
                events.push(Event::Pass(accesses.next().expect("a pass of the list")));
            }
            _ => {}
        }
    }
    events
}

/// Checks one recorded list; gives the number of barriers.
fn check(events: &[Event], seed: u64) -> usize {
    let mut barriers = 0;
    for at in 0..events.len() {
        let left = hazards(events, at, usize::MAX);
        assert!(left.is_empty(), "list {seed}: pass {at} races: {left:?}");
        let Event::Barrier(barrier) = events[at] else {
            continue;
        };
        barriers += 1;
        let needed = hazards(events, at + 1, at);
        assert!(
            !needed.is_empty(),
            "list {seed}: the barrier at {at} was not needed: {barrier:?}"
        );
        // Each bit of the masks stands for some hazard.
        let [mut sources, mut targets] = [vk::PipelineStageFlags2::NONE; 2];
        let [mut written, mut seen] = [vk::AccessFlags2::NONE; 2];
        for Hazard {
            first,
            second,
            readers,
        } in &needed
        {
            sources |= first.stage | *readers;
            targets |= second.stage;
            seen |= second.access;
            if first.writes {
                written |= first.access;
            }
        }
        assert!(
            sources.contains(barrier.src_stages) && targets.contains(barrier.dst_stages),
            "list {seed}: stages at {at}: {barrier:?} for {needed:?}"
        );
        assert!(
            written.contains(barrier.src_access) && seen.contains(barrier.dst_access),
            "list {seed}: access at {at}: {barrier:?} for {needed:?}"
        );
    }
    barriers
}

struct Setup {
    driver: NoopDriver,
    gpu: Gpu,
    buffers: Vec<Buffer>,
}

fn setup(count: usize) -> Setup {
    let driver = NoopDriver::new(NoopDesc::default());
    let gpu = Gpu::with_entry(&GpuDesc::default(), driver.entry()).unwrap();
    let buffers = (0..count)
        .map(|i| {
            gpu.buffer(&BufferDesc::storage(&format!("buffer {i}"), 64))
                .unwrap()
        })
        .collect();
    Setup {
        driver,
        gpu,
        buffers,
    }
}

#[test]
fn a_hundred_thousand_random_lists_have_neither_hazards_nor_needless_barriers() {
    let ways = ways();
    let workers: Vec<_> = (0..2_u64)
        .map(|worker| {
            let ways = ways.clone();
            std::thread::spawn(move || run_lists(&ways, worker * 50_000..(worker + 1) * 50_000))
        })
        .collect();
    let mut totals = [0; 3];
    for worker in workers {
        let counts = worker.join().unwrap();
        totals = [
            totals[0] + counts[0],
            totals[1] + counts[1],
            totals[2] + counts[2],
        ];
    }
    let [lists, passes, barriers] = totals;
    println!("{lists} lists, {passes} passes, {barriers} barriers");
    assert_eq!(lists, 100_000);
    assert!(
        barriers > lists && barriers < passes,
        "{barriers} barriers for {passes} passes"
    );
}

/// Some hundred lists go on in one stream of frames on one device, so what earlier ones left in the tracker's tables is
/// there, too. Each has resources of its own.
fn run_lists(ways: &[(Scopes, Access)], seeds: std::ops::Range<u64>) -> [usize; 3] {
    let mut totals = [0; 3];
    let mut setup = setup(0);
    for seed in seeds {
        if seed % 200 == 0 {
            setup = self::setup(0);
        }
        let mut random = Random(seed);
        let count = 1 + random.next(4);
        let buffers: Vec<_> = (0..count)
            .map(|_| {
                setup
                    .gpu
                    .buffer(&BufferDesc::storage("buffer", 64))
                    .unwrap()
            })
            .collect();
        // Few ways per list make the same ones meet more often.
        let few: Vec<_> = (0..2 + random.next(5))
            .map(|_| ways[random.next(ways.len())])
            .collect();
        let list: Vec<Vec<(usize, (Scopes, Access))>> = (0..2 + random.next(12))
            .map(|_| {
                (0..1 + random.next(3))
                    .map(|_| (random.next(count), few[random.next(few.len())]))
                    .collect()
            })
            .collect();
        let mut frame = setup.gpu.begin_frame().unwrap();
        for pass in &list {
            let accesses: Vec<_> = pass
                .iter()
                .map(|&(buffer, (scopes, _))| (buffers[buffer].id(), scopes))
                .collect();
            frame
                .pass(
                    &PassDesc {
                        name: "pass",
                        accesses: &accesses,
                        ..Default::default()
                    },
                    |_| (),
                )
                .unwrap();
        }
        frame.submit().unwrap();
        let submissions = setup.driver.take_submissions();
        let commands: Vec<_> = submissions
            .iter()
            .flat_map(|submission| submission.commands().cloned())
            .collect();
        let accesses = list.iter().map(|pass| {
            pass.iter()
                .map(|&(buffer, (_, access))| (buffer, access))
                .collect()
        });
        totals[0] += 1;
        totals[1] += list.len();
        totals[2] += check(&events(&commands, accesses), seed);
    }
    assert_eq!(setup.driver.errors(), Vec::<String>::new());
    totals
}

/// The model itself must see what is wrong: a list whose barriers were taken away has hazards.
#[test]
fn the_model_sees_a_missing_barrier() {
    let ways = ways();
    let find = |scope: Scopes| {
        ways.iter()
            .find(|(way, _)| *way == scope)
            .map(|(_, access)| *access)
            .unwrap()
    };
    let write = find(Scopes::shader(Stage::Compute, ShaderAccess::StorageWrite));
    let read = find(Scopes::shader(Stage::Fragment, ShaderAccess::Sampled));
    let barrier = MemoryBarrier {
        src_stages: write.stage,
        src_access: write.access,
        dst_stages: read.stage,
        dst_access: read.access,
    };
    let list = |between: Option<MemoryBarrier>| {
        let mut events = vec![Event::Pass(vec![(0, write)])];
        events.extend(between.map(Event::Barrier));
        events.push(Event::Pass(vec![(0, read)]));
        let last = events.len() - 1;
        hazards(&events, last, usize::MAX).len()
    };
    assert_eq!(list(Some(barrier)), 0);
    assert_eq!(list(None), 1);
    assert_eq!(
        list(Some(MemoryBarrier {
            src_access: vk::AccessFlags2::NONE,
            ..barrier
        })),
        1,
        "not available"
    );
    assert_eq!(
        list(Some(MemoryBarrier {
            dst_access: vk::AccessFlags2::UNIFORM_READ,
            ..barrier
        })),
        1,
        "not visible"
    );
    assert_eq!(
        list(Some(MemoryBarrier {
            src_stages: vk::PipelineStageFlags2::VERTEX_SHADER,
            ..barrier
        })),
        1
    );
}

/// Barriers of the frame that `record` makes out of buffers.
fn barriers_of(record: impl FnOnce(&mut impel_gpu::Frame, &[Buffer])) -> Vec<MemoryBarrier> {
    let setup = setup(4);
    let mut frame = setup.gpu.begin_frame().unwrap();
    record(&mut frame, &setup.buffers);
    frame.submit().unwrap();
    let submissions = setup.driver.take_submissions();
    submissions
        .iter()
        .flat_map(|submission| submission.commands())
        .filter_map(|command| match command {
            Command::PipelineBarrier(dependency) => Some(dependency.memory[0]),
            _ => None,
        })
        .collect()
}

fn touch(frame: &mut impel_gpu::Frame, accesses: &[(&Buffer, Scopes)]) {
    let accesses: Vec<_> = accesses
        .iter()
        .map(|(buffer, scopes)| (buffer.id(), *scopes))
        .collect();
    frame
        .pass(
            &PassDesc {
                name: "pass",
                accesses: &accesses,
                ..Default::default()
            },
            |_| (),
        )
        .unwrap();
}

const WRITE: Scopes = Scopes::shader(Stage::Compute, ShaderAccess::StorageWrite);
const READ: Scopes = Scopes::shader(Stage::Compute, ShaderAccess::StorageRead);

#[test]
fn independent_passes_and_reads_after_reads_need_no_barrier() {
    let barriers = barriers_of(|frame, buffers| {
        touch(frame, &[(&buffers[0], WRITE)]);
        touch(frame, &[(&buffers[1], WRITE)]);
        touch(frame, &[(&buffers[2], READ)]);
        touch(frame, &[(&buffers[2], READ), (&buffers[3], WRITE)]);
    });
    assert!(barriers.is_empty(), "{barriers:?}");
}

#[test]
fn one_barrier_serves_all_resources_written_before_it() {
    let barriers = barriers_of(|frame, buffers| {
        touch(frame, &[(&buffers[0], WRITE)]);
        touch(frame, &[(&buffers[1], WRITE)]);
        touch(frame, &[(&buffers[0], READ)]);
        touch(frame, &[(&buffers[1], READ)]);
    });
    assert_eq!(barriers.len(), 1);
}

#[test]
fn a_write_after_a_read_waits_for_it_and_makes_nothing_available() {
    let barriers = barriers_of(|frame, buffers| {
        touch(frame, &[(&buffers[0], Scopes::INDIRECT_READ)]);
        touch(frame, &[(&buffers[0], WRITE)]);
    });
    assert_eq!(
        barriers,
        [MemoryBarrier {
            src_stages: vk::PipelineStageFlags2::DRAW_INDIRECT,
            src_access: vk::AccessFlags2::NONE,
            dst_stages: vk::PipelineStageFlags2::COMPUTE_SHADER,
            dst_access: vk::AccessFlags2::SHADER_STORAGE_WRITE,
        }]
    );
}

#[test]
fn an_undeclared_raw_pass_gets_full_barriers_on_both_sides_and_is_counted() {
    let setup = setup(1);
    let mut frame = setup.gpu.begin_frame().unwrap();
    touch(&mut frame, &[(&setup.buffers[0], WRITE)]);
    frame
        .pass(
            &PassDesc {
                name: "raw",
                ..Default::default()
            },
            |_| (),
        )
        .unwrap();
    touch(&mut frame, &[(&setup.buffers[0], READ)]);
    touch(&mut frame, &[(&setup.buffers[0], READ)]);
    frame.submit().unwrap();
    setup.gpu.wait_idle().unwrap();
    let result = setup.gpu.frame_results().pop().unwrap();
    assert_eq!((result.barriers, result.full_barriers), (2, 2));
    let submissions = setup.driver.take_submissions();
    let order: Vec<_> = submissions[0]
        .commands()
        .filter_map(|command| match command {
            Command::PipelineBarrier(dependency) => {
                assert_eq!(
                    dependency.memory[0].src_stages,
                    vk::PipelineStageFlags2::ALL_COMMANDS
                );
                Some("barrier".to_owned())
            }
            Command::BeginLabel { name, .. } => Some(name.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(order, ["pass", "barrier", "raw", "barrier", "pass", "pass"]);
}
