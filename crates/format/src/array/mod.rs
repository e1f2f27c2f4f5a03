//! Arrays of chunk addresses: Fixed (spec VII.C) and Extensible (spec VII.D), and the elements of both.

pub mod element;
pub mod extensible;
pub mod fixed;
pub mod page;

pub use element::{ChunkElement, Client, ElementFormat, Elements};
pub use page::{Page, PageContext};
