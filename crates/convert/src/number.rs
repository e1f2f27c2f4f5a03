//! Conversions between numbers: a chain of loops over blocks that fit the cache.

use hyperslab_filters::{ByteMap, Convert};
use hyperslab_format::datatype::{BitRange, Bits, ByteOrder, Datatype, Float, Integer, Time};
use smallvec::SmallVec;

use super::kernels::{Kernel, Native, route};
use super::real::{IntegerLayout, RealLayout};
use super::scalar::NATIVE;

/// The number of elements of a block.
const BLOCK: usize = 512;

/// The loops of one conversion. The output of each is the input of the next.
#[derive(Debug, Clone)]
pub(super) struct Stages(SmallVec<[Stage; 3]>);

#[derive(Debug, Clone)]
struct Stage {
    step: ConversionStep,
    /// The size in bytes of an output element.
    size: usize,
}

#[derive(Debug, Clone)]
enum ConversionStep {
    /// Reverses the bytes of each element.
    Swap(Box<ByteMap>),
    Cast(Kernel),
    /// Extracts the number from the bits of a layout, as an integer of eight bytes.
    Unpack(IntegerLayout),
    /// The inverse of `Unpack`.
    Pack(IntegerLayout),
    /// Converts through exact numbers.
    Exact(RealLayout, RealLayout),
}

/// The representation of a number, which decides how it is converted.
enum NumberForm {
    Native { native: Native, swapped: bool },
    Packed(IntegerLayout),
    Other,
}

/// Returns the layout of a number. `None` if `datatype` is not a number.
pub(super) fn layout(datatype: &Datatype) -> Option<RealLayout> {
    let bytes = |size: u32| usize::try_from(size).unwrap_or(usize::MAX);
    match datatype {
        Datatype::Integer(Integer { size, order, signed, low_pad, high_pad, bits }) => {
            Some(RealLayout::Integer(IntegerLayout {
                size: bytes(*size),
                order: *order,
                signed: *signed,
                bits: *bits,
                low_pad: *low_pad,
                high_pad: *high_pad,
                bitfield: false,
            }))
        }
        Datatype::Bits(Bits { size, order, low_pad, high_pad, bits }) => {
            Some(RealLayout::Integer(IntegerLayout {
                size: bytes(*size),
                order: *order,
                signed: false,
                bits: *bits,
                low_pad: *low_pad,
                high_pad: *high_pad,
                bitfield: true,
            }))
        }
        // A time of 4 bytes counts seconds, as in PyTables. Those of 8 bytes have parts (`time.rs`).
        Datatype::Time(Time { size: size @ 4, order, precision }) => {
            Some(RealLayout::Integer(IntegerLayout {
                size: bytes(*size),
                order: *order,
                signed: true,
                bits: BitRange { offset: 0, precision: *precision },
                low_pad: false,
                high_pad: false,
                bitfield: false,
            }))
        }
        Datatype::Float(float) => Some(RealLayout::Float(*float)),
        _ => None,
    }
}

impl Stages {
    /// Returns the loops from `from` to `to`, or the reason why there are none. An empty chain means that the
    /// bytes are the same.
    pub(super) fn between(from: RealLayout, mut to: RealLayout) -> Result<Self, &'static str> {
        from.check()?;
        to.check()?;
        let from_bitfield = matches!(from, RealLayout::Integer(IntegerLayout { bitfield: true, .. }));
        if let RealLayout::Integer(layout) = &mut to {
            layout.bitfield &= from_bitfield;
        }
        let exact =
            || Self([Stage { step: ConversionStep::Exact(from, to), size: to.size() }].into_iter().collect());
        if let (RealLayout::Integer(one), RealLayout::Integer(other)) = (&from, &to)
            && other.bitfield
            && other.bits.precision < one.bits.precision
        {
            return Ok(exact());
        }
        let mut stages = SmallVec::new();
        let first = match form(&from) {
            NumberForm::Other => return Ok(exact()),
            NumberForm::Native { native, swapped } => {
                if swapped {
                    stages.extend(Stage::swap(native.size()));
                }
                native
            }
            NumberForm::Packed(layout) => {
                stages.push(Stage { step: ConversionStep::Unpack(layout), size: 8 });
                if layout.signed { Native::I64 } else { Native::U64 }
            }
        };
        let (last, end) = match form(&to) {
            NumberForm::Other => return Ok(exact()),
            NumberForm::Native { native, swapped } => {
                (native, if swapped { Stage::swap(native.size()) } else { None })
            }
            // NaN becomes another integer here than in eight bytes.
            NumberForm::Packed(_) if matches!(from, RealLayout::Float(_)) => return Ok(exact()),
            NumberForm::Packed(layout) => {
                let native = if layout.signed { Native::I64 } else { Native::U64 };
                (native, Some(Stage { step: ConversionStep::Pack(layout), size: layout.size }))
            }
        };
        let Some(casts) = route(first, last) else { return Ok(exact()) };
        stages.extend(
            casts
                .into_iter()
                .map(|(kernel, to)| Stage { step: ConversionStep::Cast(kernel), size: to.size() }),
        );
        match (&stages[..], &end) {
            // Two swaps cancel each other.
            (
                [Stage { step: ConversionStep::Swap(_), .. }],
                Some(Stage { step: ConversionStep::Swap(_), .. }),
            ) => stages.clear(),
            _ => stages.extend(end),
        }
        Ok(Self(stages))
    }

    /// Returns whether the bytes are unchanged.
    pub(super) fn is_identity(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the source byte of each byte of the output, if the conversion only moves bytes.
    pub(super) fn moved(&self) -> Option<&[u16]> {
        match &self.0[..] {
            [Stage { step: ConversionStep::Swap(map), .. }] => map.bytes(),
            _ => None,
        }
    }

    /// Converts every element. `src` and `dst` hold the same number of elements, of the given sizes.
    pub(super) fn run(&self, src: &[u8], dst: &mut [u8], src_size: usize, dst_size: usize) {
        if let [stage] = &self.0[..] {
            return stage.run(src, dst, src_size);
        }
        let mut buffers = [[0u64; BLOCK]; 2];
        let [one, two] = &mut buffers;
        let (mut one, mut two): (&mut [u8], &mut [u8]) =
            (bytemuck::cast_slice_mut(one), bytemuck::cast_slice_mut(two));
        for (from, to) in src.chunks(BLOCK * src_size).zip(dst.chunks_mut(BLOCK * dst_size)) {
            let elements = to.len() / dst_size;
            let mut size = src_size;
            let last = self.0.len().saturating_sub(1);
            for (number, stage) in self.0.iter().enumerate() {
                let input = if number == 0 { from } else { &one[..elements * size] };
                if number < last {
                    stage.run(input, &mut two[..elements * stage.size], size);
                    std::mem::swap(&mut one, &mut two);
                } else {
                    stage.run(input, to, size);
                }
                size = stage.size;
            }
        }
    }
}

impl Stage {
    /// Returns the stage that reverses the bytes of numbers of `size` bytes.
    fn swap(size: usize) -> Option<Self> {
        let bytes: Vec<u16> = (0..8).take(size).rev().collect();
        Some(Self { step: ConversionStep::Swap(Box::new(ByteMap::new(size, &bytes)?)), size })
    }

    fn run(&self, src: &[u8], dst: &mut [u8], src_size: usize) {
        match &self.step {
            ConversionStep::Swap(map) => map.run(src, dst),
            ConversionStep::Cast(kernel) => kernel(src, dst),
            ConversionStep::Unpack(layout) => {
                for (to, from) in dst.as_chunks_mut::<8>().0.iter_mut().zip(src.chunks_exact(src_size)) {
                    // At most 64 bits are significant, so the lowest 64 are the number in its own signedness.
                    #[allow(clippy::cast_possible_truncation)]
                    let low = layout.read(from) as i64;
                    *to = low.to_ne_bytes();
                }
            }
            ConversionStep::Pack(layout) => {
                for (to, from) in dst.chunks_exact_mut(self.size).zip(src.as_chunks::<8>().0) {
                    let value = if layout.signed {
                        i64::from_ne_bytes(*from).into()
                    } else {
                        u64::from_ne_bytes(*from).into()
                    };
                    layout.write(value, to);
                }
            }
            ConversionStep::Exact(from, to) => {
                for (number, element) in dst.chunks_exact_mut(self.size).zip(src.chunks_exact(src_size)) {
                    to.write(from.read(element), number);
                }
            }
        }
    }
}

fn form(layout: &RealLayout) -> NumberForm {
    match layout {
        RealLayout::Integer(layout) => {
            let whole = BitRange { offset: 0, precision: 8 * u16::try_from(layout.size).unwrap_or(0) };
            let size = u32::try_from(layout.size).unwrap_or(0);
            match Native::integer(size, layout.signed) {
                Some(native) if layout.bits == whole && layout.order != ByteOrder::Vax => {
                    NumberForm::Native { native, swapped: native.size() > 1 && layout.order != NATIVE }
                }
                _ => NumberForm::Packed(*layout),
            }
        }
        RealLayout::Float(float) => {
            let known = [
                (Native::F16, Float::HALF),
                (Native::Bf16, Float::BFLOAT16),
                (Native::F32, Float::SINGLE),
                (Native::F64, Float::DOUBLE),
            ];
            known.into_iter().find(|(_, known)| float.has_values_of(known)).map_or(
                NumberForm::Other,
                |(native, _)| NumberForm::Native { native, swapped: float.order != NATIVE },
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use hyperslab_format::datatype::{Datatype, Float};

    use super::super::Scalar;
    use super::super::convert::tests::{convert, parse};
    use super::super::refusal::describe;

    #[test]
    fn nan_converts_to_one_integer_in_every_byte_order_and_values_out_of_range_saturate() {
        let found = convert(&f64::datatype(), &u64::datatype(), f64::bytes(&[f64::NAN, 2f64.powi(64), -1.0]));
        assert_eq!(found, u64::bytes(&[1 << 63, u64::MAX, 0]));
        let found = convert(
            &f32::datatype(),
            &i64::datatype(),
            f32::bytes(&[f32::NAN, 2f32.powi(63), f32::NEG_INFINITY]),
        );
        assert_eq!(found, i64::bytes(&[i64::MIN, i64::MAX, i64::MIN]));
        let nans = [
            (f32::datatype(), f32::bytes(&[f32::NAN]).to_vec()),
            (f64::datatype(), f64::bytes(&[f64::NAN]).to_vec()),
            (half::f16::datatype(), half::f16::bytes(&[half::f16::NAN]).to_vec()),
            (half::bf16::datatype(), half::bf16::bytes(&[half::bf16::NAN]).to_vec()),
            (Datatype::Float(Float::EXTENDED), [&[0xff; 10][..], &[0; 6]].concat()),
        ];
        for (from, nan) in nans {
            for (to, expected) in [
                ("i 1 < s 0 8", vec![0]),
                ("i 2 > u 0 16", vec![0; 2]),
                ("i 2 < s 0 16", vec![0; 2]),
                ("i 4 < u 0 32", vec![0; 4]),
                ("i 4 < s 0 32", vec![0, 0, 0, 0x80]),
                ("i 4 > s 0 32", vec![0x80, 0, 0, 0]),
                ("i 8 > s 0 64", vec![0x80, 0, 0, 0, 0, 0, 0, 0]),
                ("i 8 < u 0 64", vec![0, 0, 0, 0, 0, 0, 0, 0x80]),
                ("i 8 < s 4 50", vec![0; 8]),
                ("i 3 < s 0 24", vec![0; 3]),
            ] {
                assert_eq!(convert(&from, &parse(to), &nan), expected, "{} to {to}", describe(&from));
            }
        }
    }
}
