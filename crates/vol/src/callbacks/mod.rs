//! The functions that libhdf5 calls. All that concerns elements is decided elsewhere.

pub(crate) mod calls;
pub(crate) mod class;
mod files;
pub(crate) mod object;
mod pass;
