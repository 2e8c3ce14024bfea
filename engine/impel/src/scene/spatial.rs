//! Instances in an order that keeps neighbours in space together.

use super::{Instance, Scene};
use crate::math::Affine;
use glam::Vec3;

/// Bits of each coordinate in a Morton code.
const BITS: u32 = 21;

impl Scene {
    /// Sorts the instances along a Morton curve, moving ones and others apart. The renderer culls instances in groups of
    /// 64 that follow each other in the list: sorted, these are small, and most of a large scene costs nothing.
    pub fn sort_spatially(&mut self) {
        let moving = (self.moving as usize).min(self.instances.len());
        let (moving, fixed) = self.instances.split_at_mut(moving);
        sort(moving);
        sort(fixed);
    }
}

fn sort(instances: &mut [Instance]) {
    let position = |instance: &Instance| Affine::translation(&instance.transform);
    let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for instance in instances.iter() {
        low = low.min(position(instance));
        high = high.max(position(instance));
    }
    let steps = ((1_u32 << BITS) - 1) as f32;
    let scale = steps / (high - low).max_element().max(f32::MIN_POSITIVE);
    instances.sort_by_cached_key(|instance| {
        let cell = (position(instance) - low) * scale;
        // A cast takes what is not a number for 0.
        let spread = |value: f32| spread_bits(value.min(steps) as u64);
        spread(cell.x) | spread(cell.y) << 1 | spread(cell.z) << 2
    });
}

/// Bit `i` of 21 goes to bit `3 i`.
fn spread_bits(value: u64) -> u64 {
    let mut bits = value & 0x1f_ffff;
    bits = (bits | bits << 32) & 0x001f_0000_0000_ffff;
    bits = (bits | bits << 16) & 0x001f_0000_ff00_00ff;
    bits = (bits | bits << 8) & 0x100f_00f0_0f00_f00f;
    bits = (bits | bits << 4) & 0x10c3_0c30_c30c_30c3;
    (bits | bits << 2) & 0x1249_2492_4924_9249
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Field;

    #[test]
    fn bits_are_spread() {
        for bit in 0..BITS {
            assert_eq!(spread_bits(1 << bit), 1 << (3 * bit));
        }
        assert_eq!(spread_bits(0x1f_ffff).count_ones(), BITS);
    }

    #[test]
    fn groups_become_small_and_nothing_is_lost() {
        let mut scene = Scene {
            instances: Field {
                instances: 64_000,
                ..Field::default()
            }
            .generate(1),
            moving: 6400,
            ..Scene::default()
        };
        let colours = |instances: &[Instance]| {
            let mut colours: Vec<_> = instances
                .iter()
                .map(|i| i.transform.translation().to_array().map(f32::to_bits))
                .collect();
            colours.sort_unstable();
            colours
        };
        let before = scene.clone();
        scene.sort_spatially();
        let parts = |scene: &Scene| {
            (
                colours(&scene.instances[..6400]),
                colours(&scene.instances[6400..]),
            )
        };
        assert!(parts(&before) == parts(&scene));
        let spread = |group: &[Instance]| {
            let centre = group[0].transform.translation();
            let distances = group
                .iter()
                .map(|i| i.transform.translation().distance(centre));
            distances.fold(0.0, f32::max)
        };
        let largest = |scene: &Scene| {
            let sum: f32 = scene.instances[6400..].chunks(64).map(spread).sum();
            sum / 900.0
        };
        assert!(largest(&before) > 500.0);
        assert!(largest(&scene) < 150.0, "{}", largest(&scene));
    }
}
