//! A trefoil knot of a twisted, fluted tube.

use std::f64::consts::TAU;

use glam::DVec3;

use super::surface::Surface;

/// Radius of the torus on which the knot runs, and of its own ring.
const RADII: [f64; 2] = [1.0, 0.45];
const TUBE_RADIUS: f64 = 0.27;
/// Segments along the knot for each one around the tube, for about square cells.
const ALONG_PER_AROUND: f64 = 5.5;

/// The curve: twice around the axis, three times through the hole; `turn` from 0 to 1.
fn curve(turn: f64) -> DVec3 {
    let angle = TAU * turn;
    let radius = RADII[0] + RADII[1] * libm::cos(3.0 * angle);
    DVec3::new(
        radius * libm::cos(2.0 * angle),
        RADII[1] * libm::sin(3.0 * angle),
        -radius * libm::sin(2.0 * angle),
    )
}

fn tangent(turn: f64) -> DVec3 {
    (curve(turn + 1e-4) - curve(turn - 1e-4)).normalize()
}

pub(super) fn generate(target: usize) -> Surface {
    let (along, around) = grid(target);
    let mut surface = Surface::default();
    for k in 0..along {
        let turn = k as f64 / along as f64;
        let centre = curve(turn);
        let tangent = tangent(turn);
        // Away from the torus's own centre circle: closes smoothly, and never runs along the tangent.
        let angle = TAU * turn * 2.0;
        let hub = DVec3::new(libm::cos(angle), 0.0, -libm::sin(angle)) * RADII[0];
        let outwards = (centre - hub).reject_from_normalized(tangent).normalize();
        let sideways = tangent.cross(outwards);
        for j in 0..around {
            let around = TAU * j as f64 / around as f64;
            let flute = 1.0 + 0.07 * libm::cos(5.0 * around + 10.0 * TAU * turn);
            let offset = outwards * libm::cos(around) + sideways * libm::sin(around);
            surface.point(centre + offset * TUBE_RADIUS * flute);
        }
    }
    for k in 0..along {
        let ring = |k: usize| {
            ((k % along) * around..(k % along + 1) * around)
                .map(|point| point as u32)
                .collect::<Vec<_>>()
        };
        surface.band(&ring(k), &ring(k + 1));
    }
    surface
}

/// Segments along and around: twice their product comes closest to `target` from below, cells nearly square.
fn grid(target: usize) -> (usize, usize) {
    let cells = target / 2;
    let ideal = ((cells as f64 / ALONG_PER_AROUND).sqrt() as usize).max(4);
    let candidates = (ideal * 4 / 5).max(4)..=ideal * 5 / 4;
    let around = candidates
        .min_by_key(|&around| (cells % around, around.abs_diff(ideal)))
        .unwrap_or(4);
    (cells / around, around)
}
