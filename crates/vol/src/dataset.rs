//! A dataset that the engine reads: how it is found, and kept.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use hyperslab::datatype::Datatype;
use hyperslab::storage::{FillBytes, FillTime};
use hyperslab::{Addr, ChunkCodec, Error};
use hyperslab_filters::{FilterId, blosc};
use hyperslab_format::layout::Layout;
use hyperslab_io::process::forks;

use crate::callbacks::object::Object;
use crate::codec;
use crate::ffi::native::DatasetKey;
use crate::rules::{Least, Reason, Ruled};

/// What a handle knows of its dataset.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// The engine's dataset, and the process that has it: a child opens it again.
    source: Mutex<Option<(u32, Ruled<Arc<EngineDataset>>)>>,
    codec: Mutex<Option<Ruled<Arc<ChunkCodec>>>>,
    key: OnceLock<DatasetKey>,
    is_virtual: OnceLock<bool>,
}

/// A dataset that the engine can read.
#[derive(Debug)]
pub(crate) struct EngineDataset {
    pub(crate) dataset: hyperslab::Dataset,
    pub(crate) shape: Vec<u64>,
    pub(crate) datatype: Arc<Datatype>,
    /// The fewest bytes of a read by the engine.
    pub(crate) fewest: u64,
}

impl Known {
    /// Returns what identifies the dataset of an object, whatever handle it has.
    pub(crate) fn key(&self, object: &Object) -> Ruled<DatasetKey> {
        if let Some(key) = self.key.get() {
            return Ok(*key);
        }
        let key = object.native_dataset().identity().ok_or(Reason::File)?;
        Ok(*self.key.get_or_init(|| key))
    }

    /// Returns whether the elements of an object are those of other datasets.
    pub(crate) fn is_virtual(&self, object: &Object) -> bool {
        *self.is_virtual.get_or_init(|| codec::is_virtual(object.native_dataset()))
    }

    /// Returns how the native connector stores the chunks of an object.
    pub(crate) fn codec(&self, object: &Object) -> Ruled<Arc<ChunkCodec>> {
        let mut known = self.codec.lock().unwrap_or_else(PoisonError::into_inner);
        let find = || {
            object.file.check_has(self.key(object)?.0)?;
            object.file.check_writable()?;
            codec::of(object.library, object.native_dataset()).map(Arc::new)
        };
        known.get_or_insert_with(find).clone()
    }

    /// Returns the engine's dataset of an object.
    pub(crate) fn source(&self, object: &Object) -> Ruled<Arc<EngineDataset>> {
        let mut known = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, source)) = known.as_ref().filter(|(made, _)| *made == forks()) {
            // A file that is refreshed may have been changed by another program.
            let is_stale = source.is_ok() && object.library.is_refreshed(self.key(object)?.0);
            return if is_stale { Err(Reason::Swmr) } else { source.clone() };
        }
        let source = open(object).map(Arc::new);
        *known = Some((forks(), source.clone()));
        source
    }
}

/// Opens the dataset of an object in the engine, if the engine gives the same elements as the native
/// connector.
fn open(object: &Object) -> Ruled<EngineDataset> {
    let (number, address) = object.dataset.key(object)?;
    object.file.check_has(number)?;
    if object.library.is_refreshed(number) {
        return Err(Reason::Swmr);
    }
    let file = object.file.engine()?;
    let dataset = match file.object_at(Addr::new(address)) {
        Ok(node) => node.into_dataset().map_err(|_| Reason::File)?,
        Err(_) => return Err(Reason::File),
    };
    let datatype = dataset.datatype();
    if datatype.has_variable_parts() || datatype.has_references() {
        return Err(Reason::Datatype);
    }
    let is_filtered = match dataset.layout() {
        Layout::Compact { .. } | Layout::Virtual { .. } => return Err(Reason::Layout),
        Layout::Contiguous(_) if dataset.has_external_files() => return Err(Reason::Layout),
        Layout::Contiguous(_) => false,
        Layout::Chunked(_) => !dataset.filters().filters.is_empty(),
    };
    // Prepares the filters.
    dataset.array().map_err(|error| match error {
        Error::Format(_) => Reason::File,
        _ => Reason::Filter,
    })?;
    if is_order_disputed(&dataset)? {
        return Err(Reason::Filter);
    }
    if leaves_memory(&dataset)? {
        return Err(Reason::Unwritten);
    }
    let Least { filtered, plain, .. } = Least::work();
    let fewest = if is_filtered { filtered } else { plain };
    Ok(EngineDataset { shape: dataset.shape(), datatype, fewest, dataset })
}

/// Returns whether the program's Blosc 2 may have another order of the blocks in a chunk than the engine, by
/// what the first stored chunk says.
fn is_order_disputed(dataset: &hyperslab::Dataset) -> Ruled<bool> {
    let has_blosc = dataset.filters().filters.iter().any(|filter| filter.id == FilterId::BLOSC2.0);
    if !has_blosc || dataset.shape().len() < 3 {
        return Ok(false);
    }
    let mut first = None;
    let visited = dataset.visit_chunks(&mut |_, record| {
        first = Some(record);
        ControlFlow::Break(())
    });
    visited.map_err(|_| Reason::File)?;
    let Some(record) = first else { return Ok(false) };
    let stored = dataset.read_stored_chunk(record).map_err(|_| Reason::File)?;
    Ok(blosc::is_order_disputed(&stored))
}

/// Returns whether the native connector leaves the caller's memory as it is where no element was written,
/// and there are such elements.
fn leaves_memory(dataset: &hyperslab::Dataset) -> Ruled<bool> {
    let fill = dataset.fill_value();
    if fill.write != FillTime::Never && fill.value != FillBytes::Undefined {
        return Ok(false);
    }
    let Some(chunk) = dataset.chunk_shape() else {
        return Ok(dataset.storage_bytes().map_err(|_| Reason::File)? == 0);
    };
    let chunks: u64 = dataset.shape().iter().zip(&chunk).map(|(len, chunk)| len.div_ceil(*chunk)).product();
    Ok(dataset.stored_chunks().map_err(|_| Reason::File)? < chunks)
}
