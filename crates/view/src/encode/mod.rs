//! Files that H5Web's users save: NPY, CSV and TIFF.

pub(crate) mod csv;
pub(crate) mod npy;
pub(crate) mod tiff;
