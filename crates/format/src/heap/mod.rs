//! Heaps (spec III.D, III.E, III.G).

pub mod fractal;
pub mod global;
pub mod local;
