//! Bytes that are embedded among the references, because no bytes of the file are what Zarr would read.

use anyhow::{Context as _, bail};
use hyperslab::{Dataset, Destination, ReadOptions, Selection};
use hyperslab_filters::{Encoded, FilterId, FilterMask, Pipeline, Registry, Scratch, StageSpec};
use hyperslab_format::datatype::{Datatype, Padding, Text};
use hyperslab_format::message::filters::FilterPipeline;

use super::dtype::element;

/// Encodes chunks that were stored without some of the filters with all of them, as Zarr expects.
pub(super) struct ChunkEncoder {
    pipeline: Pipeline,
    chunk_bytes: usize,
    scratch: Scratch,
}

impl ChunkEncoder {
    /// Creates an encoder for chunks of `chunk_bytes`.
    pub(super) fn new(
        filters: &FilterPipeline,
        element_size: usize,
        chunk_bytes: usize,
    ) -> anyhow::Result<Self> {
        let specs = filters.filters.iter().map(|filter| StageSpec {
            id: FilterId(filter.id),
            name: filter.name.as_deref(),
            flags: filter.flags,
            client_data: &filter.client_data,
        });
        let specs: Vec<StageSpec<'_>> = specs.collect();
        let pipeline = Pipeline::new(&specs, element_size, chunk_bytes, &Registry::shared())?;
        Ok(Self { pipeline, chunk_bytes, scratch: Scratch::default() })
    }

    /// Decodes a chunk that was stored without the filters of `mask`, and returns it encoded by all filters.
    pub(super) fn whole(&mut self, mask: u32, stored: &[u8]) -> anyhow::Result<Vec<u8>> {
        let mut bytes = vec![0; self.chunk_bytes];
        self.pipeline.decode_into(FilterMask(mask), stored, &mut bytes, &mut self.scratch)?;
        for stage in self.pipeline.filters() {
            let filter = stage.filter()?;
            if let Some(appended) = filter.appended(&bytes) {
                bytes.extend_from_slice(&appended);
                continue;
            }
            let mut encoded = vec![0; filter.encode_bound(bytes.len())];
            bytes = match filter.encode_into(&bytes, &mut encoded, &mut self.scratch)? {
                Encoded::Stored(len) => {
                    encoded.truncate(len);
                    encoded
                }
                // Encoding did not pay, which is why the chunk was stored without this filter.
                Encoded::Skipped => match stored_form(stage.id()) {
                    Some(store) => store(&bytes),
                    None => bail!("its bytes cannot be encoded by filter {}", stage.id().0),
                },
            };
        }
        Ok(bytes)
    }
}

/// Returns bytes in the format of a compressor.
type Encode = fn(&[u8]) -> Vec<u8>;

/// Returns how a compressor's format holds bytes without compression.
fn stored_form(id: FilterId) -> Option<Encode> {
    match id {
        FilterId::DEFLATE => Some(zlib_stored),
        FilterId::BLOSC => Some(blosc_stored),
        FilterId::ZSTD => Some(zstd_stored),
        _ => None,
    }
}

/// Returns whether any chunk can be encoded by all of these filters.
pub(super) fn can_encode(filters: &FilterPipeline) -> bool {
    let can = |id: u16| {
        let id = FilterId(id);
        id == FilterId::SHUFFLE || id == FilterId::FLETCHER32 || stored_form(id).is_some()
    };
    filters.filters.iter().all(|filter| can(filter.id))
}

/// Returns the bytes in the format of Blosc 1, copied.
fn blosc_stored(bytes: &[u8]) -> Vec<u8> {
    const COPIED: u8 = 2;
    let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    // The version of the format, that of the compressor, flags, and the size of an element.
    let mut out = vec![2, 1, COPIED, 1];
    for number in [len, len, len.saturating_add(16)] {
        out.extend(number.to_le_bytes());
    }
    out.extend_from_slice(bytes);
    out
}

/// Returns the bytes in the format of Zstandard (RFC 8878), in blocks without compression.
fn zstd_stored(bytes: &[u8]) -> Vec<u8> {
    const MOST: usize = 128 << 10;
    // One segment, with a size of eight bytes.
    let mut out = vec![0x28, 0xb5, 0x2f, 0xfd, 0xe0];
    out.extend((bytes.len() as u64).to_le_bytes());
    let count = bytes.len().div_ceil(MOST).max(1);
    for index in 0..count {
        let block = &bytes[index * MOST..bytes.len().min((index + 1) * MOST)];
        let header = u32::try_from(block.len()).unwrap_or(0) << 3 | u32::from(index + 1 == count);
        out.extend_from_slice(&header.to_le_bytes()[..3]);
        out.extend_from_slice(block);
    }
    out
}

/// Returns the bytes in the format of zlib (RFC 1950), in blocks without compression.
fn zlib_stored(bytes: &[u8]) -> Vec<u8> {
    const MOST: usize = 65_535;
    let mut out = vec![0x78, 0x01];
    let count = bytes.len().div_ceil(MOST).max(1);
    for index in 0..count {
        let block = &bytes[index * MOST..bytes.len().min((index + 1) * MOST)];
        let len = u16::try_from(block.len()).unwrap_or(u16::MAX);
        out.push(u8::from(index + 1 == count));
        out.extend(len.to_le_bytes());
        out.extend((!len).to_le_bytes());
        out.extend_from_slice(block);
    }
    out.extend(adler32(bytes).to_be_bytes());
    out
}

fn adler32(bytes: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    let (mut a, mut b) = (1_u32, 0_u32);
    // No sum of 5552 terms exceeds 32 bits.
    for part in bytes.chunks(5552) {
        for &byte in part {
            a += u32::from(byte);
            b += a;
        }
        a %= MODULUS;
        b %= MODULUS;
    }
    b << 16 | a
}

/// Returns all elements of a dataset as they are without filters. Strings that spaces fill are filled with
/// zeros, as all of Zarr's are.
pub(super) fn elements(dataset: &Dataset) -> anyhow::Result<Vec<u8>> {
    let len = usize::try_from(dataset.len_bytes()).context("more elements than memory")?;
    let mut bytes = vec![0; len];
    let mut destination = Destination::contiguous(&mut bytes);
    dataset.read_with_heap(None, &Selection::All, &mut destination, &ReadOptions::default())?;
    if let Datatype::Text(Text { size, padding: Padding::SpacePadded, .. }) = element(&dataset.datatype()) {
        for text in bytes.chunks_exact_mut(*size as usize) {
            let end = text.iter().rposition(|&byte| byte != b' ').map_or(0, |last| last + 1);
            text[end..].fill(0);
        }
    }
    Ok(bytes)
}

/// Returns all strings of variable length of a dataset as the codec `vlen-utf8` of numcodecs has them: their
/// number, then the length and the bytes of each.
///
/// `None`: a string is not UTF-8, or there are more than `most` bytes.
pub(super) fn strings(dataset: &Dataset, most: u64) -> anyhow::Result<Option<Vec<u8>>> {
    let count = dataset.size();
    if count.saturating_mul(4) > most {
        return Ok(None);
    }
    let mut ids = vec![0; usize::try_from(dataset.len_bytes()).context("more elements than memory")?];
    let mut destination = Destination::contiguous(&mut ids);
    let heap = dataset.read_with_heap(None, &Selection::All, &mut destination, &ReadOptions::default())?;
    let mut bytes = Vec::new();
    bytes.extend(u32::try_from(count).context("more strings than Zarr has in a chunk")?.to_le_bytes());
    // Strings may be long and shared, so they are not all read at once.
    for id in heap.vlen_ids(&ids)? {
        let found = heap.vlen_bytes(id)?;
        let text = found.split(|&byte| byte == 0).next().unwrap_or_default();
        let Ok(len) = u32::try_from(text.len()) else { return Ok(None) };
        if (bytes.len() + text.len()) as u64 > most || str::from_utf8(text).is_err() {
            return Ok(None);
        }
        bytes.extend(len.to_le_bytes());
        bytes.extend_from_slice(text);
    }
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_without_compression_are_what_the_filters_decode() {
        for len in [1, 65_535, 65_536, 131_072, 300_000] {
            let bytes: Vec<u8> = (0..len).map(|at: u32| (at * 31 % 251) as u8).collect();
            for (id, client_data) in [
                (FilterId::DEFLATE, &[6][..]),
                (FilterId::ZSTD, &[3]),
                (FilterId::BLOSC, &[2, 2, 1, len, 5, 1, 1]),
            ] {
                let specs = [StageSpec { id, name: None, flags: 0, client_data }];
                let pipeline = Pipeline::new(&specs, 1, bytes.len(), &Registry::shared()).unwrap();
                let mut decoded = vec![0; bytes.len()];
                let stored = stored_form(id).unwrap()(&bytes);
                pipeline.decode_into(FilterMask(0), &stored, &mut decoded, &mut Scratch::default()).unwrap();
                assert!(decoded == bytes, "{id:?} {len}");
            }
        }
        // A published example.
        assert_eq!(adler32(b"Wikipedia"), 0x11e6_0398);
    }
}
