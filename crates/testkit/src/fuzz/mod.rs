//! Fuzz targets as plain functions of bytes, which panic where a law is broken.
//!
//! `fuzz/` gives them to libFuzzer; `tests/fuzz.rs` runs them on damaged golden files with any compiler.

mod decode;
mod filters;
mod input;
pub mod mutate;
mod open;
pub mod seeds;
mod segy;
mod select;

pub use decode::decode;
pub use filters::filters;
pub use input::Random;
pub use open::open;
pub use segy::segy;
pub use select::select;

/// One target.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name, also of its program in `fuzz/`.
    pub name: &'static str,
    /// What it does with an input.
    pub run: fn(&[u8]),
    /// Inputs to start from.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// Structures of the file format.
pub const DECODE: Target = Target { name: "decode", run: decode, seeds: seeds::decode };
/// Whole files.
pub const OPEN: Target = Target { name: "open", run: open, seeds: seeds::open };
/// Filters and their pipelines.
pub const FILTERS: Target = Target { name: "filters", run: filters, seeds: seeds::filters };
/// Selections.
pub const SELECT: Target = Target { name: "select", run: select, seeds: seeds::select };

/// SEG-Y files.
pub const SEGY: Target = Target { name: "segy", run: segy, seeds: seeds::segy };

/// Every target.
pub const TARGETS: [Target; 5] = [DECODE, OPEN, FILTERS, SELECT, SEGY];
