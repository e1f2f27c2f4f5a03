//! Fuzz targets: plain functions of bytes that panic if a law is broken.
//!
//! `fuzz/` runs them with libFuzzer. `tests/fuzz.rs` runs them on damaged golden files with any compiler.

mod change;
mod decode;
mod filters;
mod index;
mod input;
pub mod mutate;
mod open;
pub mod seeds;
mod segy;
mod select;
mod tables;

pub use change::change;
pub use decode::decode;
pub use filters::filters;
pub use index::index;
pub use input::Random;
pub use open::open;
pub use segy::segy;
pub use select::select;
pub use tables::tables;

/// A fuzz target.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// The name of the target, and of its program in `fuzz/`.
    pub name: &'static str,
    /// Runs the target on an input.
    pub run: fn(&[u8]),
    /// Returns the inputs to start from.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// Decodes and encodes structures of the file format.
pub const DECODE: Target = Target { name: "decode", run: decode, seeds: seeds::decode };
/// Opens and reads whole files.
pub const OPEN: Target = Target { name: "open", run: open, seeds: seeds::open };
/// Changes whole files.
pub const CHANGE: Target = Target { name: "change", run: change, seeds: seeds::open };
/// Runs filters and their pipelines.
pub const FILTERS: Target = Target { name: "filters", run: filters, seeds: seeds::filters };
/// Evaluates selections.
pub const SELECT: Target = Target { name: "select", run: select, seeds: seeds::select };

/// Reads SEG-Y files.
pub const SEGY: Target = Target { name: "segy", run: segy, seeds: seeds::segy };

/// Searches indexes of tables.
pub const INDEX: Target = Target { name: "index", run: index, seeds: index::seeds };

/// Queries tables.
pub const TABLES: Target = Target { name: "tables", run: tables, seeds: tables::seeds };

/// Every target.
pub const TARGETS: [Target; 8] = [DECODE, OPEN, CHANGE, FILTERS, SELECT, SEGY, INDEX, TABLES];
