//! The tables of a scene file that place its meshes: one of them is there.

use impel::glam::{Mat3, Vec3};
use impel::math::Affine;
use impel::scene::{Ball, City, Cloud, Field, Instance, pack_colour};
use serde::Deserialize;

/// `[cloud]`
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CloudData {
    instances: u32,
    edge: f32,
    seed: u64,
}

/// `[field]`
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FieldData {
    instances: u32,
    extent: f32,
    seed: u64,
}

/// `[ball]`
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BallData {
    instances: u32,
    centre: [f32; 3],
    radius: f32,
    scale: f32,
    seed: u64,
}

/// `[city]`
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CityData {
    instances: u32,
    seed: u64,
}

/// `[row]`
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RowData {
    spacing: f32,
}

/// What places the meshes of a scene.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Generator {
    /// In a cube.
    Cloud(CloudData),
    /// In a cube, turned and scaled.
    Field(FieldData),
    /// In a ball.
    Ball(BallData),
    /// Along streets.
    City(CityData),
    /// Side by side along +X: one of each, unless more are asked for.
    Row(RowData),
}

impl Generator {
    /// Number of instances unless another is asked for.
    #[must_use]
    pub(crate) fn instances(&self) -> u32 {
        match self {
            Self::Cloud(data) => data.instances,
            Self::Field(data) => data.instances,
            Self::Ball(data) => data.instances,
            Self::City(data) => data.instances,
            Self::Row(_) => 1,
        }
    }

    /// Seed unless another is asked for.
    #[must_use]
    pub(crate) fn seed(&self) -> u64 {
        match self {
            Self::Cloud(data) => data.seed,
            Self::Field(data) => data.seed,
            Self::Ball(data) => data.seed,
            Self::City(data) => data.seed,
            Self::Row(_) => 0,
        }
    }

    /// Places `instances` instances of `meshes` meshes.
    #[must_use]
    pub(crate) fn generate(&self, instances: u32, seed: u64, meshes: u32) -> Vec<Instance> {
        match *self {
            Self::Cloud(CloudData { edge, .. }) => Cloud {
                instances,
                edge,
                seed,
            }
            .generate(meshes),
            Self::Field(FieldData { extent, .. }) => Field {
                instances,
                extent,
                seed,
            }
            .generate(meshes),
            Self::Ball(BallData {
                centre,
                radius,
                scale,
                ..
            }) => Ball {
                instances,
                centre: centre.into(),
                radius,
                scale,
                seed,
            }
            .generate(meshes),
            Self::City(_) => City { instances, seed }.generate(meshes),
            Self::Row(RowData { spacing }) => (0..instances)
                .map(|index| {
                    let at = Vec3::new(index as f32 * spacing, 0.0, 0.0);
                    let transform = Affine::from_mat3_translation(Mat3::IDENTITY, at);
                    Instance::new(
                        transform,
                        index % meshes.max(1),
                        pack_colour(0.72, 0.72, 0.72),
                    )
                })
                .collect(),
        }
    }
}
