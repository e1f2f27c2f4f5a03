//! Reading a virtual dataset: every source reads its elements straight into their places in the result.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use hyperslab_convert::Conversion;
use hyperslab_error::{Error, RequestError, Result};
use hyperslab_format::Addr;
use hyperslab_format::layout::Layout;
use hyperslab_select::{Dim, Mapping, Piece, Place, Points, Selection, are_disjoint};
use parking_lot::Mutex;

use super::super::Properties;
use super::sources::named;
use super::view::{SourcePart, View, own_source};
use crate::engine::{Destination, Fill, ReadOptions, Reading, Storage, StoredArray, each_number, threads};
use crate::object::{Dataset, File, copy};

/// The virtual datasets that are being read or written, from the innermost outwards.
#[derive(Debug, Clone, Copy)]
pub(in crate::object) struct Chain<'a> {
    up: Option<&'a Chain<'a>>,
    file: u32,
    header: Addr,
    /// The file that gets copies of data of variable length. Without one, elements keep their ids.
    pub(super) heap: Option<&'a File>,
}

/// What reads a virtual dataset.
#[derive(Debug, Clone, Copy)]
pub(in crate::object) enum Start<'a> {
    /// The caller, who may give a file for data of variable length.
    First(Option<&'a File>),
    /// Another virtual dataset, of which this one is a source.
    Source(&'a Chain<'a>),
}

impl Chain<'_> {
    fn contains(&self, file: u32, header: Addr) -> bool {
        (self.file, self.header) == (file, header) || self.up.is_some_and(|up| up.contains(file, header))
    }

    fn depth(&self) -> usize {
        1 + self.up.map_or(0, Self::depth)
    }
}

/// The most virtual datasets of which each is a source of the next.
const DEPTH_LIMIT: usize = 32;
/// The number of boxes that are planned at a time.
const BATCH: usize = 1 << 16;

/// The boxes of one source.
struct Work {
    source: Dataset,
    /// Where the source is named, for errors.
    file: Arc<str>,
    pieces: Vec<Piece>,
}

impl Dataset {
    /// Returns whether the current layout is virtual.
    pub(in crate::object) fn has_sources(&self) -> Result<bool> {
        Ok(matches!(self.properties()?.layout, Layout::Virtual { .. }))
    }

    /// Adds this virtual dataset to those that are being read or written. One that leads to itself is an
    /// error.
    pub(super) fn chain<'a>(&self, up: Option<&'a Chain<'a>>) -> Result<Chain<'a>> {
        let (file, header) = (self.store().number(), self.address());
        if up.is_some_and(|up| up.contains(file, header) || up.depth() >= DEPTH_LIMIT) {
            return Err(own_source());
        }
        Ok(Chain { up, file, header, heap: up.and_then(|up| up.heap) })
    }

    /// Reads several selections of a virtual dataset, each to its own destination.
    pub(in crate::object) fn read_sources(
        &self,
        shape: Option<&[u64]>,
        reads: &mut [(&Selection, &mut Destination<'_>)],
        options: &ReadOptions,
        start: Start<'_>,
    ) -> Result<()> {
        let chain = match start {
            Start::First(heap) => Chain { heap, ..self.chain(None)? },
            Start::Source(chain) => self.chain(Some(chain))?,
        };
        let view = self.view()?;
        if shape.is_some_and(|shape| *shape != view.shape) {
            return Err(RequestError::Reshaped.into());
        }
        reads.iter_mut().try_for_each(|(what, dst)| self.read_view(&view, what, dst, options, &chain))
    }

    fn read_view(
        &self,
        view: &View,
        what: &Selection,
        dst: &mut Destination<'_>,
        options: &ReadOptions,
        chain: &Chain<'_>,
    ) -> Result<()> {
        what.check(&view.shape)?;
        let properties = self.properties()?;
        let wanted = options.datatype.as_ref().unwrap_or(&properties.datatype);
        let conversion = Conversion::needed(&properties.datatype, wanted, self.store().widths())?;
        let size = conversion.as_ref().map_or(properties.element_size, |conversion| conversion.dst_size());
        let options = ReadOptions::default().threads(options.threads).datatype(wanted.clone());
        let shape = what.shape(&view.shape);
        let Some(axes) = what.axes(&view.shape) else {
            let Selection::Points(points) = what else { return Ok(()) };
            return self.read_points(view, points, dst, size, &options, chain);
        };
        let touched = view.touched(&axes);
        let sources = self.open_all(&touched)?;
        let (mut given, mut planned) = (0_u64, 0);
        let mut work: Vec<Work> = Vec::new();
        let mut is_filled = false;
        let total = what.count(&view.shape)?;
        for (part, source) in touched.iter().zip(sources) {
            let Some(source) = source else { continue };
            self.check_variable(&source, chain)?;
            let extent = source.shape();
            let mapping = Mapping::new(&part.target, &part.source, &extent, part.slices);
            let mapping = mapping.map_err(|error| named(error.into(), &part.file, &part.dataset))?;
            work.push(Work { source, file: Arc::clone(&part.file), pieces: Vec::new() });
            mapping.pieces(&axes, &mut |piece| {
                given = given.saturating_add(piece.place.result.iter().map(|dim| dim.count).product());
                if planned == BATCH {
                    planned = 0;
                    // More boxes follow, so the elements without a source are not known yet.
                    if !is_filled {
                        self.fill(&properties, view, what, dst, &options, chain)?;
                        is_filled = true;
                    }
                    let done: Vec<Work> = work
                        .iter_mut()
                        .map(|work| Work {
                            source: work.source.clone(),
                            file: Arc::clone(&work.file),
                            pieces: std::mem::take(&mut work.pieces),
                        })
                        .collect();
                    run(done, &shape, size, dst, &options, chain)?;
                }
                planned += 1;
                if let Some(work) = work.last_mut() {
                    work.pieces.push(piece);
                }
                Ok::<(), Error>(())
            })?;
        }
        // Boxes that overlap may leave elements without a source although they have as many elements.
        let boxes: Vec<&[Dim]> =
            work.iter().flat_map(|work| &work.pieces).map(|piece| &piece.place.result[..]).collect();
        if !is_filled && (given != total || !are_disjoint(&boxes)) {
            self.fill(&properties, view, what, dst, &options, chain)?;
        }
        run(work, &shape, size, dst, &options, chain)
    }

    /// Opens the sources, on all threads.
    fn open_all(&self, parts: &[&SourcePart]) -> Result<Vec<Option<Self>>> {
        let found: Vec<Mutex<Option<Self>>> = parts.iter().map(|_| Mutex::new(None)).collect();
        each_number(parts.len() as u64, &|number| {
            let number = usize::try_from(number).unwrap_or(usize::MAX);
            if let (Some(part), Some(place)) = (parts.get(number), found.get(number)) {
                *place.lock() = self.source(&part.file, &part.dataset)?;
            }
            Ok::<(), Error>(())
        })?;
        Ok(found.into_iter().map(Mutex::into_inner).collect())
    }

    /// Sets the result to the fill value.
    fn fill(
        &self,
        properties: &Properties,
        view: &View,
        what: &Selection,
        dst: &mut Destination<'_>,
        options: &ReadOptions,
        chain: &Chain<'_>,
    ) -> Result<()> {
        let array = self.array()?;
        let mut elements = (*array.elements).clone();
        if let (Some(heap), Fill::Value(value)) = (chain.heap, &mut elements.fill) {
            copy::of_variable_parts(heap, self.file(), &properties.datatype, value)?;
        }
        let empty = StoredArray {
            header: array.header,
            shape: view.shape.clone(),
            elements: Arc::new(elements),
            may_skip_fill: array.may_skip_fill,
            storage: Storage::Contiguous(None),
        };
        let reading = Reading { store: self.store(), cache: self.file().chunk_cache(), array: &empty };
        reading.read(what, dst, options)
    }

    /// Elements of variable length are ids in the file of the source, which mean nothing in this file.
    fn check_variable(&self, source: &Self, chain: &Chain<'_>) -> Result<()> {
        if !source.datatype().has_variable_parts() {
            return Ok(());
        }
        let is_understood = match chain.heap {
            Some(heap) => source.store().widths() == heap.store().widths(),
            None => source.file().is_same(self.file()),
        };
        if !is_understood {
            let what = "data of variable length of another file in this read of a virtual dataset";
            return Err(Error::unsupported(what, "III.F"));
        }
        Ok(())
    }

    fn read_points(
        &self,
        view: &View,
        points: &Points,
        dst: &mut Destination<'_>,
        size: usize,
        options: &ReadOptions,
        chain: &Chain<'_>,
    ) -> Result<()> {
        let what = Selection::Points(points.clone());
        let properties = self.properties()?;
        self.fill(&properties, view, &what, dst, options, chain)?;
        let mut by_part: BTreeMap<usize, Vec<(u64, u64)>> = BTreeMap::new();
        for (coord, position) in points.iter().zip(0_u64..) {
            if let Some((part, at)) = view.find(coord) {
                by_part.entry(part).or_default().push((at, position));
            }
        }
        for (number, found) in by_part {
            let part = &view.parts[number];
            let Some(source) = self.source(&part.file, &part.dataset)? else { continue };
            self.check_variable(&source, chain)?;
            let what = points_of(part, &source, found.iter().map(|(at, _)| *at))?;
            let mut elements = vec![0; found.len() * size];
            let mut to = Destination::contiguous(&mut elements);
            source
                .read_in_chain(&mut [(&what, &mut to)], options, chain)
                .map_err(|error| named(error, &part.file, &part.dataset))?;
            dst.scatter(points.len() as u64, size, found.iter().map(|(_, position)| *position), &elements)?;
        }
        Ok(())
    }

    /// Reads as a source of the virtual datasets in `chain`.
    fn read_in_chain(
        &self,
        reads: &mut [(&Selection, &mut Destination<'_>)],
        options: &ReadOptions,
        chain: &Chain<'_>,
    ) -> Result<()> {
        if self.has_sources()? {
            return self.read_sources(None, reads, options, Start::Source(chain));
        }
        if let Some(heap) = chain.heap {
            return reads.iter_mut().try_for_each(|(what, dst)| self.read_copies(what, dst, options, heap));
        }
        match reads {
            [(what, dst)] => self.read_with(*what, dst, options),
            _ => self.read_many(reads, options),
        }
    }
}

/// Reads the boxes of all sources.
fn run(
    work: Vec<Work>,
    shape: &[u64],
    size: usize,
    dst: &mut Destination<'_>,
    options: &ReadOptions,
    chain: &Chain<'_>,
) -> Result<()> {
    let work: Vec<Work> = work.into_iter().filter(|work| !work.pieces.is_empty()).collect();
    let one = |work: &Work, pieces: &[Piece], parts: &mut [Destination<'_>], options: &ReadOptions| {
        let whats: Vec<Selection> = pieces.iter().map(selection).collect();
        let mut reads: Vec<(&Selection, &mut Destination<'_>)> = whats.iter().zip(parts).collect();
        let done = work.source.read_in_chain(&mut reads, options, chain);
        done.map_err(|error| named(error, &work.file, work.source.path()))
    };
    let places: Vec<&Place> = work.iter().flat_map(|work| &work.pieces).map(|piece| &piece.place).collect();
    let Some(parts) = dst.split(shape, size, &places)? else {
        // Places overlap: of two mappings, the later one counts, as in libhdf5.
        for work in &work {
            for piece in &work.pieces {
                if let Some(mut part) = dst.split(shape, size, &[&piece.place])? {
                    one(work, std::slice::from_ref(piece), &mut part, options)?;
                }
            }
        }
        return Ok(());
    };
    let mut parts = parts.into_iter();
    let mut jobs: Vec<(&Work, Vec<Destination<'_>>)> =
        work.iter().map(|work| (work, parts.by_ref().take(work.pieces.len()).collect())).collect();
    let workers = options.threads.map_or_else(threads, NonZeroUsize::get);
    if workers == 1 || jobs.len() < workers {
        return jobs.iter_mut().try_for_each(|(work, parts)| one(work, &work.pieces, parts, options));
    }
    let alone = options.clone().threads(NonZeroUsize::MIN);
    let jobs: Vec<Mutex<(&Work, Vec<Destination<'_>>)>> = jobs.into_iter().map(Mutex::new).collect();
    each_number(jobs.len() as u64, &|number| {
        let Some(job) = usize::try_from(number).ok().and_then(|number| jobs.get(number)) else {
            return Ok(());
        };
        let (work, parts) = &mut *job.lock();
        one(work, &work.pieces, parts, &alone)
    })
}

/// Returns the elements of `source` at these positions of a part.
pub(super) fn points_of(
    part: &SourcePart,
    source: &Dataset,
    at: impl Iterator<Item = u64>,
) -> Result<Selection> {
    let extent = source.shape();
    let mapping = Mapping::new(&part.target, &part.source, &extent, part.slices);
    let mapping = mapping.map_err(|error| named(error.into(), &part.file, &part.dataset))?;
    if extent.is_empty() {
        return Ok(Selection::All);
    }
    let coords: Vec<u64> = at.flat_map(|at| mapping.source_at(at)).collect();
    Ok(Points::new(extent.len(), coords)?.into())
}

/// Returns the selection of a piece in its source.
pub(super) fn selection(piece: &Piece) -> Selection {
    if piece.source.0.is_empty() { Selection::All } else { Selection::Slab(piece.source.clone()) }
}
