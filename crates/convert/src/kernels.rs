//! Loops over numbers of the processor's types, with casts that saturate as in libhdf5 and round once.

use bytemuck::Pod;
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use smallvec::{SmallVec, smallvec};

/// A number type that the processor supports, or that is easily converted to one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Native {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F16,
    Bf16,
    F32,
    F64,
}

/// Converts as many elements as `dst` holds.
pub(super) type Kernel = fn(src: &[u8], dst: &mut [u8]);

impl Native {
    /// Returns the integer type of `size` bytes, if there is one.
    pub(super) fn integer(size: u32, signed: bool) -> Option<Self> {
        Some(match (size, signed) {
            (1, true) => Self::I8,
            (1, false) => Self::U8,
            (2, true) => Self::I16,
            (2, false) => Self::U16,
            (4, true) => Self::I32,
            (4, false) => Self::U32,
            (8, true) => Self::I64,
            (8, false) => Self::U64,
            _ => return None,
        })
    }

    /// Returns the size of an element in bytes.
    pub(super) fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 | Self::F16 | Self::Bf16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }
}

/// A cast that rounds to the nearest float, ties to even, or truncates and clamps to an integer. NaN becomes
/// the integer `Whole::NAN`.
trait Cast<T> {
    fn cast(self) -> T;
}

/// An integer type of the processor.
trait Whole {
    /// What NaN becomes.
    const NAN: Self;
}

macro_rules! wholes {
    ($($whole:ty)*) => {$(
        impl Whole for $whole {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            const NAN: Self = for_nan(size_of::<Self>(), Self::MIN != 0) as Self;
        }
    )*};
}

wholes!(i8 u8 i16 u16 i32 u32 i64 u64);

/// Returns what NaN becomes as an integer of whole bytes: the smallest signed one of 4 and 8 bytes, 2^63 as
/// an unsigned one of 8 bytes, and 0 otherwise. libhdf5 gives these between numbers in the processor's byte
/// order on x86-64.
pub(super) const fn for_nan(size: usize, signed: bool) -> i128 {
    match (size, signed) {
        (4, true) => i32::MIN as i128,
        (8, true) => i64::MIN as i128,
        (8, false) => 1 << 63,
        _ => 0,
    }
}

macro_rules! integer_to_integer {
    ($from:ty => $($to:ty)*) => {$(
        impl Cast<$to> for $from {
            #[inline]
            #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)]
            fn cast(self) -> $to {
                const LOW: $from =
                    if (<$to>::MIN as i128) > (<$from>::MIN as i128) { <$to>::MIN as $from } else { <$from>::MIN };
                const HIGH: $from =
                    if (<$to>::MAX as i128) < (<$from>::MAX as i128) { <$to>::MAX as $from } else { <$from>::MAX };
                self.clamp(LOW, HIGH) as $to
            }
        }
    )*};
}

macro_rules! by_as {
    ($from:ty => $($to:ty)*) => {$(
        impl Cast<$to> for $from {
            #[inline]
            #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss)]
            fn cast(self) -> $to {
                self as $to
            }
        }
    )*};
}

macro_rules! float_to_integer {
    ($from:ty => $($to:ty)*) => {$(
        impl Cast<$to> for $from {
            #[inline]
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            fn cast(self) -> $to {
                if self.is_nan() { <$to>::NAN } else { self as $to }
            }
        }
    )*};
}

macro_rules! from_integers {
    ($($from:ty)*) => {$(
        integer_to_integer!($from => i8 u8 i16 u16 i32 u32 i64 u64);
        by_as!($from => f32 f64);
    )*};
}

from_integers!(i8 u8 i16 u16 i32 u32 i64 u64);
float_to_integer!(f32 => i8 u8 i16 u16 i32 u32 i64 u64);
float_to_integer!(f64 => i8 u8 i16 u16 i32 u32 i64 u64);
by_as!(f32 => f32 f64);
by_as!(f64 => f32 f64);

impl Cast<f16> for f32 {
    #[inline]
    fn cast(self) -> f16 {
        f16::from_f32(self)
    }
}

impl Cast<f16> for f64 {
    #[inline]
    fn cast(self) -> f16 {
        round_to_odd(self).cast()
    }
}

impl Cast<bf16> for f32 {
    #[inline]
    fn cast(self) -> bf16 {
        bf16::from_f32(self)
    }
}

impl Cast<bf16> for f64 {
    #[inline]
    fn cast(self) -> bf16 {
        bf16::from_f32(round_to_odd(self))
    }
}

impl Cast<f32> for f16 {
    #[inline]
    fn cast(self) -> f32 {
        self.to_f32()
    }
}

impl Cast<f32> for bf16 {
    #[inline]
    fn cast(self) -> f32 {
        self.to_f32()
    }
}

/// Rounds so that a second rounding to fewer bits gives the same result as a single rounding: truncates an
/// inexact result and sets its last bit.
#[inline]
#[allow(clippy::cast_possible_truncation, clippy::float_cmp)]
fn round_to_odd(value: f64) -> f32 {
    let nearest = value as f32;
    if f64::from(nearest) == value || nearest.is_nan() {
        return nearest;
    }
    let beyond = f64::from(nearest).abs() > value.abs();
    f32::from_bits((nearest.to_bits() - u32::from(beyond)) | 1)
}

fn each<S: Pod + Cast<D>, D: Pod>(src: &[u8], dst: &mut [u8]) {
    for (to, from) in dst.chunks_exact_mut(size_of::<D>()).zip(src.chunks_exact(size_of::<S>())) {
        let value: D = bytemuck::pod_read_unaligned::<S>(from).cast();
        to.copy_from_slice(bytemuck::bytes_of(&value));
    }
}

/// Does the same as `each`, eight elements at a time if the processor supports it.
fn from_halves(src: &[u8], dst: &mut [u8]) {
    match (bytemuck::try_cast_slice::<_, f16>(src), bytemuck::try_cast_slice_mut::<_, f32>(dst)) {
        (Ok(src), Ok(dst)) if src.len() == dst.len() => src.convert_to_f32_slice(dst),
        _ => each::<f16, f32>(src, dst),
    }
}

/// A number that casts to every integer and float type of the processor.
trait Scalar:
    Pod
    + Cast<i8>
    + Cast<u8>
    + Cast<i16>
    + Cast<u16>
    + Cast<i32>
    + Cast<u32>
    + Cast<i64>
    + Cast<u64>
    + Cast<f32>
    + Cast<f64>
{
}

macro_rules! scalars {
    ($($scalar:ty)*) => {$(impl Scalar for $scalar {})*};
}

scalars!(i8 u8 i16 u16 i32 u32 i64 u64 f32 f64);

fn to_scalar<S: Scalar>(to: Native) -> Option<Kernel> {
    Some(match to {
        Native::I8 => each::<S, i8>,
        Native::U8 => each::<S, u8>,
        Native::I16 => each::<S, i16>,
        Native::U16 => each::<S, u16>,
        Native::I32 => each::<S, i32>,
        Native::U32 => each::<S, u32>,
        Native::I64 => each::<S, i64>,
        Native::U64 => each::<S, u64>,
        Native::F32 => each::<S, f32>,
        Native::F64 => each::<S, f64>,
        Native::F16 | Native::Bf16 => return None,
    })
}

/// Returns the loop from `from` to `to`, if there is one without an intermediate type.
fn direct(from: Native, to: Native) -> Option<Kernel> {
    match (from, to) {
        (Native::F16, Native::F32) => Some(from_halves),
        (Native::Bf16, Native::F32) => Some(each::<bf16, f32>),
        (Native::F32, Native::F16) => Some(each::<f32, f16>),
        (Native::F64, Native::F16) => Some(each::<f64, f16>),
        (Native::F32, Native::Bf16) => Some(each::<f32, bf16>),
        (Native::F64, Native::Bf16) => Some(each::<f64, bf16>),
        (Native::I8, _) => to_scalar::<i8>(to),
        (Native::U8, _) => to_scalar::<u8>(to),
        (Native::I16, _) => to_scalar::<i16>(to),
        (Native::U16, _) => to_scalar::<u16>(to),
        (Native::I32, _) => to_scalar::<i32>(to),
        (Native::U32, _) => to_scalar::<u32>(to),
        (Native::I64, _) => to_scalar::<i64>(to),
        (Native::U64, _) => to_scalar::<u64>(to),
        (Native::F32, _) => to_scalar::<f32>(to),
        (Native::F64, _) => to_scalar::<f64>(to),
        (Native::F16 | Native::Bf16, _) => None,
    }
}

/// Returns the loops from `from` to `to`, each with its output type. `None` if an intermediate type would
/// round twice.
pub(super) fn route(from: Native, to: Native) -> Option<SmallVec<[(Kernel, Native); 2]>> {
    use Native::{Bf16, F16, F32, F64, I8, I16, I32, U8, U16, U32};
    if from == to {
        return Some(SmallVec::new());
    }
    if let Some(kernel) = direct(from, to) {
        return Some(smallvec![(kernel, to)]);
    }
    let between = match (from, to) {
        // The intermediate type is exact, or the value is too large for float16 anyway.
        (F16 | Bf16, _) | (I8 | U8 | I16 | U16, Bf16) | (_, F16) => F32,
        (I32 | U32, Bf16) => F64,
        _ => return None,
    };
    Some(smallvec![(direct(from, between)?, between), (direct(between, to)?, to)])
}
