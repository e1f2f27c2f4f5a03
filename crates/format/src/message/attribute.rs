//! Attribute message, type 12 (spec IV.A.2.m), versions 1 to 3.

use crate::datatype::{Charset, Datatype};
use crate::message::dataspace::Dataspace;
use crate::message::shared::MaybeShared;

/// An attribute.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute {
    /// The version of the message: 1, 2 or 3.
    pub version: u8,
    /// Its name.
    pub name: String,
    /// The character set of the name.
    pub charset: Charset,
    /// The datatype of its elements, or where it is committed.
    pub datatype: MaybeShared<Datatype>,
    /// Its shape.
    pub dataspace: MaybeShared<Dataspace>,
    /// Its elements, as stored.
    pub data: Vec<u8>,
}
