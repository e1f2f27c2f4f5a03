//! HDF5 filters and their pipeline.
//!
//! A filter is given its destination: the last one of a chain writes into the caller's array.

pub mod blosc;
pub mod error;
mod ffi;
pub mod filter;
pub mod gather;
mod simd;

pub use error::FilterError;
pub use filter::{Encoded, Filter, FilterId, Scratch};
pub use gather::{Axis, Gather, Target};
