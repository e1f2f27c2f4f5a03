//! The Rust types of elements of datasets and attributes.

pub(super) mod enumeration;
pub(super) mod fixed;
pub(super) mod record;
mod text;

pub use fixed::FixedSize;
use hyperslab_format::datatype::{Charset, Datatype, Padding, VariableText};
pub(super) use record::packed;

use bytemuck::Zeroable;
use hyperslab_convert::{Conversion, Scalar};
use hyperslab_error::{Error, RequestError, Result};
use hyperslab_select::{Select, Selection};

use super::{Dataset, File};
use crate::engine::{Destination, ReadOptions, WriteOptions};

/// A Rust type of elements.
///
/// Elements are the numbers from `i8` to `f64`, `f16` and `bf16`, `bool`, structs and enums with
/// [`#[derive(Element)]`](derive@crate::Element), arrays `[T; N]` of these, `Vec<T>` for sequences of them of
/// variable length, and `String`. A stored `bool` is true if its number is not 0. If a dataset stores another
/// type and HDF5 has a conversion, elements are converted: a dataset of big-endian `i16` can be read as
/// `f64`.
///
/// ```
/// use hyperslab::{Element, File};
///
/// #[derive(Element, Debug, Clone, Copy, PartialEq)]
/// struct Station {
///     id: u32,
///     position: [f64; 2],
/// }
///
/// let file = File::in_memory()?;
/// let stations = [Station { id: 2290, position: [47.80, 11.01] }];
/// let dataset = file.root().new_dataset::<Station>("stations").shape([1]).create_with(&stations)?;
/// assert_eq!(dataset.read::<Station>(..)?, stations);
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an element",
    note = "these are numbers, `bool`, `String`, arrays `[T; N]`, `Vec<T>`, and types with \
            `#[derive(hyperslab::Element)]`"
)]
pub trait Element: Sized + Send + Sync + 'static {
    /// Returns the datatype of new datasets and attributes with this type.
    fn datatype() -> Datatype;

    /// Returns the elements that `stored` holds in the stored `datatype`.
    #[doc(hidden)]
    fn decode(file: &File, datatype: &Datatype, stored: &[u8]) -> Result<Vec<Self>>;

    /// Returns the bytes of `elements` in [`datatype`](Self::datatype). Data of variable length are written
    /// to the file.
    #[doc(hidden)]
    fn encode(file: &File, elements: &[Self]) -> Result<Vec<u8>>;

    /// Reads the elements of `what`, in row-major order.
    #[doc(hidden)]
    fn read(dataset: &Dataset, what: &Selection) -> Result<Vec<Self>> {
        // The lock keeps the data of the stored ids in the file meanwhile.
        let _kept = dataset.file().reading_vlen();
        let mut stored = dataset.room_for(what)?;
        let mut destination = Destination::contiguous(&mut stored);
        let file = dataset.read_with_heap(None, what, &mut destination, &ReadOptions::default())?;
        Self::decode(&file, &dataset.datatype(), &stored)
    }

    /// Writes the elements of `what`, in row-major order.
    #[doc(hidden)]
    fn write(dataset: &Dataset, what: &Selection, elements: &[Self]) -> Result<()> {
        let _storing = dataset.file().storing();
        let datatype = Self::datatype();
        record::check_members(&datatype, &dataset.datatype())?;
        write_as(dataset, what, datatype, &Self::encode(dataset.file(), elements)?)
    }
}

/// Writes `bytes`, which are elements of `datatype`.
fn write_as(dataset: &Dataset, what: &Selection, datatype: Datatype, bytes: &[u8]) -> Result<()> {
    let options = WriteOptions { datatype: Some(datatype), ..WriteOptions::default() };
    dataset.write_with(what, bytes, &options)
}

/// Returns the conversion of elements of `from` into elements of `to`, which must have the same members.
fn conversion(file: &File, from: &Datatype, to: &Datatype) -> Result<Conversion> {
    record::check_members(from, to)?;
    Ok(Conversion::with_widths(from, to, file.store().widths())?)
}

/// Returns the elements that `conversion` makes of the `stored` ones.
fn converted(conversion: &Conversion, stored: &[u8]) -> Result<Vec<u8>> {
    let count = stored.len() / conversion.src_size().max(1);
    let mut elements = vec![0; count * conversion.dst_size()];
    conversion.apply(stored, &mut elements, count)?;
    Ok(elements)
}

/// Names the sequence of an element that is not a value.
fn in_sequence(error: Error, sequence: usize) -> Error {
    match error {
        Error::Request(RequestError::NotAValue { element, why }) => {
            let why = format!("element {element} of the sequence: {why}");
            RequestError::NotAValue { element: sequence as u64, why }.into()
        }
        error => error,
    }
}

/// Sequences of variable length.
impl<T: FixedSize> Element for Vec<T> {
    fn datatype() -> Datatype {
        Datatype::Sequence(Box::new(<T as FixedSize>::datatype()))
    }

    fn decode(file: &File, datatype: &Datatype, stored: &[u8]) -> Result<Vec<Self>> {
        let Datatype::Sequence(base) = datatype else {
            let why =
                "its elements are no sequences of variable length: read them as the type of one element";
            return Err(RequestError::Argument { what: "Vec<T>".to_owned(), why }.into());
        };
        let size = usize::try_from(base.size(file.store().widths())).unwrap_or(usize::MAX);
        let decoder = fixed::ElementDecoder::new(file, base)?;
        let mut found = Vec::new();
        for sequence in file.vlen_many(&file.vlen_ids(stored)?, size)? {
            let elements = decoder.decode(&sequence);
            found.push(elements.map_err(|error| in_sequence(error, found.len()))?);
        }
        Ok(found)
    }

    fn encode(file: &File, elements: &[Self]) -> Result<Vec<u8>> {
        let sequences: Vec<Vec<u8>> = elements.iter().map(|sequence| packed(sequence)).collect();
        Ok(file.vlen_stored(&file.put_vlen(&sequences, T::size())?))
    }

    fn write(dataset: &Dataset, what: &Selection, elements: &[Self]) -> Result<()> {
        let _storing = dataset.file().storing();
        let Datatype::Sequence(base) = &*dataset.datatype() else {
            return write_as(dataset, what, Self::datatype(), &Self::encode(dataset.file(), elements)?);
        };
        let conversion = conversion(dataset.file(), &<T as FixedSize>::datatype(), base)?;
        let stored = |sequence: &Self| converted(&conversion, &packed(sequence));
        let sequences = elements.iter().map(stored).collect::<Result<Vec<_>>>()?;
        dataset.replace_vlen(what, &sequences)
    }
}

/// Strings of variable length, or of a fixed one.
impl Element for String {
    fn datatype() -> Datatype {
        Datatype::VariableText(VariableText { padding: Padding::NullTerminated, charset: Charset::Utf8 })
    }

    fn decode(file: &File, datatype: &Datatype, stored: &[u8]) -> Result<Vec<Self>> {
        text::decode(file, datatype, stored)
    }

    fn encode(file: &File, elements: &[Self]) -> Result<Vec<u8>> {
        elements.iter().try_for_each(|element| text::check(element))?;
        Ok(file.vlen_stored(&file.put_text(elements)?))
    }

    fn write(dataset: &Dataset, what: &Selection, elements: &[Self]) -> Result<()> {
        text::write(dataset, what, elements)
    }
}

impl Dataset {
    /// Reads the elements of `what` in row-major order. Elements of another type are converted to `T`.
    ///
    /// `what` is a [`Selection`], what one can be made from, or indices as in NumPy ([`s!`](crate::s)).
    ///
    /// ```
    /// # fn main() -> hyperslab::Result<()> {
    /// # let file = hyperslab::File::in_memory()?;
    /// let table = file.root().new_dataset::<i16>("table").shape([2, 3]).create_with(&[1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(table.read::<f64>([0..2, 1..2])?, [2.0, 5.0]);
    /// assert_eq!(table.read::<f64>(hyperslab::s![-1, ..])?, [4.0, 5.0, 6.0]);
    /// # Ok(()) }
    /// ```
    ///
    /// Errors: `Request` if `what` leaves the dataset, if its elements cannot be converted, if they lack a
    /// member of a record, if an enum lacks a name of theirs, or if a number is not a variant
    /// ([`NotAValue`](RequestError::NotAValue)); `Format` or `Chunk` if the file is damaged.
    pub fn read<T: Element>(&self, what: impl Select) -> Result<Vec<T>> {
        T::read(self, &self.select(what)?.selection).map_err(|error| error.at(self.path()))
    }

    /// Writes `values` to the elements of `what` in row-major order. If the dataset stores another type, the
    /// values are converted. As in libhdf5, a number outside the range of an integer type becomes the nearest
    /// integer of that type, and NaN becomes 0.
    ///
    /// Errors: `Request` if `what` leaves the dataset, if `values` has another number of elements, if the
    /// values cannot be converted, if a record lacks a member of the elements, if the elements lack a name of
    /// an enum, or if a string has a zero byte; `Io` if the medium fails.
    ///
    /// ```
    /// let file = hyperslab::File::in_memory()?;
    /// let dataset = file.root().new_dataset::<f32>("d").shape([2, 3]).create()?;
    /// dataset.write([0..1, 0..3], &[1.0_f32, 2.0, 3.0])?;
    /// dataset.write([1..2, 0..2], &[7_i64, 8])?; // converted
    /// assert_eq!(dataset.read::<f32>(..)?, [1.0, 2.0, 3.0, 7.0, 8.0, 0.0]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn write<T: Element>(&self, what: impl Select, values: &[T]) -> Result<()> {
        T::write(self, &self.select(what)?.selection, values).map_err(|error| error.at(self.path()))
    }

    /// Reads scalars straight into new memory.
    fn read_scalars<T: Scalar>(&self, what: &Selection) -> Result<Vec<T>> {
        let options = ReadOptions { datatype: Some(T::datatype()), ..ReadOptions::default() };
        loop {
            let shape = self.shape();
            let mut values = zeroed::<T::Raw>(what.count(&shape)?)?;
            let mut dst = Destination::contiguous(bytemuck::cast_slice_mut(&mut values)).untouched();
            match self.read_shaped(Some(&shape), what, &mut dst, &options) {
                Err(error) if error.is_reshaped() => {}
                read => return read.map(|()| T::from_raws(values)),
            }
        }
    }
}

/// Returns `count` zeros, or an error if memory has no room for them.
pub(super) fn zeroed<T: Zeroable + Clone>(count: u64) -> Result<Vec<T>> {
    let limit = isize::MAX.unsigned_abs() as u64;
    let too_many = || RequestError::TooMany { what: "a result that does not fit into memory", limit };
    let count = usize::try_from(count).map_err(|_| too_many())?;
    Vec::<T>::new().try_reserve_exact(count).map_err(|_| too_many())?;
    Ok(vec![T::zeroed(); count])
}
