//! The values of columns that can be indexed, and their order.
//!
//! A value is compared by its key: words that have the order of the values. The order is that of NumPy: -0.0
//! equals 0.0, and texts that differ only in zero bytes at their end are equal. NaN equals NaN and comes
//! last, where PyTables sorts it; no comparison matches it. A null-terminated text of a column ends at its
//! first zero byte, whatever follows, as when it is read.

use hyperslab_convert::{seconds, text_of};
use hyperslab_format::datatype::{Bits, ByteOrder, Charset, Datatype, Float, Integer, Padding, Text};

use crate::table::is_bool;

/// How the bytes of a value are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueKind {
    Bool,
    /// h5py's boolean: an enumeration, which is indexed as the integer that stores it.
    Truth,
    Unsigned,
    Signed,
    Float,
    Text,
    /// A text that ends at its first zero byte. Indexes hold it without the bytes behind.
    Terminated,
    /// PyTables' time with fractions: seconds in the upper half, microseconds in the lower half.
    Time,
}

/// A type of values that can be indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ValueType {
    kind: ValueKind,
    size: usize,
    is_big: bool,
}

/// The most words of a key: texts of up to 256 bytes.
pub(super) const WORDS: usize = 32;

/// The key of NaN.
const NAN: u64 = u64::MAX;

impl ValueType {
    /// Returns the type of a column, or `None` if its values have no order or no key.
    pub(super) fn of(datatype: &Datatype) -> Option<Self> {
        let (kind, size, order) = match datatype {
            Datatype::Bits(bits) if bits.size == 1 => (ValueKind::Bool, bits.size, bits.order),
            Datatype::Integer(integer) if integer.is_whole() && integer.size <= 8 => {
                let kind = if integer.signed { ValueKind::Signed } else { ValueKind::Unsigned };
                (kind, integer.size, integer.order)
            }
            Datatype::Float(float) if float.is_ieee() && float.size <= 8 => {
                (ValueKind::Float, float.size, float.order)
            }
            Datatype::Text(Text { padding: Padding::SpacePadded, .. }) => return None,
            Datatype::Text(text) => {
                let is_terminated = text.padding == Padding::NullTerminated;
                let kind = if is_terminated { ValueKind::Terminated } else { ValueKind::Text };
                (kind, text.size, ByteOrder::Little)
            }
            Datatype::Time(time) if time.size == 4 => (ValueKind::Signed, 4, time.order),
            Datatype::Time(time) if time.size == 8 => (ValueKind::Time, 8, time.order),
            Datatype::Enumeration(enumeration) => {
                let base = Self::of(&enumeration.base)?;
                let kind = if is_bool(enumeration) { ValueKind::Truth } else { base.kind };
                return Some(Self { kind, ..base });
            }
            _ => return None,
        };
        let size = usize::try_from(size).ok().filter(|size| (1..=WORDS * 8).contains(size))?;
        let is_big = match order {
            ByteOrder::Little => false,
            ByteOrder::Big => true,
            ByteOrder::Vax => return None,
        };
        Some(Self { kind, size, is_big })
    }

    /// Returns the type of the values in an index that stores them with this datatype. PyTables calls the
    /// texts of all indexes terminated.
    pub(super) fn of_index(datatype: &Datatype) -> Option<Self> {
        let stored = Self::of(datatype)?;
        Some(if stored.is_text() { stored.indexed() } else { stored })
    }

    /// Returns the type of the values in an index of a column of this type: little-endian numbers, and
    /// seconds for times with fractions.
    pub(super) fn indexed(self) -> Self {
        let kind = match self.kind {
            ValueKind::Time => ValueKind::Float,
            ValueKind::Truth => ValueKind::Signed,
            ValueKind::Terminated => ValueKind::Text,
            kind => kind,
        };
        Self { kind, is_big: false, ..self }
    }

    /// Returns whether the values of an index of type `index` can be those of a column of this type.
    pub(super) fn fits(self, index: Self) -> bool {
        let own = self.indexed();
        // Enumerations and h5py's booleans are indexed as the integers that store them.
        let is_bool = |kind| matches!(kind, ValueKind::Bool | ValueKind::Signed | ValueKind::Unsigned);
        own.size == index.size
            && (own.kind == index.kind || own.size == 1 && is_bool(own.kind) && is_bool(index.kind))
    }

    /// Returns the datatype of values of this type in an index, as PyTables stores it.
    pub(super) fn datatype(self) -> Option<Datatype> {
        let size = u32::try_from(self.size).ok()?;
        Some(match self.indexed().kind {
            ValueKind::Bool => Datatype::Bits(Bits::little(size)),
            ValueKind::Unsigned => Datatype::Integer(Integer::little(size, false)),
            ValueKind::Signed | ValueKind::Truth => Datatype::Integer(Integer::little(size, true)),
            ValueKind::Float | ValueKind::Time => Datatype::Float(Float::ieee(size, ByteOrder::Little)?),
            ValueKind::Text | ValueKind::Terminated => {
                Datatype::Text(Text { size, padding: Padding::NullTerminated, charset: Charset::Ascii })
            }
        })
    }

    /// Returns the size of a value in bytes.
    pub(super) fn size(self) -> usize {
        self.size
    }

    /// Returns the number of words of a key.
    pub(super) fn words(self) -> usize {
        self.size.div_ceil(8)
    }

    /// Returns whether values are texts.
    pub(super) fn is_text(self) -> bool {
        matches!(self.kind, ValueKind::Text | ValueKind::Terminated)
    }

    /// Returns whether some values match no comparison.
    pub(super) fn has_nan(self) -> bool {
        matches!(self.kind, ValueKind::Float | ValueKind::Time)
    }

    /// Returns whether a key is that of NaN.
    pub(super) fn is_nan(self, key: &[u64]) -> bool {
        self.has_nan() && key.first() == Some(&NAN)
    }

    /// Returns the key of values that are no texts. It is one word.
    #[inline]
    pub(super) fn word(self, value: &[u8]) -> u64 {
        let raw = if self.is_big { big_word(value) } else { little_word(value) };
        let bits = 8 * self.size.min(8);
        match self.kind {
            ValueKind::Bool => u64::from(raw != 0),
            ValueKind::Truth => u64::from(raw != 0) ^ (1 << (bits - 1)),
            ValueKind::Unsigned => raw,
            ValueKind::Signed => raw ^ (1 << (bits - 1)),
            ValueKind::Float => float_key(raw, bits),
            ValueKind::Time => float_key(seconds(raw.to_le_bytes()).to_bits(), 64),
            ValueKind::Text => text_word(value),
            ValueKind::Terminated => text_word(text_of(value, Padding::NullTerminated)),
        }
    }

    /// Writes the key of a value. `key` has [`words`](Self::words) words.
    #[inline]
    pub(super) fn key(self, value: &[u8], key: &mut [u64]) {
        if self.is_text() {
            let is_terminated = self.kind == ValueKind::Terminated;
            let value = if is_terminated { text_of(value, Padding::NullTerminated) } else { value };
            let (words, rest) = key.split_at_mut(value.len().div_ceil(8));
            for (word, bytes) in words.iter_mut().zip(value.chunks(8)) {
                *word = text_word(bytes);
            }
            rest.fill(0);
        } else if let [word] = key {
            *word = self.word(value);
        }
    }

    /// Writes the value of an index of this type that has this key. `value` has [`size`](Self::size) bytes.
    pub(super) fn value(self, key: &[u64], value: &mut [u8]) {
        if self.is_text() {
            for (bytes, word) in value.chunks_mut(8).zip(key) {
                bytes.copy_from_slice(&word.to_be_bytes()[..bytes.len()]);
            }
        } else if let [word] = key {
            let bits = 8 * self.size.min(8);
            let raw = match self.kind {
                ValueKind::Signed | ValueKind::Truth => word ^ (1 << (bits - 1)),
                ValueKind::Float | ValueKind::Time => float_of_key(*word, bits),
                ValueKind::Bool | ValueKind::Unsigned | ValueKind::Text | ValueKind::Terminated => *word,
            };
            if self.is_big {
                value.copy_from_slice(&raw.to_be_bytes()[8 - self.size..]);
            } else {
                value.copy_from_slice(&raw.to_le_bytes()[..self.size]);
            }
        }
    }
}

/// Returns a little-endian number of up to 8 bytes.
#[inline]
fn little_word(value: &[u8]) -> u64 {
    match *value {
        [a] => u64::from(a),
        [a, b] => u64::from(u16::from_le_bytes([a, b])),
        [a, b, c, d] => u64::from(u32::from_le_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => value.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    }
}

/// Returns a big-endian number of up to 8 bytes.
fn big_word(value: &[u8]) -> u64 {
    value.iter().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// Returns the first 8 bytes of a text as a number with their order.
fn text_word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    let len = bytes.len().min(8);
    word[..len].copy_from_slice(&bytes[..len]);
    u64::from_be_bytes(word)
}

/// The bits of infinity of a float of this size.
fn infinity(bits: usize) -> u64 {
    match bits {
        16 => 0x7c00,
        32 => 0x7f80_0000,
        _ => 0x7ff0_0000_0000_0000,
    }
}

/// Returns a number with the order of the floats.
#[inline]
fn float_key(raw: u64, bits: usize) -> u64 {
    let sign = 1_u64 << (bits - 1);
    let magnitude = raw & (sign - 1);
    if magnitude > infinity(bits) {
        NAN
    } else if raw & sign == 0 || magnitude == 0 {
        magnitude | sign
    } else {
        sign - magnitude
    }
}

/// Returns the float with this key.
fn float_of_key(key: u64, bits: usize) -> u64 {
    let sign = 1_u64 << (bits - 1);
    if key == NAN {
        infinity(bits) | quiet(bits)
    } else if key & sign != 0 {
        key & !sign
    } else {
        sign | (sign - key)
    }
}

/// The bit that makes a NaN of infinity.
fn quiet(bits: usize) -> u64 {
    match bits {
        16 => 1 << 9,
        32 => 1 << 22,
        _ => 1 << 51,
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use hyperslab::Element;
    use proptest::prelude::*;

    use super::*;

    fn key(value_type: ValueType, value: &[u8]) -> Vec<u64> {
        let mut key = vec![0; value_type.words()];
        value_type.key(value, &mut key);
        key
    }

    fn back(value_type: ValueType, value: &[u8]) -> Vec<u8> {
        let mut found = vec![0; value_type.size()];
        value_type.value(&key(value_type, value), &mut found);
        found
    }

    fn type_of<T: Element>() -> ValueType {
        ValueType::of(&T::datatype()).expect("numbers have keys")
    }

    fn text(size: u32) -> ValueType {
        ValueType::of(&padded(size, Padding::NullPadded)).expect("texts have keys")
    }

    fn padded(size: u32, padding: Padding) -> Datatype {
        Datatype::Text(Text { size, padding, charset: Charset::Ascii })
    }

    #[test]
    fn a_terminated_text_ends_at_its_first_zero() {
        let datatype = padded(12, Padding::NullTerminated);
        let column = ValueType::of(&datatype).expect("texts have keys");
        assert_eq!(key(column, b"station\0qwer"), key(column, b"station\0\0\0\0\0"));
        assert_eq!(key(column, b"sta\0ion\0qwer"), key(text(12), b"sta\0\0\0\0\0\0\0\0\0"));
        assert_eq!(back(column, b"sta\0ion\0qwer"), b"sta\0\0\0\0\0\0\0\0\0");
        // The texts of an index may be those of a padded column, which have zeros inside.
        let index = ValueType::of_index(&datatype).expect("texts have keys");
        assert_eq!(back(index, b"sta\0ion\0qwer"), b"sta\0ion\0qwer");
        assert!(column.fits(index) && text(12).fits(index));
    }

    #[test]
    fn nan_is_last_and_zeros_are_equal() {
        let kind = type_of::<f64>();
        let of = |value: f64| key(kind, &value.to_le_bytes());
        assert_eq!(of(-0.0), of(0.0));
        assert_eq!(of(f64::NAN), of(-f64::NAN));
        assert!(of(f64::INFINITY) < of(f64::NAN) && kind.is_nan(&of(f64::NAN)));
        assert!(
            f64::from_le_bytes(back(kind, &f64::NAN.to_le_bytes()).try_into().expect("8 bytes")).is_nan()
        );
        let small =
            f32::from_le_bytes(back(type_of::<f32>(), &(-1e-44_f32).to_le_bytes()).try_into().expect("4"));
        assert_eq!(small.to_bits(), (-1e-44_f32).to_bits());
    }

    #[test]
    fn times_with_fractions_are_seconds() {
        let datatype = hyperslab_format::datatype::Time { size: 8, order: ByteOrder::Little, precision: 64 };
        let kind = ValueType::of(&Datatype::Time(datatype)).expect("times have keys");
        let stored = [(-250_000_i32).to_le_bytes(), (-2_i32).to_le_bytes()].concat();
        assert_eq!(back(kind, &stored), (-2.25_f64).to_le_bytes());
        assert!(kind.fits(type_of::<f64>()) && !kind.fits(type_of::<i64>()));
    }

    proptest! {
        #[test]
        fn keys_have_the_order_of_floats(a: u64, b: u64) {
            let (x, y) = (f64::from_bits(a), f64::from_bits(b));
            let keys = key(type_of::<f64>(), &a.to_le_bytes()).cmp(&key(type_of::<f64>(), &b.to_le_bytes()));
            prop_assert_eq!(keys, x.partial_cmp(&y).unwrap_or(x.is_nan().cmp(&y.is_nan())));
            if !x.is_nan() && x != 0.0 {
                prop_assert_eq!(back(type_of::<f64>(), &a.to_le_bytes()), a.to_le_bytes());
            }
        }

        #[test]
        fn keys_have_the_order_of_integers(a: i16, b: i16, c: u64, d: u64) {
            prop_assert_eq!(
                key(type_of::<i16>(), &a.to_le_bytes()).cmp(&key(type_of::<i16>(), &b.to_le_bytes())),
                a.cmp(&b)
            );
            prop_assert_eq!(back(type_of::<i16>(), &a.to_le_bytes()), a.to_le_bytes());
            prop_assert_eq!(
                key(type_of::<u64>(), &c.to_le_bytes()).cmp(&key(type_of::<u64>(), &d.to_le_bytes())),
                c.cmp(&d)
            );
        }

        #[test]
        fn keys_have_the_order_of_texts(a in prop::collection::vec(0_u8..4, 11), b in
        prop::collection::vec(0_u8..4, 11)) {
            let trimmed = |text: &[u8]| {
                let len = text.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
                text[..len].to_vec()
            };
            prop_assert_eq!(key(text(11), &a).cmp(&key(text(11), &b)), trimmed(&a).cmp(&trimmed(&b)));
            prop_assert_eq!(key(text(11), &a) == key(text(11), &b), a.cmp(&b) == Ordering::Equal);
            prop_assert_eq!(back(text(11), &a), a);
        }
    }
}
