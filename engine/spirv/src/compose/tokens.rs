//! Tokens of GLSL, as far as headers and the search for definitions need them.

/// One token outside of comments and preprocessor lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) text: &'a str,
    /// Byte offset of its begin.
    pub(crate) start: usize,
    /// Line, from 1.
    pub(crate) line: u32,
}

impl Token<'_> {
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    pub(crate) fn is_word(&self) -> bool {
        self.text
            .starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    }
}

/// The text with comments blanked out; offsets and lines stay.
pub(crate) fn without_comments(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let bytes = text.as_bytes();
    let mut at = 0;
    let (mut line_comment, mut block_comment) = (false, false);
    while let Some(&byte) = bytes.get(at) {
        let next = bytes.get(at + 1).copied().unwrap_or(0);
        let mut taken = 1;
        let blank = if line_comment {
            line_comment = byte != b'\n';
            line_comment
        } else if block_comment {
            if byte == b'*' && next == b'/' {
                block_comment = false;
                taken = 2;
            }
            byte != b'\n'
        } else if byte == b'/' && next == b'/' {
            line_comment = true;
            true
        } else if byte == b'/' && next == b'*' {
            block_comment = true;
            taken = 2;
            true
        } else {
            false
        };
        for offset in 0..taken {
            let kept = bytes.get(at + offset).copied().unwrap_or(b' ');
            out.push(if blank { b' ' } else { kept });
        }
        at += taken;
    }
    // Comments are blanked byte by byte, so what is left is made of whole characters.
    String::from_utf8(out).unwrap_or_default()
}

/// Tokens of a text without comments (see [`without_comments`]). Preprocessor lines are left out.
pub(crate) fn tokens(text: &str, first_line: u32) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let (mut at, mut line, mut line_begins) = (0, first_line, true);
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        match byte {
            b'\n' => {
                line += 1;
                line_begins = true;
                at += 1;
                continue;
            }
            b' ' | b'\t' | b'\r' | b'\\' => {
                at += 1;
                continue;
            }
            b'#' if line_begins => {
                // A line that ends with a backslash goes on.
                while let Some(&byte) = bytes.get(at) {
                    if byte == b'\n' {
                        if at > 0 && bytes.get(at - 1) == Some(&b'\\') {
                            line += 1;
                        } else {
                            break;
                        }
                    }
                    at += 1;
                }
                continue;
            }
            b if b.is_ascii_alphanumeric() || b == b'_' || b == b'.' => {
                let number = b.is_ascii_digit()
                    || (b == b'.' && bytes.get(at + 1).is_some_and(u8::is_ascii_digit));
                at += 1;
                if b != b'.' || number {
                    while let Some(&byte) = bytes.get(at) {
                        let sign_of_exponent = number
                            && matches!(byte, b'+' | b'-')
                            && matches!(bytes.get(at - 1), Some(b'e' | b'E'))
                            && !text.get(start..at).is_some_and(|n| n.starts_with("0x"));
                        if byte.is_ascii_alphanumeric()
                            || byte == b'_'
                            || (number && byte == b'.')
                            || sign_of_exponent
                        {
                            at += 1;
                        } else {
                            break;
                        }
                    }
                }
            }
            _ => {
                let pair = text.get(at..at + 2).unwrap_or("");
                at += if matches!(pair, "==" | "!=" | "<=" | ">=" | "&&" | "||" | "<<" | ">>") {
                    2
                } else {
                    text.get(at..)
                        .and_then(|rest| rest.chars().next())
                        .map_or(1, char::len_utf8)
                };
            }
        }
        line_begins = false;
        if let Some(token) = text.get(start..at) {
            found.push(Token {
                text: token,
                start,
                line,
            });
        }
    }
    found
}

/// Token texts with one space between words, none elsewhere: equal for texts that differ in spacing only.
pub(crate) fn joined(tokens: &[Token<'_>]) -> String {
    let mut text = String::new();
    let mut word_before = false;
    for token in tokens {
        let word = token
            .text
            .starts_with(|c: char| c.is_alphanumeric() || c == '_');
        if word && word_before {
            text.push(' ');
        }
        text.push_str(token.text);
        word_before = word;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_preprocessor_lines_are_no_tokens() {
        let text = "a // b\n#define c \\\n d\n/* e\n */ f(1.5e-3, x.y);\n";
        let plain = without_comments(text);
        assert_eq!(plain.len(), text.len());
        let found: Vec<_> = tokens(&plain, 1).iter().map(|t| (t.text, t.line)).collect();
        assert_eq!(
            found,
            [
                ("a", 1),
                ("f", 5),
                ("(", 5),
                ("1.5e-3", 5),
                (",", 5),
                ("x", 5),
                (".", 5),
                ("y", 5),
                (")", 5),
                (";", 5)
            ]
        );
    }
}
