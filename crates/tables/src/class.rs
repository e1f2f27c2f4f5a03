//! PyTables' classes of datasets.

use hyperslab::Dataset;
use hyperslab_format::datatype::Datatype;

use crate::error::Result;

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
        if !dataset.has_attribute("CLASS")? {
            return Ok(None);
        }
        let class = dataset.attribute("CLASS")?;
        if !matches!(class.datatype, Datatype::Text(_)) {
            return Ok(None);
        }
        Ok(match class.data.strip_suffix(b"\0").unwrap_or(&class.data) {
            b"ARRAY" => Some(Self::Array),
            b"CARRAY" => Some(Self::CArray),
            b"EARRAY" => Some(Self::EArray),
            b"VLARRAY" => Some(Self::VLArray),
            b"TABLE" => Some(Self::Table),
            _ => None,
        })
    }
}
