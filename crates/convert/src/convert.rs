//! Conversions of elements from one datatype to another. A conversion is created once and applied to many
//! elements.

use hyperslab_error::RequestError;
use hyperslab_filters::{ByteMap, Convert};
use hyperslab_format::Widths;
use hyperslab_format::datatype::{Datatype, Enumeration};

use super::compound::{Fields, complex_as_compound};
use super::number::{Stages, layout};
use super::real::RealLayout;
use super::refusal::{no_conversion, reason};
use super::text::TextConversion;
use super::time::Clock;

/// Datatypes with a deeper nesting are not converted.
const DEPTH: u32 = 32;
/// Larger elements are moved member by member, which is as fast.
const MAP_BYTES: usize = 1024;

/// A conversion from one datatype to another.
///
/// Floats are rounded once, to nearest, ties to even; beyond the range of a float they become infinite. As
/// an integer, a number loses its fraction, is clamped to the range, and NaN becomes the smallest `i32` or
/// `i64`, the `u64` 2^63, and 0 in the other types. libhdf5 converts the same way wherever its result does
/// not depend on the byte order.
#[derive(Debug, Clone)]
pub struct Conversion {
    plan: ConversionPlan,
    /// The same conversion as a byte map, if it only moves bytes.
    map: Option<ByteMap>,
    src_size: usize,
    dst_size: usize,
}

#[derive(Debug, Clone)]
enum ConversionPlan {
    /// The bytes are unchanged.
    Copy,
    Number(Stages),
    Text(TextConversion),
    Clock(Clock),
    Fields(Fields),
    /// Several inner elements for each element.
    Repeat(Box<Conversion>),
}

impl Conversion {
    /// Returns the conversion from `from` to `to`, in a file with addresses of eight bytes.
    pub fn between(from: &Datatype, to: &Datatype) -> Result<Self, RequestError> {
        Self::with_widths(from, to, Widths::EIGHT)
    }

    /// Returns the conversion from `from` to `to`. `widths` determines the size of variable-length elements.
    pub fn with_widths(from: &Datatype, to: &Datatype, widths: Widths) -> Result<Self, RequestError> {
        let mut conversion = Self::nested(from, to, widths, 0)?;
        if !conversion.is_identity() {
            conversion.map = conversion.moved().and_then(|bytes| ByteMap::new(conversion.src_size, &bytes));
        }
        Ok(conversion)
    }

    /// Returns the conversion from `from` to `to`, or `None` if it changes nothing.
    pub fn needed(from: &Datatype, to: &Datatype, widths: Widths) -> Result<Option<Box<Self>>, RequestError> {
        if from == to {
            return Ok(None);
        }
        let conversion = Self::with_widths(from, to, widths)?;
        Ok((!conversion.is_identity()).then(|| Box::new(conversion)))
    }

    /// Returns whether the bytes are unchanged, so that elements may be read directly into their destination.
    pub fn is_identity(&self) -> bool {
        matches!(self.plan, ConversionPlan::Copy)
    }

    /// Returns whether some bytes of the destination may be left unchanged: members that the source does not
    /// have, and gaps between members.
    pub fn is_partial(&self) -> bool {
        match &self.plan {
            ConversionPlan::Copy
            | ConversionPlan::Number(_)
            | ConversionPlan::Text(_)
            | ConversionPlan::Clock(_) => false,
            ConversionPlan::Fields(fields) => fields.is_partial(self.dst_size),
            ConversionPlan::Repeat(inner) => inner.is_partial(),
        }
    }

    /// Returns the size in bytes of a source element.
    pub fn src_size(&self) -> usize {
        self.src_size
    }

    /// Returns the size in bytes of a destination element.
    pub fn dst_size(&self) -> usize {
        self.dst_size
    }

    /// Converts the first `elements` elements of `src` to the first ones of `dst`.
    pub fn apply(&self, src: &[u8], dst: &mut [u8], elements: usize) -> Result<(), RequestError> {
        let needed = |what, given: usize, size: usize| match elements.checked_mul(size) {
            Some(needed) if needed <= given => Ok(needed),
            needed => {
                let expected = needed.map_or(u64::MAX, |needed| needed as u64);
                Err(RequestError::Length { what, given: given as u64, expected })
            }
        };
        let src_len = needed("source of a conversion", src.len(), self.src_size)?;
        let dst_len = needed("destination of a conversion", dst.len(), self.dst_size)?;
        self.run(&src[..src_len], &mut dst[..dst_len]);
        Ok(())
    }

    /// Converts every element. `src` and `dst` hold the same number of elements.
    pub(super) fn run(&self, src: &[u8], dst: &mut [u8]) {
        if let Some(map) = &self.map {
            return map.run(src, dst);
        }
        match &self.plan {
            ConversionPlan::Copy => dst.copy_from_slice(src),
            ConversionPlan::Number(stages) => stages.run(src, dst, self.src_size, self.dst_size),
            ConversionPlan::Text(text) => text.run(src, dst, self.src_size, self.dst_size),
            ConversionPlan::Clock(clock) => clock.run(src, dst),
            ConversionPlan::Fields(fields) => fields.run(src, dst, self.src_size, self.dst_size),
            ConversionPlan::Repeat(inner) => inner.run(src, dst),
        }
    }

    /// Returns the conversion that copies elements of `size` bytes.
    pub(super) fn copy(size: usize) -> Self {
        Self { plan: ConversionPlan::Copy, map: None, src_size: size, dst_size: size }
    }

    /// Returns the source byte of each byte of an element, if the conversion only moves bytes and sets all of
    /// them.
    pub(super) fn moved(&self) -> Option<Vec<u16>> {
        match &self.plan {
            _ if self.dst_size > MAP_BYTES => None,
            ConversionPlan::Copy => offset(0..self.src_size, 0),
            ConversionPlan::Number(stages) => Some(stages.moved()?.to_vec()),
            ConversionPlan::Text(_) | ConversionPlan::Clock(_) => None,
            ConversionPlan::Fields(fields) => fields.moved(self.dst_size),
            ConversionPlan::Repeat(inner) => {
                let (bytes, count) = (inner.moved()?, self.dst_size / inner.dst_size);
                let each = (0..count).map(|number| number * inner.src_size);
                each.map(|at| offset(bytes.iter().copied(), at))
                    .collect::<Option<Vec<_>>>()
                    .map(|all| all.concat())
            }
        }
    }

    pub(super) fn nested(
        from: &Datatype,
        to: &Datatype,
        widths: Widths,
        depth: u32,
    ) -> Result<Self, RequestError> {
        let fail = |why| no_conversion(from, to, why);
        if depth > DEPTH {
            return Err(fail("nested too deeply"));
        }
        let size = |datatype| {
            size_of(datatype, widths)
                .filter(|size| *size > 0)
                .ok_or_else(|| fail("the element size is 0 or too large"))
        };
        let (src_size, dst_size) = (size(from)?, size(to)?);
        let plan = if from == to {
            ConversionPlan::Copy
        } else {
            match (from, to) {
                (Datatype::Enumeration(from), Datatype::Enumeration(to)) => {
                    same_names(from, to).map_err(fail)?;
                    return Self::nested(&from.base, &to.base, widths, depth + 1);
                }
                (Datatype::Enumeration(from), to) if layout(to).is_some() => {
                    return Self::nested(&from.base, to, widths, depth + 1);
                }
                (Datatype::Text(from), Datatype::Text(to)) => {
                    ConversionPlan::Text(TextConversion::between(*from, *to).map_err(fail)?)
                }
                (Datatype::Array(one), Datatype::Array(other)) if one.shape == other.shape => {
                    ConversionPlan::Repeat(Box::new(Self::nested(&one.base, &other.base, widths, depth + 1)?))
                }
                (Datatype::Complex(one), Datatype::Complex(other)) => {
                    ConversionPlan::Repeat(Box::new(Self::nested(&one.base, &other.base, widths, depth + 1)?))
                }
                (Datatype::Compound(from), Datatype::Compound(to)) => {
                    ConversionPlan::Fields(Fields::between(from, to, widths, depth + 1)?)
                }
                (Datatype::Complex(complex), Datatype::Compound(to)) => {
                    let from = complex_as_compound(complex, to, widths)
                        .ok_or_else(|| fail("its members are not a real and an imaginary part"))?;
                    ConversionPlan::Fields(Fields::between(&from, to, widths, depth + 1)?)
                }
                (Datatype::Compound(from), Datatype::Complex(complex)) => {
                    let to = complex_as_compound(complex, from, widths)
                        .ok_or_else(|| fail("its members are not a real and an imaginary part"))?;
                    ConversionPlan::Fields(Fields::between(from, &to, widths, depth + 1)?)
                }
                (Datatype::VariableText(_), Datatype::VariableText(_)) => ConversionPlan::Copy,
                (Datatype::Sequence(one), Datatype::Sequence(other)) => {
                    if !Self::nested(one, other, widths, depth + 1)?.is_identity() {
                        return Err(fail("elements of variable-length sequences cannot be converted"));
                    }
                    ConversionPlan::Copy
                }
                _ => match (Clock::between(from, to), layout(from), layout(to)) {
                    (Some(clock), ..) => ConversionPlan::Clock(clock),
                    (None, Some(from), Some(to)) => {
                        ConversionPlan::Number(Stages::between(from, to).map_err(fail)?)
                    }
                    _ => return Err(fail(reason(from, to))),
                },
            }
        };
        let unchanged = match &plan {
            ConversionPlan::Copy => true,
            ConversionPlan::Number(stages) => stages.is_identity(),
            ConversionPlan::Text(text) => text.is_identity(),
            ConversionPlan::Clock(_) => false,
            ConversionPlan::Fields(fields) => fields.is_identity(),
            ConversionPlan::Repeat(inner) => inner.is_identity(),
        };
        let plan = if unchanged && src_size == dst_size { ConversionPlan::Copy } else { plan };
        Ok(Self { plan, map: None, src_size, dst_size })
    }
}

/// The form that the filters apply: destination bytes without a source member become zero.
impl Convert for Conversion {
    fn size(&self) -> usize {
        self.dst_size
    }

    fn bytes(&self) -> Option<&[u16]> {
        self.map.as_ref()?.bytes()
    }

    fn run(&self, src: &[u8], dst: &mut [u8]) {
        if self.is_partial() {
            dst.fill(0);
        }
        self.run(src, dst);
    }
}

/// Adds `at` to each byte number.
pub(super) fn offset<N: Into<usize>>(bytes: impl Iterator<Item = N>, at: usize) -> Option<Vec<u16>> {
    bytes.map(|byte| u16::try_from(at.checked_add(byte.into())?).ok()).collect()
}

/// Returns the size of an element in bytes, if it fits an `isize`.
pub(super) fn size_of(datatype: &Datatype, widths: Widths) -> Option<usize> {
    isize::try_from(datatype.size(widths)).ok().map(isize::cast_unsigned)
}

/// Checks that every name of `from` has the same value in `to`.
fn same_names(from: &Enumeration, to: &Enumeration) -> Result<(), &'static str> {
    let value = |enumeration: &Enumeration, bytes: &[u8]| match layout(&enumeration.base) {
        Some(RealLayout::Integer(layout))
            if layout.size == bytes.len() && RealLayout::Integer(layout).check().is_ok() =>
        {
            Some(layout.read(bytes))
        }
        _ => None,
    };
    let agrees = |(name, bytes): &(String, Vec<u8>)| {
        let known = value(from, bytes);
        known.is_some() && to.members.iter().any(|(other, bytes)| other == name && value(to, bytes) == known)
    };
    if from.members.iter().all(agrees) { Ok(()) } else { Err("their names do not have the same values") }
}

#[cfg(test)]
pub(super) mod tests {
    use hyperslab_format::datatype::{
        Array, BitRange, Bits, ByteOrder, Charset, Complex, Compound, Float, Integer, Member, Padding, Text,
    };

    use super::super::Scalar;
    use super::super::refusal::describe;
    use super::*;

    /// The output of `testdata/make.py`: on each line a datatype, bytes, a second datatype, and the bytes as
    /// libhdf5 converts them.
    const H5PY: &str = include_str!("testdata/h5py_conversions.txt");

    pub(crate) fn parse(words: &str) -> Datatype {
        let words: Vec<&str> = words.split(' ').collect();
        let number = |at: usize| words[at].parse::<u16>().unwrap();
        let size = u32::from(number(1));
        let order = if words[2] == "<" { ByteOrder::Little } else { ByteOrder::Big };
        match words[0] {
            "f" => {
                use Float as F;
                let known = [F::E5M2, F::HALF, F::BFLOAT16, F::SINGLE, F::DOUBLE, F::EXTENDED];
                let [exponent, mantissa] = [3, 4].map(|at| u8::try_from(number(at)).unwrap());
                let known = known.into_iter().find(|known| {
                    (known.exponent_size, known.mantissa_size, known.size) == (exponent, mantissa, size)
                });
                Datatype::Float(known.unwrap().in_order(order))
            }
            class => {
                let bits = BitRange { offset: number(4), precision: number(5) };
                let (low_pad, high_pad) = (false, false);
                if class == "b" {
                    Datatype::Bits(Bits { size, order, low_pad, high_pad, bits })
                } else {
                    Datatype::Integer(Integer {
                        size,
                        order,
                        signed: words[3] == "s",
                        low_pad,
                        high_pad,
                        bits,
                    })
                }
            }
        }
    }

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
    }

    /// Returns `datatype` and its elements in the other byte order.
    fn turned(datatype: &Datatype, elements: &[u8]) -> (Datatype, Vec<u8>) {
        let mut datatype = datatype.clone();
        let (size, order) = match &mut datatype {
            Datatype::Integer(t) => (t.size, &mut t.order),
            Datatype::Float(t) => (t.size, &mut t.order),
            Datatype::Bits(t) => (t.size, &mut t.order),
            other => panic!("{other:?}"),
        };
        *order = if *order == ByteOrder::Little { ByteOrder::Big } else { ByteOrder::Little };
        let elements = elements.chunks_exact(size as usize).flat_map(|element| element.iter().rev().copied());
        (datatype, elements.collect())
    }

    pub(crate) fn convert(from: &Datatype, to: &Datatype, src: &[u8]) -> Vec<u8> {
        let conversion = Conversion::between(from, to).unwrap_or_else(|error| panic!("{error}"));
        let elements = src.len() / conversion.src_size();
        let mut dst = vec![0; elements * conversion.dst_size()];
        conversion.apply(src, &mut dst, elements).unwrap();
        dst
    }

    /// Splits the elements, and makes every NaN equal: its bit pattern is unspecified.
    fn quieted(datatype: &Datatype, elements: &[u8]) -> Vec<Vec<u8>> {
        let Some(layout) = layout(datatype) else { panic!("{datatype:?}") };
        let nan = |bytes: &[u8]| layout.read(bytes) == super::super::real::Real::NotANumber;
        elements
            .chunks_exact(layout.size())
            .map(|bytes| if nan(bytes) { vec![] } else { bytes.to_vec() })
            .collect()
    }

    #[test]
    fn numbers_convert_as_in_libhdf5_in_every_byte_order() {
        let mut seen = 0;
        let mut wrong: Vec<String> = Vec::new();
        for line in H5PY.lines().filter(|line| !line.starts_with('#')) {
            let [from, src, to, expected] = line.split(" | ").collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            let (from, src, to, expected) = (parse(from), bytes(src), parse(to), bytes(expected));
            let (from_turned, src_turned) = turned(&from, &src);
            let (to_turned, expected_turned) = turned(&to, &expected);
            for (from, src) in [(&from, &src), (&from_turned, &src_turned)] {
                for (to, expected) in [(&to, &expected), (&to_turned, &expected_turned)] {
                    let found = convert(from, to, src);
                    if quieted(to, &found) != quieted(to, expected) {
                        wrong.push(format!(
                            "{line}\n  {} to {} gives {found:02x?}",
                            describe(from),
                            describe(to)
                        ));
                    }
                }
            }
            seen += 1;
        }
        assert!(seen > 150, "{seen} lines");
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn the_shortcuts_agree_with_exact_arithmetic() {
        let values: Vec<f64> =
            (0..4000)
                .map(|i| {
                    f64::from_bits(0x3e60_0000_0000_0000 + i * 0x0000_9e37_79b9_7f4a)
                        .copysign(if i % 2 == 0 { 1.0 } else { -1.0 })
                })
                .collect();
        let src = f64::bytes(&values);
        for to in ["f 2 < 5 10 implied 16", "f 2 < 8 7 implied 16", "f 4 < 8 23 implied 32"].map(parse) {
            let (from, to) = (layout(&f64::datatype()).unwrap(), layout(&to).unwrap());
            let mut expected = vec![0; values.len() * to.size()];
            for (number, element) in expected.chunks_exact_mut(to.size()).zip(src.chunks_exact(8)) {
                to.write(from.read(element), number);
            }
            let mut found = vec![0; expected.len()];
            Stages::between(from, to).unwrap().run(src, &mut found, 8, to.size());
            assert_eq!(found, expected, "{to:?}");
        }
    }

    pub(crate) fn member(name: &str, offset: u32, datatype: Datatype) -> Member {
        Member { name: name.into(), offset, datatype }
    }

    pub(crate) fn compound(size: u32, members: Vec<Member>) -> Datatype {
        Datatype::Compound(Compound { size, members })
    }

    #[test]
    fn members_are_matched_by_name_and_converted() {
        let big = parse("i 2 > s 0 16");
        let from = compound(
            9,
            vec![member("a", 0, u8::datatype()), member("b", 1, big), member("c", 5, f32::datatype())],
        );
        let to = compound(
            16,
            vec![
                member("c", 0, f64::datatype()),
                member("x", 8, u8::datatype()),
                member("b", 12, i32::datatype()),
            ],
        );
        let conversion = Conversion::between(&from, &to).unwrap();
        assert!(conversion.is_partial() && !conversion.is_identity());
        let count = 3000;
        let src: Vec<u8> = (0..count)
            .flat_map(|i: i16| {
                [&[7][..], &i.to_be_bytes(), &[0, 0], &(f32::from(i) / 2.0).to_ne_bytes()].concat()
            })
            .collect();
        let mut dst = vec![0xee; 16 * 3000];
        conversion.apply(&src, &mut dst, 3000).unwrap();
        for (i, element) in (0..count).zip(dst.chunks_exact(16)) {
            let expected =
                [&(f64::from(i) / 2.0).to_ne_bytes()[..], &[0xee; 4], &i32::from(i).to_ne_bytes()].concat();
            assert_eq!(element, expected);
        }
    }

    #[test]
    fn a_compound_with_equal_members_at_equal_offsets_is_copied_whole() {
        let text = |charset| Datatype::Text(Text { size: 3, padding: Padding::NullPadded, charset });
        let from = compound(
            8,
            vec![
                member("a", 0, u8::datatype()),
                member("t", 1, text(Charset::Ascii)),
                member("b", 4, f32::datatype()),
            ],
        );
        let to = compound(
            8,
            vec![
                member("b", 4, f32::datatype()),
                member("t", 1, text(Charset::Utf8)),
                member("a", 0, u8::datatype()),
            ],
        );
        assert!(Conversion::between(&from, &to).unwrap().is_identity());
        assert!(Conversion::between(&to, &from).is_err(), "UTF-8 does not fit ASCII");
        let without = compound(8, vec![member("a", 0, u8::datatype()), member("t", 1, text(Charset::Ascii))]);
        let conversion = Conversion::between(&without, &from).unwrap();
        assert!(!conversion.is_identity(), "the source has no member b");
        let mut dst = [9; 8];
        conversion.apply(&[1, 2, 3, 4, 5, 6, 7, 8], &mut dst, 1).unwrap();
        assert_eq!(dst, [1, 2, 3, 4, 9, 9, 9, 9]);
    }

    #[test]
    fn nested_compounds_and_arrays_keep_members_that_the_source_lacks() {
        let inner = |size, members| {
            Datatype::Array(Array { base: Box::new(compound(size, members)), shape: vec![2] })
        };
        let from = compound(
            4,
            vec![member(
                "n",
                0,
                inner(2, vec![member("a", 0, u8::datatype()), member("b", 1, u8::datatype())]),
            )],
        );
        let to = compound(
            6,
            vec![member(
                "n",
                2,
                inner(2, vec![member("b", 1, i8::datatype()), member("z", 0, u8::datatype())]),
            )],
        );
        let mut dst = [9; 12];
        Conversion::between(&from, &to).unwrap().apply(&[1, 200, 3, 4, 5, 6, 7, 8], &mut dst, 2).unwrap();
        assert_eq!(dst, [9, 9, 9, 127, 9, 4, 9, 9, 9, 6, 9, 8]);
    }

    #[test]
    fn complex_numbers_convert_to_compounds_and_back() {
        let complex = |base| Datatype::Complex(Complex { base: Box::new(base) });
        let parts = compound(16, vec![member("r", 0, f64::datatype()), member("i", 8, f64::datatype())]);
        let found = convert(&complex(f32::datatype()), &parts, f32::bytes(&[1.5, -2.0]));
        assert_eq!(found, f64::bytes(&[1.5, -2.0]));
        assert_eq!(convert(&parts, &complex(f32::datatype()), &found), f32::bytes(&[1.5, -2.0]));
        assert!(Conversion::between(&parts, &complex(f64::datatype())).unwrap().is_identity());
        assert_eq!(
            convert(&complex(f32::datatype()), &complex(f64::datatype()), f32::bytes(&[3.0, 4.0])),
            f64::bytes(&[3.0, 4.0])
        );
        let other = compound(16, vec![member("x", 0, f64::datatype()), member("y", 8, f64::datatype())]);
        assert!(Conversion::between(&other, &complex(f64::datatype())).is_err());
    }

    #[test]
    fn enumerations_convert_to_their_numbers_and_to_each_other_if_the_values_agree() {
        let named = |base: Datatype, members: Vec<(&str, Vec<u8>)>| {
            let members = members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
            Datatype::Enumeration(Enumeration { base: Box::new(base), members })
        };
        assert!(Conversion::between(&bool::datatype(), &i8::datatype()).unwrap().is_identity());
        assert_eq!(convert(&bool::datatype(), &f32::datatype(), &[0, 1]), f32::bytes(&[0.0, 1.0]));
        let wide = named(parse("i 2 > s 0 16"), vec![("TRUE", vec![0, 1]), ("FALSE", vec![0, 0])]);
        assert_eq!(convert(&wide, &bool::datatype(), &[0, 1, 0, 0]), [1, 0]);
        let reversed = named(i8::datatype(), vec![("FALSE", vec![1]), ("TRUE", vec![0])]);
        assert!(Conversion::between(&reversed, &bool::datatype()).is_err());
        assert!(Conversion::between(&i8::datatype(), &bool::datatype()).is_err());
    }

    #[test]
    fn a_conversion_that_only_moves_bytes_returns_a_byte_map() {
        let number = |order| Datatype::Integer(Integer::whole(4, true, order));
        let (little, big) = (number(ByteOrder::Little), number(ByteOrder::Big));
        let two = |one: &Datatype, other: &Datatype| {
            compound(8, vec![member("a", 0, one.clone()), member("b", 4, other.clone())])
        };
        let list = |base: &Datatype| Datatype::Array(Array { base: Box::new(base.clone()), shape: vec![2] });
        let text =
            |size| Datatype::Text(Text { size, padding: Padding::NullPadded, charset: Charset::Ascii });
        let only_b = compound(4, vec![member("b", 0, little.clone())]);
        let gap = compound(6, vec![member("b", 0, little.clone())]);
        let turned = compound(8, vec![member("b", 0, little.clone()), member("a", 4, big.clone())]);
        for (from, to, expected) in [
            (&big, &little, Some(&[3, 2, 1, 0][..])),
            (&two(&little, &big), &only_b, Some(&[7, 6, 5, 4])),
            (&two(&big, &little), &turned, Some(&[4, 5, 6, 7, 0, 1, 2, 3])),
            (&list(&big), &list(&little), Some(&[3, 2, 1, 0, 7, 6, 5, 4])),
            (&list(&two(&big, &big)), &list(&only_b), Some(&[7, 6, 5, 4, 15, 14, 13, 12])),
            (&two(&little, &little), &gap, None),
            (&two(&little, &big), &two(&little, &i64::datatype()), None),
            (&little, &f32::datatype(), None),
            (&text(4), &text(5), None),
        ] {
            let Ok(conversion) = Conversion::between(from, to) else {
                assert!(expected.is_none());
                continue;
            };
            assert_eq!(conversion.bytes(), expected, "{}", describe(from));
            let src: Vec<u8> = (0..=250).cycle().take(37 * conversion.src_size()).collect();
            let mut found = vec![0xee; 37 * conversion.dst_size()];
            Convert::run(&conversion, &src, &mut found);
            let mut planned = vec![0; found.len()];
            Conversion { map: None, ..conversion }.run(&src, &mut planned);
            assert_eq!(found, planned, "the byte map and the plan, starting from zeros");
        }
    }

    #[test]
    fn buffers_that_are_too_short_are_refused() {
        let conversion = Conversion::between(&f32::datatype(), &f64::datatype()).unwrap();
        assert!(conversion.apply(&[0; 7], &mut [0; 16], 2).is_err());
        assert!(conversion.apply(&[0; 8], &mut [0; 15], 2).is_err());
        assert!(conversion.apply(&[0; 8], &mut [0; 16], usize::MAX).is_err());
        assert!(conversion.apply(&[0; 9], &mut [0; 17], 2).is_ok());
    }
}
