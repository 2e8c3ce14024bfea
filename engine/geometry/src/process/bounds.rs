//! Bounding spheres and normal cones, taken from quantised positions and rounded outwards.

use glam::{DVec3, I64Vec3, Vec3};

use crate::mesh::{Mesh, PositionGrid, Sphere};

/// A cone that never culls: `0 >= 1 * distance + radius` doesn't hold for any camera, as the radius is positive.
const NO_CONE: [i8; 4] = [0, 0, 0, 127];

/// Added to each cutoff, so that the rounding of a shader's 32-bit arithmetic (and of its camera's transform into object
/// space) can't turn a triangle seen edge-on into a culled one. An eighth of the cutoff's own resolution.
const CUTOFF_MARGIN: f64 = 1.0 / 1024.0;

/// The sphere around the mean vertex that holds every vertex.
pub(super) fn mesh_sphere(mesh: &Mesh) -> Sphere {
    let position =
        |vertex: &crate::Vertex| Vec3::from(mesh.grid.decode(vertex.position)).as_dvec3();
    let sum: DVec3 = mesh.vertices.iter().map(position).sum();
    let centre = (sum / mesh.vertices.len().max(1) as f64).as_vec3();
    sphere(centre, mesh.vertices.iter().map(position))
}

/// The sphere around `centre` that holds every corner.
pub(super) fn meshlet_sphere(
    grid: &PositionGrid,
    corners: &[[u16; 3]],
    centre: [f32; 3],
) -> Sphere {
    // Overflow inside meshoptimizer is possible at the far end of the coordinates' range.
    let first = || corners.first().map_or(centre, |&steps| grid.decode(steps));
    let centre = if centre.iter().all(|value| value.is_finite()) {
        centre
    } else {
        first()
    };
    sphere(
        centre.into(),
        corners
            .iter()
            .map(|&steps| Vec3::from(grid.decode(steps)).as_dvec3()),
    )
}

fn sphere(centre: Vec3, positions: impl Iterator<Item = DVec3>) -> Sphere {
    let exact = positions
        .map(|position| position.distance_squared(centre.as_dvec3()))
        .fold(0.0, f64::max)
        .sqrt();
    // Rounded up, and by one part in a million more, so that a point on the sphere passes in 32-bit arithmetic too.
    let radius = ((exact * 1.000_001) as f32).next_up();
    Sphere {
        centre: centre.into(),
        radius,
    }
}

/// The longest edge of a meshlet's triangles in units of the sphere's diameter / 255, rounded up: see
/// [`Meshlet::longest_edge`](crate::Meshlet::longest_edge).
pub(super) fn longest_edge(
    grid: &PositionGrid,
    corners: &[[u16; 3]],
    triangles: &[u8],
    radius: f32,
) -> u8 {
    let mut longest = 0;
    for triangle in triangles.chunks_exact(3) {
        let corner =
            |k: usize| I64Vec3::from_array(corners[usize::from(triangle[k])].map(i64::from));
        for (from, to) in [(0, 1), (1, 2), (2, 0)] {
            longest = longest.max((corner(to) - corner(from)).length_squared());
        }
    }
    let edge = (longest as f64).sqrt() * f64::from(grid.scale);
    // No chord is longer than the diameter, and the radius is rounded up, so 255 is never exceeded; a part in a million
    // makes up for the rounding of the product in 32 bits.
    (edge * 1.000_001 / f64::from(radius) * 127.5)
        .ceil()
        .clamp(1.0, 255.0) as u8
}

/// The cone of a meshlet's face normals as [`Meshlet::cone`](crate::Meshlet::cone) has it; `axis` is a good guess at its axis.
///
/// Let `a` be the encoded axis, `l` its length (not quite 1), and `s` the sine of the largest angle between it and a
/// face's normal. For a unit vector `d` towards the meshlet and `q = radius / distance`, all faces face away when
/// `dot(d, a / l) >= s + q`. The shader tests `dot(d, a) >= cutoff + q`; that implies the former when
/// `cutoff >= l * s + (l - 1) * q`, and as the test can only hold for `q <= l`, `cutoff = l * s + max(l - 1, 0) * l` will do.
pub(super) fn cone(corners: &[[u16; 3]], triangles: &[u8], axis: [f32; 3]) -> [i8; 4] {
    let Some(axis) = Vec3::from(axis).as_dvec3().try_normalize() else {
        return NO_CONE;
    };
    let encoded = (axis * 127.0).round();
    let length = encoded.length() / 127.0;
    let Some(axis) = encoded.try_normalize() else {
        return NO_CONE;
    };

    let mut cosine = 1.0_f64;
    for triangle in triangles.chunks_exact(3) {
        // On the grid the normal is exact, and no different from that of the decoded positions.
        let corner =
            |k: usize| I64Vec3::from_array(corners[usize::from(triangle[k])].map(i64::from));
        let normal = (corner(1) - corner(0))
            .cross(corner(2) - corner(0))
            .as_dvec3();
        // A triangle without area is never drawn.
        if let Some(normal) = normal.try_normalize() {
            cosine = cosine.min(normal.dot(axis));
        }
    }
    if cosine <= 0.0 {
        return NO_CONE;
    }
    let sine = (1.0 - cosine * cosine).max(0.0).sqrt();
    let cutoff =
        ((length * sine + (length - 1.0).max(0.0) * length + CUTOFF_MARGIN) * 127.0).ceil();
    if cutoff >= 127.0 {
        return NO_CONE;
    }
    [
        encoded.x as i8,
        encoded.y as i8,
        encoded.z as i8,
        cutoff as i8,
    ]
}
