//! A small random number generator with a fixed, documented sequence.

use glam::Vec3;

/// PCG32 (XSH-RR 64/32, O'Neill 2014): the same sequence on every machine for the same state.
#[derive(Clone, Debug)]
pub struct Pcg32 {
    state: u64,
    increment: u64,
}

impl Pcg32 {
    /// Increment of every sequence here, used as it is (it is odd, as the generator needs).
    pub const INCREMENT: u64 = 0xda3e_39cb_94b9_5bdb;
    const MULTIPLIER: u64 = 6_364_136_223_846_793_005;

    /// Starts at `state`, taken as it is: without the warm-up steps of PCG's seeding function.
    #[must_use]
    pub fn new(state: u64) -> Self {
        Self {
            state,
            increment: Self::INCREMENT,
        }
    }

    /// The next 32 random bits.
    pub fn next_u32(&mut self) -> u32 {
        let old = self.state;
        self.state = old
            .wrapping_mul(Self::MULTIPLIER)
            .wrapping_add(self.increment);
        let xor_shifted = (((old >> 18) ^ old) >> 27) as u32;
        xor_shifted.rotate_right((old >> 59) as u32)
    }

    /// The next number in [0, 1]: 32 random bits over 2^32, rounded to a 32-bit float (which can give 1).
    pub fn next_f32(&mut self) -> f32 {
        (f64::from(self.next_u32()) / 4_294_967_296.0) as f32
    }

    /// The next number from `low` to `high`.
    pub fn range(&mut self, low: f32, high: f32) -> f32 {
        low + self.next_f32() * (high - low)
    }

    /// A direction, uniform on the unit sphere.
    pub fn unit_vector(&mut self) -> Vec3 {
        let z = self.range(-1.0, 1.0);
        let (sin, cos) = self.range(0.0, std::f32::consts::TAU).sin_cos();
        let r = (1.0 - z * z).max(0.0).sqrt();
        Vec3::new(r * cos, r * sin, z)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_is_that_of_the_reference() {
        // PCG's own demo program: seed 42, sequence 54; its seeding function sets this state and increment.
        let mut reference = Pcg32 {
            state: 0,
            increment: (54 << 1) | 1,
        };
        reference.next_u32();
        reference.state = reference.state.wrapping_add(42);
        reference.next_u32();
        let drawn: Vec<u32> = (0..6).map(|_| reference.next_u32()).collect();
        assert_eq!(
            drawn,
            [
                0xa15c_02b7,
                0x7b47_f409,
                0xba1d_3330,
                0x83d2_f293,
                0xbfa4_784b,
                0xcbed_606e
            ]
        );
    }

    #[test]
    fn directions_are_of_unit_length_and_spread() {
        let mut random = Pcg32::new(1);
        let mut sum = Vec3::ZERO;
        for _ in 0..10_000 {
            let v = random.unit_vector();
            assert!((v.length() - 1.0).abs() < 1e-5);
            sum += v;
        }
        assert!(sum.length() / 10_000.0 < 0.03);
    }
}
