//! Elements of fixed size: numbers, and arrays of elements.

use std::marker::PhantomData;

use half::{bf16, f16};
use hyperslab_convert::{Conversion, Scalar};
use hyperslab_error::{RequestError, Result};
use hyperslab_format::datatype::{Array, Datatype};
use hyperslab_select::Selection;

use super::enumeration::Narrowing;
use super::{Element, conversion, converted, packed, write_as};
use crate::object::{Dataset, File};

/// An element of fixed size: a number, `bool`, a struct or enum with `#[derive(Element)]`, or an array of
/// these.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an element of fixed size",
    note = "these are numbers, `bool`, arrays `[T; N]`, and types with `#[derive(hyperslab::Element)]`"
)]
pub trait FixedSize: Sized + Send + Sync + 'static {
    /// Returns the datatype of the element in memory, without gaps.
    fn datatype() -> Datatype;

    /// Returns the bytes of an element.
    fn size() -> usize;

    /// Says why these [`size`](Self::size) bytes are not an element, if they are not. Any bytes make a
    /// number, but not all are a variant of an enum.
    fn check(bytes: &[u8]) -> Result<(), String> {
        let _ = bytes;
        Ok(())
    }

    /// Returns the element of these [`size`](Self::size) bytes. Panics if [`check`](Self::check) refuses them.
    fn get(bytes: &[u8]) -> Self;

    /// Says that a stored number, which the integer of an enum cannot have, is not a variant of the enum at
    /// byte `at` of the element.
    #[doc(hidden)]
    fn no_variant(number: i128, at: usize) -> String {
        let _ = at;
        format!("{number} is not a variant")
    }

    /// Writes the element to [`size`](Self::size) bytes.
    fn put(&self, bytes: &mut [u8]);
}

macro_rules! scalars {
    ($($number:ty)*) => {$(
        impl FixedSize for $number {
            fn datatype() -> Datatype {
                <Self as Scalar>::datatype()
            }

            fn size() -> usize {
                size_of::<Self>()
            }

            fn get(bytes: &[u8]) -> Self {
                <Self as Scalar>::from_raw(bytemuck::pod_read_unaligned(bytes))
            }

            fn put(&self, bytes: &mut [u8]) {
                bytes.copy_from_slice(Self::bytes(std::slice::from_ref(self)));
            }
        }

        impl Element for $number {
            fn datatype() -> Datatype {
                <Self as Scalar>::datatype()
            }

            fn decode(file: &File, datatype: &Datatype, stored: &[u8]) -> Result<Vec<Self>> {
                decode(file, datatype, stored)
            }

            fn encode(_: &File, elements: &[Self]) -> Result<Vec<u8>> {
                Ok(Self::bytes(elements).to_vec())
            }

            fn read(dataset: &Dataset, what: &Selection) -> Result<Vec<Self>> {
                dataset.read_scalars(what)
            }

            fn write(dataset: &Dataset, what: &Selection, elements: &[Self]) -> Result<()> {
                write_as(dataset, what, <Self as Scalar>::datatype(), Self::bytes(elements))
            }
        }
    )*};
}

scalars! { i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64 bool }

impl<T: FixedSize, const N: usize> FixedSize for [T; N] {
    fn datatype() -> Datatype {
        let len = u32::try_from(N).unwrap_or(u32::MAX);
        // An array of arrays becomes one array with more dimensions, as in h5py.
        let (base, shape) = match T::datatype() {
            Datatype::Array(Array { base, shape }) => (base, [vec![len], shape].concat()),
            base => (Box::new(base), vec![len]),
        };
        Datatype::Array(Array { base, shape })
    }

    fn size() -> usize {
        N * T::size()
    }

    #[inline]
    fn check(bytes: &[u8]) -> Result<(), String> {
        bytes.chunks_exact(T::size().max(1)).try_for_each(T::check)
    }

    fn get(bytes: &[u8]) -> Self {
        std::array::from_fn(|i| T::get(&bytes[i * T::size()..][..T::size()]))
    }

    fn no_variant(number: i128, at: usize) -> String {
        T::no_variant(number, at % T::size().max(1))
    }

    fn put(&self, bytes: &mut [u8]) {
        self.iter().zip(bytes.chunks_exact_mut(T::size())).for_each(|(element, bytes)| element.put(bytes));
    }
}

impl<T: FixedSize, const N: usize> Element for [T; N] {
    fn datatype() -> Datatype {
        <Self as FixedSize>::datatype()
    }

    fn decode(file: &File, datatype: &Datatype, stored: &[u8]) -> Result<Vec<Self>> {
        decode(file, datatype, stored)
    }

    fn encode(_: &File, elements: &[Self]) -> Result<Vec<u8>> {
        Ok(packed(elements))
    }
}

/// Returns the elements that `stored` holds in `datatype`.
pub fn decode<T: FixedSize>(file: &File, datatype: &Datatype, stored: &[u8]) -> Result<Vec<T>> {
    ElementDecoder::new(file, datatype)?.decode(stored)
}

/// What makes elements of the stored bytes of one datatype.
pub(super) struct ElementDecoder<T> {
    conversion: Conversion,
    narrowing: Option<Narrowing>,
    elements: PhantomData<T>,
}

impl<T: FixedSize> ElementDecoder<T> {
    pub(super) fn new(file: &File, datatype: &Datatype) -> Result<Self> {
        let memory = T::datatype();
        let conversion = conversion(file, datatype, &memory)?;
        let narrowing = Narrowing::between(datatype, &memory, file.store().widths());
        Ok(Self { conversion, narrowing, elements: PhantomData })
    }

    pub(super) fn decode(&self, stored: &[u8]) -> Result<Vec<T>> {
        if let Some(narrowing) = &self.narrowing {
            for (element, stored) in (0..).zip(stored.chunks_exact(self.conversion.src_size().max(1))) {
                if let Some((number, at)) = narrowing.changed(stored) {
                    let why = T::no_variant(number, at);
                    return Err(RequestError::NotAValue { element, why }.into());
                }
            }
        }
        let converted = converted(&self.conversion, stored)?;
        let elements = converted.chunks_exact(T::size().max(1));
        // All are checked before the first is made: for numbers, the compiler leaves nothing of this loop.
        for (element, bytes) in (0..).zip(elements.clone()) {
            T::check(bytes).map_err(|why| RequestError::NotAValue { element, why })?;
        }
        Ok(elements.map(T::get).collect())
    }
}
