//! Decoded chunks in memory: those kept for further reads, and those that wait to be written.

pub(in crate::engine) mod cache;
pub(in crate::engine) mod dirty;
pub(in crate::engine) mod stored;
