//! Rust names for what shaders call their things.

use std::collections::{BTreeMap, BTreeSet};

/// Words that cannot be names, raw or not, or that only `r#` makes names.
const KEYWORDS: [&str; 53] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
    "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "union", "unsafe", "unsized", "use", "virtual", "where", "while", "yield", "_",
];

/// Type names that generated code uses itself.
const RESERVED_TYPES: [&str; 24] = [
    "Bindings",
    "Bound",
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "Drop",
    "Eq",
    "Err",
    "Fn",
    "From",
    "Into",
    "None",
    "Ok",
    "Option",
    "PartialEq",
    "Pod",
    "Push",
    "Result",
    "Self",
    "ShaderCode",
    "SlotList",
    "Some",
    "Zeroable",
];

/// Whether `name` is a keyword of Rust.
pub(super) fn is_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name)
}

/// Splits `fooBar_baz2`, `FooBAR` and `HTTPServer` into lower-case words.
fn words(name: &str) -> Vec<String> {
    let characters: Vec<char> = name.chars().take(MAX_NAME).collect();
    let mut words = vec![String::new()];
    for (i, &c) in characters.iter().enumerate() {
        if !c.is_ascii_alphanumeric() {
            words.push(String::new());
            continue;
        }
        let before = i
            .checked_sub(1)
            .and_then(|i| characters.get(i))
            .copied()
            .unwrap_or('_');
        let after = characters.get(i + 1).copied().unwrap_or('_');
        let starts = c.is_ascii_uppercase()
            && (before.is_ascii_lowercase()
                || before.is_ascii_digit()
                || (before.is_ascii_uppercase() && after.is_ascii_lowercase()));
        if starts {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.push(c.to_ascii_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn not_digit_first(name: String) -> String {
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        format!("_{name}")
    } else {
        name
    }
}

/// `snake_case`, without regard to keywords; empty if nothing of `name` is left.
pub(super) fn snake(name: &str) -> String {
    not_digit_first(words(name).join("_"))
}

/// `UPPER_SNAKE_CASE`.
pub(super) fn upper(name: &str) -> String {
    snake(name).to_ascii_uppercase()
}

/// `CamelCase`.
pub(super) fn camel(name: &str) -> String {
    let mut out = String::new();
    for word in words(name) {
        let mut characters = word.chars();
        let Some(first) = characters.next() else {
            continue;
        };
        // Two digits that meet would read as one number: `vec2_4` and `vec24`.
        if out.ends_with(|c: char| c.is_ascii_digit()) && first.is_ascii_digit() {
            out.push('_');
        }
        out.push(first.to_ascii_uppercase());
        out.extend(characters);
    }
    not_digit_first(out)
}

/// `name` as an identifier: a keyword gets `r#`, or a trailing `_` where that is not allowed.
pub(super) fn identifier(name: &str) -> String {
    match name {
        "self" | "super" | "crate" | "_" => format!("{name}_"),
        name if is_keyword(name) => format!("r#{name}"),
        name => name.to_owned(),
    }
}

/// Longest part of a shader's name that goes into generated text.
const MAX_NAME: usize = 96;

/// A shader's name as documentation shows it: what could end a comment or a code mark is replaced, and it is cut where no
/// person would read on.
pub(super) fn shown(name: &str) -> String {
    name.chars()
        .take(MAX_NAME)
        .map(|c| {
            if c.is_control() || c == '`' || c == '\u{2028}' || c == '\u{2029}' {
                '?'
            } else {
                c
            }
        })
        .collect()
}

/// Names of one scope, each given once.
#[derive(Default)]
pub(super) struct Scope {
    taken: BTreeSet<String>,
    /// The number to try next for a name that is wanted again.
    next: BTreeMap<String, u32>,
}

impl Scope {
    /// A scope for types beside the names that generated modules use.
    pub(super) fn for_types() -> Self {
        Self {
            taken: RESERVED_TYPES.iter().map(|&name| name.to_owned()).collect(),
            ..Self::default()
        }
    }

    /// `wanted`, or `wanted` with a separator and the first number from 2 that is free.
    pub(super) fn claim(&mut self, wanted: &str, separator: &str) -> String {
        if self.taken.insert(wanted.to_owned()) {
            return wanted.to_owned();
        }
        let number = self.next.entry(wanted.to_owned()).or_insert(2);
        loop {
            let name = format!("{wanted}{separator}{number}");
            *number = number.saturating_add(1);
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }

    pub(super) fn is_free(&self, name: &str) -> bool {
        !self.taken.contains(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases() {
        for (name, snake_case, camel_case) in [
            ("instanceCount", "instance_count", "InstanceCount"),
            ("HZBLevel", "hzb_level", "HzbLevel"),
            ("u_ViewProj", "u_view_proj", "UViewProj"),
            ("light2D", "light2_d", "Light2D"),
            (
                "type.ConstantBuffer.Camera",
                "type_constant_buffer_camera",
                "TypeConstantBufferCamera",
            ),
            ("2fast", "_2fast", "_2fast"),
            ("", "", ""),
            ("__", "", ""),
            ("ärger", "rger", "Rger"),
        ] {
            assert_eq!(
                (snake(name).as_str(), camel(name).as_str()),
                (snake_case, camel_case),
                "{name}"
            );
        }
        assert_eq!(
            (
                identifier("type").as_str(),
                identifier("self").as_str(),
                identifier("x").as_str()
            ),
            ("r#type", "self_", "x")
        );
    }

    #[test]
    fn hostile_names_stay_in_their_comment() {
        assert_eq!(shown("a`b\n} pub fn c() {\u{2028}"), "a?b?} pub fn c() {?");
        assert_eq!(shown(&"x".repeat(1 << 20)).len(), 96);
        assert_eq!(snake(&"x".repeat(1 << 20)).len(), 96);
    }

    #[test]
    fn a_scope_gives_each_name_once() {
        let mut scope = Scope::default();
        assert_eq!(
            [
                scope.claim("a", "_"),
                scope.claim("a", "_"),
                scope.claim("a_2", "_"),
                scope.claim("a", "_")
            ],
            ["a", "a_2", "a_2_2", "a_3"]
        );
        assert!(!Scope::for_types().is_free("Push"));
    }
}
