//! The GLSL that stands in for `#include <mixin>`: interfaces of others, constants for parameters, prototypes, and functions
//! that stand for those of others until composing replaces them.
//!
//! A prototype without a body that is called does not link, so each function of others gets a body. The front end drops what
//! nothing calls, so a `main` calls every declared function of the class.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

use super::constant::evaluate;
use super::header::{Header, MemberKind};
use super::library::Library;
use super::link::{Linked, Stub};
use super::prototype::{Parameter, Prototype};
use super::specs::{LOCAL_SIZE_IDS, MARKER, SpecSource, specs};
use crate::Stage;

/// First binding of the resources that only keep functions alive.
const FIRST_DUMMY: u32 = 4096;

/// Text to compile, and what is in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Generated {
    pub(crate) text: String,
    pub(crate) files: BTreeMap<String, String>,
}

/// The complete text of a class for a stage.
pub(crate) fn generate(
    library: &Library,
    class: usize,
    linked: &Linked,
    stubs: &[Stub],
    stage: Stage,
) -> Generated {
    let mut made = Generated::default();
    let Some(own) = library.classes.get(class).map(|class| &class.header) else {
        return made;
    };
    let mut include = extensions(library, own, linked, stubs, stage);
    include.push_str(&local_size(library, own, linked, stage));
    // A class's own parameters come after the interfaces of others unless those need them; constants come first anyway.
    include.push_str(&constants(library, class, linked));
    for &other in &linked.visible {
        let Some(header) = library.classes.get(other).map(|class| &class.header) else {
            continue;
        };
        if let Some(region) = header.region.as_ref().filter(|_| header.takes_part(stage)) {
            let name = format!("mixin/{}", header.name());
            let _ = writeln!(include, "#include <{name}>");
            // The lines are where they are in the class's own file, so that messages are, too.
            let lines = "\n".repeat(region.begin as usize);
            made.files.insert(name, format!("{lines}{}", region.text));
        }
    }
    include.push_str(&root_variables(library, class, linked));
    let members = members(own, stubs);
    let own_region = own
        .region
        .as_ref()
        .filter(|region| region.begin > own.include_line);
    if own_region.is_none() {
        include.push_str(&members);
    } else {
        made.files.insert("mixin_members".to_owned(), members);
    }
    made.files.insert("mixin".to_owned(), include);

    for (index, line) in own.text.lines().enumerate() {
        let number = index as u32 + 1;
        let line = if number == own.include_line {
            "#include <mixin>"
        } else if own_region.is_some_and(|region| region.end == number) {
            "#include <mixin_members>"
        } else {
            line
        };
        made.text.push_str(line);
        made.text.push('\n');
    }
    made.text.push_str(&keep_alive(library, own, linked, stage));
    made
}

fn extensions(
    library: &Library,
    own: &Header,
    linked: &Linked,
    stubs: &[Stub],
    stage: Stage,
) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut add = |line: &str| {
        if !lines.iter().any(|other| other == line) {
            lines.push(line.to_owned());
        }
    };
    if matches!(stage, Stage::Task | Stage::Mesh) {
        add("#extension GL_EXT_mesh_shader : enable");
    }
    let images = own
        .members
        .iter()
        .map(|member| &member.prototype)
        .chain(stubs.iter().map(|stub| &stub.prototype))
        .any(|prototype| prototype.parameters.iter().any(Parameter::is_image));
    if images {
        add("#extension GL_EXT_shader_image_load_formatted : enable");
    }
    let others = linked
        .visible
        .iter()
        .filter_map(|class| library.classes.get(*class));
    for class in others.filter(|class| class.header.takes_part(stage)) {
        for line in &class.header.extensions {
            add(line);
        }
    }
    lines
        .iter()
        .fold(String::new(), |text, line| text + line + "\n")
}

/// Without a declared size, the front end would take sizes of 1 for constants.
fn local_size(library: &Library, own: &Header, linked: &Linked, stage: Stage) -> String {
    let sees_one = linked
        .visible
        .iter()
        .filter_map(|class| library.classes.get(*class))
        .filter(|class| class.header.takes_part(stage))
        .filter_map(|class| class.header.region.as_ref())
        .any(|region| region.text.contains("local_size_"));
    if !matches!(stage, Stage::Compute | Stage::Task | Stage::Mesh)
        || own.declares_local_size
        || sees_one
    {
        return String::new();
    }
    let [x, y, z] = LOCAL_SIZE_IDS;
    format!("layout(local_size_x_id = {x}, local_size_y_id = {y}, local_size_z_id = {z}) in;\n")
}

fn constants(library: &Library, class: usize, linked: &Linked) -> String {
    let mut text = String::new();
    for (id, source) in specs(library, class, linked) {
        match source {
            SpecSource::LocalSize(_) => {}
            SpecSource::Count(symbol) => {
                let name = library
                    .symbols
                    .get(symbol as usize)
                    .map_or("", String::as_str);
                let _ = writeln!(
                    text,
                    "layout(constant_id = {id}) const int {name}_count = 1;"
                );
            }
            SpecSource::Param {
                class,
                index,
                component,
            } => {
                let Some(param) = library
                    .classes
                    .get(class)
                    .and_then(|class| class.header.params.get(index))
                else {
                    continue;
                };
                let scalar = param.ty.scalar_name();
                // Composing replaces the value, but arrays in blocks keep the layout that it gives them, so it is not 0.
                let default = param.default.as_deref().and_then(|text| {
                    let value = evaluate(text, &|_| None).ok()?.converted(param.ty).ok()?;
                    value.components().nth(component)
                });
                let placeholder = default
                    .unwrap_or_else(|| if scalar == "bool" { "true" } else { "1" }.to_owned());
                let name = &param.name;
                if param.ty.components == 1 {
                    let _ = writeln!(
                        text,
                        "layout(constant_id = {id}) const {scalar} {name} = {placeholder};"
                    );
                    continue;
                }
                let _ = writeln!(
                    text,
                    "layout(constant_id = {id}) const {scalar} mixin_{name}_{component} = {placeholder};"
                );
                if component + 1 == usize::from(param.ty.components) {
                    let parts: Vec<_> = (0..=component)
                        .map(|part| format!("mixin_{name}_{part}"))
                        .collect();
                    let _ = writeln!(
                        text,
                        "const {} {name} = {}({});",
                        param.ty,
                        param.ty,
                        parts.join(", ")
                    );
                }
            }
        }
    }
    text
}

fn root_variables(library: &Library, class: usize, linked: &Linked) -> String {
    let mut text = String::new();
    let mut seen = HashSet::new();
    for from in linked.visible.iter().chain([&class]) {
        let Some(other) = library.classes.get(*from) else {
            continue;
        };
        for variable in &other.header.root_variables {
            if !seen.insert(variable.name.as_str()) {
                continue;
            }
            let initialiser = match &variable.initialiser {
                Some(value) if *from == class => format!(" = {value}"),
                _ => String::new(),
            };
            let _ = writeln!(
                text,
                "{} {}{}{initialiser};",
                variable.ty, variable.name, variable.dimensions
            );
        }
    }
    text
}

fn members(own: &Header, stubs: &[Stub]) -> String {
    let mut text = String::new();
    for member in own
        .members
        .iter()
        .filter(|member| member.kind != MemberKind::Abstract)
    {
        let _ = writeln!(text, "{};", member.prototype.named(&member.prototype.name));
    }
    for stub in stubs {
        let declaration = stub.prototype.named(&stub.name);
        let returns = &stub.prototype.returns;
        if returns == "void" {
            let _ = writeln!(text, "{declaration} {{}}");
        } else {
            let _ = writeln!(
                text,
                "{declaration} {{ {returns} mixin_result; return mixin_result; }}"
            );
        }
    }
    text
}

/// `main`, which calls what the class declares. Its arguments do not matter: nothing of it but the initialisers is used.
fn keep_alive(library: &Library, own: &Header, linked: &Linked, stage: Stage) -> String {
    let mut dummies = String::new();
    let mut calls = String::new();
    let mut next = FIRST_DUMMY;
    for member in own
        .members
        .iter()
        .filter(|member| member.kind != MemberKind::Abstract)
    {
        let (locals, arguments) = arguments(&member.prototype, &mut dummies, &mut next);
        let _ = writeln!(
            calls,
            "  {{ {locals}{}({arguments}); }}",
            member.prototype.name
        );
    }
    if stage == Stage::Mesh {
        let declared = linked
            .visible
            .iter()
            .filter_map(|class| library.classes.get(*class))
            .filter_map(|class| class.header.region.as_ref())
            .any(|region| region.text.contains("max_vertices"));
        if !declared && !own.declares_mesh_output {
            dummies.push_str("layout(triangles, max_vertices = 1, max_primitives = 1) out;\n");
        }
    }
    format!("void {MARKER}() {{}}\n{dummies}void main() {{\n  {MARKER}();\n{calls}}}\n")
}

fn arguments(prototype: &Prototype, dummies: &mut String, next: &mut u32) -> (String, String) {
    let mut locals = String::new();
    let mut names = Vec::new();
    for (index, parameter) in prototype.parameters.iter().enumerate() {
        if parameter.is_opaque() {
            let name = format!("mixin_dummy_{next}");
            let attachment = if parameter.base.contains("subpassInput") {
                ", input_attachment_index = 0"
            } else {
                ""
            };
            let qualifiers = parameter
                .qualifiers
                .iter()
                .fold(String::new(), |text, word| text + word + " ");
            let _ = writeln!(
                dummies,
                "layout(set = 0, binding = {next}{attachment}) uniform {qualifiers}{} {name}{};",
                parameter.base, parameter.dimensions
            );
            *next += 1;
            names.push(name);
        } else {
            let _ = write!(
                locals,
                "{} a{index}{}; ",
                parameter.base, parameter.dimensions
            );
            names.push(format!("a{index}"));
        }
    }
    (locals, names.join(", "))
}
