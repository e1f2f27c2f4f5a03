//! Tables in PyTables' layout: their rows, indexes and queries, expressions over their columns and over
//! arrays, and rows as Arrow.

#[cfg_attr(not(feature = "arrow"), path = "no_arrow.rs")]
pub(crate) mod arrow;
pub(crate) mod expr;
pub(crate) mod new_row;
pub(crate) mod operand;
pub(crate) mod query;
pub(crate) mod table;
pub(crate) mod table_index;
