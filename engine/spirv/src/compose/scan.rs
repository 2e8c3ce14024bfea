//! Finds functions with bodies and variables at the outermost level of a GLSL text. Not a parser: it counts brackets.

use super::prototype::{Declaration, parse};
use super::tokens::Token;

/// A function with a body.
#[derive(Clone, Debug)]
pub(crate) struct Definition<'a> {
    pub(crate) name: &'a str,
    /// As [`super::prototype::Prototype::key`].
    pub(crate) key: String,
    pub(crate) line: u32,
}

/// A variable without storage qualifier, or a shared one.
#[derive(Clone, Debug)]
pub(crate) struct Global<'a> {
    pub(crate) name: &'a str,
    /// Bytes of ` = value`.
    pub(crate) initialiser: Option<(usize, usize)>,
}

/// Statements at the outermost level: tokens up to `;` or to the end of a block in braces.
fn statements<'a, 'b>(tokens: &'b [Token<'a>]) -> Vec<(&'b [Token<'a>], Option<&'b [Token<'a>]>)> {
    let (mut depth, mut start, mut open) = (0_usize, 0, None);
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token.text {
            "{" | "(" | "[" => {
                if token.text == "{" && depth == 0 {
                    open = Some(at);
                }
                depth += 1;
            }
            "}" | ")" | "]" => {
                depth = depth.saturating_sub(1);
                // A function ends with its body; blocks, structs and initialisers go on to a semicolon.
                if depth == 0
                    && token.text == "}"
                    && let Some(begin) = open
                    && begin > start
                    && tokens
                        .get(begin - 1)
                        .is_some_and(|before| before.text == ")")
                {
                    found.push((
                        tokens.get(start..begin).unwrap_or_default(),
                        tokens.get(begin..=at),
                    ));
                    start = at + 1;
                    open = None;
                }
            }
            ";" if depth == 0 => {
                found.push((tokens.get(start..at).unwrap_or_default(), None));
                start = at + 1;
                open = None;
            }
            _ => {}
        }
    }
    found
}

/// Functions with bodies.
pub(crate) fn definitions<'a>(tokens: &[Token<'a>]) -> Vec<Definition<'a>> {
    statements(tokens)
        .into_iter()
        .filter_map(|(head, body)| {
            body?;
            let open = head.iter().position(|token| token.text == "(")?;
            let name = head.get(open.checked_sub(1)?)?;
            let text: Vec<_> = head.iter().map(|token| token.text).collect();
            let Ok(Declaration::Function(prototype)) = parse(&text.join(" ")) else {
                return None;
            };
            Some(Definition {
                name: name.text,
                key: prototype.key(),
                line: name.line,
            })
        })
        .collect()
}

/// Whether a `layout(..) in` or `out` names one of these words.
pub(crate) fn declares(tokens: &[Token<'_>], words: &[&str]) -> bool {
    statements(tokens).into_iter().any(|(head, _)| {
        head.first().is_some_and(|first| first.text == "layout")
            && head.iter().any(|token| words.contains(&token.text))
    })
}

/// Resources that no `binding` is given to: names of instances, or of blocks without one.
pub(crate) fn automatic(tokens: &[Token<'_>]) -> Vec<String> {
    let mut found = Vec::new();
    for (statement, body) in statements(tokens) {
        let open = statement.iter().position(|token| token.text == "{");
        let head = statement
            .get(..open.unwrap_or(statement.len()))
            .unwrap_or_default();
        let has = |word: &str| head.iter().any(|token| token.text == word);
        let resource = has("uniform") || has("buffer");
        if body.is_some()
            || !resource
            || ["binding", "push_constant", "buffer_reference"]
                .iter()
                .any(|word| has(word))
        {
            continue;
        }
        let mut depth = 0_i32;
        let mut last = "";
        let mut names = Vec::new();
        for token in statement {
            match token.text {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                "," if depth == 0 => names.push(last),
                _ if depth == 0 && token.is_word() => last = token.text,
                _ => {}
            }
        }
        names.push(last);
        // `layout(std430) buffer;` sets a default and declares nothing.
        found.extend(
            names
                .into_iter()
                .filter(|name| !["", "uniform", "buffer"].contains(name))
                .map(str::to_owned),
        );
    }
    found
}

const OTHER: [&str; 16] = [
    "layout",
    "uniform",
    "buffer",
    "in",
    "out",
    "const",
    "struct",
    "precision",
    "invariant",
    "flat",
    "smooth",
    "noperspective",
    "centroid",
    "patch",
    "sample",
    "taskPayloadSharedEXT",
];

/// Variables that are private to an invocation or shared by a workgroup.
pub(crate) fn globals<'a>(tokens: &[Token<'a>]) -> Vec<Global<'a>> {
    let mut found = Vec::new();
    for (statement, body) in statements(tokens) {
        let head = statement
            .iter()
            .position(|token| token.text == "=")
            .unwrap_or(statement.len());
        let other = statement.iter().any(|token| OTHER.contains(&token.text))
            || body.is_some()
            || statement
                .iter()
                .take(head)
                .any(|token| matches!(token.text, "(" | "{"));
        if other {
            continue;
        }
        // `type a = 1, b[2];` with the type's qualifiers and dimensions before the first name.
        let mut depth = 0_i32;
        let mut at_name = false;
        let mut words = 0;
        let mut pending: Option<usize> = None;
        let close = |found: &mut Vec<Global<'a>>, pending: &mut Option<usize>, end: usize| {
            if let (Some(start), Some(last)) = (pending.take(), found.last_mut()) {
                last.initialiser = Some((start, end));
            }
        };
        for token in statement {
            match token.text {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                "," if depth == 0 => {
                    close(&mut found, &mut pending, token.start);
                    at_name = true;
                }
                "=" if depth == 0 => pending = Some(token.start),
                _ if depth == 0 && pending.is_none() && token.is_word() => {
                    let qualifier = matches!(
                        token.text,
                        "shared"
                            | "highp"
                            | "mediump"
                            | "lowp"
                            | "coherent"
                            | "volatile"
                            | "precise"
                    );
                    if !qualifier {
                        words += 1;
                    }
                    if at_name || words == 2 {
                        found.push(Global {
                            name: token.text,
                            initialiser: None,
                        });
                        at_name = false;
                        words = 3;
                    }
                }
                _ => {}
            }
        }
        if let Some(last) = statement.last() {
            close(&mut found, &mut pending, last.end());
        }
    }
    found
}

/// The text without the initialisers of these variables; lines stay where they are.
pub(crate) fn without_initialisers(text: &str, globals: &[Global<'_>]) -> String {
    let mut out: Vec<u8> = text.bytes().collect();
    for (start, end) in globals.iter().filter_map(|global| global.initialiser) {
        for byte in out.get_mut(start..end).unwrap_or_default() {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }
    String::from_utf8(out).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    #[test]
    fn finds_what_has_a_body() {
        let text = "struct S { vec3 a; };\nlayout(set=0) uniform B { vec4 t; } b;\nfloat f(int i);\nfloat f(int i)\n{ if (i > 0) { return 1; } return 0; }\nvoid mx_main() {}\nint t[2] = int[2](1, 2);";
        let found = tokens(text, 1);
        let names: Vec<_> = definitions(&found)
            .into_iter()
            .map(|d| (d.key, d.line))
            .collect();
        assert_eq!(
            names,
            [("f(int)".to_owned(), 4), ("mx_main()".to_owned(), 6)]
        );
    }

    #[test]
    fn finds_globals_and_takes_their_initialisers_out() {
        let text = "const int N = 2;\nvec3 a = vec3(1, 2, 3), b;\nshared float c[N];\nin vec3 d;\nfloat[2] e = float[](1.0,\n 2.0);\nuniform U { int x; } u;";
        let found = tokens(text, 1);
        let all = globals(&found);
        let names: Vec<_> = all.iter().map(|global| global.name).collect();
        assert_eq!(names, ["a", "b", "c", "e"]);
        let plain = without_initialisers(text, &all);
        assert!(plain.contains("vec3 a                , b;"), "{plain}");
        assert!(plain.contains("const int N = 2;"));
        assert_eq!(plain.lines().count(), text.lines().count());
        assert!(!plain.contains("2.0"));
    }

    #[test]
    fn finds_resources_without_a_binding() {
        let text = "layout(binding = 1) uniform A { int x; } a; layout(set = 1) uniform B { int y; } b; buffer C { int z; };\
                    uniform sampler2D d, e[2]; layout(push_constant) uniform P { int q; } p; layout(std430) buffer;";
        assert_eq!(automatic(&tokens(text, 1)), ["b", "C", "d", "e"]);
    }

    #[test]
    fn sees_a_declared_local_size() {
        let found = tokens("layout(local_size_x = 8) in; void f() {}", 1);
        assert!(declares(&found, &["local_size_x"]));
        assert!(!declares(&found, &["max_vertices"]));
    }
}
