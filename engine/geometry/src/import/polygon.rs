//! Cuts polygons into triangles.

use glam::{DVec2, DVec3};

/// Beyond this many corners a polygon is cut as a fan: ear clipping takes time with the square of the count or worse.
const MAX_EAR_CLIPPED: usize = 512;

/// Calls `emit` with the corner numbers of `corners.len() - 2` triangles, wound as the polygon is.
///
/// A convex polygon becomes a fan about its first corner; a concave one is cut by ear clipping (Meisters, "Polygons have
/// ears", 1975) in the plane across its mean normal. One that crosses itself, or has no area, yields a fan from where
/// no ear can be found.
pub(super) fn triangulate(corners: &[DVec3], mut emit: impl FnMut([usize; 3])) {
    let count = corners.len();
    let mut ring: Vec<usize> = (0..count).collect();
    if count <= 3 || count > MAX_EAR_CLIPPED {
        return fan(&ring, emit);
    }
    let (flat, area) = project(corners);
    // What rounding makes of zero: corners on one line are neither ears nor dents.
    let nothing = area * 1e-6;
    let turn = |a: usize, b: usize, c: usize| (flat[b] - flat[a]).perp_dot(flat[c] - flat[b]);
    if (0..count).all(|k| turn(k, (k + 1) % count, (k + 2) % count) >= -nothing) {
        return fan(&ring, emit);
    }
    while ring.len() > 3 {
        let length = ring.len();
        let at = |k: usize| ring[k % length];
        let ear = (0..length).find(|&k| {
            let (a, b, c) = (at(k), at(k + 1), at(k + 2));
            turn(a, b, c) > nothing
                && !ring
                    .iter()
                    .any(|&p| inside(flat[p], [flat[a], flat[b], flat[c]], nothing))
        });
        let Some(k) = ear else { break };
        emit([at(k), at(k + 1), at(k + 2)]);
        ring.remove((k + 1) % length);
    }
    fan(&ring, emit);
}

fn fan(ring: &[usize], mut emit: impl FnMut([usize; 3])) {
    if let Some((&first, rest)) = ring.split_first() {
        rest.windows(2)
            .for_each(|pair| emit([first, pair[0], pair[1]]));
    }
}

/// The corners in the plane across the polygon's mean normal (Newell's method), counter-clockwise, and twice the area there.
fn project(corners: &[DVec3]) -> (Vec<DVec2>, f64) {
    let origin = corners[0];
    let pairs = corners.iter().zip(corners.iter().cycle().skip(1));
    let normal: DVec3 = pairs.map(|(&a, &b)| (a - origin).cross(b - origin)).sum();
    let (x, y) = normal
        .try_normalize()
        .unwrap_or(DVec3::Z)
        .any_orthonormal_pair();
    // The pair may be right- or left-handed about the normal; the sign settles it.
    let sign = x.cross(y).dot(normal).signum();
    let flat =
        |corner: &DVec3| DVec2::new((*corner - origin).dot(x), (*corner - origin).dot(y) * sign);
    (corners.iter().map(flat).collect(), normal.length())
}

/// Whether `p` lies in the triangle or on its border, but isn't at one of its corners.
fn inside(p: DVec2, [a, b, c]: [DVec2; 3], nothing: f64) -> bool {
    let side = |from: DVec2, to: DVec2| (to - from).perp_dot(p - from) >= -nothing;
    p != a && p != b && p != c && side(a, b) && side(b, c) && side(c, a)
}
