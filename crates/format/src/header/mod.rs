//! Object headers (spec IV.A.1).

pub mod v1;
pub mod v2;
