//! Data layout message, type 8 (spec IV.A.2.i): where a dataset's elements are. Versions 1 to 3 are in `v3`, 4 and 5
//! in `v4`.

mod v3;
mod v4;

use crate::addr::{Addr, Extent};
use crate::bytes::{Reader, Writer};
use crate::error::{ErrorKind, Result};
use crate::message::dataspace::MAX_RANK;
use crate::structure::Structure;

/// Where a dataset's elements are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layout {
    /// In the message itself.
    Compact {
        /// The elements.
        data: Vec<u8>,
    },
    /// In one extent; undefined until allocated. Its length comes from the dimensions in versions 1 and 2 of the
    /// message, which hold 32 bits each: there the dataspace and the datatype say the true length.
    Contiguous(Extent),
    /// In chunks.
    Chunked(ChunkedLayout),
    /// In other datasets. (The mapping is in the global heap: spec III.F.)
    Virtual {
        /// The global heap collection.
        heap: Addr,
        /// The object in it.
        index: u32,
    },
}

impl Layout {
    /// The kind in a word: of chunks, the structure that finds them.
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

/// Chunks and how they are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkedLayout {
    /// The version of the message: 1 to 5.
    pub version: u8,
    /// The shape of a chunk in elements, without the dimension of element bytes that the file adds.
    pub chunk_shape: Vec<u64>,
    /// Bytes of one element, as the layout says.
    pub element_size: u32,
    /// Whether chunks that reach over the edge of the dataset are stored without filters (version 4 and later).
    pub unfiltered_edges: bool,
    /// The structure that finds a chunk.
    pub index: ChunkIndexInfo,
}

/// Which structure finds chunks, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChunkIndexInfo {
    /// Version 1 B-tree (layouts 1 to 3).
    BTree1 {
        /// Its root node; undefined until a chunk is written.
        addr: Addr,
    },
    /// One chunk in all (spec VII.A).
    Single {
        /// The chunk; undefined until written.
        addr: Addr,
        /// Its stored size and filter mask, if it is filtered.
        filtered: Option<(u64, u32)>,
    },
    /// Chunks one after another (spec VII.B).
    Implicit {
        /// The first.
        addr: Addr,
    },
    /// Fixed Array (spec VII.C).
    FixedArray {
        /// Its header; undefined until a chunk is written.
        addr: Addr,
        /// log2 of the elements in a page.
        page_bits: u8,
    },
    /// Extensible Array (spec VII.D).
    ExtensibleArray {
        /// Its header; undefined until a chunk is written.
        addr: Addr,
        /// The creation parameters, stored in the header again.
        parameters: ExtensibleArrayParameters,
    },
    /// Version 2 B-tree (spec VII.E).
    BTree2 {
        /// Its header; undefined until a chunk is written.
        addr: Addr,
        /// Bytes of a node.
        node_size: u32,
        /// Percent full at which a node splits.
        split_percent: u8,
        /// Percent full at which nodes merge.
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
    /// Bits needed to store the largest number of elements.
    pub max_elements_bits: u8,
    /// Elements in the index block.
    pub index_elements: u8,
    /// The fewest pointers to data blocks in a secondary block.
    pub min_pointers: u8,
    /// The fewest elements in a data block.
    pub min_elements: u8,
    /// log2 of the elements in a page of a data block.
    pub page_bits: u8,
}

/// A layout as a message stores it: with the version of its encoding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayoutMessage {
    /// 1 to 5. Of a chunked layout, the same as in [`ChunkedLayout::version`].
    pub version: u8,
    /// The layout.
    pub layout: Layout,
    /// In versions 1 and 2, of compact and contiguous layouts: the sizes of the dimensions, 32 bits of each.
    pub dimensions: Vec<u32>,
}

const COMPACT: u8 = 0;
const CONTIGUOUS: u8 = 1;
const CHUNKED: u8 = 2;
const VIRTUAL: u8 = 3;

impl ChunkedLayout {
    /// Bytes of a chunk without filters. `decode` has checked that they can be counted.
    pub fn chunk_len(&self) -> u64 {
        let elements = self.chunk_shape.iter().fold(1_u64, |product, &size| product.saturating_mul(size));
        elements.saturating_mul(self.element_size.into())
    }

    /// The structure that finds chunks; undefined until there are any.
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
                            "0 to 2, from version 4 on 0 to 3",
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

/// Encodes as the oldest version of 3 and above that can say it; [`LayoutMessage`] keeps the version.
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

/// Reads "Dimensionality" of a chunked layout: the rank and one, for the bytes of an element.
fn chunk_dimensionality(r: &mut Reader<'_>) -> Result<usize> {
    let dimensionality = r.u8()?;
    if !(2..=MAX_RANK + 1).contains(&dimensionality.into()) {
        let (field, value) = ("Dimensionality", dimensionality.into());
        return Err(r.error_back(1, ErrorKind::Value { field, value, expected: "2 to 33" }));
    }
    Ok(dimensionality.into())
}

/// Takes apart the dimensions of a chunk, of which the last is the size of an element in bytes.
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
