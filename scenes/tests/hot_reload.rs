//! Classes and recipes are edited on disk while the scene `mixins` runs in a window (that nobody sees), under validation.

use impel::app::egui::RawInput;
use impel::app::{App, AppDesc, Command, Event, HotReload, ShaderState};
use impel::gpu::testing::{TestGpu, gpu_with};
use impel::gpu::{GpuDesc, Window, WindowDesc};
use impel::renderer::RasterPath;
use scenes::mixins::{Grid, MixinsContent, RECIPES};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

/// Width and height: cells of 40 pixels, eight in six rows.
const SIZE: [u32; 2] = [320, 240];
const CELL: usize = 40;

thread_local! {
    static PICTURE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

struct Rig {
    app: App,
    state: Rc<RefCell<ShaderState>>,
    folder: PathBuf,
    /// After the application, so that it sees what that leaves behind.
    _gpu: TestGpu,
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, target).unwrap();
        }
    }
}

impl Rig {
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&folder);
        let sources = Path::new(env!("CARGO_MANIFEST_DIR"));
        copy(&sources.join("../shaders/glsl"), &folder.join("glsl"));
        copy(&sources.join("../shaders/mixins"), &folder.join("mixins"));
        copy(&sources.join("recipes"), &folder.join("recipes"));
        let gpu = gpu_with(&GpuDesc {
            surface_extensions: vec![
                impel::gpu::ash::khr::surface::NAME,
                impel::gpu::ash::ext::headless_surface::NAME,
            ],
            ..GpuDesc::default()
        });
        let mut watched = HotReload::watch(&folder).unwrap();
        let recipes = folder.join("recipes/mixins.toml");
        watched.watch_recipes(&recipes, RECIPES).unwrap();
        let state = Rc::new(RefCell::new(ShaderState::default()));
        let told = state.clone();
        let desc = AppDesc {
            size: SIZE,
            vsync: false,
            reset: true,
            write_picture: |_, size, texels| {
                assert_eq!(size, SIZE);
                PICTURE.with(|picture| picture.replace(texels.to_vec()));
                Ok(())
            },
            reload: Some(Box::new(move |shaders| {
                watched.poll(shaders).then(|| {
                    told.replace(watched.state().clone());
                    watched.state().clone()
                })
            })),
            ..AppDesc::default()
        };
        let window = Window::headless(
            &gpu,
            &WindowDesc {
                size: SIZE,
                vsync: false,
                ..WindowDesc::default()
            },
        )
        .unwrap();
        let grid = Grid::new(&gpu, SIZE, RasterPath::Vertex).unwrap();
        let content = Box::new(MixinsContent::new(&gpu, grid));
        let mut app = App::new(&gpu, window, content, MixinsContent::camera(), desc).unwrap();
        app.event(&Event::Command(Command::Interface(false)), false);
        Self {
            app,
            state,
            folder,
            _gpu: gpu,
        }
    }

    /// What the window shows.
    fn picture(&mut self) -> Vec<u8> {
        PICTURE.with(|picture| picture.borrow_mut().clear());
        let shot = Event::Command(Command::Screenshot("shot".into()));
        self.app.event(&shot, false);
        for _ in 0..20 {
            self.app.frame(RawInput::default()).unwrap();
            let picture = PICTURE.with(|picture| picture.borrow().clone());
            if !picture.is_empty() {
                return picture;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("no picture came");
    }

    fn edit(&self, file: &str, change: impl FnOnce(&str) -> String) {
        let path = self.folder.join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        let changed = change(&text);
        assert_ne!(text, changed, "{file}");
        std::fs::write(&path, changed).unwrap();
    }

    /// Runs until something came of an edit, at most 60 frames; gives what.
    fn next(&mut self) -> ShaderState {
        self.state.replace(ShaderState::default());
        for _ in 0..60 {
            self.app.frame(RawInput::default()).unwrap();
            let state = self.state.borrow().clone();
            if !state.folder.is_empty() {
                return state;
            }
            // As in a window that keeps in step with a display.
            std::thread::sleep(Duration::from_millis(16));
        }
        panic!("nothing came of it in 60 frames");
    }
}

/// Cells in which two pictures differ: row and column.
fn differing(a: &[u8], b: &[u8]) -> Vec<(usize, usize)> {
    let mut cells = Vec::new();
    for (index, (a, b)) in a.chunks(4).zip(b.chunks(4)).enumerate() {
        let cell = (index / 320 / CELL, index % 320 / CELL);
        if a.iter().zip(b).any(|(a, b)| a.abs_diff(*b) > 1) && !cells.contains(&cell) {
            cells.push(cell);
        }
    }
    cells.sort_unstable();
    cells
}

fn row(row: usize) -> Vec<(usize, usize)> {
    (0..8).map(|column| (row, column)).collect()
}

#[test]
fn edited_classes_and_recipes_are_seen() {
    let mut rig = Rig::new("hot-reload-mixins");
    let first = rig.picture();
    assert!(first.chunks(4).any(|texel| texel != &first[..4]));

    // A class of one row: its eight effects, and no others.
    let checker = "mixins/Checker.glsl";
    rig.edit(checker, |text| text.replace("*= 0.25", "= vec3(1, 0, 0)"));
    let state = rig.next();
    assert_eq!(state.errors, [""; 0]);
    assert_eq!(state.last.len(), 8, "{:?}", state.last);
    assert!(state.last.iter().all(|name| name.starts_with("checker, ")));
    let second = rig.picture();
    assert_eq!(differing(&first, &second), row(1));

    // A mistake: the picture stays, file and line are told; mended it goes on.
    rig.edit(checker, |text| {
        text.replace("vec3(1, 0, 0)", "no_such_thing")
    });
    let state = rig.next();
    let [error] = state.errors.as_slice() else {
        panic!("{:?}", state.errors)
    };
    assert!(
        error.contains("mixins/Checker.glsl:12") && error.contains("no_such_thing"),
        "{error}"
    );
    assert!(state.last.is_empty() && rig.picture() == second);
    rig.edit(checker, |text| text.replace("= no_such_thing", "*= 0.25"));
    let state = rig.next();
    assert!(state.errors.is_empty(), "{:?}", state.errors);
    assert_eq!(differing(&first, &rig.picture()), []);

    // What all inherit.
    let base = "mixins/ForwardBase.glsl";
    rig.edit(base, |text| {
        text.replace("return colour / ", "return 0.25 * colour / ")
    });
    assert_eq!(rig.next().last.len(), 48);
    let darker = rig.picture();
    assert!((0..6).all(|row| differing(&first, &darker).contains(&(row, 0))));
    rig.edit(base, |text| text.replace("0.25 * ", ""));
    rig.next();

    // What all see, and had been compiled with: a member before the others shifts them all.
    let types = "mixins/ForwardTypes.glsl";
    rig.edit(types, |text| {
        text.replace("    vec3 position;", "    float more;\n    vec3 position;")
    });
    let state = rig.next();
    assert_eq!((state.errors.len(), state.last.len()), (0, 48), "{state:?}");
    assert_eq!(differing(&first, &rig.picture()), []);

    // An edit over two files, the user first: it waits for what it uses.
    rig.edit(checker, |text| text.replace("*= 0.25", "*= 0.25 + s.lift"));
    assert_eq!(rig.next().errors.len(), 1);
    rig.edit(types, |text| text.replace("float more", "float lift"));
    let state = rig.next();
    assert!(state.errors.is_empty(), "{:?}", state.errors);
    rig.edit(checker, |text| text.replace(" + s.lift", ""));
    rig.next();
    assert_eq!(differing(&first, &rig.picture()), []);

    // A recipe: only its effect. Then one with a mistake.
    let recipes = "recipes/mixins.toml";
    rig.edit(recipes, |text| format!("\n{text}"));
    assert!(
        rig.next().last.is_empty(),
        "another place is no other recipe"
    );
    let flat_fog = "\"FlatSurface\", \"Fog\"";
    rig.edit(recipes, |text| {
        text.replacen(flat_fog, "\"Toon<3>\", \"Fog\"", 1)
    });
    let state = rig.next();
    assert_eq!(state.last, ["flat, directional, fog"], "{state:?}");
    assert_eq!(differing(&first, &rig.picture()), [(0, 1)]);
    rig.edit(recipes, |text| {
        text.replacen("\"Toon<3>\", \"Fog\"", "\"Tune<3>\"", 1)
    });
    let state = rig.next();
    let errors = state.errors.join("\n");
    assert!(
        errors.contains(RECIPES) && errors.contains("Tune"),
        "{errors}"
    );
    rig.edit(recipes, |text| text.replacen("stages =", "stage =", 1));
    let errors = rig.next().errors.join("\n");
    assert!(errors.contains(&format!("{RECIPES}:")), "{errors}");
    rig.edit(recipes, |text| {
        text.replacen("\"Tune<3>\"", flat_fog, 1)
            .replacen("stage =", "stages =", 1)
    });
    assert!(rig.next().errors.is_empty());
    assert_eq!(differing(&first, &rig.picture()), []);

    // A new class: the recipe that names it waits for its file. One with a mistake is told of until it is mended, or gone.
    rig.edit(recipes, |text| {
        text.replacen(flat_fog, "\"Plain\", \"Fog\"", 1)
    });
    let errors = rig.next().errors.join("\n");
    assert!(errors.contains("no class has this name"), "{errors}");
    let plain = rig.folder.join("mixins/Plain.glsl");
    let flat = std::fs::read_to_string(rig.folder.join("mixins/FlatSurface.glsl")).unwrap();
    let flat = flat.replace("FlatSurface", "Plain");
    std::fs::write(&plain, flat.replacen("\nvoid", "\nvod", 1)).unwrap();
    let errors = rig.next().errors.join("\n");
    assert!(errors.contains("mixins/Plain.glsl:"), "{errors}");
    std::fs::write(&plain, flat).unwrap();
    let state = rig.next();
    assert!(state.errors.is_empty(), "{:?}", state.errors);
    assert_eq!(state.last, ["flat, directional, fog"]);
    assert_eq!(differing(&first, &rig.picture()), []);
    let other = rig.folder.join("mixins/Other.glsl");
    std::fs::write(&other, "#version 460\n#pragma mixin class\n").unwrap();
    assert_eq!(rig.next().errors.len(), 1);
    std::fs::remove_file(&other).unwrap();
    assert_eq!(rig.next().errors, [""; 0]);
    rig.app.finish().unwrap();
}
