//! The codecs that are C libraries.

pub(crate) mod lz4;
