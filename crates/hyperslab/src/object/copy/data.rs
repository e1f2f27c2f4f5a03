//! Copies the elements of datasets: stored bytes unchanged, or element by element if the elements hold
//! addresses.

use std::ops::ControlFlow;

use hyperslab_error::{Error, Result};
use hyperslab_format::layout::{ChunkIndexInfo, ChunkedLayout, Layout, LayoutMessage};
use hyperslab_format::{Addr, Extent};
use hyperslab_select::Coord;
use hyperslab_store::Store;
use hyperslab_store::index::{ChunkIndex, ChunkRecord};

use super::Copy;
use super::meter::Meter;
use super::rechunk::{boxes, rechunk};
use super::renewal::NewChunks;
use super::translate::holds_addresses;
use crate::engine::{Move, Reading, Recode, WriteOptions, copy_extents};
use crate::object::dataset::write::insert_records;
use crate::object::dataset::{self, Properties};
use crate::object::header::edit::HeaderChange;
use crate::object::header::read::Header;
use crate::object::{Dataset, Node, auto_chunks};

/// Stored chunks: the coordinate of each, and its record.
type Chunks = Vec<(Coord, ChunkRecord)>;

impl Copy<'_> {
    /// Copies the elements of a dataset.
    pub(super) fn data(&mut self, source: &Dataset, copy: Addr) -> Result<()> {
        if source.file().is_writable() {
            source.flush_chunks()?;
        }
        // Space freed meanwhile is not reallocated, so the source can be read.
        let _reading = source.store().reading_data();
        let properties = source.properties()?;
        let ignored = |_| ();
        let done = self.renewal.as_ref().map_or(&ignored as &(dyn Fn(u64) + Sync), |renewal| renewal.done);
        let meter = Meter::new(done, properties.len_bytes());
        if properties.external.is_some() || matches!(properties.layout, Layout::Virtual { .. }) {
            // The copy refers to the same external files, or its mappings were copied with the layout.
        } else if holds_addresses(&properties.datatype, self.keeps_references(source.file())) {
            self.data_translated(source, &properties, copy)?;
        } else {
            self.data_moved(source, &properties, copy, &meter)?;
        }
        meter.finish();
        Ok(())
    }

    /// Copies elements that mean the same in any file.
    fn data_moved(
        &self,
        source: &Dataset,
        properties: &Properties,
        copy: Addr,
        meter: &Meter<'_>,
    ) -> Result<()> {
        if let Some(new) = self.new_chunks(properties)?
            && !new.keeps_chunks
        {
            let copy = self.to.object_at(copy)?;
            let same_shape =
                matches!(&properties.layout, Layout::Chunked(old) if old.chunk_shape == new.shape);
            return if same_shape {
                self.recode(source, properties, &copy, meter)
            } else {
                rechunk(source, properties, &copy, meter)
            };
        }
        match &properties.layout {
            Layout::Compact { .. } | Layout::Virtual { .. } => Ok(()),
            Layout::Contiguous(extent) if extent.addr.is_undefined() || properties.len_bytes() == 0 => Ok(()),
            Layout::Contiguous(extent) => {
                let from = Extent::new(extent.addr, properties.len_bytes());
                let to = self.copy_bytes(source, from)?;
                self.change_layout(copy, to, |layout| {
                    if let Layout::Contiguous(extent) = layout {
                        extent.addr = to.addr;
                    }
                })
            }
            Layout::Chunked(chunked) => self.chunks(source, properties, chunked, copy, meter),
        }
    }

    /// Returns the new chunks of a repacked dataset, or `None` if its storage stays the same.
    pub(super) fn new_chunks(&self, properties: &Properties) -> Result<Option<NewChunks>> {
        let Some(renewal) = &self.renewal else { return Ok(None) };
        let datatype = self.relaid(properties.header().widths(), &properties.datatype)?;
        renewal.chunks(properties, &datatype, self.to.version(), self.to.store().widths())
    }

    /// Copies chunks to a dataset with other filters.
    fn recode(
        &self,
        source: &Dataset,
        properties: &Properties,
        copy: &Node,
        meter: &Meter<'_>,
    ) -> Result<()> {
        let (Node::Dataset(copy), Layout::Chunked(chunked)) = (copy, &properties.layout) else {
            return Ok(());
        };
        let index = dataset::chunk_index(properties.header(), source.store(), chunked)?;
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

    /// Copies stored chunks unchanged.
    fn chunks(
        &self,
        source: &Dataset,
        properties: &Properties,
        chunked: &ChunkedLayout,
        copy: Addr,
        meter: &Meter<'_>,
    ) -> Result<()> {
        let index = dataset::chunk_index(properties.header(), source.store(), chunked)?;
        if let ChunkIndexInfo::Implicit { .. } = chunked.index
            && self.new_chunks(properties)?.is_none()
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
        // Sorted by address, so that neighbours stay neighbours.
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

    /// Copies stored bytes to newly allocated space.
    fn copy_bytes(&self, source: &Dataset, from: Extent) -> Result<Extent> {
        let to = self.to.store().allocate(from.len)?;
        let moves = [Move { from, to: to.addr }];
        let copied = copy_extents(source.store(), self.to.store(), &moves);
        copied.inspect_err(|_| self.to.store().release(to))?;
        Ok(to)
    }

    /// Copies chunks to newly allocated space and returns their new records.
    fn copy_chunks(&self, source: &Dataset, chunks: &[(Coord, ChunkRecord)]) -> Result<Chunks> {
        let (store, mut moved) = (self.to.store(), Chunks::with_capacity(chunks.len()));
        let mut moves = Vec::with_capacity(chunks.len());
        let mut copy = || {
            for (coord, record) in chunks {
                // A damaged file may name chunks outside its bounds.
                source.store().check(record.extent, CHUNK)?;
                if record.extent.len == 0 {
                    let what = "copying a stored chunk without a byte";
                    return Err(Error::unsupported(what, "VII").at(source.path()));
                }
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

    /// Frees the space of chunks that are in no index.
    fn release(&self, chunks: &[(Coord, ChunkRecord)]) {
        for (_, record) in chunks {
            self.to.store().release(record.extent);
        }
    }

    /// Adds chunks to the index of a copy.
    fn insert_chunks(&self, copy: Addr, chunks: &[(Coord, ChunkRecord)]) -> Result<()> {
        self.to.store().step(|txn| {
            let header = Header::read(txn.store(), copy)?;
            let Some(Layout::Chunked(layout)) = header.find::<Layout>(txn.store())? else {
                return Err(header.lacks("a layout message of chunks"));
            };
            let index = dataset::chunk_index(&header, txn.store(), &layout)?;
            let records = chunks.iter().map(|(coord, record)| (coord, Some(*record)));
            insert_records(txn, copy, &index, records)
        })
    }

    /// Changes the layout message of a copy to name the space of its data. On an error, frees that space.
    fn change_layout(&self, copy: Addr, data: Extent, f: impl FnOnce(&mut Layout)) -> Result<()> {
        let changed = self.to.store().step(|txn| {
            txn.names(data);
            let mut change = HeaderChange::new(txn, copy)?;
            if let Some(mut message) = change.find::<LayoutMessage>()? {
                f(&mut message.layout);
                change.set(&message)?;
            }
            change.finish().map(drop)
        });
        changed.inspect_err(|_| self.to.store().release(data))
    }

    /// Reads elements, translates their addresses to those of the copy, and writes them.
    fn data_translated(&mut self, source: &Dataset, properties: &Properties, copy: Addr) -> Result<()> {
        let Node::Dataset(copy) = self.to.object_at(copy)? else { return Ok(()) };
        let chunk = match &properties.layout {
            Layout::Chunked(chunked) => chunked.chunk_shape.clone(),
            _ => auto_chunks(properties.dataspace.shape(), None, properties.element_size as u64),
        };
        for what in boxes(source, properties, &chunk, PART_BYTES)? {
            let mut bytes = source.read_bytes(&what)?;
            self.translate(source.file(), &properties.datatype, &mut bytes)?;
            copy.write_with(&what, &bytes, &WriteOptions::default())?;
        }
        Ok(())
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

/// The number of chunks that are copied before they are added to the index.
const BATCH_CHUNKS: usize = 65_536;
/// The number of bytes of elements that are translated at a time.
const PART_BYTES: u64 = 4 << 20;
/// The name and the spec section of stored chunks in errors.
const CHUNK: (&str, &str) = ("Raw data", "IV.B");
