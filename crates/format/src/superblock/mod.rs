//! Superblock (spec II.A).

pub mod v0;
pub mod v2;
