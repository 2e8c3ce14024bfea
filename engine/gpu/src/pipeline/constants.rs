//! Specialisation constants by name.

use crate::shader::Shader;
use crate::{Error, Result};
use ash::vk;
use impel_spirv::SpecValue;

/// Resolves constants named for a pipeline to the SpecIds of its shaders, and checks their types.
pub(crate) fn resolve(
    pipeline: &str,
    shaders: &[&Shader],
    named: &[(&str, SpecValue)],
) -> Result<Vec<(u32, SpecValue)>> {
    let mut values = Vec::new();
    for &(name, value) in named {
        let found = shaders.iter().find_map(|shader| {
            shader
                .interface
                .spec_constants
                .iter()
                .find(|constant| constant.name == name)
                .map(|constant| (shader, constant))
        });
        let Some((shader, constant)) = found else {
            let known: Vec<_> = shaders
                .iter()
                .flat_map(|shader| {
                    shader
                        .interface
                        .spec_constants
                        .iter()
                        .map(|constant| constant.name.as_str())
                })
                .collect();
            return Err(Error::invalid(
                format!("pipeline {pipeline:?}"),
                format!("no shader has a specialisation constant {name:?}; there are {known:?}"),
            ));
        };
        let expected = constant.default.scalar_type();
        if value.scalar_type() != expected {
            return Err(Error::invalid(
                format!("pipeline {pipeline:?}"),
                format!(
                    "specialisation constant {name:?} of {} is a {expected}; given {value:?}",
                    shader.name
                ),
            ));
        }
        values.push((constant.id, value));
    }
    Ok(values)
}

/// Specialisation data of one stage.
#[derive(Default)]
pub(crate) struct Specialization {
    entries: Vec<vk::SpecializationMapEntry>,
    data: Vec<u8>,
}

impl Specialization {
    pub(crate) fn of(shader: &Shader, values: &[(u32, SpecValue)]) -> Specialization {
        let mut this = Specialization::default();
        for &(id, value) in values {
            if shader
                .interface
                .spec_constants
                .iter()
                .any(|constant| constant.id == id)
            {
                let bytes = value.to_bytes();
                let offset = this.data.len() as u32;
                this.entries.push(vk::SpecializationMapEntry {
                    constant_id: id,
                    offset,
                    size: bytes.len(),
                });
                this.data.extend_from_slice(&bytes);
            }
        }
        this
    }

    pub(crate) fn info(&self) -> vk::SpecializationInfo<'_> {
        vk::SpecializationInfo::default()
            .map_entries(&self.entries)
            .data(&self.data)
    }
}
