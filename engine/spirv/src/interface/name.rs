//! Names out of modules.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

/// A piece of text that seldom is long: names of variables, members and entry points, extensions. Derefs to `str`.
///
/// Up to 23 bytes, which most names do not reach, lie in it without an allocation. They are made of whole words, and no byte is
/// copied by itself: such copying would be a seventh of the time that loading a description takes.
#[derive(Clone, PartialEq, Eq)]
pub struct Name(Text);

/// Bytes that fit into a name.
const ROOM: usize = 23;

/// Either is UTF-8.
#[derive(Clone, PartialEq, Eq)]
enum Text {
    /// Bytes as they lie in memory: text, zeros, and in the last one the length of the text.
    Short([u64; 3]),
    /// More than [`ROOM`] bytes.
    Long(Box<str>),
}

/// For each length, ones where there are bytes, as they lie in memory.
const MASKS: [[u64; 3]; ROOM + 1] = {
    let mut masks = [[0; 3]; ROOM + 1];
    let mut length = 0;
    while length <= ROOM {
        let mut word = 0;
        while word < 3 {
            let mut bytes = [0; 8];
            let mut byte = 0;
            while byte < 8 && word * 8 + byte < length {
                bytes[byte] = 0xff;
                byte += 1;
            }
            masks[length][word] = u64::from_ne_bytes(bytes);
            word += 1;
        }
        length += 1;
    }
    masks
};

impl Name {
    /// The name that `bytes` begin with, in less time than one that is made of the name alone.
    #[inline(always)]
    pub(crate) fn within(name: &str, bytes: &[u8; 24]) -> Self {
        let Some(mask) = MASKS.get(name.len()) else {
            return Self(Text::Long(name.into()));
        };
        let word = |at: usize| {
            let bytes = bytes.as_chunks().0.get(at).copied().unwrap_or_default();
            u64::from_ne_bytes(bytes)
        };
        let text = [word(0) & mask[0], word(1) & mask[1], word(2) & mask[2]];
        Self(Text::Short(with_length(text, name.len())))
    }

    /// The name in the words of a string of SPIR-V; `None` for one that is long or not all ASCII.
    #[inline(always)]
    pub(crate) fn in_words(words: &[u32], length: usize) -> Option<Self> {
        let mask = MASKS.get(length)?;
        let word = |at: usize| u64::from(words.get(at).copied().unwrap_or(0));
        let both = |at: usize| (word(at) | word(at + 1) << 32).to_le();
        let text = [both(0) & mask[0], both(2) & mask[1], both(4) & mask[2]];
        if (text[0] | text[1] | text[2]) & 0x8080_8080_8080_8080 != 0 {
            return None;
        }
        Some(Self(Text::Short(with_length(text, length))))
    }

    /// As text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Text::Short(_) => std::str::from_utf8(self.as_bytes()).unwrap_or_default(),
            Text::Long(text) => text,
        }
    }

    /// As bytes, which are UTF-8.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Text::Short(words) => {
                let bytes: &[u8; 24] = bytemuck::cast_ref(words);
                bytes.get(..usize::from(bytes[ROOM])).unwrap_or_default()
            }
            Text::Long(text) => text.as_bytes(),
        }
    }

    /// Number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.as_bytes().len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Words whose last byte is the length.
fn with_length([first, second, third]: [u64; 3], length: usize) -> [u64; 3] {
    let length = u64::from_ne_bytes([0, 0, 0, 0, 0, 0, 0, length as u8]);
    [first, second, third | length]
}

impl Default for Name {
    fn default() -> Self {
        Self(Text::Short([0; 3]))
    }
}

impl<'a> FromIterator<&'a str> for Name {
    /// All pieces, one after the other.
    fn from_iter<I: IntoIterator<Item = &'a str>>(pieces: I) -> Self {
        let mut bytes = [0; ROOM];
        let mut length = 0;
        let mut pieces = pieces.into_iter();
        while let Some(piece) = pieces.next() {
            let Some(into) = bytes.get_mut(length..length + piece.len()) else {
                let before = bytes.get(..length).unwrap_or_default();
                let mut all = String::from_utf8_lossy(before).into_owned();
                all.push_str(piece);
                all.extend(pieces);
                return Self(Text::Long(all.into()));
            };
            into.copy_from_slice(piece.as_bytes());
            length += piece.len();
        }
        let mut whole = [length as u8; ROOM + 1];
        whole[..ROOM].copy_from_slice(&bytes);
        Self(Text::Short(bytemuck::cast(whole)))
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Self {
        std::iter::once(text).collect()
    }
}

impl From<String> for Name {
    fn from(text: String) -> Self {
        if text.len() > ROOM {
            Self(Text::Long(text.into()))
        } else {
            text.as_str().into()
        }
    }
}

impl From<&Name> for String {
    fn from(name: &Name) -> Self {
        name.as_str().to_owned()
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Name {
    fn as_ref(&self) -> &str {
        self
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        self
    }
}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl PartialEq<&str> for Name {
    fn eq(&self, other: &&str) -> bool {
        self == *other
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Name {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// Texts of every length around the border, some with characters of several bytes across it.
    fn texts() -> Vec<String> {
        let letters = "abcdefghijklmnopqrstuvwxyz";
        let long = "ä€𝄞".repeat(3);
        let ends = |text: &str| -> Vec<usize> {
            let ends = text.char_indices().map(|(at, _)| at);
            ends.chain([text.len()]).collect()
        };
        [letters, long.as_str()]
            .iter()
            .flat_map(|text| ends(text).into_iter().map(|end| text[..end].to_owned()))
            .collect()
    }

    #[test]
    fn every_way_makes_the_same_name() {
        for text in texts() {
            let followed = text.clone() + "\0~~~~~~~~~~~~~~~~~~~~~~~~~";
            let within = Name::within(&text, followed.as_bytes().first_chunk().unwrap());
            assert_eq!(within.as_str(), text);
            assert_eq!(
                (within.len(), within.is_empty()),
                (text.len(), text.is_empty())
            );
            assert_eq!(within, *text);
            let string: Vec<u32> = (text.clone() + "\0\0\0\0")
                .as_bytes()
                .chunks_exact(4)
                .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
                .collect();
            let is_simple = text.is_ascii() && text.len() <= ROOM;
            let in_words = Name::in_words(&string, text.len());
            assert_eq!(in_words, is_simple.then_some(within.clone()));
            for other in [Name::from(text.as_str()), Name::from(text.clone())] {
                assert_eq!(within, other);
            }
            for (at, _) in text.char_indices() {
                let (first, second) = text.split_at(at);
                assert_eq!([first, "", second].into_iter().collect::<Name>(), within);
            }
        }
        assert_eq!(Name::default(), Name::from(""));
    }

    #[test]
    fn names_are_sorted_and_found_as_their_text_is() {
        let mut texts = texts();
        let mut names: Vec<_> = texts.iter().map(|text| Name::from(text.as_str())).collect();
        texts.sort();
        names.sort();
        assert!(
            names.iter().eq(&texts
                .iter()
                .map(|text| Name::from(text.as_str()))
                .collect::<Vec<_>>())
        );
        let found: HashMap<Name, usize> = names.into_iter().zip(0..).collect();
        for (place, text) in texts.iter().enumerate() {
            let last = texts.iter().rposition(|other| other == text);
            assert_eq!(found.get(text.as_str()).copied(), last, "{place}");
        }
        assert_eq!(
            format!("{:>4}|{:?}", Name::from("a\""), Name::from("a\"")),
            "  a\"|\"a\\\"\""
        );
    }
}
