//! Data layout message, type 8 (spec IV.A.2.i): the place of a dataset's elements. Versions 1 to 3 are in
//! `v3`, versions 4 and 5 in `v4`.

pub mod mappings;
mod v3;
mod v4;

use crate::addr::{Addr, Extent};
use crate::bytes::{Reader, Writer};
use crate::error::{ErrorKind, Result};
use crate::message::dataspace::MAX_RANK;
use crate::structure::Structure;

/// The place of a dataset's elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layout {
    /// In the message itself.
    Compact {
        /// The elements.
        data: Vec<u8>,
    },
    /// In one extent; undefined until allocated. In versions 1 and 2 of the message, the length comes from
    /// dimensions of 32 bits each. The true length then follows from the dataspace and the datatype.
    Contiguous(Extent),
    /// In chunks.
    Chunked(ChunkedLayout),
    /// In other datasets. The mapping is in the global heap (spec III.F).
    Virtual {
        /// The global heap collection.
        heap: Addr,
        /// The index of the object in the collection.
        index: u32,
    },
}

impl Layout {
    /// Returns the kind of layout as a word: for chunked layouts, the name of the chunk index.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Compact { .. } => "compact",
            Self::Contiguous(_) => "contiguous",
            Self::Virtual { .. } => "virtual",
            Self::Chunked(chunked) => match chunked.index {
                ChunkIndexInfo::BTree1 { .. } => "btree1",
                ChunkIndexInfo::Single { .. } => "single",
                ChunkIndexInfo::Implicit { .. } => "implicit",
                ChunkIndexInfo::FixedArray { .. } => "fixed_array",
                ChunkIndexInfo::ExtensibleArray { .. } => "extensible_array",
                ChunkIndexInfo::BTree2 { .. } => "btree2",
            },
        }
    }
}

/// The chunks and their index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkedLayout {
    /// The version of the message: 1 to 5.
    pub version: u8,
    /// The shape of a chunk in elements, without the dimension of element bytes that the file adds.
    pub chunk_shape: Vec<u64>,
    /// The size of an element in bytes, as stored in the layout.
    pub element_size: u32,
    /// Whether chunks that extend past the dataset's edge are stored unfiltered (version 4 and later).
    pub unfiltered_edges: bool,
    /// The chunk index.
    pub index: ChunkIndexInfo,
}

/// The kind of a chunk index, and its address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChunkIndexInfo {
    /// Version 1 B-tree (layouts 1 to 3).
    BTree1 {
        /// The root node; undefined until a chunk is written.
        addr: Addr,
    },
    /// A single chunk (spec VII.A).
    Single {
        /// The chunk; undefined until written.
        addr: Addr,
        /// The stored size and the filter mask, if the chunk is filtered.
        filtered: Option<(u64, u32)>,
    },
    /// Chunks of equal size, one after another, without an index structure (spec VII.B).
    Implicit {
        /// The first chunk.
        addr: Addr,
    },
    /// Fixed Array (spec VII.C).
    FixedArray {
        /// The header; undefined until a chunk is written.
        addr: Addr,
        /// log2 of the number of elements in a page.
        page_bits: u8,
    },
    /// Extensible Array (spec VII.D).
    ExtensibleArray {
        /// The header; undefined until a chunk is written.
        addr: Addr,
        /// The creation parameters, which the header repeats.
        parameters: ExtensibleArrayParameters,
    },
    /// Version 2 B-tree (spec VII.E).
    BTree2 {
        /// The header; undefined until a chunk is written.
        addr: Addr,
        /// The size of a node in bytes.
        node_size: u32,
        /// The fill level in percent at which a node splits.
        split_percent: u8,
        /// The fill level in percent at which nodes merge.
        merge_percent: u8,
    },
}

impl ChunkIndexInfo {
    fn addr(&self) -> Addr {
        match *self {
            Self::BTree1 { addr }
            | Self::Single { addr, .. }
            | Self::Implicit { addr }
            | Self::FixedArray { addr, .. }
            | Self::ExtensibleArray { addr, .. }
            | Self::BTree2 { addr, .. } => addr,
        }
    }
}

/// The creation parameters of an Extensible Array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtensibleArrayParameters {
    /// The number of bits needed to store the largest number of elements.
    pub max_elements_bits: u8,
    /// The number of elements in the index block.
    pub index_elements: u8,
    /// The smallest number of data block pointers in a secondary block.
    pub min_pointers: u8,
    /// The smallest number of elements in a data block.
    pub min_elements: u8,
    /// log2 of the number of elements in a page of a data block.
    pub page_bits: u8,
}

/// A layout with the version of its encoding, as a message stores it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayoutMessage {
    /// 1 to 5. For a chunked layout, equal to [`ChunkedLayout::version`].
    pub version: u8,
    /// The layout.
    pub layout: Layout,
    /// The low 32 bits of each dimension's size, in compact and contiguous layouts of versions 1 and 2.
    pub dimensions: Vec<u32>,
}

const COMPACT: u8 = 0;
const CONTIGUOUS: u8 = 1;
const CHUNKED: u8 = 2;
const VIRTUAL: u8 = 3;

impl ChunkedLayout {
    /// Returns the size of an unfiltered chunk in bytes. `decode` has checked that it fits a `u64`.
    pub fn chunk_len(&self) -> u64 {
        let elements = self.chunk_shape.iter().fold(1_u64, |product, &size| product.saturating_mul(size));
        elements.saturating_mul(self.element_size.into())
    }

    /// Returns the address of the chunk index; undefined until a chunk is written.
    pub fn index_addr(&self) -> Addr {
        self.index.addr()
    }
}

impl Structure for LayoutMessage {
    const NAME: &'static str = "data layout message";
    const SPEC: &'static str = "IV.A.2.i";
    type Context = ();

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        match r.version_in(1..=5, "1 to 5")? {
            version @ (1 | 2) => v3::decode_with_dimensions(r, version),
            version => {
                let layout = match r.u8()? {
                    COMPACT => {
                        let len = r.u16()?;
                        Layout::Compact { data: r.bytes(len.into())?.to_vec() }
                    }
                    CONTIGUOUS => Layout::Contiguous(Extent::new(r.addr()?, r.length()?)),
                    CHUNKED if version == 3 => Layout::Chunked(v3::decode_chunked(r)?),
                    CHUNKED => Layout::Chunked(v4::decode_chunked(r, version)?),
                    VIRTUAL if version > 3 => Layout::Virtual { heap: r.addr()?, index: r.u32()? },
                    other => {
                        return Err(r.bad_value(
                            "Layout Class",
                            other.into(),
                            "0 to 2, or 0 to 3 from version 4 on",
                        ));
                    }
                };
                Ok(Self { version, layout, dimensions: Vec::new() })
            }
        }
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        w.u8(self.version);
        if self.version < 3 {
            return v3::encode_with_dimensions(self, w);
        }
        match &self.layout {
            Layout::Compact { data } => {
                w.u8(COMPACT);
                w.uint(data.len() as u64, 2);
                w.bytes(data);
            }
            Layout::Contiguous(extent) => {
                w.u8(CONTIGUOUS);
                w.addr(extent.addr);
                w.length(extent.len);
            }
            Layout::Chunked(chunked) => {
                w.u8(CHUNKED);
                if self.version == 3 {
                    v3::encode_chunked(chunked, w);
                } else {
                    v4::encode_chunked(chunked, w);
                }
            }
            Layout::Virtual { heap, index } => {
                w.u8(VIRTUAL);
                w.addr(*heap);
                w.u32(*index);
            }
        }
    }
}

/// Encodes as the lowest version from 3 that can express the layout. [`LayoutMessage`] keeps the version.
impl Structure for Layout {
    const NAME: &'static str = LayoutMessage::NAME;
    const SPEC: &'static str = LayoutMessage::SPEC;
    type Context = ();

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        LayoutMessage::decode(r, &()).map(|message| message.layout)
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        LayoutMessage::from(self.clone()).encode(w, &());
    }
}

impl From<Layout> for LayoutMessage {
    fn from(mut layout: Layout) -> Self {
        let version = match &mut layout {
            Layout::Compact { .. } | Layout::Contiguous(_) => 3,
            Layout::Chunked(chunked) => {
                chunked.version = chunked.version.max(3);
                chunked.version
            }
            Layout::Virtual { .. } => 4,
        };
        Self { version, layout, dimensions: Vec::new() }
    }
}

/// Reads "Dimensionality" of a chunked layout: the rank plus 1 for the dimension of the element size.
fn chunk_dimensionality(r: &mut Reader<'_>) -> Result<usize> {
    let dimensionality = r.u8()?;
    if !(2..=MAX_RANK + 1).contains(&dimensionality.into()) {
        let (field, value) = ("Dimensionality", dimensionality.into());
        return Err(r.error_back(1, ErrorKind::Value { field, value, expected: "2 to 33" }));
    }
    Ok(dimensionality.into())
}

/// Splits the stored dimensions into the shape of a chunk and the last one, the element size in bytes.
fn chunk_dimensions(r: &Reader<'_>, mut dimensions: Vec<u64>) -> Result<(Vec<u64>, u32)> {
    if dimensions.contains(&0) {
        return Err(r.bad_value("Dimension Size", 0, "at least 1"));
    }
    if dimensions.iter().try_fold(1_u64, |product, &size| product.checked_mul(size)).is_none() {
        return Err(r.bad_value("Dimension Size", u64::MAX, "a chunk of less than 2^64 bytes"));
    }
    let Some(size) = dimensions.pop() else {
        return Err(r.bad_value("Dimensionality", 0, "at least 2"));
    };
    let element_size =
        u32::try_from(size).map_err(|_| r.bad_value("Dataset Element Size", size, "less than 2^32"))?;
    Ok((dimensions, element_size))
}
