//! Shared messages (spec IV.A.2, "Shared Message"): a message, or where it is stored.

use crate::addr::Addr;

/// A message's value, or where to find it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MaybeShared<T> {
    /// The value itself.
    Here(T),
    /// Stored elsewhere.
    Shared(SharedLocation),
}

/// Where a shared message is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharedLocation {
    /// In the object header at this address: a committed datatype.
    Header(Addr),
    /// In the file's shared message heap, under this id.
    Heap([u8; 8]),
}
