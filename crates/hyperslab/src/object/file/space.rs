//! The strategy by which a file manages its space, and the free space that it keeps when it is closed (spec
//! IV.A.2.x, III.H). Both are in the superblock extension.
//!
//! The managers of the free space are stale from the first allocation on. Opening a file for writing
//! therefore prepares a step that takes their addresses out of the extension. The first commit writes it with
//! the first change, so a crash may lose free space, but no space is ever allocated twice. Closing the file
//! writes the managers anew.

use std::collections::HashSet;

use hyperslab_error::{Error, RequestError, Result, misfit};
use hyperslab_format::free_space::header::{FreeSpaceClient, FreeSpaceHeader};
use hyperslab_format::free_space::sections::{FreeSection, FreeSectionKind, FreeSpaceSections};
use hyperslab_format::header::RawMessage;
use hyperslab_format::message::file_space::{FileSpaceInfo, PAGE_SIZES};
use hyperslab_format::{Addr, Extent, Structure, Widths};
use hyperslab_store::{FreeSpace, Store, Txn};

use super::File;
use crate::object::delete;
use crate::object::header;
use crate::object::header::edit::HeaderChange;
use crate::object::header::read::Header;

/// How a file manages its space (file space strategy).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum SpaceStrategy {
    /// Free-space managers and blocks: the default of libhdf5.
    #[default]
    Managers,
    /// Space is allocated in pages, which hold metadata or data. Readers with a page buffer read whole pages.
    Pages,
    /// Blocks. libhdf5 does not use freed space again.
    Blocks,
    /// Only the end of the file. libhdf5 does not use freed space again.
    End,
}

/// The management of a file's space: the strategy and its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileSpace {
    /// The strategy.
    pub strategy: SpaceStrategy,
    /// Whether the file keeps its free space when it is closed.
    pub persist: bool,
    /// The length of the shortest free extent that is kept, in bytes.
    pub threshold: u64,
    /// The size of a page in bytes.
    pub page_size: u64,
}

impl Default for FileSpace {
    fn default() -> Self {
        Self { strategy: SpaceStrategy::Managers, persist: false, threshold: 1, page_size: 4096 }
    }
}

impl FileSpace {
    /// Returns the size of a page if space is allocated in pages.
    pub fn page(&self) -> Option<u64> {
        (self.strategy == SpaceStrategy::Pages).then_some(self.page_size)
    }

    /// Returns an error if libhdf5 would refuse to create such a file.
    pub(super) fn check(&self) -> Result<()> {
        let why = match self.page_size {
            size if size < *PAGE_SIZES.start() => "cannot set file space page size to less than 512",
            size if size > *PAGE_SIZES.end() => "cannot set file space page size to more than 1gb",
            _ => return Ok(()),
        };
        let what = format!("file space page size of {} bytes", self.page_size);
        Err(RequestError::Argument { what, why }.into())
    }

    fn of(info: &FileSpaceInfo) -> Self {
        let default = Self::default();
        match *info {
            FileSpaceInfo::V0 { strategy, threshold, ref managers } => {
                let strategy = match strategy {
                    3 => SpaceStrategy::Blocks,
                    4 => SpaceStrategy::End,
                    _ => SpaceStrategy::Managers,
                };
                Self { strategy, persist: managers.is_some(), threshold, ..default }
            }
            FileSpaceInfo::V1 { strategy, threshold, page_size, ref managers, .. } => {
                let strategy = match strategy {
                    1 => SpaceStrategy::Pages,
                    2 => SpaceStrategy::Blocks,
                    3 => SpaceStrategy::End,
                    _ => SpaceStrategy::Managers,
                };
                Self { strategy, persist: managers.is_some(), threshold, page_size }
            }
        }
    }

    fn message(&self) -> FileSpaceInfo {
        FileSpaceInfo::V1 {
            strategy: self.strategy as u8,
            threshold: self.threshold,
            page_size: self.page_size,
            page_end_threshold: 0,
            end_before_managers: Addr::UNDEFINED,
            managers: self.persist.then_some([Addr::UNDEFINED; 12]),
        }
    }

    /// Returns the message of the superblock extension of a new file with this management.
    pub(super) fn raw_message(&self, widths: Widths) -> RawMessage {
        super::create::message(&self.message(), MESSAGE_FLAGS, widths)
    }

    /// Returns the management of the file of `store`.
    pub(super) fn read(store: &Store) -> Result<Self> {
        let Some(extension) = store.superblock().extension() else { return Ok(Self::default()) };
        let info = Header::read(store, extension)?.find::<FileSpaceInfo>(store)?;
        Ok(info.map_or_else(Self::default, |info| Self::of(&info)))
    }
}

/// Takes over the free space that the file keeps. The file is changed with the next commit of another change.
pub(super) fn take_over(store: &Store) -> Result<()> {
    let Some(extension) = store.superblock().extension() else { return Ok(()) };
    let Some(info) = Header::read(store, extension)?.find::<FileSpaceInfo>(store)? else { return Ok(()) };
    if managers(&info).all(Addr::is_undefined) {
        return Ok(());
    }
    let mut kept = Kept::read(store, &info)?;
    kept.check(store)?;
    // What a damaged object uses is not known. Then the kept space is not used.
    let used = used(store, extension).ok();
    match &used {
        Some(used) => kept.check_unused(used)?,
        None => kept = Kept::default(),
    }
    store.step(|txn| {
        let mut change = HeaderChange::new(txn, extension)?;
        change.set(&with_managers(&info, Addr::UNDEFINED, |_| Addr::UNDEFINED))?;
        change.finish()?;
        kept.structures.iter().for_each(|extent| txn.free(*extent));
        Ok(())
    })?;
    store.adopt(&kept.free)
}

impl File {
    /// Returns how the file manages its space.
    pub fn space(&self) -> Result<FileSpace> {
        FileSpace::read(self.store())
    }

    /// Writes the managers of the free space, if the file keeps it and was changed. No changes may follow.
    pub(super) fn keep_free_space(&self) -> Result<()> {
        let store = self.store();
        let Some(extension) = store.superblock().extension().filter(|_| !store.is_untouched()) else {
            return Ok(());
        };
        let Some(info) = Header::read(store, extension)?.find::<FileSpaceInfo>(store)? else { return Ok(()) };
        let space = FileSpace::of(&info);
        if !space.persist {
            return Ok(());
        }
        store.step(|txn| {
            // The places of the managers first, because they change what is free.
            let free = Lists::of(&space, store.free_space());
            let places = free.0.each_ref().map(|list| {
                // Each allocation may add a section.
                (!list.is_empty()).then(|| ManagerPlace::allocate(txn, list.len() + 6)).transpose()
            });
            let mut addresses = [Addr::UNDEFINED; 3];
            let free = Lists::of(&space, store.free_space());
            for ((place, sections), address) in places.into_iter().zip(free.0).zip(&mut addresses) {
                if let Some(place) = place? {
                    *address = place.put(txn, sections);
                }
            }
            let end = Addr::new(store.end_after_commit());
            let mut change = HeaderChange::new(txn, extension)?;
            change.set(&with_managers(&info, end, |number| match number {
                FIRST_METADATA => addresses[0],
                FIRST_DATA => addresses[1],
                FIRST_LARGE => addresses[2],
                _ => Addr::UNDEFINED,
            }))?;
            change.finish().map(drop)
        })?;
        store.commit()
    }
}

/// The free space that a file keeps, and the places of the managers themselves.
#[derive(Debug, Default)]
struct Kept {
    free: FreeSpace,
    structures: Vec<Extent>,
}

impl Kept {
    fn read(store: &Store, info: &FileSpaceInfo) -> Result<Self> {
        let mut kept = Self::default();
        let is_paged = info.page_size().is_some();
        for (number, at) in managers(info).enumerate().filter(|(_, at)| at.is_defined()) {
            let header = store.read::<FreeSpaceHeader>(at, &())?;
            if header.client != FreeSpaceClient::File {
                return Err(misfit::<FreeSpaceHeader>(at, "client id", header.client as u8, "1: a file"));
            }
            kept.structures.push(Extent::new(at, FreeSpaceHeader::read_len(store.widths(), &()) as u64));
            let Some(list) = header.list.defined() else { continue };
            store.check(Extent::new(list, header.list_size), NAME)?;
            let sections = store.read::<FreeSpaceSections>(list, &header.form(at))?;
            kept.structures.push(Extent::new(list, header.list_allocated.max(header.list_size)));
            let free = match number {
                ..FIRST_LARGE if is_paged && number == FIRST_DATA => &mut kept.free.data,
                ..FIRST_LARGE if is_paged => &mut kept.free.metadata,
                _ => &mut kept.free.any,
            };
            free.extend(
                sections.sections.iter().map(|section| Extent::new(Addr::new(section.offset), section.size)),
            );
        }
        Ok(kept)
    }

    fn sections(&self) -> impl Iterator<Item = &Extent> {
        self.free.metadata.iter().chain(&self.free.data).chain(&self.free.any)
    }

    /// Checks that all sections and managers are inside the file and that no two of them overlap.
    fn check(&self, store: &Store) -> Result<()> {
        let mut all: Vec<Extent> = self.sections().chain(&self.structures).copied().collect();
        all.sort_unstable_by_key(|extent| (extent.addr, extent.len));
        let mut end = Addr::new(0);
        for extent in &all {
            store.check(*extent, NAME)?;
            if extent.addr < end || extent.len == 0 {
                return Err(overlap(extent));
            }
            end = extent.end().unwrap_or(Addr::UNDEFINED);
        }
        Ok(())
    }

    /// Checks that no section overlaps one of the extents in `used`, which are in use.
    fn check_unused(&self, used: &[Extent]) -> Result<()> {
        let mut used: Vec<Extent> = used.iter().filter(|extent| extent.len > 0).copied().collect();
        used.sort_unstable_by_key(|extent| extent.addr);
        // In a damaged file, used extents may overlap: each has the end of all up to it.
        let mut reach = Some(Addr::new(0));
        let ends: Vec<Option<Addr>> = used
            .iter()
            .map(|extent| {
                reach = reach.zip(extent.end()).map(|(reach, end)| reach.max(end));
                reach
            })
            .collect();
        for section in self.sections().chain(&self.structures) {
            let end = section.end().unwrap_or(Addr::UNDEFINED);
            let after = used.partition_point(|extent| extent.addr < end);
            let before = after.checked_sub(1).and_then(|last| ends.get(last));
            if before.is_some_and(|end| end.is_none_or(|end| end > section.addr)) {
                return Err(overlap(section));
            }
        }
        Ok(())
    }
}

fn overlap(section: &Extent) -> Error {
    let (at, expected) = (section.addr, "the address of space that nothing else uses");
    misfit::<FreeSpaceSections>(at, "Section Offset", at.get(), expected)
}

/// Returns the extents in use by the superblock, its extension and all objects: what would be free if
/// everything were deleted. Changes nothing.
fn used(store: &Store, extension: Addr) -> Result<Vec<Extent>> {
    let mut txn = store.begin()?;
    let mut seen = HashSet::new();
    let mut targets = vec![store.superblock().root()];
    while let Some(at) = targets.pop() {
        if seen.insert(at) {
            let header = Header::read(store, at)?;
            delete::delete(&mut txn, &header, &mut targets)?;
        }
    }
    header::edit::delete(&mut txn, &*Header::read(store, extension)?);
    let len = store.superblock().encoded_len(store.widths(), &()) as u64;
    let mut used = txn.freed();
    used.push(Extent::new(Addr::new(0), len));
    Ok(used)
}

/// The sections of the managers of small metadata, of small data, and of all else.
struct Lists([Vec<FreeSection>; 3]);

impl Lists {
    fn of(space: &FileSpace, mut free: FreeSpace) -> Self {
        let is_paged = space.page().is_some();
        if !is_paged {
            let (small, large) = free.any.drain(..).partition(|extent| extent.len < METADATA_SECTIONS);
            (free.metadata, free.data) = (small, large);
        }
        let class = |paged| FreeSectionKind::Plain(if is_paged { paged } else { SIMPLE });
        let sections = |extents: Vec<Extent>, kind| {
            let kept = extents.into_iter().filter(|extent| extent.len >= space.threshold.max(1));
            let mut sections: Vec<_> = kept
                .map(|extent| FreeSection { size: extent.len, offset: extent.addr.get(), kind })
                .collect();
            sections.sort_unstable_by_key(|section| (section.size, section.offset));
            sections
        };
        Self([
            sections(free.metadata, class(SMALL)),
            sections(free.data, class(SMALL)),
            sections(free.any, class(LARGE)),
        ])
    }
}

/// The place of a manager.
struct ManagerPlace {
    header: Addr,
    list: Extent,
}

impl ManagerPlace {
    /// Allocates space for a manager of at most `count` sections.
    fn allocate(txn: &mut Txn<'_>, count: usize) -> Result<Self> {
        let widths = txn.store().widths();
        let header = txn.allocate_metadata(FreeSpaceHeader::read_len(widths, &()) as u64)?;
        let form = FreeSpaceHeader { serialized_sections: count as u64, ..empty(widths) }.form(header);
        let len = form.singles_len(count, count, widths) as u64;
        Ok(Self { header, list: Extent::new(txn.allocate_metadata(len)?, len) })
    }

    /// Puts the manager; returns its address.
    fn put(self, txn: &mut Txn<'_>, sections: Vec<FreeSection>) -> Addr {
        let widths = txn.store().widths();
        let count = sections.len() as u64;
        let sizes = sections.chunk_by(|a, b| a.size == b.size).count();
        let mut header = FreeSpaceHeader {
            total_space: sections.iter().map(|section| section.size).sum(),
            total_sections: count,
            serialized_sections: count,
            list: self.list.addr,
            list_allocated: self.list.len,
            ..empty(widths)
        };
        let form = header.form(self.header);
        header.list_size = form.singles_len(sections.len(), sizes, widths) as u64;
        txn.put(self.list.addr, FreeSpaceSections { sections }, header.form(self.header));
        txn.put(self.header, header, ());
        self.header
    }
}

/// Returns the header of a manager without sections, with the parameters of libhdf5.
fn empty(widths: Widths) -> FreeSpaceHeader {
    FreeSpaceHeader {
        client: FreeSpaceClient::File,
        total_space: 0,
        total_sections: 0,
        serialized_sections: 0,
        ghost_sections: 0,
        section_classes: 3,
        shrink_percent: 80,
        expand_percent: 120,
        address_bits: 63,
        max_section_size: widths.length.max().min(i64::MAX as u64),
        list: Addr::UNDEFINED,
        list_size: 0,
        list_allocated: 0,
    }
}

fn managers(info: &FileSpaceInfo) -> impl Iterator<Item = Addr> {
    let managers: &[Addr] = match info {
        FileSpaceInfo::V0 { managers, .. } => managers.as_ref().map_or(&[], |managers| managers),
        FileSpaceInfo::V1 { managers, .. } => managers.as_ref().map_or(&[], |managers| managers),
    };
    managers.iter().copied()
}

/// Returns the message with other managers. `end` is the end of the file that they describe.
fn with_managers(info: &FileSpaceInfo, end: Addr, manager: impl Fn(usize) -> Addr) -> FileSpaceInfo {
    let mut info = info.clone();
    match &mut info {
        FileSpaceInfo::V0 { managers, .. } => {
            *managers = managers.map(|_| std::array::from_fn(&manager));
        }
        FileSpaceInfo::V1 { managers, end_before_managers, .. } => {
            *managers = managers.map(|_| std::array::from_fn(&manager));
            *end_before_managers = end;
        }
    }
    info
}

/// The places in the message of the managers that libhdf5 uses for a file that is one file of the system: of
/// (small) metadata, of (small) data, and in a file with pages of all large extents.
const FIRST_METADATA: usize = 0;
const FIRST_DATA: usize = 2;
const FIRST_LARGE: usize = 6;
/// The types of sections: in a file without pages, and in one with pages.
const SIMPLE: u8 = 0;
const SMALL: u8 = 1;
const LARGE: u8 = 2;
/// In a file without pages, shorter sections are kept for metadata.
const METADATA_SECTIONS: u64 = 4096;
/// The flags of the message: it is not shared, and programs that do not know it mark it.
const MESSAGE_FLAGS: u8 = RawMessage::DO_NOT_SHARE | RawMessage::MARK_IF_UNKNOWN;
const NAME: (&str, &str) = (FreeSpaceSections::NAME, FreeSpaceSections::SPEC);
