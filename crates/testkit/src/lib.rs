//! What the tests of hyperslab share: golden files and the formulas behind their values, strategies for proptest,
//! fuzz targets, minimal files, a driver that remembers what a crash could leave and one that is slow, an allocator that is
//! watched, the check of files that were written, and counts of what was tried.

pub mod allocator;
pub mod build;
pub mod counts;
pub mod crash;
pub mod fuzz;
pub mod golden;
pub mod late;
pub mod pattern;
pub mod segy;
pub mod sound;
pub mod strategy;
