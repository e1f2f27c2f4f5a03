//! The errors of this crate.

use arrow_schema::ArrowError;

/// An error of a conversion from or to Arrow.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A column is unknown, or its values have no counterpart.
    #[error("column {path:?}: {why}")]
    Column {
        /// The path of the column.
        path: String,
        /// What is wrong, and what to do.
        why: String,
    },
    /// A value cannot be converted without a loss.
    #[error("column {path:?}, row {row}: {why}")]
    Value {
        /// The path of the column.
        path: String,
        /// The number of the row: in the table, or in the stream that is appended.
        row: u64,
        /// What is wrong, and what to do.
        why: String,
    },
    /// Rows were removed from the table while they were read.
    #[error("{path}: rows were removed while a stream of them was read; read the table again")]
    Removed {
        /// The path of the table.
        path: String,
    },
    /// The table cannot be read or written.
    #[error(transparent)]
    Table(#[from] hyperslab_tables::Error),
    /// An array of Arrow is not valid.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
}

/// A result with the [`Error`] of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A value that cannot be converted. The caller knows the outer columns and the number of its row.
#[derive(Debug)]
pub(crate) struct BadValue {
    /// The path below the column that was converted, with a `/` before each name.
    pub(crate) below: String,
    /// The index of the value.
    pub(crate) index: usize,
    /// What is wrong, and what to do.
    pub(crate) why: String,
}

impl BadValue {
    pub(crate) fn new(index: usize, why: impl Into<String>) -> Self {
        Self { below: String::new(), index, why: why.into() }
    }

    /// Adds the name of the nested column to which the value belongs.
    pub(crate) fn in_member(mut self, name: &str) -> Self {
        self.below = format!("/{name}{}", self.below);
        self
    }

    /// Returns the error for a value of an array with `len` elements: the index becomes that of the array.
    pub(crate) fn in_list(mut self, len: usize) -> Self {
        self.index /= len.max(1);
        self
    }

    /// Returns the error with the path of the column and the number of the row.
    pub(crate) fn at(self, path: &str, row: impl FnOnce(usize) -> u64) -> Error {
        Error::Value { path: format!("{path}{}", self.below), row: row(self.index), why: self.why }
    }
}
