//! Compiled filter plug-ins of HDF5: shared libraries that export `H5PLget_plugin_info` with a filter
//! (`H5Z_class2_t`), which every program with libhdf5 loads from the folders in `HDF5_PLUGIN_PATH`.
//!
//! Nothing is loaded unless the program asks for it with [`search`] or [`load`]: a plug-in is code that runs
//! in the process. hyperslab's own filters come first. A plug-in that fails, writes beyond its memory by a
//! few bytes or returns a wrong length is an error; one that crashes takes the process along. See decision
//! 0041.

mod error;
mod places;

#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64", target_endian = "little"))]
#[path = "native/mod.rs"]
mod system;
#[cfg(not(all(
    target_os = "linux",
    target_env = "gnu",
    target_pointer_width = "64",
    target_endian = "little"
)))]
#[path = "elsewhere.rs"]
mod system;

pub use error::PluginError;
pub use places::{
    Loaded, are_off, load, search, search_environment, search_first, search_no_more, switch_off,
};
