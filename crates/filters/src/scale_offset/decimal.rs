//! Floats: multiplied by a power of ten, rounded, and stored as integers are. All arithmetic is that of the
//! element's own type, since the results must be those of libhdf5 to the last bit.

use std::marker::PhantomData;

use super::integer::{ceil_log2, marker};
use super::word::Word;
use super::{Coder, Header};

/// The parameters of floats.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decimal {
    /// The number of digits after the decimal point that are kept.
    pub(super) places: i32,
}

/// The coder for floats of one size.
pub(super) struct Sized<F> {
    places: i32,
    float: PhantomData<F>,
}

impl<F: Float> Sized<F> {
    pub(super) fn of(Decimal { places }: Decimal) -> Self {
        Self { places, float: PhantomData }
    }
}

/// A float, and the unsigned integer of its size.
pub(super) trait Float: Copy + PartialOrd {
    type Bits: Word;

    const ZERO: Self;

    fn from_bits(bits: Self::Bits) -> Self;
    fn to_bits(self) -> Self::Bits;

    /// Returns 10^places.
    fn power(places: i32) -> Self;

    /// Returns 2 to the power of the number of bits less 1.
    fn limit() -> Self;

    fn is_finite(self) -> bool;

    /// Returns `self * scale - low * scale`.
    fn scaled(self, low: Self, scale: Self) -> Self;

    /// Returns whether the elements differ by less than `tolerance`.
    fn is_near(self, other: Self, tolerance: Self) -> bool;

    /// The same for a tolerance in double precision, by which the extremes are found.
    fn is_nearly(self, other: Self, tolerance: f64) -> bool;

    /// Rounds to the nearest integer, and halves away from zero.
    fn rounded(self) -> i64;

    /// Returns `number / scale + low`, where the number is signed.
    fn restored(number: Self::Bits, scale: Self, low: Self) -> Self;
}

macro_rules! floats {
    ($($float:ident $bits:ident $signed:ident),*) => {$(
        impl Float for $float {
            type Bits = $bits;

            const ZERO: Self = 0.0;

            fn from_bits(bits: $bits) -> Self {
                <$float>::from_bits(bits)
            }

            fn to_bits(self) -> $bits {
                <$float>::to_bits(self)
            }

            #[expect(clippy::allow_attributes, reason = "only one of the two types loses digits")]
            #[allow(clippy::cast_precision_loss, reason = "as libhdf5 does")]
            fn power(places: i32) -> Self {
                (10.0 as $float).powf(places as $float)
            }

            fn limit() -> Self {
                (2.0 as $float).powi($signed::BITS.cast_signed() - 1)
            }

            #[inline]
            fn is_finite(self) -> bool {
                <$float>::is_finite(self)
            }

            #[inline]
            fn scaled(self, low: Self, scale: Self) -> Self {
                self * scale - low * scale
            }

            #[inline]
            fn is_near(self, other: Self, tolerance: Self) -> bool {
                (self - other).abs() < tolerance
            }

            #[inline]
            fn is_nearly(self, other: Self, tolerance: f64) -> bool {
                f64::from((self - other).abs()) < tolerance
            }

            #[inline]
            #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "the parts of a float")]
            fn rounded(self) -> i64 {
                // Exact: above 2^52 all floats are integers.
                let whole = self as i64;
                let part = self - whole as $float;
                whole + i64::from(part >= 0.5) - i64::from(part <= -0.5)
            }

            #[inline]
            #[expect(clippy::cast_precision_loss, reason = "as libhdf5 does")]
            fn restored(number: $bits, scale: Self, low: Self) -> Self {
                number.cast_signed() as $float / scale + low
            }
        }
    )*};
}

floats!(f32 u32 i32, f64 u64 i64);

impl<F: Float> Coder for Sized<F> {
    type Word = F::Bits;

    fn decoder(&self, header: Header, fill: Option<F::Bits>) -> impl Fn(u64) -> F::Bits {
        let low = F::from_bits(F::Bits::of(header.smallest));
        let scale = F::power(self.places);
        let fill = fill.map(|fill| (marker(header.bits), fill));
        move |number| match fill {
            Some((marker, fill)) if number == marker => fill,
            _ => F::restored(F::Bits::of(number), scale, low).to_bits(),
        }
    }

    fn encoder(
        &self,
        elements: impl Iterator<Item = F::Bits> + Clone,
        fill: Option<F::Bits>,
    ) -> (Header, impl Fn(F::Bits) -> u64) {
        let fill = fill.map(F::from_bits);
        let scale = F::power(self.places);
        let (tolerance, wide) =
            (F::power(self.places.saturating_neg()), f64::power(self.places.saturating_neg()));
        let mut extremes = None;
        let mut is_finite = true;
        for element in elements.map(F::from_bits) {
            if fill.is_some_and(|fill| element.is_nearly(fill, wide)) {
                continue;
            }
            is_finite &= element.is_finite();
            let (low, high) = extremes.unwrap_or((element, element));
            extremes = Some((
                if element < low { element } else { low },
                if element > high { element } else { high },
            ));
        }
        let (low, high) = extremes.unwrap_or((F::ZERO, F::ZERO));
        let range = high.scaled(low, scale);
        let is_scalable = is_finite && range.is_finite() && scale > F::ZERO;
        let (bits, smallest) = if !is_scalable || range > F::limit() {
            // libhdf5 loses infinities and NaN. Elements that are stored as they are can be read by it.
            (F::Bits::BITS, 0)
        } else {
            let values = range.rounded().cast_unsigned().saturating_add(1);
            (
                ceil_log2(values.saturating_add(fill.is_some().into())).min(F::Bits::BITS),
                low.to_bits().widened(),
            )
        };
        let mask = marker(bits);
        let encode = move |element: F::Bits| {
            let element = F::from_bits(element);
            if fill.is_some_and(|fill| element.is_near(fill, tolerance)) {
                mask
            } else {
                element.scaled(low, scale).rounded().cast_unsigned() & mask
            }
        };
        (Header { bits, smallest }, encode)
    }
}
