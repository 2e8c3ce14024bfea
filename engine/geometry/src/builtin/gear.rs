//! A toothed wheel with bevelled rim, recessed web and bore; its axis is Y.

use super::surface::Surface;

const TEETH: usize = 16;
const ROOT_RADIUS: f64 = 0.82;
const TIP_RADIUS: f64 = 1.0;
const BEVEL: f64 = 0.03;
const HALF_WIDTH: f64 = 0.2;

/// The profile's radius at each point of one tooth: root, flank, tip, flank.
fn tooth(points: usize) -> Vec<f64> {
    let flank = (points / 7).max(1);
    let root = (points - 2 * flank) / 2;
    let tip = points - 2 * flank - root;
    let slope = |k: usize| k as f64 / flank as f64;
    let rise = (0..flank).map(|k| ROOT_RADIUS + (TIP_RADIUS - ROOT_RADIUS) * slope(k));
    let fall = (0..flank).map(|k| TIP_RADIUS + (ROOT_RADIUS - TIP_RADIUS) * slope(k));
    std::iter::repeat_n(ROOT_RADIUS, root)
        .chain(rise)
        .chain(std::iter::repeat_n(TIP_RADIUS, tip))
        .chain(fall)
        .collect()
}

/// With P points on the profile and H on the bore the wheel has 16 P + 12 H triangles.
pub(super) fn generate(target: usize) -> Surface {
    let per_tooth = (target / 22 / TEETH).max(6);
    let profile_points = per_tooth * TEETH;
    let bore_points = (target.saturating_sub(16 * profile_points) / 12).max(8);
    let tooth = tooth(per_tooth);

    let mut surface = Surface::default();
    let mut profile = |inset: f64, height: f64| {
        surface.ring(profile_points, |k, _| {
            (tooth[k % per_tooth] - inset, height)
        })
    };
    let rows = [
        profile(BEVEL, -HALF_WIDTH),
        profile(0.0, BEVEL - HALF_WIDTH),
        profile(0.0, HALF_WIDTH - BEVEL),
        profile(BEVEL, HALF_WIDTH),
    ];
    rows.windows(2)
        .for_each(|pair| surface.band(&pair[0], &pair[1]));

    let [bottom, .., top] = &rows;
    let upper_bore = face(&mut surface, top, bore_points, 1.0);
    let lower_bore = face(&mut surface, bottom, bore_points, -1.0);
    // The bore is seen from inside: upside down.
    surface.band(&upper_bore, &lower_bore);
    surface
}

/// One of the two faces, from the profile inwards; returns the bore's edge.
fn face(surface: &mut Surface, profile: &[u32], bore_points: usize, side: f64) -> Vec<u32> {
    let mut circle = |points: usize, radius: f64, height: f64| {
        surface.ring(points, |_, _| (radius, height * side))
    };
    let rim = circle(profile.len(), 0.7, HALF_WIDTH);
    let web = circle(profile.len(), 0.66, HALF_WIDTH * 0.45);
    let hub_foot = circle(bore_points, 0.4, HALF_WIDTH * 0.45);
    let hub = circle(bore_points, 0.36, HALF_WIDTH);
    let bore = circle(bore_points, 0.22, HALF_WIDTH);
    let mut band = |outer: &[u32], inner: &[u32]| match side > 0.0 {
        true => surface.uneven_band(outer, inner),
        false => surface.uneven_band(inner, outer),
    };
    band(profile, &rim);
    band(&rim, &web);
    band(&web, &hub_foot);
    band(&hub_foot, &hub);
    band(&hub, &bore);
    bore
}
