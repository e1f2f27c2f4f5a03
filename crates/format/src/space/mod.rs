//! Free-space managers (spec III.H): which parts of the file, or of a fractal heap, are free.

pub mod manager;
pub mod sections;

pub use manager::{Client, FreeSpaceManager};
pub use sections::{FreeSection, FreeSections, SectionKind};
