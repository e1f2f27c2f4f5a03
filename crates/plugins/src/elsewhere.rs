//! Systems on which no plug-ins are loaded.

use std::path::Path;
use std::sync::Arc;

use hyperslab_filters::added::Added;

use crate::error::PluginError;

/// A filter of a library; there is none.
#[derive(Debug)]
pub(crate) enum Plugin {}

pub(crate) fn open(path: &Path) -> Result<Option<Arc<Plugin>>, PluginError> {
    Err(PluginError::load(path, "plug-ins are loaded on Linux with glibc only"))
}

impl Plugin {
    pub(crate) fn id(&self) -> u16 {
        match *self {}
    }

    pub(crate) fn name(&self) -> &str {
        match *self {}
    }

    pub(crate) fn added(this: &Arc<Self>) -> Arc<dyn Added> {
        match **this {}
    }
}
