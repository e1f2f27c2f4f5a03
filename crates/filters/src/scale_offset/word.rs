//! Elements of 1, 2, 4 and 8 bytes, in either byte order.

/// The order of an element's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Little,
    Big,
}

/// The bits of an element, as an unsigned number.
pub(super) trait Word: Copy + Eq + Ord {
    const SIZE: usize;
    const BITS: u32;
    const MAX: Self;

    /// Returns the low bytes of `value`.
    fn of(value: u64) -> Self;

    /// Returns the number with zeros before it.
    fn widened(self) -> u64;

    /// Returns the number with its highest bit before it.
    fn sign_extended(self) -> u64;

    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;

    /// Returns the number with its highest bit flipped, so that signed numbers are in order.
    fn flipped(self) -> Self;

    /// Returns the function that reads an element of `SIZE` bytes.
    fn reader(order: Order) -> impl Fn(&[u8]) -> Self + Clone;

    /// Fills `dst` with elements.
    fn fill(dst: &mut [u8], order: Order, elements: impl Iterator<Item = Self>);
}

macro_rules! words {
    ($($word:ident $signed:ident),*) => {$(
        impl Word for $word {
            const SIZE: usize = size_of::<Self>();
            const BITS: u32 = <$word>::BITS;
            const MAX: Self = <$word>::MAX;

            #[inline]
            #[expect(clippy::allow_attributes, reason = "one of the four types is not cut")]
            #[allow(clippy::cast_possible_truncation, reason = "the low bytes are wanted")]
            fn of(value: u64) -> Self {
                value as Self
            }

            #[inline]
            fn widened(self) -> u64 {
                u64::from(self)
            }

            #[inline]
            fn sign_extended(self) -> u64 {
                i64::from(self.cast_signed()).cast_unsigned()
            }

            #[inline]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline]
            fn flipped(self) -> Self {
                self ^ 1 << (Self::BITS - 1)
            }

            #[inline]
            fn reader(order: Order) -> impl Fn(&[u8]) -> Self + Clone {
                move |bytes| {
                    let bytes = bytes.first_chunk().copied().unwrap_or_default();
                    match order {
                        Order::Little => Self::from_le_bytes(bytes),
                        Order::Big => Self::from_be_bytes(bytes),
                    }
                }
            }

            #[inline]
            fn fill(dst: &mut [u8], order: Order, elements: impl Iterator<Item = Self>) {
                let slots = dst.as_chunks_mut::<{ size_of::<Self>() }>().0;
                match order {
                    Order::Little => slots.iter_mut().zip(elements).for_each(|(to, e)| *to = e.to_le_bytes()),
                    Order::Big => slots.iter_mut().zip(elements).for_each(|(to, e)| *to = e.to_be_bytes()),
                }
            }
        }
    )*};
}

words!(u8 i8, u16 i16, u32 i32, u64 i64);
