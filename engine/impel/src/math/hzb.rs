//! The hierarchical depth buffer (HZB): its sizes, how it is made, and how it is asked.

use super::ScreenBox;
use crate::config::HZB_REFINEMENT;
use glam::Vec2;

/// Size of level 0 for a picture: the largest power of two that is not larger, per axis.
///
/// Powers of two from there on make every later step an exact 2x2 reduction.
#[must_use]
pub fn hzb_size(picture: [u32; 2]) -> [u32; 2] {
    picture.map(|n| 1 << n.max(1).ilog2())
}

/// Number of levels down to 1x1.
#[must_use]
pub fn mip_count(size: [u32; 2]) -> u32 {
    size[0].max(size[1]).max(1).ilog2() + 1
}

/// Size of a level.
#[must_use]
pub fn mip_size(size: [u32; 2], level: u32) -> [u32; 2] {
    size.map(|n| (n >> level.min(31)).max(1))
}

/// The texels of the finer level (`from` texels wide) that texel `index` of the coarser one (`to` wide) covers, as
/// first and one past the last: everything that its area touches. At most 3 for a first step, exactly 2 for later ones.
#[must_use]
pub fn covered_range(index: u32, from: u32, to: u32) -> (u32, u32) {
    let (index, from, to) = (u64::from(index), u64::from(from), u64::from(to.max(1)));
    let first = index * from / to;
    let end = ((index + 1) * from).div_ceil(to);
    (first as u32, end as u32)
}

/// The level at which a box is covered by 2x2 texels, and the first of these texels.
///
/// `ceil(log2(larger extent in texels))` makes the extent one texel or less, which touches at most two per axis; one
/// level finer is taken when two texels still cover it there. Twin: `hzb_level` in `culling.glsl`.
#[must_use]
pub fn mip_for_box(min: Vec2, max: Vec2, size: [u32; 2]) -> u32 {
    let levels = mip_count(size);
    let size = Vec2::new(size[0] as f32, size[1] as f32);
    let extent = ((max - min) * size).max_element().max(1.0);
    let coarse = (extent.log2().ceil() as u32).min(levels - 1);
    if coarse == 0 {
        return 0;
    }
    let finer = (size / (1_u32 << (coarse - 1)) as f32).max(Vec2::ONE);
    let (low, high) = (min * finer, max * finer);
    let spans = high - low.floor();
    if spans.cmple(Vec2::splat(2.0)).all() {
        coarse - 1
    } else {
        coarse
    }
}

/// A pyramid on the CPU: the oracle for the one on the GPU, and for what it culls.
#[derive(Clone, Debug, PartialEq)]
pub struct Hzb {
    /// The levels, finest first: size and texels in rows.
    pub levels: Vec<([u32; 2], Vec<f32>)>,
}

impl Hzb {
    /// Reduces a depth picture (reversed: smaller is farther) by minimum. `depth` has `size[0] * size[1]` values, in rows.
    #[must_use]
    pub fn build(depth: &[f32], size: [u32; 2]) -> Self {
        let first = hzb_size(size);
        let mut levels: Vec<([u32; 2], Vec<f32>)> = Vec::new();
        for level in 0..mip_count(first) {
            let to = mip_size(first, level);
            let (from, source) = match levels.last() {
                None => (size, depth),
                Some((from, source)) => (*from, &source[..]),
            };
            let texel = |x: u32, y: u32| {
                let (x0, x1) = covered_range(x, from[0], to[0]);
                let (y0, y1) = covered_range(y, from[1], to[1]);
                (y0..y1)
                    .flat_map(|y| (x0..x1).map(move |x| (x, y)))
                    .filter_map(|(x, y)| {
                        source
                            .get(y as usize * from[0] as usize + x as usize)
                            .copied()
                    })
                    .fold(f32::INFINITY, f32::min)
            };
            let texels = (0..to[1])
                .flat_map(|y| (0..to[0]).map(move |x| (x, y)))
                .map(|(x, y)| texel(x, y))
                .collect();
            levels.push((to, texels));
        }
        Self { levels }
    }

    /// Whether everything in the box lies behind what is in the pyramid. Twin: `hzb_occluded` in `culling.glsl`.
    ///
    /// The 2x2 texels at the level of [`mip_for_box`] cover up to 16 times the box. Where they say no, the texels that the
    /// box touches [`HZB_REFINEMENT`] levels finer are asked, too.
    #[must_use]
    pub fn occludes(&self, found: &ScreenBox) -> bool {
        let Some((size, _)) = self.levels.first() else {
            return false;
        };
        let (min, max) = (
            found.min.clamp(Vec2::ZERO, Vec2::ONE),
            found.max.clamp(Vec2::ZERO, Vec2::ONE),
        );
        let level = mip_for_box(min, max, *size);
        let fine = level.saturating_sub(HZB_REFINEMENT);
        self.hides(level, min, max, found.depth, true)
            || self.hides(fine, min, max, found.depth, false)
    }

    /// Whether `depth` lies behind all texels of a level that the box touches, or behind the 2x2 texels from its corner on.
    fn hides(&self, level: u32, min: Vec2, max: Vec2, depth: f32, two_by_two: bool) -> bool {
        let Some((size, texels)) = self.levels.get(level as usize) else {
            return false;
        };
        let size = Vec2::new(size[0] as f32, size[1] as f32);
        let low = (min * size).floor().min(size - 1.0);
        let high = match two_by_two {
            true => (low + 1.0).min(size - 1.0),
            false => (max * size).floor().min(size - 1.0),
        };
        (low.y as usize..=high.y as usize).all(|y| {
            (low.x as usize..=high.x as usize).all(|x| {
                let index = y * size.x as usize + x;
                depth < texels.get(index).copied().unwrap_or(0.0)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Lens, Pcg32, project_sphere};
    use glam::Vec3;

    #[test]
    fn pyramid_sizes() {
        for (picture, size, levels) in [
            ([1280, 720], [1024, 512], 11),
            ([640, 480], [512, 256], 10),
            ([1, 1], [1, 1], 1),
            ([1024, 1024], [1024, 1024], 11),
            ([3, 7], [2, 4], 3),
            ([1023, 1025], [512, 1024], 11),
            ([16384, 1], [16384, 1], 15),
        ] {
            assert_eq!(hzb_size(picture), size);
            assert_eq!(mip_count(size), levels);
            assert_eq!(mip_size(size, levels - 1), [1, 1]);
        }
    }

    #[test]
    fn first_step_covers_every_column_with_at_most_three_taps() {
        for from in (1..400).chain([641, 720, 1023, 1025, 1080, 1280, 1920, 16383, 16384]) {
            let to = hzb_size([from, 1])[0];
            let mut covered = 0;
            for index in 0..to {
                let (first, end) = covered_range(index, from, to);
                assert!(first <= covered && end > first && end <= from && end - first <= 3);
                // Touching: [index, index + 1) * from / to meets [first, end) wholly.
                assert!(u64::from(first) * u64::from(to) <= u64::from(index) * u64::from(from));
                covered = end;
            }
            assert_eq!(covered, from);
        }
    }

    #[test]
    fn plain_halving_misses_a_column() {
        // Why the first step is wider: 1920 columns to 1024 by 2 taps round the texel's middle misses one in 768 texels.
        let missed = (0..1024_u32)
            .filter(|&i| {
                let (first, end) = covered_range(i, 1920, 1024);
                let middle = (f64::from(i) + 0.5) * 1920.0 / 1024.0 - 0.5;
                let (low, high) = (middle.floor() as u32, middle.floor() as u32 + 1);
                (first..end).any(|column| column < low || column > high)
            })
            .count();
        assert_eq!(missed, 768);
    }

    #[test]
    fn level_for_boxes() {
        let size = [1024, 1024];
        let centred = |w: f32, h: f32| {
            let half = Vec2::new(w, h) / 2048.0;
            mip_for_box(Vec2::splat(0.5) - half, Vec2::splat(0.5) + half, size)
        };
        assert_eq!(centred(8.0, 8.0), 2);
        assert_eq!(centred(9.0, 4.0), 3);
        assert_eq!(mip_for_box(Vec2::splat(0.25), Vec2::splat(0.75), size), 8);
        assert_eq!(centred(0.5, 0.5), 0);
        assert_eq!(mip_for_box(Vec2::ZERO, Vec2::ONE, size), 9);
        assert_eq!(mip_for_box(Vec2::ZERO, Vec2::ONE, [1, 1]), 0);
    }

    /// The 2x2 texels at the chosen level contain the box, for random boxes; the floor rule would not.
    #[test]
    fn chosen_texels_cover_the_box() {
        let mut random = Pcg32::new(41);
        let (mut floor_fails, rounds) = (0, 20_000);
        for _ in 0..rounds {
            let size = [1 << (random.next_u32() % 12), 1 << (random.next_u32() % 12)];
            let a = Vec2::new(random.next_f32(), random.next_f32());
            let b = (a + Vec2::new(random.next_f32(), random.next_f32())
                * random.next_f32().powi(3))
            .min(Vec2::ONE);
            let covers = |level: u32| {
                let dims = mip_size(size, level);
                let dims = Vec2::new(dims[0] as f32, dims[1] as f32);
                let low = (a * dims).floor();
                ((low + 2.0).min(dims) - b * dims).min_element() >= 0.0
            };
            assert!(covers(mip_for_box(a, b, size)), "{a} {b} {size:?}");
            let extent = ((b - a) * Vec2::new(size[0] as f32, size[1] as f32))
                .max_element()
                .max(1.0);
            floor_fails += u32::from(!covers(extent.log2().floor() as u32));
        }
        let share = floor_fails as f32 / rounds as f32;
        assert!(share > 0.05, "the floor rule covers less: {share}");
    }

    #[test]
    fn floor_rule_fails_in_about_42_percent() {
        let mut random = Pcg32::new(42);
        let (mut fails, rounds) = (0, 20_000);
        for _ in 0..rounds {
            let a = Vec2::new(random.range(0.0, 0.8), random.range(0.0, 0.8)) * 1024.0;
            let extent = Vec2::new(random.range(1.0, 200.0), random.range(1.0, 200.0));
            let scale = extent.max_element().log2().floor().exp2();
            // One tap at the box's middle with a 2x2 footprint.
            let middle = (a + extent * 0.5) / scale - 0.5;
            let low = middle.floor();
            let uncovered = (a / scale - low).min_element() < 0.0
                || (low + 2.0 - (a + extent) / scale).min_element() < 0.0;
            fails += u32::from(uncovered);
            let (min, max) = (a / 1024.0, (a + extent) / 1024.0);
            let dims = mip_size([1024, 1024], mip_for_box(min, max, [1024, 1024]))[0] as f32;
            assert!((max * dims - (min * dims).floor()).max_element() <= 2.0 + 1e-3);
        }
        let share = fails as f32 / rounds as f32;
        assert!((0.32..0.52).contains(&share), "{share}");
    }

    /// Brute force: a sphere that the pyramid hides has no point in front of the depth picture at any pixel it covers.
    #[test]
    fn occlusion_is_conservative() {
        let mut random = Pcg32::new(43);
        let mut hidden = 0;
        for round in 0..600 {
            let size = [1 + random.next_u32() % 97, 1 + random.next_u32() % 61];
            let lens = Lens {
                aspect: size[0] as f32 / size[1] as f32,
                ..Lens::default()
            };
            // A wall with a hole or two.
            let wall = lens.depth(random.range(3.0, 20.0));
            let mut depth = vec![wall; (size[0] * size[1]) as usize];
            for _ in 0..random.next_u32() % 3 {
                let hole = (random.next_u32() as usize) % depth.len();
                depth[hole] = lens.depth(random.range(20.0, 200.0));
            }
            let hzb = Hzb::build(&depth, size);
            let at = |uv: Vec2| uv * Vec2::new(size[0] as f32, size[1] as f32);
            for _ in 0..20 {
                let centre = Vec3::new(
                    random.range(-10.0, 10.0),
                    random.range(-6.0, 6.0),
                    random.range(-40.0, -1.0),
                );
                let radius = random.range(0.05, 1.0);
                let Some(found) = project_sphere(centre, radius, &lens) else {
                    continue;
                };
                if !hzb.occludes(&found) {
                    continue;
                }
                hidden += 1;
                for y in 0..size[1] {
                    for x in 0..size[0] {
                        let pixel = Vec2::new(x as f32 + 0.5, y as f32 + 0.5);
                        let inside =
                            pixel.cmpge(at(found.min)).all() && pixel.cmple(at(found.max)).all();
                        let index = (y * size[0] + x) as usize;
                        assert!(
                            !inside || found.depth < depth[index],
                            "round {round}: hidden, but seen at {x},{y}"
                        );
                    }
                }
            }
        }
        assert!(hidden > 1000, "{hidden}");
    }
}
