//! The comparison over the corpora that `impel-spirv` is tested with.

use oracles::compare::{Comparison, Tally, compare};
use oracles::oracle::Oracle;
use oracles::process::Crash;
use std::path::Path;
use std::sync::LazyLock;

static COMPARISON: LazyLock<Comparison> = LazyLock::new(|| {
    let program = Path::new(env!("CARGO_BIN_EXE_oracles"));
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../engine/spirv/tests");
    let comparison = compare(program, &corpora).unwrap();
    println!("{comparison}");
    comparison
});

/// Facts of bindings that an oracle tells otherwise than we do: oracle, end of the module's path, fact, and why ours stands.
const KNOWN: &[(Oracle, &str, &str, &str)] = &[(
    Oracle::SpirvCross,
    "spec_sizes.comp.spv",
    "binding 0.0/block size",
    "float[N * 2 + 1] with N = 2 takes 20 bytes from offset 4 on; SPIRV-Cross does not evaluate OpSpecConstantOp",
)];

fn tally(oracle: Oracle) -> &'static Tally {
    let mut tallies = COMPARISON.tallies.iter();
    tallies.find(|tally| tally.oracle == oracle).unwrap()
}

#[test]
fn our_reflection_never_fails() {
    assert!(
        COMPARISON.modules.len() >= 200,
        "{}",
        COMPARISON.modules.len()
    );
    assert!(COMPARISON.failures.is_empty(), "{:?}", COMPARISON.failures);
}

/// SPIRV-Cross and `spirq` describe nearly all modules. Where they tell a binding's type or count, it is ours; the same for
/// SPIRV-Cross and the sizes of blocks (`spirq` takes the last member in the text for the last in memory).
#[test]
fn bindings_agree() {
    let compared = [
        (Oracle::SpirvCross, &["type", "count", "block size"][..]),
        (Oracle::Spirq, &["type", "count"][..]),
    ];
    let mut unused: Vec<_> = KNOWN.iter().collect();
    let mut unknown = Vec::new();
    for (oracle, facts) in compared {
        let tally = tally(oracle);
        assert!(tally.described >= 190, "{oracle}: {}", tally.described);
        assert!(tally.agreements >= 1000, "{oracle}: {}", tally.agreements);
        for difference in &tally.differences {
            let fact = difference.fact.strip_prefix("binding ");
            let told = fact.and_then(|fact| Some(fact.split_once('/')?.1));
            if difference.ours.is_none() || !told.is_some_and(|told| facts.contains(&told)) {
                continue;
            }
            let known = |(known, file, fact, _): &(Oracle, &str, &str, &str)| {
                *known == oracle && difference.file.ends_with(file) && difference.fact == *fact
            };
            if KNOWN.iter().any(known) {
                unused.retain(|entry| !known(entry));
            } else {
                unknown.push((oracle, difference));
            }
        }
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
    assert!(unused.is_empty(), "known, but not there: {unused:#?}");
}

/// Why SPIRV-Reflect of 2019 can be no more than an oracle: modules for Vulkan 1.2 and later end the process.
#[test]
fn spirv_reflect_crashes_on_what_we_compile() {
    let tally = tally(Oracle::SpirvReflect);
    let new: Vec<_> = COMPARISON
        .modules
        .iter()
        .filter(|(_, minor)| *minor >= 4)
        .collect();
    let by_signal = |file: &str| {
        tally
            .crashed
            .iter()
            .any(|(name, crash)| name == file && matches!(crash, Crash::Signal(_)))
    };
    let crashed = new.iter().filter(|(file, _)| by_signal(file)).count();
    println!(
        "spirv-reflect is ended by a signal on {crashed} of {} modules of SPIR-V 1.4 or later",
        new.len()
    );
    assert!(new.len() >= 50 && crashed * 2 > new.len());
    assert!(tally.described > 0, "it describes no module at all");
}
