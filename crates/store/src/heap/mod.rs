//! Heaps: names of old-style groups, variable-length data, and the objects of new-style groups and dense
//! attributes.

mod filtered;
pub mod fractal;
mod global;
pub mod local;
pub mod symbol_table;

pub use filtered::{read as read_filtered, stages};
pub use fractal::FractalHeap;
pub use global::{
    Collections, Filling, Fillings, GlobalHeap, GlobalHeapEdit, HeapRoom, Objects, fillings, missing,
};
pub use local::LocalHeap;
