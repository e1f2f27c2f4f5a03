//! What the tests of hyperslab share: golden files and the formulas behind their values, strategies for proptest,
//! fuzz targets, minimal files, and an allocator that is watched.

pub mod allocator;
pub mod build;
pub mod fuzz;
pub mod golden;
pub mod pattern;
pub mod strategy;
