//! Chunk arrays (spec VII.C and VII.D).

pub mod element;
pub mod extensible;
pub mod fixed;
