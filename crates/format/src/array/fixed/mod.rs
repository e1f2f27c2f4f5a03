//! Fixed Array (spec VII.C).

pub mod block;
pub mod header;
