//! The example that Stride documents.

use impel_spirv::Error;
use impel_spirv::compose::{Code, Fate, Mix, ModuleBuilder};
use impel_spirv::words::Words;
use spirv::Op;

use crate::tools::{compute, listing};

const A: &str = "#version 460
#pragma mixin class MixinA
#pragma mixin stage compute
#pragma mixin virtual void mx_main();
#pragma mixin virtual float mx_value(float x);
#include <mixin>
#pragma mixin interface begin
layout(set = 0, binding = 0) buffer Out { float values[]; } result;
#pragma mixin interface end
float mx_value(float x) { vec2 v = vec2(x, 1.0); return v.x + v.y; }
void mx_main() { result.values[0] = mx_value(2.0); }
";

const B: &str = "#version 460
#pragma mixin class MixinB
#pragma mixin stage compute
#pragma mixin inherit MixinA
#pragma mixin override float mx_value(float x);
#include <mixin>
float mx_value(float x) { mat3 m = mat3(x); vec3 v = m * vec3(1, 2, 3); return v.z + base_mx_value(x); }
";

const C: &str = "#version 460
#pragma mixin class MixinC
#pragma mixin stage compute
#pragma mixin inherit MixinA
#pragma mixin override float mx_value(float x);
#include <mixin>
float mx_value(float x) { mat4 m = mat4(x); vec4 v = m * vec4(1, 2, 3, 4); return v.w + base_mx_value(x); }
";

#[test]
fn types_are_there_once() {
    let effect = compute(&[A, B, C], Mix::of(&["MixinB", "MixinC"]));
    let text = listing(&effect.stages[0].words);
    for ty in [
        "= OpTypeFloat 32",
        "= OpTypeVector %float 2",
        "= OpTypeVector %float 3",
        "= OpTypeMatrix %v3float 3",
        "= OpTypeVector %float 4",
        "= OpTypeMatrix %v4float 4",
    ] {
        assert_eq!(text.matches(ty).count(), 1, "{ty}\n{text}");
    }
}

/// A module that only declares types.
fn types(declare: &[&str]) -> Vec<u8> {
    let mut builder = ModuleBuilder::new(1, 6);
    builder.insert(Op::Capability, &[1], false);
    builder.insert(Op::MemoryModel, &[0, 1], false);
    let float = builder.insert_context(Op::TypeFloat, &[32]).unwrap();
    for name in declare {
        let size = u32::from(name.as_bytes()[3] - b'0');
        let vector = builder
            .insert_context(Op::TypeVector, &[float, size])
            .unwrap();
        if name.starts_with("mat") {
            builder
                .insert_context(Op::TypeMatrix, &[vector, size])
                .unwrap();
        }
    }
    builder
        .finish()
        .unwrap()
        .iter()
        .flat_map(|word| word.to_ne_bytes())
        .collect()
}

#[test]
fn declarations_that_are_there_become_nops() {
    let (a, b, c) = (
        types(&["vec2"]),
        types(&["vec2", "vec3", "mat3"]),
        types(&["vec2", "vec4", "mat4"]),
    );
    let mut builder = ModuleBuilder::new(1, 6);
    // Capability, memory model, float, vec2.
    assert_eq!(builder.merge(&a).unwrap(), [Fate::Keep; 4]);
    let moved = Fate::KeepOffset(3);
    assert_eq!(
        builder.merge(&b).unwrap(),
        [
            Fate::OpNop,
            Fate::OpNop,
            Fate::OpNop,
            Fate::OpNop,
            moved,
            moved
        ]
    );
    let moved = Fate::KeepOffset(3 + 5);
    assert_eq!(
        builder.merge(&c).unwrap(),
        [
            Fate::OpNop,
            Fate::OpNop,
            Fate::OpNop,
            Fate::OpNop,
            moved,
            moved
        ]
    );
    let words = builder.finish().unwrap();
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let parsed = Words::parse(&bytes).unwrap();
    let kinds: Vec<(u32, Vec<u32>)> = parsed
        .iter()
        .skip(2)
        .map(|found| (found.opcode, found.operands[1..].to_vec()))
        .collect();
    let (float, vector, matrix) = (
        Op::TypeFloat as u32,
        Op::TypeVector as u32,
        Op::TypeMatrix as u32,
    );
    assert_eq!(
        kinds,
        [
            (float, vec![32]),
            (vector, vec![1, 2]),
            (vector, vec![1, 3]),
            (matrix, vec![3, 3]),
            (vector, vec![1, 4]),
            (matrix, vec![5, 4]),
        ]
    );
    assert_eq!(parsed.bound(), 7);
    assert_eq!((builder.context().count(), builder.body().count()), (6, 0));
    let text = format!("{builder:?}");
    assert!(
        text.contains("%10 = OpTypeVector %1 3") || text.contains("= OpTypeVector %1 3"),
        "{text}"
    );
    // What fails leaves nothing behind.
    let Err(Error::Mixin(error)) = builder.merge(b"no module") else {
        panic!()
    };
    assert_eq!(error.code, Code::M22);
    assert_eq!(builder.finish().unwrap(), words);
}
