//! Extensible Array index block, `EAIB` (spec VII.D).
//!
//! The array's header names the index block. The index block holds the first elements of the array, and names
//! data blocks and secondary blocks.

use crate::addr::Addr;
use crate::array::element::{Client, Elements, encode_prefix};
use crate::array::extensible::{ExtensibleArrayHeader, Geometry};
use crate::bytes::{Reader, Widths, Writer};
use crate::error::Result;
use crate::structure::Structure;

/// The index block. Fields in disk order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexBlock {
    /// The kind of the elements.
    pub client: Client,
    /// The address of the array's header.
    pub header: Addr,
    /// The first elements.
    pub elements: Elements,
    /// The addresses of the data blocks of the first super blocks; undefined until written.
    pub data_blocks: Vec<Addr>,
    /// The addresses of the secondary blocks of the other super blocks; undefined until written.
    pub secondary_blocks: Vec<Addr>,
}

impl IndexBlock {
    /// Creates an index block without chunks or other blocks. `at` is the address of the array's header.
    pub fn new(at: Addr, header: &ExtensibleArrayHeader) -> Self {
        let geometry = Geometry::new(header.parameters);
        Self {
            client: header.format.client,
            header: at,
            elements: Elements::unwritten(header.format.client, header.parameters.index_elements.into()),
            data_blocks: vec![Addr::UNDEFINED; geometry.direct_data_blocks()],
            secondary_blocks: vec![Addr::UNDEFINED; geometry.secondary_blocks()],
        }
    }
}

impl Structure for IndexBlock {
    const NAME: &'static str = "Extensible Array index block";
    const SPEC: &'static str = "VII.D";
    type Context = ExtensibleArrayHeader;
    const FIXED: bool = true;

    fn read_len(widths: Widths, header: &ExtensibleArrayHeader) -> usize {
        let geometry = Geometry::new(header.parameters);
        let pointers = geometry.direct_data_blocks() + geometry.secondary_blocks();
        let elements = header.format.bytes(header.parameters.index_elements.into());
        10 + (1 + pointers) * widths.offset.bytes() + elements
    }

    fn decode(r: &mut Reader<'_>, header: &ExtensibleArrayHeader) -> Result<Self> {
        let geometry = Geometry::new(header.parameters);
        let owner = header.format.decode_prefix(r, *b"EAIB")?;
        let elements = Elements::decode(r, header.parameters.index_elements.into(), header.format)?;
        let data_blocks = (0..geometry.direct_data_blocks()).map(|_| r.addr()).collect::<Result<_>>()?;
        let secondary_blocks = (0..geometry.secondary_blocks()).map(|_| r.addr()).collect::<Result<_>>()?;
        r.checksum()?;
        Ok(Self { client: header.format.client, header: owner, elements, data_blocks, secondary_blocks })
    }

    fn encode(&self, w: &mut Writer<'_>, header: &ExtensibleArrayHeader) {
        encode_prefix(w, *b"EAIB", self.client, self.header);
        self.elements.encode(w, header.format);
        self.data_blocks.iter().chain(&self.secondary_blocks).for_each(|&addr| w.addr(addr));
        w.checksum();
    }
}
