//! Function prototypes as headers declare them.

use super::tokens::{Token, joined, tokens};

/// Which way a parameter goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    In,
    Out,
    InOut,
}

impl Direction {
    fn keyword(self) -> &'static str {
        match self {
            Self::In => "in",
            Self::Out => "out",
            Self::InOut => "inout",
        }
    }
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub(crate) direction: Direction,
    pub(crate) constant: bool,
    /// Memory and precision qualifiers.
    pub(crate) qualifiers: Vec<String>,
    /// Type with all its array dimensions, as in `float[4]`.
    pub(crate) base: String,
    pub(crate) dimensions: String,
}

impl Parameter {
    pub(crate) fn ty(&self) -> String {
        format!("{}{}", self.base, self.dimensions)
    }

    /// Whether arguments must be variables of the module (samplers, images and the like).
    pub(crate) fn is_opaque(&self) -> bool {
        ["sampler", "texture", "image", "subpassInput"]
            .iter()
            .any(|kind| self.is_kind(kind))
            || self.base == "accelerationStructureEXT"
    }

    #[cfg(any(test, feature = "compile"))]
    pub(crate) fn is_image(&self) -> bool {
        self.is_kind("image")
    }

    /// Whether the type is of a kind, of floats, integers or unsigned integers.
    fn is_kind(&self, kind: &str) -> bool {
        ["", "i", "u"].iter().any(|prefix| {
            self.base
                .strip_prefix(prefix)
                .is_some_and(|rest| rest.starts_with(kind))
        })
    }

    #[cfg(any(test, feature = "compile"))]
    fn declaration(&self, index: usize) -> String {
        let mut text = String::new();
        if self.constant {
            text.push_str("const ");
        }
        if self.direction != Direction::In {
            text.push_str(self.direction.keyword());
            text.push(' ');
        }
        for qualifier in &self.qualifiers {
            text.push_str(qualifier);
            text.push(' ');
        }
        format!("{text}{} a{index}{}", self.base, self.dimensions)
    }
}

/// A function's prototype.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prototype {
    pub(crate) returns: String,
    pub(crate) name: String,
    pub(crate) parameters: Vec<Parameter>,
}

impl Prototype {
    /// What overloads are told apart by: name and parameter types.
    pub(crate) fn key(&self) -> String {
        let types: Vec<_> = self.parameters.iter().map(Parameter::ty).collect();
        format!("{}({})", self.name, types.join(","))
    }

    /// The whole prototype under another name, without the semicolon.
    #[cfg(any(test, feature = "compile"))]
    pub(crate) fn named(&self, name: &str) -> String {
        let parameters: Vec<_> = self
            .parameters
            .iter()
            .enumerate()
            .map(|(index, parameter)| parameter.declaration(index))
            .collect();
        format!("{} {name}({})", self.returns, parameters.join(", "))
    }

    /// For messages.
    pub(crate) fn text(&self) -> String {
        let parameters: Vec<_> = self
            .parameters
            .iter()
            .map(|parameter| match parameter.direction {
                Direction::In => parameter.ty(),
                way => format!("{} {}", way.keyword(), parameter.ty()),
            })
            .collect();
        format!("{} {}({})", self.returns, self.name, parameters.join(", "))
    }

    /// How the front end mangles the parameters, where that depends on the declared types alone: `None` stands for a type
    /// whose mangling is not known here.
    pub(crate) fn mangled(&self) -> Vec<Option<String>> {
        self.parameters
            .iter()
            .map(|parameter| {
                let base = mangled_base(&parameter.base)?;
                let plain = parameter
                    .dimensions
                    .chars()
                    .all(|c| c.is_ascii_digit() || c == '[' || c == ']');
                plain.then(|| format!("{base}{}", parameter.dimensions))
            })
            .collect()
    }
}

fn mangled_base(name: &str) -> Option<String> {
    let scalar = |name: &str| {
        Some(match name {
            "float" => "f1",
            "int" => "i1",
            "uint" => "u1",
            "bool" => "b1",
            "double" => "d1",
            _ => return None,
        })
    };
    if let Some(found) = scalar(name) {
        return Some(found.to_owned());
    }
    let (prefix, rest) = match name.find("vec") {
        Some(at) => name.split_at(at),
        None => {
            let size = name.strip_prefix("mat")?;
            return match size.as_bytes() {
                [n] if n.is_ascii_digit() => Some(format!("mf{size}{size}")),
                [n, b'x', m] if n.is_ascii_digit() && m.is_ascii_digit() => {
                    Some(format!("mf{}{}", char::from(*n), char::from(*m)))
                }
                _ => None,
            };
        }
    };
    let letter = match prefix {
        "" => 'f',
        "i" => 'i',
        "u" => 'u',
        "b" => 'b',
        "d" => 'd',
        _ => return None,
    };
    let size = rest.strip_prefix("vec")?;
    matches!(size, "2" | "3" | "4").then(|| format!("v{letter}{size}"))
}

/// What a member pragma declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Declaration {
    Function(Prototype),
    Variable {
        ty: String,
        name: String,
        dimensions: String,
        initialiser: Option<String>,
    },
}

const MEMORY: [&str; 10] = [
    "readonly",
    "writeonly",
    "coherent",
    "volatile",
    "restrict",
    "highp",
    "mediump",
    "lowp",
    "precise",
    "nonuniformEXT",
];

/// Parses `vec3 mx_f(vec2 uv, inout float x[4]);` or `vec3 mx_v;`.
pub(crate) fn parse(text: &str) -> Result<Declaration, String> {
    let found = tokens(text, 1);
    let found = match found.as_slice() {
        [rest @ .., last] if last.text == ";" => rest,
        rest => rest,
    };
    let first = found
        .iter()
        .position(|token| matches!(token.text, "(" | "="));
    let Some(open) = first.filter(|at| found.get(*at).is_some_and(|token| token.text == "("))
    else {
        return variable(found);
    };
    let (head, rest) = found.split_at(open);
    let [_, inside @ .., close] = rest else {
        return Err("lacks a closing parenthesis".to_owned());
    };
    if close.text != ")" {
        return Err("has text after the parameters".to_owned());
    }
    let head: Vec<_> = head
        .iter()
        .filter(|token| !MEMORY.contains(&token.text))
        .copied()
        .collect();
    let [returns @ .., name] = head.as_slice() else {
        return Err("lacks a name".to_owned());
    };
    if !name.is_word() || returns.first().is_none_or(|first| !first.is_word()) {
        return Err("expected a return type and a name before the parenthesis".to_owned());
    }
    let mut parameters = Vec::new();
    let alone = matches!(inside, [only] if only.text == "void");
    if !inside.is_empty() && !alone {
        for part in inside.split(|token| token.text == ",") {
            parameters.push(parameter(part)?);
        }
    }
    Ok(Declaration::Function(Prototype {
        returns: joined(returns),
        name: name.text.to_owned(),
        parameters,
    }))
}

fn variable(found: &[Token<'_>]) -> Result<Declaration, String> {
    let (declared, initialiser) = match found.iter().position(|token| token.text == "=") {
        Some(at) => {
            let (left, right) = found.split_at(at);
            let text: Vec<_> = right.iter().skip(1).map(|token| token.text).collect();
            (left, Some(text.join(" ")))
        }
        None => (found, None),
    };
    let declared: Vec<_> = declared
        .iter()
        .filter(|token| !MEMORY.contains(&token.text))
        .copied()
        .collect();
    match declared.as_slice() {
        [ty, name, dimensions @ ..] if ty.is_word() && name.is_word() => {
            Ok(Declaration::Variable {
                ty: ty.text.to_owned(),
                name: name.text.to_owned(),
                dimensions: joined(dimensions),
                initialiser,
            })
        }
        _ => Err("expected a function prototype, or a type and a name".to_owned()),
    }
}

fn parameter(part: &[Token<'_>]) -> Result<Parameter, String> {
    let mut result = Parameter {
        direction: Direction::In,
        constant: false,
        qualifiers: Vec::new(),
        base: String::new(),
        dimensions: String::new(),
    };
    let mut rest = part;
    while let [token, after @ ..] = rest {
        match token.text {
            "const" => result.constant = true,
            "in" => result.direction = Direction::In,
            "out" => result.direction = Direction::Out,
            "inout" => result.direction = Direction::InOut,
            word if MEMORY.contains(&word) => result.qualifiers.push(word.to_owned()),
            _ => break,
        }
        rest = after;
    }
    let [base, after @ ..] = rest else {
        return Err("has an empty parameter".to_owned());
    };
    if !base.is_word() {
        return Err(format!("has {:?} where a type is expected", base.text));
    }
    result.base = base.text.to_owned();
    // `float[2] x[3]` is an array of 3 arrays of 2.
    let name = after.iter().position(Token::is_word).filter(|&at| {
        after
            .iter()
            .take(at)
            .filter(|token| token.text == "[")
            .count()
            == after
                .iter()
                .take(at)
                .filter(|token| token.text == "]")
                .count()
    });
    let (of_type, of_name) = match name {
        Some(at) => (after.get(..at), after.get(at + 1..)),
        None => (Some(after), None),
    };
    result.dimensions = format!(
        "{}{}",
        joined(of_name.unwrap_or_default()),
        joined(of_type.unwrap_or_default())
    );
    if result
        .dimensions
        .chars()
        .next()
        .is_some_and(|first| first != '[')
    {
        return Err("has text after a parameter's name".to_owned());
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(text: &str) -> Prototype {
        match parse(text) {
            Ok(Declaration::Function(prototype)) => prototype,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn prototypes() {
        let found = function(
            "vec4 mx_f(const in vec2 uv, inout Surface s[2], float[3] x, writeonly image2D);",
        );
        assert_eq!(found.key(), "mx_f(vec2,Surface[2],float[3],image2D)");
        assert_eq!(
            found.named("base_mx_f"),
            "vec4 base_mx_f(const vec2 a0, inout Surface a1[2], float a2[3], writeonly image2D a3)"
        );
        assert_eq!(found.mangled()[0].as_deref(), Some("vf2"));
        assert_eq!(found.mangled()[2].as_deref(), Some("f1[3]"));
        assert!(found.parameters[3].is_image() && !found.parameters[0].is_opaque());
        assert!(function("void f(uimage2D a)").parameters[0].is_image());
        assert_eq!(function("void mx_main(void)").parameters, []);
        assert_eq!(mangled_base("mat3x4").as_deref(), Some("mf34"));
    }

    #[test]
    fn variables_and_mistakes() {
        assert!(matches!(
            parse("vec3 mx_sun[2] = f(1);"),
            Ok(Declaration::Variable { name, dimensions, initialiser: Some(_), .. }) if name == "mx_sun" && dimensions == "[2]"
        ));
        for bad in [
            "",
            "f();",
            "int f(",
            "int f(,)",
            "int 3();",
            "int f() {}",
            "int",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
