//! A virtual dataset as its sources make it now: its shape, and the source of each of its elements.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

use hyperslab_error::{Error, RequestError, Result};
use hyperslab_format::heap::global::GlobalHeapId;
use hyperslab_format::layout::Layout;
use hyperslab_format::layout::mappings::{VirtualMapping, VirtualMappings};
use hyperslab_format::selection::{RegularAxis, StoredSelection};
use hyperslab_format::{Addr, Reader};
use hyperslab_select::{Axis, Target, end_of, slices};
use hyperslab_store::Store;
use hyperslab_store::heap::GlobalHeap;

use super::names;
use crate::object::Dataset;
use crate::object::dataset::Properties;

/// The mappings for one shape of the dataset.
#[derive(Debug)]
pub(in crate::object) struct View {
    pub(super) shape: Vec<u64>,
    pub(super) parts: Vec<SourcePart>,
    /// The axis along which the parts are sorted.
    axis: usize,
    /// The largest last index along this axis of a part and of all parts before it.
    ends: Vec<u64>,
}

/// The elements that one source gives.
#[derive(Debug)]
pub(super) struct SourcePart {
    pub(super) file: Arc<str>,
    pub(super) dataset: Arc<str>,
    pub(super) target: Target,
    pub(super) source: StoredSelection,
    /// The number of indices of a source selection without end.
    pub(super) slices: u64,
}

/// The most blocks of one mapping, each of which is a dataset of its own.
const BLOCK_LIMIT: u64 = 1 << 20;

thread_local! {
    /// The virtual datasets whose shape the thread computes.
    static MEASURED: RefCell<Vec<(u32, Addr)>> = const { RefCell::new(Vec::new()) };
}

impl Properties {
    /// Returns the mappings of a virtual dataset.
    pub(super) fn mappings(&self, store: &Store) -> Result<Arc<VirtualMappings>> {
        let Layout::Virtual { heap, index } = self.layout else {
            return Ok(Arc::new(VirtualMappings { version: 0, mappings: Vec::new() }));
        };
        if let Some(known) = self.mappings.get() {
            return Ok(Arc::clone(known));
        }
        let id = GlobalHeapId { collection: heap, index };
        let mappings = if id.is_null() {
            VirtualMappings { version: 0, mappings: Vec::new() }
        } else {
            let mut heap = GlobalHeap::new(store);
            Reader::new(heap.object(id)?, store.widths(), id.collection).structure(&())?
        };
        Ok(Arc::clone(self.mappings.get_or_init(|| Arc::new(mappings))))
    }
}

impl Dataset {
    /// Returns the shape of a virtual dataset that depends on its sources.
    pub(in crate::object) fn shape_of_sources(&self, properties: &Properties) -> Result<Option<Vec<u64>>> {
        if !matches!(properties.layout, Layout::Virtual { .. }) {
            return Ok(None);
        }
        let mappings = properties.mappings(self.store())?;
        if mappings.mappings.iter().all(|mapping| mapping.target.unlimited_axis().is_none()) {
            return Ok(None);
        }
        self.view().map(|view| Some(view.shape.clone()))
    }

    pub(super) fn view(&self) -> Result<Arc<View>> {
        self.store().check_readable()?;
        if let Some(view) = self.sources.view(self.file()) {
            return Ok(view);
        }
        let _reading = self.store().reading_data();
        let generation = self.store().generation();
        let properties = self.properties()?;
        let mappings = properties.mappings(self.store())?;
        let me = (self.store().number(), self.address());
        let is_known = MEASURED.with_borrow_mut(|measured| {
            let is_known = measured.contains(&me);
            measured.push(me);
            is_known
        });
        let view = if is_known { Err(own_source()) } else { self.view_of(&properties, &mappings.mappings) };
        MEASURED.with_borrow_mut(Vec::pop);
        let view = Arc::new(view?);
        if mappings.mappings.iter().all(|mapping| mapping.target.unlimited_axis().is_none()) {
            self.sources.keep_view(generation, &view);
        }
        Ok(view)
    }

    fn view_of(&self, properties: &Properties, mappings: &[VirtualMapping]) -> Result<View> {
        let mut shape = properties.dataspace.shape().to_vec();
        // Blocks without end: the length of the source decides.
        let mut lens: Vec<Option<u64>> = vec![None; shape.len()];
        let mut resolved = Vec::with_capacity(mappings.len());
        for mapping in mappings {
            let parts = self.resolve(mapping)?;
            if let Some(axis) = mapping.target.unlimited_axis() {
                let end = parts.iter().map(|part| part.end).max().unwrap_or(0);
                if let Some(len) = lens.get_mut(axis) {
                    *len = Some(len.unwrap_or(0).max(end));
                }
            }
            resolved.extend(parts);
        }
        for (axis, len) in lens.iter().enumerate() {
            if let Some(len) = *len {
                let least = mappings.iter().filter_map(|mapping| least_len(&mapping.target, axis)).max();
                shape[axis] = len.max(least.unwrap_or(0));
            }
        }
        let mut parts = Vec::with_capacity(resolved.len());
        for part in resolved {
            let at = |error: RequestError| self.damaged(&error);
            if let Some(target) = Target::new(&part.target, &shape, part.slices).map_err(at)? {
                let Resolved { file, dataset, source, slices, .. } = part;
                parts.push(SourcePart { file, dataset, target, source, slices });
            }
        }
        Ok(View::sorted(shape, parts))
    }

    fn damaged(&self, error: &RequestError) -> Error {
        Error::from(RequestError::Argument {
            what: format!("a mapping of the virtual dataset {:?}", self.path()),
            why: match error {
                RequestError::Rank { .. } => "it has another number of dimensions than the dataset",
                RequestError::OutOfBounds { .. } => "it leaves the dataset",
                _ => "it selects too many elements",
            },
        })
    }

    /// Returns the sources of a mapping.
    fn resolve(&self, mapping: &VirtualMapping) -> Result<Vec<Resolved>> {
        let StoredSelection::Regular(target) = &mapping.target else { return one(mapping, 0, 0) };
        let Some(axis) = target.unlimited_axis().and_then(|axis| target.axes.get(axis)) else {
            return one(mapping, 0, 0);
        };
        if let (StoredSelection::Regular(source), Some(number)) =
            (&mapping.source, mapping.source.unlimited_axis())
        {
            let (file, dataset) = plain(mapping)?;
            let shape = self.source(&file, &dataset)?.map(|source| source.shape());
            let len = shape.and_then(|shape| shape.get(number).copied()).unwrap_or(0);
            let count = source.axes.get(number).map_or(0, |axis| slices(axis, len));
            return one(mapping, count, end_of(axis, count));
        }
        if !names::has_block(&mapping.file) && !names::has_block(&mapping.dataset) {
            let why = "a selection without end needs a source without end, or a name with %b";
            return Err(RequestError::Argument { what: "mapping".to_owned(), why }.into());
        }
        self.resolve_blocks(mapping, *axis)
    }

    /// Returns one source for each block, up to the first that does not exist.
    fn resolve_blocks(&self, mapping: &VirtualMapping, axis: RegularAxis) -> Result<Vec<Resolved>> {
        let StoredSelection::Regular(target) = &mapping.target else { return Ok(Vec::new()) };
        let Some(block) = axis.block else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for number in 0..BLOCK_LIMIT {
            let file: Arc<str> = names::of_block(&mapping.file, number)?.into();
            let dataset: Arc<str> = names::of_block(&mapping.dataset, number)?.into();
            if self.source(&file, &dataset)?.is_none() {
                // The end of the blocks is no missing source.
                self.sources.forget_missing(&(file, dataset));
                return Ok(found);
            }
            let start = number.checked_mul(axis.stride).and_then(|before| before.checked_add(axis.start));
            let Some(start) = start else { return Ok(found) };
            let mut target = target.clone();
            for place in &mut target.axes {
                if place.is_unlimited() {
                    *place = RegularAxis { start, stride: axis.stride, count: Some(1), block: Some(block) };
                }
            }
            found.push(Resolved {
                file,
                dataset,
                target: StoredSelection::Regular(target),
                source: mapping.source.clone(),
                slices: 0,
                end: start.saturating_add(block),
            });
        }
        Err(RequestError::TooMany { what: "blocks of a mapping", limit: BLOCK_LIMIT }.into())
    }
}

/// A mapping to one source, before the shape of the virtual dataset is known.
struct Resolved {
    file: Arc<str>,
    dataset: Arc<str>,
    target: StoredSelection,
    source: StoredSelection,
    slices: u64,
    /// The length that the virtual dataset needs along the axis without end.
    end: u64,
}

fn plain(mapping: &VirtualMapping) -> Result<(Arc<str>, Arc<str>)> {
    let plain = |name: &Arc<str>| {
        if name.contains('%') { names::of_block(name, 0).map(Arc::from) } else { Ok(Arc::clone(name)) }
    };
    if names::has_block(&mapping.file) || names::has_block(&mapping.dataset) {
        let why = "a name with %b needs a virtual selection without end, and a source with one";
        return Err(RequestError::Argument { what: format!("source {:?}", mapping.dataset), why }.into());
    }
    Ok((plain(&mapping.file)?, plain(&mapping.dataset)?))
}

fn one(mapping: &VirtualMapping, slices: u64, end: u64) -> Result<Vec<Resolved>> {
    let (file, dataset) = plain(mapping)?;
    let (target, source) = (mapping.target.clone(), mapping.source.clone());
    Ok(vec![Resolved { file, dataset, target, source, slices, end }])
}

/// Returns the length that a mapping needs along an axis where it has an end.
fn least_len(target: &StoredSelection, axis: usize) -> Option<u64> {
    match target {
        StoredSelection::Regular(slab) => slab.axes.get(axis)?.last().map(|last| last.saturating_add(1)),
        StoredSelection::Blocks(blocks) => {
            blocks.blocks().filter_map(|(_, last)| last.get(axis)).max().map(|last| last.saturating_add(1))
        }
        StoredSelection::Points(_) | StoredSelection::All | StoredSelection::None => None,
    }
}

/// Returns the error of a virtual dataset that is a source of itself.
pub(super) fn own_source() -> Error {
    let why = "the virtual dataset is a source of itself";
    RequestError::Argument { what: "mapping".to_owned(), why }.into()
}

impl View {
    fn sorted(shape: Vec<u64>, mut parts: Vec<SourcePart>) -> Self {
        // Along this axis, most parts are apart.
        let different = |axis: usize| {
            let mut starts: Vec<u64> = parts
                .iter()
                .filter_map(|part| part.target.bounds().get(axis))
                .map(|(start, _)| *start)
                .collect();
            starts.sort_unstable();
            starts.dedup();
            starts.len()
        };
        let axis = (0..shape.len()).max_by_key(|&axis| different(axis)).unwrap_or(0);
        let span = |part: &SourcePart| part.target.bounds().get(axis).copied().unwrap_or((0, 0));
        // Of parts that overlap, the later one counts, so their order is kept.
        let overlap = {
            let mut spans: Vec<_> = parts.iter().map(span).collect();
            spans.sort_unstable();
            spans.windows(2).any(|pair| pair[1].0 <= pair[0].1)
        };
        if !overlap {
            parts.sort_by_key(|part| span(part).0);
        }
        let ends = parts.iter().scan(0, |end, part| {
            *end = u64::max(*end, span(part).1);
            Some(*end)
        });
        let ends = ends.collect();
        let axis = if overlap { usize::MAX } else { axis };
        Self { shape, parts, axis, ends }
    }

    /// Returns the parts that may have elements between the first and the last index of `wanted` along the
    /// axis by which the parts are sorted.
    fn near(&self, first: u64, last: u64) -> Range<usize> {
        let start = self.ends.partition_point(|end| *end < first);
        let end = self.parts.partition_point(|part| {
            part.target.bounds().get(self.axis).is_none_or(|(start, _)| *start <= last)
        });
        start..end.max(start)
    }

    /// Returns the parts with elements in the product of `wanted`, in the order of the mappings unless they
    /// are apart.
    pub(super) fn touched(&self, wanted: &[Axis]) -> Vec<&SourcePart> {
        let span = wanted.get(self.axis).map(|axis| match axis {
            Axis::Range(dim) => (dim.start, dim.last().unwrap_or(u64::MAX)),
            Axis::List(list) => {
                (list.iter().min().copied().unwrap_or(0), list.iter().max().copied().unwrap_or(0))
            }
        });
        let near = span.map_or(0..self.parts.len(), |(first, last)| self.near(first, last));
        self.parts[near].iter().filter(|part| part.target.touches(wanted)).collect()
    }

    /// Returns the part that has the element at `coord`, and its position there.
    pub(super) fn find(&self, coord: &[u64]) -> Option<(usize, u64)> {
        let near = coord.get(self.axis).map_or(0..self.parts.len(), |&at| self.near(at, at));
        near.rev().find_map(|number| self.parts[number].target.find(coord).map(|position| (number, position)))
    }
}
