//! What the tests of hyperslab share: golden files and the formulas behind their values, strategies for proptest,
//! fuzz targets, and minimal files.

pub mod build;
pub mod fuzz;
pub mod golden;
pub mod pattern;
pub mod strategy;
