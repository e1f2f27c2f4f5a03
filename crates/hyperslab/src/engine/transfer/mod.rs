//! Transfers of whole chunks between places that do not look at their elements.

pub(in crate::engine) mod extents;
pub(in crate::engine) mod recode;
