//! Version 2 B-trees (spec III.A.2).

pub mod dense;
pub mod geometry;
pub mod header;
pub mod node;
pub mod record;
