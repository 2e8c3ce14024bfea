//! Which level of detail an instance is drawn with.

use super::Lens;

/// How levels of detail are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LodMode {
    /// The coarsest level whose error, projected at the sphere's nearest point, stays under so many pixels.
    Error {
        /// Largest error on the screen, pixels; more than 0.
        pixels: f32,
    },
    /// One level for everything, clamped to those there are.
    Forced {
        /// The level, 0 the finest.
        lod: u32,
    },
    /// By distance alone, see [`distance_law`].
    Distance {
        /// Where level 1 begins, world units; more than 0.
        base: f32,
        /// Factor between the beginnings of two levels; more than 1.
        step: f32,
    },
}

impl Default for LodMode {
    fn default() -> Self {
        Self::Error { pixels: 1.0 }
    }
}

/// The distance law `trunc(1 + ln(distance / base) / ln(step))`, clamped to the levels there are: level `k` begins at
/// `base * step^(k - 1)`.
#[must_use]
pub fn distance_law(distance: f32, base: f32, step: f32, lod_count: u32) -> u32 {
    let level = (1.0 + (distance / base).ln() / step.ln()).max(0.0);
    // A cast from float saturates, so infinity is clamped like every other large number.
    (level as u32).min(lod_count.saturating_sub(1))
}

/// What the culling pass needs to choose a level, prepared so that the choice takes only multiplications, additions and
/// comparisons: those are correctly rounded on every device, so CPU and GPU choose alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LodSelector {
    /// By projected error.
    Error {
        /// Error in world units that is one threshold long at distance 1 is `1 / error_distance`: an error `e` is small
        /// enough from distance `e * error_distance` on.
        error_distance: f32,
    },
    /// One for all.
    Forced {
        /// The level.
        lod: u32,
    },
    /// By distance.
    Distance {
        /// Squared distances at which levels 1, 2, .. begin.
        begins_squared: [f32; impel_geometry::mesh::MAX_LODS - 1],
    },
}

impl LodSelector {
    /// For a lens and a picture `height` pixels high.
    #[must_use]
    pub fn new(mode: LodMode, lens: &Lens, height: u32) -> Self {
        match mode {
            LodMode::Error { pixels } => Self::Error {
                error_distance: lens.p11() * 0.5 * height as f32 / pixels.max(f32::MIN_POSITIVE),
            },
            LodMode::Forced { lod } => Self::Forced { lod },
            LodMode::Distance { base, step } => Self::Distance {
                begins_squared: std::array::from_fn(|k| {
                    let begin = f64::from(base) * f64::from(step).powi(k as i32);
                    (begin * begin) as f32
                }),
            },
        }
    }

    /// The level for an instance: its sphere's squared distance from the LOD origin, radius and scale (world units), and
    /// the errors of its mesh's levels (object units, never falling). Twin: `select_lod` in `culling.glsl`.
    ///
    /// By error it is the highest level with `error * scale < (distance - radius) / error_distance`, level 0 when the
    /// origin is inside the sphere.
    #[must_use]
    pub fn select(&self, distance_squared: f32, radius: f32, scale: f32, errors: &[f32]) -> u32 {
        let last = (errors.len() as u32).saturating_sub(1);
        match *self {
            Self::Forced { lod } => lod.min(last),
            Self::Error { error_distance } => {
                let mut lod = 0;
                for (level, &error) in (1..).zip(errors.iter().skip(1)) {
                    let reach = (error * scale) * error_distance + radius;
                    if reach * reach < distance_squared {
                        lod = level;
                    }
                }
                lod
            }
            Self::Distance { begins_squared } => {
                let begun = begins_squared
                    .iter()
                    .filter(|&&begin| distance_squared >= begin)
                    .count();
                (begun as u32).min(last)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Pcg32;

    #[test]
    fn distance_law_values() {
        for (distance, lod) in [
            (3.3, 0),
            (4.1, 1),
            (5.1, 2),
            (8.0, 4),
            (20.0, 8),
            (50.0, 12),
            (0.0, 0),
        ] {
            assert_eq!(distance_law(distance, 4.0, 1.25, 100), lod, "{distance}");
        }
        assert_eq!(distance_law(50.0, 4.0, 1.25, 12), 11);
        assert_eq!(distance_law(f32::INFINITY, 4.0, 1.25, 12), 11);
    }

    #[test]
    fn selector_follows_the_distance_law() {
        let mut random = Pcg32::new(31);
        let selector = LodSelector::new(
            LodMode::Distance {
                base: 4.0,
                step: 1.25,
            },
            &Lens::default(),
            720,
        );
        for _ in 0..10_000 {
            let distance = random.range(0.0, 30.0);
            let close = (0..8).any(|k| (distance / (4.0 * 1.25_f32.powi(k)) - 1.0).abs() < 1e-5);
            if !close {
                assert_eq!(
                    selector.select(distance * distance, 1.0, 1.0, &[0.0; 8]),
                    distance_law(distance, 4.0, 1.25, 8)
                );
            }
        }
    }

    /// Against the rule as it is written: highest LOD with error < max(|c| - r, 0) * ((2 / P11) / height) / scale.
    #[test]
    fn selector_follows_the_projected_error_rule() {
        let errors = [
            0.0, 0.000_497, 0.001_106, 0.002_155, 0.004_094, 0.007_957, 0.016_634, 0.042_646,
        ];
        let lens = Lens {
            fov_y: 70_f32.to_radians(),
            ..Lens::default()
        };
        let selector = LodSelector::new(LodMode::default(), &lens, 768);
        let mut random = Pcg32::new(32);
        let mut histogram = [0; 8];
        for _ in 0..20_000 {
            let (scale, distance) = (random.range(2.0, 4.0), random.next_f32().powi(3) * 400.0);
            let radius = 0.597_893 * scale;
            let allowed = f64::from((distance - radius).max(0.0))
                * (2.0 / f64::from(lens.p11()) / 768.0)
                / f64::from(scale);
            let close = errors
                .iter()
                .any(|&e| (f64::from(e) / allowed - 1.0).abs() < 1e-4);
            if close {
                continue;
            }
            let expected = errors
                .iter()
                .rposition(|&e| f64::from(e) < allowed)
                .unwrap_or(0);
            let chosen = selector.select(distance * distance, radius, scale, &errors) as usize;
            assert_eq!(chosen, expected, "distance {distance} scale {scale}");
            histogram[chosen] += 1;
        }
        assert!(histogram.iter().all(|&n| n > 20), "{histogram:?}");
    }

    #[test]
    fn forced_lods_are_clamped() {
        let forced = LodSelector::new(LodMode::Forced { lod: 9 }, &Lens::default(), 720);
        assert_eq!(forced.select(1.0, 1.0, 1.0, &[0.0, 0.1, 0.2]), 2);
        assert_eq!(forced.select(1.0, 1.0, 1.0, &[0.0]), 0);
    }
}
