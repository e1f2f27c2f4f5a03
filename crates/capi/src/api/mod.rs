//! The functions of the interface. Their pointers are those of C: null where the interface allows it, else to
//! memory as large as it says. Everything else is checked, and an error is a code and a message.

#![allow(
    clippy::missing_safety_doc,
    reason = "what callers promise is the same for all functions, and above"
)]

pub mod attributes;
pub mod chunks;
pub mod datasets;
pub mod elements;
pub mod files;
pub mod library;
pub mod memory;
pub mod objects;
