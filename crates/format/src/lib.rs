//! The structures of the HDF5 file format 4.0: bytes to values and back, without I/O.
//!
//! One small file per structure, named as in the specification, with `decode` and `encode` side by side.
//!
//! | specification | module |
//! | --- | --- |
//! | II.A superblock, II.B driver information | [`superblock`] |
//! | III.A.1 version 1 B-trees | [`btree1`] |
//! | III.A.2 version 2 B-trees | [`btree2`] |
//! | III.B, III.C symbol tables | [`group`] |
//! | III.D local, III.E global, III.G fractal heaps | [`heap`] |
//! | III.H free-space managers | [`free_space`] |
//! | III.I shared message tables | [`shared_messages`] |
//! | IV.A.1 object headers | [`header`] |
//! | IV.A.2 messages | [`message`], [`layout`] (i), [`datatype`] (d) |
//! | - metadata cache images | [`cache_image`] |
//! | VII.C Fixed Arrays, VII.D Extensible Arrays | [`array`](mod@array) |
//! | VIII.A dataspace selections | [`selection`] |
//!
//! `docs/known-gaps.md` lists the missing parts of the format.

#![forbid(unsafe_code)]

pub mod addr;
pub mod array;
pub mod btree1;
pub mod btree2;
pub mod bytes;
pub mod cache_image;
pub mod datatype;
pub mod error;
pub mod free_space;
#[cfg(test)]
mod golden;
pub mod group;
pub mod header;
pub mod heap;
pub mod layout;
pub mod message;
pub mod name;
pub mod selection;
pub mod shared_messages;
pub mod structure;
pub mod superblock;

pub use addr::{Addr, Extent};
pub use bytes::{Reader, Width, Widths, Writer};
pub use error::{ErrorKind, FormatError, Result};
pub use structure::Structure;
