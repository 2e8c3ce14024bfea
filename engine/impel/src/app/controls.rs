//! Every setting of the renderer as a row of one table: the panel shows it, the preferences keep it, and tests go through it.
//! A new field of [`Settings`] needs one row here.

use crate::config::RASTER_MAX_EXTENT;
use crate::math::LodMode;
use crate::renderer::{DebugView, RasterPath, Settings};

/// One setting.
pub struct Entry {
    /// Heading that it stands under.
    pub group: &'static str,
    /// Name in files.
    pub name: &'static str,
    /// Name on the screen.
    pub label: &'static str,
    /// One sentence.
    pub help: &'static str,
    /// What may be chosen.
    pub control: Control,
    /// Whether it is kept from run to run.
    pub kept: bool,
    get: fn(&Settings) -> Option<Value>,
    set: fn(&mut Settings, Value),
}

/// What may be chosen.
#[derive(Clone, Copy)]
pub enum Control {
    /// On or off.
    Switch,
    /// A number from the first to the second; on a logarithmic scale if the third says so.
    Number(f32, f32, bool),
    /// One of some names.
    Choice(fn() -> Vec<&'static str>),
}

/// The value of a setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// On or off.
    Switch(bool),
    /// A number.
    Number(f32),
    /// Index among the names.
    Choice(usize),
}

impl Entry {
    /// Its value; `None` when it has no meaning beside the others, such as a level that is not forced.
    #[must_use]
    pub fn get(&self, settings: &Settings) -> Option<Value> {
        (self.get)(settings)
    }

    /// Sets it. A value of the wrong kind or out of range does nothing.
    pub fn set(&self, settings: &mut Settings, value: Value) {
        let fits = match (self.control, value) {
            (Control::Switch, Value::Switch(_)) => true,
            (Control::Number(least, most, _), Value::Number(number)) => {
                (least..=most).contains(&number)
            }
            (Control::Choice(names), Value::Choice(index)) => index < names().len(),
            _ => false,
        };
        let before = *settings;
        if fits {
            (self.set)(settings, value);
        }
        // Some settings go with others only.
        if settings.check().is_err() {
            *settings = before;
        }
    }

    /// The value as text for files.
    #[must_use]
    pub fn text(&self, settings: &Settings) -> Option<String> {
        Some(match (self.get(settings)?, self.control) {
            (Value::Switch(on), _) => if on { "on" } else { "off" }.to_owned(),
            (Value::Number(number), _) => format!("{number:?}"),
            (Value::Choice(index), Control::Choice(names)) => (*names().get(index)?).to_owned(),
            (Value::Choice(_), _) => return None,
        })
    }

    /// Sets it from text; what does not fit is left as it was.
    pub fn set_text(&self, settings: &mut Settings, text: &str) {
        let value = match self.control {
            Control::Switch => match text {
                "on" => Some(Value::Switch(true)),
                "off" => Some(Value::Switch(false)),
                _ => None,
            },
            Control::Number(..) => text.parse().ok().map(Value::Number),
            Control::Choice(names) => names()
                .iter()
                .position(|name| *name == text)
                .map(Value::Choice),
        };
        if let Some(value) = value {
            self.set(settings, value);
        }
    }

    /// Moves it one step on: the other position of a switch, the next name, another number.
    pub fn step(&self, settings: &mut Settings) {
        let next = match (self.get(settings), self.control) {
            (Some(Value::Switch(on)), _) => Value::Switch(!on),
            (Some(Value::Choice(index)), Control::Choice(names)) => {
                let count = names().len().max(1);
                let fits = |index: &usize| {
                    let mut copy = *settings;
                    (self.set)(&mut copy, Value::Choice(*index));
                    copy.check().is_ok()
                };
                let mut next = (1..count).map(|step| (index + step) % count);
                Value::Choice(next.find(fits).unwrap_or(index))
            }
            (Some(Value::Number(number)), Control::Number(least, most, _)) => {
                let more = (number * 1.5).max(least + (most - least) * 0.01);
                Value::Number(if more > most { least } else { more })
            }
            _ => return,
        };
        self.set(settings, next);
    }
}

/// Row of a switch.
macro_rules! switch {
    ($group:literal, $name:literal, $label:literal, $kept:literal, $help:literal, $($field:ident).+) => {
        Entry {
            group: $group,
            name: $name,
            label: $label,
            help: $help,
            kept: $kept,
            control: Control::Switch,
            get: |settings| Some(Value::Switch(settings.$($field).+)),
            set: |settings, value| {
                if let Value::Switch(on) = value {
                    settings.$($field).+ = on;
                }
            },
        }
    };
}

/// Row of an enum with `NAMED`.
macro_rules! choice {
    ($group:literal, $name:literal, $label:literal, $kept:literal, $help:literal, $type:ident, $field:ident) => {
        Entry {
            group: $group,
            name: $name,
            label: $label,
            help: $help,
            kept: $kept,
            control: Control::Choice(|| $type::NAMED.iter().map(|(name, _)| *name).collect()),
            get: |settings| {
                let at = |(_, value): &(&str, $type)| *value == settings.$field;
                $type::NAMED.iter().position(at).map(Value::Choice)
            },
            set: |settings, value| {
                if let Value::Choice(index) = value
                    && let Some((_, value)) = $type::NAMED.get(index)
                {
                    settings.$field = *value;
                }
            },
        }
    };
}

/// All settings, in the order of the panel.
#[must_use]
pub fn entries() -> &'static [Entry] {
    ENTRIES
}

const ENTRIES: &[Entry] = &[
    choice!(
        "Picture",
        "view",
        "Show",
        false,
        "What the picture shows.",
        DebugView,
        view
    ),
    Entry {
        group: "Picture",
        name: "hzb-level",
        label: "Level shown",
        help: "The level of the hierarchical depth buffer that its view shows, 0 the finest.",
        kept: false,
        control: Control::Choice(|| {
            vec![
                "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14",
            ]
        }),
        get: |settings| {
            let shown = settings.view.name() == "hzb";
            shown.then_some(Value::Choice(settings.hzb_level.min(14) as usize))
        },
        set: |settings, value| {
            if let Value::Choice(level) = value {
                settings.hzb_level = level as u32;
            }
        },
    },
    Entry {
        group: "Picture",
        name: "fog-distance",
        label: "Haze at",
        help: "Distance by which haze has taken most of a thing's colour; 0 for none.",
        kept: false,
        control: Control::Number(0.0, 10_000.0, false),
        get: |settings| Some(Value::Number(settings.fog_distance)),
        set: |settings, value| {
            if let Value::Number(number) = value {
                settings.fog_distance = number;
            }
        },
    },
    choice!(
        "Drawing",
        "path",
        "Path",
        false,
        "How clusters become pixels.",
        RasterPath,
        path
    ),
    Entry {
        group: "Drawing",
        name: "raster-threshold",
        label: "Compute up to, pixels",
        help: "The hybrid path draws clusters by compute whose triangles are all at most so large; 0 leaves all to the hardware.",
        kept: true,
        control: Control::Number(0.0, RASTER_MAX_EXTENT as f32, false),
        get: |settings| {
            let hybrid = settings.path == RasterPath::Hybrid;
            hybrid.then_some(Value::Number(settings.raster_threshold))
        },
        set: |settings, value| {
            if let Value::Number(number) = value {
                settings.raster_threshold = number;
            }
        },
    },
    switch!(
        "Drawing",
        "raster-shuffle",
        "Shuffle",
        false,
        "The hybrid path gives half of what compute could draw to the hardware: shows where the two do not meet.",
        raster_shuffle
    ),
    switch!(
        "Drawing",
        "mesh-shaders",
        "Mesh shaders",
        false,
        "Whether the hybrid path uses mesh shaders where the device has them.",
        mesh_shaders
    ),
    switch!(
        "Drawing",
        "single-dispatch-hzb",
        "Depth pyramid at once",
        true,
        "Make the hierarchical depth buffer in one dispatch where the device can, or level by level.",
        single_dispatch_hzb
    ),
    switch!(
        "Drawing",
        "deterministic",
        "In order",
        true,
        "Fill lists in order, so that two runs are alike to the byte; costs time.",
        deterministic
    ),
    switch!(
        "Culling",
        "frustum",
        "Frustum",
        true,
        "Leave out instances that are outside of the view.",
        culling.frustum
    ),
    switch!(
        "Culling",
        "occlusion",
        "Occlusion",
        true,
        "Leave out instances behind what is drawn.",
        culling.occlusion
    ),
    switch!(
        "Culling",
        "meshlet-cone",
        "Meshlets facing away",
        true,
        "Leave out meshlets whose triangles all face away.",
        culling.meshlet_cone
    ),
    switch!(
        "Culling",
        "meshlet-frustum",
        "Meshlets outside",
        true,
        "Leave out meshlets that are outside of the view.",
        culling.meshlet_frustum
    ),
    switch!(
        "Culling",
        "meshlet-occlusion",
        "Meshlets behind",
        true,
        "Leave out meshlets behind what is drawn.",
        culling.meshlet_occlusion
    ),
    switch!(
        "Culling",
        "freeze-camera",
        "Freeze",
        false,
        "Keep culling and levels of detail as seen from here, and look at them from elsewhere.",
        freeze_camera
    ),
    Entry {
        group: "Levels of detail",
        name: "lod",
        label: "Choose by",
        help: "How an instance's level of detail is chosen.",
        kept: true,
        control: Control::Choice(|| vec!["error", "forced", "distance"]),
        get: |settings| {
            Some(Value::Choice(match settings.lod {
                LodMode::Error { .. } => 0,
                LodMode::Forced { .. } => 1,
                LodMode::Distance { .. } => 2,
            }))
        },
        set: |settings, value| match value {
            Value::Choice(0) => settings.lod = LodMode::Error { pixels: 1.0 },
            Value::Choice(1) => settings.lod = LodMode::Forced { lod: 0 },
            Value::Choice(2) => {
                settings.lod = LodMode::Distance {
                    base: 4.0,
                    step: 1.25,
                };
            }
            _ => {}
        },
    },
    Entry {
        group: "Levels of detail",
        name: "lod-error",
        label: "Error, pixels",
        help: "The coarsest level whose error is seen as no more than this.",
        kept: true,
        control: Control::Number(0.1, 64.0, true),
        get: |settings| match settings.lod {
            LodMode::Error { pixels } => Some(Value::Number(pixels)),
            _ => None,
        },
        set: |settings, value| {
            if let (LodMode::Error { pixels }, Value::Number(number)) = (&mut settings.lod, value) {
                *pixels = number;
            }
        },
    },
    Entry {
        group: "Levels of detail",
        name: "lod-forced",
        label: "Level",
        help: "This level for every instance, or its coarsest.",
        kept: true,
        control: Control::Choice(|| vec!["0", "1", "2", "3", "4", "5", "6", "7"]),
        get: |settings| match settings.lod {
            LodMode::Forced { lod } => Some(Value::Choice(lod.min(7) as usize)),
            _ => None,
        },
        set: |settings, value| {
            if let (LodMode::Forced { lod }, Value::Choice(index)) = (&mut settings.lod, value) {
                *lod = index as u32;
            }
        },
    },
    Entry {
        group: "Levels of detail",
        name: "lod-base",
        label: "First at",
        help: "Distance of the second level, world units.",
        kept: true,
        control: Control::Number(0.1, 1000.0, true),
        get: |settings| match settings.lod {
            LodMode::Distance { base, .. } => Some(Value::Number(base)),
            _ => None,
        },
        set: |settings, value| {
            if let (LodMode::Distance { base, .. }, Value::Number(number)) =
                (&mut settings.lod, value)
            {
                *base = number;
            }
        },
    },
    Entry {
        group: "Levels of detail",
        name: "lod-step",
        label: "Each times",
        help: "How many times as far each further level begins.",
        kept: true,
        control: Control::Number(1.01, 8.0, true),
        get: |settings| match settings.lod {
            LodMode::Distance { step, .. } => Some(Value::Number(step)),
            _ => None,
        },
        set: |settings, value| {
            if let (LodMode::Distance { step, .. }, Value::Number(number)) =
                (&mut settings.lod, value)
            {
                *step = number;
            }
        },
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_survives_as_text() {
        let mut settings = Settings::default();
        for round in 0..12 {
            for entry in entries() {
                if let Some(text) = entry.text(&settings) {
                    let mut copy = settings;
                    entry.step(&mut copy);
                    entry.set_text(&mut copy, &text);
                    assert_eq!(entry.get(&copy), entry.get(&settings), "{}", entry.name);
                }
                entry.step(&mut settings);
                settings
                    .check()
                    .unwrap_or_else(|error| panic!("{round}: {error}"));
            }
        }
    }

    #[test]
    fn steps_go_through_every_choice_and_come_back() {
        // The path that has every view.
        let start = Settings {
            path: RasterPath::Hybrid,
            ..Settings::default()
        };
        let mut settings = start;
        let view = entries().iter().find(|entry| entry.name == "view").unwrap();
        for _ in DebugView::NAMED {
            view.step(&mut settings);
        }
        assert_eq!(settings, start);
    }

    #[test]
    fn what_does_not_fit_changes_nothing() {
        let mut settings = Settings::default();
        for entry in entries() {
            entry.set_text(&mut settings, "no such thing");
            entry.set(&mut settings, Value::Number(f32::NAN));
            entry.set(&mut settings, Value::Choice(999));
        }
        assert_eq!(settings, Settings::default());
    }
}
