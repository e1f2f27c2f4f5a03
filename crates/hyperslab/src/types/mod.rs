//! Datatypes in memory: conversions between datatypes, and the Rust types that elements are read as.

mod compound;
mod convert;
mod element;
mod kernels;
mod number;
mod real;
mod refusal;
mod text;

pub use convert::Conversion;
pub use element::Element;
