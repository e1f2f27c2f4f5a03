//! Plug-ins on Linux with glibc.

mod call;
mod filter;
mod h5;
mod image;
mod library;
mod memory;

use std::path::Path;
use std::sync::Arc;

pub(crate) use filter::Plugin;

use crate::error::PluginError;

/// Opens a library and returns its filter, or `None` if it is a plug-in of another kind.
pub(crate) fn open(path: &Path) -> Result<Option<Arc<Plugin>>, PluginError> {
    Ok(library::open(path)?.map(|class| Arc::new(Plugin::new(class))))
}
