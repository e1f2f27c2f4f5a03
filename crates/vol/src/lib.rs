//! A plug-in for libhdf5 (a VOL connector): programs that use libhdf5 read and write with the engine of
//! hyperslab, without a change.
//!
//! libhdf5 loads the plug-in that `HDF5_VOL_CONNECTOR` names from the folder `HDF5_PLUGIN_PATH`, and
//! calls it for everything that concerns a file. The plug-in passes the calls on to the connector that is
//! in libhdf5, except for reads and writes of datasets, which it does itself where the result is the
//! same: `rules` says where. docs/guide/vol.md is the guide for users, decision 0037 gives the reasons.
//!
//! The plug-in is linked with no libhdf5. It uses the functions of the one that loads it
//! (`ffi::library`), and of several in one process each has a table of callbacks of its own
//! (`class`).
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

mod boxes;
mod callbacks;
mod codec;
mod dataset;
mod ffi;
mod file;
mod memory;
mod pending;
mod read;
mod report;
mod rules;
mod space;
mod transfer;
mod write;
