//! Extensible Array (spec VII.D): the chunks, by number, of a dataset that grows along one dimension.

pub mod block;
pub mod geometry;
pub mod header;
pub mod index_block;

pub use block::{DataBlock, DataBlockContext, SecondaryBlock};
pub use geometry::{Geometry, Slot};
pub use header::ExtensibleArrayHeader;
pub use index_block::IndexBlock;
