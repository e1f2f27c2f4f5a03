//! The list of a free-space manager's sections, `FSSE` (spec III.H).
//!
//! Sections of one size stand together, so that their size is stored once.

use crate::addr::Addr;
use crate::bytes::{Reader, Widths, Writer};
use crate::error::Result;
use crate::space::manager::{Client, FreeSpaceManager};
use crate::structure::Structure;

/// The sections that a manager keeps in its list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FreeSections {
    /// The manager's header, which names this list.
    pub manager: Addr,
    /// The sections, in the order of the file. Neighbours of one size are one set.
    pub sections: Vec<FreeSection>,
}

/// A section: consecutive free bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreeSection {
    /// Where they begin, in the file or in the heap.
    pub offset: u64,
    /// How many they are.
    pub size: u64,
    /// What the manager's owner knows of them.
    pub kind: SectionKind,
}

/// What the owner of a section knows of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SectionKind {
    /// Nothing else: a section of the file (of type 0 to 2), or of one block of a heap (type 0).
    Plain(u8),
    /// Heaps, types 1 and 3: blocks that an indirect block does not have yet.
    Indirect {
        /// 1 or 3.
        kind: u8,
        /// The offset in the heap of that indirect block.
        block: u64,
        /// The row of the first such block.
        row: u16,
        /// Its column.
        column: u16,
        /// How many there are.
        entries: u16,
    },
}

/// Types of the sections of a heap that say which blocks they stand for.
const FIRST_ROW: u8 = 1;
const INDIRECT: u8 = 3;

impl FreeSections {
    /// The sections as sets of one size.
    fn sets(&self) -> impl Iterator<Item = &[FreeSection]> {
        self.sections.chunk_by(|a, b| a.size == b.size)
    }
}

impl FreeSection {
    fn decode(r: &mut Reader<'_>, size: u64, manager: &FreeSpaceManager) -> Result<Self> {
        let offset = r.uint(manager.offset_width())?;
        let kind = match (manager.client, r.u8()?) {
            (Client::File, kind @ 0..=2) | (Client::Heap, kind @ 0) => SectionKind::Plain(kind),
            (Client::Heap, kind @ (FIRST_ROW | INDIRECT)) => SectionKind::Indirect {
                kind,
                block: r.uint(manager.offset_width())?,
                row: r.u16()?,
                column: r.u16()?,
                entries: r.u16()?,
            },
            (_, other) => {
                return Err(r.bad_value("Section Record Type", other.into(), "a type that is stored"));
            }
        };
        Ok(Self { offset, size, kind })
    }

    fn encode(&self, w: &mut Writer<'_>, manager: &FreeSpaceManager) {
        w.uint(self.offset, manager.offset_width());
        match self.kind {
            SectionKind::Plain(kind) => w.u8(kind),
            SectionKind::Indirect { kind, block, row, column, entries } => {
                w.u8(kind);
                w.uint(block, manager.offset_width());
                [row, column, entries].into_iter().for_each(|number| w.u16(number));
            }
        }
    }

    fn len(&self, manager: &FreeSpaceManager) -> usize {
        let more = match self.kind {
            SectionKind::Plain(_) => 0,
            SectionKind::Indirect { .. } => manager.offset_width() + 6,
        };
        manager.offset_width() + 1 + more
    }
}

impl Structure for FreeSections {
    const NAME: &'static str = "free-space section list";
    const SPEC: &'static str = "III.H";
    type Context = FreeSpaceManager;

    fn read_len(_: Widths, manager: &FreeSpaceManager) -> usize {
        usize::try_from(manager.list_used).unwrap_or(usize::MAX)
    }

    fn decode(r: &mut Reader<'_>, manager: &FreeSpaceManager) -> Result<Self> {
        r.signature(b"FSSE")?;
        r.version(0)?;
        let owner = r.addr()?;
        let mut sections = Vec::new();
        while (sections.len() as u64) < manager.serialized {
            let count = r.uint(manager.count_width())?;
            if count == 0 || count > manager.serialized - sections.len() as u64 {
                let expected = "at least one, and no more than the header says in all";
                return Err(r.bad_value("Number of Section Records in Set", count, expected));
            }
            let size = r.uint(manager.size_width())?;
            for _ in 0..count {
                sections.push(FreeSection::decode(r, size, manager)?);
            }
        }
        r.checksum()?;
        Ok(Self { manager: owner, sections })
    }

    fn encode(&self, w: &mut Writer<'_>, manager: &FreeSpaceManager) {
        w.signature(b"FSSE");
        w.u8(0); // version
        w.addr(self.manager);
        for set in self.sets() {
            w.uint(set.len() as u64, manager.count_width());
            w.uint(set.first().map_or(0, |section| section.size), manager.size_width());
            set.iter().for_each(|section| section.encode(w, manager));
        }
        w.checksum();
    }

    fn encoded_len(&self, widths: Widths, manager: &FreeSpaceManager) -> usize {
        let set_prefix = manager.count_width() + manager.size_width();
        let sections: usize = self.sections.iter().map(|section| section.len(manager)).sum();
        4 + 1 + widths.offset.bytes() + self.sets().count() * set_prefix + sections + 4
    }
}
