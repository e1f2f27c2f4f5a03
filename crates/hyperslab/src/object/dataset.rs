//! Datasets: what the header says of one. (Reading its elements is in `read.rs`.)

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use hyperslab_format::datatype::Datatype;
use hyperslab_format::layout::Layout;
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::message::fill::{AllocationTime, FillBytes, FillTime, FillValue, OldFillValue};
use hyperslab_format::message::filters::FilterPipeline;
use hyperslab_format::message::kind;
use hyperslab_format::message::shared::{MaybeShared, SharedLocation};
use hyperslab_format::{Addr, ErrorKind};

use super::Object;
use super::header_io::{self, Header};
use crate::engine::StoredArray;
use crate::error::Result;
use crate::store::Store;

/// A dataset: an array of elements in the file.
#[derive(Clone)]
pub struct Dataset {
    pub(super) object: Object,
    state: Arc<State>,
}

/// What is decoded once and shared by all handles to a dataset.
#[derive(Debug)]
struct State {
    dataspace: Dataspace,
    datatype: Datatype,
    committed: Option<Addr>,
    element_size: usize,
    elements: u64,
    layout: Layout,
    filters: FilterPipeline,
    fill: FillValue,
    has_external_files: bool,
    /// What the engine needs; made at the first read.
    array: OnceLock<Arc<StoredArray>>,
}

impl Dataset {
    pub(super) fn new(object: Object) -> Result<Self> {
        let (header, store) = (object.header(), object.store());
        let state = store.get_or_make(header.address(), || {
            let state = State::read(header, store)?;
            let weight = state.weight();
            Ok((state, weight))
        })?;
        Ok(Self { object, state })
    }

    /// The current size in each dimension; empty for a scalar, and for a dataset without a dataspace of elements.
    pub fn shape(&self) -> &[u64] {
        self.state.dataspace.shape()
    }

    /// The dataspace.
    pub fn dataspace(&self) -> &Dataspace {
        &self.state.dataspace
    }

    /// The most that the dataset may grow to in each dimension, `None` meaning without limit; absent if it cannot grow.
    pub fn max_shape(&self) -> Option<&[Option<u64>]> {
        match &self.state.dataspace {
            Dataspace::Simple { max_shape, .. } => max_shape.as_deref(),
            _ => None,
        }
    }

    /// The datatype of the elements in the file; a committed one is resolved.
    pub fn datatype(&self) -> &Datatype {
        &self.state.datatype
    }

    /// The address of the committed datatype that the dataset uses, if it does.
    pub fn committed_datatype(&self) -> Option<Addr> {
        self.state.committed
    }

    /// Bytes of one element in the file.
    pub fn element_size(&self) -> usize {
        self.state.element_size
    }

    /// How many elements there are.
    pub fn size(&self) -> u64 {
        self.state.elements
    }

    /// Bytes of all elements.
    pub fn len_bytes(&self) -> u64 {
        // Checked when the dataset was opened.
        self.state.elements * self.state.element_size as u64
    }

    /// Where the elements are.
    pub fn layout(&self) -> &Layout {
        &self.state.layout
    }

    /// The shape of a chunk, if the dataset is stored in chunks.
    pub fn chunk_shape(&self) -> Option<&[u64]> {
        match &self.state.layout {
            Layout::Chunked(layout) => Some(&layout.chunk_shape),
            _ => None,
        }
    }

    /// The filters, in the order in which a writer applies them.
    pub fn filters(&self) -> &FilterPipeline {
        &self.state.filters
    }

    /// What elements hold that were never written.
    pub fn fill_value(&self) -> &FillValue {
        &self.state.fill
    }

    /// Whether the elements are in files of their own, without any structure.
    pub fn has_external_files(&self) -> bool {
        self.state.has_external_files
    }

    pub(super) fn array_cell(&self) -> &OnceLock<Arc<StoredArray>> {
        &self.state.array
    }

    /// Whether the elements are those of other datasets.
    pub fn is_virtual(&self) -> bool {
        matches!(self.state.layout, Layout::Virtual { .. })
    }
}

impl Deref for Dataset {
    type Target = Object;

    fn deref(&self) -> &Object {
        &self.object
    }
}

impl fmt::Debug for Dataset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.object.describe("Dataset", f)
    }
}

impl State {
    fn read(header: &Header, store: &Store) -> Result<Self> {
        let dataspace =
            header.find::<Dataspace>(store)?.ok_or_else(|| header.lacks("a dataspace message"))?;
        let datatype =
            header.find_here_or_shared::<Datatype>()?.ok_or_else(|| header.lacks("a datatype message"))?;
        let committed = match &datatype {
            MaybeShared::Shared(SharedLocation::Header(address)) => Some(*address),
            _ => None,
        };
        let datatype = header_io::resolve(datatype, store)?;
        let too_large = |field, value| header.error(ErrorKind::TooLarge { field, value, limit: u64::MAX });
        let size = datatype.size(store.widths());
        let element_size = usize::try_from(size).map_err(|_| too_large("datatype size", size))?;
        let elements =
            dataspace.elements().ok_or_else(|| too_large("the product of the dimensions", u64::MAX))?;
        if elements.checked_mul(size).is_none() {
            return Err(too_large("the size of all elements", u64::MAX));
        }
        Ok(Self {
            dataspace,
            datatype,
            committed,
            element_size,
            elements,
            layout: header.find(store)?.ok_or_else(|| header.lacks("a layout message"))?,
            filters: header.find(store)?.unwrap_or_default(),
            fill: fill_value(header, store)?,
            has_external_files: header.has(kind::EXTERNAL_FILES),
            array: OnceLock::new(),
        })
    }

    /// Bytes for the cache's budget, roughly.
    fn weight(&self) -> u64 {
        let compact = match &self.layout {
            Layout::Compact { data } => data.len(),
            _ => 0,
        };
        (size_of::<Self>() + compact + 64 * self.filters.filters.len()) as u64
    }
}

/// The fill value: the message of that name, else the old one, else zeros.
fn fill_value(header: &Header, store: &Store) -> Result<FillValue> {
    if let Some(fill) = header.find::<FillValue>(store)? {
        return Ok(fill);
    }
    let old = header.find::<OldFillValue>(store)?.map(FillValue::from);
    Ok(old.unwrap_or(FillValue {
        version: 3,
        allocation: AllocationTime::Late,
        write: FillTime::IfSet,
        value: FillBytes::Default,
    }))
}

/// Bytes of all elements of a dataspace, or `None` if that overflows.
pub(super) fn byte_count(dataspace: &Dataspace, datatype: &Datatype, store: &Store) -> Option<u64> {
    dataspace.elements()?.checked_mul(datatype.size(store.widths()))
}
