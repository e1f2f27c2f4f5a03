//! Tables in PyTables' layout, and computations on datasets.

#![forbid(unsafe_code)]

mod error;

pub use error::{Error, Result};
