//! Of the chunks of a file, those that are changed.

#[path = "../../../hyperslab/src/engine/chunks/dirty.rs"]
pub(super) mod dirty;
