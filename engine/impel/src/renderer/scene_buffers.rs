//! A scene on the GPU: the meshes' arrays one after another, their records, and the instances.

use crate::Error;
use crate::config::{self, CHUNK_MESHLETS, CULL_GROUP_SIZE};
use crate::math::Affine;
use crate::scene::{Instance, Scene};
use bytemuck::{Pod, Zeroable};
use glam::Vec3;
use impel_geometry::{Lod, Mesh, Meshlet, Sphere, Vertex};
use impel_gpu::{Buffer, BufferDesc, Gpu};

/// A mesh as shaders read it: `Mesh` of `scene.glsl`, 176 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct GpuMesh {
    /// Bounding sphere, object space, radius last.
    pub bounds: [f32; 4],
    /// Origin and step of quantised positions.
    pub grid: [f32; 4],
    /// Number of levels of detail.
    pub lod_count: u32,
    reserved: [u32; 3],
    /// The levels, with meshlets counted over all meshes.
    pub lods: [Lod; impel_geometry::mesh::MAX_LODS],
}

const _: () = assert!(size_of::<GpuMesh>() == size_of::<impel_shaders::cull::Mesh>());
const _: () =
    assert!(size_of::<crate::scene::Instance>() == size_of::<impel_shaders::cull::Instance>());
const _: () = assert!(size_of::<Meshlet>() == size_of::<impel_shaders::clusters::Meshlet>());
// What shaders and mesh processing must agree on.
const _: () = {
    assert!(config::MESHLET_MAX_VERTICES as usize == impel_geometry::mesh::MESHLET_MAX_VERTICES);
    assert!(config::MESHLET_MAX_TRIANGLES as usize == impel_geometry::mesh::MESHLET_MAX_TRIANGLES);
    assert!(config::MAX_LODS as usize == impel_geometry::mesh::MAX_LODS);
};

/// All meshes of a scene as the arrays that go to the GPU.
#[derive(Default)]
struct Arrays {
    meshes: Vec<GpuMesh>,
    meshlets: Vec<Meshlet>,
    meshlet_vertices: Vec<u32>,
    meshlet_triangles: Vec<u32>,
    vertices: Vec<Vertex>,
}

impl Arrays {
    /// Appends a mesh, with its offsets moved to where its parts come to lie.
    fn push(&mut self, mesh: &Mesh) {
        let (first_vertex, first_meshlet) =
            (self.vertices.len() as u32, self.meshlets.len() as u32);
        let (first_index, first_triangle) = (
            self.meshlet_vertices.len() as u32,
            self.meshlet_triangles.len() as u32,
        );
        let mut record = GpuMesh {
            lod_count: mesh.lods.len() as u32,
            ..GpuMesh::default()
        };
        let sphere = |centre: [f32; 3], w: f32| [centre[0], centre[1], centre[2], w];
        record.bounds = sphere(mesh.bounds.centre, mesh.bounds.radius);
        record.grid = sphere(mesh.grid.origin, mesh.grid.scale);
        for (target, lod) in record.lods.iter_mut().zip(&mesh.lods) {
            *target = Lod {
                first_meshlet: lod.first_meshlet + first_meshlet,
                ..*lod
            };
        }
        self.meshes.push(record);
        self.meshlets
            .extend(mesh.meshlets.iter().map(|meshlet| Meshlet {
                vertex_offset: meshlet.vertex_offset + first_index,
                triangle_offset: meshlet.triangle_offset + first_triangle,
                ..*meshlet
            }));
        self.meshlet_vertices.extend(
            mesh.meshlet_vertices
                .iter()
                .map(|index| index + first_vertex),
        );
        self.meshlet_triangles
            .extend_from_slice(&mesh.meshlet_triangles);
        self.vertices.extend_from_slice(&mesh.vertices);
    }
}

/// A scene in GPU memory.
pub struct SceneBuffers {
    pub(crate) instances: Buffer,
    pub(crate) meshes: Buffer,
    pub(crate) meshlets: Buffer,
    pub(crate) meshlet_vertices: Buffer,
    pub(crate) meshlet_triangles: Buffer,
    pub(crate) vertices: Buffer,
    /// Of groups of instances: spheres, world space, radius last.
    pub(crate) group_bounds: Buffer,
    /// Transforms of moving instances as they were loaded, and as they were last frame.
    pub(crate) rest: Buffer,
    pub(crate) previous: Buffer,
    pub(crate) instance_count: u32,
    pub(crate) moving_count: u32,
    /// Chunks and meshlets if every instance is drawn at its finest level: more is never needed.
    pub(crate) most_chunks: u64,
    pub(crate) most_meshlets: u64,
}

impl SceneBuffers {
    /// Uploads a scene.
    ///
    /// # Errors
    /// What [`Scene::check`] finds; [`Error::Value`] when an array is larger than a shader can reach on this device, or
    /// the scene is empty; [`Error::Gpu`].
    pub fn new(gpu: &Gpu, scene: &Scene) -> Result<Self, Error> {
        scene.check()?;
        if scene.instances.is_empty() {
            return Err(Error::value("scene", "at least one instance", 0));
        }
        let limit = u64::from(u32::MAX);
        let mut arrays = Arrays::default();
        type Length = fn(&Mesh) -> usize;
        let parts: [(&str, Length); 4] = [
            ("vertices", |mesh| mesh.vertices.len()),
            ("meshlets", |mesh| mesh.meshlets.len()),
            ("meshlet vertices", |mesh| mesh.meshlet_vertices.len()),
            ("meshlet triangles", |mesh| mesh.meshlet_triangles.len()),
        ];
        for (what, length) in parts {
            let total: u64 = scene.meshes.iter().map(|mesh| length(mesh) as u64).sum();
            if total > limit {
                return Err(Error::value(
                    format!("scene's {what}"),
                    format!("at most {limit}"),
                    total,
                ));
            }
        }
        for mesh in &scene.meshes {
            arrays.push(mesh);
        }
        let chunks: Vec<u64> = scene
            .meshes
            .iter()
            .map(|mesh| {
                mesh.lods
                    .iter()
                    .map(|lod| u64::from(lod.meshlet_count.div_ceil(CHUNK_MESHLETS)))
                    .max()
                    .unwrap_or(0)
            })
            .collect();
        let most_chunks = scene
            .instances
            .iter()
            .filter_map(|instance| chunks.get(instance.mesh as usize))
            .sum();
        if most_chunks > limit {
            // The GPU counts chunks in 32 bits; a sum that may wrap would overwrite the list's beginning.
            return Err(Error::value(
                "scene",
                format!("at most {limit} chunks of {CHUNK_MESHLETS} meshlets"),
                most_chunks,
            ));
        }
        let moving = scene
            .instances
            .get(..scene.moving as usize)
            .unwrap_or_default();
        let rest: Vec<Affine> = moving.iter().map(|instance| instance.transform).collect();
        Ok(Self {
            group_bounds: upload(gpu, "group bounds", &group_bounds(scene))?,
            rest: upload(gpu, "resting transforms", &rest)?,
            previous: upload(gpu, "previous transforms", &rest)?,
            moving_count: scene.moving,
            instances: upload(gpu, "instances", &scene.instances)?,
            meshes: upload(gpu, "meshes", &arrays.meshes)?,
            meshlets: upload(gpu, "meshlets", &arrays.meshlets)?,
            meshlet_vertices: upload(gpu, "meshlet vertices", &arrays.meshlet_vertices)?,
            meshlet_triangles: upload(gpu, "meshlet triangles", &arrays.meshlet_triangles)?,
            vertices: upload(gpu, "vertices", &arrays.vertices)?,
            instance_count: scene.instances.len() as u32,
            most_chunks,
            most_meshlets: scene.meshlet_count(),
        })
    }
}

/// The sphere round each group of instances; those with a moving instance are everywhere.
fn group_bounds(scene: &Scene) -> Vec<[f32; 4]> {
    let sphere_of = |instance: &Instance| {
        let bounds = scene
            .meshes
            .get(instance.mesh as usize)
            .map_or(Sphere::default(), |mesh| mesh.bounds);
        let centre = instance.transform.transform_point(bounds.centre.into());
        (centre, bounds.radius * instance.scale)
    };
    let group_size = CULL_GROUP_SIZE as usize;
    let group = |(index, instances): (usize, &[Instance])| {
        if index * group_size < scene.moving as usize {
            return [0.0, 0.0, 0.0, f32::INFINITY];
        }
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for (centre, radius) in instances.iter().map(sphere_of) {
            low = low.min(centre - radius);
            high = high.max(centre + radius);
        }
        let middle = (low + high) * 0.5;
        let reach = instances
            .iter()
            .map(sphere_of)
            .map(|(centre, radius)| centre.distance(middle) + radius)
            .fold(0.0, f32::max);
        // Wider by more than what rounding can do here and in the shaders.
        let radius = reach * 1.000_1 + middle.abs().max_element() * 1e-5;
        [middle.x, middle.y, middle.z, radius]
    };
    scene
        .instances
        .chunks(group_size)
        .enumerate()
        .map(group)
        .collect()
}

/// A storage buffer with these contents.
fn upload<T: Pod>(gpu: &Gpu, name: &str, data: &[T]) -> Result<Buffer, Error> {
    let bytes: &[u8] = bytemuck::cast_slice(data);
    let limit = gpu.info().limits.max_storage_buffer_range;
    if bytes.len() as u64 > limit {
        let expected = format!(
            "at most {limit} bytes, which is what shaders reach in one buffer on this device"
        );
        return Err(Error::value(
            format!("scene's {name}"),
            expected,
            bytes.len(),
        ));
    }
    let buffer = gpu.buffer(&BufferDesc::storage(name, (bytes.len() as u64).max(64)))?;
    if !bytes.is_empty() {
        gpu.upload(&buffer, 0, bytes)?;
    }
    Ok(buffer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_follow_the_meshes() {
        let mesh = |meshlets: usize| Mesh {
            meshlets: vec![
                Meshlet {
                    vertex_offset: 1,
                    triangle_offset: 2,
                    ..Meshlet::default()
                };
                meshlets
            ],
            meshlet_vertices: vec![3; 5],
            meshlet_triangles: vec![4; 6],
            vertices: vec![Vertex::default(); 7],
            lods: vec![
                Lod {
                    first_meshlet: 0,
                    ..Lod::default()
                },
                Lod {
                    first_meshlet: 1,
                    ..Lod::default()
                },
            ],
            ..Mesh::default()
        };
        let mut arrays = Arrays::default();
        arrays.push(&mesh(2));
        arrays.push(&mesh(3));
        assert_eq!(arrays.meshes[1].lods[1].first_meshlet, 3);
        assert_eq!(
            (
                arrays.meshlets[4].vertex_offset,
                arrays.meshlets[4].triangle_offset
            ),
            (6, 8)
        );
        assert_eq!(arrays.meshlet_vertices[5..], [10; 5]);
        assert_eq!(arrays.meshlet_triangles.len(), 12);
        assert_eq!(arrays.meshes[0].lod_count, 2);
    }
}
