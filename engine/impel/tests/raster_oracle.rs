//! The compute rasteriser against a slow one on the CPU, which is fed with the positions as the shader snapped them.

#[path = "shaders/src/generated/mod.rs"]
#[allow(dead_code, unreachable_pub, missing_docs)]
mod programs;

use impel::gpu::testing::gpu;
use impel::gpu::{BufferDesc, ComputePipelineDesc, Shader};
use impel::math::Pcg32;
use programs::raster_scenes;

const SCENES: usize = 1000;
const VERTICES: usize = 64;
const TRIANGLES: usize = 124;
const SIZE: [u32; 2] = [48, 40];
const PIXELS: usize = (SIZE[0] * SIZE[1]) as usize;

/// Random geometry: vertices in clip space, triangles by their corners.
struct Input {
    positions: Vec<[f32; 4]>,
    triangles: Vec<[u32; 3]>,
}

/// Six kinds of scene in turn, each with 64 vertices and 124 triangles.
fn input() -> Input {
    let mut random = Pcg32::new(1234);
    let mut input = Input {
        positions: Vec::new(),
        triangles: Vec::new(),
    };
    for scene in 0..SCENES {
        let w = random.range(0.5, 20.0);
        let spread = random.range(0.05, 1.3);
        for vertex in 0..VERTICES {
            let (mut x, mut y) = match scene % 6 {
                // A grid of shared edges, its vertices on pixel centres and corners, where the fill rule decides.
                0 => {
                    let step = |n: usize, size: u32| n as f32 * 2.5 / size as f32 * 2.0 - 0.7;
                    (step(vertex % 8, SIZE[0]), step(vertex / 8, SIZE[1]))
                }
                // The same grid, shaken.
                1 => {
                    let jitter = random.range(-0.05, 0.05);
                    (
                        (vertex % 8) as f32 * 0.25 - 0.9 + jitter,
                        (vertex / 8) as f32 * 0.25 - 0.9 - jitter,
                    )
                }
                // Slivers: all near one line.
                2 => {
                    let along = random.range(-1.0, 1.0);
                    (along, along * spread + random.range(-0.02, 0.02))
                }
                // Anywhere, some outside of the picture.
                _ => (random.range(-spread, spread), random.range(-spread, spread)),
            };
            if scene % 6 == 5 {
                // Coarse positions make degenerate triangles and shared points.
                (x, y) = ((x * 6.0).round() / 6.0, (y * 6.0).round() / 6.0);
            }
            input
                .positions
                .push([x * w, y * w, random.range(0.001, 0.9) * w, w]);
        }
        for triangle in 0..TRIANGLES {
            let mut corner = || random.next_u32() % VERTICES as u32;
            let corners = match (scene % 6, triangle) {
                // Two triangles a cell of the grid.
                (0 | 1, 0..98) => {
                    let cell = (triangle / 2) as u32;
                    let first = cell / 7 * 8 + cell % 7;
                    match triangle % 2 {
                        0 => [first, first + 1, first + 8],
                        _ => [first + 1, first + 9, first + 8],
                    }
                }
                (0 | 1, _) => [0, 0, 0],
                _ => [corner(), corner(), corner()],
            };
            input.triangles.push(corners);
        }
    }
    input
}

/// What one scene shows: the winning sample of each pixel, and how many triangles cover it.
struct Picture {
    samples: Vec<u64>,
    hits: Vec<u32>,
}

/// Depth of the plane through three corners at a pixel's centre, no farther and no nearer than they are.
fn depth_at([a, c, b]: [[f32; 3]; 3], pixel: [i64; 2]) -> f32 {
    let to = |corner: [f32; 3]| [corner[0] - a[0], corner[1] - a[1], corner[2] - a[2]];
    let (b_, c_) = (to(b), to(c));
    let area = b_[0] * c_[1] - b_[1] * c_[0];
    let slope_x = (b_[2] * c_[1] - c_[2] * b_[1]) / area;
    let slope_y = (c_[2] * b_[0] - b_[2] * c_[0]) / area;
    let (x, y) = (pixel[0] as f32 + 0.5 - a[0], pixel[1] as f32 + 0.5 - a[1]);
    let depth = a[2] + (x * slope_x + y * slope_y);
    let (farthest, nearest) = (a[2].min(b[2]).min(c[2]), a[2].max(b[2]).max(c[2]));
    if depth > farthest {
        depth.min(nearest)
    } else {
        farthest
    }
}

/// Rasterises by the definition: each pixel centre against each triangle, in 64 bits.
fn reference(
    scene: usize,
    snapped: &[[i32; 2]],
    places: &[[f32; 3]],
    triangles: &[[u32; 3]],
) -> Picture {
    let mut picture = Picture {
        samples: vec![0; PIXELS],
        hits: vec![0; PIXELS],
    };
    for (number, corners) in triangles.iter().enumerate() {
        let point = |corner: u32| snapped[corner as usize].map(i64::from);
        let [a, b, c] = corners.map(point);
        let cross = |o: [i64; 2], p: [i64; 2], q: [i64; 2]| {
            (p[0] - o[0]) * (q[1] - o[1]) - (p[1] - o[1]) * (q[0] - o[0])
        };
        // y goes down, so counter-clockwise triangles have negative areas.
        let area = -cross(a, b, c);
        if area <= 0 {
            continue;
        }
        // Walking b to a, c to b, a to c keeps the inside on the right hand of the screen.
        let inside = |from: [i64; 2], to: [i64; 2], p: [i64; 2]| {
            let side = cross(from, to, p);
            let top = from[1] == to[1] && to[0] > from[0];
            let left = to[1] < from[1];
            side > 0 || (side == 0 && (top || left))
        };
        for y in 0..SIZE[1] as i64 {
            for x in 0..SIZE[0] as i64 {
                let p = [x * 256 + 128, y * 256 + 128];
                if !(inside(b, a, p) && inside(c, b, p) && inside(a, c, p)) {
                    continue;
                }
                let depth = depth_at(corners.map(|corner| places[corner as usize]), [x, y]);
                let low = (scene as u64) << 7 | number as u64;
                let sample = u64::from(depth.to_bits()) << 32 | low;
                let pixel = y as usize * SIZE[0] as usize + x as usize;
                picture.samples[pixel] = picture.samples[pixel].max(sample);
                picture.hits[pixel] += 1;
            }
        }
    }
    picture
}

#[test]
fn every_pixel_of_a_thousand_scenes() {
    let gpu = gpu();
    let shader = Shader::from_code(&raster_scenes::SHADERS[0]).unwrap();
    let pipeline = gpu
        .compute_pipeline(&ComputePipelineDesc {
            name: "raster scenes",
            shader: &shader,
            constants: &[],
        })
        .unwrap();
    let input = input();
    let storage = |name, bytes: usize| {
        gpu.buffer(&BufferDesc::storage(name, bytes as u64))
            .unwrap()
    };
    let positions = storage("positions", size_of_val(&input.positions[..]));
    let triangles = storage("triangles", size_of_val(&input.triangles[..]));
    let snapped = storage("snapped", SCENES * VERTICES * 8);
    let places = storage("places", SCENES * VERTICES * 12);
    let pixels = storage("pixels", SCENES * PIXELS * 8);
    let hits = storage("hits", SCENES * PIXELS * 4);
    gpu.upload(&positions, 0, bytemuck::cast_slice(&input.positions))
        .unwrap();
    gpu.upload(&triangles, 0, bytemuck::cast_slice(&input.triangles))
        .unwrap();

    let mut frame = gpu.begin_frame().unwrap();
    frame.fill(&pixels, 0, pixels.size(), 0).unwrap();
    frame.fill(&hits, 0, hits.size(), 0).unwrap();
    frame
        .compute("raster scenes", &pipeline)
        .bind(raster_scenes::Bindings {
            positions: positions.whole(),
            triangles: triangles.whole(),
            snapped_out: snapped.whole(),
            pixels: pixels.whole(),
            hits: hits.whole(),
            places_out: places.whole(),
        })
        .push(&raster_scenes::Push { size: SIZE })
        .dispatch([SCENES as u32, 1, 1])
        .unwrap();
    let read = |frame: &mut impel::gpu::Frame, buffer: &impel::gpu::Buffer| {
        frame.read_back(buffer, 0, buffer.size()).unwrap()
    };
    let (snapped, places, pixels, hits) = (
        read(&mut frame, &snapped),
        read(&mut frame, &places),
        read(&mut frame, &pixels),
        read(&mut frame, &hits),
    );
    frame.submit().unwrap();
    let snapped: Vec<[i32; 2]> = bytemuck::pod_collect_to_vec(&snapped.wait().unwrap());
    let places: Vec<[f32; 3]> = bytemuck::pod_collect_to_vec(&places.wait().unwrap());
    let pixels: Vec<u64> = bytemuck::pod_collect_to_vec(&pixels.wait().unwrap());
    let hits: Vec<u32> = bytemuck::pod_collect_to_vec(&hits.wait().unwrap());

    let (mut covered, mut doubly) = (0, 0);
    for scene in 0..SCENES {
        let vertices = scene * VERTICES..(scene + 1) * VERTICES;
        let triangles = &input.triangles[scene * TRIANGLES..(scene + 1) * TRIANGLES];
        let (snapped, places) = (&snapped[vertices.clone()], &places[vertices]);
        let expected = reference(scene, snapped, places, triangles);
        let range = scene * PIXELS..(scene + 1) * PIXELS;
        assert_eq!(
            expected.hits,
            hits[range.clone()],
            "scene {scene}: coverage"
        );
        let different = (expected.samples.iter().zip(&pixels[range]))
            .filter(|(a, b)| a != b)
            .count();
        assert_eq!(different, 0, "scene {scene}: nearest samples");
        covered += expected.hits.iter().filter(|&&hits| hits > 0).count();
        if scene % 6 < 2 {
            // The grid covers the plane once: no crack, no pixel twice.
            doubly += expected.hits.iter().filter(|&&hits| hits > 1).count();
        }
    }
    assert_eq!(doubly, 0, "pixels of a plain grid that were hit twice");
    assert!(covered > SCENES * PIXELS / 10, "{covered}");
}

#[test]
fn reference_sees_a_wrong_fill_rule() {
    // A square of two triangles exactly on pixel centres: each of its pixels once, the right and lower edges left out.
    let snapped = [
        [128, 128],
        [128 + 1024, 128],
        [128, 128 + 1024],
        [1152, 1152],
    ];
    let places = snapped.map(|[x, y]| [x as f32 / 256.0, y as f32 / 256.0, 0.5]);
    let picture = reference(0, &snapped, &places, &[[0, 2, 1], [1, 2, 3]]);
    let hit: u32 = picture.hits.iter().sum();
    assert_eq!(hit, 16);
    assert!(picture.hits.iter().all(|&hits| hits <= 1));
    assert_eq!(picture.hits[0], 1, "the upper left pixel is in");
    assert_eq!(picture.hits[4], 0, "the right edge is out");
}
