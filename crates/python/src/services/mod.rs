//! Work on whole files beside their objects: checking a file, SEG-Y surveys, references for Zarr's readers,
//! and the command `hyperslab`.

pub(crate) mod check;
pub(crate) mod command;
pub(crate) mod references;
pub(crate) mod segy;
