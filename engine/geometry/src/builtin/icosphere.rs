//! A sphere cut from an icosahedron, displaced by craters and ridges.

use std::collections::HashMap;

use glam::{DMat3, DVec3, I64Vec3};

use super::surface::Surface;

/// Corner numbers of the icosahedron's faces, counter-clockwise seen from outside.
const FACES: [[u32; 3]; 20] = [
    [0, 11, 5],
    [0, 5, 1],
    [0, 1, 7],
    [0, 7, 10],
    [0, 10, 11],
    [1, 5, 9],
    [5, 11, 4],
    [11, 10, 2],
    [10, 7, 6],
    [7, 1, 8],
    [3, 9, 4],
    [3, 4, 2],
    [3, 2, 6],
    [3, 6, 8],
    [3, 8, 9],
    [4, 9, 5],
    [2, 4, 11],
    [6, 2, 10],
    [8, 6, 7],
    [9, 8, 1],
];

/// The largest geodesic sphere with at most `target` triangles: each face of the icosahedron cut into `frequency`^2.
pub(super) fn generate(target: usize) -> Surface {
    let frequency = (target / 20).isqrt().max(1);
    let golden = (1.0 + 5_f64.sqrt()) / 2.0;
    let (a, b) = (1.0, golden);
    let corners = [
        [-a, b, 0.0],
        [a, b, 0.0],
        [-a, -b, 0.0],
        [a, -b, 0.0],
        [0.0, -a, b],
        [0.0, a, b],
        [0.0, -a, -b],
        [0.0, a, -b],
        [b, 0.0, -a],
        [b, 0.0, a],
        [-b, 0.0, -a],
        [-b, 0.0, a],
    ]
    .map(DVec3::from);

    let mut surface = Surface::default();
    // Points on the icosahedron's edges and corners belong to several faces: found again by what they are a mixture of.
    let mut shared: HashMap<[(u32, usize); 2], u32> = HashMap::new();
    let craters = craters();
    for face in FACES {
        let mut rows: Vec<Vec<u32>> = Vec::with_capacity(frequency + 1);
        for i in 0..=frequency {
            let row = (0..=frequency - i).map(|j| {
                let weights = [frequency - i - j, j, i];
                let mut parts: Vec<(u32, usize)> = face
                    .into_iter()
                    .zip(weights)
                    .filter(|part| part.1 > 0)
                    .collect();
                parts.sort_unstable();
                let mixture: DVec3 = parts
                    .iter()
                    .map(|&(corner, weight)| corners[corner as usize] * weight as f64)
                    .sum();
                let mut point = || surface.point(displace(mixture.normalize(), &craters));
                match parts[..] {
                    [only] => *shared.entry([only, (u32::MAX, 0)]).or_insert_with(point),
                    [first, second] => *shared.entry([first, second]).or_insert_with(point),
                    _ => point(),
                }
            });
            rows.push(row.collect());
        }
        for pair in rows.windows(2) {
            let (lower, upper) = (&pair[0], &pair[1]);
            for j in 0..upper.len() {
                surface.triangle(lower[j], lower[j + 1], upper[j]);
                if let Some(&right) = upper.get(j + 1) {
                    surface.triangle(lower[j + 1], right, upper[j]);
                }
            }
        }
    }
    surface
}

struct Crater {
    centre: DVec3,
    /// As a chord of the unit sphere.
    radius: f64,
}

/// Craters at fixed places, few large ones and many small ones.
fn craters() -> Vec<Crater> {
    (0..64)
        .map(|k: i64| {
            let random = |axis: i64| hash(I64Vec3::new(k, axis, 77));
            let centre = DVec3::new(random(0), random(1), random(2)).normalize_or(DVec3::Y);
            Crater {
                centre,
                radius: 0.6 / (1.0 + k as f64 * 0.2),
            }
        })
        .collect()
}

/// Moves a point of the unit sphere along its radius.
fn displace(direction: DVec3, craters: &[Crater]) -> DVec3 {
    let mut height = 0.0;
    let (mut frequency, mut amplitude) = (1.3, 0.17);
    // Turned from octave to octave, so that the lattices of the noise don't line up.
    let mut turned = direction;
    for octave in 0..5 {
        turned = TURN * turned;
        let value = noise(turned * frequency + DVec3::splat(f64::from(octave) * 17.0));
        // The finer octaves form ridges.
        height += amplitude * if octave < 2 { value } else { 0.3 - value.abs() };
        frequency *= 2.1;
        amplitude *= 0.4;
    }
    for crater in craters {
        let distance = direction.distance(crater.centre) / crater.radius;
        if distance < 1.5 {
            // A bowl up to distance 1, with a rim that runs out at 1.5.
            let bowl = (distance * distance - 1.0).min(0.0) * 0.3;
            let rim = (1.0 - (distance - 1.0).abs() * 2.0).max(0.0);
            height += crater.radius * (bowl + 0.09 * rim * rim * (3.0 - 2.0 * rim));
        }
    }
    direction * (1.0 + height)
}

/// A rotation about no axis in particular.
const TURN: DMat3 = DMat3::from_cols(
    DVec3::new(0.36, -0.8, 0.48),
    DVec3::new(0.48, 0.6, 0.64),
    DVec3::new(-0.8, 0.0, 0.6),
);

/// A fixed number from -1 to 1 for each point of the integer lattice.
fn hash(point: I64Vec3) -> f64 {
    let mut bits = (point.x as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ (point.y as u64).wrapping_mul(0xc2b2_ae3d_27d4_eb4f)
        ^ (point.z as u64).wrapping_mul(0x1656_67b1_9e37_79f9);
    for _ in 0..2 {
        bits = (bits ^ bits >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    }
    (bits >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// Value noise from -1 to 1, with smooth first and second derivatives.
fn noise(point: DVec3) -> f64 {
    let cell = point.floor();
    let t = point - cell;
    let smooth = t * t * t * (t * (t * 6.0 - 15.0) + 10.0);
    let mut sum = 0.0;
    for corner in 0..8 {
        let offset = I64Vec3::new(corner & 1, corner >> 1 & 1, corner >> 2 & 1);
        let weight = |axis: usize| {
            if offset[axis] == 1 {
                smooth[axis]
            } else {
                1.0 - smooth[axis]
            }
        };
        sum += hash(cell.as_i64vec3() + offset) * weight(0) * weight(1) * weight(2);
    }
    sum
}
