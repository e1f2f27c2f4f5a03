//! Reading the elements of a dataset, and its stored chunks.

use std::num::NonZeroUsize;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use hyperslab_error::{Error, RequestError, Result};
use hyperslab_format::layout::{ChunkIndexInfo, ChunkedLayout, Layout};
use hyperslab_format::message::fill::{AllocationTime, FillBytes, FillTime};
use hyperslab_format::{ErrorKind, Extent};
use hyperslab_select::{Coord, Select, Selected, Selection};
use hyperslab_store::index::{ChunkIndex, ChunkRecord, Visitor};

use super::vds::read::Start;
use super::{Properties, RAW_DATA, grid};
use crate::engine::{
    ChunkCodec, ChunkedStorage, Destination, Fill, Keep, ReadOptions, ReadPlan, Reading, Sink, Storage,
    StoredArray, StoredElements,
};
use crate::object::element::zeroed;
use crate::object::{Dataset, File};

impl Dataset {
    /// Reads the elements of `what` into `dst`, in the stored datatype.
    ///
    /// `dst` is row-major, of the shape of `what`: exactly that many elements of
    /// `self.element_size()` bytes. Elements that were never written read as the fill value (spec IV.A.2.f).
    ///
    /// Errors: `Request` if `what` leaves the dataset or `dst` has another size; `Format` or `Chunk` if the
    /// file is damaged, in which case `dst` holds unspecified values.
    ///
    /// ```
    /// let file = hyperslab::File::in_memory()?;
    /// let dataset = file.root().new_dataset::<u16>("d").shape([4]).create_with(&[1, 2, 3, 4])?;
    /// let mut bytes = [0; 4];
    /// dataset.read_into(1..3, &mut bytes)?;
    /// assert_eq!(bytes, [2, 0, 3, 0]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn read_into(&self, what: impl Select, dst: &mut [u8]) -> Result<()> {
        self.read_with(what, &mut Destination::contiguous(dst), &ReadOptions::default())
    }

    /// Applies `what` to the shape of the dataset.
    #[inline]
    pub(in crate::object) fn select(&self, what: impl Select) -> Result<Selected> {
        what.select(|| self.shape()).map_err(|error| Error::from(error).at(self.path()))
    }

    /// The elements of `what`, in the stored datatype.
    pub(in crate::object) fn read_bytes(&self, what: &Selection) -> Result<Vec<u8>> {
        let mut bytes = self.room_for(what)?;
        self.read_into(what, &mut bytes)?;
        Ok(bytes)
    }

    /// Returns as many zeros as the stored elements of `what` have bytes.
    pub(in crate::object) fn room_for(&self, what: &Selection) -> Result<Vec<u8>> {
        let count = what.count(&self.shape())?;
        zeroed(count.saturating_mul(self.element_size() as u64))
    }

    /// Reads the elements of `what` into any destination, converted to the datatype that `options` ask for.
    ///
    /// ```
    /// use std::num::NonZeroUsize;
    /// use hyperslab::{Destination, File, ReadOptions};
    ///
    /// let file = File::in_memory()?;
    /// let dataset = file.root().new_dataset::<u8>("d").shape([2, 3]).create_with(&[1, 2, 3, 4, 5, 6])?;
    /// let mut bytes = [0; 6];
    /// let mut destination = Destination::contiguous(&mut bytes);
    /// let options = ReadOptions::default().threads(NonZeroUsize::MIN);
    /// dataset.read_with(.., &mut destination, &options)?;
    /// assert_eq!(bytes, [1, 2, 3, 4, 5, 6]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn read_with(
        &self,
        what: impl Select,
        dst: &mut Destination<'_>,
        options: &ReadOptions,
    ) -> Result<()> {
        let what = self.select(what)?;
        if what.dropped.is_empty() {
            return self.read_shaped(None, &what.selection, dst, options);
        }
        self.read_shaped(None, &what.selection, &mut dst.with_axes(&what.dropped), options)
    }

    /// Does the same as [`read_with`](Self::read_with). If there is a shape, `dst` was made for a dataset of
    /// this shape: if it has changed, the error is [`RequestError::Reshaped`] and nothing is read.
    #[doc(hidden)]
    pub fn read_shaped(
        &self,
        shape: Option<&[u64]>,
        what: &Selection,
        dst: &mut Destination<'_>,
        options: &ReadOptions,
    ) -> Result<()> {
        if self.has_sources()? {
            let read = self.read_sources(shape, &mut [(what, dst)], options, Start::First(None));
            return read.map_err(|error| error.at(self.path()));
        }
        self.reading_again(shape, |reading| reading.read(what, dst, options))
    }

    /// Reads several selections at once, each into its own destination. A chunk that several selections touch
    /// is read and decoded once.
    ///
    /// ```
    /// use hyperslab::{Destination, File, ReadOptions, Selection};
    ///
    /// let file = File::in_memory()?;
    /// let dataset = file.root().new_dataset::<u8>("d").shape([2, 3]).create_with(&[1, 2, 3, 4, 5, 6])?;
    /// let (first, last) = (Selection::from([0..1, 0..1]), Selection::from([1..2, 1..3]));
    /// let (mut one, mut two) = ([0; 1], [0; 2]);
    /// let (mut to_one, mut to_two) = (Destination::contiguous(&mut one), Destination::contiguous(&mut two));
    /// dataset.read_many(&mut [(&first, &mut to_one), (&last, &mut to_two)], &ReadOptions::default())?;
    /// assert_eq!((one, two), ([1], [5, 6]));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn read_many(
        &self,
        reads: &mut [(&Selection, &mut Destination<'_>)],
        options: &ReadOptions,
    ) -> Result<()> {
        self.read_many_shaped(None, reads, options)
    }

    /// Does the same as [`read_many`](Self::read_many). If there is a shape, the destinations were made for a
    /// dataset of this shape; see [`read_shaped`](Self::read_shaped).
    #[doc(hidden)]
    pub fn read_many_shaped(
        &self,
        shape: Option<&[u64]>,
        reads: &mut [(&Selection, &mut Destination<'_>)],
        options: &ReadOptions,
    ) -> Result<()> {
        if self.has_sources()? {
            let read = self.read_sources(shape, reads, options, Start::First(None));
            return read.map_err(|error| error.at(self.path()));
        }
        self.reading_again(shape, |reading| reading.read_many(reads, options))
    }

    /// Calls `sink` with the elements of `what`, block by block, on the threads that decode them, while the
    /// elements are in the cache of the processor; see [`Block`](crate::engine::Block).
    ///
    /// Elements have the stored datatype. `columns` are ranges of bytes of an element; without columns,
    /// `sink` receives whole elements. Blocks of one chunk come in order. Blocks of different chunks come in
    /// any order, and at the same time.
    ///
    /// `sink` must not use the file: it may run during a call of the driver.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU64, Ordering};
    ///
    /// let file = hyperslab::File::in_memory()?;
    /// let dataset = file.root().new_dataset::<u8>("d").shape([1000]).chunks([100]).create_with(&[2; 1000])?;
    /// let sum = AtomicU64::new(0);
    /// dataset.blocks(.., &[], None, &|block| {
    ///     sum.fetch_add(block.iter().map(|value| u64::from(value[0])).sum(), Ordering::Relaxed);
    ///     Ok(())
    /// })?;
    /// assert_eq!(sum.into_inner(), 2000);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn blocks(
        &self,
        what: impl Select,
        columns: &[Range<usize>],
        threads: Option<NonZeroUsize>,
        sink: &Sink<'_>,
    ) -> Result<()> {
        let what = self.select(what)?.selection;
        self.check_stored()?;
        self.with_reading(None, |reading| reading.blocks(&what, columns, None, threads, sink))
    }

    /// Calls `sink` as [`blocks`](Self::blocks) does, but leaves out chunks that `keep` does not want.
    ///
    /// hyperslab notes the smallest and the largest value of each column with every chunk of records that it
    /// compresses with Blosc 2, if the dataset has one dimension and the filter is the only one. `keep` is
    /// called with these [`Bounds`](crate::Bounds). All other chunks are passed on: chunks of other datasets, and of other
    /// writers, and with a note that does not belong to the chunk. So is a chunk of which only a small part
    /// is selected.
    ///
    /// ```
    /// # use hyperslab::Bound;
    /// # fn search(table: &hyperslab::Dataset) -> hyperslab::Result<()> {
    /// // The first column is a little-endian i32. Elements above 310 are wanted.
    /// let keep = |bounds: &hyperslab::Bounds<'_>| match bounds.column(0..4) {
    ///     Some(Bound { extremes: Some((_, largest)), .. }) => {
    ///         largest.first_chunk().is_none_or(|bytes| i32::from_le_bytes(*bytes) > 310)
    ///     }
    ///     _ => true,
    /// };
    /// table.blocks_where(.., &[0..4], &keep, None, &|block| {
    ///     // Values of a chunk that has a value above 310, or bounds that are not known.
    ///     Ok(())
    /// })
    /// # }
    /// ```
    pub fn blocks_where(
        &self,
        what: impl Select,
        columns: &[Range<usize>],
        keep: &Keep<'_>,
        threads: Option<NonZeroUsize>,
        sink: &Sink<'_>,
    ) -> Result<()> {
        let what = self.select(what)?.selection;
        self.check_stored()?;
        self.with_reading(None, |reading| reading.blocks(&what, columns, Some(keep), threads, sink))
    }

    /// Returns the plan of reading `what`: the chunks, their bytes and their routes. Reads no elements.
    ///
    /// ```
    /// let file = hyperslab::File::in_memory()?;
    /// let dataset = file.root().new_dataset::<u8>("d").shape([10, 10]).chunks([5, 5]).create()?;
    /// let plan = dataset.plan([0..10, 0..1])?;
    /// assert_eq!((plan.tasks.len(), plan.result_bytes), (2, 10));
    /// println!("{plan}");
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn plan(&self, what: impl Select) -> Result<ReadPlan> {
        let Selected { selection, dropped } = self.select(what)?;
        self.check_stored()?;
        let mut plan = self.with_reading(None, |reading| reading.plan(&selection))?;
        for axis in dropped.into_iter().rev() {
            plan.shape.remove(axis);
        }
        Ok(plan)
    }

    /// Refuses what only stored elements have: blocks as they were decoded, and a plan.
    fn check_stored(&self) -> Result<()> {
        if self.has_sources()? {
            let feature = "blocks and plans of a virtual dataset: use those of its sources";
            return Err(Error::unsupported(feature, "III.F").at(self.path()));
        }
        Ok(())
    }

    /// Calls `f` with the coordinate (counted in chunks) and the record of every stored chunk, in the order
    /// of the index, until `f` breaks. A dataset without chunks has none.
    ///
    /// Changes of the file wait meanwhile, so `f` must not change the file or read elements.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// let file = hyperslab::File::in_memory()?;
    /// let dataset = file.root().new_dataset::<u8>("d").shape([1000]).chunks([100]).create_with(&[2; 1000])?;
    /// file.flush()?;
    /// let mut bytes = 0;
    /// dataset.visit_chunks(&mut |_, chunk| {
    ///     bytes += chunk.extent.len;
    ///     ControlFlow::Continue(())
    /// })?;
    /// assert_eq!(bytes, dataset.storage_bytes()?);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn visit_chunks(&self, f: &mut Visitor<'_>) -> Result<()> {
        let array = self.array()?;
        let Storage::Chunked(chunked) = &array.storage else { return Ok(()) };
        let _reading = self.store().reading();
        chunked.index.visit(self.store(), f).map_err(|error| error.at(self.path()))
    }

    /// Returns the number of stored chunks.
    pub fn stored_chunks(&self) -> Result<u64> {
        let mut count = 0;
        self.visit_chunks(&mut |_, _| {
            count += 1;
            ControlFlow::Continue(())
        })?;
        Ok(count)
    }

    /// Returns how the chunks are encoded; `None` if the dataset has no chunks. The codec decodes what
    /// [`read_stored_chunk`](Self::read_stored_chunk) returns, and encodes what
    /// [`write_stored_chunk`](Self::write_stored_chunk) takes.
    ///
    /// Errors: `Format` or `Filter` if the file's description of the chunks is invalid.
    pub fn chunk_codec(&self) -> Result<Option<ChunkCodec>> {
        Ok(match &self.array()?.storage {
            Storage::Chunked(chunked) => Some(chunked.codec.clone()),
            _ => None,
        })
    }

    /// Returns the record of the chunk at `coord` (counted in chunks), or `None` if the chunk was never
    /// written or the dataset has no chunks.
    pub fn chunk_at(&self, coord: &[u64]) -> Result<Option<ChunkRecord>> {
        let array = self.array()?;
        let Storage::Chunked(chunked) = &array.storage else { return Ok(None) };
        let is_inside = coord.len() == chunked.codec.shape().len()
            && coord.iter().zip(&chunked.index.grid().current).all(|(at, count)| at < count);
        if !is_inside {
            return Ok(None);
        }
        let _reading = self.store().reading();
        let mut cursor = chunked.index.cursor(self.store());
        cursor.lookup(&Coord::from_slice(coord)).map_err(|error| error.at(self.path()))
    }

    /// Returns the record and the stored bytes of the chunk at `coord`, as [`chunk_at`](Self::chunk_at) and
    /// [`read_stored_chunk`](Self::read_stored_chunk) do, while other threads may write the chunk.
    pub fn stored_chunk_at(&self, coord: &[u64]) -> Result<Option<(ChunkRecord, Vec<u8>)>> {
        let file = self.file();
        let _kept = file.store().reading_data();
        let Some(record) = self.chunk_at(coord)? else { return Ok(None) };
        Ok(Some((record, self.read_stored_chunk(record)?)))
    }

    /// Returns the stored bytes of a chunk, without decoding. If other threads write the dataset, use
    /// [`stored_chunk_at`](Self::stored_chunk_at).
    pub fn read_stored_chunk(&self, record: ChunkRecord) -> Result<Vec<u8>> {
        let bytes = self.file().store().bytes(record.extent, RAW_DATA);
        bytes.map_err(|error| error.at(self.path()))
    }

    /// Returns the stored size of the elements in bytes: of all stored chunks, or of contiguous or compact
    /// data.
    pub fn storage_bytes(&self) -> Result<u64> {
        Ok(match &self.array()?.storage {
            Storage::Compact(data) => data.len() as u64,
            Storage::Contiguous(extent) => extent.map_or(0, |extent| extent.len),
            Storage::Elsewhere(_) => 0,
            Storage::Chunked(_) => {
                let mut total = 0_u64;
                self.visit_chunks(&mut |_, record| {
                    total = total.saturating_add(record.extent.len);
                    ControlFlow::Continue(())
                })?;
                total
            }
        })
    }

    /// Runs `f` on the dataset as it is now. If the caller gives a shape, the dataset must have this
    /// shape.
    fn with_reading<T>(&self, shape: Option<&[u64]>, f: impl FnOnce(&Reading<'_>) -> Result<T>) -> Result<T> {
        // A dataset that shrinks loses elements, chunks and parts of its index. The lock keeps them during
        // the read.
        let _uncut = self.store().is_writable().then(|| self.state().shape.read_in_turn());
        // Taken before the properties are read: addresses in them stay valid during the read.
        let _data = self.store().reading_data();
        let array = self.array_of(shape)?;
        let reading = Reading { store: self.store(), cache: self.file().chunk_cache(), array: &array };
        f(&reading).map_err(|error| error.at(self.path()))
    }

    /// Does the same as [`with_reading`](Self::with_reading), and runs `f` again if the read met a write of a
    /// program that this one follows (SWMR). The index is then read again, with the shape that is known.
    fn reading_again<T>(
        &self,
        shape: Option<&[u64]>,
        mut f: impl FnMut(&Reading<'_>) -> Result<T>,
    ) -> Result<T> {
        if !self.store().follows() {
            return self.with_reading(shape, f);
        }
        let (mut array, store) = (self.array_of(shape)?, self.store());
        let read = store.patiently(|| {
            let read = f(&Reading { store, cache: self.file().chunk_cache(), array: &array });
            if read.is_err() {
                store.forget();
                array = Arc::new(self.properties()?.make_array(self.file(), self.external_prefix())?);
            }
            read
        });
        read.map_err(|error| error.at(self.path()))
    }

    /// Returns the data that the engine needs, if the dataset has the shape that the caller knows.
    pub(in crate::object) fn array_of(&self, shape: Option<&[u64]>) -> Result<Arc<StoredArray>> {
        let array = self.array()?;
        if shape.is_some_and(|shape| *shape != array.shape) {
            return Err(Error::from(RequestError::Reshaped).at(self.path()));
        }
        Ok(array)
    }

    /// Returns the data that the engine needs, for the current properties. They are created when they are
    /// first needed.
    #[doc(hidden)]
    pub fn array(&self) -> Result<Arc<StoredArray>> {
        let properties = self.properties()?;
        let make = |prefix| properties.make_array(self.file(), prefix).map_err(|error| error.at(self.path()));
        if let (Some(_), prefix @ Some(_)) = (&properties.external, self.external_prefix()) {
            // Other handles of the dataset look elsewhere.
            return make(prefix).map(Arc::new);
        }
        if let Some(array) = properties.array.get() {
            return Ok(Arc::clone(array));
        }
        let array = make(None)?;
        Ok(Arc::clone(properties.array.get_or_init(|| Arc::new(array))))
    }
}

impl Properties {
    /// `external_prefix` is the folder of external files.
    fn make_array(&self, file: &File, external_prefix: Option<&str>) -> Result<StoredArray> {
        let fill = match &self.fill.value {
            // As libhdf5 does not write it, elements that were never written do not have it.
            _ if self.fill.write == FillTime::Never => Fill::Zeros,
            FillBytes::Default | FillBytes::Undefined => Fill::Zeros,
            FillBytes::Defined(value) if value.len() == self.element_size => Fill::Value(value.clone()),
            FillBytes::Defined(value) => {
                return Err(self.misfit(
                    "Size of the fill value",
                    value.len() as u64,
                    "the size of an element",
                ));
            }
        };
        let elements =
            Arc::new(StoredElements { datatype: Arc::clone(&self.datatype), size: self.element_size, fill });
        let store = file.store();
        let len = self.len_bytes();
        let storage = match (&self.external, &self.layout) {
            (Some(files), _) => Storage::Elsewhere(Box::new(self.elsewhere(files, file, external_prefix)?)),
            (None, Layout::Compact { data }) if (data.len() as u64) < len => {
                return Err(self.misfit(
                    "Size of compact data",
                    data.len() as u64,
                    "the size of all elements",
                ));
            }
            // A null dataspace has no elements, but counts as a scalar in selections.
            (None, Layout::Compact { .. }) if len == 0 => Storage::Contiguous(None),
            (None, Layout::Compact { data }) => Storage::Compact(data.clone()),
            (None, Layout::Contiguous(extent)) if extent.addr.is_undefined() || len == 0 => {
                Storage::Contiguous(None)
            }
            (None, Layout::Contiguous(extent)) => {
                let extent = Extent::new(extent.addr, len);
                store.check(extent, RAW_DATA)?;
                Storage::Contiguous(Some(extent))
            }
            (None, Layout::Chunked(layout)) => {
                Storage::Chunked(Box::new(self.make_chunked(layout, &elements, file)?))
            }
            // Elements without a source hold the fill value.
            (None, Layout::Virtual { .. }) => Storage::Contiguous(None),
        };
        Ok(StoredArray {
            header: self.header().address(),
            shape: self.dataspace.shape().to_vec(),
            elements,
            may_skip_fill: self.may_skip_fill(),
            storage,
        })
    }

    /// Returns whether every reader reads an absent chunk as fill values. libhdf5 leaves the memory of the
    /// reader unchanged if no fill value is defined or if the fill value is never written, and expects all
    /// chunks to exist if space is allocated early.
    fn may_skip_fill(&self) -> bool {
        let is_implicit = |layout: &ChunkedLayout| matches!(layout.index, ChunkIndexInfo::Implicit { .. });
        self.fill.value != FillBytes::Undefined
            && self.fill.write != FillTime::Never
            && self.fill.allocation != AllocationTime::Early
            && matches!(&self.layout, Layout::Chunked(layout) if !is_implicit(layout))
    }

    fn make_chunked(
        &self,
        layout: &ChunkedLayout,
        elements: &Arc<StoredElements>,
        file: &File,
    ) -> Result<ChunkedStorage> {
        let grid = grid(self.header(), file.store(), &self.dataspace, layout)?;
        if u64::from(layout.element_size) != self.element_size as u64 {
            let expected = "the size of the datatype";
            return Err(self.misfit("Dataset Element Size", layout.element_size.into(), expected));
        }
        let bytes =
            layout.chunk_shape.iter().try_fold(elements.size as u64, |all, &len| all.checked_mul(len));
        let Some(bytes @ 1..) = bytes.filter(|&bytes| usize::try_from(bytes).is_ok()) else {
            let expected = "1 or more, and addressable";
            return Err(self.misfit("Size of a chunk", bytes.unwrap_or(u64::MAX), expected));
        };
        let codec = ChunkCodec::of(
            Arc::clone(elements),
            layout.chunk_shape.clone(),
            &self.filters.filters,
            &file.opened_with().registry,
        )?;
        let is_filtered = !codec.pipeline().is_empty();
        let index =
            ChunkIndex::new(layout, grid, bytes, is_filtered, file.store().btree_k().indexed_storage_k);
        Ok(ChunkedStorage { codec, unfiltered_edges: layout.unfiltered_edges, index })
    }

    pub(super) fn misfit(&self, field: &'static str, value: u64, expected: &'static str) -> Error {
        self.header().error(ErrorKind::Value { field, value, expected })
    }
}
