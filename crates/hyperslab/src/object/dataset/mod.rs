//! Datasets, and the properties in their headers.

pub(in crate::object) mod builder;
pub(in crate::object) mod changes;
pub(in crate::object) mod chunking;
pub(in crate::object) mod create;
pub(in crate::object) mod external;
pub(in crate::object) mod items;
pub(in crate::object) mod mapped_view;
#[cfg(feature = "ndarray")]
mod ndarray;
pub(in crate::object) mod options;
pub(in crate::object) mod read;
pub(in crate::object) mod resize;
pub(in crate::object) mod scales;
pub(in crate::object) mod skip_fill;
pub(in crate::object) mod state;
pub(in crate::object) mod table_lock;
pub(in crate::object) mod vds;
pub(in crate::object) mod vlen;
pub(in crate::object) mod vlen_read;
pub(in crate::object) mod vlen_write;
pub(in crate::object) mod write;

use std::sync::{Arc, OnceLock};

use hyperslab_error::Result;
use hyperslab_format::datatype::Datatype;
use hyperslab_format::layout::mappings::VirtualMappings;
use hyperslab_format::layout::{ChunkIndexInfo, ChunkedLayout, Layout};
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::message::external_files::ExternalFiles;
use hyperslab_format::message::fill::{AllocationTime, FillBytes, FillTime, FillValue, OldFillValue};
use hyperslab_format::message::filters::FilterPipeline;
use hyperslab_format::{Addr, ErrorKind, Extent};
use hyperslab_io::process::PerProcess;
use hyperslab_store::Store;
use hyperslab_store::index::{ChunkIndex, Grid};
use parking_lot::RwLock;

use self::state::DatasetState;
use self::vds::sources::Sources;
use super::header;
use super::header::read::{Header, shared_in};
use super::{Known, Object};
use crate::engine::StoredArray;

/// A dataset: an array of elements in a file.
///
/// ```
/// let file = hyperslab::File::in_memory()?;
/// let dataset = file.root().new_dataset::<i32>("d").shape([2, 3]).create_with(&[1, 2, 3, 4, 5, 6])?;
/// assert_eq!(dataset.shape(), [2, 3]);
/// assert_eq!(dataset.read::<i32>([0..2, 2..3])?, [3, 6]);
/// dataset.write([0..1, 0..1], &[10])?;
/// assert_eq!(dataset.read::<f64>(..)?, [10.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Clone)]
pub struct Dataset {
    pub(super) object: Object,
    properties: Arc<RwLock<Known<Arc<Properties>>>>,
    /// What all handles share, once it was needed. A forked child finds its own.
    state: PerProcess<OnceLock<Arc<DatasetState>>>,
    /// Where this handle looks for external files.
    external_prefix: Option<Arc<str>>,
    /// The sources of a virtual dataset that this handle and its clones have opened.
    sources: Arc<Sources>,
}

/// The properties in the header of a dataset. They are decoded once, shared by all handles, and decoded again
/// when the header changes.
#[derive(Debug)]
pub(super) struct Properties {
    /// The header that was decoded.
    header: Arc<Header>,
    pub(super) dataspace: Dataspace,
    pub(super) datatype: Arc<Datatype>,
    pub(super) committed: Option<Addr>,
    pub(super) element_size: usize,
    pub(super) elements: u64,
    pub(super) layout: Layout,
    pub(super) filters: Arc<FilterPipeline>,
    pub(super) fill: FillValue,
    pub(super) external: Option<ExternalFiles>,
    /// The mappings of a virtual dataset, decoded when they are first needed.
    mappings: OnceLock<Arc<VirtualMappings>>,
    /// The data that the engine needs, created at the first read.
    pub(super) array: OnceLock<Arc<StoredArray>>,
}

impl Dataset {
    pub(super) fn new(object: Object, header: &Arc<Header>) -> Result<Self> {
        let value = Properties::of(header, object.store())?;
        let properties = Arc::new(RwLock::new(Known { generation: object.found, value }));
        let state = PerProcess::default();
        Ok(Self { object, properties, state, external_prefix: None, sources: Arc::default() })
    }

    /// Returns the properties that the header describes now.
    pub(super) fn properties(&self) -> Result<Arc<Properties>> {
        let generation = self.store().generation();
        // The lock is only tried, as in `Object::header`.
        let known = self.properties.try_read_recursive();
        if let Some(known) = known.filter(|known| known.generation == generation) {
            return Ok(Arc::clone(&known.value));
        }
        self.properties_anew()
    }

    /// Looks at the header after a change of the metadata, and decodes it again if it changed.
    #[cold]
    fn properties_anew(&self) -> Result<Arc<Properties>> {
        let _reading = self.store().reading();
        let generation = self.store().generation();
        let header = self.header()?;
        let known = self.properties.try_read_recursive();
        let known = known.filter(|known| Arc::ptr_eq(&known.value.header, &header));
        let value = match known.map(|known| Arc::clone(&known.value)) {
            Some(properties) => properties,
            None => Properties::of(&header, self.store()).map_err(|error| error.at(self.path()))?,
        };
        if let Some(mut known) = self.properties.try_write() {
            *known = Known { generation, value: Arc::clone(&value) };
        }
        Ok(value)
    }

    /// Takes over the properties after the step that led to `generation`. Other handles look at the header.
    pub(super) fn set_properties(&self, generation: u64, value: Arc<Properties>) {
        *self.properties.write() = Known { generation, value };
    }

    /// Returns the current properties, or the last known ones if the file is damaged or the dataset was
    /// deleted. Reading elements then returns the error.
    fn latest(&self) -> Arc<Properties> {
        self.properties().unwrap_or_else(|_| Arc::clone(&self.properties.read().value))
    }

    /// Updates the whole file to its current state; see [`File::refresh`](crate::File::refresh).
    pub fn refresh(&self) -> Result<()> {
        self.file().refresh()
    }

    /// Returns the length of each dimension. The shape is empty for a scalar, and for a dataset without
    /// elements.
    pub fn shape(&self) -> Vec<u64> {
        self.with_shape(<[u64]>::to_vec)
    }

    /// Calls `f` with the [shape](Self::shape), without a copy.
    #[doc(hidden)]
    pub fn with_shape<T>(&self, f: impl FnOnce(&[u64]) -> T) -> T {
        let properties = self.latest();
        match self.shape_of_sources(&properties) {
            Ok(Some(shape)) => f(&shape),
            // If the sources cannot tell, this is the shape when the dataset was made or last changed.
            _ => f(properties.dataspace.shape()),
        }
    }

    /// Returns the dataspace.
    pub fn dataspace(&self) -> Dataspace {
        let properties = self.latest();
        match (properties.dataspace.clone(), self.shape_of_sources(&properties)) {
            (Dataspace::Simple { max_shape, .. }, Ok(Some(shape))) => Dataspace::Simple { shape, max_shape },
            (dataspace, _) => dataspace,
        }
    }

    /// Returns the maximum length of each dimension, with `None` for a dimension without limit. Returns
    /// `None` if the dataset cannot grow.
    pub fn max_shape(&self) -> Option<Vec<Option<u64>>> {
        self.latest().max_shape().map(<[_]>::to_vec)
    }

    /// Returns the datatype of the elements in the file. A committed datatype is resolved.
    pub fn datatype(&self) -> Arc<Datatype> {
        Arc::clone(&self.latest().datatype)
    }

    /// Returns the address of the committed datatype, if the dataset uses one.
    #[doc(hidden)]
    pub fn committed_datatype(&self) -> Option<Addr> {
        self.latest().committed
    }

    /// Returns the size of one element in the file, in bytes.
    pub fn element_size(&self) -> usize {
        self.latest().element_size
    }

    /// Returns the number of elements.
    pub fn size(&self) -> u64 {
        self.dataspace().elements().unwrap_or(0)
    }

    /// Returns the size of all elements in the file without filters, in bytes.
    pub fn len_bytes(&self) -> u64 {
        self.size().saturating_mul(self.element_size() as u64)
    }

    /// Returns the layout of the elements in the file.
    #[doc(hidden)]
    pub fn layout(&self) -> Layout {
        self.latest().layout.clone()
    }

    /// Returns the shape of a chunk, if the dataset is stored in chunks.
    pub fn chunk_shape(&self) -> Option<Vec<u64>> {
        match &self.latest().layout {
            Layout::Chunked(layout) => Some(layout.chunk_shape.clone()),
            _ => None,
        }
    }

    /// Returns the filters, in the order in which a writer applies them.
    pub fn filters(&self) -> Arc<FilterPipeline> {
        Arc::clone(&self.latest().filters)
    }

    /// Returns the value of elements that were never written.
    pub fn fill_value(&self) -> FillValue {
        self.latest().fill.clone()
    }

    /// Returns whether the dataset is virtual: its elements are those of other datasets.
    pub fn is_virtual(&self) -> bool {
        matches!(self.latest().layout, Layout::Virtual { .. })
    }
}

impl Properties {
    fn of(header: &Arc<Header>, store: &Store) -> Result<Arc<Self>> {
        let is_current = |properties: &Self| Arc::ptr_eq(&properties.header, header);
        store.get_or_make_where(header.address(), is_current, || {
            let properties = Self::read(header, store)?;
            let weight = properties.weight();
            Ok((properties, weight))
        })
    }

    pub(super) fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the properties for a header in which only the dataspace changed.
    pub(super) fn reshaped(
        &self,
        header: Arc<Header>,
        dataspace: Dataspace,
        array: Arc<StoredArray>,
    ) -> Self {
        Self {
            header,
            elements: dataspace.elements().unwrap_or(0),
            dataspace,
            datatype: Arc::clone(&self.datatype),
            committed: self.committed,
            element_size: self.element_size,
            layout: self.layout.clone(),
            filters: Arc::clone(&self.filters),
            fill: self.fill.clone(),
            external: self.external.clone(),
            mappings: self.mappings.clone(),
            array: OnceLock::from(array),
        }
    }

    pub(super) fn max_shape(&self) -> Option<&[Option<u64>]> {
        max_shape(&self.dataspace)
    }

    pub(super) fn len_bytes(&self) -> u64 {
        // Checked when the dataset was opened.
        self.elements * self.element_size as u64
    }

    fn read(header: &Arc<Header>, store: &Store) -> Result<Self> {
        let dataspace =
            header.find::<Dataspace>(store)?.ok_or_else(|| header.lacks("a dataspace message"))?;
        let datatype =
            header.find_here_or_shared::<Datatype>()?.ok_or_else(|| header.lacks("a datatype message"))?;
        let committed = shared_in(&datatype);
        let datatype = header::read::resolve(datatype, store)?;
        let too_large = |field, value| header.error(ErrorKind::TooLarge { field, value, limit: u64::MAX });
        let size = datatype.size(store.widths());
        let element_size = usize::try_from(size).map_err(|_| too_large("datatype size", size))?;
        let elements =
            dataspace.elements().ok_or_else(|| too_large("the product of the dimensions", u64::MAX))?;
        if elements.checked_mul(size).is_none() {
            return Err(too_large("the size of all elements", u64::MAX));
        }
        Ok(Self {
            header: Arc::clone(header),
            dataspace,
            datatype: Arc::new(datatype),
            committed,
            element_size,
            elements,
            layout: header.find(store)?.ok_or_else(|| header.lacks("a layout message"))?,
            filters: Arc::new(header.find(store)?.unwrap_or_default()),
            fill: fill_value(header, store)?,
            external: header.find(store)?,
            mappings: OnceLock::new(),
            array: OnceLock::new(),
        })
    }

    /// Returns the approximate size in bytes, for the budget of the cache.
    fn weight(&self) -> u64 {
        let compact = match &self.layout {
            Layout::Compact { data } => data.len(),
            _ => 0,
        };
        (size_of::<Self>() + compact + 64 * self.filters.filters.len()) as u64
    }
}

/// Returns the fill value: from the fill value message or from the old message. Without either it is
/// undefined.
fn fill_value(header: &Header, store: &Store) -> Result<FillValue> {
    if let Some(fill) = header.find::<FillValue>(store)? {
        return Ok(fill);
    }
    let old = header.find::<OldFillValue>(store)?.map(FillValue::from);
    Ok(old.unwrap_or(FillValue {
        version: 3,
        allocation: AllocationTime::Late,
        write: FillTime::IfSet,
        value: FillBytes::Undefined,
    }))
}

/// Returns the size of all elements of a dataspace in bytes, or `None` on overflow.
pub(super) fn byte_count(dataspace: &Dataspace, datatype: &Datatype, store: &Store) -> Option<u64> {
    dataspace.elements()?.checked_mul(datatype.size(store.widths()))
}

/// Returns the maximum length of each dimension of a dataspace, or `None` if it cannot grow.
pub(super) fn max_shape(dataspace: &Dataspace) -> Option<&[Option<u64>]> {
    match dataspace {
        Dataspace::Simple { max_shape, .. } => max_shape.as_deref(),
        Dataspace::Null | Dataspace::Scalar => None,
    }
}

/// Returns the address of the committed datatype that a header names, if any.
pub(super) fn committed_type(header: &Header) -> Result<Option<Addr>> {
    Ok(header.find_here_or_shared::<Datatype>()?.as_ref().and_then(shared_in))
}

/// Returns the chunk index of the dataset with this header and layout.
pub(super) fn chunk_index(header: &Header, store: &Store, layout: &ChunkedLayout) -> Result<ChunkIndex> {
    let dataspace = header.find::<Dataspace>(store)?.ok_or_else(|| header.lacks("a dataspace message"))?;
    let filters = header.find::<FilterPipeline>(store)?.unwrap_or_default();
    let grid = grid(header, store, &dataspace, layout)?;
    let k = store.btree_k().indexed_storage_k;
    Ok(ChunkIndex::new(layout, grid, layout.chunk_len(), !filters.filters.is_empty(), k))
}

/// Returns the grid of the chunks of a dataset.
///
/// Errors: the layout has another rank than the dataspace, or an index that cannot have its number of chunks.
fn grid(header: &Header, store: &Store, dataspace: &Dataspace, layout: &ChunkedLayout) -> Result<Grid> {
    let misfit = |field, value, expected| Err(header.error(ErrorKind::Value { field, value, expected }));
    let rank = layout.chunk_shape.len();
    if rank != dataspace.shape().len() {
        return misfit("Dimensionality", rank as u64 + 1, "that of the dataspace, and one more");
    }
    let grid = Grid::new(dataspace.shape(), max_shape(dataspace), &layout.chunk_shape);
    match layout.index {
        ChunkIndexInfo::Single { .. } if grid.len() > 1 => {
            misfit("Number of chunks", grid.len(), "1, which a single chunk index has")
        }
        // The chunks are adjacent, so their number follows from the size of the file.
        ChunkIndexInfo::Implicit { addr } if addr.is_defined() => {
            let len = grid.len().saturating_mul(layout.chunk_len());
            store.check(Extent::new(addr, len), RAW_DATA)?;
            Ok(grid)
        }
        _ => Ok(grid),
    }
}

/// The name of raw data in errors.
const RAW_DATA: (&str, &str) = ("Raw data", "IV.B");
