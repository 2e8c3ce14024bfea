//! Random class graphs, composed and run on the device, against an interpreter of what the rules say.

use std::collections::HashMap;

use impel_gpu::testing::gpu;
use impel_spirv::Stage;
use impel_spirv::compose::{Filling, Mix, Recipe, ValidationRules, validate_effect};

use crate::device::{composer, run_words};

/// Functions: three of the top classes, one of the leaves, one at the root.
const F: [&str; 5] = ["mx_f0", "mx_f1", "mx_f2", "mx_leaf", "mx_root"];
const LEAF: usize = 3;
const ROOT: usize = 4;

/// One statement of a body: `r = r * 3 + TERM`.
#[derive(Clone, Debug)]
enum Term {
    Constant(i32),
    Argument,
    Parameter,
    /// Adds to the class's variable, and takes it.
    State(i32),
    Base,
    Call(usize),
    Slot,
    /// All leaves of the array add to a sum.
    Each,
    Count,
}

#[derive(Clone, Debug)]
struct Class {
    name: String,
    parents: Vec<usize>,
    default: i32,
    start: i32,
    /// Function, whether it introduces it, body.
    bodies: Vec<(usize, bool, Vec<Term>)>,
    slots: bool,
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    fn small(&mut self) -> i32 {
        self.below(7) as i32 - 2
    }
}

impl Class {
    fn text(&self, classes: &[Class]) -> String {
        let mut text = format!(
            "#version 460\n#pragma mixin class {}\n#pragma mixin stage compute\n",
            self.name
        );
        if self.name == "Top" {
            text += "#pragma mixin inherit Result\n#pragma mixin override int mx_value()\n";
        }
        for parent in &self.parents {
            text += &format!("#pragma mixin inherit {}\n", classes[*parent].name);
        }
        text += &format!(
            "#pragma mixin param int N_{} = {}\n",
            self.name, self.default
        );
        if self.slots {
            text += "#pragma mixin compose Leaf one\n#pragma mixin compose Leaf many[]\n";
        }
        if self.name == "Leaf" {
            text += "#pragma mixin virtual void mx_add(inout int sum)\n";
        }
        for (function, introduces, _) in &self.bodies {
            let word = match (introduces, *function) {
                (true, ROOT) => "root",
                (true, _) => "virtual",
                _ => "override",
            };
            text += &format!("#pragma mixin {word} int {}(int x)\n", F[*function]);
        }
        text += &format!("#include <mixin>\nint v = {};\n", self.start);
        if self.name == "Top" {
            text += "int mx_value() { int r = mx_f2(3); r = r * 3 + mx_root(2); return r * 3 + mx_f2(1); }\n";
        }
        if self.name == "Leaf" {
            text += "void mx_add(inout int sum) { sum = sum * 5 + mx_leaf(sum & 7); }\n";
        }
        for (function, _, body) in &self.bodies {
            text += &format!("int {}(int x) {{\n  int r = 0;\n", F[*function]);
            for term in body {
                let value = match term {
                    Term::Constant(value) => value.to_string(),
                    Term::Argument => "x".to_owned(),
                    Term::Parameter => format!("N_{}", self.name),
                    Term::State(step) => {
                        text += &format!("  v += {step};\n");
                        "v".to_owned()
                    }
                    Term::Base => format!("base_{}(x)", F[*function]),
                    Term::Call(other) => format!("{}(x & 15)", F[*other]),
                    Term::Slot => "slot_one_mx_leaf(x & 3)".to_owned(),
                    Term::Each => {
                        text +=
                            "  { int sum = x; slot_foreach_many_mx_add(sum); r = r * 3 + sum; }\n";
                        continue;
                    }
                    Term::Count => "many_count".to_owned(),
                };
                text += &format!("  r = r * 3 + ({value});\n");
            }
            text += "  return r;\n}\n";
        }
        text
    }
}

/// A class with its parameter.
type Key = (usize, i32);

#[derive(Default)]
struct Node {
    elements: Vec<Key>,
    one: usize,
    many: Vec<usize>,
}

/// What the rules say, in plain Rust.
struct World<'a> {
    classes: &'a [Class],
    nodes: Vec<Node>,
    /// By node (the root's copies of classes from slots are in `usize::MAX`) and class.
    state: HashMap<(usize, Key), i32>,
    /// Where the root functions stack: node of the state, class.
    root: Vec<(usize, Key)>,
}

impl World<'_> {
    fn linear(&self, mixins: &[Key]) -> Vec<Key> {
        fn visit(classes: &[Class], key: Key, out: &mut Vec<Key>) {
            if out.contains(&key) {
                return;
            }
            for parent in &classes[key.0].parents {
                visit(classes, (*parent, classes[*parent].default), out);
            }
            out.push(key);
        }
        let mut out = Vec::new();
        for key in mixins {
            visit(self.classes, *key, &mut out);
        }
        out
    }

    fn body(&self, key: Key, function: usize) -> Option<&[Term]> {
        self.classes[key.0]
            .bodies
            .iter()
            .find(|body| body.0 == function)
            .map(|body| body.2.as_slice())
    }

    /// Definitions of a function, in the order of the chain: node of the state, class.
    fn chain(&self, node: usize, function: usize) -> Vec<(usize, Key)> {
        if function == ROOT {
            return self.root.clone();
        }
        let elements = &self.nodes[node].elements;
        elements
            .iter()
            .filter(|key| self.body(**key, function).is_some())
            .map(|key| (node, *key))
            .collect()
    }

    fn call(&mut self, node: usize, function: usize, x: i32) -> i32 {
        let chain = self.chain(node, function);
        self.run(&chain, chain.len() - 1, function, x)
    }

    fn run(&mut self, chain: &[(usize, Key)], at: usize, function: usize, x: i32) -> i32 {
        let (node, key) = chain[at];
        let mut r = 0_i32;
        for term in self.body(key, function).unwrap().to_vec() {
            let value = match term {
                Term::Constant(value) => value,
                Term::Argument => x,
                Term::Parameter => key.1,
                Term::State(step) => {
                    let start = self.classes[key.0].start;
                    let state = self.state.entry((node, key)).or_insert(start);
                    *state = state.wrapping_add(step);
                    *state
                }
                Term::Base => self.run(chain, at - 1, function, x),
                Term::Call(other) => self.call(node, other, x & 15),
                Term::Slot => {
                    let one = self.nodes[node].one;
                    self.call(one, LEAF, x & 3)
                }
                Term::Each => {
                    let mut sum = x;
                    for leaf in self.nodes[node].many.clone() {
                        let value = self.call(leaf, LEAF, sum & 7);
                        sum = sum.wrapping_mul(5).wrapping_add(value);
                    }
                    sum
                }
                Term::Count => self.nodes[node].many.len() as i32,
            };
            r = r.wrapping_mul(3).wrapping_add(value);
        }
        r
    }
}

fn classes(random: &mut Random) -> Vec<Class> {
    let mut classes: Vec<Class> = Vec::new();
    let body = |random: &mut Random, function: usize, top: bool, first: bool| {
        let count = 1 + random.below(4);
        (0..count)
            .map(|_| match random.below(10) {
                0 => Term::Constant(random.small()),
                1 => Term::Argument,
                2 => Term::Parameter,
                3 => Term::State(random.small()),
                4 | 5 if !first => Term::Base,
                6 if function > 0 && function < LEAF => Term::Call(random.below(function)),
                7 if top && function != ROOT => Term::Slot,
                8 if top && function != ROOT => Term::Each,
                9 if top && function != ROOT => Term::Count,
                _ => Term::State(1),
            })
            .collect::<Vec<_>>()
    };
    let core = vec![(ROOT, true, body(random, ROOT, false, true))];
    classes.push(Class {
        name: "Core".into(),
        parents: vec![],
        default: 1,
        start: 2,
        bodies: core,
        slots: false,
    });
    let leaf = vec![(LEAF, true, body(random, LEAF, false, true))];
    classes.push(Class {
        name: "Leaf".into(),
        parents: vec![0],
        default: 4,
        start: 3,
        bodies: leaf,
        slots: false,
    });
    let top = (0..LEAF)
        .map(|function| (function, true, body(random, function, true, true)))
        .collect();
    classes.push(Class {
        name: "Top".into(),
        parents: vec![0],
        default: 2,
        start: 1,
        bodies: top,
        slots: true,
    });
    for number in 0..6 {
        let top = number % 2 == 0;
        let family: Vec<usize> = (1..classes.len())
            .filter(|at| classes[*at].slots == top)
            .collect();
        let mut parents = vec![family[random.below(family.len())]];
        let second = family[random.below(family.len())];
        if !parents.contains(&second) && random.below(2) == 0 {
            parents.push(second);
        }
        let functions: &[usize] = if top { &[0, 1, 2, ROOT] } else { &[LEAF, ROOT] };
        let mut bodies = Vec::new();
        for &function in functions {
            if random.below(2) == 0 {
                bodies.push((function, false, body(random, function, top, false)));
            }
        }
        let name = format!("{}{number}", if top { "T" } else { "L" });
        classes.push(Class {
            name,
            parents,
            default: random.small(),
            start: random.small(),
            bodies,
            slots: top,
        });
    }
    // Only `Top` declares the slots; its heirs use them.
    classes
}

fn mix(classes: &[Class], keys: &[Key]) -> Mix {
    let names: Vec<String> = keys
        .iter()
        .map(|(class, value)| format!("{}<{value}>", classes[*class].name))
        .collect();
    Mix::of(&names.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn random_class_graphs() {
    let gpu = gpu();
    let mut overridden = 0;
    for seed in 1..=40 {
        let mut random = Random(seed * 0x9e37_79b9);
        let classes = classes(&mut random);
        let texts: Vec<String> = classes
            .iter()
            .map(|class| {
                let mut class = class.clone();
                class.slots &= class.name == "Top";
                class.text(&classes)
            })
            .collect();
        let pick = |random: &mut Random, top: bool| -> Vec<Key> {
            let family: Vec<usize> = (1..classes.len())
                .filter(|at| classes[*at].slots == top)
                .collect();
            (0..1 + random.below(3))
                .map(|_| (family[random.below(family.len())], random.small()))
                .collect()
        };
        let (top, one) = (pick(&mut random, true), pick(&mut random, false));
        let many: Vec<Vec<Key>> = (0..random.below(4))
            .map(|_| pick(&mut random, false))
            .collect();

        let mut world = World {
            classes: &classes,
            nodes: Vec::new(),
            state: HashMap::new(),
            root: Vec::new(),
        };
        for mixins in [&top, &one].into_iter().chain(&many) {
            let elements = world.linear(mixins);
            world.nodes.push(Node {
                elements,
                ..Node::default()
            });
        }
        world.nodes[0].one = 1;
        world.nodes[0].many = (2..2 + many.len()).collect();
        // What is in the slots of `Top` stacks before `Top` itself.
        let mut root: Vec<(usize, Key)> = Vec::new();
        for key in world.nodes[0].elements.clone() {
            if classes[key.0].name == "Top" && !root.iter().any(|(_, other)| *other == key) {
                for node in 1..world.nodes.len() {
                    for inner in world.nodes[node].elements.clone() {
                        let own = world.nodes[0].elements.contains(&inner);
                        let entry = (if own { 0 } else { usize::MAX }, inner);
                        if world.body(inner, ROOT).is_some() && !root.contains(&entry) {
                            root.push(entry);
                        }
                    }
                }
            }
            if world.body(key, ROOT).is_some() && !root.contains(&(0, key)) {
                root.push((0, key));
            }
        }
        overridden += root.len();
        world.root = root;
        let mut expected = world.call(0, 2, 3);
        expected = expected
            .wrapping_mul(3)
            .wrapping_add(world.call(0, ROOT, 2));
        expected = expected.wrapping_mul(3).wrapping_add(world.call(0, 2, 1));

        let effect_mix = mix(&classes, &top)
            .slot("one", Filling::One(mix(&classes, &one)))
            .slot(
                "many",
                Filling::Many(many.iter().map(|keys| mix(&classes, keys)).collect()),
            );
        let recipe = Recipe::new("random", effect_mix, &[Stage::Compute]);
        let composer = composer(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        let effect = composer
            .compose(&recipe)
            .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        validate_effect(&composer, &recipe, &effect, &ValidationRules::default()).unwrap();
        let found = run_words(&gpu, &effect.stages[0].bytes(), 1)[0];
        assert_eq!(
            found,
            expected,
            "seed {seed}: {recipe:?}\n{}",
            texts.join("\n")
        );
        let again = composer.compose_modules(&recipe).unwrap();
        assert_eq!(again[0], effect.stages[0].words, "seed {seed}");
    }
    assert!(overridden > 100, "{overridden}");
}
