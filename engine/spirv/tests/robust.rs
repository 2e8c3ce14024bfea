//! Bad input gives one error, or a description; never a panic, a hang or much memory.

mod common;

use impel_spirv::{
    Error, MergeLimits, MissingBindings, Options, StageInput, bake, match_stages, merge,
    reflect_with, required_features, to_json, to_table,
};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// One test at a time, so that memory is only that of the module under test.
static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

fn alone() -> std::sync::MutexGuard<'static, ()> {
    // A test that failed says so itself.
    ALONE
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

const KEEP: Options = Options {
    missing_bindings: MissingBindings::Keep,
};

/// Reflects and checks the memory that it took: no more than 64 times the file and 16 MB.
fn reflect_within_bounds(bytes: &[u8], what: &str) -> Result<impel_spirv::Interface, Error> {
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let outcome = reflect_with(bytes, &KEEP);
    let taken = ALLOCATOR.peak_usage().saturating_sub(before);
    assert!(
        taken <= 64 * bytes.len() + (16 << 20),
        "{what}: {taken} bytes for a module of {}",
        bytes.len()
    );
    outcome
}

/// A module from words, with its header.
fn module(bound: u32, body: &[u32]) -> Vec<u8> {
    let mut words = vec![0x0723_0203, 0x0001_0600, 0, bound, 0];
    words.extend(body);
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn op(opcode: u32, operands: &[u32]) -> Vec<u32> {
    let mut words = vec![(operands.len() as u32 + 1) << 16 | opcode];
    words.extend(operands);
    words
}

fn error(bytes: &[u8]) -> String {
    reflect_within_bounds(bytes, "module")
        .expect_err("an error")
        .to_string()
}

#[test]
fn malformed_headers_and_words() {
    let _alone = alone();
    assert!(error(b"").contains("0 bytes"));
    assert!(error(b"GLSLxxxxxxxxxxxxxxxxxxxx").contains("magic"));
    assert!(error(&module(10, &[])[..19]).contains("19 bytes"));
    assert!(error(&module(10, &[0])).contains("word 5"));
    assert!(error(&module(10, &op(17, &[1])[..1])).contains("word 5"));
    let mut version = module(10, &[]);
    version[6] = 2;
    assert!(error(&version).contains("version"));
    // OpName of an id past the bound, of id 0; a name without an end; OpName without any operand.
    assert!(error(&module(10, &op(5, &[10, 0]))).contains("id 10"));
    assert!(error(&module(10, &op(5, &[0, 0]))).contains("id 0"));
    assert!(error(&module(10, &op(5, &[1, 0x4141_4141]))).contains("unterminated"));
    assert!(error(&module(10, &op(5, &[]))).contains("OpName"));
    // One id defined twice.
    assert!(error(&module(10, &[op(19, &[1]), op(19, &[1])].concat())).contains("twice"));
}

#[test]
fn cyclic_and_deep_types() {
    let _alone = alone();
    // A struct that holds itself; an array whose element comes later.
    assert!(error(&module(10, &op(30, &[1, 1]))).contains("contains itself"));
    assert!(
        error(&module(10, &[op(29, &[1, 2]), op(29, &[2, 1])].concat()))
            .contains("contains itself")
    );
    // Structs in structs, far deeper than any stack.
    let mut body = op(22, &[1, 32]);
    for id in 2..50_000 {
        body.extend(op(30, &[id, id - 1]));
    }
    assert!(error(&module(60_000, &body)).contains("nested more than"));
    // A pointer cycle is fine.
    let body = [op(39, &[2, 5349]), op(30, &[1, 2]), op(32, &[2, 5349, 1])].concat();
    assert!(reflect_within_bounds(&module(10, &body), "pointer cycle").is_ok());
}

#[test]
fn unknown_things_are_skipped() {
    let _alone = alone();
    // An opcode, a capability, a source language, a decoration and an execution model that nobody knows.
    let body = [
        op(17, &[65_000]),
        op(17, &[1]),
        op(60_001, &[1, 2, 3]),
        op(3, &[99, 7]),
        op(15, &[7777, 3, 0]),
        op(71, &[3, 54_321, 5]),
        op(19, &[1]),
        op(33, &[2, 1]),
        op(54, &[1, 3, 0, 2]),
        op(248, &[4]),
        op(60_002, &[]),
        op(253, &[]),
        op(56, &[]),
    ]
    .concat();
    let interface = reflect_within_bounds(&module(10, &body), "unknown").unwrap();
    let names: Vec<String> = interface
        .capabilities
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(names, ["65000", "Shader"]);
    assert_eq!(
        (
            interface.source_language.to_string(),
            interface.entry_points[0].stage.name()
        ),
        ("99".to_owned(), "unknown")
    );
}

#[test]
fn huge_names_bounds_and_counts() {
    let _alone = alone();
    // The header's bound says nothing about memory.
    assert!(reflect_within_bounds(&module(u32::MAX, &op(19, &[4_000_000_000])), "bound").is_ok());
    // A name of a quarter of a megabyte, forty times: 10 MB.
    let mut body = Vec::new();
    for id in 1..=40 {
        let mut operands = vec![id];
        operands.extend([0x4141_4141; 65_000]);
        operands.push(0);
        body.extend(op(5, &operands));
    }
    assert!(reflect_within_bounds(&module(100, &body), "names").is_ok());
    // An output block whose long name would be repeated for each of its many members.
    let mut operands = vec![9];
    operands.extend([0x4141_4141; 65_000]);
    operands.push(0);
    let mut body = [
        op(15, &[0, 1, 0, 9]),
        op(5, &operands),
        op(71, &[9, 30, 0]),
        op(22, &[2, 32]),
    ]
    .concat();
    let mut members = vec![3];
    members.extend([2; 60_000]);
    body.extend(op(30, &members));
    body.extend([op(32, &[4, 3, 3]), op(59, &[4, 9, 3])].concat());
    assert!(error(&module(100, &body)).contains("would need more than"));
    // Arrays of arrays of structs of outputs: 2^96 elements.
    let mut body = [
        op(15, &[0, 1, 0, 9]),
        op(71, &[9, 30, 0]),
        op(21, &[20, 32, 0]),
        op(43, &[20, 21, u32::MAX]),
        op(22, &[2, 32]),
        op(30, &[3, 2]),
    ]
    .concat();
    body.extend(
        [
            op(28, &[4, 3, 21]),
            op(28, &[5, 4, 21]),
            op(28, &[6, 5, 21]),
            op(32, &[7, 3, 6]),
            op(59, &[7, 9, 3]),
        ]
        .concat(),
    );
    assert!(error(&module(100, &body)).contains("would need more than"));
}

#[test]
fn much_work_is_refused_or_done() {
    let _alone = alone();
    // Many entry points that share one long function.
    let mut body = Vec::new();
    for _ in 0..4_000 {
        body.extend(op(15, &[5, 3, 0]));
    }
    body.extend(
        [
            op(19, &[1]),
            op(33, &[2, 1]),
            op(22, &[5, 32]),
            op(43, &[5, 6, 0]),
            op(54, &[1, 3, 0, 2]),
            op(248, &[4]),
        ]
        .concat(),
    );
    for id in 10..40_000 {
        body.extend(op(83, &[5, id, 6]));
    }
    body.extend([op(253, &[]), op(56, &[])].concat());
    assert!(error(&module(100_000, &body)).contains("the analysis"));
    // A long chain of spec constant operations, each an array's length.
    let mut body = [op(21, &[1, 32, 0]), op(50, &[1, 2, 3]), op(71, &[2, 1, 0])].concat();
    for id in 0..20_000 {
        let before = if id == 0 { 2 } else { 10 + 2 * (id - 1) };
        body.extend(op(52, &[1, 10 + 2 * id, 128, before, 2]));
        body.extend(op(28, &[11 + 2 * id, 1, 10 + 2 * id]));
    }
    assert!(reflect_within_bounds(&module(100_000, &body), "chain").is_ok());
    // A function that calls itself.
    let body = [
        op(15, &[5, 3, 0]),
        op(19, &[1]),
        op(33, &[2, 1]),
        op(54, &[1, 3, 0, 2]),
        op(248, &[4]),
        op(57, &[1, 5, 3]),
        op(253, &[]),
        op(56, &[]),
    ]
    .concat();
    assert!(reflect_within_bounds(&module(10, &body), "recursion").is_ok());
}

/// Modules that say much in few words: what is made of them stays within bounds, described or refused.
#[test]
fn dense_modules_stay_within_bounds() {
    let _alone = alone();
    let base = || [op(21, &[1, 32, 0]), op(43, &[1, 2, 3]), op(19, &[3])].concat();
    type Family = (&'static str, fn(u32) -> Vec<u32>);
    let families: [Family; 8] = [
        // A few words each: descriptor variables, all with the same block.
        ("variables", |n| {
            let mut body = [
                op(71, &[10, 2]),
                op(72, &[10, 0, 35, 0]),
                op(30, &[10, 1]),
                op(32, &[11, 2, 10]),
            ]
            .concat();
            (0..n).for_each(|i| body.extend(op(59, &[11, 100 + i, 2])));
            body
        }),
        // All on one binding: aliases of each other, by a group.
        ("aliases", |n| {
            let mut body = [
                op(71, &[10, 2]),
                op(71, &[9, 33, 0]),
                op(71, &[9, 34, 0]),
                op(73, &[9]),
            ]
            .concat();
            for chunk in 0..n.div_ceil(1000) {
                let targets: Vec<u32> = std::iter::once(9)
                    .chain((0..1000).map(|i| 100 + chunk * 1000 + i))
                    .collect();
                body.extend(op(74, &targets));
            }
            body.extend([op(30, &[10, 1]), op(32, &[11, 2, 10])].concat());
            (0..n).for_each(|i| body.extend(op(59, &[11, 100 + i, 2])));
            body
        }),
        // One struct of very many members in a buffer.
        ("members", |n| {
            let members: Vec<u32> = std::iter::once(10)
                .chain(std::iter::repeat_n(1, n.min(65_000) as usize))
                .collect();
            [
                op(71, &[10, 2]),
                op(30, &members),
                op(32, &[11, 2, 10]),
                op(59, &[11, 12, 2]),
            ]
            .concat()
        }),
        // Entry points, each with the same long list of outputs.
        ("outputs", |n| {
            let mut body = Vec::new();
            for _ in 0..40 {
                let list: Vec<u32> = [0, 5, 0]
                    .into_iter()
                    .chain((0..n / 50).map(|i| 100 + i))
                    .collect();
                body.extend(op(15, &list));
            }
            body.extend(op(32, &[11, 3, 1]));
            (0..n / 50).for_each(|i| body.extend(op(59, &[11, 100 + i, 3])));
            body
        }),
        // Arrays of arrays, each a part of the next, all in one block.
        ("arrays", |n| {
            let mut body = Vec::new();
            let mut members = vec![10];
            for i in 0..n.min(60_000) {
                let inner = if i % 250 == 0 { 1 } else { 99 + i };
                body.extend(op(28, &[100 + i, inner, 2]));
                members.push(100 + i);
            }
            body.extend(
                [
                    op(71, &[10, 2]),
                    op(30, &members),
                    op(32, &[11, 2, 10]),
                    op(59, &[11, 12, 2]),
                ]
                .concat(),
            );
            body
        }),
        // Capabilities, extensions, execution modes.
        ("headers", |n| {
            (0..n)
                .flat_map(|i| [op(17, &[i]), op(16, &[5, 100_000 + i])].concat())
                .chain(op(15, &[5, 5, 0]))
                .collect()
        }),
        // Names, for things that are used.
        ("names", |n| {
            (0..n).flat_map(|i| op(5, &[100 + i, 0x41])).collect()
        }),
        // Functions and calls.
        ("functions", |n| {
            let mut body = [op(15, &[5, 100, 0]), op(33, &[4, 3])].concat();
            for i in 0..n {
                body.extend([op(54, &[3, 100 + 3 * i, 0, 4]), op(248, &[101 + 3 * i])].concat());
                body.extend(op(57, &[3, 102 + 3 * i, 100 + 3 * (i + 1).min(n - 1)]));
                body.extend([op(253, &[]), op(56, &[])].concat());
            }
            body
        }),
    ];
    for (name, make) in families {
        for count in [1_000, 100_000] {
            let bytes = module(1_000_000, &[base(), make(count)].concat());
            // Whether it is described or refused, `reflect_within_bounds` holds the memory against the bound.
            if let Err(error) = reflect_within_bounds(&bytes, name) {
                // Arrays nested 250 deep by the thousand are refused even then.
                assert!(count > 1_000 || name == "arrays", "{name}: {error}");
                assert!(matches!(error, Error::TooLarge { .. }), "{name}: {error}");
            }
        }
    }
}

/// Found by mutation: a Component decoration of 2^32 - 1.
#[test]
fn enormous_sizes() {
    let _alone = alone();
    // uint[max] in a struct, max of it in the next, max of that in a uniform block, none with a stride.
    let [uint, max, a, b, block] = [1, 2, 3, 5, 7];
    let body = [
        op(17, &[1]),                   // OpCapability Shader
        op(14, &[0, 1]),                // OpMemoryModel
        op(71, &[block + 1, 2]),        // OpDecorate Block
        op(72, &[block + 1, 0, 35, 0]), // OpMemberDecorate Offset
        op(71, &[block + 3, 34, 0]),    // OpDecorate DescriptorSet
        op(71, &[block + 3, 33, 0]),    // OpDecorate Binding
        op(21, &[uint, 32, 0]),
        op(43, &[uint, max, u32::MAX]),
        op(28, &[a, uint, max]),
        op(30, &[a + 1, a]),
        op(28, &[b, a + 1, max]),
        op(30, &[b + 1, b]),
        op(28, &[block, b + 1, max]),
        op(30, &[block + 1, block]),
        op(32, &[block + 2, 2, block + 1]),
        op(59, &[block + 2, block + 3, 2]),
    ]
    .concat();
    let interface = reflect_within_bounds(&module(20, &body), "enormous sizes").unwrap();
    let binding = &interface.bindings[0];
    assert_eq!(binding.block_size, Some(u64::MAX));
    assert_eq!(binding.padded_size, Some(u64::MAX));
    let json = to_json(&interface, "enormous").to_string();
    assert!(json.contains("18446744073709551615"), "{json}");
    let table = to_table(&interface, "enormous");
    assert!(table.starts_with("enormous: SPIR-V"), "{table}");
}

#[test]
fn enormous_components() {
    let mut words: Vec<u32> = common::bytes("components.vert")
        .chunks_exact(4)
        .map(|chunk| u32::from_le_bytes(chunk.try_into().unwrap()))
        .collect();
    let decorate = |words: &[u32], at: usize| words[at] == 4 << 16 | 71 && words[at + 2] == 31;
    let found: Vec<usize> = (5..words.len() - 4)
        .filter(|at| decorate(&words, *at))
        .collect();
    assert!(found.len() > 4, "{found:?}");
    found.iter().for_each(|at| words[at + 3] = u32::MAX);
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let interface = reflect_with(&bytes, &KEEP).unwrap();
    let stage = StageInput::new("components.vert", &interface);
    assert!(match_stages(&stage, &stage).is_ok());
}

/// A small generator of numbers (xorshift), the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below.max(1) as u64) as usize
    }
}

/// Changes a module in one of the ways that break readers.
fn mutate(words: &mut Vec<u32>, random: &mut Random) {
    let at = random.next(words.len());
    let interesting = [
        0,
        1,
        2,
        0xffff,
        0x10000,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_fffe,
        u32::MAX,
    ];
    match random.next(9) {
        0 => words[at] ^= 1 << random.next(32),
        1 => words[at] = interesting[random.next(interesting.len())],
        2 => words[at] = words[random.next(words.len())],
        3 => {
            words[at] = words[at]
                .wrapping_add(random.next(7) as u32)
                .wrapping_sub(3);
        }
        4 => words.truncate(at.max(5)),
        5 => {
            words.remove(at);
        }
        6 => words.insert(at, random.next(64) as u32),
        7 => {
            // A run of words once more.
            let end = (at + 1 + random.next(24)).min(words.len());
            let run: Vec<u32> = words[at..end].to_vec();
            words.splice(at..at, run);
        }
        _ => {
            let other = random.next(words.len());
            words.swap(at, other);
        }
    }
    if words.len() > 5 && random.next(8) != 0 {
        // Mostly past the header, which is checked at once.
        words[0] = 0x0723_0203;
    }
}

#[test]
fn twenty_thousand_mutations() {
    let _alone = alone();
    let modules: Vec<Vec<u32>> = common::all_modules()
        .into_iter()
        .filter(|(_, bytes)| bytes.len() < 40_000)
        .map(|(_, bytes)| {
            bytes
                .chunks_exact(4)
                .map(|chunk| u32::from_le_bytes(chunk.try_into().unwrap()))
                .collect()
        })
        .collect();
    // Longer runs by hand: other seeds, more variants.
    let number = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |text| text.parse().unwrap())
    };
    let mut random = Random(number("IMPEL_MUTATION_SEED", 0x1234_5678_9abc_def1));
    let variants = number("IMPEL_MUTATIONS", 20_000).max(20_000);
    let (mut described, mut refused) = (0, 0);
    for variant in 0..variants {
        let mut words = modules[random.next(modules.len())].clone();
        for _ in 0..=random.next(4) {
            mutate(&mut words, &mut random);
        }
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        if random.next(50) == 0 {
            bytes.pop();
        }
        match reflect_within_bounds(&bytes, &format!("variant {variant}")) {
            Ok(interface) => {
                described += 1;
                // What was described must be usable, whatever it says.
                let stage = StageInput {
                    entry_point: interface
                        .entry_points
                        .first()
                        .map_or("", |entry| &entry.name),
                    ..StageInput::new("variant", &interface)
                };
                let _ = merge(&[stage], &MergeLimits::default());
                let _ = match_stages(&stage, &stage);
                if let Some(entry) = interface.entry_points.first() {
                    let _ = required_features(&interface, entry);
                }
                let _ = to_json(&interface, "variant");
                let _ = to_table(&interface, "variant");
                bake(&interface, 0).unwrap();
            }
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().is_empty());
            }
        }
    }
    // Both must be frequent, or the mutations test too little.
    assert!(
        described > 2_000 && refused > 2_000,
        "{described} described, {refused} refused"
    );
}
