//! Free-space managers (spec III.H), of the file and of fractal heaps.

use hyperslab_format::message::file_space::FileSpaceInfo;
use hyperslab_format::space::{Client, FreeSections, FreeSpaceManager};
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
            self.free_space(manager, Client::File);
        }
    }

    /// Checks the manager whose header is at `at`.
    pub(super) fn free_space(&mut self, at: Addr, client: Client) {
        let name = name_of::<FreeSpaceManager>();
        let Some(manager) = self.block::<FreeSpaceManager>(at, &()) else { return };
        if manager.client != client {
            self.wrong(
                name,
                at,
                format_args!("client is {:?}, not that of what names the manager", manager.client),
            );
        }
        let total = manager.serialized.saturating_add(manager.unserialized);
        self.expect(name, at, "total number of sections", manager.sections, total);
        let Some(extent) = manager.list_extent() else {
            return self.expect(name, at, "number of serialized sections", manager.serialized, 0);
        };
        let checked = self.store.check(extent, name_of::<FreeSections>());
        if self.noted(checked, extent.addr).is_none() {
            return;
        }
        let Some(list) = self.read::<FreeSections>(extent.addr, &manager) else { return };
        self.cover(extent, name_of::<FreeSections>());
        if list.manager != at {
            let message = format!("free-space manager header address is {}, found {at}", list.manager);
            self.wrong(name_of::<FreeSections>(), extent.addr, message);
        }
        if client == Client::File {
            for section in &list.sections {
                self.report.totals.free_bytes += section.size;
                self.cover(Extent::new(Addr::new(section.offset), section.size), FREE_SECTION);
            }
        }
        if manager.unserialized == 0 {
            let space = list.sections.iter().fold(0_u64, |sum, section| sum.saturating_add(section.size));
            self.expect(name, at, "total space tracked", manager.total_space, space);
        }
    }
}

/// How findings name a free section of the file.
const FREE_SECTION: Name = ("free section", "III.H");
