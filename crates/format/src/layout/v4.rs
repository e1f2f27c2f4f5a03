//! Data layout message versions 4 and 5 (spec IV.A.2.i): chunk dimensions of any width, five chunk indexes.
//!
//! Version 5 differs only in the indexes' elements: the size of a filtered chunk has Size of Lengths bytes.

use super::{
    ChunkIndexInfo, ChunkedLayout, ExtensibleArrayParameters, chunk_dimensionality, chunk_dimensions,
};
use crate::bytes::{Reader, Writer, bytes_for};
use crate::error::{ErrorKind, Result};

/// Flags, bit 0: chunks that extend past the edge of the dataset are not filtered.
const UNFILTERED_EDGES: u8 = 1;
/// Flags, bit 1: the single chunk is filtered.
const SINGLE_FILTERED: u8 = 2;

const SINGLE: u8 = 1;
const IMPLICIT: u8 = 2;
const FIXED_ARRAY: u8 = 3;
const EXTENSIBLE_ARRAY: u8 = 4;
const BTREE2: u8 = 5;

/// Decodes the rest of a chunked layout after its class.
pub(super) fn decode_chunked(r: &mut Reader<'_>, version: u8) -> Result<ChunkedLayout> {
    let flags = r.flags(UNFILTERED_EDGES | SINGLE_FILTERED, "only bits 0 and 1")?;
    let dimensionality = chunk_dimensionality(r)?;
    let width = r.u8()?;
    if !(1..=8).contains(&width) {
        return Err(r.bad_value("Dimension Size Encoded Length", width.into(), "1 to 8"));
    }
    let sizes = (0..dimensionality).map(|_| r.uint(width.into())).collect::<Result<_>>()?;
    let (chunk_shape, element_size) = chunk_dimensions(r, sizes)?;
    let index = ChunkIndexInfo::decode(r, flags & SINGLE_FILTERED != 0)?;
    let unfiltered_edges = flags & UNFILTERED_EDGES != 0;
    Ok(ChunkedLayout { version, chunk_shape, element_size, unfiltered_edges, index })
}

/// Encodes the bytes that [`decode_chunked`] reads.
pub(super) fn encode_chunked(chunked: &ChunkedLayout, w: &mut Writer<'_>) {
    let edges = if chunked.unfiltered_edges { UNFILTERED_EDGES } else { 0 };
    let single = match chunked.index {
        ChunkIndexInfo::Single { filtered: Some(_), .. } => SINGLE_FILTERED,
        _ => 0,
    };
    let width = dimension_width(chunked);
    w.u8(edges | single);
    w.uint(chunked.chunk_shape.len() as u64 + 1, 1);
    w.uint(width as u64, 1);
    for &size in &chunked.chunk_shape {
        w.uint(size, width);
    }
    w.uint(chunked.element_size.into(), width);
    chunked.index.encode(w);
}

/// Returns the smallest number of bytes that holds every dimension and the element size, as in libhdf5.
fn dimension_width(chunked: &ChunkedLayout) -> usize {
    let largest = chunked.chunk_shape.iter().copied().fold(chunked.element_size.into(), u64::max);
    bytes_for(largest)
}

impl ChunkIndexInfo {
    fn decode(r: &mut Reader<'_>, single_filtered: bool) -> Result<Self> {
        Ok(match r.u8()? {
            SINGLE => {
                let filtered = if single_filtered { Some((r.length()?, r.u32()?)) } else { None };
                Self::Single { addr: r.addr()?, filtered }
            }
            IMPLICIT => Self::Implicit { addr: r.addr()? },
            FIXED_ARRAY => {
                let page_bits = parameter(r, "Page Bits")?;
                Self::FixedArray { addr: r.addr()?, page_bits }
            }
            EXTENSIBLE_ARRAY => {
                let parameters = ExtensibleArrayParameters {
                    max_elements_bits: parameter(r, "Max Bits")?,
                    index_elements: parameter(r, "Index Elements")?,
                    min_pointers: parameter(r, "Min Pointers")?,
                    min_elements: parameter(r, "Min Elements")?,
                    page_bits: parameter(r, "Page Bits")?,
                };
                Self::ExtensibleArray { addr: r.addr()?, parameters }
            }
            BTREE2 => {
                let node_size = r.u32()?;
                let split_percent = percent(r, "Split Percent")?;
                let merge_percent = percent(r, "Merge Percent")?;
                Self::BTree2 { addr: r.addr()?, node_size, split_percent, merge_percent }
            }
            other => return Err(r.bad_value("Chunk Indexing Type", other.into(), "1 to 5")),
        })
    }

    fn encode(&self, w: &mut Writer<'_>) {
        match *self {
            // Versions 4 and 5 have no such index, and no decoder returns one. libhdf5 refuses type 0.
            Self::BTree1 { .. } => w.u8(0),
            Self::Single { filtered, .. } => {
                w.u8(SINGLE);
                if let Some((size, mask)) = filtered {
                    w.length(size);
                    w.u32(mask);
                }
            }
            Self::Implicit { .. } => w.u8(IMPLICIT),
            Self::FixedArray { page_bits, .. } => w.bytes(&[FIXED_ARRAY, page_bits]),
            Self::ExtensibleArray { parameters: p, .. } => w.bytes(&[
                EXTENSIBLE_ARRAY,
                p.max_elements_bits,
                p.index_elements,
                p.min_pointers,
                p.min_elements,
                p.page_bits,
            ]),
            Self::BTree2 { node_size, split_percent, merge_percent, .. } => {
                w.u8(BTREE2);
                w.u32(node_size);
                w.bytes(&[split_percent, merge_percent]);
            }
        }
        w.addr(self.addr());
    }
}

/// Reads a creation parameter of an array. Zero is an error.
fn parameter(r: &mut Reader<'_>, field: &'static str) -> Result<u8> {
    match r.u8()? {
        0 => Err(r.error_back(1, ErrorKind::Value { field, value: 0, expected: "at least 1" })),
        parameter => Ok(parameter),
    }
}

fn percent(r: &mut Reader<'_>, field: &'static str) -> Result<u8> {
    match r.u8()? {
        percent @ 1..=100 => Ok(percent),
        other => Err(r.error_back(1, ErrorKind::Value { field, value: other.into(), expected: "1 to 100" })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addr::Addr;
    use crate::golden;
    use crate::layout::Layout;

    fn chunked(hex: &str) -> ChunkedLayout {
        match golden::golden::<Layout>(hex, &()) {
            Layout::Chunked(chunked) => chunked,
            other => panic!("{other:?}"),
        }
    }

    /// Datasets by h5py 3.16 with `libver="latest"`: a filtered single chunk, then one for each other index.
    #[test]
    fn every_chunk_index_round_trips_bytes_of_libhdf5() {
        let single = chunked("05 02 02 03 01 04 03 02 01 0a00000000000000 00000000 3008000000000000");
        assert_eq!(single.index, ChunkIndexInfo::Single { addr: Addr::new(0x830), filtered: Some((10, 0)) });
        assert_eq!((single.version, single.chunk_shape, single.element_size), (5, vec![4, 3], 2));

        let implicit = chunked("04 02 00 03 01 04 04 04 02 0018000000000000");
        assert_eq!(implicit.index, ChunkIndexInfo::Implicit { addr: Addr::new(0x1800) });

        let fixed = chunked("04 02 00 03 01 04 03 02 03 0a ff*8");
        assert_eq!(fixed.index, ChunkIndexInfo::FixedArray { addr: Addr::UNDEFINED, page_bits: 10 });

        let extensible = chunked("05 02 00 03 01 04 03 02 04 20 04 04 10 0a ff*8");
        let parameters = ExtensibleArrayParameters {
            max_elements_bits: 32,
            index_elements: 4,
            min_pointers: 4,
            min_elements: 16,
            page_bits: 10,
        };
        assert_eq!(extensible.index, ChunkIndexInfo::ExtensibleArray { addr: Addr::UNDEFINED, parameters });

        let btree = chunked("05 02 00 03 01 04 03 02 05 00080000 64 28 ff*8");
        let addr = Addr::UNDEFINED;
        let expected =
            ChunkIndexInfo::BTree2 { addr, node_size: 2048, split_percent: 100, merge_percent: 40 };
        assert_eq!(btree.index, expected);
    }

    /// `chunks=(70000,)`, written by h5py 3.16 with `libver="latest"`.
    #[test]
    fn the_largest_chunk_dimension_sets_the_width_of_all() {
        let wide = chunked("05 02 00 02 03 701101 080000 04 20 04 04 10 0a ff*8");
        assert_eq!((wide.chunk_shape, wide.element_size), (vec![70_000], 8));
    }

    /// A virtual dataset, written by h5py 3.16.
    #[test]
    fn a_virtual_layout_refers_to_a_global_heap_object() {
        let layout: Layout = golden::golden("04 03 0008000000000000 01000000", &());
        assert_eq!(layout, Layout::Virtual { heap: Addr::new(0x800), index: 1 });
    }

    #[test]
    fn a_chunk_of_2_to_the_64_bytes_or_more_is_refused() {
        let error = golden::error::<Layout>("04 02 00 03 08 00*7 80 02 00*7 01 00*7 02 ff*8", &());
        assert!(matches!(error, ErrorKind::Value { field: "Dimension Size", .. }), "{error}");
    }
}
