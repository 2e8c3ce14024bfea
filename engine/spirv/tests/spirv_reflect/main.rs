//! Every fact of the SPIRV-Reflect goldens against ours. Where a golden is wrong, `deviations` says what is right and why.

mod compare;
mod deviations;
mod stage;

use std::path::{Path, PathBuf};

use impel_spirv::{Interface, MissingBindings, Options, reflect_with};
use serde_yaml_ng::Value;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/spirv-reflect")
}

/// Names of the modules in the index.
fn modules() -> Vec<String> {
    let index = std::fs::read_to_string(corpus().join("INDEX.tsv")).unwrap();
    let modules: Vec<String> = index
        .lines()
        .skip(1)
        .map(|line| line.split('\t').next().unwrap().to_owned())
        .collect();
    assert_eq!(modules.len(), 73);
    modules
}

fn load(module: &str) -> (Interface, Value) {
    let bytes = std::fs::read(corpus().join(module)).unwrap();
    let interface = reflect_with(
        &bytes,
        &Options {
            missing_bindings: MissingBindings::Keep,
        },
    )
    .unwrap_or_else(|error| panic!("{module}: {error}"));
    let text = std::fs::read_to_string(corpus().join(format!("{module}.yaml"))).unwrap();
    let golden = serde_yaml_ng::from_str(text.trim_start_matches("%YAML 1.1\n"))
        .unwrap_or_else(|error| panic!("{module}.yaml: {error}"));
    (interface, golden)
}

#[test]
fn goldens_agree_or_are_known_to_be_wrong() {
    let mut differences = Vec::new();
    let mut facts = 0;
    let mut unused: Vec<(&str, &str)> = deviations::FACTS
        .iter()
        .map(|row| (row.module, row.fact))
        .collect();
    for module in modules() {
        let (interface, golden) = load(&module);
        let mut compare = compare::Compare::new(&module, &interface);
        compare.all(&golden);
        facts += compare.facts;
        for difference in compare.differences {
            let known = deviations::FACTS
                .iter()
                .find(|row| row.module == module && row.fact == difference.fact);
            unused.retain(|(known_module, fact)| {
                !(*known_module == module && *fact == difference.fact)
            });
            match known {
                Some(row) if row.right == difference.ours => {}
                Some(row) => differences.push(format!(
                    "{module}: {}: right is {} ({}), ours {}",
                    difference.fact, row.right, row.rule, difference.ours
                )),
                None => differences.push(format!(
                    "{module}: {}: golden {}, ours {}",
                    difference.fact, difference.golden, difference.ours
                )),
            }
        }
    }
    assert!(
        differences.is_empty(),
        "{} differences:\n{}",
        differences.len(),
        differences.join("\n")
    );
    assert!(
        unused.is_empty(),
        "deviations that do not occur: {unused:?}"
    );
    println!("{facts} facts compared");
    assert!(facts > 10_000, "only {facts} facts were compared");
}
