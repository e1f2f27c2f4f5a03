//! Free-space manager header, `FSHD` (spec III.H).
//!
//! The header of a fractal heap or the file space information message names the manager's header. The
//! manager's header names the list of sections.

use super::sections::FreeSpaceForm;
use crate::addr::Addr;
use crate::bytes::{Reader, Widths, Writer};
use crate::error::Result;
use crate::structure::Structure;

/// The owner of the managed space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FreeSpaceClient {
    /// Client 0: a fractal heap.
    FractalHeap,
    /// Client 1: the file.
    File,
}

/// The header of a free-space manager. Fields in disk order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreeSpaceHeader {
    /// The owner of the space.
    pub client: FreeSpaceClient,
    /// The total number of free bytes in all sections.
    pub total_space: u64,
    /// The number of sections, including those that are not stored.
    pub total_sections: u64,
    /// The number of sections in the list.
    pub serialized_sections: u64,
    /// The number of sections that are not stored, because they follow from other sections.
    pub ghost_sections: u64,
    /// The number of section types.
    pub section_classes: u16,
    /// The fill level of the list's space, in percent, at which the space shrinks.
    pub shrink_percent: u16,
    /// The percentage by which the space of the list grows.
    pub expand_percent: u16,
    /// The number of bits of the largest offset of a section.
    pub address_bits: u16,
    /// The size of the largest section in bytes.
    pub max_section_size: u64,
    /// The address of the list of sections; undefined if there are none.
    pub list: Addr,
    /// The size of the list in bytes.
    pub list_size: u64,
    /// The number of bytes allocated for the list.
    pub list_allocated: u64,
}

impl FreeSpaceHeader {
    /// Returns the form of the list of this manager. `at` is the address of this header.
    pub fn form(&self, at: Addr) -> FreeSpaceForm {
        FreeSpaceForm {
            header: at,
            client: self.client,
            count: self.serialized_sections,
            address_bits: self.address_bits,
            max_section_size: self.max_section_size,
            list_size: self.list_size,
        }
    }
}

impl Structure for FreeSpaceHeader {
    const NAME: &'static str = "free-space manager header";
    const SPEC: &'static str = "III.H";
    type Context = ();
    const FIXED: bool = true;

    fn read_len(widths: Widths, (): &()) -> usize {
        4 + 1 + 1 + 7 * widths.length.bytes() + 4 * 2 + widths.offset.bytes() + 4
    }

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        r.signature(b"FSHD")?;
        r.version(0)?;
        let client = match r.u8()? {
            0 => FreeSpaceClient::FractalHeap,
            1 => FreeSpaceClient::File,
            other => return Err(r.bad_value("client id", other.into(), "0 or 1")),
        };
        let header = Self {
            client,
            total_space: r.length()?,
            total_sections: r.length()?,
            serialized_sections: r.length()?,
            ghost_sections: r.length()?,
            section_classes: r.u16()?,
            shrink_percent: r.u16()?,
            expand_percent: r.u16()?,
            address_bits: r.u16()?,
            max_section_size: r.length()?,
            list: r.addr()?,
            list_size: r.length()?,
            list_allocated: r.length()?,
        };
        if header.address_bits > 64 {
            return Err(r.bad_value("size of address space", header.address_bits.into(), "at most 64 bits"));
        }
        r.checksum()?;
        Ok(header)
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        w.signature(b"FSHD");
        w.u8(0); // version
        w.u8(self.client as u8);
        w.length(self.total_space);
        w.length(self.total_sections);
        w.length(self.serialized_sections);
        w.length(self.ghost_sections);
        w.u16(self.section_classes);
        w.u16(self.shrink_percent);
        w.u16(self.expand_percent);
        w.u16(self.address_bits);
        w.length(self.max_section_size);
        w.addr(self.list);
        w.length(self.list_size);
        w.length(self.list_allocated);
        w.checksum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::golden;

    #[test]
    fn the_manager_of_a_heap_of_links_decodes() {
        // h5py, libver v110: a group of 3000 soft links
        let header = golden::<FreeSpaceHeader>(HEADER, &());
        assert_eq!((header.total_space, header.total_sections, header.ghost_sections), (0xf8a, 26, 0));
        assert_eq!((header.address_bits, header.max_section_size), (32, 65536));
        assert_eq!((header.list, header.list_size, header.list_allocated), (Addr::new(0xa452), 183, 183));
    }

    const HEADER: &str = "4653484400008a0f0000000000001a000000000000001a00000000000000000000000000000004005000780020000000 \
        01000000000052a4000000000000b700000000000000b70000000000000005cb771a";
}
