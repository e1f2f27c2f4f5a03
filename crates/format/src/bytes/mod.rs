//! Reading and writing fields: integers of given widths, addresses, lengths, signatures, versions, checksums.

pub mod lookup3;
mod reader;
mod widths;
mod writer;

pub use reader::Reader;
pub use widths::{Width, Widths, bytes_for};
pub use writer::Writer;
