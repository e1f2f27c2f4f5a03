//! Tables in PyTables' layout, and computations on datasets.

#![forbid(unsafe_code)]

mod error;
pub mod index;

pub use error::{Error, Result};
