//! Heaps: names of old groups, variable-length data, and the objects of new groups and dense attributes.

mod filtered;
mod fractal;
mod global;
mod local;

pub use fractal::FractalHeap;
pub use global::{GlobalHeap, GlobalHeapEdit, HeapRoom};
pub use local::LocalHeap;
