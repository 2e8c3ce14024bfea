//! Scene files.
//!
//! A scene is a TOML file: meshes, a generator that places them, lens, cameras, settings. Keys that nothing reads are
//! errors, with line and column.

use crate::Error;
use crate::generator::{BallData, CityData, CloudData, FieldData, Generator, RowData};
use impel::app::OrbitView;
use impel::geometry::BuiltIn;
use impel::math::Lens;
use impel::scene::{CameraKey, CameraPath, Instance, MAX_INSTANCES, Scene};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The scenes that come with the program: name and text.
pub const BUILT_IN: [(&str, &str); 5] = [
    ("city", include_str!("../data/city.toml")),
    ("cloud", include_str!("../data/cloud.toml")),
    ("field", include_str!("../data/field.toml")),
    ("passes", include_str!("../data/passes.toml")),
    ("viewer", include_str!("../data/viewer.toml")),
];

/// A scene file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SceneData {
    /// One line for people.
    pub title: String,
    /// Width and height of the picture unless another is asked for.
    pub size: [u32; 2],
    /// Built-in meshes (`shape:triangles`) or files.
    pub meshes: Vec<String>,
    /// Bounding radius that meshes are brought to, centred; left out, they stay as they are.
    #[serde(default)]
    pub mesh_radius: Option<f32>,
    /// Distance of haze; 0 for none.
    #[serde(default)]
    pub fog_distance: f32,
    /// Name of the camera unless another is asked for.
    pub camera: String,
    /// Places meshes in a cube.
    #[serde(default)]
    cloud: Option<CloudData>,
    /// Places, turns and scales meshes in a cube.
    #[serde(default)]
    field: Option<FieldData>,
    /// Places meshes in a ball.
    #[serde(default)]
    ball: Option<BallData>,
    /// Places meshes along streets.
    #[serde(default)]
    city: Option<CityData>,
    /// Places meshes side by side.
    #[serde(default)]
    row: Option<RowData>,
    /// Whether the camera stands where it sees everything, and goes round it.
    #[serde(default)]
    orbit: bool,
    /// Whether the chain of small passes comes after the renderer's.
    #[serde(default)]
    pub chain: bool,
    /// What all cameras share.
    #[serde(default)]
    lens: LensData,
    /// Cameras by name.
    pub cameras: BTreeMap<String, CameraData>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct LensData {
    /// Vertical, degrees.
    fov: f32,
    near: f32,
    draw_distance: f32,
}

impl Default for LensData {
    fn default() -> Self {
        Self {
            fov: 45.0,
            near: 0.01,
            draw_distance: f32::INFINITY,
        }
    }
}

/// A camera: one place, or a path through several.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CameraData {
    position: [f32; 3],
    yaw: f32,
    pitch: f32,
    /// Degrees of yaw a frame.
    turn: f32,
    /// In place of position, yaw and pitch.
    keys: Vec<KeyData>,
    /// In place of the lens's.
    draw_distance: Option<f32>,
    /// In place of the scene's.
    pub fog_distance: Option<f32>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct KeyData {
    position: [f32; 3],
    yaw: f32,
    pitch: f32,
}

impl SceneData {
    /// Finds a scene: a built-in's name, or a path that ends in `.toml`.
    ///
    /// # Errors
    /// [`Error::Value`] when there is no such scene, [`Error::File`], [`Error::Data`].
    pub fn find(name: &str) -> Result<Self, Error> {
        if let Some((_, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
            return Self::parse(&format!("scenes/data/{name}.toml"), text);
        }
        if name.ends_with(".toml") {
            return Self::parse(name, &read(Path::new(name))?);
        }
        let names = BUILT_IN.map(|(known, _)| known).join(", ");
        Err(Error::value(
            "scene",
            format!("{names}, or the path of a .toml file"),
            format!("{name:?}"),
        ))
    }

    /// Reads a scene file's text.
    ///
    /// # Errors
    /// [`Error::Data`] with line and column.
    pub fn parse(file: &str, text: &str) -> Result<Self, Error> {
        let data: Self = parse(file, text)?;
        let wrong = |message: String| Error::Data {
            file: file.into(),
            line: 1,
            column: 1,
            message,
        };
        if data.generators().count() != 1 {
            return Err(wrong(
                "expected exactly one of the tables [cloud], [field], [ball], [city] and [row]"
                    .into(),
            ));
        }
        if data.meshes.is_empty() {
            return Err(wrong("meshes: expected at least one".into()));
        }
        if !data.cameras.contains_key(&data.camera) {
            return Err(wrong(format!(
                "camera: there is no [cameras.{}]",
                data.camera
            )));
        }
        let LensData {
            fov,
            near,
            draw_distance,
        } = data.lens;
        if !(fov > 0.0 && fov < 180.0 && near > 0.0 && near.is_finite() && draw_distance > near) {
            return Err(wrong(
                "lens: expected 0 < fov < 180, near > 0 and draw_distance > near".into(),
            ));
        }
        let most = MAX_INSTANCES as u32;
        if !(1..=most).contains(&data.instances()) {
            return Err(wrong(format!(
                "instances: expected 1 to {most}, got {}",
                data.instances()
            )));
        }
        Ok(data)
    }

    fn generators(&self) -> impl Iterator<Item = Generator> {
        let cloud = self.cloud.map(Generator::Cloud);
        let field = self.field.map(Generator::Field);
        let ball = self.ball.map(Generator::Ball);
        let city = self.city.map(Generator::City);
        let row = self.row.map(Generator::Row);
        [cloud, field, ball, city, row].into_iter().flatten()
    }

    /// How fast the camera flies in a window at first, world units a second.
    #[must_use]
    pub fn walking_speed(&self) -> f32 {
        // In ten seconds through most of the haze, which is as far as there is much to see.
        if self.fog_distance > 0.0 {
            self.fog_distance / 10.0
        } else {
            2.0
        }
    }

    /// Whether there is to be one instance of each mesh.
    #[must_use]
    pub fn one_of_each(&self) -> bool {
        self.row.is_some()
    }

    /// The thing that the camera goes round, where the scene is such a one.
    pub(crate) fn orbit(&self, scene: &Scene) -> Option<OrbitView> {
        self.orbit.then(|| crate::orbit::bounds(scene)).flatten()
    }

    /// Number of instances unless another is asked for.
    #[must_use]
    pub fn instances(&self) -> u32 {
        self.generators().next().map_or(0, |data| data.instances())
    }

    /// Seed of the generator unless another is asked for.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.generators().next().map_or(0, |data| data.seed())
    }

    /// Places `instances` instances of `meshes` meshes.
    #[must_use]
    pub fn generate(&self, instances: u32, seed: u64, meshes: u32) -> Vec<Instance> {
        let mut generators = self.generators();
        let generated = |data: Generator| data.generate(instances, seed, meshes);
        generators.next().map(generated).unwrap_or_default()
    }

    /// A camera by name, or from a file with the same keys as a `[cameras.NAME]` table.
    ///
    /// # Errors
    /// [`Error::Value`] when there is no such camera, [`Error::File`], [`Error::Data`].
    pub fn camera(&self, name: &str) -> Result<CameraData, Error> {
        if let Some(camera) = self.cameras.get(name) {
            return self.checked(name, camera.clone());
        }
        if name.ends_with(".toml") {
            return self.checked(name, parse(name, &read(Path::new(name))?)?);
        }
        let names: Vec<_> = self.cameras.keys().map(String::as_str).collect();
        Err(Error::value(
            "camera",
            format!("{}, or the path of a .toml file", names.join(", ")),
            format!("{name:?}"),
        ))
    }

    /// A camera whose numbers make a view.
    fn checked(&self, name: &str, camera: CameraData) -> Result<CameraData, Error> {
        let CameraData {
            position,
            yaw,
            pitch,
            turn,
            ..
        } = camera;
        let first = KeyData {
            position,
            yaw,
            pitch,
        };
        let numbers = [&first]
            .into_iter()
            .chain(&camera.keys)
            .flat_map(|key| key.position.into_iter().chain([key.yaw, key.pitch]))
            .chain([turn]);
        if let Some(number) = numbers.into_iter().find(|number| !number.is_finite()) {
            return Err(Error::value(
                format!("camera {name}"),
                "finite numbers",
                number,
            ));
        }
        let near = self.lens.near;
        let wrong = |distance: &f32| distance.is_nan() || *distance <= near;
        match camera.draw_distance.filter(wrong) {
            Some(distance) => Err(Error::value(
                format!("camera {name}: draw_distance"),
                format!("more than the lens's near, {near}"),
                distance,
            )),
            None => Ok(camera),
        }
    }

    /// The path of a camera, with this scene's lens.
    #[must_use]
    pub fn path(&self, camera: &CameraData) -> CameraPath {
        let key = |position: [f32; 3], yaw, pitch| CameraKey {
            position: position.into(),
            yaw,
            pitch,
        };
        let mut keys: Vec<_> = camera
            .keys
            .iter()
            .map(|k| key(k.position, k.yaw, k.pitch))
            .collect();
        if keys.is_empty() {
            keys.push(key(camera.position, camera.yaw, camera.pitch));
        }
        let lens = Lens {
            fov_y: self.lens.fov.to_radians(),
            aspect: 1.0,
            near: self.lens.near,
            draw_distance: camera.draw_distance.unwrap_or(self.lens.draw_distance),
        };
        CameraPath {
            keys,
            turn: camera.turn,
            lens,
        }
    }
}

/// Where a mesh named in a scene or on the command line comes from.
///
/// # Errors
/// [`Error::Mesh`] for a built-in that there is not.
pub fn mesh_source(name: &str) -> Result<impel::geometry::MeshSource, Error> {
    let path = Path::new(name);
    // Files have an extension, or are there; `shape:triangles` has neither.
    if path.extension().is_some() || path.exists() {
        return Ok(impel::geometry::MeshSource::File(path.to_owned()));
    }
    Ok(impel::geometry::MeshSource::BuiltIn(
        name.parse::<BuiltIn>()?,
    ))
}

/// A text file; a pipe or a device may never end.
pub(crate) fn read(path: &Path) -> Result<String, Error> {
    let wrong = |reason| Error::file(path, reason);
    if !std::fs::metadata(path).map_err(wrong)?.is_file() {
        return Err(Error::file(path, "expected a plain file"));
    }
    std::fs::read_to_string(path).map_err(wrong)
}

/// TOML with mistakes as `file:line:column: message`.
fn parse<T: serde::de::DeserializeOwned>(file: &str, text: &str) -> Result<T, Error> {
    toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start).min(text.len());
        let before = text.get(..at).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before
            .rsplit('\n')
            .next()
            .unwrap_or_default()
            .chars()
            .count()
            + 1;
        let message = error.message().replace('\n', " ");
        Error::Data {
            file: file.into(),
            line,
            column,
            message,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use impel::scene::{Cloud, Field};

    #[test]
    fn built_in_scenes_are_right() {
        for (name, _) in BUILT_IN {
            let data = SceneData::find(name).unwrap();
            for camera in data.cameras.keys() {
                let path = data.path(&data.camera(camera).unwrap());
                assert!(!path.keys.is_empty());
            }
            for mesh in &data.meshes {
                mesh_source(mesh).unwrap();
            }
        }
        let cloud = SceneData::find("cloud").unwrap();
        assert_eq!(
            (cloud.instances(), cloud.seed(), cloud.size),
            (100_000, Cloud::SEED, [1280, 720])
        );
        let field = SceneData::find("field").unwrap();
        assert_eq!(
            (field.instances(), field.seed(), field.size),
            (1_000_000, Field::SEED, [1024, 768])
        );
        assert_eq!(field.mesh_radius, Some(Field::MESH_RADIUS));
        assert_eq!(
            field
                .path(&field.camera("overview").unwrap())
                .lens
                .draw_distance,
            2000.0
        );
    }

    #[test]
    fn mistakes_have_line_and_column() {
        let text = "title = \"x\"\nsize = [1, 1]\nmeshes = [\"gear:2200\"]\ncamera = \"a\"\ncolour = 3\n[cameras.a]\n";
        let error = SceneData::parse("my.toml", text).unwrap_err().to_string();
        assert!(
            error.starts_with("my.toml:5:1: unknown field `colour`"),
            "{error}"
        );
        let error = SceneData::parse(
            "my.toml",
            &text.replace("colour = 3", "[cloud]\nedge = \"wide\""),
        )
        .unwrap_err()
        .to_string();
        assert!(
            error.starts_with("my.toml:6:8: invalid type: string"),
            "{error}"
        );
        assert!(!error.contains('\n'));
        let error = SceneData::parse("my.toml", &text.replace("colour = 3\n", ""))
            .unwrap_err()
            .to_string();
        assert!(error.contains("exactly one of the tables"), "{error}");
        let error = SceneData::parse("my.toml", "title = ")
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("my.toml:1:"), "{error}");
    }

    #[test]
    fn unknown_names_list_what_there_is() {
        let error = SceneData::find("cluod").unwrap_err().to_string();
        assert_eq!(
            error,
            "scene: expected city, cloud, field, passes, viewer, or the path of a .toml file, got \"cluod\""
        );
        let error = SceneData::find("cloud")
            .unwrap()
            .camera("left")
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("camera: expected flight, overview, static, turning, or"),
            "{error}"
        );
        assert!(
            SceneData::find("not-there.toml")
                .unwrap_err()
                .to_string()
                .starts_with("not-there.toml: ")
        );
        assert!(mesh_source("torus:3").is_err());
    }
}
