//! A small fast hash of words, for tables within one run and for comparing types.

/// Hashes words one after another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hasher(u64);

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

impl Hasher {
    pub(crate) fn new() -> Self {
        Self(FACTOR)
    }

    pub(crate) fn word(&mut self, word: u32) {
        self.long(u64::from(word));
    }

    pub(crate) fn long(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(FACTOR);
    }

    pub(crate) fn finish(self) -> u64 {
        let folded = (self.0 ^ (self.0 >> 29)).wrapping_mul(FACTOR);
        folded ^ (folded >> 32)
    }
}

/// Hash of some words.
pub(crate) fn of(words: &[u32]) -> u64 {
    let mut hasher = Hasher::new();
    for word in words {
        hasher.word(*word);
    }
    hasher.finish()
}
