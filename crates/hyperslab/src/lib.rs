//! hyperslab reads and writes HDF5 files without libhdf5: any selection, in parallel, directly from and to
//! the caller's memory.
//!
//! ```
//! use hyperslab::{File, Selection};
//! use hyperslab::filter::{Shuffle, Zstd};
//!
//! # fn main() -> hyperslab::Result<()> {
//! # let directory = tempfile::tempdir().unwrap();
//! # let path = directory.path().join("climate.h5");
//! let file = File::create(&path)?;
//! let temperature = file
//!     .root()
//!     .new_dataset::<f32>("surface/t2m")
//!     .shape([365, 72, 144])
//!     .chunks([1, 72, 144])
//!     .filter(Shuffle)
//!     .filter(Zstd::default())
//!     .create()?;
//! temperature.write([0..1, 0..72, 0..144], &vec![288.15_f32; 72 * 144])?;
//! file.close()?;
//!
//! let file = File::open(&path)?;
//! let first: Vec<f32> = file.dataset("surface/t2m")?.read([0..1, 0..2, 0..2])?;
//! assert_eq!(first, [288.15; 4]);
//! # Ok(()) }
//! ```
//!
//! A [`File`] gives access to its [`Group`]s, [`Dataset`]s and [`Attribute`]s. [`s!`] or a [`Selection`]
//! names the elements of a dataset to read or write. Handles are cheap to clone and can be used from several
//! threads at once.

mod absent;
mod counted;
mod engine;
mod object;
mod progress;

pub mod filter;

pub use hyperslab_io::driver;

pub use engine::{
    Block, Bound, Bounds, ChunkCodec, Destination, EncodedChunk, ReadOptions, ReadPlan, Transfer,
    WriteOptions, set_threads, threads,
};
#[doc(inline)]
/// The 16-bit floats [`f16`](half::f16) and [`bf16`](half::bf16), which are elements.
pub use half;
pub use hyperslab_convert::Scalar;
/// Makes a struct with named fields, or an enum without data, a type of elements: an
/// [`Element`](trait@Element), a [`FixedSize`] type and an [`AttributeValue`].
///
/// A struct is a compound (spec IV.A.2.d) with a member for each field, of the same name. Fields can be of
/// any [`FixedSize`] type, including other structs and enums. Members are found by their names: a dataset can
/// be read as the struct even if it has more members, another order of members, or other number types. A
/// dataset that lacks a field of the struct cannot be read, and one that has more members cannot be written.
///
/// An enum is an enumeration with a member for each variant, in the order of declaration. `#[repr(u8)]`, or
/// another integer of 8 to 64 bits, says which integer is stored. The stored enumeration may have another
/// integer, and fewer names when it is read or more when it is written; a name must have the same number on
/// both sides. HDF5 lets a file hold numbers without a name, and elements that were never written are 0
/// unless the dataset has a fill value. A number that is not a variant is the error
/// [`NotAValue`](RequestError::NotAValue), which names it.
///
/// `#[hyperslab(rename = "...")]` on a field or variant gives its member another name.
///
/// The code that the macro writes names `::hyperslab`. `#[hyperslab(crate = "h5")]` on the type names another
/// path instead, for a dependency with another name, or a crate that exports this one.
///
/// ```
/// use hyperslab::{Element, File};
///
/// #[derive(Element, Debug, Clone, Copy, PartialEq)]
/// #[repr(u8)]
/// enum Charge {
///     #[hyperslab(rename = "none")]
///     Neutral,
///     Positive,
///     Negative,
/// }
///
/// #[derive(Element, Debug, Clone, PartialEq)]
/// struct Particle {
///     id: u64,
///     position: [f32; 3],
///     #[hyperslab(rename = "q")]
///     charge: Charge,
/// }
///
/// let file = File::in_memory()?;
/// let particles = [Particle { id: 7, position: [1.0, 2.0, 3.0], charge: Charge::Negative }];
/// let dataset = file.root().new_dataset::<Particle>("particles").shape([1]).create_with(&particles)?;
/// assert_eq!(dataset.read::<Particle>(..)?, particles);
///
/// file.root().set_attribute("charge", Charge::Positive)?;
/// assert_eq!(file.root().attribute_value::<Charge>("charge")?, Charge::Positive);
/// # Ok::<(), hyperslab::Error>(())
/// ```
pub use hyperslab_derive::Element;
pub use hyperslab_error::{Error, RequestError, Result};
pub use hyperslab_format::datatype;
pub use hyperslab_format::message::dataspace::Dataspace;
pub use hyperslab_format::message::link::{Link, LinkTarget};
pub use hyperslab_format::{Addr, ErrorKind, FormatError, Structure};
pub use hyperslab_io::ranks::Ranks;
pub use hyperslab_select::{
    Axis, AxisIndex, Dim, HyperslabAxis, IndexInteger, IndexRange, Indices, Points, Select, Selected,
    Selection, Slab, s,
};
pub use hyperslab_store::commit::Durability;
pub use hyperslab_store::{Finder, Found};
#[cfg(feature = "ndarray")]
pub use ndarray;
pub use object::{
    Attribute, AttributeValue, AxisNames, CopyOptions, Dataset, DatasetBuilder, Element, ExternalFile, File,
    FileSpace, FixedSize, Group, InPlace, LibVersion, LinkAccess, NamedDatatype, Node, Object, OpenOptions,
    ReferenceTarget, Region, RepackChunks, RepackOptions, SpaceStrategy, Step, VirtualSource, Walk,
};
pub use progress::{Progress, silent};

/// The parts of a [`ReadPlan`].
pub mod plan {
    pub use crate::engine::{PlannedTask, Route, Source};
}

/// How the elements of a dataset are stored: the values that `Dataset::filters`, `Dataset::fill_value` and
/// `Dataset::chunk_at` return.
pub mod storage {
    pub use hyperslab_filters::FilterMask;
    pub use hyperslab_format::Extent;
    pub use hyperslab_format::message::fill::{AllocationTime, FillBytes, FillTime, FillValue};
    pub use hyperslab_format::message::filters::{FilterPipeline, FilterSpec};

    pub use crate::object::{DatasetOptions, NewStorage};
    pub use hyperslab_format::layout::mappings::VirtualMapping;
    pub use hyperslab_format::selection::StoredSelection;
    pub use hyperslab_store::index::ChunkRecord;
}

/// Internal parts for the other crates of this project and for its tests. They change without notice.
#[doc(hidden)]
pub mod internals {
    pub use hyperslab_filters as filters;
    pub use hyperslab_format as format;

    pub use crate::absent::{absent, absent_in_wheels};
    pub use crate::counted::counted;
    pub use crate::engine::{filter_spec, refitted_filter};
    pub use crate::object::{
        Found, HeaderFacts, Place, StoredIds, VlenData, VlenElements, VlenItems, VlenKind, VlenSink,
        auto_chunks,
    };
    pub use hyperslab_format::heap::global::VariableElement as VlenId;
    pub use hyperslab_store::CommitOptions;

    pub mod engine {
        pub use crate::engine::*;
    }
}

/// What the code calls that `#[derive(Element)]` writes. It changes without notice.
#[doc(hidden)]
pub mod derive_support {
    pub use crate::object::{
        compound, decode, enumeration, in_member, next, no_variant, no_variant_in, packed, scalar_attribute,
    };
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
