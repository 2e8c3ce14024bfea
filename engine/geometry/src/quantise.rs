//! The number formats of [`Vertex`] and the position grid.

use glam::Vec3;

use crate::mesh::{PositionGrid, Vertex};
use crate::source::{SourceMesh, SourceVertex};

/// Steps along each axis of the position grid.
const MAX_STEP: f64 = u16::MAX as f64;

/// The nearest half float, ties to even (IEEE 754, `roundTiesToEven`), as bits. Too large becomes infinity; NaN stays NaN.
#[must_use]
pub fn f32_to_f16(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    let half = match magnitude {
        // NaN, made quiet so that the payload's loss can't turn it into infinity.
        0x7f80_0001.. => 0x7e00,
        // 65520, halfway between the largest half and the next power of two, rounds up to infinity.
        0x477f_f000.. => 0x7c00,
        // Normal halves: rebias the exponent, then round off 13 bits; a carry runs into the exponent as it should.
        0x3880_0000.. => {
            let rebiased = magnitude - ((127 - 15) << 23);
            (rebiased + 0x0fff + (rebiased >> 13 & 1)) >> 13
        }
        // Subnormal halves are multiples of 2^-24: adding 0.5, whose last bit is worth just that, lets the
        // floating-point addition round to nearest even.
        _ => (f32::from_bits(magnitude) + 0.5).to_bits() - 0.5_f32.to_bits(),
    };
    sign | half as u16
}

/// The exact value of a half float's bits.
#[must_use]
pub fn f16_to_f32(half: u16) -> f32 {
    let sign = u32::from(half & 0x8000) << 16;
    let (exponent, fraction) = (u32::from(half >> 10 & 0x1f), u32::from(half & 0x3ff));
    match exponent {
        0 => f32::from_bits(sign | (fraction as f32 * (1.0 / 16_777_216.0)).to_bits()),
        31 => f32::from_bits(sign | 0x7f80_0000 | fraction << 13),
        _ => f32::from_bits(sign | (exponent + 127 - 15) << 23 | fraction << 13),
    }
}

/// A unit vector on the octahedron (Cigolle et al., "Survey of efficient representations for independent unit vectors",
/// 2014), both coordinates as 16-bit signed normalised numbers. Off by at most 0.004 degrees.
#[must_use]
pub fn encode_octahedral(normal: [f32; 3]) -> [i16; 2] {
    let n = Vec3::from(normal).as_dvec3();
    let n = n / (n.x.abs() + n.y.abs() + n.z.abs()).max(f64::MIN_POSITIVE);
    let sign = |value: f64| if value >= 0.0 { 1.0 } else { -1.0 };
    let (x, y) = match n.z >= 0.0 {
        true => (n.x, n.y),
        false => ((1.0 - n.y.abs()) * sign(n.x), (1.0 - n.x.abs()) * sign(n.y)),
    };
    [x, y].map(|value| (value.clamp(-1.0, 1.0) * 32767.0).round() as i16)
}

/// The unit vector of [`encode_octahedral`]'s result, computed as the shader does ([`Vertex`]).
#[must_use]
pub fn decode_octahedral(encoded: [i16; 2]) -> [f32; 3] {
    let [x, y] = encoded.map(|value| (f32::from(value) / 32767.0).max(-1.0));
    let z = 1.0 - x.abs() - y.abs();
    let t = (-z).max(0.0);
    let unfold = |value: f32| value + if value >= 0.0 { -t } else { t };
    Vec3::new(unfold(x), unfold(y), z)
        .normalize_or(Vec3::Z)
        .into()
}

impl Vertex {
    /// Its unit normal, object space.
    #[must_use]
    pub fn normal(&self) -> [f32; 3] {
        decode_octahedral(self.normal)
    }

    /// Its texture coordinate.
    #[must_use]
    pub fn uv(&self) -> [f32; 2] {
        self.uv.map(f16_to_f32)
    }
}

impl PositionGrid {
    /// The finest grid on which a mesh of this extent has at most 65,536 steps per axis and decodes exactly
    /// ([`PositionGrid`]). The corners are finite, of magnitude 2^60 or less.
    #[must_use]
    pub fn new(least: [f32; 3], greatest: [f32; 3]) -> Self {
        // Far below any coordinate of use, far above the subnormal numbers that a GPU may flush to zero.
        let mut scale = f64::powi(2.0, -80);
        let (least, greatest) = (least.map(f64::from), greatest.map(f64::from));
        let fits = |scale: f64| {
            (0..3).all(|axis| {
                let first = (least[axis] / scale).floor();
                let steps = (greatest[axis] / scale).round() - first;
                steps <= MAX_STEP && first.abs() + MAX_STEP <= f64::from(1 << 24)
            })
        };
        while !fits(scale) {
            scale *= 2.0;
        }
        Self {
            origin: least.map(|value| ((value / scale).floor() * scale) as f32),
            scale: scale as f32,
        }
    }

    /// The nearest point of the grid.
    #[must_use]
    pub fn encode(&self, position: [f32; 3]) -> [u16; 3] {
        std::array::from_fn(|axis| {
            let steps =
                (f64::from(position[axis]) - f64::from(self.origin[axis])) / f64::from(self.scale);
            steps.round().clamp(0.0, MAX_STEP) as u16
        })
    }
}

/// Puts a mesh on its grid. The mesh has passed [`SourceMesh::check`].
pub(crate) fn quantise(mesh: &SourceMesh) -> (PositionGrid, Vec<Vertex>) {
    let (mut least, mut greatest) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for &vertex in &mesh.indices {
        let position = Vec3::from(mesh.vertices[vertex as usize].position);
        least = least.min(position);
        greatest = greatest.max(position);
    }
    let grid = PositionGrid::new(least.into(), greatest.into());
    let vertices = mesh
        .vertices
        .iter()
        .map(|vertex| quantise_vertex(&grid, vertex))
        .collect();
    (grid, vertices)
}

fn quantise_vertex(grid: &PositionGrid, vertex: &SourceVertex) -> Vertex {
    Vertex {
        position: grid.encode(vertex.position),
        tangent: 0,
        normal: encode_octahedral(vertex.normal),
        // The largest half: beyond it lies infinity, which no sampler can use.
        uv: vertex
            .uv
            .map(|value| f32_to_f16(value.clamp(-65504.0, 65504.0))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_comes_back() {
        for half in 0..=u16::MAX {
            let value = f16_to_f32(half);
            let back = f32_to_f16(value);
            // NaNs need only stay NaNs.
            assert!(
                back == half || (value.is_nan() && f16_to_f32(back).is_nan()),
                "{half:04x} {value} {back:04x}"
            );
        }
    }

    #[test]
    fn known_halves() {
        for (value, half) in [
            (0.0, 0),
            (-0.0, 0x8000),
            (1.0, 0x3c00),
            (-2.0, 0xc000),
            (65504.0, 0x7bff),
            (65519.996, 0x7bff),
            (65520.0, 0x7c00),
            (1e9, 0x7c00),
            (f32::INFINITY, 0x7c00),
            (f32::NEG_INFINITY, 0xfc00),
            (0.01, 0x211f),
            (6.103_515_6e-5, 0x0400),
            (5.960_464_5e-8, 0x0001),
            (2.980_232_2e-8, 0),
            (2.980_232_6e-8, 1),
            (1e-45, 0),
            // Ties: 1 + 2^-11 goes down to even, 1 + 3 * 2^-11 up.
            (1.000_488_3, 0x3c00),
            (1.001_464_8, 0x3c02),
            (1.000_488_4, 0x3c01),
        ] {
            assert_eq!(f32_to_f16(value), half, "{value}");
        }
        assert!(f16_to_f32(f32_to_f16(f32::NAN)).is_nan());
    }

    #[test]
    fn halves_round_to_nearest_even() {
        for half in 0..0x7bff_u16 {
            // Between each half and the next: exactly in the middle, and just beside it.
            let (low, high) = (f16_to_f32(half), f16_to_f32(half + 1));
            let middle = ((f64::from(low) + f64::from(high)) / 2.0) as f32;
            assert_eq!(
                f64::from(middle) * 2.0,
                f64::from(low) + f64::from(high),
                "the middle is exact in 32 bits"
            );
            for sign in [0, 0x8000] {
                let signed = |value: f32| if sign == 0 { value } else { -value };
                assert_eq!(
                    f32_to_f16(signed(middle)),
                    sign | (half + (half & 1)),
                    "{middle}"
                );
                assert_eq!(f32_to_f16(signed(middle.next_down())), sign | half);
                assert_eq!(f32_to_f16(signed(middle.next_up())), sign | (half + 1));
            }
        }
    }

    #[test]
    fn octahedral_normals() {
        let mut worst = 0.0_f64;
        let steps = 200;
        for i in 0..=steps {
            for j in 0..2 * steps {
                let (polar, around) = (
                    std::f64::consts::PI * f64::from(i) / f64::from(steps),
                    std::f64::consts::PI * f64::from(j) / f64::from(steps),
                );
                let normal = glam::DVec3::new(
                    polar.sin() * around.cos(),
                    polar.sin() * around.sin(),
                    polar.cos(),
                );
                let decoded = Vec3::from(decode_octahedral(encode_octahedral(
                    normal.as_vec3().into(),
                )))
                .as_dvec3();
                worst = worst.max(normal.cross(decoded).length().asin().to_degrees());
                assert!(normal.dot(decoded) > 0.99);
            }
        }
        assert!(worst < 0.004, "{worst} degrees");
        for axis in [
            [1.0, 0.0, 0.0],
            [-1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [0.0, -1.0, 0.0],
            [0.0, 0.0, 1.0],
            [0.0, 0.0, -1.0],
        ] {
            assert_eq!(
                decode_octahedral(encode_octahedral(axis)).map(|value| value + 0.0),
                axis
            );
        }
    }
}
