//! Tables in PyTables' layout, and computations on datasets.

#![forbid(unsafe_code)]

mod error;
pub mod index;
mod table;

pub use error::{Error, Result};
pub use table::{Column, Table, row_datatype};
