//! `impel mesh`: processes a mesh, puts it into the cache, and says what came of it.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicI32, Ordering};

use impel_geometry::{Cache, Mesh, MeshSource, Progress, Settings};

use crate::error::Error;

/// Processes the mesh in a file and prints its statistics.
pub(crate) fn mesh(path: &Path) -> Result<String, Error> {
    let cache = Cache::of_user();
    let bar = Bar {
        terminal: std::io::stderr().is_terminal(),
        shown: AtomicI32::new(-1),
    };
    let source = MeshSource::File(path.to_owned());
    let result = impel_geometry::load(&source, &Settings::default(), cache.as_ref(), &|progress| {
        bar.show(&progress);
    });
    bar.clear();
    Ok(statistics(&result?, path))
}

fn statistics(mesh: &Mesh, path: &Path) -> String {
    let mut out = String::new();
    let first = mesh.lods.first().map_or(0, |lod| lod.triangle_count);
    let [x, y, z] = mesh.bounds.centre;
    let _ = writeln!(out, "{}: {} triangles", path.display(), mesh.triangle_count);
    let _ = writeln!(
        out,
        "  vertices      {:>10}   all levels together, {} bytes each",
        mesh.vertices.len(),
        size_of::<impel_geometry::Vertex>()
    );
    let _ = writeln!(
        out,
        "  meshlets      {:>10}   all levels together",
        mesh.meshlets.len()
    );
    let _ = writeln!(out, "  on the GPU    {:>10}   bytes", mesh.gpu_bytes());
    let _ = writeln!(
        out,
        "  bounds        centre ({x:.4}, {y:.4}, {z:.4}), radius {:.4}",
        mesh.bounds.radius
    );
    let _ = writeln!(
        out,
        "\n  LOD  triangles  of LOD 0  meshlets  triangles a meshlet  vertices a meshlet  error"
    );
    for (level, lod) in mesh.lods.iter().enumerate() {
        let begin = lod.first_meshlet as usize;
        let meshlets = mesh
            .meshlets
            .get(begin..begin.saturating_add(lod.meshlet_count as usize))
            .unwrap_or_default();
        let vertices: u32 = meshlets.iter().map(|meshlet| meshlet.vertex_count()).sum();
        let count = meshlets.len().max(1) as f64;
        let _ = writeln!(
            out,
            "  {level:>3}  {:>9}  {:>7.2}%  {:>8}  {:>19.1}  {:>18.1}  {:.6}",
            lod.triangle_count,
            100.0 * f64::from(lod.triangle_count) / f64::from(first.max(1)),
            meshlets.len(),
            f64::from(lod.triangle_count) / count,
            f64::from(vertices) / count,
            lod.error
        );
    }
    out
}

/// A line on a terminal that says how far the work is.
struct Bar {
    terminal: bool,
    /// Percent shown last.
    shown: AtomicI32,
}

impl Bar {
    fn show(&self, progress: &Progress<'_>) {
        let percent = (progress.fraction.clamp(0.0, 1.0) * 100.0) as i32;
        if self.terminal && self.shown.swap(percent, Ordering::Relaxed) != percent {
            let _ = write!(std::io::stderr(), "\r{} {percent:>3}%  ", progress.mesh);
        }
    }

    fn clear(&self) {
        if self.terminal {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
