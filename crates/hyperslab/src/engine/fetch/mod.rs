//! Which bytes of the file are read, and how they get here.

pub(in crate::engine) mod ahead;
pub(in crate::engine) mod batch;
pub(in crate::engine) mod ranges;
