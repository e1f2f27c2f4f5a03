//! Fractal heap (spec III.G).

pub mod block;
pub mod geometry;
pub mod header;
pub mod id;
