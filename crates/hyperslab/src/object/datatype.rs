//! Committed datatypes: datatypes that are objects, with a name and attributes.

use std::sync::Arc;

use hyperslab_error::Result;
use hyperslab_format::datatype::Datatype;

use super::Object;
use super::header::read::Header;

/// A committed datatype.
#[derive(Clone)]
pub struct NamedDatatype {
    pub(super) object: Object,
    datatype: Arc<Datatype>,
}

impl NamedDatatype {
    pub(super) fn new(object: Object, header: &Header) -> Result<Self> {
        let Some(datatype) = header.find::<Datatype>(object.store())? else {
            return Err(header.lacks("a datatype message"));
        };
        Ok(Self { object, datatype: Arc::new(datatype) })
    }

    /// Returns the datatype.
    pub fn datatype(&self) -> &Datatype {
        &self.datatype
    }
}
