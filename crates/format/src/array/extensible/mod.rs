//! Extensible Array (spec VII.D).

pub mod data_block;
pub mod geometry;
pub mod header;
pub mod index_block;
pub mod secondary;
