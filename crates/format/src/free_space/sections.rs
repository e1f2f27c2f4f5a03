//! Free-space section list, `FSSE` (spec III.H): the stored sections of a manager, sorted by size.

use super::header::FreeSpaceClient;
use crate::addr::Addr;
use crate::bytes::{Reader, Widths, Writer, bytes_for};
use crate::error::{ErrorKind, Result};
use crate::structure::Structure;

/// The sections of one manager, in ascending order of their sizes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FreeSpaceSections {
    /// The sections.
    pub sections: Vec<FreeSection>,
}

/// A range of free bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreeSection {
    /// The size of the section in bytes.
    pub size: u64,
    /// The offset at which the section begins, in the heap or in the file.
    pub offset: u64,
    /// The type of the section, with its fields.
    pub kind: FreeSectionKind,
}

/// The type of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FreeSectionKind {
    /// Bytes in a direct block of a heap (type 0).
    Single,
    /// Missing direct blocks in the rows of an indirect block (types 1 and 3).
    Rows {
        /// The section type, 1 or 3.
        class: u8,
        /// The heap offset at which the indirect block begins.
        block: u64,
        /// The row of the first missing block.
        row: u16,
        /// The column of the first missing block.
        column: u16,
        /// The number of missing blocks.
        entries: u16,
    },
    /// A type without further fields: a normal row of a heap (type 2), or a section of the file.
    Plain(u8),
}

/// The encoding of the list of a manager, derived from the manager's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreeSpaceForm {
    /// The address of the manager's header.
    pub header: Addr,
    /// The owner of the space.
    pub client: FreeSpaceClient,
    /// The number of sections in the list.
    pub count: u64,
    /// The number of bits of the largest offset of a section.
    pub address_bits: u16,
    /// The size of the largest section in bytes.
    pub max_section_size: u64,
    /// The size of the list in bytes.
    pub list_size: u64,
}

impl FreeSpaceForm {
    fn count_width(&self) -> usize {
        bytes_for(self.count)
    }

    fn size_width(&self) -> usize {
        bytes_for(self.max_section_size)
    }

    fn offset_width(&self) -> usize {
        usize::from(self.address_bits).div_ceil(8)
    }

    /// Returns the size in bytes of a list with `count` sections in direct blocks or in the file, of `sizes`
    /// different sizes.
    pub fn singles_len(&self, count: usize, sizes: usize, widths: Widths) -> usize {
        prefix_len(widths)
            + sizes * (self.count_width() + self.size_width())
            + count * (self.offset_width() + 1)
            + 4
    }
}

fn prefix_len(widths: Widths) -> usize {
    4 + 1 + widths.offset.bytes()
}

impl FreeSection {
    fn decode(r: &mut Reader<'_>, form: &FreeSpaceForm, size: u64) -> Result<Self> {
        let offset = r.uint(form.offset_width())?;
        let kind = match (form.client, r.u8()?) {
            (FreeSpaceClient::FractalHeap, 0) => FreeSectionKind::Single,
            (FreeSpaceClient::FractalHeap, class @ (1 | 3)) => FreeSectionKind::Rows {
                class,
                block: r.uint(form.offset_width())?,
                row: r.u16()?,
                column: r.u16()?,
                entries: r.u16()?,
            },
            (FreeSpaceClient::FractalHeap, other @ 4..) => {
                return Err(r.bad_value("section type", other.into(), "0 to 3"));
            }
            (_, class) => FreeSectionKind::Plain(class),
        };
        Ok(Self { size, offset, kind })
    }

    fn encode(&self, w: &mut Writer<'_>, form: &FreeSpaceForm) {
        w.uint(self.offset, form.offset_width());
        match self.kind {
            FreeSectionKind::Single => w.u8(0),
            FreeSectionKind::Plain(class) => w.u8(class),
            FreeSectionKind::Rows { class, block, row, column, entries } => {
                w.u8(class);
                w.uint(block, form.offset_width());
                w.u16(row);
                w.u16(column);
                w.u16(entries);
            }
        }
    }
}

impl Structure for FreeSpaceSections {
    const NAME: &'static str = "free-space section list";
    const SPEC: &'static str = "III.H";
    type Context = FreeSpaceForm;

    fn read_len(_: Widths, form: &FreeSpaceForm) -> usize {
        usize::try_from(form.list_size).unwrap_or(usize::MAX)
    }

    fn decode(r: &mut Reader<'_>, form: &FreeSpaceForm) -> Result<Self> {
        let mut r = r.sub(Self::read_len(r.widths(), form))?;
        r.signature(b"FSSE")?;
        r.version(0)?;
        let header = r.addr()?;
        if header != form.header {
            return Err(r.bad_value("header address", header.get(), "the manager header's address"));
        }
        let mut sections = Vec::new();
        while (sections.len() as u64) < form.count {
            let count = r.uint(form.count_width())?;
            let size = r.uint(form.size_width())?;
            let left = form.count - sections.len() as u64;
            if count == 0 || count > left {
                let (field, limit) = ("sections of one size", left);
                return Err(r.error(ErrorKind::TooLarge { field, value: count, limit }));
            }
            for _ in 0..count {
                sections.push(FreeSection::decode(&mut r, form, size)?);
            }
        }
        // libhdf5 counts a size twice in some lists of files, and leaves zeros before the checksum.
        let unused = r.bytes(r.remaining().saturating_sub(CHECKSUM))?;
        if let Some(&byte) = unused.iter().find(|&&byte| byte != 0) {
            let expected = "0 after the last section that the header counts";
            return Err(r.bad_value("byte before the checksum", byte.into(), expected));
        }
        r.checksum()?;
        Ok(Self { sections })
    }

    fn encode(&self, w: &mut Writer<'_>, form: &FreeSpaceForm) {
        w.signature(b"FSSE");
        w.u8(0); // version
        w.addr(form.header);
        for same in self.sections.chunk_by(|a, b| a.size == b.size) {
            w.uint(same.len() as u64, form.count_width());
            w.uint(same.first().map_or(0, |section| section.size), form.size_width());
            for section in same {
                section.encode(w, form);
            }
        }
        let list_size = usize::try_from(form.list_size).unwrap_or(usize::MAX);
        w.zeros(list_size.saturating_sub(w.written() + CHECKSUM));
        w.checksum();
    }
}

/// The size of the checksum at the end of the list.
const CHECKSUM: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::golden::{error, golden};

    /// h5py, libver v110: 21 attributes, one of them huge, another removed.
    const SECTIONS: &str = "46535345002926000000000000013e0000c23f00000000013e0100c2060000000001520200ae010000000001be020042 \
        2d0000000001d00200309d00000000013d0300c37c0000000001ea0300000800000001000000000000000200060001fe \
        0300022400000000017e0400826b0000000001be0500425a0000000001fe060002490000000001ea0700003000000001 \
        000000000002000200010008e12050";

    fn form() -> FreeSpaceForm {
        FreeSpaceForm {
            header: Addr::new(0x2629),
            client: FreeSpaceClient::FractalHeap,
            count: 12,
            address_bits: 40,
            max_section_size: 65536,
            list_size: 0x9f,
        }
    }

    #[test]
    fn the_sections_of_a_heap_of_attributes_decode() {
        let list = golden::<FreeSpaceSections>(SECTIONS, &form());
        let at = |size| list.sections.iter().find(|section| section.size == size).unwrap();
        assert_eq!(*at(0x3e), FreeSection { size: 0x3e, offset: 0x3fc2, kind: FreeSectionKind::Single });
        let rows = FreeSectionKind::Rows { class: 1, block: 0, row: 0, column: 2, entries: 6 };
        assert_eq!(*at(0x3ea), FreeSection { size: 0x3ea, offset: 0x800, kind: rows });
        assert!(list.sections.is_sorted_by_key(|section| section.size));
    }

    /// libhdf5 2.0 writes such lists in files with pages of 1024 bytes.
    #[test]
    fn zeros_may_come_before_the_checksum() {
        let form = FreeSpaceForm {
            header: Addr::new(0x30),
            client: FreeSpaceClient::File,
            count: 1,
            address_bits: 63,
            max_section_size: i64::MAX as u64,
            list_size: 44,
        };
        let mut bytes = Vec::new();
        let section = FreeSection { size: 0x25, offset: 0x69db, kind: FreeSectionKind::Plain(1) };
        let list = FreeSpaceSections { sections: vec![section] };
        crate::bytes::Writer::new(&mut bytes, Widths::EIGHT).structure(&list, &form);
        assert_eq!(bytes.len(), 44);
        let mut r = Reader::new(&bytes, Widths::EIGHT, Addr::new(0));
        assert_eq!(r.structure::<FreeSpaceSections>(&form).unwrap(), list);
    }

    #[test]
    fn more_sections_than_the_header_counts_are_an_error() {
        let kind = error::<FreeSpaceSections>(SECTIONS, &FreeSpaceForm { count: 1, ..form() });
        assert!(!matches!(kind, ErrorKind::Truncated { .. }), "{kind:?}");
    }
}
