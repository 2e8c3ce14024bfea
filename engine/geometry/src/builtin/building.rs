//! A block with rows of recessed windows and a parapet; all in bays of equal size.

use std::collections::HashMap;

use glam::DVec3;

use super::surface::Surface;

const BAY_WIDTH: f64 = 1.0;
const FLOOR_HEIGHT: f64 = 1.15;
/// Distance from a bay's border to its window.
const FRAME: f64 = 0.22;
/// How deep windows lie in the wall.
const RECESS: f64 = 0.16;
const PARAPET_HEIGHT: f64 = 0.45;
const PARAPET_WIDTH: f64 = 0.25;
/// Triangles of one bay on one floor: frame 8, reveal 8, pane 2.
const PER_WINDOW: usize = 18;
/// Triangles of one bay at roof and ground: parapet's outer side, top and inner side 2 each, roof and ground 1 each.
const PER_BAY: usize = 8;

/// Bays in x, in z, and floors.
fn size(target: usize) -> [usize; 3] {
    let triangles = |[x, z, floors]: [usize; 3]| 2 * (x + z) * (floors * PER_WINDOW + PER_BAY);
    let mut size = [1, 1, 1];
    // About twice as high as wide, a little deeper than broad: grow whatever lags behind most and still fits.
    loop {
        let mut order = [0, 1, 2];
        let rank = |axis: usize| size[axis] * [6, 5, 3][axis];
        order.sort_by_key(|&axis| rank(axis));
        let grown = order.into_iter().find_map(|axis| {
            let mut grown = size;
            grown[axis] += 1;
            (triangles(grown) <= target).then_some(grown)
        });
        match grown {
            Some(grown) => size = grown,
            None => return size,
        }
    }
}

pub(super) fn generate(target: usize) -> Surface {
    let [bays_x, bays_z, floors] = size(target);
    let mut builder = Builder::default();
    let (half_x, half_z) = (
        bays_x as f64 * BAY_WIDTH / 2.0,
        bays_z as f64 * BAY_WIDTH / 2.0,
    );
    let wall_top = floors as f64 * FLOOR_HEIGHT;
    let parapet_top = wall_top + PARAPET_HEIGHT;
    // Each side: its left bottom corner seen from outside, the direction to the right, and its bays.
    let sides = [
        (DVec3::new(-half_x, 0.0, half_z), DVec3::X, bays_x),
        (DVec3::new(half_x, 0.0, half_z), DVec3::NEG_Z, bays_z),
        (DVec3::new(half_x, 0.0, -half_z), DVec3::NEG_X, bays_x),
        (DVec3::new(-half_x, 0.0, -half_z), DVec3::Z, bays_z),
    ];
    let roof_scale = DVec3::new(
        1.0 - PARAPET_WIDTH / half_x,
        1.0,
        1.0 - PARAPET_WIDTH / half_z,
    );
    for (corner, right, bays) in sides {
        for bay in 0..bays {
            let at =
                |x: f64, y: f64| corner + right * ((bay as f64 + x) * BAY_WIDTH) + DVec3::Y * y;
            for floor in 0..floors {
                builder.window(|x, y| at(x, (floor as f64 + y) * FLOOR_HEIGHT), right);
            }
            // The wall goes on as the parapet's outer side, over its top, and down to the roof.
            let (left_outer, right_outer) = (at(0.0, parapet_top), at(1.0, parapet_top));
            let (left_inner, right_inner) = (left_outer * roof_scale, right_outer * roof_scale);
            let down = |point: DVec3| DVec3::new(point.x, wall_top, point.z);
            builder.quad([
                at(0.0, wall_top),
                at(1.0, wall_top),
                right_outer,
                left_outer,
            ]);
            builder.quad([left_outer, right_outer, right_inner, left_inner]);
            builder.quad([left_inner, right_inner, down(right_inner), down(left_inner)]);
            builder.triangle([down(left_inner), down(right_inner), DVec3::Y * wall_top]);
            builder.triangle([at(1.0, 0.0), at(0.0, 0.0), DVec3::ZERO]);
        }
    }
    builder.surface
}

/// Finds points again by their place, to a ten-thousandth.
#[derive(Default)]
struct Builder {
    surface: Surface,
    known: HashMap<[i64; 3], u32>,
}

impl Builder {
    fn point(&mut self, position: DVec3) -> u32 {
        let key = (position * 10_000.0).round().as_i64vec3().to_array();
        let surface = &mut self.surface;
        *self
            .known
            .entry(key)
            .or_insert_with(|| surface.point(position))
    }

    fn triangle(&mut self, corners: [DVec3; 3]) {
        let [a, b, c] = corners.map(|corner| self.point(corner));
        self.surface.triangle(a, b, c);
    }

    fn quad(&mut self, corners: [DVec3; 4]) {
        let corners = corners.map(|corner| self.point(corner));
        self.surface.quad(corners);
    }

    /// One bay of one floor; `at` takes 0 to 1 across and up.
    fn window(&mut self, at: impl Fn(f64, f64) -> DVec3, right: DVec3) {
        let inwards = DVec3::Y.cross(right) * RECESS;
        let unit = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        let border = unit.map(|[x, y]| at(x, y));
        let opening = unit.map(|[x, y]| {
            at(
                FRAME + (1.0 - 2.0 * FRAME) * x,
                FRAME + (1.0 - 2.0 * FRAME) * y,
            )
        });
        let pane = opening.map(|corner| corner + inwards);
        for k in 0..4 {
            let next = (k + 1) % 4;
            self.quad([border[k], border[next], opening[next], opening[k]]);
            self.quad([opening[k], opening[next], pane[next], pane[k]]);
        }
        self.quad(pane);
    }
}
