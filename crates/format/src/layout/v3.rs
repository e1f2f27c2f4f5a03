//! Data layout message versions 1 to 3 (spec IV.A.2.i): dimensions of 32 bits, chunks in a version 1 B-tree.

use super::{CHUNKED, COMPACT, CONTIGUOUS, ChunkIndexInfo, ChunkedLayout, Layout, LayoutMessage};
use super::{chunk_dimensionality, chunk_dimensions};
use crate::addr::{Addr, Extent};
use crate::bytes::{Reader, Writer};
use crate::error::Result;
use crate::message::dataspace::MAX_RANK;

/// Decodes versions 1 and 2 after the version field. They store dimensions for every layout.
pub(super) fn decode_with_dimensions(r: &mut Reader<'_>, version: u8) -> Result<LayoutMessage> {
    let dimensionality = usize::from(r.u8()?);
    if !(1..=MAX_RANK + 1).contains(&dimensionality) {
        return Err(r.bad_value("Dimensionality", dimensionality as u64, "1 to 33"));
    }
    let class = r.u8()?;
    r.skip(5)?;
    let addr = match class {
        COMPACT => Addr::UNDEFINED,
        CONTIGUOUS | CHUNKED => r.addr()?,
        other => return Err(r.bad_value("Layout Class", other.into(), "0, 1 or 2")),
    };
    let dimensions = (0..dimensionality).map(|_| r.u32()).collect::<Result<Vec<u32>>>()?;
    let (layout, dimensions) = match class {
        COMPACT => {
            let len = r.u32()?;
            let data = r.bytes(usize::try_from(len).unwrap_or(usize::MAX))?.to_vec();
            (Layout::Compact { data }, dimensions)
        }
        CONTIGUOUS => {
            let len = dimensions.iter().fold(1_u64, |product, &size| product.saturating_mul(size.into()));
            (Layout::Contiguous(Extent::new(addr, len)), dimensions)
        }
        _ => {
            if dimensionality < 2 {
                return Err(r.bad_value("Dimensionality", dimensionality as u64, "2 to 33"));
            }
            let sizes = dimensions.into_iter().map(u64::from).collect();
            let (chunk_shape, element_size) = chunk_dimensions(r, sizes)?;
            let index = ChunkIndexInfo::BTree1 { addr };
            let chunked =
                ChunkedLayout { version, chunk_shape, element_size, unfiltered_edges: false, index };
            (Layout::Chunked(chunked), Vec::new())
        }
    };
    Ok(LayoutMessage { version, layout, dimensions })
}

/// Encodes the bytes that [`decode_with_dimensions`] reads.
pub(super) fn encode_with_dimensions(message: &LayoutMessage, w: &mut Writer<'_>) {
    let (class, addr) = match &message.layout {
        // Versions 1 and 2 cannot encode `Virtual`, and no decoder returns such a message.
        Layout::Compact { .. } | Layout::Virtual { .. } => (COMPACT, None),
        Layout::Contiguous(extent) => (CONTIGUOUS, Some(extent.addr)),
        Layout::Chunked(chunked) => (CHUNKED, Some(chunked.index_addr())),
    };
    w.uint(dimensionality(message) as u64, 1);
    w.u8(class);
    w.zeros(5);
    if let Some(addr) = addr {
        w.addr(addr);
    }
    match &message.layout {
        Layout::Chunked(chunked) => encode_dimensions(chunked, w),
        _ => message.dimensions.iter().for_each(|&size| w.u32(size)),
    }
    if let Layout::Compact { data } = &message.layout {
        w.uint(data.len() as u64, 4);
        w.bytes(data);
    }
}

fn dimensionality(message: &LayoutMessage) -> usize {
    match &message.layout {
        Layout::Chunked(chunked) => chunked.chunk_shape.len() + 1,
        _ => message.dimensions.len(),
    }
}

/// Decodes the rest of a chunked layout after its class, in version 3.
pub(super) fn decode_chunked(r: &mut Reader<'_>) -> Result<ChunkedLayout> {
    let dimensionality = chunk_dimensionality(r)?;
    let addr = r.addr()?;
    let sizes = (0..dimensionality).map(|_| r.u32().map(u64::from)).collect::<Result<_>>()?;
    let (chunk_shape, element_size) = chunk_dimensions(r, sizes)?;
    let index = ChunkIndexInfo::BTree1 { addr };
    Ok(ChunkedLayout { version: 3, chunk_shape, element_size, unfiltered_edges: false, index })
}

/// Encodes the bytes that [`decode_chunked`] reads.
pub(super) fn encode_chunked(chunked: &ChunkedLayout, w: &mut Writer<'_>) {
    w.uint(chunked.chunk_shape.len() as u64 + 1, 1);
    w.addr(chunked.index_addr());
    encode_dimensions(chunked, w);
}

fn encode_dimensions(chunked: &ChunkedLayout, w: &mut Writer<'_>) {
    for &size in &chunked.chunk_shape {
        w.uint(size, 4);
    }
    w.u32(chunked.element_size);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden;
    use crate::layout::LayoutMessage;

    /// `/TestArray` in `smpl_i32le.h5` of `PyTables`' tests, written by HDF5 1.6.
    #[test]
    fn version_1_stores_the_dimensions_of_a_contiguous_layout() {
        let message: LayoutMessage =
            golden::golden("01 03 01 00*5 0008000000000000 06000000 05000000 04000000", &());
        assert_eq!(message.layout, Layout::Contiguous(Extent::new(Addr::new(0x800), 120)));
        assert_eq!((message.version, message.dimensions), (1, vec![6, 5, 4]));
    }

    /// Datasets written by h5py 3.16 with `libver="earliest"`.
    #[test]
    fn version_3_round_trips_bytes_of_libhdf5() {
        let contiguous: LayoutMessage = golden::golden("03 01 0808000000000000 2800000000000000", &());
        assert_eq!(contiguous.layout, Layout::Contiguous(Extent::new(Addr::new(0x808), 40)));

        let compact: Layout = golden::golden("03 00 0c00 00000000 01000000 02000000", &());
        assert_eq!(compact, Layout::Compact { data: vec![0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0] });

        let chunked: Layout = golden::golden("03 02 03 4014000000000000 04000000 03000000 02000000", &());
        let Layout::Chunked(chunked) = chunked else { panic!("{chunked:?}") };
        assert_eq!((chunked.chunk_shape.as_slice(), chunked.element_size), (&[4, 3][..], 2));
        assert_eq!(chunked.index, ChunkIndexInfo::BTree1 { addr: Addr::new(0x1440) });
        assert_eq!(chunked.chunk_len(), 24);
    }

    #[test]
    fn a_chunk_without_elements_is_refused() {
        let error = golden::error::<Layout>("03 02 02 ff*8 00000000 04000000", &());
        assert!(
            matches!(error, crate::ErrorKind::Value { field: "Dimension Size", value: 0, .. }),
            "{error}"
        );
    }
}
