//! Filters that are added to the process while it runs: every registry with the default filters finds them,
//! after its own. They are shared libraries, which a process has once for all files (decision 0041).

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use crate::error::Result;
use crate::facts::ChunkFacts;
use crate::filter::{Filter, FilterId};
use crate::registry::Parameters;

/// A filter that was added.
pub trait Added: fmt::Debug + Send + Sync {
    /// Returns the name that files store with the filter.
    fn name(&self) -> &str;

    /// Returns whether the filter can encode.
    fn encodes(&self) -> bool;

    /// Returns whether the filter can decode.
    fn decodes(&self) -> bool;

    /// Creates the filter for a dataset with these parameters.
    fn filter(&self, parameters: &Parameters<'_>) -> Result<Arc<dyn Filter>>;

    /// Returns the client data to store for chunks of a new dataset, made from the parameters that the user
    /// has given. A filter that is not for such chunks is an error, unless chunks may be stored without it.
    fn client_data(&self, given: &[u32], is_optional: bool, chunk: &ChunkFacts<'_>) -> Result<Vec<u32>>;
}

/// A place where filters are looked for.
pub trait Source: fmt::Debug + Send + Sync {
    /// Returns the filter of this number.
    fn find(&self, id: FilterId) -> Option<Arc<dyn Added>>;
}

static SOURCES: RwLock<Vec<Arc<dyn Source>>> = RwLock::new(Vec::new());

/// Adds a source. Earlier sources come first.
pub fn add_source(source: Arc<dyn Source>) {
    SOURCES.write().unwrap_or_else(PoisonError::into_inner).push(source);
}

/// Returns the added filter of this number.
pub fn find(id: FilterId) -> Option<Arc<dyn Added>> {
    // No lock is held while a source loads a library.
    let sources = SOURCES.read().unwrap_or_else(PoisonError::into_inner).clone();
    sources.iter().find_map(|source| source.find(id))
}
