//! The interpreter itself: what any part of the package needs of Python, and knows nothing of files. Errors
//! of the engine as exceptions, the GIL, signals and the interrupts of long work, reports for `logging`,
//! names and paths, and calls of functions that are written in Python.

pub(crate) mod calls;
pub(crate) mod error;
pub(crate) mod gil;
pub(crate) mod hash;
pub(crate) mod name;
pub(crate) mod progress;
pub(crate) mod reports;
pub(crate) mod settings;
pub(crate) mod signals;
pub(crate) mod threads;
