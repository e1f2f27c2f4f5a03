//! Checks the superblock (spec II.A), its extension (II.C) and the driver information block (II.B).

use hyperslab_format::cache_image::CacheImage;
use hyperslab_format::message::file_space::FileSpaceInfo;
use hyperslab_format::message::small::{BTreeK, CacheImageMessage, SharedMessages, SymbolTable};
use hyperslab_format::superblock::Superblock;
use hyperslab_format::superblock::driver_information::DriverBlock;
use hyperslab_format::{Addr, Extent, Structure};
use hyperslab_store::MemberEnds;
use hyperslab_store::commit::recovery::Action;

use super::{Check, Severity, name_of};

impl Check<'_> {
    /// Checks the superblock and begins the walk.
    pub(super) fn superblock(&mut self) {
        let (superblock, widths) = (self.store.superblock().clone(), self.store.widths());
        let (name, at) = (name_of::<Superblock>(), Addr::new(0));
        self.claim(name, at);
        self.report.totals.structures += 1;
        self.cover(Extent::new(at, superblock.encoded_len(widths, &()) as u64), name);
        let left_over = match self.report.recovery {
            Action::Nothing | Action::Refuse => None,
            Action::DropTail => {
                Some("a crash left the remains of a transaction: checked as if they were cut off")
            }
            Action::Unguard => Some("a crash left a transaction unfinished: checked as if it were undone"),
            Action::Redo => Some("a crash left a transaction unfinished: checked as if it were finished"),
        };
        if let Some(message) = left_over {
            self.find(Severity::Note, name, at, message);
        }
        if superblock.is_marked_open() {
            let message = "marked as open for writing: a program is writing the file, or has crashed";
            self.find(Severity::Warning, name, at, message);
        }
        self.members();
        let end = if self.store.has_parts() { u64::MAX } else { self.end() };
        let tail = self.store.len_bytes().saturating_sub(end);
        if tail > 0 && self.report.recovery != Action::DropTail {
            let message = format!("{tail} bytes follow the End of File Address");
            self.find(Severity::Warning, name, at, message);
        }
        if let Some(at) = superblock.driver_information() {
            self.block::<DriverBlock>(at, &());
        }
        if let Some(at) = superblock.extension() {
            self.extension(at);
        }
        self.link_to(superblock.root(), "/".into());
    }

    /// Compares the ends that a split file states with its members and with the superblock.
    fn members(&mut self) {
        // If the driver information is damaged, its own check finds that.
        let Ok(Some(ends)) = self.store.member_ends() else { return };
        let MemberEnds { metadata, elements, found } = ends;
        let end = self.store.superblock().end_of_file();
        let (name, at) = (name_of::<DriverBlock>(), Addr::UNDEFINED);
        if metadata != end {
            let message = format!(
                "it states {metadata} bytes of metadata, but the End of File Address is {end}: libhdf5 takes the \
                 latter"
            );
            self.find(Severity::Warning, name, at, message);
        }
        match found {
            Ok(found) if found < elements => {
                let message = format!(
                    "the member with the elements has {found} bytes, but the file states {elements}: it was cut \
                     short or replaced"
                );
                self.find(Severity::Error, name, at, message);
            }
            Ok(found) if found > elements => {
                let message = format!("{} bytes follow the stated end of the elements", found - elements);
                self.find(Severity::Warning, name, at, message);
            }
            Ok(_) => {}
            Err(error) => self.find(Severity::Error, name, at, error.to_string()),
        }
    }

    fn extension(&mut self, at: Addr) {
        self.path = EXTENSION.into();
        let Some(header) = self.header(at) else { return };
        self.bodies(&header);
        let widths = self.store.widths();
        if let Some(stated) = header.own_message::<BTreeK>(widths).ok().flatten() {
            self.store.set_btree_k(stated);
        }
        if let Some(info) = header.own_message::<FileSpaceInfo>(widths).ok().flatten() {
            self.file_space(&info);
        }
        if let Some(stated) = header.own_message::<SharedMessages>(widths).ok().flatten() {
            self.shared_messages(stated);
        }
        let image = header.own_message::<CacheImageMessage>(widths).ok().flatten();
        if let Some(CacheImageMessage { extent }) = image.filter(|image| image.extent.addr.is_defined()) {
            // The blocks in it are checked where they belong: the file is read through it.
            self.block::<CacheImage>(extent.addr, &extent);
        }
        self.path = "".into();
    }

    /// Compares the addresses cached in the superblock with those in the header of the root group.
    pub(super) fn root_table(&mut self, at: Addr, table: &SymbolTable) {
        let superblock = self.store.superblock();
        let repeated = superblock.root_symbol_table().filter(|_| superblock.root() == at);
        if repeated.is_some_and(|repeated| repeated != *table) {
            let message =
                "the superblock's entry of the root group differs from the group's symbol table message";
            self.wrong(name_of::<Superblock>(), Addr::new(0), message);
        }
    }
}

/// The name of the extension in findings, because it has no path.
const EXTENSION: &str = "superblock extension";
