//! Datatypes in memory: conversions between datatypes, and Rust's scalar types.

mod compound;
mod convert;
mod kernels;
mod number;
mod real;
mod refusal;
mod scalar;
mod text;
mod time;

pub use convert::Conversion;
pub use scalar::Scalar;
pub use text::text_of;
pub use time::seconds;
