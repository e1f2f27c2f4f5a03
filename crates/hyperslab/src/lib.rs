//! hyperslab reads HDF5 files without libhdf5: any selection, in parallel, decoded straight into the caller's array.
//!
//! ```no_run
//! # fn main() -> hyperslab::Result<()> {
//! let file = hyperslab::File::open("climate.h5")?;
//! let temperature = file.dataset("/surface/t2m")?;
//! let july: Vec<f32> = temperature.read(hyperslab::Selection::All)?;
//! # Ok(()) }
//! ```
//!
//! The modules stand in layers, each using those before it alone (`tests/layers.rs` holds this): [`driver`],
//! [`select`], [`types`] know nothing of each other; [`store`] reads structures through a cache; [`tree`] and [`heap`]
//! span several blocks; [`index`] finds chunks; [`engine`] plans and runs reads; [`object`] is what users hold; [`check`](mod@check)
//! looks at a file as a whole.

pub mod check;
pub mod driver;
pub mod engine;
pub mod error;
pub mod heap;
pub mod index;
pub mod object;
pub mod process;
pub mod select;
pub mod store;
pub mod tree;
pub mod types;

pub use error::{Error, RequestError, Result};
pub use hyperslab_format::heap::global::VariableElement as VlenId;
pub use object::{
    Attribute, CopyOptions, CreateOptions, Dataset, DatasetOptions, ExternalFile, File, Group, LibVersion,
    NamedDatatype, NewStorage, Node, Object, OpenOptions, ReferenceTarget, RepackChunks, RepackOptions, Step,
    Walk, auto_chunks, filter_spec, refitted_filter,
};
pub use select::Selection;
pub use store::CommitOptions;
pub use store::commit::Durability;
