//! Colours for instances that have no material.

/// Packs an sRGB colour, each component from 0 to 1 (clamped), as the shaders' `unpackUnorm4x8` reads it.
#[must_use]
pub fn pack_colour(red: f32, green: f32, blue: f32) -> u32 {
    let byte = |value: f32| (value.clamp(0.0, 1.0) * 255.0 + 0.5) as u32;
    byte(red) | byte(green) << 8 | byte(blue) << 16 | 0xff << 24
}

/// A palette that holds together: warm clay and sand against sea blues, with few accents.
const PALETTE: [[f32; 3]; 8] = [
    [0.89, 0.47, 0.32],
    [0.95, 0.78, 0.52],
    [0.27, 0.49, 0.62],
    [0.49, 0.69, 0.69],
    [0.83, 0.84, 0.78],
    [0.64, 0.31, 0.34],
    [0.93, 0.60, 0.38],
    [0.36, 0.38, 0.55],
];

/// A colour for instance `index` of mesh `mesh`: each mesh has a neighbourhood of the palette, each instance its own
/// place and brightness in it.
#[must_use]
pub fn instance_colour(index: u32, mesh: u32) -> u32 {
    let mut bits = index.wrapping_mul(0x9e37_79b1) ^ 0x85eb_ca6b;
    bits = (bits ^ bits >> 15).wrapping_mul(0x2c1b_3c6d);
    bits ^= bits >> 13;
    let pick = (mesh * 2 + bits % 3) as usize % PALETTE.len();
    let brightness = 0.82 + 0.3 * ((bits >> 8 & 0xff) as f32 / 255.0);
    let [red, green, blue] = PALETTE
        .get(pick)
        .copied()
        .unwrap_or([0.7; 3])
        .map(|value| value * brightness);
    pack_colour(red, green, blue)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing() {
        assert_eq!(pack_colour(1.0, 0.0, 2.0), 0xffff_00ff);
        assert_eq!(pack_colour(0.5, -1.0, 0.0), 0xff00_0080);
    }
}
