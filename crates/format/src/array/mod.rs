//! Arrays of chunk addresses: Fixed (spec VII.C), Extensible (spec VII.D), and their elements and pages.

pub mod element;
pub mod extensible;
pub mod fixed;
pub mod page;

pub use element::{ChunkElement, Client, ElementFormat, Elements};
pub use page::{Page, PageContext};
