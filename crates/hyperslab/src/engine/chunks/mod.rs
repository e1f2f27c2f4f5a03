//! Decoded chunks in memory: those cached for reads, and those with changes to be written.

pub(in crate::engine) mod cache;
pub(in crate::engine) mod dirty;
pub(in crate::engine) mod stored;
