//! Extensible Array header, `EAHD` (spec VII.D).
//!
//! Indexes the chunks of a dataset with one unlimited dimension. The layout message names the header, and the
//! header names the index block.

use crate::addr::Addr;
use crate::array::element::{Client, ElementFormat};
use crate::bytes::{Reader, Widths, Writer};
use crate::error::Result;
use crate::layout::ExtensibleArrayParameters;
use crate::structure::{Structure, fields};

/// The header of an Extensible Array. Fields in disk order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtensibleArrayHeader {
    /// The kind and the size of the elements.
    pub format: ElementFormat,
    /// The creation parameters, which determine how blocks grow.
    pub parameters: ExtensibleArrayParameters,
    /// Counts and sizes of the array's blocks.
    pub statistics: Statistics,
    /// The address of the `EAIB`; undefined until the first chunk is written.
    pub index_block: Addr,
}

/// Counts and sizes of the blocks of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// The number of secondary blocks.
    pub secondary_blocks: u64,
    /// The total size of the secondary blocks in bytes.
    pub secondary_bytes: u64,
    /// The number of data blocks.
    pub data_blocks: u64,
    /// The total size of the data blocks in bytes.
    pub data_bytes: u64,
    /// The highest number of an element that was ever set, plus one.
    pub elements_set: u64,
    /// The number of elements for which the blocks have room.
    pub elements_allocated: u64,
}

fields!(Statistics {
    secondary_blocks: length,
    secondary_bytes: length,
    data_blocks: length,
    data_bytes: length,
    elements_set: length,
    elements_allocated: length,
});

impl Structure for ExtensibleArrayHeader {
    const NAME: &'static str = "Extensible Array header";
    const SPEC: &'static str = "VII.D";
    type Context = ();
    const FIXED: bool = true;

    fn read_len(widths: Widths, (): &()) -> usize {
        16 + 6 * widths.length.bytes() + widths.offset.bytes()
    }

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        r.signature(b"EAHD")?;
        r.version(0)?;
        let client = Client::decode(r)?;
        let format = ElementFormat { client, size: r.u8()? }.check(r)?;
        let parameters = decode_parameters(r)?;
        let statistics = Statistics::decode_fields(r)?;
        let header = Self { format, parameters, statistics, index_block: r.addr()? };
        r.checksum()?;
        Ok(header)
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        w.signature(b"EAHD");
        w.u8(0); // version
        w.u8(self.format.client as u8);
        let p = &self.parameters;
        let sizes = [p.max_elements_bits, p.index_elements, p.min_elements, p.min_pointers, p.page_bits];
        w.u8(self.format.size);
        w.bytes(&sizes);
        self.statistics.encode_fields(w);
        w.addr(self.index_block);
        w.checksum();
    }
}

/// Reads the creation parameters and checks the conditions on which the geometry relies.
fn decode_parameters(r: &mut Reader<'_>) -> Result<ExtensibleArrayParameters> {
    let max_elements_bits = r.u8()?;
    if !(1..=64).contains(&max_elements_bits) {
        return Err(r.bad_value("Max Nelmts Bits", max_elements_bits.into(), "1 to 64"));
    }
    let index_elements = r.u8()?;
    let min_elements = r.u8()?;
    if !min_elements.is_power_of_two() || min_elements.ilog2() > max_elements_bits.into() {
        return Err(r.bad_value("Data Blk Min Elmts", min_elements.into(), "a power of two"));
    }
    let min_pointers = r.u8()?;
    if min_pointers < 2 || !min_pointers.is_power_of_two() {
        return Err(r.bad_value("Sec Blk Min Data Ptrs", min_pointers.into(), "a power of two, at least 2"));
    }
    let page_bits = r.u8()?;
    if page_bits > MAX_PAGE_BITS || page_bits > max_elements_bits {
        return Err(r.bad_value("Max Dblk Page Nelmts Bits", page_bits.into(), "at most 32"));
    }
    Ok(ExtensibleArrayParameters { max_elements_bits, index_elements, min_pointers, min_elements, page_bits })
}

const MAX_PAGE_BITS: u8 = 32;
