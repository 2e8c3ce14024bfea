//! From a [`SourceMesh`] to a [`Mesh`].
//!
//! Positions, normals and texture coordinates are quantised **first**; everything after (simplification, meshlets,
//! bounds) sees the very numbers that the GPU will see.

mod bounds;
mod lods;
mod meshlets;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::mesh::{Lod, Mesh, Meshlet, PositionGrid, Vertex};
use crate::progress::{OnProgress, Progress, Stage};
use crate::settings::Settings;
use crate::source::{SourceMesh, SourceVertex, normalise};
use crate::{Error, quantise};

/// A quantised mesh on its way: what the GPU will decode, in floats for meshoptimizer.
struct Working<'a> {
    name: &'a str,
    settings: &'a Settings,
    grid: PositionGrid,
    vertices: Vec<Vertex>,
    decoded: Vec<SourceVertex>,
}

impl Working<'_> {
    /// meshoptimizer's view of the positions.
    fn adapter(&self) -> Result<meshopt::VertexDataAdapter<'_>, Error> {
        let stride = size_of::<SourceVertex>();
        meshopt::VertexDataAdapter::new(bytemuck::cast_slice(&self.decoded), stride, 0).map_err(
            |source| Error::Meshopt {
                mesh: self.name.to_owned(),
                source,
            },
        )
    }
}

/// The meshlets of one LOD; offsets count from its own start.
struct LodMeshlets {
    triangle_count: u32,
    error: f32,
    meshlets: Vec<Meshlet>,
    vertices: Vec<u32>,
    triangles: Vec<u32>,
}

/// Quantises, optimises, simplifies and cuts a mesh into meshlets, on all cores. The result depends on nothing but the arguments.
///
/// # Errors
/// As [`SourceMesh::check`] and [`Settings::check`]; [`Error::NoTriangles`] when every triangle has zero area, before or
/// after quantisation.
pub fn process(
    source: &SourceMesh,
    settings: &Settings,
    on_progress: OnProgress<'_>,
) -> Result<Mesh, Error> {
    settings.check()?;
    let report = |stage, fraction| {
        on_progress(Progress {
            mesh: &source.name,
            stage,
            fraction,
        });
    };
    report(Stage::Optimise, 0.0);
    let mut source = source.clone();
    let mut dropped = source.drop_degenerate()?;
    source.deduplicate()?;
    source.fill_missing_normals()?;
    if let Some(radius) = settings.normalise_radius {
        normalise(&mut source, radius)?;
    }
    let (working, mut indices) = optimise(&source, settings, &mut dropped)?;
    if dropped > 0 {
        log::warn!("{}: dropped {dropped} triangles of zero area", source.name);
    }
    report(Stage::Optimise, 1.0);

    // The chain is made one LOD after the other; the meshlets of each are built beside it, on the other cores.
    let done = AtomicUsize::new(0);
    let finished = Mutex::new(Vec::<(usize, Result<LodMeshlets, Error>)>::new());
    let total = settings.max_lods;
    let keep = |lod: usize, result| {
        finished
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .push((lod, result));
        report(
            Stage::Meshlets,
            (done.fetch_add(1, Ordering::Relaxed) + 1) as f32 / total as f32,
        );
    };
    let chain = rayon::in_place_scope(|scope| {
        let (working, keep) = (&working, &keep);
        let mut error = 0.0;
        for lod in 0..total {
            let current = indices.clone();
            scope.spawn(move |_| keep(lod, meshlets::build(working, &current, lod as u32, error)));
            if lod + 1 == total {
                break;
            }
            let Some(next) = lods::simplify(working, &indices, error)? else {
                break;
            };
            (indices, error) = next;
            report(Stage::Simplify, (lod + 1) as f32 / total as f32);
        }
        Ok(())
    });
    chain?;
    let mut finished = finished
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    finished.sort_by_key(|(lod, _)| *lod);
    let lods = finished
        .into_iter()
        .map(|(_, result)| result)
        .collect::<Result<Vec<_>, _>>()?;
    let mesh = assemble(&source.name, &working, lods)?;
    report(Stage::Done, 1.0);
    Ok(mesh)
}

/// Quantises, merges what became equal, drops what became degenerate, and puts neighbouring triangles together.
fn optimise<'a>(
    source: &'a SourceMesh,
    settings: &'a Settings,
    dropped: &mut usize,
) -> Result<(Working<'a>, Vec<u32>), Error> {
    let (grid, quantised) = quantise::quantise(source);
    // Only corners at one and the same point go: a sliver whose corners lie on a line now still closes the surface.
    let mut indices = Vec::with_capacity(source.indices.len());
    for triangle in source.indices.chunks_exact(3) {
        let [a, b, c] = [0, 1, 2].map(|k| quantised[triangle[k] as usize].position);
        match a == b || b == c || c == a {
            true => *dropped += 1,
            false => indices.extend_from_slice(triangle),
        }
    }
    if indices.is_empty() {
        let reason = "every face has zero area after quantisation";
        return Err(Error::NoTriangles {
            mesh: source.name.clone(),
            reason,
        });
    }
    let (count, remap) = meshopt::generate_vertex_remap(&quantised, Some(&indices));
    let vertices = meshopt::remap_vertex_buffer(&quantised, count, &remap);
    let indices = meshopt::remap_index_buffer(Some(&indices), quantised.len(), &remap);

    let decoded = vertices
        .iter()
        .map(|vertex| decode(&grid, vertex))
        .collect();
    let working = Working {
        name: &source.name,
        settings,
        grid,
        vertices,
        decoded,
    };
    let indices = meshopt::optimize_vertex_cache(&indices, working.vertices.len());
    Ok((working, indices))
}

fn decode(grid: &PositionGrid, vertex: &Vertex) -> SourceVertex {
    SourceVertex {
        position: grid.decode(vertex.position),
        normal: vertex.normal(),
        uv: vertex.uv(),
    }
}

/// Puts the LODs one behind the other and the vertices in the order in which LOD 0's meshlets read them.
fn assemble(name: &str, working: &Working<'_>, parts: Vec<LodMeshlets>) -> Result<Mesh, Error> {
    let mut mesh = Mesh {
        name: name.to_owned(),
        grid: working.grid,
        ..Mesh::default()
    };
    for part in parts {
        let (first_vertex, first_triangle) =
            (mesh.meshlet_vertices.len(), mesh.meshlet_triangles.len());
        let total = first_vertex
            .max(first_triangle)
            .saturating_add(part.vertices.len().max(part.triangles.len()));
        if total > u32::MAX as usize {
            let (limit, element) = (u32::MAX as usize, "meshlet vertices or triangles");
            return Err(Error::TooMany {
                mesh: name.to_owned(),
                element,
                limit,
                found: total,
            });
        }
        mesh.lods.push(Lod {
            first_meshlet: mesh.meshlets.len() as u32,
            meshlet_count: part.meshlets.len() as u32,
            triangle_count: part.triangle_count,
            error: part.error,
        });
        mesh.meshlets
            .extend(part.meshlets.iter().map(|meshlet| Meshlet {
                vertex_offset: meshlet.vertex_offset + first_vertex as u32,
                triangle_offset: meshlet.triangle_offset + first_triangle as u32,
                ..*meshlet
            }));
        mesh.meshlet_vertices.extend_from_slice(&part.vertices);
        mesh.meshlet_triangles.extend_from_slice(&part.triangles);
    }
    mesh.triangle_count = mesh.lods.first().map_or(0, |lod| lod.triangle_count);

    // meshoptimizer takes whole triangles: the list is filled up with its first entry, which changes no order.
    let mut reads = mesh.meshlet_vertices.clone();
    let padded = reads.len().next_multiple_of(3);
    reads.resize(padded, reads.first().copied().unwrap_or_default());
    mesh.vertices = meshopt::optimize_vertex_fetch(&mut reads, &working.vertices);
    reads.truncate(mesh.meshlet_vertices.len());
    mesh.meshlet_vertices = reads;
    mesh.bounds = bounds::mesh_sphere(&mesh);
    Ok(mesh)
}
