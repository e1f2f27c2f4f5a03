//! Reads any part of an HDF5 file in parallel, straight into the caller's array.

pub mod error;
pub mod select;
