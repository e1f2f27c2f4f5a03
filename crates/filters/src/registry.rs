//! The registry of available filters, and the names of registered filter numbers.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use crate::added;
use crate::blosc::Blosc;
use crate::codec::External;
use crate::error::{FilterError, Result};
use crate::filter::{Filter, FilterId};
use crate::{Bitshuffle, Fletcher32, Lz4, Lzf, NBit, ScaleOffset, Shuffle, Snappy, Stream, Szip, Zfp};

/// The input of a filter's constructor: client data and facts of the dataset.
#[derive(Debug, Clone, Copy)]
pub struct Parameters<'a> {
    /// The client data: the numbers stored with the filter.
    pub client_data: &'a [u32],
    /// The bytes of one element of the dataset.
    pub element_size: usize,
    /// The bytes of one whole chunk before any filter.
    pub chunk_bytes: usize,
}

/// Checks the parameters and creates the filter.
///
/// ```
/// use std::sync::Arc;
///
/// use hyperslab_filters::error::Result;
/// use hyperslab_filters::{Encoded, Filter, FilterId, Registry, Scratch};
///
/// /// Stores the complement of each byte.
/// #[derive(Debug)]
/// struct Complement;
///
/// impl Filter for Complement {
///     fn id(&self) -> FilterId {
///         FilterId(400)
///     }
///
///     fn decode_into(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> Result<usize> {
///         dst.iter_mut().zip(src).for_each(|(to, from)| *to = !from);
///         Ok(src.len())
///     }
///
///     fn encode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<Encoded> {
///         self.decode_into(src, dst, scratch).map(Encoded::Stored)
///     }
/// }
///
/// let mut registry = Registry::default();
/// registry.register(FilterId(400), |_| Ok(Arc::new(Complement)));
/// assert!(registry.contains(FilterId(400)));
/// ```
pub type Constructor = Arc<dyn Fn(&Parameters<'_>) -> Result<Arc<dyn Filter>> + Send + Sync>;

/// A set of available filters. The default registry holds the filters of this crate whose codecs are built,
/// and finds those that are [added] to the process. A registry is a value that callers pass to the code that
/// needs it.
#[derive(Clone)]
pub struct Registry {
    constructors: BTreeMap<FilterId, Constructor>,
    others: Option<Others>,
}

/// Creates a filter whose number the registry does not have, or returns `None` if there is no such filter.
type Others = Arc<dyn Fn(FilterId, &Parameters<'_>) -> Option<Result<Arc<dyn Filter>>> + Send + Sync>;

impl Registry {
    /// Returns the default registry, which all callers share.
    pub fn shared() -> Arc<Self> {
        static SHARED: LazyLock<Arc<Registry>> = LazyLock::new(Arc::default);
        Arc::clone(&SHARED)
    }

    /// Returns a registry without filters.
    pub const fn empty() -> Self {
        Self { constructors: BTreeMap::new(), others: None }
    }

    /// Adds a filter, or replaces the filter with that number.
    pub fn register<F>(&mut self, id: FilterId, constructor: F)
    where
        F: Fn(&Parameters<'_>) -> Result<Arc<dyn Filter>> + Send + Sync + 'static,
    {
        self.constructors.insert(id, Arc::new(constructor));
    }

    /// Sets the function that creates the filters of all other numbers. Filters that are registered while
    /// files are open are found by it.
    pub fn register_others<F>(&mut self, constructor: F)
    where
        F: Fn(FilterId, &Parameters<'_>) -> Arc<dyn Filter> + Send + Sync + 'static,
    {
        self.others = Some(Arc::new(move |id, parameters| Some(Ok(constructor(id, parameters)))));
    }

    /// Returns whether the registry has a filter with that number.
    pub fn contains(&self, id: FilterId) -> bool {
        self.constructors.contains_key(&id)
    }

    /// Returns the numbers of the available filters in ascending order.
    pub fn ids(&self) -> impl Iterator<Item = FilterId> {
        self.constructors.keys().copied()
    }

    /// Creates a filter. `stored_name` is the name in the file, which an error gives for a filter that is not
    /// in the list of registered filters.
    pub fn filter(
        &self,
        id: FilterId,
        stored_name: Option<&str>,
        parameters: &Parameters<'_>,
    ) -> Result<Arc<dyn Filter>> {
        if let Some(constructor) = self.constructors.get(&id) {
            return constructor(parameters);
        }
        self.others.as_ref().and_then(|others| others(id, parameters)).unwrap_or_else(|| {
            if let Some(codec) = External::of(id) {
                codec.check(registered_name(id).unwrap_or_default())?;
            }
            let name = registered_name(id).or(stored_name).unwrap_or("not registered").to_owned();
            Err(FilterError::Unknown { id: id.0, name })
        })
    }
}

impl Default for Registry {
    fn default() -> Self {
        let mut registry = Self::empty();
        registry.others = Some(Arc::new(|id, parameters| Some(added::find(id)?.filter(parameters))));
        registry.register(FilterId::DEFLATE, |p| Ok(Arc::new(Stream::deflate(p.client_data))));
        registry.register(FilterId::SHUFFLE, |p| Ok(Arc::new(Shuffle::new(p.client_data, p.element_size)?)));
        registry.register(FilterId::FLETCHER32, |_| Ok(Arc::new(Fletcher32)));
        registry.register(FilterId::SZIP, |p| Ok(Arc::new(Szip::new(p.client_data, p.element_size)?)));
        registry.register(FilterId::NBIT, |p| Ok(Arc::new(NBit::new(p.client_data)?)));
        registry.register(FilterId::SCALE_OFFSET, |p| Ok(Arc::new(ScaleOffset::new(p.client_data)?)));
        registry.register(FilterId::BZIP2, |p| Ok(Arc::new(Stream::bzip2(p.client_data))));
        registry.register(FilterId::LZF, |_| Ok(Arc::new(Lzf)));
        registry.register(FilterId::SNAPPY, |_| Ok(Arc::new(Snappy)));
        registry.register(FilterId::ZFP, |p| Ok(Arc::new(Zfp::new(p.client_data)?)));
        registry.register(FilterId::LZ4, |p| Ok(Arc::new(Lz4::new(p.client_data))));
        registry.register(FilterId::BITSHUFFLE, |p| {
            Ok(Arc::new(Bitshuffle::new(p.client_data, p.element_size)?))
        });
        registry.register(FilterId::ZSTD, |p| Ok(Arc::new(Stream::zstd(p.client_data))));
        for id in [FilterId::BLOSC, FilterId::BLOSC2] {
            registry.register(id, move |p| {
                Ok(Arc::new(Blosc::new(id, p.client_data, p.element_size, p.chunk_bytes)?))
            });
        }
        // Filters that are added to the process may stand in for those that are not built.
        registry.constructors.retain(|&id, _| External::of(id).is_none_or(External::is_built));
        registry
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.constructors.keys()).finish()
    }
}

/// Returns the name of a filter number in the HDF Group's list of registered filters.
pub fn registered_name(id: FilterId) -> Option<&'static str> {
    let at = NAMES.binary_search_by_key(&id.0, |(id, _)| *id).ok()?;
    Some(NAMES[at].1)
}

/// The registered filters, sorted by number.
const NAMES: [(u16, &str); 42] = [
    (1, "deflate"),
    (2, "shuffle"),
    (3, "fletcher32"),
    (4, "szip"),
    (5, "nbit"),
    (6, "scaleoffset"),
    (305, "lzo"),
    (307, "bzip2"),
    (32000, "lzf"),
    (32001, "blosc"),
    (32002, "mafisc"),
    (32003, "snappy"),
    (32004, "lz4"),
    (32005, "apax"),
    (32006, "cbf"),
    (32007, "jpeg-xr"),
    (32008, "bitshuffle"),
    (32009, "spdp"),
    (32010, "lpc-rice"),
    (32011, "ccsds-123"),
    (32012, "jpeg-ls"),
    (32013, "zfp"),
    (32014, "fpzip"),
    (32015, "zstd"),
    (32016, "b3d"),
    (32017, "sz"),
    (32018, "fcidecomp"),
    (32019, "jpeg"),
    (32020, "vbz"),
    (32021, "fapec"),
    (32022, "bitgroom"),
    (32023, "granular bitround"),
    (32024, "sz3"),
    (32025, "delta-rice"),
    (32026, "blosc2"),
    (32027, "flac"),
    (32028, "sperr"),
    (32029, "terse"),
    (32030, "ffmpeg"),
    (32031, "jpeg2000"),
    (32032, "openzl"),
    (32033, "htj2k"),
];

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMETERS: Parameters<'_> = Parameters { client_data: &[], element_size: 4, chunk_bytes: 64 };

    #[test]
    fn names_are_sorted_by_filter_number() {
        assert!(NAMES.is_sorted_by(|a, b| a.0 < b.0));
        assert_eq!(registered_name(FilterId::BLOSC2), Some("blosc2"));
        assert_eq!(registered_name(FilterId(400)), None);
    }

    #[test]
    fn the_name_of_an_unknown_filter_comes_from_the_list_or_else_from_the_file() {
        let name = |id, stored| match Registry::default().filter(FilterId(id), stored, &PARAMETERS) {
            Err(FilterError::Unknown { id: found, name }) => {
                assert_eq!(found, id);
                name
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(name(32016, Some("whatever")), "b3d");
        assert_eq!(name(400, Some("ours")), "ours");
        assert_eq!(name(400, None), "not registered");
    }

    #[test]
    fn a_registered_filter_replaces_the_default_in_that_registry_only() {
        let mut registry = Registry::default();
        registry.register(FilterId::LZF, |_| Ok(Arc::new(Fletcher32)));
        registry.register(FilterId(400), |_| Ok(Arc::new(Lzf)));
        assert_eq!(registry.filter(FilterId::LZF, None, &PARAMETERS).unwrap().id(), FilterId::FLETCHER32);
        assert!(registry.contains(FilterId(400)) && !Registry::default().contains(FilterId(400)));
        assert_eq!(Registry::default().filter(FilterId::LZF, None, &PARAMETERS).unwrap().id(), FilterId::LZF);
    }
}
