//! Pictures: PNG or SVG, by the ending of the file's name. Fonts are in the program; nothing of the system is needed.

mod canvas;
mod colour;
mod letters;
pub(crate) mod lines;
mod plane;

pub use canvas::Size;
pub(crate) use canvas::{check, save};
pub use plane::{Axis, Plane, plane};
