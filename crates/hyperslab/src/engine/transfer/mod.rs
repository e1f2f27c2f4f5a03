//! Moves chunks from one place to another without passing their elements to the caller.

pub(in crate::engine) mod extents;
pub(in crate::engine) mod recode;
