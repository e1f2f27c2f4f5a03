//! Which bytes of the file are read, and how they get here.

pub(in crate::engine) mod ranges;
pub(in crate::engine) mod window;
