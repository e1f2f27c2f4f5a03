//! PyTables' classes of datasets.

use hyperslab::Dataset;

use crate::error::Result;
use crate::node::class_of;

/// The class that PyTables gives to a dataset, by its attribute `CLASS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// An array of a fixed shape.
    Array,
    /// An array of a fixed shape, in chunks.
    CArray,
    /// An array with one axis that can be extended.
    EArray,
    /// Rows of variable length.
    VLArray,
    /// Rows of named columns.
    Table,
}

impl Class {
    /// Returns the class of a dataset, or `None` if it has no class that PyTables knows.
    pub fn of(dataset: &Dataset) -> Result<Option<Self>> {
        Ok(match class_of(dataset)?.as_deref() {
            Some(b"ARRAY") => Some(Self::Array),
            Some(b"CARRAY") => Some(Self::CArray),
            Some(b"EARRAY") => Some(Self::EArray),
            Some(b"VLARRAY") => Some(Self::VLArray),
            Some(b"TABLE") => Some(Self::Table),
            _ => None,
        })
    }
}
