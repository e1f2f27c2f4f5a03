//! Shared support for the tests of hyperslab: golden files and the formulas of their values, strategies for
//! proptest, fuzz targets, and minimal files. Drivers call a function before each operation, record the
//! states that a crash can leave, delay writes, or simulate a slow medium. The crate also has an allocator
//! that reports allocations, a check of written files, the contract of drivers, a web server, and a function
//! that prints the amount of testing done.

pub mod allocator;
pub mod build;
pub mod contract;
pub mod counts;
pub mod crash;
pub mod crash_members;
pub mod deep;
pub mod fuzz;
pub mod golden;
pub mod hooked;
pub mod late;
pub mod pattern;
pub mod processes;
pub mod segy;
pub mod server;
pub mod sound;
pub mod strategy;

/// The programs of the guides, which run as documentation tests.
#[cfg(doctest)]
mod guides {
    #[doc = include_str!("../../../docs/guide/rust.md")]
    struct Rust;
}
