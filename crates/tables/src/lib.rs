//! Tables in PyTables' layout, and computations on datasets.

#![forbid(unsafe_code)]

mod class;
mod error;
pub mod index;
mod query;
mod table;

pub use class::Class;
pub use error::{Error, Result};
pub use query::{Query, Variable};
pub use table::{Column, Table, row_datatype};
