//! Virtual datasets whose parts are whole chunks of other datasets.

use hyperslab::storage::ChunkRecord;
use hyperslab::{Dataset, VirtualSource};
use hyperslab_format::layout::Layout;
use hyperslab_format::selection::StoredSelection;

use super::place::{ChunkSource, Survey, absolute, chunk_count, contiguous, each_chunk};
use super::url::Urls;
use super::{Array, Chunk, Refused, Sink, fill_bytes};

/// A part of a virtual dataset, which a box of chunks of another dataset fills.
#[derive(Debug)]
pub(super) struct Mapped {
    dataset: Dataset,
    source: ChunkSource,
    /// The first chunk of the box in the other dataset, and the first after it.
    from: Vec<(u64, u64)>,
    /// The first chunk of the box in the virtual dataset.
    to: Vec<u64>,
    /// For each axis of the virtual dataset, that of the other one; `None` for an axis of length 1.
    axes: Vec<Option<usize>>,
}

/// The parts, and what they have in common.
pub(super) struct Parts {
    pub mapped: Vec<Mapped>,
    pub chunks: Vec<u64>,
    /// A dataset whose filters and datatype all parts have.
    pub like: Dataset,
    /// The filters that all chunks skipped.
    pub skipped: u32,
    /// Whether chunks fill the virtual dataset.
    pub is_full: bool,
}

/// Returns the parts of a virtual dataset, or why they are no chunks.
pub(super) fn parts(dataset: &Dataset, urls: &Urls) -> anyhow::Result<Result<Parts, Refused>> {
    let mut parts: Option<Parts> = None;
    let mut boxes = Vec::new();
    let mut filled = 0_u64;
    for source in dataset.virtual_sources()? {
        let found = match part(dataset, &source, urls)? {
            Ok(found) => found,
            Err(why) => return Ok(Err(format!("its source {}:{}: {why}", source.file, source.dataset))),
        };
        let FoundMapping { mapped, chunks, skipped, elements, bounds } = found;
        filled = filled.saturating_add(elements);
        boxes.push(bounds);
        match &mut parts {
            None => {
                let like = mapped.dataset.clone();
                parts = Some(Parts { mapped: vec![mapped], chunks, like, skipped, is_full: false });
            }
            Some(parts) => {
                let (like, other) = (&parts.like, &mapped.dataset);
                if parts.chunks != chunks || parts.skipped != skipped || like.filters() != other.filters() {
                    return Ok(Err("its sources have different chunks or filters".to_owned()));
                }
                parts.mapped.push(mapped);
            }
        }
    }
    let Some(mut parts) = parts else {
        return Ok(Err("it is virtual, and has no sources".to_owned()));
    };
    if overlap(&mut boxes) {
        return Ok(Err("its sources overlap".to_owned()));
    }
    parts.is_full = filled == dataset.size();
    Ok(Ok(parts))
}

struct FoundMapping {
    mapped: Mapped,
    chunks: Vec<u64>,
    skipped: u32,
    /// The elements of the virtual dataset that stored chunks fill.
    elements: u64,
    bounds: Vec<(u64, u64)>,
}

fn part(
    dataset: &Dataset,
    source: &VirtualSource,
    urls: &Urls,
) -> anyhow::Result<Result<FoundMapping, Refused>> {
    let refused = |why: &str| Ok(Err(why.to_owned()));
    let Some(other) = dataset.open_source(source)? else { return refused("it does not exist") };
    if *other.datatype() != *dataset.datatype() {
        return refused("it has another datatype");
    }
    let (to_shape, from_shape) = (dataset.shape(), other.shape());
    let boxes = (bounds(&source.target, &to_shape), bounds(&source.source, &from_shape));
    let (Some(to), Some(from)) = boxes else { return refused("the mapping is not one block") };
    let Some(axes) = paired(&to, &from) else { return refused("the mapping changes the shape") };
    let (chunk, found, skipped, is_full) = match other.layout() {
        Layout::Chunked(layout) => {
            let survey = Survey::of(&other, &layout)?;
            if survey.odd > 0 {
                return refused("some of its chunks were stored without filters");
            }
            let is_full = survey.count == chunk_count(&from_shape, &layout.chunk_shape);
            let source = urls.of(other.file()).map(|url| ChunkSource::Chunks { url, base: survey.base });
            (layout.chunk_shape, source, survey.base, is_full)
        }
        Layout::Contiguous(extent) => {
            let found = contiguous(&other, extent, urls)?;
            let is_full = !matches!(found, Ok(ChunkSource::Nothing));
            (from_shape.clone(), found, 0, is_full)
        }
        Layout::Compact { .. } | Layout::Virtual { .. } => {
            return refused("it is compact or virtual itself");
        }
    };
    let found = match found {
        Ok(found) => found,
        Err(why) => return Ok(Err(why)),
    };
    if !is_full && fill_bytes(dataset) != fill_bytes(&other) {
        return refused("it has chunks that were never written, and another fill value");
    }
    // An axis that the virtual dataset lacks has one index, so a chunk has, too.
    let is_used = |axis: usize| axes.contains(&Some(axis));
    if (0..from.len()).any(|axis| !is_used(axis) && chunk[axis] != 1) {
        return refused("its chunks have more elements than the mapping takes");
    }
    let mut chunks = Vec::with_capacity(to.len());
    let mut first = Vec::with_capacity(to.len());
    for (axis, pair) in axes.iter().enumerate() {
        let ((to_start, to_end), size) = (to[axis], pair.map_or(1, |pair| chunk[pair].max(1)));
        let (from_start, from_end) = pair.map_or((0, 1), |pair| from[pair]);
        let is_aligned = to_start % size == 0 && from_start % size == 0;
        // A chunk at the edge has elements beyond it, which must not be elements of the virtual dataset.
        if !is_aligned || (from_end % size != 0 && to_end != to_shape[axis]) {
            return refused("the mapping is not along the bounds of chunks");
        }
        chunks.push(size);
        first.push(to_start / size);
    }
    let from = from.iter().zip(&chunk).map(|(&(start, end), &size)| {
        let size = size.max(1);
        (start / size, end.div_ceil(size))
    });
    let elements = if is_full { to.iter().map(|(start, end)| end - start).product() } else { 0 };
    let mapped = Mapped { from: from.collect(), to: first, axes, dataset: other, source: found };
    Ok(Ok(FoundMapping { mapped, chunks, skipped, elements, bounds: to }))
}

/// Returns the bounds of a selection along each axis, if it is one block inside `shape`.
fn bounds(selection: &StoredSelection, shape: &[u64]) -> Option<Vec<(u64, u64)>> {
    let bounds: Vec<(u64, u64)> = match selection {
        StoredSelection::All => shape.iter().map(|&len| (0, len)).collect(),
        StoredSelection::Regular(slab) => {
            let axis = |axis: &hyperslab_format::selection::RegularAxis| {
                let (count, block) = (axis.count?, axis.block?);
                let is_block = count == 1 || axis.stride == block;
                is_block.then(|| Some((axis.start, axis.start.checked_add(count.checked_mul(block)?)?)))?
            };
            slab.axes.iter().map(axis).collect::<Option<_>>()?
        }
        StoredSelection::Blocks(blocks) => {
            let mut blocks = blocks.blocks();
            let (Some((first, last)), None) = (blocks.next(), blocks.next()) else { return None };
            first.iter().zip(last).map(|(&first, &last)| (first, last.saturating_add(1))).collect()
        }
        StoredSelection::None | StoredSelection::Points(_) => return None,
    };
    let is_inside = bounds.len() == shape.len()
        && bounds.iter().zip(shape).all(|(&(start, end), &len)| start < end && end <= len);
    is_inside.then_some(bounds)
}

/// Returns for each axis of `to` the axis of `from` with the same elements, or `None` if axes other than
/// those of length 1 differ.
fn paired(to: &[(u64, u64)], from: &[(u64, u64)]) -> Option<Vec<Option<usize>>> {
    let len = |bounds: &(u64, u64)| bounds.1 - bounds.0;
    if to.len() == from.len() {
        let is_same = to.iter().zip(from).all(|(to, from)| len(to) == len(from));
        return is_same.then(|| (0..to.len()).map(Some).collect());
    }
    let mut others = (0..from.len()).filter(|&axis| len(&from[axis]) != 1);
    let mut pairs = Vec::with_capacity(to.len());
    for bounds in to {
        if len(bounds) == 1 {
            pairs.push(None);
            continue;
        }
        let axis = others.next().filter(|&axis| len(&from[axis]) == len(bounds))?;
        pairs.push(Some(axis));
    }
    others.next().is_none().then_some(pairs)
}

/// Returns whether two of the boxes have an element in common.
fn overlap(boxes: &mut [Vec<(u64, u64)>]) -> bool {
    boxes.sort();
    let mut open: Vec<&[(u64, u64)]> = Vec::new();
    for new in boxes.iter() {
        let start = new.first().map_or(0, |bounds| bounds.0);
        open.retain(|old| old.first().is_none_or(|bounds| bounds.1 > start));
        if open.iter().any(|old| old.iter().zip(new).all(|(a, b)| a.0 < b.1 && b.0 < a.1)) {
            return true;
        }
        open.push(new);
    }
    false
}

impl Mapped {
    /// Gives the chunks of the part to `sink`.
    pub(super) fn write(&self, array: &Array, sink: &mut dyn Sink) -> anyhow::Result<()> {
        let mut coord = vec![0; array.shape.len()];
        match &self.source {
            ChunkSource::Chunks { url, .. } => each_chunk(&self.dataset, |at, ChunkRecord { extent, .. }| {
                let mut bounds = at.iter().zip(&self.from);
                if !bounds.all(|(at, (first, end))| first <= at && at < end) {
                    return Ok(());
                }
                self.place(at, &mut coord);
                let offset = absolute(&self.dataset, extent.addr);
                sink.chunk(array, &coord, Chunk::Stored { url, offset, len: extent.len })
            }),
            ChunkSource::Extent { url, offset } => {
                self.place(&vec![0; self.from.len()], &mut coord);
                let len = self.dataset.len_bytes();
                sink.chunk(array, &coord, Chunk::Stored { url, offset: *offset, len })
            }
            ChunkSource::Embedded(_) | ChunkSource::Mapped(_) | ChunkSource::Nothing => Ok(()),
        }
    }

    /// Sets `coord` to the chunk of the virtual dataset that the chunk at `at` is.
    fn place(&self, at: &[u64], coord: &mut [u64]) {
        for ((place, axis), to) in coord.iter_mut().zip(&self.axes).zip(&self.to) {
            *place = to + axis.map_or(0, |axis| at[axis] - self.from[axis].0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_of_length_one_may_be_missing() {
        assert_eq!(paired(&[(3, 4), (0, 5)], &[(0, 5)]), Some(vec![None, Some(0)]));
        assert_eq!(paired(&[(0, 1), (0, 5)], &[(0, 1), (0, 5)]), Some(vec![Some(0), Some(1)]));
        assert_eq!(paired(&[(0, 2), (0, 5)], &[(0, 10)]), None);
        assert_eq!(paired(&[(0, 5)], &[(0, 5), (0, 2)]), None);
    }

    #[test]
    fn boxes_overlap_if_they_have_an_element_in_common() {
        assert!(!overlap(&mut [vec![(0, 2), (0, 4)], vec![(2, 4), (0, 4)], vec![(4, 5), (1, 2)]]));
        assert!(overlap(&mut [vec![(4, 6), (0, 2)], vec![(0, 5), (1, 4)]]));
    }
}
