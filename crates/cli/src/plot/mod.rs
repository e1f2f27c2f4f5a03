//! Pictures as PNG or SVG, depending on the extension of the file. Fonts are part of the program, and no
//! system libraries are needed.

mod canvas;
mod colour;
mod letters;
pub(crate) mod lines;
mod plane;

pub use canvas::Size;
pub(crate) use canvas::{check, save};
pub use plane::{Axis, Plane, plane};
