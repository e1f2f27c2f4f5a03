//! Where the chunks of a dataset are, as Zarr counts them.

use std::ops::ControlFlow;

use anyhow::Context as _;
use hyperslab::Dataset;
use hyperslab::storage::{ChunkRecord, FilterMask};
use hyperslab_format::layout::{ChunkIndexInfo, ChunkedLayout, Layout};
use hyperslab_format::{Addr, Extent};

use super::embed::{self, ChunkEncoder};
use super::mapped::Mapped;
use super::url::Urls;
use super::{Chunk, Options, Refused, Sink};

/// The chunks of a Zarr array.
#[derive(Debug)]
pub(super) enum ChunkSource {
    /// Chunks in an index.
    Chunks {
        /// The URL of the file.
        url: String,
        /// The filters that Zarr does not know of. Chunks that skipped others are embedded.
        base: u32,
    },
    /// One extent of a file, in chunks of equal size.
    Extent {
        /// The URL of the file.
        url: String,
        /// The offset in the file.
        offset: u64,
    },
    /// The only chunk.
    Embedded(Vec<u8>),
    /// Chunks of other datasets.
    Mapped(Vec<Mapped>),
    /// No chunk.
    Nothing,
}

/// What the index of a chunked dataset has.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Survey {
    /// The number of stored chunks.
    pub count: u64,
    /// The filters that all stored chunks skipped.
    pub base: u32,
    /// The chunks that skipped others. They are embedded.
    pub odd: u64,
}

impl Survey {
    /// Visits all chunks of a dataset.
    ///
    /// Errors: those of the index; a chunk outside the file.
    pub(super) fn of(dataset: &Dataset, layout: &ChunkedLayout) -> anyhow::Result<Self> {
        let masks = Masks::of(dataset, layout);
        let (mut count, mut odd, mut first) = (0, 0, None);
        each_chunk(dataset, |coord, record| {
            dataset.file().store().check(record.extent, ("Chunk", "IV.B"))?;
            count += 1;
            let mask = masks.of_chunk(coord, record);
            let first = *first.get_or_insert(mask);
            odd += u64::from(mask != first);
            Ok(())
        })?;
        let first = first.unwrap_or(0);
        if odd == 0 {
            return Ok(Self { count, base: first, odd });
        }
        // Chunks with all filters are the rule.
        let mut odd = 0;
        each_chunk(dataset, |coord, record| {
            odd += u64::from(masks.of_chunk(coord, record) != 0);
            Ok(())
        })?;
        Ok(Self { count, base: 0, odd })
    }
}

/// Calls `f` with each stored chunk of a dataset, until it fails.
pub(super) fn each_chunk(
    dataset: &Dataset,
    mut f: impl FnMut(&[u64], ChunkRecord) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut failed = None;
    dataset.visit_chunks(&mut |coord, record| match f(coord, record) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            failed = Some(error);
            ControlFlow::Break(())
        }
    })?;
    failed.map_or(Ok(()), Err)
}

/// Returns the number of chunks over a shape.
pub(super) fn chunk_count(shape: &[u64], chunk: &[u64]) -> u64 {
    shape.iter().zip(chunk).fold(1, |count, (len, size)| count.saturating_mul(len.div_ceil(*size)))
}

/// Which filters a chunk was stored without.
struct Masks<'d> {
    layout: &'d ChunkedLayout,
    shape: Vec<u64>,
    /// The bits of the filters that the dataset has.
    bits: u32,
}

impl<'d> Masks<'d> {
    fn of(dataset: &Dataset, layout: &'d ChunkedLayout) -> Self {
        let count = u32::try_from(dataset.filters().filters.len()).unwrap_or(u32::MAX);
        let bits = if count >= u32::BITS { u32::MAX } else { (1 << count) - 1 };
        Self { layout, shape: dataset.shape(), bits }
    }

    fn of_chunk(&self, coord: &[u64], record: ChunkRecord) -> u32 {
        let is_cut = || {
            let axes = coord.iter().zip(&self.layout.chunk_shape).zip(&self.shape);
            axes.into_iter().any(|((at, chunk), len)| at.saturating_add(1).saturating_mul(*chunk) > *len)
        };
        if self.layout.unfiltered_edges && is_cut() { self.bits } else { record.mask.0 & self.bits }
    }
}

/// Returns the shape of chunks into which contiguous data of this shape are split: as many rows as divide the
/// length of an axis and fit in `limit` bytes. Data are not split into chunks that are much smaller than
/// that, for example because the length is a prime number.
pub(super) fn split(shape: &[u64], element_size: u64, limit: u64) -> Vec<u64> {
    let mut chunk = shape.to_vec();
    for axis in 0..shape.len() {
        let row = shape[axis + 1..].iter().fold(element_size, |size, &len| size.saturating_mul(len));
        if row.saturating_mul(shape[axis]) <= limit {
            break;
        }
        if row > limit && axis + 1 < shape.len() {
            chunk[axis] = 1;
            continue;
        }
        let most = (limit / row.max(1)).max(1);
        let least = most.div_ceil(16);
        if let Some(rows) = (least..=most).rev().find(|rows| shape[axis].is_multiple_of(*rows)) {
            chunk[axis] = rows;
        }
        break;
    }
    chunk
}

/// The place of contiguous data, or why they cannot be referenced.
pub(super) fn contiguous(
    dataset: &Dataset,
    extent: Extent,
    urls: &Urls,
) -> anyhow::Result<Result<ChunkSource, Refused>> {
    if dataset.has_external_files() {
        return external(dataset, urls);
    }
    if extent.addr.is_undefined() {
        return Ok(Ok(ChunkSource::Nothing));
    }
    dataset.file().store().check(Extent::new(extent.addr, dataset.len_bytes()), ("Raw data", "IV.B"))?;
    Ok(urls.of(dataset.file()).map(|url| ChunkSource::Extent { url, offset: absolute(dataset, extent.addr) }))
}

/// The place of data in other files without structure.
fn external(dataset: &Dataset, urls: &Urls) -> anyhow::Result<Result<ChunkSource, Refused>> {
    let parts = dataset.external_parts()?;
    let mut parts = parts.iter().filter(|part| part.len > 0);
    let (Some(part), None) = (parts.next(), parts.next()) else {
        return Ok(Err("the elements are in several external files".to_owned()));
    };
    let Some(path) = part.candidates.iter().find(|path| path.exists()) else {
        return Ok(Err("the external file with the elements does not exist".to_owned()));
    };
    let len = std::fs::metadata(path).with_context(|| path.display().to_string())?.len();
    if part.offset.checked_add(part.len).is_none_or(|end| end > len) {
        return Ok(Err("the external file is shorter than the elements".to_owned()));
    }
    Ok(urls.beside(path).map(|url| ChunkSource::Extent { url, offset: part.offset }))
}

/// Returns the offset in the file of an address, which counts from the end of a user block.
pub(super) fn absolute(dataset: &Dataset, addr: Addr) -> u64 {
    dataset.file().store().base() + addr.get()
}

/// Returns whether an index gives the chunks in row-major order.
pub(super) fn is_ordered(dataset: &Dataset) -> bool {
    match dataset.layout() {
        Layout::Chunked(ChunkedLayout { index: ChunkIndexInfo::ExtensibleArray { .. }, .. }) => {
            let axes = dataset.max_shape().unwrap_or_default();
            axes.iter().position(Option::is_none).unwrap_or(0) == 0
        }
        _ => true,
    }
}

impl ChunkSource {
    /// Gives the chunks of `array` to `sink`.
    pub(super) fn write(
        &self,
        dataset: &Dataset,
        array: &super::Array,
        options: &Options,
        sink: &mut dyn Sink,
    ) -> anyhow::Result<()> {
        let origin = vec![0; array.shape.len()];
        match self {
            Self::Nothing => Ok(()),
            Self::Embedded(bytes) => sink.chunk(array, &origin, Chunk::Bytes(bytes)),
            Self::Extent { url, offset } => extent(url, *offset, dataset, array, options, sink),
            Self::Mapped(mappings) => mappings.iter().try_for_each(|mapped| mapped.write(array, sink)),
            Self::Chunks { url, base } => chunks(url, *base, dataset, array, options, sink),
        }
    }
}

fn extent(
    url: &str,
    offset: u64,
    dataset: &Dataset,
    array: &super::Array,
    options: &Options,
    sink: &mut dyn Sink,
) -> anyhow::Result<()> {
    let len = array.chunk_bytes();
    let is_embedded = len < options.inline && !dataset.has_external_files();
    let base = dataset.file().store().base();
    let mut coord = vec![0; array.shape.len()];
    let mut offset = offset;
    loop {
        if is_embedded {
            let extent = Extent::new(Addr::new(offset - base), len);
            let bytes = dataset.read_stored_chunk(ChunkRecord { extent, mask: FilterMask(0) })?;
            sink.chunk(array, &coord, Chunk::Bytes(&bytes))?;
        } else {
            sink.chunk(array, &coord, Chunk::Stored { url, offset, len })?;
        }
        offset += len;
        let Some(axis) = (0..coord.len()).rev().find(|&axis| coord[axis] + 1 < array.grid[axis]) else {
            return Ok(());
        };
        coord[axis] += 1;
        coord[axis + 1..].fill(0);
    }
}

fn chunks(
    url: &str,
    base: u32,
    dataset: &Dataset,
    array: &super::Array,
    options: &Options,
    sink: &mut dyn Sink,
) -> anyhow::Result<()> {
    let Layout::Chunked(layout) = dataset.layout() else { return Ok(()) };
    let masks = Masks::of(dataset, &layout);
    let mut encoder = None;
    let start = dataset.file().store().base();
    let rank = layout.chunk_shape.len();
    let mut coord = vec![0; array.shape.len()];
    each_chunk(dataset, |at, record| {
        // The axes of an element that is an array have one chunk.
        coord[..rank].copy_from_slice(at);
        let mask = masks.of_chunk(at, record);
        let ChunkRecord { extent: Extent { addr, len }, .. } = record;
        if mask == base && len >= options.inline {
            return sink.chunk(array, &coord, Chunk::Stored { url, offset: start + addr.get(), len });
        }
        let stored = dataset.read_stored_chunk(record)?;
        let bytes = if mask == base {
            stored
        } else {
            let encoder = match &mut encoder {
                Some(encoder) => encoder,
                None => encoder.insert(encoder_of(dataset, &layout)?),
            };
            encoder.whole(mask, &stored).context("a chunk that was stored without some filters")?
        };
        sink.chunk(array, &coord, Chunk::Bytes(&bytes))
    })
}

fn encoder_of(dataset: &Dataset, layout: &ChunkedLayout) -> anyhow::Result<embed::ChunkEncoder> {
    let len = usize::try_from(layout.chunk_len()).context("a chunk larger than memory")?;
    ChunkEncoder::new(&dataset.filters(), dataset.element_size(), len)
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn contiguous_data_are_split_into_equal_chunks() {
        assert_eq!(split(&[10, 4], 1, 40), [10, 4]);
        assert_eq!(split(&[10, 4], 1, 39), [5, 4]);
        assert_eq!(split(&[10, 4], 1, 3), [1, 2]);
        assert_eq!(split(&[], 8, 1), [0_u64; 0]);
        // A prime number of rows, of which 100 would fit.
        assert_eq!(split(&[1009], 1, 100), [1009]);
        assert_eq!(split(&[1, 3, 8], 4, 64), [1, 1, 8]);
    }
}
