//! Rows of tables as Arrow record batches, and record batches as rows.

#![forbid(unsafe_code)]

mod columns;
mod error;
mod export;
mod import;
mod scan;
mod values;

pub use columns::Forms;
pub use error::{Error, Result};
pub use import::{Described, Rows, described};
pub use scan::{Batches, Options, Scan};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ArrowReadme;
