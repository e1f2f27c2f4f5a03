//! Creating datasets and committed datatypes.

use hyperslab_error::Result;
use hyperslab_filters::FilterId;
use hyperslab_filters::registry::registered_name;
use hyperslab_format::datatype::Datatype;
use hyperslab_format::header::{Prefix, RawMessage};
use hyperslab_format::layout::mappings::{VirtualMapping, VirtualMappings};
use hyperslab_format::layout::{ChunkIndexInfo, ChunkedLayout, Layout, LayoutMessage};
use hyperslab_format::message::dataspace::{Dataspace, DataspaceMessage};
use hyperslab_format::message::fill::{AllocationTime, FillBytes, FillTime, FillValue, OldFillValue};
use hyperslab_format::message::filters::{FilterPipeline, FilterSpec};
use hyperslab_format::message::shared::SharedLocation;
use hyperslab_format::message::small::ModificationTime;
use hyperslab_format::message::{MessageBody, kind};
use hyperslab_format::{Addr, Extent, Widths, Writer};
use hyperslab_store::heap::{GlobalHeapEdit, HeapRoom};
use hyperslab_store::index::{ChunkIndex, ChunkingPlan, Grid, IndexEdit, choose};
use hyperslab_store::{SpaceKind, Txn};

use super::options::{DatasetOptions, NewStorage};
use super::{external, max_shape};
use crate::engine::unplaced;
use crate::object::file::create::{message, prefix};
use crate::object::header;
use crate::object::header::edit::add_reference;
use crate::object::header::versions::LibVersion;
use crate::object::{Dataset, Group, NamedDatatype, limits};

impl Group {
    /// Creates a dataset at `path`, and missing groups on the way. [`new_dataset`](Self::new_dataset) takes
    /// the options one by one.
    ///
    /// Errors: `Request` if the options do not fit together, or if an object is at the path already.
    ///
    /// ```
    /// use hyperslab::storage::DatasetOptions;
    /// use hyperslab::{Dataspace, Element, File};
    ///
    /// let file = File::in_memory()?;
    /// let space = Dataspace::Simple { shape: vec![100], max_shape: Some(vec![None]) };
    /// let zstd = "zstd:5".parse().expect("a filter");
    /// let options = DatasetOptions::new(space, f32::datatype()).chunked(&[50], &[zstd])?;
    /// let dataset = file.root().create_dataset("series", &options)?;
    /// assert_eq!(dataset.chunk_shape(), Some(vec![50]));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn create_dataset(&self, path: &str, options: &DatasetOptions) -> Result<Dataset> {
        let bytes = options.check(self.store()).map_err(|error| error.at(path))?;
        let make = |txn: &mut Txn<'_>, parent: &Group| make(txn, parent.file().version(), options, bytes);
        let dataset = self.create(path, make)?.into_dataset()?;
        options.skip_fill_chunks.into_iter().for_each(|skips| dataset.set_skip_fill_chunks(skips));
        Ok(dataset)
    }

    /// Commits a datatype at `path`.
    ///
    /// ```
    /// use hyperslab::{Element, File};
    ///
    /// let file = File::in_memory()?;
    /// let kelvin = file.root().commit_datatype("kelvin", &f32::datatype())?;
    /// kelvin.set_attribute("units", "K")?;
    /// file.root().new_dataset::<f32>("t2m").shape([2]).committed(kelvin).create()?;
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn commit_datatype(&self, path: &str, datatype: &Datatype) -> Result<NamedDatatype> {
        limits::check_datatype(datatype, self.store().widths()).map_err(|error| error.at(path))?;
        let make = |txn: &mut Txn<'_>, parent: &Group| {
            let version = parent.file().version();
            let raw = datatype_message(
                datatype,
                RawMessage::CONSTANT | RawMessage::DO_NOT_SHARE,
                version,
                txn.store().widths(),
            );
            header::edit::create(txn, header_prefix(version, false), vec![raw], 0)
                .map(|header| header.address())
        };
        self.create(path, make)?.into_datatype()
    }
}

/// Returns the header of a new dataset, or an error if the options are not possible.
pub(in crate::object) fn make_checked(
    txn: &mut Txn<'_>,
    version: LibVersion,
    options: &DatasetOptions,
) -> Result<Addr> {
    let bytes = options.check(txn.store())?;
    make(txn, version, options, bytes)
}

/// Returns a filter with its registered name, if it has one. h5repack of HDF5 1.10 writes damaged messages
/// for filters of version 1 without a name.
fn named(filter: &FilterSpec) -> FilterSpec {
    let known = || registered_name(FilterId(filter.id)).map(str::to_owned);
    FilterSpec { name: filter.name.clone().or_else(known), ..filter.clone() }
}

/// Creates the header of a dataset, and the storage that exists from the beginning.
fn make(txn: &mut Txn<'_>, version: LibVersion, options: &DatasetOptions, bytes: u64) -> Result<Addr> {
    let widths = txn.store().widths();
    let mut messages = vec![
        message(
            &DataspaceMessage {
                version: dataspace_version(version, &options.dataspace),
                dataspace: options.dataspace.clone(),
            },
            0,
            widths,
        ),
        datatype_of(txn, version, options)?,
    ];
    let fill = FillValue {
        version: version.fill(),
        allocation: options.allocation.unwrap_or(match options.storage {
            NewStorage::Contiguous if txn.store().collective().is_some() => AllocationTime::Early,
            NewStorage::Contiguous => AllocationTime::Late,
            NewStorage::Compact => AllocationTime::Early,
            NewStorage::Chunked(_) | NewStorage::Virtual(_) => AllocationTime::Incremental,
        }),
        write: match options.fill_time {
            // As in libhdf5, elements that were never written hold no id of the heap.
            FillTime::IfSet if options.datatype.has_variable_parts() => FillTime::OnAllocation,
            other => other,
        },
        value: options.fill.clone(),
    };
    messages.push(message(&fill, RawMessage::CONSTANT, widths));
    if let (true, FillBytes::Defined(value)) = (version.is_old(), &options.fill) {
        messages.push(message(&OldFillValue { value: value.clone() }, RawMessage::CONSTANT, widths));
    }
    if !options.filters.is_empty() {
        let filters = options.filters.iter().map(named).collect();
        let pipeline = FilterPipeline { version: version.filters(), filters };
        messages.push(message(&pipeline, RawMessage::CONSTANT, widths));
    }
    if !options.external.is_empty() {
        let files = external::create(txn, &options.external)?;
        messages.push(message(&files, RawMessage::CONSTANT, widths));
    }
    let layout = layout(txn, version, options, bytes)?;
    messages.push(message(&layout, 0, widths));
    // The clocks of the ranks differ.
    let modification = options.modification.filter(|_| txn.store().collective().is_none());
    if let Some(seconds) = modification {
        messages.push(message(&ModificationTime { seconds }, 0, widths));
    }
    let prefix = header_prefix(version, options.track_order);
    let header = header::edit::create(txn, prefix, messages, SMALLEST_HEADER)?;
    Ok(header.address())
}

/// Returns the layout message. The chunks of an implicit index are created here.
fn layout(
    txn: &mut Txn<'_>,
    version: LibVersion,
    options: &DatasetOptions,
    bytes: u64,
) -> Result<LayoutMessage> {
    let is_shared = txn.store().collective().is_some();
    let layout = match &options.storage {
        // One rank cannot allocate later.
        NewStorage::Contiguous if is_shared && options.external.is_empty() && bytes > 0 => {
            let extent = txn.allocate(SpaceKind::Raw, bytes)?;
            super::write::fill_extent(txn.store(), extent, &options.fill)?;
            Layout::Contiguous(extent)
        }
        NewStorage::Contiguous => Layout::Contiguous(Extent::new(Addr::UNDEFINED, bytes)),
        NewStorage::Compact => {
            // At most 64 KiB, as checked before.
            let mut data = vec![0; usize::try_from(bytes).unwrap_or(0)];
            if let FillBytes::Defined(value) = &options.fill {
                data.chunks_mut(value.len().max(1))
                    .for_each(|slot| slot.copy_from_slice(&value[..slot.len()]));
            }
            Layout::Compact { data }
        }
        NewStorage::Chunked(chunk_shape) => {
            let (shape, max_shape) = (options.dataspace.shape(), max_shape(&options.dataspace));
            let is_allocated_early = options.allocation == Some(AllocationTime::Early);
            let index = choose(&ChunkingPlan {
                layout_version: version.layout(),
                shape,
                max_shape,
                chunk_shape,
                is_filtered: !options.filters.is_empty(),
                is_allocated_early,
            });
            let size = options.datatype.size(txn.store().widths());
            let mut chunked = ChunkedLayout {
                version: version.layout(),
                chunk_shape: chunk_shape.clone(),
                // At most the size of a chunk, which was checked.
                element_size: u32::try_from(size).unwrap_or(u32::MAX),
                unfiltered_edges: false,
                index,
            };
            if let ChunkIndexInfo::Implicit { .. } = chunked.index {
                chunked.index = allocate_implicit(txn, &chunked, shape, max_shape, &options.fill)?;
            }
            Layout::Chunked(chunked)
        }
        NewStorage::Virtual(mappings) => virtual_layout(txn, version, mappings)?,
    };
    Ok(LayoutMessage::from(layout))
}

/// Stores the mappings of a virtual dataset in a collection of the global heap of their own.
fn virtual_layout(txn: &mut Txn<'_>, version: LibVersion, mappings: &[VirtualMapping]) -> Result<Layout> {
    if mappings.is_empty() {
        return Ok(Layout::Virtual { heap: Addr::UNDEFINED, index: 0 });
    }
    let widths = txn.store().widths();
    let block = VirtualMappings::new(mappings.to_vec(), version >= LibVersion::V200, widths);
    let mut bytes = Vec::new();
    Writer::new(&mut bytes, widths).structure(&block, &());
    let ids = GlobalHeapEdit::new(txn, &mut HeapRoom::default()).put(&[bytes])?;
    // The null id would be that of a dataset without sources.
    let id = ids.first().ok_or_else(unplaced)?;
    Ok(Layout::Virtual { heap: id.collection, index: id.index })
}

/// Creates the chunks of an implicit index, filled with the fill value.
fn allocate_implicit(
    txn: &mut Txn<'_>,
    chunked: &ChunkedLayout,
    shape: &[u64],
    max_shape: Option<&[Option<u64>]>,
    fill: &FillBytes,
) -> Result<ChunkIndexInfo> {
    let grid = Grid::new(shape, max_shape, &chunked.chunk_shape);
    let index =
        ChunkIndex::new(chunked, grid, chunked.chunk_len(), false, txn.store().btree_k().indexed_storage_k);
    let mut edit = IndexEdit::new(txn, &index);
    let extent = edit.allocate_implicit()?;
    let info = edit.info().clone();
    super::write::fill_extent(txn.store(), extent, fill)?;
    Ok(info)
}

/// Returns the datatype message: the datatype, or the address of the committed datatype, which then counts
/// one more user.
fn datatype_of(txn: &mut Txn<'_>, version: LibVersion, options: &DatasetOptions) -> Result<RawMessage> {
    let widths = txn.store().widths();
    let Some(committed) = &options.committed else {
        return Ok(datatype_message(&options.datatype, RawMessage::CONSTANT, version, widths));
    };
    committed.check_alive()?;
    add_reference(txn, committed.address(), 1)?;
    Ok(committed_message(committed.address(), RawMessage::CONSTANT, widths))
}

/// Returns the datatype message of an object that uses a committed datatype.
pub(in crate::object) fn committed_message(datatype: Addr, flags: u8, widths: Widths) -> RawMessage {
    let mut data = Vec::new();
    Writer::new(&mut data, widths).structure(&SharedLocation::Header(datatype), &());
    let flags = flags | RawMessage::SHARED;
    RawMessage { kind: kind::DATATYPE, flags, creation_order: None, data: data.into(), at: Addr::UNDEFINED }
}

pub(in crate::object) fn datatype_message(
    datatype: &Datatype,
    flags: u8,
    version: LibVersion,
    widths: Widths,
) -> RawMessage {
    let encoded = |floor: u8| {
        let mut data = Vec::new();
        datatype.encode_from(&mut Writer::new(&mut data, widths), floor);
        data
    };
    let mut data = encoded(version.datatype());
    if data.len() as u64 > COMPACT_BYTES {
        // Version 3 takes half the space for each member. Only libhdf5 before 1.8 does not read it.
        data = encoded(version.datatype().max(3));
    }
    RawMessage { kind: Datatype::KIND, flags, creation_order: None, data: data.into(), at: Addr::UNDEFINED }
}

/// Version 1 of the message has no value for a dataspace without elements.
pub(in crate::object) fn dataspace_version(version: LibVersion, dataspace: &Dataspace) -> u8 {
    if *dataspace == Dataspace::Null { 2 } else { version.dataspace() }
}

pub(in crate::object) fn header_prefix(version: LibVersion, track_order: bool) -> Prefix {
    if version.is_old() && !track_order { Prefix::V1 { reference_count: 1 } } else { prefix(track_order) }
}

/// The maximum size of compact data in bytes: a message of 64 KiB without its prefix.
pub(in crate::object) const COMPACT_BYTES: u64 = 65_520;
/// The minimum bytes for messages in the header of a dataset, as in libhdf5. They leave room for attributes.
const SMALLEST_HEADER: usize = 256;
