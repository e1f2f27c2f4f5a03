//! Fixed Array (spec VII.C): the chunks of a dataset that cannot grow, by number.

pub mod block;
pub mod header;

pub use block::{FixedArrayBlock, FixedArrayContent};
pub use header::{FixedArrayHeader, FixedArraySlot};
