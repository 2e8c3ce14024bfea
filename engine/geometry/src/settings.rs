//! How a mesh is processed.

use crate::Error;
use crate::mesh::MAX_LODS;
use crate::source::MAX_COORDINATE;

/// Settings of the processing; together with the source's bytes they make the cache's key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Bring the mesh to this bounding radius, centred on its mean vertex; `None` leaves it where it is.
    pub normalise_radius: Option<f32>,
    /// Most levels of detail, 1 to [`MAX_LODS`].
    pub max_lods: usize,
    /// Triangles of a LOD as a part of the one before, above 0 and below 1.
    pub lod_ratio: f32,
    /// The chain ends when a LOD would keep this part of the triangles or more, above `lod_ratio` up to 1.
    pub lod_stop_ratio: f32,
    /// Largest error of one simplification step, as a part of the mesh's extent, 0 to 1.
    pub lod_max_error: f32,
    /// Weight of the normal against the position in the simplifier, 0 to 100.
    pub normal_weight: f32,
    /// How much meshlets favour a narrow normal cone over a compact shape, 0 to 1.
    pub cone_weight: f32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            normalise_radius: None,
            max_lods: MAX_LODS,
            lod_ratio: 0.6,
            lod_stop_ratio: 0.85,
            lod_max_error: 0.1,
            normal_weight: 1.0,
            cone_weight: 0.25,
        }
    }
}

impl Settings {
    /// Checks every field.
    ///
    /// # Errors
    /// [`Error::Settings`] names the first field out of range.
    pub fn check(&self) -> Result<(), Error> {
        let check = |field, ok: bool, expected, found: f32| match ok {
            true => Ok(()),
            false => Err(Error::Settings {
                field,
                expected,
                found: found.to_string(),
            }),
        };
        let radius = self.normalise_radius.unwrap_or(1.0);
        let (ratio, stop) = (self.lod_ratio, self.lod_stop_ratio);
        check(
            "normalise_radius",
            radius > 0.0 && radius <= MAX_COORDINATE,
            "a positive number up to 2^60",
            radius,
        )?;
        check(
            "max_lods",
            (1..=MAX_LODS).contains(&self.max_lods),
            "1 to 8",
            self.max_lods as f32,
        )?;
        check(
            "lod_ratio",
            ratio > 0.0 && ratio < 1.0,
            "above 0 and below 1",
            ratio,
        )?;
        check(
            "lod_stop_ratio",
            stop > ratio && stop <= 1.0,
            "above lod_ratio, up to 1",
            stop,
        )?;
        check(
            "lod_max_error",
            (0.0..=1.0).contains(&self.lod_max_error),
            "0 to 1",
            self.lod_max_error,
        )?;
        check(
            "normal_weight",
            (0.0..=100.0).contains(&self.normal_weight),
            "0 to 100",
            self.normal_weight,
        )?;
        check(
            "cone_weight",
            (0.0..=1.0).contains(&self.cone_weight),
            "0 to 1",
            self.cone_weight,
        )
    }

    /// Every field as bytes, for the cache's key.
    pub(crate) fn key_bytes(&self) -> Vec<u8> {
        // Destructured, so that a new field can't be forgotten here.
        let Self {
            normalise_radius,
            max_lods,
            lod_ratio,
            lod_stop_ratio,
            lod_max_error,
            normal_weight,
            cone_weight,
        } = *self;
        let numbers = [
            normalise_radius.unwrap_or(0.0),
            lod_ratio,
            lod_stop_ratio,
            lod_max_error,
            normal_weight,
            cone_weight,
        ];
        let mut bytes: Vec<u8> = numbers
            .iter()
            .flat_map(|number| number.to_le_bytes())
            .collect();
        bytes.push(max_lods as u8);
        bytes
    }
}
