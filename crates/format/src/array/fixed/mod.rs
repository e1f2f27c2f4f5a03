//! Fixed Array (spec VII.C): the chunks, by number, of a dataset that cannot grow.

pub mod block;
pub mod header;

pub use block::{FixedArrayBlock, FixedArrayContent};
pub use header::{FixedArrayHeader, FixedArraySlot};
