//! Writing the elements of a dataset.

use std::num::NonZeroUsize;
use std::sync::Arc;

use hyperslab_error::{Error, RequestError, Result};
use hyperslab_format::layout::{ChunkIndexInfo, Layout, LayoutMessage};
use hyperslab_format::message::fill::FillBytes;
use hyperslab_format::{Addr, Extent};
use hyperslab_io::interrupt;
use hyperslab_select::{Coord, Select, Selection};
use hyperslab_store::index::{ChunkIndex, ChunkRecord, IndexEdit};
use hyperslab_store::{Collective, Meeting, Store, Txn};

use crate::engine::{
    Move, Placed, Storage, StoredArray, Transfer, Write, WriteOptions, WritePlan, abandon, copy_extents,
};
use crate::object::Dataset;
use crate::object::header::edit::HeaderChange;

/// What a caller writes to a dataset.
#[derive(Debug, Clone, Copy)]
pub(in crate::object) struct Given<'a> {
    /// The shape that the dataset must have. If it has another one, nothing is written.
    pub(in crate::object) shape: Option<&'a [u64]>,
    pub(in crate::object) what: &'a Selection,
    /// The elements of `what` in row-major order.
    pub(in crate::object) bytes: &'a [u8],
    pub(in crate::object) options: &'a WriteOptions,
}

impl Dataset {
    /// Writes `bytes`, the elements of `what` in row-major order, in the stored datatype or in the datatype
    /// of `options`.
    ///
    /// A chunk that is written whole is encoded and written at once, by several threads. A chunk that is
    /// written in part is kept in memory until a flush, or until such chunks exceed their budget. After an
    /// error, each element may be old or new.
    ///
    /// Bytes of variable-length data are ids of objects in the file, which belong to the dataset from then
    /// on. The data of the old ids are removed from the file. [`write`](Self::write) takes the strings and
    /// sequences themselves.
    ///
    /// ```
    /// use hyperslab::{Element, File, WriteOptions};
    ///
    /// let file = File::in_memory()?;
    /// let dataset = file.root().new_dataset::<f32>("d").shape([2]).create()?;
    /// // The elements are f64, and are converted to f32.
    /// let bytes: Vec<u8> = [1.5_f64, 2.5].iter().flat_map(|value| value.to_ne_bytes()).collect();
    /// dataset.write_with(.., &bytes, &WriteOptions::default().datatype(f64::datatype()))?;
    /// assert_eq!(dataset.read::<f32>(..)?, [1.5, 2.5]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn write_with(&self, what: impl Select, bytes: &[u8], options: &WriteOptions) -> Result<()> {
        let given = Given { shape: None, what: &self.select(what)?.selection, bytes, options };
        self.write_given(given).map_err(|error| error.at(self.path()))
    }

    /// Does the same as [`write_with`](Self::write_with) for `what` of a dataset of this shape. If the shape
    /// has changed, the error is [`RequestError::Reshaped`] and nothing is written.
    #[doc(hidden)]
    pub fn write_shaped(
        &self,
        shape: &[u64],
        what: &Selection,
        bytes: &[u8],
        options: &WriteOptions,
    ) -> Result<()> {
        let given = Given { shape: Some(shape), what, bytes, options };
        self.write_given(given).map_err(|error| error.at(self.path()))
    }

    fn write_given(&self, given: Given<'_>) -> Result<()> {
        self.check_writable()?;
        let _changing = self.changing();
        if let Some(collective) = self.store().collective() {
            collective.check_step()?;
            // The other ranks go on.
            return interrupt::ignore(|| match given.options.transfer {
                Transfer::Alike => self.write_own(given),
                Transfer::Independent => {
                    self.check_alone()?;
                    let _alone = collective.alone();
                    self.write_own(given)
                }
                Transfer::Collective => self.write_together(given, collective),
            });
        }
        self.write_own(given)
    }

    fn write_own(&self, given: Given<'_>) -> Result<()> {
        if self.has_sources()? {
            return self.write_sources(given, None);
        }
        let lock = &self.state().data;
        let _data = self.store().writing_data();
        // Data that are changed in place, or read to be changed, count as read: if another thread deletes the
        // dataset, the space is not reused before this write is done.
        let found = self.store().reading_data();
        let mut array = self.array_of(given.shape)?;
        if array.elements.datatype.has_variable_parts() {
            // No other thread writes between reading the old ids and writing the new ones.
            let _alone = lock.write();
            return interrupt::ignore(|| self.replace_locked(given));
        }
        loop {
            let write = self.engine(&array);
            let plan = write.plan(given.what, given.bytes, given.options)?;
            let is_shared = write.is_side_by_side(&plan);
            let _shared = is_shared.then(|| lock.read());
            let _alone = (!is_shared).then(|| lock.write());
            array = self.array_of(given.shape)?;
            let write = self.engine(&array);
            // Another thread may have resized the dataset before the lock was taken.
            if plan.fits(&array) && write.is_side_by_side(&plan) == is_shared {
                if is_shared && write.gives_new_space() {
                    drop(found);
                }
                self.write_locked(write, &plan, given.options.threads)?;
                return if is_shared { Ok(()) } else { self.keep_to_budget() };
            }
        }
    }

    /// Errors if one rank cannot write to the dataset without the others.
    fn check_alone(&self) -> Result<()> {
        let array = self.array()?;
        let has_place = matches!(array.storage, Storage::Contiguous(Some(_)) | Storage::Elsewhere(_));
        if has_place && !array.elements.datatype.has_variable_parts() && !self.has_sources()? {
            return Ok(());
        }
        let why = "its storage has to be changed with the elements: make a collective write on all ranks";
        Err(RequestError::Argument { what: "write by one rank".to_owned(), why }.into())
    }

    /// Does this rank's part of a write of all ranks.
    fn write_together(&self, given: Given<'_>, collective: &Collective) -> Result<()> {
        let lock = &self.state().data;
        let _data = self.store().writing_data();
        let _alone = lock.write();
        let array = self.array_for_all().map_err(|error| collective.fail(Meeting::Touched, error))?;
        let write = self.engine(&array);
        let plan =
            self.array_of(given.shape).and_then(|_| write.plan(given.what, given.bytes, given.options));
        let placed = write.run_together(plan, collective, given.options.threads)?;
        self.insert_chunks(placed)
    }

    /// Returns the array for a write of all ranks, whose elements have a place if it has no chunks.
    fn array_for_all(&self) -> Result<Arc<StoredArray>> {
        // Chunks that all have changed alike.
        self.flush_locked()?;
        let array = self.array()?;
        let cannot =
            |feature: &str| Err(Error::unsupported(format!("a collective write of {feature}"), "IV.A.2"));
        if array.elements.datatype.has_variable_parts() {
            return cannot("strings and sequences of variable length");
        }
        if self.has_sources()? {
            return cannot("a virtual dataset");
        }
        match array.storage {
            Storage::Compact(_) => cannot("compact data"),
            Storage::Contiguous(None) => {
                let properties = self.properties()?;
                let extent = self.store().allocate(properties.len_bytes())?;
                fill_extent(self.store(), extent, &properties.fill.value)
                    .and_then(|()| self.set_layout(Layout::Contiguous(extent)))
                    .inspect_err(|_| self.store().release(extent))?;
                self.array()
            }
            _ => Ok(array),
        }
    }

    /// Writes while the caller holds the lock exclusively.
    pub(in crate::object) fn write_alone(&self, given: Given<'_>) -> Result<()> {
        let array = self.array_of(given.shape)?;
        let write = self.engine(&array);
        let plan = write.plan(given.what, given.bytes, given.options)?;
        self.write_locked(write, &plan, given.options.threads)?;
        self.keep_to_budget()
    }

    fn write_locked(
        &self,
        write: Write<'_>,
        plan: &WritePlan<'_>,
        threads: Option<NonZeroUsize>,
    ) -> Result<()> {
        match &write.array.storage {
            Storage::Compact(data) => self.write_compact(data, plan),
            Storage::Contiguous(None) if !plan.is_empty() => self.write_first(plan, threads),
            Storage::Contiguous(Some(old)) if write.array.elements.datatype.has_variable_parts() => {
                self.write_ids(&write, *old, plan, threads)
            }
            Storage::Contiguous(_) | Storage::Elsewhere(_) | Storage::Chunked(_) => {
                let placed = write.run(plan, threads)?;
                self.insert_chunks(placed)?;
                write.forget_replaced(plan);
                write.settle()
            }
        }
    }

    /// Flushes the chunks in memory of this dataset if they exceed their budget.
    fn keep_to_budget(&self) -> Result<()> {
        let cache = self.file().chunk_cache();
        if let Err(gone) = self.check_alive() {
            // The dataset was deleted meanwhile: its chunks in memory are not needed.
            cache.dirty.forget_dataset(self.address());
            return Err(gone);
        }
        if cache.dirty.bytes() > cache.dirty_budget() { self.flush_locked() } else { Ok(()) }
    }

    /// Encodes and writes the chunks that were changed in part. [`File::flush`](crate::File::flush) does so,
    /// too, and then commits; call this to free their memory earlier.
    ///
    /// Errors: `Io` if the medium fails or is full, `Filter` if a chunk cannot be encoded.
    pub fn flush_chunks(&self) -> Result<()> {
        let lock = &self.state().data;
        let _data = self.store().writing_data();
        let _found = self.store().reading_data();
        let _alone = lock.write();
        self.flush_locked().map_err(|error| error.at(self.path()))
    }

    pub(in crate::object) fn flush_locked(&self) -> Result<()> {
        let array = self.array()?;
        let write = self.engine(&array);
        let coords = write.held();
        let placed = write.flush(None)?;
        self.insert_chunks(placed)?;
        write.forget(coords);
        Ok(())
    }

    pub(in crate::object) fn engine<'a>(&'a self, array: &'a StoredArray) -> Write<'a> {
        let skips_fill = array.may_skip_fill && self.skips_fill_chunks();
        // Ids never change in place, as `write_ids` says.
        let moves = self.store().in_transaction()
            || self.are_rows_changed()
            || array.elements.datatype.has_variable_parts();
        Write { store: self.store(), cache: self.file().chunk_cache(), array, skips_fill, moves }
    }

    pub(in crate::object) fn check_writable(&self) -> Result<()> {
        self.store().check_writable()?;
        self.store().check_readable()
    }

    /// Enters chunks that were [written](Write::write) into the index. If that fails, their space is freed.
    #[doc(hidden)]
    pub fn insert_chunks(&self, mut placed: Vec<Placed>) -> Result<()> {
        if placed.is_empty() {
            return Ok(());
        }
        // A tree that is filled in order has full nodes; threads end their tasks in any order.
        placed.sort_unstable_by(|a, b| a.coord.cmp(&b.coord));
        self.insert_sorted(&placed).inspect_err(|_| abandon(self.store(), &placed))
    }

    fn insert_sorted(&self, placed: &[Placed]) -> Result<()> {
        self.step(|txn| {
            // The current index: another thread may have changed it.
            let array = self.array()?;
            let Storage::Chunked(chunked) = &array.storage else { return Err(self.not_chunked()) };
            let records = placed.iter().map(|placed| (&placed.coord, placed.record));
            insert_records(txn, self.address(), &chunked.index, records)
        })
    }

    /// Writes contiguous elements for the first time, to new space that belongs to the dataset from then on.
    fn write_first(&self, plan: &WritePlan<'_>, threads: Option<NonZeroUsize>) -> Result<()> {
        let properties = self.properties()?;
        let extent = self.store().allocate(properties.len_bytes())?;
        let written = self
            .write_to(extent, &properties.fill.value, plan, threads)
            .and_then(|()| self.set_layout(Layout::Contiguous(extent)));
        if written.is_err() {
            self.store().release(extent);
        }
        written
    }

    /// Writes ids of variable-length data to contiguous elements. In place, they would also be in the
    /// committed state of the file, if that refers to the elements. After a crash or a roll-back, this state
    /// has the data of the old ids, and not those of new ones.
    fn write_ids(
        &self,
        write: &Write<'_>,
        old: Extent,
        plan: &WritePlan<'_>,
        threads: Option<NonZeroUsize>,
    ) -> Result<()> {
        // No commit refers to the elements between the question and the write.
        let uncommitted = self.store().reading();
        if self.store().is_fresh(old.addr) {
            return write.run(plan, threads).map(drop);
        }
        drop(uncommitted);
        self.write_moved(old, plan, threads)
    }

    /// Writes contiguous elements, and those that stay, to new space.
    fn write_moved(&self, old: Extent, plan: &WritePlan<'_>, threads: Option<NonZeroUsize>) -> Result<()> {
        let store = self.store();
        let new = store.allocate(old.len)?;
        let write = || {
            store.reserve(new)?;
            if !plan.is_everything() {
                copy_extents(store, store, &[Move { from: old, to: new.addr }])?;
            }
            let array = self.array()?.at(new);
            self.engine(&array).run(plan, threads)?;
            self.set_layout(Layout::Contiguous(new))
        };
        let written = write();
        store.release(if written.is_ok() { old } else { new });
        written
    }

    /// Writes elements to new space of the dataset. Other elements hold the fill value.
    fn write_to(
        &self,
        extent: Extent,
        fill: &FillBytes,
        plan: &WritePlan<'_>,
        threads: Option<NonZeroUsize>,
    ) -> Result<()> {
        self.store().reserve(extent)?;
        if !plan.is_everything() {
            fill_extent(self.store(), extent, fill)?;
        }
        let array = self.array()?.at(extent);
        self.engine(&array).run(plan, threads).map(drop)
    }

    /// Changes elements in the header.
    fn write_compact(&self, data: &[u8], plan: &WritePlan<'_>) -> Result<()> {
        let mut data = data.to_vec();
        plan.place_in(&mut data)?;
        self.set_layout(Layout::Compact { data })
    }

    /// Changes the layout message in a step of its own.
    fn set_layout(&self, layout: Layout) -> Result<()> {
        let header = self.header()?;
        self.step(|txn| {
            if let Layout::Contiguous(extent) = layout {
                txn.names(extent);
            }
            let mut change = HeaderChange::new(txn, self.address())?;
            let mut message: LayoutMessage =
                change.find()?.ok_or_else(|| header.lacks("a layout message"))?;
            message.layout = layout;
            change.set(&message)?;
            change.finish().map(drop)
        })
    }

    /// Stores a chunk that is encoded already. `first` is its first element. Bit `i` of `mask` is set if
    /// filter `i` was not applied. If the dataset has no filters, the bytes must be those of a whole chunk.
    pub fn write_stored_chunk(&self, first: &[u64], mask: u32, bytes: &[u8]) -> Result<()> {
        self.write_stored(first, mask, bytes).map_err(|error| error.at(self.path()))
    }

    fn write_stored(&self, first: &[u64], mask: u32, bytes: &[u8]) -> Result<()> {
        self.check_writable()?;
        let _changing = self.changing();
        let lock = &self.state().data;
        let _data = self.store().writing_data();
        let _alone = lock.write();
        let array = self.array()?;
        let Storage::Chunked(chunked) = &array.storage else { return Err(self.not_chunked()) };
        let coord: Option<Coord> = first
            .iter()
            .zip(chunked.codec.shape())
            .zip(&chunked.index.grid().current)
            .map(|((at, len), count)| (at % len == 0 && at / len < *count).then_some(at / len))
            .collect();
        let why = "it is not the first element of a chunk of the dataset";
        let coord = coord
            .filter(|coord| coord.len() == chunked.codec.shape().len() && first.len() == coord.len())
            .ok_or_else(|| RequestError::Argument { what: format!("chunk at {first:?}"), why })?;
        if bytes.is_empty() {
            let why = "a stored chunk has 1 byte or more";
            return Err(RequestError::Argument { what: format!("chunk at {first:?}"), why }.into());
        }
        let mask = hyperslab_filters::FilterMask(mask);
        let (given, expected) = (bytes.len() as u64, chunked.index.chunk_bytes());
        // An index of unfiltered chunks has no sizes: a reader would take the bytes beside a short chunk.
        // If the mask alone skips the filters, a size that is wrong is an error when the elements are read.
        let is_raw = chunked.is_raw(&coord, hyperslab_filters::FilterMask::NONE_SKIPPED, &array.shape);
        if is_raw && given != expected {
            let what = "stored chunk without filters, in bytes,";
            return Err(RequestError::Length { what, given, expected }.into());
        }
        let write = self.engine(&array);
        let placed = write.place_stored(&coord, mask, bytes)?;
        self.insert_chunks(placed)?;
        write.forget([coord]);
        Ok(())
    }

    pub(in crate::object) fn not_chunked(&self) -> Error {
        RequestError::Argument {
            what: format!("dataset {:?}", self.path()),
            why: "it is not stored in chunks",
        }
        .into()
    }
}

/// Enters the new places of chunks into the index of the dataset at `address`, or removes chunks, and frees
/// their old space.
pub(in crate::object) fn insert_records<'p>(
    txn: &mut Txn<'_>,
    address: Addr,
    index: &ChunkIndex,
    records: impl Iterator<Item = (&'p Coord, Option<ChunkRecord>)> + Clone,
) -> Result<()> {
    let mut edit = IndexEdit::new(txn, index);
    let mut replaced: Vec<Extent> = Vec::new();
    for (coord, record) in records.clone() {
        let old = match record {
            Some(record) => edit.insert(coord, record)?,
            None => edit.remove(coord)?,
        };
        replaced.extend(old.map(|old| old.extent));
    }
    let info = (edit.info() != index.info()).then(|| edit.info().clone());
    for extent in replaced {
        txn.free_data(extent);
    }
    records.filter_map(|(_, record)| record).for_each(|record| txn.names(record.extent));
    let Some(info) = info else { return Ok(()) };
    let mut change = HeaderChange::new(txn, address)?;
    set_index(&mut change, info)?;
    change.finish().map(drop)
}

/// Stores the address of the chunk index in the layout message.
pub(in crate::object) fn set_index(change: &mut HeaderChange<'_, '_>, info: ChunkIndexInfo) -> Result<()> {
    let Some(mut message) = change.find::<LayoutMessage>()? else { return Ok(()) };
    if let Layout::Chunked(layout) = &mut message.layout {
        layout.index = info;
    }
    change.set(&message)
}

/// Fills new space with the fill value.
pub(in crate::object) fn fill_extent(store: &Store, extent: Extent, fill: &FillBytes) -> Result<()> {
    match fill {
        FillBytes::Defined(value) if value.iter().any(|&byte| byte != 0) => store.fill(extent, value),
        // Space beyond the end of the file reads as zeros once the file is longer.
        _ => store.zero(extent),
    }
}
