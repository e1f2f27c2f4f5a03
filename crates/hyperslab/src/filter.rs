//! The filters that encode chunks for the file (spec IV.A.2.l). The defaults of their parameters are those of
//! the Python package `hdf5plugin`.
//!
//! ```
//! # fn main() -> hyperslab::Result<()> {
//! use hyperslab::File;
//! use hyperslab::filter::{Blosc2, BloscCodec, Deflate, Shuffle};
//!
//! let root = File::in_memory()?.root();
//! let small = root.new_dataset::<i32>("small").shape([1000, 1000]).chunks([100, 100]);
//! small.filter(Shuffle).filter(Deflate::default().level(9)).create()?;
//! let fast = root.new_dataset::<i32>("fast").shape([1000, 1000]).chunks([100, 100]);
//! fast.filter(Blosc2::default().codec(BloscCodec::Lz4)).create()?;
//! # Ok(()) }
//! ```

pub use hyperslab_filters::choice::{BitshuffleCodec, BloscCodec, BloscFilter, SzipMethod};
pub use hyperslab_filters::chosen::*;
pub use hyperslab_filters::{
    Encoded, Filter as Codec, FilterChoice as Filter, FilterError, FilterId, Parameters, Registry, Scratch,
    ZfpMode,
};
