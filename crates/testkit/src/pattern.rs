//! The formulas of all golden values. `golden/make/pattern.py` has the same formulas.

use serde::Deserialize;

/// Determines the 64 bits from which an element is derived, given the row-major number of the element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pattern {
    /// Looks random: the number plus one, multiplied by the golden ratio and folded.
    Mix,
    /// The number itself.
    Ramp,
    /// Sixteen equal elements, then the next value.
    Steps,
    /// A value from 0 to 3: `Mix` modulo 4.
    Small,
    /// No data is written: every element is the fill value.
    Fill,
}

impl Pattern {
    /// Returns the 64 bits of element `k`.
    pub fn word(self, k: u64) -> u64 {
        match self {
            Self::Ramp => k,
            Self::Steps => k / 16,
            Self::Fill => 0,
            Self::Mix => {
                let mixed = k.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                mixed ^ (mixed >> 32)
            }
            Self::Small => Self::Mix.word(k) % 4,
        }
    }
}

/// An element type that has a formula.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ElementType {
    /// A signed or unsigned integer or a bitfield, made of the low bits.
    Integer(Word),
    /// A float of 2, 4 or 8 bytes.
    Float(Word),
    /// bfloat16, little-endian.
    Brain,
    /// Two floats. `size` is the size of one float.
    Complex(Word),
    /// One byte, 0 or 1.
    Bool,
    /// A string of this size in bytes, padded with zeros.
    Text(usize),
    /// The members, without gaps.
    Compound(Vec<(String, ElementType)>),
    /// An array of `count` elements.
    Array {
        /// The product of the dimensions.
        count: u64,
        /// The type of an array element.
        base: Box<ElementType>,
    },
}

/// The size and byte order of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    /// The size in bytes: 1, 2, 4 or 8.
    pub size: usize,
    /// Whether the most significant byte is first.
    pub big: bool,
}

impl Word {
    fn push(self, bits: u64, out: &mut Vec<u8>) {
        if self.big {
            out.extend_from_slice(&bits.to_be_bytes()[8 - self.size..]);
        } else {
            out.extend_from_slice(&bits.to_le_bytes()[..self.size]);
        }
    }
}

impl ElementType {
    /// Parses the notation of the manifest, for example `<i4`, `|S5`, `(2,3)>f8` or `{a:<i4,b:|S3}`.
    pub fn parse(text: &str) -> Option<Self> {
        let (found, rest) = Self::parse_prefix(text)?;
        rest.is_empty().then_some(found)
    }

    fn parse_prefix(text: &str) -> Option<(Self, &str)> {
        if let Some(members) = text.strip_prefix('{') {
            return Self::parse_members(members);
        }
        if let Some(rest) = text.strip_prefix('(') {
            let (dimensions, rest) = rest.split_once(')')?;
            let mut count = 1;
            for dimension in dimensions.split(',').filter(|part| !part.is_empty()) {
                count *= dimension.parse::<u64>().ok()?;
            }
            let (base, rest) = Self::parse_prefix(rest)?;
            return Some((Self::Array { count, base: Box::new(base) }, rest));
        }
        if let Some(rest) = text.strip_prefix("bf2") {
            return Some((Self::Brain, rest));
        }
        let mut letters = text.chars();
        let big = match letters.next()? {
            '>' => true,
            '<' | '|' => false,
            _ => return None,
        };
        let kind = letters.next()?;
        let digits = letters.as_str();
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let size = digits[..end].parse::<usize>().ok()?;
        let found = match (kind, size) {
            ('i' | 'u', 1 | 2 | 4 | 8) => Self::Integer(Word { size, big }),
            ('f', 2 | 4 | 8) => Self::Float(Word { size, big }),
            ('c', 8 | 16) => Self::Complex(Word { size: size / 2, big }),
            ('b', 1) => Self::Bool,
            ('S', _) => Self::Text(size),
            _ => return None,
        };
        Some((found, &digits[end..]))
    }

    fn parse_members(mut text: &str) -> Option<(Self, &str)> {
        let mut members = Vec::new();
        loop {
            let (name, rest) = text.split_once(':')?;
            let (member, rest) = Self::parse_prefix(rest)?;
            members.push((name.to_owned(), member));
            if let Some(rest) = rest.strip_prefix('}') {
                return Some((Self::Compound(members), rest));
            }
            text = rest.strip_prefix(',')?;
        }
    }

    /// Returns the size of an element in bytes.
    pub fn size(&self) -> usize {
        match self {
            Self::Integer(word) | Self::Float(word) => word.size,
            Self::Brain => 2,
            Self::Complex(word) => 2 * word.size,
            Self::Bool => 1,
            Self::Text(size) => *size,
            Self::Compound(members) => members.iter().map(|(_, member)| member.size()).sum(),
            Self::Array { count, base } => {
                usize::try_from(*count).expect("golden arrays are small") * base.size()
            }
        }
    }

    /// Appends element `k` as stored in the file.
    pub fn push(&self, pattern: Pattern, k: u64, out: &mut Vec<u8>) {
        match self {
            Self::Integer(word) => word.push(pattern.word(k), out),
            Self::Float(word) => push_float(*word, real(pattern.word(k), word.size), out),
            Self::Brain => {
                let low = i32::try_from(pattern.word(k) & 0xFF).expect("eight bits") - 128;
                let narrowed = narrow(f64::from(low) / 8.0, 8, 7);
                out.extend_from_slice(&narrowed.to_le_bytes());
            }
            Self::Complex(word) => {
                for part in 0..2 {
                    Self::Float(*word).push(pattern, 2 * k + part, out);
                }
            }
            Self::Bool => out.push((pattern.word(k) & 1) as u8),
            Self::Text(size) => {
                let end = out.len() + size;
                out.extend(text(k, *size));
                out.resize(end, 0);
            }
            Self::Compound(members) => {
                for (position, (_, member)) in (0..).zip(members) {
                    member.push(pattern, k * members.len() as u64 + position, out);
                }
            }
            Self::Array { count, base } => {
                for position in 0..*count {
                    base.push(pattern, k * count + position, out);
                }
            }
        }
    }

    /// Appends a fill value. In the manifest only numbers have a fill value, so all other types get zeros.
    pub fn push_fill(&self, fill: f64, out: &mut Vec<u8>) {
        match self {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "golden fill values are small integers"
            )]
            Self::Integer(word) => word.push(fill as i64 as u64, out),
            Self::Float(word) => push_float(*word, fill, out),
            _ => out.resize(out.len() + self.size(), 0),
        }
    }
}

/// Returns the variable-length string of element `k`. Every third string is empty.
pub fn words(k: u64) -> String {
    let copies = usize::try_from(k % 3).expect("at most two");
    format!("é{}", Pattern::Mix.word(k)).repeat(copies)
}

/// Returns the same string as [`words`], in ASCII.
pub fn plain_words(k: u64) -> String {
    words(k).replace('é', "e")
}

/// Returns the variable-length sequence of element `k`, as stored in the file. It has `k % 4` elements.
pub fn sequence(element: &ElementType, k: u64) -> Vec<u8> {
    let mut out = Vec::new();
    for position in 0..k % 4 {
        element.push(Pattern::Mix, 4 * k + position, &mut out);
    }
    out
}

/// Returns the decimal digits of the element's word, repeated to `k % (size + 1)` bytes.
fn text(k: u64, size: usize) -> Vec<u8> {
    let digits = Pattern::Mix.word(k).to_string();
    let length = usize::try_from(k % (size as u64 + 1)).expect("at most `size`");
    digits.bytes().cycle().take(length).collect()
}

/// Returns the low bits that a float of `size` bytes holds exactly, centred and divided by a power of two.
fn real(bits: u64, size: usize) -> f64 {
    let (significant, divisor) = match size {
        2 => (11, 8.0),
        4 => (24, 256.0),
        _ => (53, 65536.0),
    };
    let low = (bits & ((1 << significant) - 1)).cast_signed() - (1 << (significant - 1));
    #[expect(clippy::cast_precision_loss, reason = "at most 53 bits")]
    let low = low as f64;
    low / divisor
}

fn push_float(word: Word, value: f64, out: &mut Vec<u8>) {
    let bits = match word.size {
        2 => u64::from(narrow(value, 5, 10)),
        #[expect(clippy::cast_possible_truncation, reason = "exact by construction")]
        4 => u64::from((value as f32).to_bits()),
        _ => value.to_bits(),
    };
    word.push(bits, out);
}

/// Converts a value to a 16-bit float with `exponent_bits` and `mantissa_bits`. The value is zero or a normal
/// number that the float holds exactly.
fn narrow(value: f64, exponent_bits: u32, mantissa_bits: u32) -> u16 {
    if value == 0.0 {
        return 0;
    }
    let bits = value.to_bits();
    let exponent = ((bits >> 52) & 0x7FF) + (1 << (exponent_bits - 1)) - 1 - 1023;
    let mantissa = (bits >> (52 - mantissa_bits)) & ((1 << mantissa_bits) - 1);
    let sign = (bits >> 63) << 15;
    u16::try_from(sign | (exponent << mantissa_bits) | mantissa).expect("16 bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(spelled: &str, pattern: Pattern, elements: impl IntoIterator<Item = u64>) -> String {
        let element = ElementType::parse(spelled).expect("a type");
        let mut out = Vec::new();
        for k in elements {
            element.push(pattern, k, &mut out);
        }
        out.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
    }

    /// The expected hex is `pattern.array(...).tobytes().hex()` of `golden/make/pattern.py`.
    #[test]
    fn values_match_the_python_formulas() {
        assert_eq!(hex("<i4", Pattern::Mix, [0, 1, 2, 40]), "ac057de1580bfac2131979a7e8a10f34");
        assert_eq!(hex("<i4", Pattern::Steps, [0, 1, 2, 40]), "00000000000000000000000002000000");
        assert_eq!(
            hex(">u8", Pattern::Mix, [0, 1, 2, 40]),
            "9e3779b9e17d05ac3c6ef372c2fa0b58daa66d2ca779191356e27eb5340fa1e8"
        );
        assert_eq!(hex("|i1", Pattern::Mix, [0, 1, 2, 40]), "ac5813e8");
        assert_eq!(hex("<f2", Pattern::Mix, [0, 1, 2, 40]), "b05240cddad530d4");
        assert_eq!(hex("<f2", Pattern::Steps, [0, 1, 2, 40]), "00d800d800d8fcd7");
        assert_eq!(hex(">f4", Pattern::Mix, [0, 1, 2, 40]), "c43e950046f416b0c4dcdda0c6e0bc30");
        assert_eq!(
            hex("<f8", Pattern::Mix, [0, 1, 2, 40]),
            "b016f485e7e61d42804a5fd0d3c8f0c1dacd0db1a62523c230bce09795022bc2"
        );
        assert_eq!(
            hex("<c8", Pattern::Mix, [0, 1, 2, 40]),
            "00953ec4b016f446a0dddcc4622de8465098f7c54c64e446d87dc6c66078c1c6"
        );
        assert_eq!(hex("|b1", Pattern::Mix, [0, 1, 2, 40]), "00000100");
        assert_eq!(hex("|S5", Pattern::Mix, [0, 1, 2, 40]), "0000000000340000000031350000003632363000");
        assert_eq!(
            hex("{a:<i2,b:(2,2)>i2,c:|S2}", Pattern::Mix, [0, 1, 2, 40]),
            "ac050cf6322630812d633135b116283436703d4b33d931338130c462c9cabbfdb58f3130402d8fa799f9841281923333"
        );
        assert_eq!(hex("bf2", Pattern::Mix, [0, 1, 2, 40]), "b040a0c05ac15041");
    }

    #[test]
    fn strings_match_the_python_formulas() {
        assert_eq!(words(1), "é4354685563936836440");
        assert_eq!(plain_words(3), "");
        assert_eq!(words(2).chars().filter(|&c| c == 'é').count(), 2);
    }

    #[test]
    fn a_type_without_a_formula_does_not_parse() {
        for spelled in ["", "<i3", "|O", "{a:<i4", "<f16", "vlen<i4", "<i4x"] {
            assert_eq!(ElementType::parse(spelled), None, "{spelled}");
        }
    }
}
