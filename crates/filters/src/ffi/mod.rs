//! The codecs from C libraries.

pub(crate) mod lz4;
