//! Names of passes.

use std::fmt;
use std::ops::Deref;

/// The name of a pass, stored without allocation; cut to 63 bytes. It is read as a `&str`.
#[derive(Clone, Copy)]
pub struct PassName {
    bytes: [u8; 63],
    len: u8,
}

impl PassName {
    /// Takes a name, or as much of it as there is room for.
    pub fn new(name: &str) -> PassName {
        let name = PassName::cut(name);
        let mut bytes = [0; 63];
        bytes[..name.len()].copy_from_slice(name.as_bytes());
        PassName {
            bytes,
            len: name.len() as u8,
        }
    }

    /// As much of a name as there is room for.
    #[inline]
    pub(crate) fn cut(name: &str) -> &str {
        if name.len() < 64 {
            name
        } else {
            PassName::cut_long(name)
        }
    }

    #[cold]
    fn cut_long(name: &str) -> &str {
        let mut end = 63;
        while !name.is_char_boundary(end) {
            end -= 1;
        }
        &name[..end]
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..usize::from(self.len)]).unwrap_or_default()
    }
}

impl Default for PassName {
    fn default() -> Self {
        PassName::new("")
    }
}

impl Deref for PassName {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Debug for PassName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for PassName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.as_str(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_is_cut_between_characters() {
        let name = PassName::new(&"ä".repeat(40));
        assert_eq!(name.as_str(), "ä".repeat(31));
        assert_eq!(PassName::new("hzb 3").as_str(), "hzb 3");
    }
}
