//! Free-space manager header, `FSHD` (spec III.H).
//!
//! Named by the file space info message, or by the header of a fractal heap; names the list of sections.

use crate::addr::{Addr, Extent};
use crate::bytes::{Reader, Widths, Writer, bytes_for};
use crate::error::Result;
use crate::structure::Structure;

/// The header of a free-space manager. Fields in disk order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreeSpaceManager {
    /// Whose space it is.
    pub client: Client,
    /// Free bytes, of all sections.
    pub total_space: u64,
    /// How many sections there are.
    pub sections: u64,
    /// How many of them are in the list.
    pub serialized: u64,
    /// How many of them are not: the owner makes them when it reads the others.
    pub unserialized: u64,
    /// How many kinds of sections the owner has.
    pub classes: u16,
    /// Percent of the list's space that must be in use for it to keep that space.
    pub shrink_percent: u16,
    /// Percent by which the list's space grows.
    pub expand_percent: u16,
    /// Bits of the largest offset of a section.
    pub address_bits: u16,
    /// Bytes of the largest section that there can be.
    pub max_section: u64,
    /// The list of sections; undefined if there is none.
    pub list: Addr,
    /// Bytes of the list that are in use.
    pub list_used: u64,
    /// Bytes that the list has space for.
    pub list_allocated: u64,
}

/// Whose space a manager manages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// That of a fractal heap.
    Heap,
    /// That of the file.
    File,
}

impl FreeSpaceManager {
    /// The space of the list of sections, if there is one.
    pub fn list_extent(&self) -> Option<Extent> {
        self.list.defined().map(|list| Extent::new(list, self.list_allocated))
    }

    /// Bytes of the number of sections of one size.
    pub(super) fn count_width(&self) -> usize {
        bytes_for(self.serialized)
    }

    /// Bytes of the size of a section.
    pub(super) fn size_width(&self) -> usize {
        bytes_for(self.max_section)
    }

    /// Bytes of the offset of a section.
    pub(super) fn offset_width(&self) -> usize {
        usize::from(self.address_bits).div_ceil(8)
    }
}

impl Structure for FreeSpaceManager {
    const NAME: &'static str = "free-space manager header";
    const SPEC: &'static str = "III.H";
    type Context = ();

    fn read_len(widths: Widths, (): &()) -> usize {
        4 + 1 + 1 + 7 * widths.length.bytes() + 4 * 2 + widths.offset.bytes() + 4
    }

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        r.signature(b"FSHD")?;
        r.version(0)?;
        let client = match r.u8()? {
            0 => Client::Heap,
            1 => Client::File,
            other => return Err(r.bad_value("Client ID", other.into(), "0 or 1")),
        };
        let manager = Self {
            client,
            total_space: r.length()?,
            sections: r.length()?,
            serialized: r.length()?,
            unserialized: r.length()?,
            classes: r.u16()?,
            shrink_percent: r.u16()?,
            expand_percent: r.u16()?,
            address_bits: r.u16()?,
            max_section: r.length()?,
            list: r.addr()?,
            list_used: r.length()?,
            list_allocated: r.length()?,
        };
        r.checksum()?;
        if manager.address_bits > 64 {
            return Err(r.bad_value("Size of Address Space", manager.address_bits.into(), "at most 64"));
        }
        Ok(manager)
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        w.signature(b"FSHD");
        w.u8(0); // version
        w.u8(match self.client {
            Client::Heap => 0,
            Client::File => 1,
        });
        w.length(self.total_space);
        w.length(self.sections);
        w.length(self.serialized);
        w.length(self.unserialized);
        w.u16(self.classes);
        w.u16(self.shrink_percent);
        w.u16(self.expand_percent);
        w.u16(self.address_bits);
        w.length(self.max_section);
        w.addr(self.list);
        w.length(self.list_used);
        w.length(self.list_allocated);
        w.checksum();
    }

    fn encoded_len(&self, widths: Widths, context: &()) -> usize {
        Self::read_len(widths, context)
    }
}
