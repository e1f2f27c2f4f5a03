//! What the tests of hyperslab share: golden files and the formulas behind their values, strategies for proptest,
//! fuzz targets, minimal files, drivers that remember what a crash could leave, that are slow and that are far, an allocator that is
//! watched, the check of files that were written, and counts of what was tried.

pub mod allocator;
pub mod build;
pub mod counts;
pub mod crash;
pub mod deep;
pub mod fuzz;
pub mod golden;
pub mod late;
pub mod pattern;
pub mod segy;
pub mod sound;
pub mod strategy;
