//! The elements of datasets that are copied: stored bytes as they are, or, where they hold addresses, element by element.

use std::ops::ControlFlow;

use hyperslab_format::layout::{ChunkIndexInfo, ChunkedLayout, Layout, LayoutMessage};
use hyperslab_format::{Addr, Extent};

use super::Copy;
use super::meter::Meter;
use super::rechunk::rechunk;
use super::renewal::NewChunks;
use super::translate::holds_addresses;
use crate::engine::{Move, Reading, Recode, WriteOptions, copy_extents};
use crate::error::{Error, Result};
use crate::index::{ChunkIndex, ChunkRecord, IndexEdit};
use crate::object::dataset::write::set_index;
use crate::object::dataset::{self, State};
use crate::object::header::edit::HeaderChange;
use crate::object::header::read::Header;
use crate::object::{Dataset, Node};
use crate::select::{Coord, Dim, Selection, Slab, first_element};
use crate::store::Store;

/// Stored chunks, and where they are.
type Chunks = Vec<(Coord, ChunkRecord)>;

impl Copy<'_> {
    /// Copies the elements of a dataset.
    pub(super) fn data(&mut self, source: &Dataset, copy: Addr) -> Result<()> {
        if source.file().is_writable() {
            source.flush_chunks()?;
        }
        // What is freed meanwhile is not used again while it is read.
        let _reading = source.store().reading_data();
        let state = source.state()?;
        let nobody = |_| ();
        let done = self.renewal.as_ref().map_or(&nobody as &(dyn Fn(u64) + Sync), |renewal| renewal.done);
        let meter = Meter::new(done, state.len_bytes());
        if holds_addresses(&state.datatype, self.keeps_references(source.file())) {
            self.data_translated(source, &state, copy)?;
        } else {
            self.data_moved(source, &state, copy, &meter)?;
        }
        meter.finish();
        Ok(())
    }

    /// Moves elements that mean the same anywhere.
    fn data_moved(&self, source: &Dataset, state: &State, copy: Addr, meter: &Meter<'_>) -> Result<()> {
        if let Some(new) = self.new_chunks(state)?
            && !new.keeps_chunks
        {
            let copy = self.to.object_at(copy)?;
            let same_shape = matches!(&state.layout, Layout::Chunked(old) if old.chunk_shape == new.shape);
            return if same_shape {
                self.recode(source, state, &copy, meter)
            } else {
                rechunk(source, state, &copy, meter)
            };
        }
        match &state.layout {
            Layout::Compact { .. } | Layout::Virtual { .. } => Ok(()),
            Layout::Contiguous(extent) if extent.addr.is_undefined() || state.len_bytes() == 0 => Ok(()),
            Layout::Contiguous(extent) => {
                let from = Extent::new(extent.addr, state.len_bytes());
                let to = self.copy_bytes(source, from)?;
                self.change_layout(copy, to, |layout| {
                    if let Layout::Contiguous(extent) = layout {
                        extent.addr = to.addr;
                    }
                })
            }
            Layout::Chunked(chunked) => self.chunks(source, state, chunked, copy, meter),
        }
    }

    /// What is made anew of the chunks of a dataset, if anything is.
    pub(super) fn new_chunks(&self, state: &State) -> Result<Option<NewChunks>> {
        let Some(renewal) = &self.renewal else { return Ok(None) };
        renewal.chunks(state, self.to.version(), self.to.store().widths())
    }

    /// Moves chunks to a dataset that has other filters.
    fn recode(&self, source: &Dataset, state: &State, copy: &Node, meter: &Meter<'_>) -> Result<()> {
        let (Node::Dataset(copy), Layout::Chunked(chunked)) = (copy, &state.layout) else { return Ok(()) };
        let index = dataset::chunk_index(state.header(), source.store(), chunked)?;
        let mut stored = stored_chunks(source.store(), &index)?;
        stored.sort_unstable_by_key(|(_, record)| record.extent.addr);
        let (from, to) = (source.array()?, copy.array()?);
        for batch in stored.chunks(BATCH_CHUNKS) {
            let recode = Recode {
                from: Reading { store: source.store(), cache: source.file().chunk_cache(), array: &from },
                to: copy.engine(&to),
            };
            let placed = recode.run(batch, None, &|bytes| meter.add(bytes))?;
            let stored = placed.into_iter().filter_map(|placed| Some((placed.coord, placed.record?)));
            let moved: Chunks = stored.collect();
            if let Err(error) = self.insert_chunks(copy.address(), &moved) {
                self.release(&moved);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Moves chunks as they are stored.
    fn chunks(
        &self,
        source: &Dataset,
        state: &State,
        chunked: &ChunkedLayout,
        copy: Addr,
        meter: &Meter<'_>,
    ) -> Result<()> {
        let index = dataset::chunk_index(state.header(), source.store(), chunked)?;
        if let ChunkIndexInfo::Implicit { .. } = chunked.index
            && self.new_chunks(state)?.is_none()
        {
            let Some(all) = index.implicit_extent().filter(|all| all.len > 0) else { return Ok(()) };
            let to = self.copy_bytes(source, all)?;
            return self.change_layout(copy, to, |layout| {
                if let Layout::Chunked(chunked) = layout {
                    chunked.index = ChunkIndexInfo::Implicit { addr: to.addr };
                }
            });
        }
        let mut stored = stored_chunks(source.store(), &index)?;
        // In the order of the file, so that neighbours stay neighbours.
        stored.sort_unstable_by_key(|(_, record)| record.extent.addr);
        for batch in stored.chunks_mut(BATCH_CHUNKS) {
            let moved = self.copy_chunks(source, batch)?;
            if let Err(error) = self.insert_chunks(copy, &moved) {
                self.release(&moved);
                return Err(error);
            }
            meter.add(chunked.chunk_len().saturating_mul(moved.len() as u64));
        }
        Ok(())
    }

    /// Copies stored bytes to new space.
    fn copy_bytes(&self, source: &Dataset, from: Extent) -> Result<Extent> {
        let to = self.to.store().allocate(from.len)?;
        let moves = [Move { from, to: to.addr }];
        let copied = copy_extents(source.store(), self.to.store(), &moves);
        copied.inspect_err(|_| self.to.store().release(to))?;
        Ok(to)
    }

    /// Copies chunks to new space, and returns where they are then.
    fn copy_chunks(&self, source: &Dataset, chunks: &[(Coord, ChunkRecord)]) -> Result<Chunks> {
        let (store, mut moved) = (self.to.store(), Chunks::with_capacity(chunks.len()));
        let mut moves = Vec::with_capacity(chunks.len());
        let mut copy = || {
            for (coord, record) in chunks {
                // Nothing of a damaged file is believed before it is seen to lie in it.
                source.store().check(record.extent, CHUNK)?;
                let to = store.allocate(record.extent.len)?;
                moves.push(Move { from: record.extent, to: to.addr });
                moved.push((coord.clone(), ChunkRecord { extent: to, ..*record }));
            }
            copy_extents(source.store(), store, &moves)
        };
        let copied = copy();
        match copied {
            Ok(()) => Ok(moved),
            Err(error) => {
                self.release(&moved);
                Err(error)
            }
        }
    }

    /// Gives back the space of chunks that no index knows.
    fn release(&self, chunks: &[(Coord, ChunkRecord)]) {
        for (_, record) in chunks {
            self.to.store().release(record.extent);
        }
    }

    /// Tells the index of a copy of its chunks.
    fn insert_chunks(&self, copy: Addr, chunks: &[(Coord, ChunkRecord)]) -> Result<()> {
        let mut txn = self.to.store().begin()?;
        let header = Header::read(txn.store(), copy)?;
        let Some(Layout::Chunked(layout)) = header.find::<Layout>(txn.store())? else {
            return Err(header.lacks("a layout message of chunks"));
        };
        let index = dataset::chunk_index(&header, txn.store(), &layout)?;
        let mut edit = IndexEdit::new(&mut txn, &index);
        chunks.iter().try_for_each(|(coord, record)| edit.insert(coord, *record).map(drop))?;
        let info = edit.info().clone();
        for (_, record) in chunks {
            txn.names(record.extent);
        }
        if info != layout.index {
            let mut change = HeaderChange::new(&mut txn, copy)?;
            set_index(&mut change, info)?;
            change.finish()?;
        }
        txn.finish()
    }

    /// Says in the layout message of a copy where its data are; if that fails, their space is given back.
    fn change_layout(&self, copy: Addr, data: Extent, f: impl FnOnce(&mut Layout)) -> Result<()> {
        let change = || {
            let mut txn = self.to.store().begin()?;
            txn.names(data);
            let mut change = HeaderChange::new(&mut txn, copy)?;
            if let Some(mut message) = change.find::<LayoutMessage>()? {
                f(&mut message.layout);
                change.set(&message)?;
            }
            change.finish()?;
            txn.finish()
        };
        change().inspect_err(|_| self.to.store().release(data))
    }

    /// Reads elements, makes their addresses those of the copy, and writes them.
    fn data_translated(&mut self, source: &Dataset, state: &State, copy: Addr) -> Result<()> {
        let Node::Dataset(copy) = self.to.object_at(copy)? else { return Ok(()) };
        for what in parts(source, state)? {
            let count = what.count(state.dataspace.shape())?;
            let len = usize::try_from(count).ok().and_then(|count| count.checked_mul(state.element_size));
            let mut bytes =
                vec![0; len.ok_or_else(|| Error::unsupported("a chunk larger than memory", "IV.A.2.i"))?];
            source.read_into(&what, &mut bytes)?;
            self.translate(source.file(), &state.datatype, &mut bytes)?;
            copy.write_with(&what, &bytes, &WriteOptions::default())?;
        }
        Ok(())
    }
}

/// What is stored of a dataset, in selections of at most a chunk, or some rows.
fn parts(source: &Dataset, state: &State) -> Result<Vec<Selection>> {
    let shape = state.dataspace.shape();
    let boxed = |first: &[u64], len: &[u64]| {
        let axes = first.iter().zip(len).zip(shape);
        let dims = axes.map(|((&start, &len), end)| Dim { start, step: 1, count: len.min(end - start) });
        Selection::Slab(Slab(dims.collect()))
    };
    match &state.layout {
        Layout::Contiguous(extent) if extent.addr.is_undefined() => Ok(Vec::new()),
        Layout::Virtual { .. } => Ok(Vec::new()),
        _ if state.elements == 0 => Ok(Vec::new()),
        Layout::Chunked(chunked) => {
            let index = dataset::chunk_index(state.header(), source.store(), chunked)?;
            let chunks = stored_chunks(source.store(), &index)?;
            let len = &chunked.chunk_shape;
            Ok(chunks.iter().map(|(coord, _)| boxed(&first_element(coord, len), len)).collect())
        }
        Layout::Compact { .. } | Layout::Contiguous(_) if shape.is_empty() => Ok(vec![Selection::All]),
        Layout::Compact { .. } => Ok(vec![Selection::All]),
        Layout::Contiguous(_) => {
            let row = (state.len_bytes() / shape[0].max(1)).max(1);
            let rows = (PART_BYTES / row).max(1);
            let mut len = shape.to_vec();
            len[0] = rows;
            let mut first = vec![0; shape.len()];
            let starts = (0..shape[0]).step_by(usize::try_from(rows).unwrap_or(usize::MAX));
            Ok(starts
                .map(|start| {
                    first[0] = start;
                    boxed(&first, &len)
                })
                .collect())
        }
    }
}

pub(super) fn stored_chunks(store: &Store, index: &ChunkIndex) -> Result<Chunks> {
    let _reading = store.reading();
    let mut stored = Chunks::new();
    index.visit(store, &mut |coord, record| {
        stored.push((Coord::from_slice(coord), record));
        ControlFlow::Continue(())
    })?;
    Ok(stored)
}

/// So many chunks are copied before the index is told.
const BATCH_CHUNKS: usize = 65_536;
/// Bytes of elements that are translated at a time.
const PART_BYTES: u64 = 4 << 20;
/// How errors name stored chunks.
const CHUNK: (&str, &str) = ("Raw data", "IV.B");
