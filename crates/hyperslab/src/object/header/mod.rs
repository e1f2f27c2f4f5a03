//! Object headers: read, changed, and of which version.

pub(in crate::object) mod edit;
pub(in crate::object) mod read;
pub(in crate::object) mod versions;
