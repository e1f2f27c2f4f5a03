//! Errors of plug-ins.

use std::path::{Path, PathBuf};

/// A plug-in cannot be loaded, or its filter has failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PluginError {
    /// A library cannot be loaded.
    #[error("{path}: {why}")]
    Load {
        /// The library.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// Plug-ins are switched off.
    #[error(
        "plug-ins are switched off (HDF5_PLUGIN_PRELOAD is \"::\", or the program has switched them off)"
    )]
    Off,
    /// The filter returned an error.
    #[error("the plug-in {name} failed to {what}{said}")]
    Failed {
        /// The name of the filter.
        name: String,
        /// What it did.
        what: &'static str,
        /// What it said, after a colon.
        said: String,
    },
    /// The filter wrote beyond the end of its memory.
    #[error("the plug-in {name} wrote beyond the end of its memory when it was to {what}")]
    Overrun {
        /// The name of the filter.
        name: String,
        /// What it did.
        what: &'static str,
    },
    /// The filter returned a length that its memory does not have.
    #[error("the plug-in {name} returned {found} bytes, but its memory has {room}")]
    Length {
        /// The name of the filter.
        name: String,
        /// The length that it returned.
        found: usize,
        /// The bytes of its memory.
        room: usize,
    },
    /// The filter only decodes, or only encodes.
    #[error("the plug-in {name} does not {what}")]
    Lacks {
        /// The name of the filter.
        name: String,
        /// What it cannot do.
        what: &'static str,
    },
    /// The filter is not for such a dataset.
    #[error("the plug-in {name} is not for this datatype and chunk shape{said}")]
    Unfit {
        /// The name of the filter.
        name: String,
        /// What it said, after a colon.
        said: String,
    },
}

impl PluginError {
    pub(crate) fn load(path: &Path, why: impl Into<String>) -> Self {
        Self::Load { path: path.to_owned(), why: why.into() }
    }
}
