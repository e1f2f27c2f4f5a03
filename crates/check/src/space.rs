//! Checks free-space managers (spec III.H) of the file and of fractal heaps.

use hyperslab_format::free_space::header::{FreeSpaceClient, FreeSpaceHeader};
use hyperslab_format::free_space::sections::{FreeSectionKind, FreeSpaceSections};
use hyperslab_format::message::file_space::FileSpaceInfo;
use hyperslab_format::{Addr, Extent};

use super::{Check, Name, name_of};

impl Check<'_> {
    /// Checks the managers of the file's free space.
    pub(super) fn file_space(&mut self, info: &FileSpaceInfo) {
        let managers: &[Addr] = match info {
            FileSpaceInfo::V0 { managers, .. } => managers.as_ref().map_or(&[], |managers| managers),
            FileSpaceInfo::V1 { managers, .. } => managers.as_ref().map_or(&[], |managers| managers),
        };
        for manager in managers.iter().filter_map(|manager| manager.defined()) {
            self.free_space(manager, FreeSpaceClient::File);
        }
    }

    /// Checks the manager whose header is at `at`. Returns the offset and the length of each section in a
    /// direct block of a heap.
    pub(super) fn free_space(&mut self, at: Addr, client: FreeSpaceClient) -> Vec<(u64, u64)> {
        let name = name_of::<FreeSpaceHeader>();
        let Some(header) = self.block::<FreeSpaceHeader>(at, &()) else { return Vec::new() };
        if header.client != client {
            let text =
                format!("client is {:?}, which does not match the owner of the manager", header.client);
            self.wrong(name, at, text);
            return Vec::new();
        }
        let total = header.serialized_sections.saturating_add(header.ghost_sections);
        self.expect(name, at, "total number of sections", header.total_sections, total);
        let Some(list) = header.list.defined() else {
            self.expect(name, at, "number of serialized sections", header.serialized_sections, 0);
            return Vec::new();
        };
        let extent = Extent::new(list, header.list_allocated);
        let Some(sections) = self.read::<FreeSpaceSections>(list, &header.form(at)) else {
            return Vec::new();
        };
        self.cover(extent, name_of::<FreeSpaceSections>());
        if header.list_size > header.list_allocated {
            let message = format!(
                "{} bytes are in use, but only {} are allocated",
                header.list_size, header.list_allocated
            );
            self.wrong(name_of::<FreeSpaceSections>(), list, message);
        }
        if client == FreeSpaceClient::File {
            for section in &sections.sections {
                self.report.totals.free_bytes = self.report.totals.free_bytes.saturating_add(section.size);
                self.cover(Extent::new(Addr::new(section.offset), section.size), FREE_SECTION);
            }
        }
        if header.ghost_sections == 0 {
            let space = sections.sections.iter().fold(0_u64, |sum, section| sum.saturating_add(section.size));
            self.expect(name, at, "total space tracked", header.total_space, space);
        }
        let singles = sections.sections.iter().filter(|section| section.kind == FreeSectionKind::Single);
        singles.map(|section| (section.offset, section.size)).collect()
    }
}

/// The name and the spec section of a free section of the file in findings.
const FREE_SECTION: Name = ("free section", "III.H");
