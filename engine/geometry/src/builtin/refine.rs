//! Brings a closed surface to an exact number of triangles.

use super::surface::Surface;

/// An edge between two triangles.
struct Edge {
    points: [u32; 2],
    triangles: [u32; 2],
}

/// Splits edges at their middle, spread evenly over the surface, until it has `target` triangles or one less: each split
/// adds two. The shape stays the same.
pub(super) fn split_edges(surface: &mut Surface, target: usize) {
    while surface.triangles.len() + 2 <= target {
        let wanted = (target - surface.triangles.len()) / 2;
        let edges = splittable(surface);
        if edges.is_empty() {
            return;
        }
        let mut touched = vec![false; surface.triangles.len()];
        let mut split = 0;
        // Two rounds: evenly spread first, then whatever is still free.
        let spread =
            (0..wanted.min(edges.len())).map(|k| k * edges.len() / wanted.min(edges.len()));
        for k in spread.chain(0..edges.len()) {
            let edge = &edges[k];
            if split == wanted {
                break;
            }
            if !edge
                .triangles
                .iter()
                .any(|&triangle| touched[triangle as usize])
            {
                edge.triangles
                    .iter()
                    .for_each(|&triangle| touched[triangle as usize] = true);
                split_edge(surface, edge);
                split += 1;
            }
        }
    }
}

/// Edges shared by exactly two triangles; only those that are the longest of both, if there are any: splitting them
/// keeps triangles well shaped.
fn splittable(surface: &Surface) -> Vec<Edge> {
    let mut sides: Vec<([u32; 2], u32)> = Vec::with_capacity(surface.triangles.len() * 3);
    for (index, &[a, b, c]) in surface.triangles.iter().enumerate() {
        sides.extend([[a, b], [b, c], [c, a]].map(|[p, q]| ([p.min(q), p.max(q)], index as u32)));
    }
    sides.sort_unstable();
    let edges: Vec<Edge> = sides
        .chunk_by(|a, b| a.0 == b.0)
        .filter_map(|run| match run {
            &[(points, first), (_, second)] => Some(Edge {
                points,
                triangles: [first, second],
            }),
            _ => None,
        })
        .collect();
    let length =
        |p: u32, q: u32| surface.points[p as usize].distance_squared(surface.points[q as usize]);
    let longest = |edge: &Edge| {
        let own = length(edge.points[0], edge.points[1]);
        edge.triangles.iter().all(|&triangle| {
            let [a, b, c] = surface.triangles[triangle as usize];
            own >= length(a, b).max(length(b, c)).max(length(c, a))
        })
    };
    match edges.iter().any(&longest) {
        true => edges.into_iter().filter(longest).collect(),
        false => edges,
    }
}

fn split_edge(surface: &mut Surface, edge: &Edge) {
    let [p, q] = edge.points;
    let middle = surface.point((surface.points[p as usize] + surface.points[q as usize]) / 2.0);
    for triangle in edge.triangles {
        let corners = surface.triangles[triangle as usize];
        // Turned so that the split edge runs from the first corner to the second.
        let start = (0..3)
            .find(|&k| ![p, q].contains(&corners[(k + 2) % 3]))
            .unwrap_or(0);
        let [from, to, opposite] = [0, 1, 2].map(|k| corners[(start + k) % 3]);
        surface.triangles[triangle as usize] = [from, middle, opposite];
        surface.triangle(middle, to, opposite);
    }
}

/// Adds the odd triangle, if one is missing: a third as large as the first one, and under it by a hundredth of its size.
pub(super) fn fill(surface: &mut Surface, target: usize) {
    let Some(&corners) = surface.triangles.first() else {
        return;
    };
    if surface.triangles.len() + 1 == target {
        let [a, b, c] = corners.map(|point| surface.points[point as usize]);
        let (centre, normal) = ((a + b + c) / 3.0, (b - a).cross(c - a).normalize_or_zero());
        let under = centre - normal * 0.01 * (b - a).length();
        let [a, b, c] = [a, b, c].map(|corner| surface.point(under + (corner - centre) / 3.0));
        surface.triangle(a, b, c);
    }
}
