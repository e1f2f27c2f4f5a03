//! What the tests of hyperslab share: golden files and the formulas behind their values, strategies for proptest, and
//! fuzz targets.

pub mod fuzz;
pub mod golden;
pub mod pattern;
pub mod strategy;
