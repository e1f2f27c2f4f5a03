//! One program writes a file while others read it (SWMR: single writer, multiple readers; decision 0021).

pub(crate) mod reader;
mod writer;
