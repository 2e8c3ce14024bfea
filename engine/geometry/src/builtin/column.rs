//! A fluted column on a plinth, with a capital.

use glam::DVec3;

use super::surface::Surface;

/// Flutes around the shaft.
const FLUTES: usize = 20;
/// Bottom and top of the fluted part.
const SHAFT: [f64; 2] = [0.36, 3.3];
/// Radius and height along the foot: two rolls with a hollow between.
const FOOT: [[f64; 2]; 10] = [
    [0.56, 0.0],
    [0.6, 0.04],
    [0.6, 0.1],
    [0.56, 0.14],
    [0.49, 0.16],
    [0.47, 0.2],
    [0.52, 0.24],
    [0.52, 0.28],
    [0.46, 0.31],
    [0.42, 0.34],
];
/// The same of the capital: a ring and a bowl.
const CAPITAL: [[f64; 2]; 8] = [
    [0.37, 3.33],
    [0.4, 3.35],
    [0.4, 3.39],
    [0.37, 3.41],
    [0.39, 3.47],
    [0.46, 3.54],
    [0.55, 3.59],
    [0.58, 3.64],
];
/// Triangles of the two boxes.
const BOXES: usize = 24;

/// With n points around and r rings the column has 2 n r triangles, plus those of the boxes.
pub(super) fn generate(target: usize) -> Surface {
    let fixed = FOOT.len() + CAPITAL.len();
    let pairs = (target - BOXES) / 2;
    // About three rings for four points around, a multiple of the flutes so that all look alike.
    let around = ((pairs as f64 / 0.75).sqrt() as usize / FLUTES * FLUTES)
        .clamp(FLUTES, pairs / (fixed + 2));
    let shaft_rings = pairs / around - fixed;

    let mut surface = Surface::default();
    let mut rings: Vec<Vec<u32>> = Vec::with_capacity(fixed + shaft_rings);
    rings.extend(
        FOOT.iter()
            .map(|&[radius, height]| surface.ring(around, |_, _| (radius, height))),
    );
    for k in 0..shaft_rings {
        let t = k as f64 / (shaft_rings - 1) as f64;
        let height = SHAFT[0] + (SHAFT[1] - SHAFT[0]) * t;
        // Entasis: the shaft swells a little and narrows towards the top. Flutes run out at both ends.
        let radius = 0.41 - 0.06 * t * t;
        let depth = 0.035 * (t.min(1.0 - t) * 16.0).min(1.0);
        rings.push(surface.ring(around, |_, angle| {
            let wave = libm::cos(angle * FLUTES as f64);
            (radius - depth * (0.5 + 0.5 * wave), height)
        }));
    }
    rings.extend(
        CAPITAL
            .iter()
            .map(|&[radius, height]| surface.ring(around, |_, _| (radius, height))),
    );
    rings
        .windows(2)
        .for_each(|pair| surface.band(&pair[0], &pair[1]));
    if let [first, .., last] = &rings[..] {
        let backwards: Vec<u32> = first.iter().rev().copied().collect();
        surface.fan(&backwards, DVec3::ZERO);
        surface.fan(last, DVec3::new(0.0, 3.64, 0.0));
    }
    surface.cuboid(DVec3::new(-0.68, -0.22, -0.68), DVec3::new(0.68, 0.0, 0.68));
    surface.cuboid(DVec3::new(-0.66, 3.64, -0.66), DVec3::new(0.66, 3.84, 0.66));
    surface
}
