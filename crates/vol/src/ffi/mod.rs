//! What the plug-in and libhdf5 know of each other: types, functions, and who calls.

pub(crate) mod caller;
mod identifiers;
pub(crate) mod library;
pub(crate) mod types;
