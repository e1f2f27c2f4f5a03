//! The names of datatypes, and what the bytes of an element hold: one answer for everything that shows them.
//!
//! [`ElementBytes::decoded`] interprets one level of an element. What it finds is a number, a string or a
//! name, or further elements. Data of variable length and the targets of references are in the file: the
//! caller reads them.

mod element;
mod float;
mod names;
mod numpy;
mod text;
mod time;

pub use element::{Decoded, ElementBytes, OutsideElement, elements, integer_in};
pub use float::FloatValue;
pub use names::{member, name};
pub use numpy::{float_size, type_string};
pub use text::{hex, one_line, tuple, until_zero};
pub use time::{TimeTag, TimeValue};
