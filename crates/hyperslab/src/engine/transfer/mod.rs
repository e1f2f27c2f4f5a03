//! Chunks that are moved from one place to another without anybody seeing their elements.

pub(in crate::engine) mod extents;
pub(in crate::engine) mod recode;
