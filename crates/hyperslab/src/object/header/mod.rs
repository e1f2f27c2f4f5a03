//! Object headers: reading, changing, and the versions of their structures.

pub(in crate::object) mod edit;
pub(in crate::object) mod read;
pub(in crate::object) mod versions;
