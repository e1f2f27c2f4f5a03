//! Free-space manager (spec III.H): records the free space in a fractal heap or in the file.
//!
//! A header names one list of sections. Each client has its own types of sections; those of fractal heaps are
//! in [`sections`].

pub mod header;
pub mod sections;
