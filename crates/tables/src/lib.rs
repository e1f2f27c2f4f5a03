//! Tables in PyTables' layout, and computations on datasets.

#![forbid(unsafe_code)]

mod error;
mod query;
mod table;

pub use error::{Error, Result};
pub use query::{Query, Variable};
pub use table::{Column, Table, row_datatype};
