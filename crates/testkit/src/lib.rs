//! What the tests of hyperslab share: golden files and the formulas behind their values, and strategies for proptest.

pub mod golden;
pub mod pattern;
pub mod strategy;
