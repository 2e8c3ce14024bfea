//! 360 permutations of the engine's classes: materials, lights, vertex formats and features. All valid, all drawn.

use std::path::Path;

use impel_gpu::testing::gpu;
use impel_gpu::{
    BufferDesc, GraphicsPipelineDesc, GraphicsState, Load, Offscreen, OffscreenDesc, Shader,
};
use impel_spirv::Stage;
use impel_spirv::compose::{
    ComposeOptions, Composer, Filling, Library, Mix, Recipe, ValidationRules, validate_effect,
};

const MATERIALS: [&str; 6] = [
    "FlatSurface",
    "Checker<5>",
    "TriplanarNoise",
    "MetalRough",
    "ClearCoat",
    "Toon<4>",
];
const LIGHTS: [&[&str]; 5] = [
    &["DirectionalLight"],
    &["PointLights<3>"],
    &["HemisphereLight"],
    &["Unlit"],
    &["DirectionalLight", "PointLights<2>"],
];
const FORMATS: [&str; 4] = ["SphereVertex", "Bytes", "Halves", "Octahedral"];
const FEATURES: [&[&str]; 3] = [&[], &["Fog"], &["Rim", "Wireframe"]];
const CELL: u32 = 16;

fn format(name: &str, body: &str) -> String {
    format!(
        "#version 460\n#pragma mixin class {name}\n#pragma mixin stage vertex\n#pragma mixin inherit SphereVertex\n\
         #pragma mixin override vec3 mx_stored(vec3 normal);\n#include <mixin>\nvec3 mx_stored(vec3 normal) {{ {body} }}\n"
    )
}

#[test]
fn all_are_valid_and_drawn() {
    let mut library = Library::new();
    let classes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shaders/mixins");
    library.add_folder(&classes, "shaders/mixins").unwrap();
    for (name, body) in [
        (
            "Bytes",
            "return normalize(unpackSnorm4x8(packSnorm4x8(vec4(normal, 0))).xyz);",
        ),
        (
            "Halves",
            "vec2 xy = unpackHalf2x16(packHalf2x16(normal.xy)); return normalize(vec3(xy, unpackHalf2x16(packHalf2x16(normal.zz)).x));",
        ),
        (
            "Octahedral",
            "vec2 p = normal.xy / (abs(normal.x) + abs(normal.y) + abs(normal.z)); vec2 s = mix(vec2(-1), vec2(1), greaterThanEqual(p, vec2(0)));\
             if (normal.z < 0) p = (1 - abs(p.yx)) * s; p = unpackSnorm2x16(packSnorm2x16(p)); vec3 n = vec3(p, 1 - abs(p.x) - abs(p.y));\
             if (n.z < 0) n.xy = (1 - abs(n.yx)) * mix(vec2(-1), vec2(1), greaterThanEqual(n.xy, vec2(0))); return normalize(n);",
        ),
    ] {
        library
            .add_source(&format!("{name}.glsl"), &format(name, body))
            .unwrap();
    }
    let composer = Composer::new(library, ComposeOptions::default());
    let gpu = gpu();
    let columns = (LIGHTS.len() * FORMATS.len()) as u32;
    let rows = (MATERIALS.len() * FEATURES.len()) as u32;
    let size = [columns * CELL, rows * CELL];
    let mut target = Offscreen::new(
        &gpu,
        &OffscreenDesc {
            name: "permutations",
            size,
            images: 1,
            ..Default::default()
        },
    )
    .unwrap();
    // One sphere fills each cell.
    let frame_data: [[f32; 4]; 7] = [
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 0.25, 0.0],
        [0.0, 0.0, 0.5, 1.0],
        [0.0, 0.0, 5.0, 1.0],
        [0.4, 0.6, 0.69, 0.9],
        [0.3, 0.4, 0.5, 1.0],
    ];
    let uniform = gpu
        .buffer(&BufferDesc::uniform(
            "frame",
            size_of_val(&frame_data) as u64,
        ))
        .unwrap();
    gpu.upload(&uniform, 0, bytemuck::bytes_of(&frame_data))
        .unwrap();
    let object: [[f32; 4]; 2] = [[0.0, 0.0, 0.0, 0.9], [0.8, 0.5, 0.3, 1.0]];
    let mut pipelines = Vec::new();
    for row in 0..rows {
        for column in 0..columns {
            let (material, feature) = (MATERIALS[row as usize / 3], FEATURES[row as usize % 3]);
            let (lights, format) = (LIGHTS[column as usize / 4], FORMATS[column as usize % 4]);
            let mut mixins = vec![format, material];
            mixins.extend(feature);
            let lights = lights.iter().map(|light| Mix::of(&[light])).collect();
            let mix = Mix::of(&mixins).slot("lights", Filling::Many(lights));
            let recipe = Recipe::new(&mixins.join("+"), mix, &[Stage::Vertex, Stage::Fragment]);
            let effect = composer.compose(&recipe).unwrap();
            validate_effect(&composer, &recipe, &effect, &ValidationRules::default()).unwrap();
            let shaders: Vec<Shader> = effect
                .stages
                .iter()
                .map(|stage| Shader::composed(&effect.name, stage).unwrap())
                .collect();
            let desc = GraphicsPipelineDesc {
                name: &effect.name,
                shaders: &shaders.iter().collect::<Vec<_>>(),
                constants: &[],
                state: GraphicsState::default(),
            };
            pipelines.push(gpu.graphics_pipeline(&desc).unwrap());
        }
    }
    assert_eq!(pipelines.len(), 360);
    let mut frame = gpu.begin_frame().unwrap();
    target.acquire();
    for (index, pipeline) in (0_u32..).zip(&pipelines) {
        let load = if index == 0 {
            Load::Clear([1.0, 0.0, 1.0, 1.0])
        } else {
            Load::Load
        };
        let [x, y] = [index % columns, index / columns].map(|at| (at * CELL) as f32);
        frame
            .graphics("permutation", pipeline)
            .color(target.current(), load)
            .viewport([x, y, CELL as f32, CELL as f32])
            .bind([uniform.whole()])
            .push(&object)
            .draw(8 * 4 * 8 * 8 * 6, 1)
            .unwrap();
    }
    let back = target.read_back(&mut frame).unwrap();
    frame.submit().unwrap();
    gpu.wait_idle().unwrap();
    let texels = back.wait().unwrap();
    let texel = |x: u32, y: u32| {
        let at = ((y * size[0] + x) * 4) as usize;
        [texels[at], texels[at + 1], texels[at + 2]]
    };
    let mut colours = std::collections::HashSet::new();
    for index in 0..360 {
        let (x, y) = (index % columns * CELL, index / columns * CELL);
        let centre = texel(x + CELL / 2, y + CELL / 2);
        assert_ne!(centre, [255, 0, 255], "permutation {index} drew nothing");
        assert_eq!(
            texel(x, y),
            [255, 0, 255],
            "permutation {index} drew outside of its sphere"
        );
        colours.insert(centre);
    }
    // Formats hardly differ in colour; materials, lights and features do.
    assert!(colours.len() > 45, "{}", colours.len());
}
