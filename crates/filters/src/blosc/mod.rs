//! Blosc 1 and 2, written here: the hot path of most compressed HDF5 files.

/// The Blosc 1 or Blosc 2 filter of one dataset.
#[derive(Debug)]
pub struct Blosc;
