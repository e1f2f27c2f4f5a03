//! Rust's numbers and `bool`, with their datatypes in memory.

use bytemuck::Pod;
use half::{bf16, f16};
use hyperslab_format::datatype::{ByteOrder, Datatype, Enumeration, Float, Integer};

mod sealed {
    pub trait Sealed {}
}

/// A number or `bool`.
pub trait Scalar: sealed::Sealed + Copy + Send + Sync + 'static {
    /// A type of the same size for which every bit pattern is valid: the number itself, or a byte for `bool`.
    type Raw: Pod + Send + Sync;

    /// Returns the datatype of this scalar in memory.
    fn datatype() -> Datatype;

    /// Returns the bytes of `elements`.
    fn bytes(elements: &[Self]) -> &[u8];

    /// Returns the scalar that `raw` represents.
    fn from_raw(raw: Self::Raw) -> Self;

    /// Returns the scalars that `raw` represents. The caller may fill `raw` through its bytes
    /// ([`bytemuck::cast_slice_mut`]).
    fn from_raws(raw: Vec<Self::Raw>) -> Vec<Self>;

    /// Returns `elements` as bytes that may be overwritten. `None` if not every byte value is valid.
    fn bytes_mut(elements: &mut [Self]) -> Option<&mut [u8]>;
}

macro_rules! numbers {
    ($($number:ty => $datatype:expr;)*) => {$(
        impl sealed::Sealed for $number {}

        impl Scalar for $number {
            type Raw = Self;

            fn datatype() -> Datatype {
                $datatype
            }

            fn bytes(elements: &[Self]) -> &[u8] {
                bytemuck::cast_slice(elements)
            }

            fn from_raw(raw: Self) -> Self {
                raw
            }

            fn from_raws(raw: Vec<Self>) -> Vec<Self> {
                raw
            }

            fn bytes_mut(elements: &mut [Self]) -> Option<&mut [u8]> {
                Some(bytemuck::cast_slice_mut(elements))
            }
        }
    )*};
}

numbers! {
    i8 => integer(1, true);
    u8 => integer(1, false);
    i16 => integer(2, true);
    u16 => integer(2, false);
    i32 => integer(4, true);
    u32 => integer(4, false);
    i64 => integer(8, true);
    u64 => integer(8, false);
    f16 => float(Float::HALF);
    bf16 => float(Float::BFLOAT16);
    f32 => float(Float::SINGLE);
    f64 => float(Float::DOUBLE);
}

impl sealed::Sealed for bool {}

/// Stored as h5py does: an enumeration of one byte with the names `FALSE` and `TRUE`.
impl Scalar for bool {
    type Raw = u8;

    fn datatype() -> Datatype {
        Datatype::Enumeration(Enumeration {
            base: Box::new(integer(1, true)),
            members: vec![("FALSE".into(), vec![0]), ("TRUE".into(), vec![1])],
        })
    }

    fn bytes(elements: &[Self]) -> &[u8] {
        bytemuck::cast_slice(elements)
    }

    fn from_raw(raw: u8) -> Self {
        raw != 0
    }

    fn from_raws(raw: Vec<u8>) -> Vec<Self> {
        raw.into_iter().map(Self::from_raw).collect()
    }

    fn bytes_mut(_: &mut [Self]) -> Option<&mut [u8]> {
        None
    }
}

/// The byte order of this machine.
pub(super) const NATIVE: ByteOrder =
    if cfg!(target_endian = "big") { ByteOrder::Big } else { ByteOrder::Little };

fn integer(size: u32, signed: bool) -> Datatype {
    Datatype::Integer(Integer::whole(size, signed, NATIVE))
}

fn float(float: Float) -> Datatype {
    Datatype::Float(float.in_order(NATIVE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_are_filled_through_their_bytes() {
        let mut numbers = [0f32; 2];
        f32::bytes_mut(&mut numbers).unwrap().copy_from_slice(&[0, 0, 0x80, 0x3f, 0, 0, 0, 0x40]);
        assert_eq!(numbers.map(f32::to_bits), [1f32, 2.0].map(|x| x.to_bits().to_le()));
        assert_eq!(bool::bytes(&[true, false]), [1, 0]);
        assert_eq!(bool::from_raws(vec![0, 1, 255]), [false, true, true]);
        assert!(bool::bytes_mut(&mut [true]).is_none());
    }
}
