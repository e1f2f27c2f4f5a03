//! hyperslab for C: the functions of `include/hyperslab.h`, which C++ and every language that calls C can
//! use, too. The [guide](https://docs.rs/hyperslab-capi) shows programs in C and C++.
//!
//! As a Rust library, this crate lets another shared library export the same functions
//! (`hyperslab_c::api`); programs in Rust use the crate `hyperslab`.
//!
//! How a call goes: a function of [`api`] takes its arguments from the caller through `pointers`, which
//! checks them, and finds files and datasets by their handles (`handle`). `failure::guard` runs it: a failure
//! becomes a code and a message of the thread, and so does a panic.

#![allow(non_camel_case_types, reason = "the types have their names of C")]

pub mod api;
mod arrays;
pub mod codes;
mod failure;
mod handle;
mod items;
mod pointers;
pub mod structs;
mod transfer;
mod types;
