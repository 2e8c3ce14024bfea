//! A triangle surface under construction: welded points, no attributes.

use std::f64::consts::TAU;

use glam::DVec3;

use crate::{SourceMesh, SourceVertex};

#[derive(Default)]
pub(super) struct Surface {
    pub(super) points: Vec<DVec3>,
    /// Counter-clockwise seen from outside.
    pub(super) triangles: Vec<[u32; 3]>,
}

impl Surface {
    pub(super) fn point(&mut self, position: DVec3) -> u32 {
        self.points.push(position);
        (self.points.len() - 1) as u32
    }

    /// `count` points around the Y axis, from +Z towards +X; `radius_and_height` is asked for each, with its angle.
    pub(super) fn ring(
        &mut self,
        count: usize,
        mut radius_and_height: impl FnMut(usize, f64) -> (f64, f64),
    ) -> Vec<u32> {
        (0..count)
            .map(|k| {
                let angle = TAU * k as f64 / count as f64;
                let (radius, height) = radius_and_height(k, angle);
                self.point(DVec3::new(
                    radius * libm::sin(angle),
                    height,
                    radius * libm::cos(angle),
                ))
            })
            .collect()
    }

    pub(super) fn triangle(&mut self, a: u32, b: u32, c: u32) {
        self.triangles.push([a, b, c]);
    }

    /// Two triangles; the corners go round counter-clockwise seen from outside.
    pub(super) fn quad(&mut self, [a, b, c, d]: [u32; 4]) {
        self.triangle(a, b, c);
        self.triangle(a, c, d);
    }

    /// A band between two closed rings of as many points. Seen from outside, with the first ring below the second, the
    /// points run to the right.
    pub(super) fn band(&mut self, lower: &[u32], upper: &[u32]) {
        let count = lower.len().min(upper.len());
        for k in 0..count {
            let next = (k + 1) % count;
            self.quad([lower[k], lower[next], upper[next], upper[k]]);
        }
    }

    /// As [`Surface::band`], between rings of different point counts that start at the same angle.
    pub(super) fn uneven_band(&mut self, lower: &[u32], upper: &[u32]) {
        let (lower_count, upper_count) = (lower.len(), upper.len());
        let (mut i, mut j) = (0, 0);
        while i < lower_count || j < upper_count {
            let (from, to) = (lower[i % lower_count], upper[j % upper_count]);
            // The ring whose next point comes first takes a step: (i + 1/2) / lower against (j + 1/2) / upper.
            if i < lower_count
                && (j == upper_count || (2 * i + 1) * upper_count <= (2 * j + 1) * lower_count)
            {
                i += 1;
                self.triangle(from, lower[i % lower_count], to);
            } else {
                j += 1;
                self.triangle(from, upper[j % upper_count], to);
            }
        }
    }

    /// Closes a ring with triangles to a point at its centre; seen from outside the points run counter-clockwise.
    pub(super) fn fan(&mut self, ring: &[u32], centre: DVec3) {
        let centre = self.point(centre);
        for (k, &from) in ring.iter().enumerate() {
            self.triangle(from, ring[(k + 1) % ring.len()], centre);
        }
    }

    /// A box of 12 triangles.
    pub(super) fn cuboid(&mut self, least: DVec3, greatest: DVec3) {
        let corner: [u32; 8] = std::array::from_fn(|k| {
            let pick = |bit: usize, axis: usize| {
                if k >> bit & 1 == 1 {
                    greatest[axis]
                } else {
                    least[axis]
                }
            };
            self.point(DVec3::new(pick(0, 0), pick(1, 1), pick(2, 2)))
        });
        for face in [
            [1, 3, 7, 5],
            [0, 4, 6, 2],
            [2, 6, 7, 3],
            [0, 1, 5, 4],
            [4, 5, 7, 6],
            [0, 2, 3, 1],
        ] {
            self.quad(face.map(|k: usize| corner[k]));
        }
    }

    pub(super) fn into_mesh(self, name: String) -> SourceMesh {
        let vertex = |point: &DVec3| SourceVertex {
            position: point.as_vec3().into(),
            ..SourceVertex::default()
        };
        SourceMesh {
            name,
            vertices: self.points.iter().map(vertex).collect(),
            indices: self.triangles.into_flattened(),
        }
    }
}
