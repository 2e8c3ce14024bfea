//! Streets of buildings: nearly all of them hidden behind others.

use super::{Instance, instance_colour};
use crate::math::{Affine, Pcg32};
use glam::{Quat, Vec3};

/// `city`: buildings wall to wall along parallel streets (parallel to Z), with cross streets between blocks.
///
/// Meshes are taken to stand upright, centred, about [`City::HALF_HEIGHT`] high each way and [`City::HALF_WIDTH`] wide
/// and deep, as the built-in building is when brought to radius 1. Streets lie at y = 0; the middle of the street along
/// x = 0 is free. Lots are filled from the middle of the city outwards. From one [`Pcg32`] per lot, in this order: mesh,
/// height, quarter turns, setback.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct City {
    /// Number of buildings.
    pub instances: u32,
    /// State that the random numbers start from.
    pub seed: u64,
}

impl City {
    /// The seed unless another is asked for.
    pub const SEED: u64 = 0xc17;
    /// Half the height of a mesh of radius 1.
    pub const HALF_HEIGHT: f32 = 0.8;
    /// Half the width and depth of a mesh of radius 1.
    pub const HALF_WIDTH: f32 = 0.38;
    /// Width of a lot, along its street, world units (metres).
    const LOT: f32 = 14.0;
    /// Lots of a block along its street.
    const BLOCK: i32 = 6;
    /// Width of a street between two fronts.
    const STREET: f32 = 16.0;

    /// The instances, for `meshes` meshes. None when there are no meshes.
    #[must_use]
    pub fn generate(&self, meshes: u32) -> Vec<Instance> {
        if meshes == 0 {
            return Vec::new();
        }
        let mut random = Pcg32::new(self.seed);
        lots(self.instances)
            .into_iter()
            .enumerate()
            .map(|(index, [row, place])| {
                let mesh = random.next_u32() % meshes;
                let storeys = random.next_f32();
                let turns = random.next_u32() % 4;
                let setback = random.range(0.0, 0.8);
                // Few are tall.
                let half_height = 8.0 + 26.0 * storeys * storeys * storeys;
                let half_width = Self::LOT * 0.5;
                let scale = Vec3::new(
                    half_width / Self::HALF_WIDTH,
                    half_height / Self::HALF_HEIGHT,
                    half_width / Self::HALF_WIDTH,
                );
                let block = place.div_euclid(Self::BLOCK);
                let z = (place as f32 + 0.5) * Self::LOT + block as f32 * Self::STREET;
                let side = if row >= 0 { 1.0 } else { -1.0 };
                let away = (if row >= 0 { row } else { -1 - row }) as f32;
                // Rows stand back to back in pairs: a street, two rows, a street.
                let streets = (away * 0.5).floor() + 0.5;
                let x = side * (away * Self::LOT + half_width + streets * Self::STREET + setback);
                let rotation = Quat::from_rotation_y(turns as f32 * std::f32::consts::FRAC_PI_2);
                let transform = Affine::from_scale_rotation_translation(
                    scale,
                    rotation,
                    Vec3::new(x, half_height, z),
                );
                Instance::new(transform, mesh, instance_colour(index as u32, mesh))
            })
            .collect()
    }
}

/// The lots nearest to the middle, as (row, place along it), ring by ring.
fn lots(count: u32) -> Vec<[i32; 2]> {
    let mut lots = Vec::with_capacity(count as usize);
    for ring in 0.. {
        let (low, high) = (-1 - ring, ring);
        for row in low..=high {
            for place in low..=high {
                let outermost = row == low || row == high || place == low || place == high;
                if !outermost {
                    continue;
                }
                if lots.len() == count as usize {
                    return lots;
                }
                lots.push([row, place]);
            }
        }
    }
    lots
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn lots_are_distinct_and_fill_squares() {
        let lots = lots(4 * 7 * 7);
        let distinct: HashSet<_> = lots.iter().collect();
        assert_eq!(distinct.len(), lots.len());
        assert!(lots.iter().flatten().all(|&c| (-7..7).contains(&c)));
    }

    #[test]
    fn the_middle_street_is_free_and_buildings_stand_on_the_ground() {
        let city = City {
            instances: 5000,
            seed: City::SEED,
        };
        let instances = city.generate(2);
        assert_eq!(instances.len(), 5000);
        for instance in &instances {
            let position = instance.transform.translation();
            assert!(position.x.abs() - City::LOT * 0.5 >= City::STREET * 0.5 - 1e-3);
            let [_, up, _] = instance.transform.rows;
            assert!((position.y - up[1] * City::HALF_HEIGHT).abs() < 1e-3);
            assert!(!instance.transform.is_mirrored());
        }
        assert_eq!(instances, city.generate(2), "the same every time");
    }
}
