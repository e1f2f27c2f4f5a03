//! Datasets that grow and shrink.
//!
//! Growing changes only the dataspace message, because programs append row by row. Shrinking removes chunks
//! from the index, and sets the elements beyond the new edge inside a chunk to the fill value, which they
//! hold when the dataset grows again.

use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_error::{Error, RequestError, Result};
use hyperslab_format::layout::ChunkIndexInfo;
use hyperslab_format::message::dataspace::{Dataspace, DataspaceMessage};
use hyperslab_select::Coord;
use hyperslab_store::Txn;
use hyperslab_store::index::{ChunkIndex, Grid, IndexEdit};

use super::write::{fill_extent, set_index};
use super::{Properties, max_shape};
use crate::engine::{ChunkedStorage, Storage, StoredArray};
use crate::object::header::edit::HeaderChange;
use crate::object::{Dataset, limits};

impl Dataset {
    /// Changes the shape. Elements keep their coordinates, and new elements hold the fill value.
    ///
    /// Shrinking waits for reads of the dataset that are under way.
    ///
    /// Errors: `Request` if the dataset is not chunked, or if `shape` has another rank or exceeds the
    /// [maximum](Self::max_shape). After any other error, elements outside `shape` may hold the fill value
    /// already.
    ///
    /// ```
    /// let file = hyperslab::File::in_memory()?;
    /// let log = file.root().new_dataset::<i32>("log").shape([0]).max_shape([None]).chunks([1024]).create()?;
    /// log.resize(&[3])?;
    /// log.write(0..3, &[1, 2, 3])?;
    /// assert_eq!(log.size(), 3);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn resize(&self, shape: impl AsRef<[u64]>) -> Result<()> {
        self.resize_unnamed(|resized| *resized = Coord::from_slice(shape.as_ref()))
            .map_err(|error| error.at(self.path()))
    }

    /// Changes the length of one axis, as [`resize`](Self::resize) does. Other axes stay unchanged, even if
    /// another thread resizes them meanwhile.
    ///
    /// Errors: those of `resize`; `Request` if there is no such axis.
    pub fn resize_axis(&self, axis: usize, len: u64) -> Result<()> {
        let rank = self.shape().len();
        if axis >= rank {
            return Err(Error::from(RequestError::Rank { given: axis + 1, rank }).at(self.path()));
        }
        let resize = |shape: &mut Coord| shape.get_mut(axis).into_iter().for_each(|place| *place = len);
        self.resize_unnamed(resize).map_err(|error| error.at(self.path()))
    }

    /// Makes one axis longer by `by` indices in one step, and returns its length before. Threads that append
    /// at the same time get different indices.
    ///
    /// Errors: those of `resize`; `Request` if there is no such axis, or the length exceeds a `u64`.
    ///
    /// ```
    /// let file = hyperslab::File::in_memory()?;
    /// let log = file.root().new_dataset::<i32>("log").shape([0]).max_shape([None]).chunks([1024]).create()?;
    /// let first = log.grow_axis(0, 3)?;
    /// log.write(first..first + 3, &[1, 2, 3])?;
    /// assert_eq!(log.grow_axis(0, 1)?, 3);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn grow_axis(&self, axis: usize, by: u64) -> Result<u64> {
        let rank = self.shape().len();
        if axis >= rank {
            return Err(Error::from(RequestError::Rank { given: axis + 1, rank }).at(self.path()));
        }
        let mut before = 0;
        let grow = |shape: &mut Coord| {
            if let Some(place) = shape.get_mut(axis) {
                before = *place;
                // A length above the limit is refused like any other that is too large.
                *place = place.saturating_add(by);
            }
        };
        self.resize_unnamed(grow).map_err(|error| error.at(self.path()))?;
        Ok(before)
    }

    fn resize_unnamed(&self, resize: impl FnOnce(&mut Coord)) -> Result<()> {
        self.check_writable()?;
        let _changing = self.changing();
        let lock = &self.state().data;
        let _data = self.store().writing_data();
        let _alone = lock.write();
        let properties = self.properties()?;
        let mut shape = Coord::from_slice(properties.dataspace.shape());
        resize(&mut shape);
        let shape = &shape[..];
        let dataspace = properties.resized(shape)?;
        if dataspace.shape() == properties.dataspace.shape() {
            return Ok(());
        }
        let array = self.array()?;
        if let Storage::Elsewhere(_) = &array.storage {
            return self.change_dataspace(&properties, dataspace);
        }
        let Storage::Chunked(chunked) = &array.storage else { return Err(self.not_chunked()) };
        let is_cut = array.shape.iter().zip(shape).any(|(old, new)| new < old);
        let _unread = is_cut.then(|| self.state().shape.write());
        self.cut(&array, chunked, shape)?;
        self.change_shape(dataspace)?;
        if is_cut {
            self.engine(&array).forget_outside(shape);
        }
        Ok(())
    }

    /// Changes the elements of chunks that are cut, in batches that fit in memory.
    fn cut(&self, array: &StoredArray, chunked: &ChunkedStorage, shape: &[u64]) -> Result<()> {
        let engine = self.engine(array);
        let dirty = &self.file().chunk_cache().dirty;
        let budget = self.file().chunk_cache().dirty_budget();
        let batch = usize::try_from(budget / chunked.index.chunk_bytes().max(1)).unwrap_or(usize::MAX).max(1);
        for coords in engine.changed_by(shape)?.chunks(batch) {
            engine.cut(coords, shape, None)?;
            // If edge chunks are stored without filters, they wait for the new shape, which decides which
            // chunks are at the edge.
            if dirty.bytes() > budget && !chunked.unfiltered_edges {
                self.flush_locked()?;
            }
        }
        Ok(())
    }

    /// Changes the header, and the index if chunks are removed.
    fn change_shape(&self, dataspace: Dataspace) -> Result<()> {
        let mut txn = self.begin()?;
        let before = self.store().generation();
        // Read again, because attributes may have changed the header.
        let (properties, array) = (self.properties()?, self.array()?);
        let Storage::Chunked(chunked) = &array.storage else { return Err(self.not_chunked()) };
        let grid = Grid::new(dataspace.shape(), max_shape(&dataspace), chunked.codec.shape());
        let info = remove_outside(&mut txn, &chunked.index, &grid)?;
        // The step raises the generation by one.
        let index = chunked.index.reshaped(grid, before, before + 1);
        if let ChunkIndexInfo::Implicit { .. } = index.info() {
            self.fill_new(&properties, &chunked.index, &index)?;
        }
        let mut change = HeaderChange::new(&mut txn, self.address())?;
        let message: Option<DataspaceMessage> = change.find()?;
        let message = message.ok_or_else(|| properties.header().lacks("a dataspace message of its own"))?;
        change.set(&DataspaceMessage { dataspace: dataspace.clone(), ..message })?;
        let has_same_index = info.is_none();
        if let Some(info) = info {
            set_index(&mut change, info)?;
        }
        let header = change.finish()?;
        txn.finish()?;
        if has_same_index {
            let array = array.reshaped(chunked, dataspace.shape(), index);
            self.set_properties(
                before + 1,
                Arc::new(properties.reshaped(header, dataspace, Arc::new(array))),
            );
        }
        Ok(())
    }

    /// Changes only the dataspace. Elements in external files stay where they are.
    fn change_dataspace(&self, properties: &Properties, dataspace: Dataspace) -> Result<()> {
        let _unread = self.state().shape.write();
        self.step(|txn| {
            let mut change = HeaderChange::new(txn, self.address())?;
            let message: Option<DataspaceMessage> = change.find()?;
            let message =
                message.ok_or_else(|| properties.header().lacks("a dataspace message of its own"))?;
            change.set(&DataspaceMessage { dataspace, ..message })?;
            change.finish().map(drop)
        })
    }

    /// The chunks of an implicit index are in the file before they belong to the dataset, and still hold
    /// earlier elements.
    fn fill_new(&self, properties: &Properties, old: &ChunkIndex, new: &ChunkIndex) -> Result<()> {
        let mut extents = Vec::new();
        new.visit_beyond(self.store(), &old.grid().current, &mut |_, record| {
            extents.push(record.extent);
            ControlFlow::Continue(())
        })?;
        extents.into_iter().try_for_each(|extent| fill_extent(self.store(), extent, &properties.fill.value))
    }
}

impl Properties {
    /// Returns the dataspace of this shape, or an error if the dataset cannot have it.
    fn resized(&self, shape: &[u64]) -> Result<Dataspace> {
        let Dataspace::Simple { shape: old, max_shape } = &self.dataspace else {
            let why = "a dataset without dimensions keeps its shape";
            return Err(RequestError::Argument { what: format!("shape {shape:?}"), why }.into());
        };
        if shape.len() != old.len() {
            let (given, expected) = (shape.len() as u64, old.len() as u64);
            return Err(RequestError::Length { what: "shape", given, expected }.into());
        }
        for (axis, &len) in shape.iter().enumerate() {
            let max = max_shape.as_ref().map_or(Some(old[axis]), |max| max[axis]);
            if let Some(max) = max.filter(|&max| len > max) {
                return Err(RequestError::MaxShape { axis, len, max }.into());
            }
        }
        // Without a stated maximum, the largest shape is the first one, and it numbers the chunks.
        let max_shape = max_shape.clone().unwrap_or_else(|| old.iter().map(|&len| Some(len)).collect());
        let dataspace = Dataspace::Simple { shape: shape.to_vec(), max_shape: Some(max_shape) };
        limits::check_dataspace(&dataspace, self.header().widths())?;
        let bytes = dataspace.elements().and_then(|elements| elements.checked_mul(self.element_size as u64));
        if bytes.is_none() {
            let why = "all elements take more than 2^64 bytes";
            return Err(RequestError::Argument { what: format!("shape {shape:?}"), why }.into());
        }
        Ok(dataspace)
    }
}

/// Removes the chunks outside `grid` from the index, and frees them. Returns the new description of the index
/// for the layout message, if it changed.
fn remove_outside(txn: &mut Txn<'_>, index: &ChunkIndex, grid: &Grid) -> Result<Option<ChunkIndexInfo>> {
    if index.grid().current.iter().zip(&grid.current).all(|(old, new)| old <= new) {
        return Ok(None);
    }
    let mut removed = Vec::new();
    let mut edit = IndexEdit::new(txn, index);
    edit.resize(grid.clone(), &mut |record| removed.push(record.extent))?;
    let info = (edit.info() != index.info()).then(|| edit.info().clone());
    for extent in removed {
        txn.free_data(extent);
    }
    Ok(info)
}
