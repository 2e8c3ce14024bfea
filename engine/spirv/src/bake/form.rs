//! The baked form of values: numbers of fixed size, one after the other, so that reading them back is little more than copying.
//!
//! A value has a few bits, and a head whose size its type says. Bits say what is true and what is there at all; what may be
//! missing is put into the body, after the heads, unless it is so small that it keeps its place, and so are entries of lists,
//! whose heads lie side by side. All text lies in one piece and is looked at once.
//!
//! Reading never stops half way: where bytes are missing or mean nothing, it goes on with zeros and keeps in mind that all it
//! made is to be thrown away. So values are made where they are to lie, which takes a third less time.

use std::slice::ChunksExact;

use crate::interface::Name;
use smallvec::{Array, SmallVec};

/// A value that can be baked.
pub(super) trait Baked: Sized {
    /// Number of its bits.
    const BITS: u32;
    /// Bytes of its head.
    const SIZE: usize;
    /// Whether its bits and head are all of it, whatever the value.
    const IS_FIXED: bool;

    fn write(&self, bits: &mut Bits, head: &mut Vec<u8>, body: &mut Body);

    /// Reads it back: takes its bits from the low end of `bits` and its head from the front of `head`.
    fn read(bits: &mut u32, head: &mut &[u8], rest: &mut Rest<'_>) -> Self;
}

/// Bits being written, the first one lowest.
#[derive(Default)]
pub(super) struct Bits {
    pub(super) bits: u32,
    count: u32,
}

impl Bits {
    pub(super) fn push(&mut self, bit: bool) {
        self.bits |= u32::from(bit) << self.count;
        self.count += 1;
    }
}

/// What follows heads, being written.
#[derive(Default)]
pub(super) struct Body {
    pub(super) bytes: Vec<u8>,
    pub(super) text: String,
}

/// What follows heads and is not read yet.
pub(super) struct Rest<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) text: &'a str,
    /// The same, and what lies behind it.
    beyond: &'a [u8],
    /// Whether anything was read that was never written.
    pub(super) is_damaged: bool,
}

/// What is read where bytes are missing.
const NOTHING: [u8; 128] = [0; 128];

impl<'a> Rest<'a> {
    /// `beyond` begins with the text.
    pub(super) fn new(bytes: &'a [u8], text: &'a str, beyond: &'a [u8]) -> Self {
        Self {
            bytes,
            text,
            beyond,
            is_damaged: false,
        }
    }

    /// Bytes of a value that stands alone.
    #[inline(always)]
    pub(super) fn whole<T: Baked>(&mut self) -> &'a [u8] {
        let size = const {
            assert!(whole_size::<T>() <= NOTHING.len());
            whole_size::<T>()
        };
        if let Some((whole, after)) = self.bytes.split_at_checked(size) {
            self.bytes = after;
            return whole;
        }
        self.is_damaged = true;
        NOTHING.get(..size).unwrap_or(&NOTHING)
    }
}

/// Bytes of a value that stands alone: its bits in as few bytes as they need, and its head.
const fn whole_size<T: Baked>() -> usize {
    assert!(T::BITS <= 32, "too many bits");
    let bits = match T::BITS {
        0 => 0,
        1..=8 => 1,
        9..=16 => 2,
        _ => 4,
    };
    bits + T::SIZE
}

/// Writes values that stand alone, side by side, and then what follows their heads.
pub(super) fn write_whole<T: Baked>(values: &[T], bytes: &mut Vec<u8>, text: &mut String) {
    let mut body = Body {
        bytes: Vec::new(),
        text: std::mem::take(text),
    };
    for value in values {
        let (mut bits, mut head) = (Bits::default(), Vec::new());
        value.write(&mut bits, &mut head, &mut body);
        let of_bits = const { whole_size::<T>() - T::SIZE };
        bytes.extend(bits.bits.to_le_bytes().iter().take(of_bits));
        bytes.extend(head);
    }
    bytes.extend(body.bytes);
    *text = body.text;
}

/// Reads a value that stands alone, of which `whole` is all but what follows.
#[inline(always)]
pub(super) fn read_whole<T: Baked>(mut whole: &[u8], rest: &mut Rest<'_>) -> T {
    let head = &mut whole;
    let bits = &mut 0;
    *bits = match const { whole_size::<T>() - T::SIZE } {
        0 => 0,
        1 => u32::from(u8::read(bits, head, rest)),
        2 => u32::from(u16::read(bits, head, rest)),
        _ => u32::read(bits, head, rest),
    };
    T::read(bits, head, rest)
}

macro_rules! number {
    ($($ty:ty),*) => {
        $(impl Baked for $ty {
            const BITS: u32 = 0;
            const SIZE: usize = size_of::<Self>();
            const IS_FIXED: bool = true;

            fn write(&self, _: &mut Bits, head: &mut Vec<u8>, _: &mut Body) {
                head.extend(self.to_le_bytes());
            }

            #[inline(always)]
            fn read(_: &mut u32, head: &mut &[u8], rest: &mut Rest<'_>) -> Self {
                let Some((bytes, after)) = head.split_first_chunk() else {
                    rest.is_damaged = true;
                    return 0;
                };
                *head = after;
                Self::from_le_bytes(*bytes)
            }
        })*
    };
}

number!(u8, u16, u32, u64, i32);

impl Baked for bool {
    const BITS: u32 = 1;
    const SIZE: usize = 0;
    const IS_FIXED: bool = true;

    fn write(&self, bits: &mut Bits, _: &mut Vec<u8>, _: &mut Body) {
        bits.push(*self);
    }

    #[inline(always)]
    fn read(bits: &mut u32, _: &mut &[u8], _: &mut Rest<'_>) -> Self {
        let bit = *bits & 1 != 0;
        *bits >>= 1;
        bit
    }
}

impl Baked for usize {
    const BITS: u32 = 0;
    const SIZE: usize = 4;
    const IS_FIXED: bool = true;

    fn write(&self, bits: &mut Bits, head: &mut Vec<u8>, body: &mut Body) {
        u32::try_from(*self)
            .unwrap_or(u32::MAX)
            .write(bits, head, body);
    }

    #[inline(always)]
    fn read(bits: &mut u32, head: &mut &[u8], rest: &mut Rest<'_>) -> Self {
        u32::read(bits, head, rest) as Self
    }
}

impl Baked for Name {
    const BITS: u32 = 0;
    const SIZE: usize = usize::SIZE;
    const IS_FIXED: bool = false;

    fn write(&self, bits: &mut Bits, head: &mut Vec<u8>, body: &mut Body) {
        self.len().write(bits, head, body);
        body.text.push_str(self);
    }

    #[inline(always)]
    fn read(bits: &mut u32, head: &mut &[u8], rest: &mut Rest<'_>) -> Self {
        let length = usize::read(bits, head, rest);
        let (name, after) = rest.text.split_at_checked(length).unwrap_or_else(|| {
            rest.is_damaged = true;
            ("", "")
        });
        let chunk = rest.beyond.first_chunk().unwrap_or(&[0; 24]);
        rest.text = after;
        rest.beyond = rest.beyond.get(length..).unwrap_or_default();
        Self::within(name, chunk)
    }
}

impl Baked for Box<str> {
    const BITS: u32 = Name::BITS;
    const SIZE: usize = Name::SIZE;
    const IS_FIXED: bool = Name::IS_FIXED;

    fn write(&self, bits: &mut Bits, head: &mut Vec<u8>, body: &mut Body) {
        self.len().write(bits, head, body);
        body.text.push_str(self);
    }

    fn read(bits: &mut u32, head: &mut &[u8], rest: &mut Rest<'_>) -> Self {
        Name::read(bits, head, rest).as_str().into()
    }
}

/// Whether a value that may be missing keeps its place even then. What is missing and what is not comes in no order that a
/// processor could foresee, so that reading a few bytes for nothing takes less time than passing over them.
const fn keeps_its_place<T: Baked>() -> bool {
    T::IS_FIXED && T::SIZE <= 8
}

impl<T: Baked> Baked for Option<T> {
    const BITS: u32 = 1 + if keeps_its_place::<T>() { T::BITS } else { 0 };
    const SIZE: usize = if keeps_its_place::<T>() { T::SIZE } else { 0 };
    const IS_FIXED: bool = keeps_its_place::<T>();

    fn write(&self, bits: &mut Bits, head: &mut Vec<u8>, body: &mut Body) {
        bits.push(self.is_some());
        if !keeps_its_place::<T>() {
            write_whole(self.as_slice(), &mut body.bytes, &mut body.text);
        } else if let Some(value) = self {
            value.write(bits, head, body);
        } else {
            bits.count += T::BITS;
            head.resize(head.len() + T::SIZE, 0);
        }
    }

    #[inline(always)]
    fn read(bits: &mut u32, head: &mut &[u8], rest: &mut Rest<'_>) -> Self {
        let is_there = bool::read(bits, head, rest);
        if keeps_its_place::<T>() {
            let value = T::read(bits, head, rest);
            is_there.then_some(value)
        } else {
            is_there.then(|| read_whole(rest.whole::<T>(), rest))
        }
    }
}

impl<A: Baked, B: Baked> Baked for (A, B) {
    const BITS: u32 = A::BITS + B::BITS;
    const SIZE: usize = A::SIZE + B::SIZE;
    const IS_FIXED: bool = A::IS_FIXED && B::IS_FIXED;

    fn write(&self, bits: &mut Bits, head: &mut Vec<u8>, body: &mut Body) {
        self.0.write(bits, head, body);
        self.1.write(bits, head, body);
    }

    #[inline(always)]
    fn read(bits: &mut u32, head: &mut &[u8], rest: &mut Rest<'_>) -> Self {
        (A::read(bits, head, rest), B::read(bits, head, rest))
    }
}

impl<T: Baked> Baked for [T; 3] {
    const BITS: u32 = 3 * T::BITS;
    const SIZE: usize = 3 * T::SIZE;
    const IS_FIXED: bool = T::IS_FIXED;

    fn write(&self, bits: &mut Bits, head: &mut Vec<u8>, body: &mut Body) {
        self.iter().for_each(|value| value.write(bits, head, body));
    }

    #[inline(always)]
    fn read(bits: &mut u32, head: &mut &[u8], rest: &mut Rest<'_>) -> Self {
        std::array::from_fn(|_| T::read(bits, head, rest))
    }
}

/// Heads of a list's entries. There is no list, and no memory is taken for one, unless all of them are there.
#[inline(always)]
fn heads<'a, T: Baked>(count: usize, rest: &mut Rest<'a>) -> ChunksExact<'a, u8> {
    let size = const { whole_size::<T>() };
    let heads = count.checked_mul(size);
    let heads = heads.and_then(|bytes| rest.bytes.split_at_checked(bytes));
    let (heads, after) = heads.unwrap_or_else(|| {
        rest.is_damaged = true;
        (&[], &[])
    });
    rest.bytes = after;
    heads.chunks_exact(size)
}

/// The entries of a list. Kept out of what reads its head, which so is seen to have all bytes that it must have.
#[inline(never)]
fn entries<T: Baked, L: FromIterator<T>>(count: usize, rest: &mut Rest<'_>) -> L {
    let heads = heads::<T>(count, rest);
    heads.map(|head| read_whole(head, rest)).collect()
}

impl<T: Baked> Baked for Vec<T> {
    const BITS: u32 = 0;
    const SIZE: usize = usize::SIZE;
    const IS_FIXED: bool = false;

    fn write(&self, bits: &mut Bits, head: &mut Vec<u8>, body: &mut Body) {
        self.len().write(bits, head, body);
        write_whole(self, &mut body.bytes, &mut body.text);
    }

    #[inline(always)]
    fn read(bits: &mut u32, head: &mut &[u8], rest: &mut Rest<'_>) -> Self {
        match usize::read(bits, head, rest) {
            0 => Self::new(),
            count => entries(count, rest),
        }
    }
}

impl<A: Array<Item: Baked>> Baked for SmallVec<A> {
    const BITS: u32 = 0;
    const SIZE: usize = usize::SIZE;
    const IS_FIXED: bool = false;

    fn write(&self, bits: &mut Bits, head: &mut Vec<u8>, body: &mut Body) {
        self.len().write(bits, head, body);
        write_whole(self, &mut body.bytes, &mut body.text);
    }

    #[inline(always)]
    fn read(bits: &mut u32, head: &mut &[u8], rest: &mut Rest<'_>) -> Self {
        match usize::read(bits, head, rest) {
            0 => Self::new(),
            1 => {
                let mut list = Self::new();
                list.push(read_whole(rest.whole::<A::Item>(), rest));
                list
            }
            count => entries(count, rest),
        }
    }
}

/// Whether a field, which a closure picks, is fixed.
pub(super) const fn field_is_fixed<S, T: Baked>(_: fn(&S) -> &T) -> bool {
    T::IS_FIXED
}

/// Bits of a field, which a closure picks.
pub(super) const fn field_bits<S, T: Baked>(_: fn(&S) -> &T) -> u32 {
    T::BITS
}

/// Bytes of the head of a field, which a closure picks.
pub(super) const fn field_size<S, T: Baked>(_: fn(&S) -> &T) -> usize {
    T::SIZE
}

/// Structs: their fields one after the other, all of which must be named.
macro_rules! record {
    ($name:ident { $($field:ident),* $(,)? }) => {
        impl Baked for $name {
            const BITS: u32 = 0 $(+ field_bits(|value: &Self| &value.$field))*;
            const SIZE: usize = 0 $(+ field_size(|value: &Self| &value.$field))*;
            const IS_FIXED: bool = true $(&& field_is_fixed(|value: &Self| &value.$field))*;

            fn write(&self, bits: &mut Bits, head: &mut Vec<u8>, body: &mut Body) {
                let Self { $($field),* } = self;
                $($field.write(bits, head, body);)*
            }

            #[inline(always)]
            fn read(bits: &mut u32, head: &mut &[u8], rest: &mut Rest<'_>) -> Self {
                Self { $($field: Baked::read(bits, head, rest)),* }
            }
        }
    };
}

/// Enums without fields, all variants of which must be named: their place in this list.
macro_rules! numbered {
    ($name:ident { $($variant:ident),* $(,)? }) => {
        impl Baked for $name {
            const BITS: u32 = 0;
            const SIZE: usize = 1;
            const IS_FIXED: bool = true;

            fn write(&self, _: &mut Bits, head: &mut Vec<u8>, _: &mut Body) {
                let place = [$(Self::$variant),*].iter().position(|variant| variant == self);
                head.push(place.map_or(u8::MAX, |place| place as u8));
            }

            #[inline(always)]
            fn read(bits: &mut u32, head: &mut &[u8], rest: &mut Rest<'_>) -> Self {
                const VARIANTS: &[$name] = &[$($name::$variant),*];
                let place = usize::from(u8::read(bits, head, rest));
                VARIANTS.get(place).copied().unwrap_or_else(|| {
                    rest.is_damaged = true;
                    const { VARIANTS[0] }
                })
            }
        }
    };
}

/// Enums: in one byte the number of the variant and, in the upper half, bits of its fields; then the fields' heads in as many
/// bytes as the largest variant needs. The value
/// named first stands in for numbers that have no variant.
macro_rules! variants {
    ($name:ident, $otherwise:expr, $size:literal, { $($number:literal: $variant:ident { $($field:tt: $value:ident),* }),* $(,)? }) => {
        impl Baked for $name {
            const BITS: u32 = 0;
            const SIZE: usize = 1 + $size;
            const IS_FIXED: bool = false;

            fn write(&self, _: &mut Bits, head: &mut Vec<u8>, body: &mut Body) {
                let (mut bits, mut own) = (Bits::default(), Vec::new());
                let number: u8 = match self {
                    $(Self::$variant { $($field: $value),* } => {
                        $($value.write(&mut bits, &mut own, body);)*
                        $number
                    })*
                };
                assert!(bits.bits < 16 && own.len() <= $size, "no room for {number}");
                own.resize($size, 0);
                head.push(number | (bits.bits as u8) << 4);
                head.extend(own);
            }

            #[inline(always)]
            fn read(bits: &mut u32, head: &mut &[u8], rest: &mut Rest<'_>) -> Self {
                let first = u8::read(bits, head, rest);
                let (mut own, after) = head.split_at_checked($size).unwrap_or_default();
                *head = after;
                let mut bits = u32::from(first >> 4);
                match first & 15 {
                    $($number => Self::$variant {
                        $($field: Baked::read(&mut bits, &mut own, rest)),*
                    },)*
                    _ => {
                        rest.is_damaged = true;
                        $otherwise
                    }
                }
            }
        }
    };
}

/// Structs around one number.
macro_rules! wrapped {
    ($($name:ident),* $(,)?) => {
        $(impl Baked for $name {
            const BITS: u32 = 0;
            const SIZE: usize = 4;
            const IS_FIXED: bool = true;

            fn write(&self, bits: &mut Bits, head: &mut Vec<u8>, body: &mut Body) {
                self.0.write(bits, head, body);
            }

            #[inline(always)]
            fn read(bits: &mut u32, head: &mut &[u8], rest: &mut Rest<'_>) -> Self {
                Self(Baked::read(bits, head, rest))
            }
        })*
    };
}

pub(super) use {numbered, record, variants, wrapped};
