//! Shared object header messages (spec III.I): messages that several objects have in common, in heaps of the
//! file. The master table names the indexes, each for some types of messages. An index is a list of records
//! or a version 2 B-tree of type 7, and has a fractal heap of messages.

pub mod list;
pub mod table;

use crate::bytes::lookup3::lookup3_with;

/// Returns the hash of an encoded message of type `kind`, by which records of an index are ordered.
pub fn hash(kind: u16, message: &[u8]) -> u32 {
    lookup3_with(message, kind.into())
}
