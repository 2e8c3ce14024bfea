//! The pragma header of a class.

use super::constant::ParamType;
use super::error::{Code, Place};
use super::prototype::{Declaration, Prototype, parse};
use super::scan::{self, Definition, Global};
use super::tokens::{tokens, without_comments};
use crate::{Error, Stage};

/// A class that another one names, with the parameters that it passes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    pub(crate) class: String,
    /// By name, or by position where the name is empty.
    pub(crate) arguments: Vec<(String, String)>,
    pub(crate) line: u32,
}

/// A parameter.
#[derive(Clone, Debug)]
pub(crate) struct Param {
    pub(crate) name: String,
    pub(crate) ty: ParamType,
    /// Stays a specialisation constant.
    pub(crate) late: bool,
    pub(crate) default: Option<String>,
    pub(crate) line: u32,
}

/// How many classes a slot takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlotSize {
    One,
    Any,
    Exactly(u32),
}

/// A slot.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) name: String,
    pub(crate) class: Reference,
    pub(crate) size: SlotSize,
}

/// How a function takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemberKind {
    Abstract,
    Virtual,
    Override,
    Root,
}

/// A function that takes part in overriding.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) kind: MemberKind,
    pub(crate) prototype: Prototype,
    pub(crate) key: String,
    pub(crate) line: u32,
    /// `mx_main` without a pragma.
    pub(crate) implied: bool,
}

/// A variable with one instance for the whole effect.
#[derive(Clone, Debug)]
#[cfg_attr(
    not(feature = "compile"),
    allow(dead_code, reason = "all but the name are for the compiler")
)]
pub(crate) struct RootVariable {
    pub(crate) ty: String,
    pub(crate) name: String,
    pub(crate) dimensions: String,
    pub(crate) initialiser: Option<String>,
}

/// Lines that heirs and importers see.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    /// Line of the `begin` pragma.
    pub(crate) begin: u32,
    /// Line of the `end` pragma.
    pub(crate) end: u32,
    /// The lines between, without initialisers of variables.
    pub(crate) text: String,
    /// Variables without a storage qualifier, and shared ones.
    pub(crate) globals: Vec<String>,
}

/// A class's header with the text that it stands in.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    pub(crate) place: Place,
    /// `None` takes part in every stage.
    pub(crate) stage: Option<Stage>,
    pub(crate) inherits: Vec<Reference>,
    pub(crate) imports: Vec<Reference>,
    pub(crate) params: Vec<Param>,
    pub(crate) slots: Vec<Slot>,
    pub(crate) members: Vec<Member>,
    pub(crate) root_variables: Vec<RootVariable>,
    pub(crate) merge_blocks: Vec<String>,
    pub(crate) region: Option<Region>,
    /// Line of `#include <mixin>`, or of the last pragma where that is missing.
    pub(crate) include_line: u32,
    pub(crate) text: String,
    /// `#extension` lines.
    pub(crate) extensions: Vec<String>,
    /// Resources that no binding is given to.
    pub(crate) automatic: Vec<String>,
    /// Functions with bodies, by key, with their lines.
    pub(crate) definitions: Vec<(String, u32)>,
    /// Whether a local size, or limits of mesh output, stand in the text.
    pub(crate) declares_local_size: bool,
    pub(crate) declares_mesh_output: bool,
}

impl Header {
    pub(crate) fn name(&self) -> &str {
        &self.place.class
    }

    pub(crate) fn at(&self, line: u32) -> Place {
        Place {
            line,
            ..self.place.clone()
        }
    }

    pub(crate) fn takes_part(&self, stage: Stage) -> bool {
        self.stage.is_none_or(|own| own == stage)
    }

    /// Reads a header. `bodies` says whether functions must have theirs in the text (in a header beside SPIR-V they need not).
    pub(crate) fn parse(file: &str, text: &str, bodies: bool) -> Result<Self, Error> {
        Reader::new(file, text).read(bodies)
    }
}

/// Whether a text is that of a class.
pub(crate) fn is_class(text: &str) -> bool {
    without_comments(text).lines().any(|line| {
        pragma(line).is_some_and(|rest| rest.split_whitespace().next() == Some("class"))
    })
}

/// What stands after `#pragma mixin`.
fn pragma(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("pragma")?;
    let after = rest.trim_start().strip_prefix("mixin")?;
    (rest.starts_with([' ', '\t']) && after.is_empty() || after.starts_with([' ', '\t', '\r']))
        .then(|| after.trim())
}

fn is_mixin_include(line: &str) -> bool {
    let Some(rest) = line.trim_start().strip_prefix('#') else {
        return false;
    };
    rest.trim_start()
        .strip_prefix("include")
        .is_some_and(|rest| rest.trim() == "<mixin>")
}

pub(crate) fn is_identifier(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Splits at commas outside of parentheses and brackets.
fn split_commas(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0_i32, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '<' => depth += 1,
            ')' | ']' | '>' => depth -= 1,
            ',' if depth <= 0 => {
                parts.push(text.get(start..at).unwrap_or_default());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text.get(start..).unwrap_or_default());
    parts
}

/// Parses `Class`, `Class<1, 2>` or `Class<N = 1>`.
pub(crate) fn reference(text: &str, line: u32) -> Result<Reference, String> {
    let text = text.trim();
    let (class, rest) = match text.split_once('<') {
        Some((class, rest)) => (class.trim(), Some(rest)),
        None => (text, None),
    };
    if !is_identifier(class) {
        return Err(format!("expected a class, found {text:?}"));
    }
    let mut arguments = Vec::new();
    if let Some(rest) = rest {
        let inside = rest
            .trim_end()
            .strip_suffix('>')
            .ok_or_else(|| format!("{text:?} lacks a closing >"))?;
        for part in split_commas(inside) {
            let named = part
                .split_once('=')
                .filter(|(name, value)| is_identifier(name.trim()) && !value.starts_with('='));
            let (name, value) = named.map_or(("", part), |(name, value)| (name.trim(), value));
            if value.trim().is_empty() {
                return Err(format!("{text:?} has an empty parameter"));
            }
            arguments.push((name.to_owned(), value.trim().to_owned()));
        }
    }
    Ok(Reference {
        class: class.to_owned(),
        arguments,
        line,
    })
}

struct Reader {
    plain: String,
    header: Header,
    include_line: Option<u32>,
    last_pragma: u32,
    stage_line: u32,
    begin: Option<u32>,
}

impl Reader {
    fn new(file: &str, text: &str) -> Self {
        Self {
            plain: without_comments(text),
            header: Header {
                place: Place {
                    file: file.to_owned(),
                    line: 1,
                    class: String::new(),
                },
                stage: None,
                inherits: Vec::new(),
                imports: Vec::new(),
                params: Vec::new(),
                slots: Vec::new(),
                members: Vec::new(),
                root_variables: Vec::new(),
                merge_blocks: Vec::new(),
                region: None,
                include_line: 0,
                text: text.to_owned(),
                extensions: Vec::new(),
                definitions: Vec::new(),
                automatic: Vec::new(),
                declares_local_size: false,
                declares_mesh_output: false,
            },
            include_line: None,
            last_pragma: 0,
            stage_line: 0,
            begin: None,
        }
    }

    fn error(&self, line: u32, symbol: &str, message: impl Into<String>) -> Error {
        self.header.at(line).error(Code::M29, symbol, message)
    }

    fn read(mut self, bodies: bool) -> Result<Header, Error> {
        let plain = std::mem::take(&mut self.plain);
        for (index, line) in plain.lines().enumerate() {
            let number = index as u32 + 1;
            if let Some(rest) = pragma(line) {
                self.pragma(number, rest)?;
            } else if is_mixin_include(line) {
                if let Some(first) = self.include_line {
                    return Err(self.error(
                        number,
                        "#include <mixin>",
                        format!("stands here and in line {first}"),
                    ));
                }
                self.include_line = Some(number);
            } else if line.trim_start().starts_with('#')
                && line
                    .trim_start_matches(['#', ' ', '\t'])
                    .starts_with("extension")
            {
                self.header.extensions.push(line.trim().to_owned());
            }
        }
        if self.header.place.class.is_empty() {
            return Err(self.error(1, "class", "the header names no class"));
        }
        if let Some(begin) = self.begin {
            return Err(self.error(begin, "interface", "begins here and never ends"));
        }
        self.header.include_line = self.include_line.unwrap_or(self.last_pragma);
        let all = tokens(&plain, 1);
        let definitions = scan::definitions(&all);
        self.header.automatic = scan::automatic(&all);
        self.header.declares_local_size = scan::declares(
            &all,
            &[
                "local_size_x",
                "local_size_y",
                "local_size_z",
                "local_size_x_id",
                "local_size_y_id",
                "local_size_z_id",
            ],
        );
        self.header.declares_mesh_output =
            scan::declares(&all, &["max_vertices", "max_primitives"]);
        if let Some(region) = &mut self.header.region {
            let lines: String = plain
                .split_inclusive('\n')
                .skip(region.begin as usize)
                .take((region.end - region.begin - 1) as usize)
                .collect();
            let found = tokens(&lines, 1);
            let globals: Vec<Global<'_>> = scan::globals(&found);
            region.globals = globals
                .iter()
                .map(|global| global.name.to_owned())
                .collect();
            region.text = scan::without_initialisers(&lines, &globals);
        }
        self.check(&definitions, bodies)?;
        self.header.definitions = definitions
            .into_iter()
            .map(|found| (found.key, found.line))
            .collect();
        Ok(self.header)
    }

    fn pragma(&mut self, line: u32, rest: &str) -> Result<(), Error> {
        let (word, rest) = rest.split_once([' ', '\t']).unwrap_or((rest, ""));
        let rest = rest.trim();
        let bad = |reader: &Self, message: String| Err(reader.error(line, word, message));
        if word != "interface" {
            if self.include_line.is_none() && self.header.region.is_none() && self.begin.is_none() {
                self.last_pragma = line;
            }
            if rest.is_empty() {
                return bad(self, "has nothing after it".to_owned());
            }
        }
        match word {
            "class" => {
                if !is_identifier(rest) {
                    return bad(self, format!("expected a name, found {rest:?}"));
                }
                if !self.header.place.class.is_empty() {
                    return bad(
                        self,
                        format!("the file already has the class {}", self.header.place.class),
                    );
                }
                rest.clone_into(&mut self.header.place.class);
                self.header.place.line = line;
            }
            "stage" => {
                if self.stage_line > 0 {
                    return bad(
                        self,
                        format!("the stage was given in line {}", self.stage_line),
                    );
                }
                self.stage_line = line;
                self.header.stage = match rest {
                    "any" => None,
                    name => match stage(name) {
                        Some(stage) => Some(stage),
                        None => {
                            return bad(
                                self,
                                format!(
                                    "expected any, vertex, fragment, compute, task or mesh, found {name:?}"
                                ),
                            );
                        }
                    },
                };
            }
            "inherit" | "import" => match reference(rest, line) {
                Ok(found) if word == "inherit" => self.header.inherits.push(found),
                Ok(found) => self.header.imports.push(found),
                Err(problem) => return bad(self, problem),
            },
            "param" => match self.param(line, rest) {
                Ok(param) => self.header.params.push(param),
                Err(problem) => return bad(self, problem),
            },
            "compose" => match slot(rest, line) {
                Ok(slot) => {
                    if self
                        .header
                        .slots
                        .iter()
                        .any(|other| other.name == slot.name)
                    {
                        return bad(self, format!("the slot {} is declared twice", slot.name));
                    }
                    self.header.slots.push(slot);
                }
                Err(problem) => return bad(self, problem),
            },
            "abstract" | "virtual" | "override" | "root" => match parse(rest) {
                Ok(declaration) => self.member(line, word, declaration)?,
                Err(problem) => return bad(self, format!("{rest:?} {problem}")),
            },
            "merge_block" => {
                if !is_identifier(rest) {
                    return bad(self, format!("expected a block's name, found {rest:?}"));
                }
                self.header.merge_blocks.push(rest.to_owned());
            }
            "interface" => match (rest, self.begin, &self.header.region) {
                ("begin", None, None) => self.begin = Some(line),
                ("end", Some(begin), _) => {
                    self.begin = None;
                    self.header.region = Some(Region {
                        begin,
                        end: line,
                        text: String::new(),
                        globals: Vec::new(),
                    });
                }
                ("begin", Some(first), _) => {
                    return bad(self, format!("already begun in line {first}"));
                }
                ("begin", None, Some(region)) => {
                    return bad(
                        self,
                        format!(
                            "the class has an interface already, in line {}",
                            region.begin
                        ),
                    );
                }
                ("end", None, _) => return bad(self, "ends without a begin".to_owned()),
                _ => return bad(self, format!("expected begin or end, found {rest:?}")),
            },
            _ => {
                return Err(self.error(
                    line,
                    word,
                    "unknown word, expected class, stage, inherit, import, param, compose, abstract, virtual, override, root, \
                     merge_block or interface",
                ));
            }
        }
        Ok(())
    }

    fn param(&self, line: u32, rest: &str) -> Result<Param, String> {
        let (declared, default) = match rest.split_once('=') {
            Some((declared, default)) => {
                (declared, Some(default.trim().trim_end_matches(';').trim()))
            }
            None => (rest.trim_end_matches(';'), None),
        };
        let words: Vec<_> = declared.split_whitespace().collect();
        let (late, ty, name) = match words.as_slice() {
            ["late", ty, name] => (true, *ty, *name),
            [ty, name] => (false, *ty, *name),
            _ => {
                return Err(format!(
                    "expected [late] type NAME [= value], found {rest:?}"
                ));
            }
        };
        let parsed = ParamType::parse(ty).ok_or_else(|| {
            format!("expected int, uint, float, bool or a vector of these, found {ty:?}")
        })?;
        if !is_identifier(name) {
            return Err(format!("expected a name, found {name:?}"));
        }
        if self.header.params.iter().any(|other| other.name == name) {
            return Err(format!("the parameter {name} is declared twice"));
        }
        Ok(Param {
            name: name.to_owned(),
            ty: parsed,
            late,
            default: default.map(str::to_owned),
            line,
        })
    }

    fn member(&mut self, line: u32, word: &str, declaration: Declaration) -> Result<(), Error> {
        let kind = match word {
            "abstract" => MemberKind::Abstract,
            "virtual" => MemberKind::Virtual,
            "override" => MemberKind::Override,
            _ => MemberKind::Root,
        };
        match declaration {
            Declaration::Function(prototype) => {
                let key = prototype.key();
                if let Some(other) = self.header.members.iter().find(|other| other.key == key) {
                    return Err(self.error(
                        line,
                        &key,
                        format!("is declared in line {} already", other.line),
                    ));
                }
                self.header.members.push(Member {
                    kind,
                    prototype,
                    key,
                    line,
                    implied: false,
                });
            }
            Declaration::Variable {
                ty,
                name,
                dimensions,
                initialiser,
            } => {
                if kind != MemberKind::Root {
                    return Err(self.error(
                        line,
                        &name,
                        format!("{word} is for functions; only root is for variables, too"),
                    ));
                }
                self.header.root_variables.push(RootVariable {
                    ty,
                    name,
                    dimensions,
                    initialiser,
                });
            }
        }
        Ok(())
    }

    /// Holds declarations against the functions that have bodies.
    fn check(&mut self, definitions: &[Definition<'_>], bodies: bool) -> Result<(), Error> {
        if let Some(main) = definitions.iter().find(|found| found.name == "main") {
            return Err(self.header.at(main.line).error(
                Code::M17,
                "main",
                "the entry function of a class is mx_main; main is what composing makes",
            ));
        }
        let declared = |header: &Header, found: &Definition<'_>| {
            header.members.iter().any(|member| member.key == found.key)
        };
        if let Some(main) = definitions
            .iter()
            .find(|found| found.key == "mx_main()" && !declared(&self.header, found))
            && let Ok(Declaration::Function(prototype)) = parse("void mx_main()")
        {
            self.header.members.push(Member {
                kind: MemberKind::Virtual,
                key: prototype.key(),
                prototype,
                line: main.line,
                implied: true,
            });
        }
        for member in &self.header.members {
            let defined = definitions.iter().find(|found| found.key == member.key);
            match (member.kind, defined) {
                (MemberKind::Abstract, Some(found)) => {
                    return Err(self.error(
                        found.line,
                        &member.key,
                        "is declared abstract, but has a body",
                    ));
                }
                (MemberKind::Abstract, None) => {}
                (_, None) if bodies => {
                    return Err(self.error(
                        member.line,
                        &member.key,
                        "is declared here, but has no body",
                    ));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Parses `Class name`, `Class<1> name[]`, `Class name[2]`.
fn slot(rest: &str, line: u32) -> Result<Slot, String> {
    let text = rest.trim().trim_end_matches(';').trim();
    let problem = || format!("expected Class name, Class name[] or Class name[2], found {rest:?}");
    let (text, size) = match text.strip_suffix(']') {
        Some(open) => {
            let (text, size) = open.rsplit_once('[').ok_or_else(problem)?;
            let size = match size.trim() {
                "" => SlotSize::Any,
                digits => SlotSize::Exactly(digits.parse().map_err(|_| problem())?),
            };
            (text.trim_end(), size)
        }
        None => (text, SlotSize::One),
    };
    let at = text
        .rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .ok_or_else(problem)?;
    let (class, name) = text.split_at(at + 1);
    if !is_identifier(name) {
        return Err(problem());
    }
    Ok(Slot {
        name: name.to_owned(),
        class: reference(class, line)?,
        size,
    })
}

/// A stage that classes can be for.
pub(crate) fn stage(name: &str) -> Option<Stage> {
    Some(match name {
        "vertex" => Stage::Vertex,
        "fragment" => Stage::Fragment,
        "compute" => Stage::Compute,
        "task" => Stage::Task,
        "mesh" => Stage::Mesh,
        _ => return None,
    })
}
