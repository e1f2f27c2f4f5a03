//! What a read will do, before any byte of data is read.

pub(in crate::engine) mod chunk_filter;
pub(in crate::engine) mod context;
pub(in crate::engine) mod elements;
pub(in crate::engine) mod explain;
pub(in crate::engine) mod pieces;
pub(in crate::engine) mod place;
pub(in crate::engine) mod reading;
pub(in crate::engine) mod route;
pub(in crate::engine) mod spans;
pub(in crate::engine) mod step;
