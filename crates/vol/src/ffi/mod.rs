//! What the plug-in and libhdf5 know of each other: types, functions, and who calls. What libhdf5 is asked is
//! asked here, by functions that are safe to call.

pub(crate) mod caller;
pub(crate) mod datatypes;
mod functions;
mod identifiers;
pub(crate) mod library;
pub(crate) mod lists;
pub(crate) mod native;
mod printer;
pub(crate) mod spaces;
pub(crate) mod types;

/// Calls a function when the process ends.
pub(crate) fn at_exit(function: extern "C" fn()) {
    // SAFETY: the plug-in stays in memory until the process ends.
    unsafe { libc::atexit(function) };
}
