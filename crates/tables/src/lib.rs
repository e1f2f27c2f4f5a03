//! Tables in PyTables' layout, and computations on datasets.

#![forbid(unsafe_code)]

mod array;
mod class;
mod error;
pub mod index;
mod node;
mod query;
mod table;

pub use array::{Calculation, Operand};
pub use class::Class;
pub use error::{Error, Result};
pub use node::mark_file;
pub use query::{Query, Variable, gather, native};
pub use table::{Column, Table, row_datatype};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
