//! The properties of a new dataset: their defaults, and what goes together.

use hyperslab_error::{RequestError, Result};
use hyperslab_filters::FilterChoice;
use hyperslab_format::Widths;
use hyperslab_format::datatype::Datatype;
use hyperslab_format::layout::mappings::VirtualMapping;
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::message::fill::{AllocationTime, FillBytes, FillTime};
use hyperslab_format::message::filters::FilterSpec;
use hyperslab_store::Store;

use super::chunking::auto_chunks;
use super::create::COMPACT_BYTES;
use super::external::{self, ExternalFile};
use crate::engine::filter_spec;
use crate::object::{NamedDatatype, limits};

/// The properties of a new dataset, for [`Group::create_dataset`](crate::Group::create_dataset), which checks
/// that they go together.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DatasetOptions {
    /// The shape and the maximum shape.
    pub dataspace: Dataspace,
    /// The datatype of its elements.
    pub datatype: Datatype,
    /// The committed datatype of the same file, if the dataset uses one.
    pub committed: Option<NamedDatatype>,
    /// The storage of the elements.
    pub storage: NewStorage,
    /// The parts of external files that hold the elements. If there are none, this file holds the elements.
    pub external: Vec<ExternalFile>,
    /// The filters of chunks, first to last.
    pub filters: Vec<FilterSpec>,
    /// The value of elements that were never written.
    pub fill: FillBytes,
    /// When the fill value is written.
    pub fill_time: FillTime,
    /// When space is allocated. `None` stands for the default of libhdf5.
    pub allocation: Option<AllocationTime>,
    /// Whether the dataset tracks the creation order of attributes.
    pub track_order: bool,
    /// The time of the last change to store, in seconds since 1970.
    pub modification: Option<u32>,
    /// Whether chunks that hold only the fill value are left out; see
    /// [`Dataset::set_skip_fill_chunks`](crate::Dataset::set_skip_fill_chunks).
    /// `None` stands for the setting of the file.
    pub skip_fill_chunks: Option<bool>,
}

/// The storage of the elements of a new dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewStorage {
    /// In one contiguous extent.
    Contiguous,
    /// In the object header. Only for small data.
    Compact,
    /// In chunks of this shape.
    Chunked(Vec<u64>),
    /// In other datasets.
    Virtual(Vec<VirtualMapping>),
}

impl DatasetOptions {
    /// Returns options for a contiguous dataset of elements of `datatype`, without filters.
    pub fn new(dataspace: Dataspace, datatype: Datatype) -> Self {
        Self {
            dataspace,
            datatype,
            committed: None,
            storage: NewStorage::Contiguous,
            external: Vec::new(),
            filters: Vec::new(),
            fill: FillBytes::Default,
            fill_time: FillTime::IfSet,
            allocation: None,
            track_order: false,
            modification: None,
            skip_fill_chunks: None,
        }
    }

    /// Chooses the storage, in a file with these widths. `None` leaves the choice open: elements are in
    /// chunks of a suitable shape if there are filters, or if the dataset can grow and no external files have
    /// its elements. Otherwise they are contiguous. Filters are listed first to last. Set everything else
    /// before: some filters store the fill value.
    ///
    /// Errors: `Request` if there are filters for elements that are not in chunks; `Filter` if a filter
    /// cannot have its parameters.
    pub fn stored(
        mut self,
        storage: Option<NewStorage>,
        filters: &[FilterChoice],
        widths: Widths,
    ) -> Result<Self> {
        let needs_chunks = !filters.is_empty() || self.can_grow() && self.external.is_empty();
        let storage = match storage {
            Some(storage) => storage,
            None if needs_chunks => NewStorage::Chunked(self.suitable_chunk(widths)),
            None => NewStorage::Contiguous,
        };
        if let NewStorage::Chunked(chunk) = &storage {
            return self.in_chunks(chunk, filters, widths);
        }
        if !filters.is_empty() {
            return Err(argument("filters", "only chunked data go through filters").into());
        }
        self.storage = storage;
        Ok(self)
    }

    /// Returns whether the dataset can become larger.
    fn can_grow(&self) -> bool {
        let Dataspace::Simple { shape, max_shape: Some(max_shape) } = &self.dataspace else { return false };
        shape.iter().zip(max_shape).any(|(len, max)| max.is_none_or(|max| max > *len))
    }

    /// Returns a suitable shape of chunks. A dataset without dimensions has none, which is refused later.
    pub fn suitable_chunk(&self, widths: Widths) -> Vec<u64> {
        let Dataspace::Simple { shape, max_shape } = &self.dataspace else { return Vec::new() };
        auto_chunks(shape, max_shape.as_deref(), self.datatype.size(widths))
    }

    /// Stores elements in chunks of a shape, with filters, first to last. Set the fill value before: some
    /// filters store it.
    pub fn chunked(self, chunk: &[u64], filters: &[FilterChoice]) -> Result<Self> {
        self.in_chunks(chunk, filters, Widths::EIGHT)
    }

    fn in_chunks(mut self, chunk: &[u64], filters: &[FilterChoice], widths: Widths) -> Result<Self> {
        let facts = (&self.datatype, &self.fill);
        let stored = |choice| filter_spec(choice, facts, chunk, widths);
        self.filters = filters.iter().map(stored).collect::<Result<_>>()?;
        self.storage = NewStorage::Chunked(chunk.to_vec());
        Ok(self)
    }

    /// Checks the options. Returns the size of all elements in bytes.
    pub(in crate::object) fn check(&self, store: &Store) -> Result<u64> {
        let widths = store.widths();
        limits::check_rank(self.dataspace.shape().len())?;
        limits::check_dataspace(&self.dataspace, widths)?;
        limits::check_datatype(&self.datatype, widths)?;
        let size = self.datatype.size(widths);
        let bytes = self.dataspace.elements().and_then(|elements| elements.checked_mul(size));
        let bytes = bytes.ok_or_else(|| argument("shape", "all elements take more than 2^64 bytes"))?;
        let is_chunked = matches!(self.storage, NewStorage::Chunked(_));
        if !self.filters.is_empty() && !is_chunked {
            return Err(argument("filters", "only chunked data go through filters").into());
        }
        let is_external = !self.external.is_empty();
        if is_external {
            if self.storage != NewStorage::Contiguous {
                return Err(argument("external files", "only contiguous data are in external files").into());
            }
            external::check(&self.external, &self.dataspace, &self.datatype, store)?;
        }
        self.committed.iter().try_for_each(|datatype| limits::check_committed(datatype, store))?;
        if let FillBytes::Defined(value) = &self.fill
            && value.len() as u64 != size
        {
            return Err(argument("fill value", "it has another size than an element").into());
        }
        let (shape, max_shape) = match &self.dataspace {
            Dataspace::Simple { shape, max_shape } if !shape.is_empty() => (shape, max_shape),
            _ if is_chunked => return Err(argument("chunks", "a scalar has none").into()),
            _ => return Ok(bytes),
        };
        if let Some(max_shape) = max_shape {
            let fits = |(size, max): (&u64, &Option<u64>)| max.is_none_or(|max| *size <= max);
            if max_shape.len() != shape.len() || !shape.iter().zip(max_shape).all(fits) {
                let what =
                    format!("maxshape must fit the shape {}, not be {}", sides(shape), limits_of(max_shape));
                return Err(argument(&what, "give each axis at least its length, or no limit").into());
            }
            let is_virtual = matches!(self.storage, NewStorage::Virtual(_));
            if !is_chunked && !is_external && !is_virtual && self.can_grow() {
                return Err(argument("maxshape", "only chunked data can grow").into());
            }
        }
        if let NewStorage::Chunked(chunk) = &self.storage {
            if chunk.len() != shape.len() || chunk.contains(&0) {
                let what = format!("chunks must fit the shape {}, not be {}", sides(shape), sides(chunk));
                return Err(argument(&what, "give each axis a side of at least 1").into());
            }
            // libhdf5 refuses such chunks, too: a part of each could never hold an element.
            let largest = |axis: usize| max_shape.as_ref().map_or(Some(shape[axis]), |max| max[axis]);
            if (0..chunk.len()).any(|axis| largest(axis).is_some_and(|max| chunk[axis] > max.max(1))) {
                let what = format!("chunks must fit the shape {}, not be {}", sides(shape), sides(chunk));
                return Err(argument(&what, "a side is longer than the dataset can become").into());
            }
            let elements = chunk.iter().try_fold(1_u64, |all, &len| all.checked_mul(len));
            let chunk_bytes = elements.and_then(|elements| elements.checked_mul(size));
            if chunk_bytes.is_none_or(|bytes| bytes > u64::from(u32::MAX)) {
                return Err(argument("chunks", "a chunk has less than 4 GiB").into());
            }
        }
        if self.storage == NewStorage::Compact && bytes > COMPACT_BYTES {
            return Err(argument("compact data", "a header has room for less than 64 KiB").into());
        }
        Ok(bytes)
    }
}

fn argument(what: &str, why: &'static str) -> RequestError {
    RequestError::Argument { what: what.to_owned(), why }
}

/// Returns lengths as Python writes a tuple.
fn sides(lengths: &[u64]) -> String {
    tuple(&lengths.iter().map(u64::to_string).collect::<Vec<_>>())
}

/// Returns the largest lengths of axes as Python writes a tuple.
fn limits_of(lengths: &[Option<u64>]) -> String {
    let listed = lengths.iter().map(|max| max.map_or_else(|| "None".to_owned(), |max| max.to_string()));
    tuple(&listed.collect::<Vec<_>>())
}

fn tuple(items: &[String]) -> String {
    match items {
        [only] => format!("({only},)"),
        _ => format!("({})", items.join(", ")),
    }
}
