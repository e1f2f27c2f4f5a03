//! Old-style groups (spec III.B and III.C).

pub mod symbol;
