//! Checks that a mesh's arrays fit together, so that no shader can read beyond them.

use crate::mesh::{MAX_LODS, MESHLET_MAX_TRIANGLES, MESHLET_MAX_VERTICES, Mesh, Meshlet};

/// What doesn't fit: the array, the place in it, and what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// Which array.
    pub array: &'static str,
    /// Which element.
    pub index: usize,
    /// What holds in a sound mesh and doesn't here.
    pub expected: &'static str,
}

impl Mesh {
    /// Checks every offset, count and index, and that bounds and errors are usable numbers.
    ///
    /// # Errors
    /// The first [`Misfit`].
    pub fn validate(&self) -> Result<(), Misfit> {
        let check = |ok: bool, array, index, expected| {
            if ok {
                Ok(())
            } else {
                Err(Misfit {
                    array,
                    index,
                    expected,
                })
            }
        };
        let sphere = |centre: [f32; 3], radius: f32| {
            centre.iter().all(|value| value.is_finite()) && radius > 0.0 && radius.is_finite()
        };
        check(
            sphere(self.bounds.centre, self.bounds.radius),
            "bounds",
            0,
            "a finite sphere",
        )?;
        // A normal number whose fraction is zero is a power of two.
        let power_of_two =
            |value: f32| value > 0.0 && value.is_normal() && value.to_bits() & 0x7f_ffff == 0;
        let grid =
            self.grid.origin.iter().all(|value| value.is_finite()) && power_of_two(self.grid.scale);
        check(grid, "grid", 0, "a finite origin and a power of two")?;
        check(
            (1..=MAX_LODS).contains(&self.lods.len()),
            "lods",
            0,
            "1 to 8 LODs",
        )?;

        let (mut next_meshlet, mut last_error) = (0_u64, 0.0);
        for (index, lod) in self.lods.iter().enumerate() {
            check(
                u64::from(lod.first_meshlet) == next_meshlet,
                "lods",
                index,
                "LODs that follow each other",
            )?;
            check(lod.meshlet_count > 0, "lods", index, "at least one meshlet")?;
            next_meshlet += u64::from(lod.meshlet_count);
            let error = lod.error.is_finite() && lod.error >= last_error;
            check(
                error,
                "lods",
                index,
                "a finite error, not below the one before",
            )?;
            last_error = lod.error;
        }
        check(
            next_meshlet == self.meshlets.len() as u64,
            "lods",
            0,
            "LODs that have all meshlets",
        )?;
        check(
            self.lods.first().is_some_and(|lod| lod.error == 0.0),
            "lods",
            0,
            "no error in LOD 0",
        )?;

        let mut triangles = [0_u64; MAX_LODS];
        for (index, meshlet) in self.meshlets.iter().enumerate() {
            let expected = self.meshlet_misfit(meshlet, index as u64);
            check(
                expected.is_none(),
                "meshlets",
                index,
                expected.unwrap_or_default(),
            )?;
            if let Some(count) = triangles.get_mut(meshlet.lod() as usize) {
                *count += u64::from(meshlet.triangle_count());
            }
        }
        for (index, (lod, &count)) in self.lods.iter().zip(&triangles).enumerate() {
            check(
                u64::from(lod.triangle_count) == count,
                "lods",
                index,
                "the number of its meshlets' triangles",
            )?;
        }
        let first = self.lods.first().map_or(0, |lod| lod.triangle_count);
        check(
            self.triangle_count == first,
            "triangle_count",
            0,
            "the number of LOD 0's triangles",
        )?;

        let largest = self.meshlet_vertices.iter().fold(0, |a, &b| a.max(b));
        if (largest as usize) < self.vertices.len() {
            return Ok(());
        }
        let mut vertices = self.meshlet_vertices.iter();
        let index = vertices.position(|&vertex| vertex == largest);
        Err(Misfit {
            array: "meshlet_vertices",
            index: index.unwrap_or_default(),
            expected: "indices below the number of vertices",
        })
    }

    /// What is wrong with one meshlet, if anything.
    fn meshlet_misfit(&self, meshlet: &Meshlet, index: u64) -> Option<&'static str> {
        let (vertices, triangles) = (
            meshlet.vertex_count() as usize,
            meshlet.triangle_count() as usize,
        );
        if !(3..=MESHLET_MAX_VERTICES).contains(&vertices)
            || !(1..=MESHLET_MAX_TRIANGLES).contains(&triangles)
        {
            return Some("3 to 64 vertices and 1 to 124 triangles");
        }
        let lod = self.lods.get(meshlet.lod() as usize);
        let holds = |first: u32, count: u32| {
            (u64::from(first)..u64::from(first) + u64::from(count)).contains(&index)
        };
        if !lod.is_some_and(|lod| holds(lod.first_meshlet, lod.meshlet_count)) {
            return Some("the number of the LOD that has it");
        }
        if meshlet.counts >> 24 == 0 {
            return Some("a longest edge greater than 0");
        }
        let range =
            |first: u32, count: usize| first as usize..(first as usize).saturating_add(count);
        if self
            .meshlet_vertices
            .get(range(meshlet.vertex_offset, vertices))
            .is_none()
        {
            return Some("vertices within meshlet_vertices");
        }
        let Some(triangles) = self
            .meshlet_triangles
            .get(range(meshlet.triangle_offset, triangles))
        else {
            return Some("triangles within meshlet_triangles");
        };
        // Maxima without early exits take a fraction of the time of a search: they run on vector registers.
        let largest = |shift: u32| {
            let local = triangles.iter().map(|packed| packed >> shift & 0xff);
            local.fold(0, u32::max)
        };
        let unused = triangles.iter().fold(0, |all, packed| all | packed) >> 24;
        if largest(0).max(largest(8)).max(largest(16)) >= meshlet.vertex_count() || unused != 0 {
            return Some("triangles of its own vertices");
        }
        let numbers =
            meshlet.centre.iter().all(|value| value.is_finite()) && meshlet.radius.is_finite();
        if !numbers || meshlet.radius <= 0.0 || meshlet.cone[3] < 0 {
            return Some("a finite sphere and a cone cutoff of 0 or more");
        }
        None
    }
}
