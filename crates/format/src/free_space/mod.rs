//! Free-space manager (spec III.H): what is free within a fractal heap, or within the file.
//!
//! A header names one list of sections. Clients have types of sections of their own; those of fractal heaps are in
//! [`sections`].

pub mod header;
pub mod sections;
