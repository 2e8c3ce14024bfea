//! Inputs, outputs, push constants and specialisation constants of a golden.

use impel_spirv::{InterfaceVariable, Interpolation, Type};
use serde_yaml_ng::Value;

use crate::compare::{Compare, Kind, dims, int, list, our_dims, text};
use crate::deviations;

impl Compare<'_> {
    pub(crate) fn variables(&mut self, what: &str, golden: &[&Value], ours: &[InterfaceVariable]) {
        for found in golden {
            let id = int(&found["spirv_id"]);
            let listed: Vec<&InterfaceVariable> = ours
                .iter()
                .filter(|variable| i64::from(variable.spirv_id) == id)
                .collect();
            let name = format!("{what} {id} {}", text(&found["name"]));
            if listed.is_empty() {
                self.fact(name, "present", "missing");
                continue;
            }
            let members = list(&found["members"]);
            if let Some(right) = deviations::STRUCTS
                .iter()
                .find(|row| row.module == self.module && i64::from(row.variable) == id)
            {
                let ours: Vec<(&str, i64, i64, i64)> = listed
                    .iter()
                    .map(|variable| {
                        let format = variable.format.map_or(0, |format| i64::from(format.0));
                        (
                            variable.name.as_str(),
                            variable.location.map_or(-1, i64::from),
                            format,
                            variable
                                .built_in
                                .map_or(-1, |built_in| i64::from(built_in.0)),
                        )
                    })
                    .collect();
                self.fact(format!("{name}: entries"), right.entries.to_vec(), ours);
            } else if members.is_empty() {
                self.fact(format!("{name}: entries"), 1, listed.len());
                self.variable(&name, found, listed[0], true);
            } else {
                self.fact(format!("{name}: members"), members.len(), listed.len());
                for (golden, ours) in members.into_iter().zip(listed) {
                    self.variable(&format!("{name}.{}", ours.name), golden, ours, false);
                }
            }
        }
        let mut ids: Vec<u32> = ours.iter().map(|variable| variable.spirv_id).collect();
        ids.sort_unstable();
        ids.dedup();
        self.fact(format!("number of {what}s"), golden.len(), ids.len());
    }

    /// Names and locations of members are not to be trusted; built-ins have no location.
    fn variable(&mut self, name: &str, golden: &Value, ours: &InterfaceVariable, whole: bool) {
        let location = int(&golden["location"]);
        if whole {
            self.fact(
                format!("{name}: name"),
                text(&golden["name"]),
                ours.name.to_string(),
            );
            self.fact(
                format!("{name}: location"),
                if location == 4_294_967_295 {
                    -1
                } else {
                    location
                },
                ours.location.map_or(-1, i64::from),
            );
        } else {
            self.fact(
                format!("{name}: location of a built-in"),
                -1,
                ours.location.map_or(-1, i64::from),
            );
        }
        self.fact(
            format!("{name}: built-in"),
            int(&golden["built_in"]),
            ours.built_in.map_or(-1, |built_in| i64::from(built_in.0)),
        );
        self.fact(
            format!("{name}: format"),
            int(&golden["format"]),
            ours.format.map_or(0, |format| i64::from(format.0)),
        );
        let flags = int(&golden["decoration_flags"]);
        let ours_interpolation = ours.interpolation.unwrap_or_default();
        let golden_interpolation = Interpolation {
            no_perspective: flags & 0x20 != 0,
            flat: flags & 0x40 != 0,
            ..ours_interpolation
        };
        self.fact(
            format!("{name}: interpolation"),
            golden_interpolation,
            ours_interpolation,
        );
        self.fact(format!("{name}: patch"), flags & 0x400 != 0, ours.patch);
        self.fact(
            format!("{name}: per vertex"),
            flags & 0x800 != 0,
            ours.per_vertex,
        );
        let found = match self.interface.types.get(ours.ty) {
            Some(Type::Array { dims, .. }) => our_dims(dims),
            _ => Vec::new(),
        };
        self.fact(format!("{name}: dims"), dims(&golden["array"]), found);
        self.numeric(name, &golden["numeric"], ours.ty, None);
        self.fact(
            format!("{name}: semantic"),
            text(&golden["semantic"]),
            ours.semantic.as_deref().unwrap_or_default().to_owned(),
        );
    }

    pub(crate) fn push_constants(&mut self, golden: &[&Value]) {
        let blocks = &self.interface.push_constants;
        self.fact("number of push-constant blocks", golden.len(), blocks.len());
        for (found, ours) in golden.iter().zip(blocks) {
            self.fact(
                "push constants: name",
                text(&found["name"]),
                ours.name.to_string(),
            );
            self.fact(
                "push constants: offset",
                int(&found["offset"]),
                i64::from(ours.offset),
            );
            self.block(
                "push constants",
                Kind::Push,
                found,
                ours.block,
                u64::from(ours.size),
                u64::from(ours.size),
            );
        }
    }

    pub(crate) fn spec_constants(&mut self, golden: &[&Value]) {
        let constants = &self.interface.spec_constants;
        self.fact("number of spec constants", golden.len(), constants.len());
        for found in golden {
            let id = int(&found["constant_id"]);
            let Some(ours) = constants
                .iter()
                .find(|constant| i64::from(constant.id) == id)
            else {
                self.fact(format!("spec constant {id}"), "present", "missing");
                continue;
            };
            self.fact(
                format!("spec constant {id}: name"),
                text(&found["name"]),
                ours.name.to_string(),
            );
            let spirv_id = int(&found["spirv_id"]);
            self.fact(
                format!("spec constant {id}: SPIR-V id {spirv_id}"),
                true,
                ours.spirv_ids
                    .iter()
                    .any(|known| i64::from(*known) == spirv_id),
            );
        }
    }
}
