//! Keeps the table in `3rdparty/README.md` true: each crate that a member of the workspace depends on directly has a
//! row with its version, its licence and the reason it is there.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::workspace::Workspace;

/// A crate's name with its version's first two numbers.
type Key = (String, String);

/// What cargo says: each direct dependency that is not ours, with its licence.
fn direct_dependencies(workspace: &Workspace) -> BTreeMap<Key, String> {
    let output = workspace
        .cargo()
        .current_dir(&workspace.root)
        .args(["metadata", "--format-version=1", "--all-features"])
        .output()
        .expect("cargo metadata starts");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "cargo metadata failed: {errors}");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON");
    let packages: BTreeMap<&str, &Value> = list(&metadata["packages"])
        .iter()
        .map(|package| (text(&package["id"]), package))
        .collect();
    let members: BTreeSet<&str> = list(&metadata["workspace_members"])
        .iter()
        .map(text)
        .collect();
    let mut dependencies = BTreeMap::new();
    for node in list(&metadata["resolve"]["nodes"]) {
        if !members.contains(text(&node["id"])) {
            continue;
        }
        for dependency in list(&node["deps"]) {
            let id = text(&dependency["pkg"]);
            if members.contains(id) {
                continue;
            }
            let package = packages[id];
            let key = (
                text(&package["name"]).to_string(),
                two_numbers(text(&package["version"])),
            );
            dependencies.insert(key, text(&package["license"]).to_string());
        }
    }
    dependencies
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

fn two_numbers(version: &str) -> String {
    version.splitn(3, '.').take(2).collect::<Vec<_>>().join(".")
}

/// What the table says: each row's licence and reason.
fn rows(table: &str) -> BTreeMap<Key, (String, String)> {
    let section = table
        .split("## Crates")
        .nth(1)
        .expect("a section `## Crates`");
    let section = section.split("\n## ").next().unwrap_or("");
    let mut rows = BTreeMap::new();
    for line in section.lines().filter(|line| line.starts_with('|')).skip(2) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [name, version, licence, reason] = cells[..] else {
            panic!("expected four cells, found {}: {line}", cells.len());
        };
        let row = (licence.to_string(), reason.to_string());
        let key = (name.trim_matches('`').to_string(), version.to_string());
        assert!(rows.insert(key, row).is_none(), "a second row: {line}");
    }
    rows
}

#[test]
fn every_direct_dependency_has_a_true_row() {
    let workspace = Workspace::find().unwrap();
    let path = workspace.root.join("3rdparty/README.md");
    let rows = rows(&std::fs::read_to_string(&path).unwrap());
    let dependencies = direct_dependencies(&workspace);
    let mut faults = Vec::new();
    for (key, licence) in &dependencies {
        let (name, version) = key;
        match rows.get(key) {
            None => faults.push(format!(
                "missing: | `{name}` | {version} | {licence} | REASON |"
            )),
            Some((stated, reason)) => {
                if stated != licence {
                    faults.push(format!(
                        "{name} {version}: the licence is {licence}, the row says {stated}"
                    ));
                }
                if reason.is_empty() {
                    faults.push(format!("{name} {version}: the row gives no reason"));
                }
            }
        }
    }
    for (name, version) in rows.keys().filter(|key| !dependencies.contains_key(*key)) {
        faults.push(format!(
            "no member depends on {name} {version} any more: remove its row"
        ));
    }
    assert!(
        faults.is_empty(),
        "{} is not true:\n{}",
        path.display(),
        faults.join("\n")
    );
}

#[test]
fn rows_are_read_from_their_section_alone() {
    let table = "| `a` | 1.0 | MIT | x |\n## Crates\n\n| Crate | Version | Licence | Reason |\n|---|---|---|---|\n\
                 | `b` | 2.1 | MIT OR Apache-2.0 | y |\n\n## Other\n| `c` | 1.0 | MIT | z |\n";
    let rows = rows(table);
    assert_eq!(rows.len(), 1);
    let key = ("b".to_string(), "2.1".to_string());
    assert_eq!(
        rows[&key],
        ("MIT OR Apache-2.0".to_string(), "y".to_string())
    );
}
