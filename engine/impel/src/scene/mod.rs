//! What is drawn: meshes, instances of them, and the cameras that look.

mod ball;
mod camera_path;
mod city;
mod colour;
mod generator;
mod instance;
mod spatial;

pub use ball::Ball;
pub use camera_path::{CameraKey, CameraPath};
pub use city::City;
pub use colour::{instance_colour, pack_colour};
pub use generator::{Cloud, Field};
pub use instance::Instance;

use crate::Error;
use impel_geometry::Mesh;
use std::sync::Arc;

/// Most instances in a scene.
pub const MAX_INSTANCES: usize = 10_000_000;

/// Meshes and their instances, in memory.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// The meshes, shared with whoever loaded them.
    pub meshes: Vec<Arc<Mesh>>,
    /// The instances; each names one of the meshes.
    pub instances: Vec<Instance>,
    /// So many instances, the first ones, may move; the others never do.
    pub moving: u32,
}

impl Scene {
    /// Checks what the renderer relies on: every instance names a mesh that is there and is finite, and the numbers fit.
    ///
    /// # Errors
    /// [`Error::Value`] that names the first offending instance or mesh.
    pub fn check(&self) -> Result<(), Error> {
        if self.instances.len() > MAX_INSTANCES {
            return Err(Error::value(
                "scene",
                format!("at most {MAX_INSTANCES} instances"),
                self.instances.len(),
            ));
        }
        if self.moving as usize > self.instances.len() {
            let expected = format!("at most {} moving instances", self.instances.len());
            return Err(Error::value("scene", expected, self.moving));
        }
        for (index, mesh) in self.meshes.iter().enumerate() {
            if mesh.lods.is_empty() || mesh.lods.len() > impel_geometry::mesh::MAX_LODS {
                let expected = format!("1 to {} levels of detail", impel_geometry::mesh::MAX_LODS);
                return Err(Error::value(
                    format!("mesh {index} ({})", mesh.name),
                    expected,
                    mesh.lods.len(),
                ));
            }
        }
        for (index, instance) in self.instances.iter().enumerate() {
            if instance.mesh as usize >= self.meshes.len() {
                let expected = format!("a mesh below {}", self.meshes.len());
                return Err(Error::value(
                    format!("instance {index}"),
                    expected,
                    instance.mesh,
                ));
            }
            if !instance.transform.is_finite() || !instance.scale.is_finite() {
                return Err(Error::value(
                    format!("instance {index}"),
                    "a finite transform",
                    "one that is not",
                ));
            }
        }
        Ok(())
    }

    /// Triangles of all instances at their finest level.
    #[must_use]
    pub fn triangle_count(&self) -> u64 {
        self.sum_over_instances(|mesh| u64::from(mesh.triangle_count))
    }

    /// Meshlets of all instances at their finest level.
    #[must_use]
    pub fn meshlet_count(&self) -> u64 {
        self.sum_over_instances(|mesh| {
            mesh.lods
                .first()
                .map_or(0, |lod| u64::from(lod.meshlet_count))
        })
    }

    fn sum_over_instances(&self, of_mesh: impl Fn(&Mesh) -> u64) -> u64 {
        let per_mesh: Vec<u64> = self.meshes.iter().map(|mesh| of_mesh(mesh)).collect();
        self.instances
            .iter()
            .filter_map(|instance| per_mesh.get(instance.mesh as usize))
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Affine;

    fn mesh(triangles: u32) -> Arc<Mesh> {
        let lods = vec![impel_geometry::Lod {
            triangle_count: triangles,
            ..Default::default()
        }];
        Arc::new(Mesh {
            triangle_count: triangles,
            lods,
            ..Default::default()
        })
    }

    #[test]
    fn triangle_counts_of_the_standard_workloads() {
        let cloud = Scene {
            meshes: vec![mesh(4_952), mesh(146_325), mesh(24_126)],
            instances: Cloud::default().generate(3),
            moving: 0,
        };
        assert_eq!(cloud.triangle_count(), 5_846_713_151);
        let field = Scene {
            meshes: vec![mesh(28_944)],
            instances: Field::default().generate(1),
            moving: 0,
        };
        assert_eq!(field.triangle_count(), 28_944_000_000);
    }

    #[test]
    fn checks_name_the_instance() {
        let mut scene = Scene {
            meshes: vec![mesh(1)],
            instances: vec![Instance::new(Affine::IDENTITY, 0, 0); 3],
            moving: 3,
        };
        scene.check().unwrap();
        scene.moving = 4;
        let error = scene.check().unwrap_err().to_string();
        assert_eq!(error, "scene: expected at most 3 moving instances, got 4");
        scene.moving = 0;
        scene.instances[2].mesh = 1;
        assert_eq!(
            scene.check().unwrap_err().to_string(),
            "instance 2: expected a mesh below 1, got 1"
        );
        scene.instances[1].transform.rows[0][0] = f32::NAN;
        assert!(
            scene
                .check()
                .unwrap_err()
                .to_string()
                .starts_with("instance 1: expected a finite transform")
        );
    }
}
