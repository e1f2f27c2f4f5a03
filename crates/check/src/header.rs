//! Object headers (spec IV.A.1), the bodies of their messages, and the reference counts of objects.

use std::sync::Arc;

use hyperslab_error::Error;
use hyperslab_format::datatype::Datatype;
use hyperslab_format::header::{ObjectHeader, Prefix, RawMessage};
use hyperslab_format::layout::LayoutMessage;
use hyperslab_format::message::attribute::Attribute;
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::message::dense_info::{AttributeInfo, LinkInfo};
use hyperslab_format::message::file_space::FileSpaceInfo;
use hyperslab_format::message::fill::{FillValue, OldFillValue};
use hyperslab_format::message::filters::FilterPipeline;
use hyperslab_format::message::group_info::GroupInfo;
use hyperslab_format::message::link::Link;
use hyperslab_format::message::shared::{MaybeShared, SharedLocation};
use hyperslab_format::message::small::{
    BTreeK, CacheImageMessage, Comment, ModificationTime, OldModificationTime, ReferenceCount,
    SharedMessages, SymbolTable,
};
use hyperslab_format::message::{MessageBody, kind};
use hyperslab_format::superblock::driver_information::DriverMessage;
use hyperslab_format::{Addr, Reader};

use super::{Check, Object, Severity, name_of};

impl Check<'_> {
    /// Counts a hard link to the object at `at`. If the object is new, it is checked later.
    pub(super) fn link_to(&mut self, at: Addr, path: Arc<str>) {
        let waiting = &mut self.waiting;
        let object = self.objects.entry(at).or_insert_with(|| {
            waiting.push_back(at);
            Object { path, found: 0, stated: None }
        });
        object.found += 1;
    }

    /// Returns the path of a member of the group that is being checked.
    pub(super) fn member(&self, name: &str) -> Arc<str> {
        if self.path.ends_with('/') {
            format!("{}{name}", self.path)
        } else {
            format!("{}/{name}", self.path)
        }
        .into()
    }

    /// Checks the object at `at`, and everything that belongs only to it.
    pub(super) fn object(&mut self, at: Addr) {
        let Some(path) = self.objects.get(&at).map(|object| Arc::clone(&object.path)) else { return };
        self.path = path;
        self.tick();
        let Some(header) = self.header(at) else { return };
        self.bodies(&header);
        let stated = header.reference_count(self.store.widths()).ok();
        self.objects.get_mut(&at).into_iter().for_each(|object| object.stated = stated);
        self.attributes(&header);
        let has = |kind| header.find(kind).is_some();
        if has(kind::LINK_INFO) || has(kind::SYMBOL_TABLE) {
            self.report.totals.groups += 1;
            self.group(&header);
        } else if has(kind::LAYOUT) {
            self.report.totals.datasets += 1;
            self.dataset(&header);
        } else if has(kind::DATATYPE) {
            self.report.totals.datatypes += 1;
        } else {
            let message = "unknown kind of object: it has neither links nor a layout nor a datatype";
            self.wrong(name_of::<ObjectHeader>(), at, message);
        }
    }

    /// Reads the header at `at` with as many of its chunks as are readable.
    pub(super) fn header(&mut self, at: Addr) -> Option<ObjectHeader> {
        let name = name_of::<ObjectHeader>();
        let mut header = self.read::<ObjectHeader>(at, &())?;
        self.cover(header.chunks.first()?.extent, name);
        while let Some(extent) = header.next_pending() {
            if !self.claim(name, extent.addr) {
                break;
            }
            let bytes = self.store.bytes(extent, name);
            let Some(bytes) = self.noted(bytes, extent.addr) else { break };
            let mut r = Reader::new(&bytes, self.store.widths(), extent.addr);
            let decoded = header.decode_continuation(&mut r);
            if self.noted(decoded, extent.addr).is_none() {
                break;
            }
            self.cover(extent, name);
        }
        if matches!(header.prefix, Prefix::V1 { .. }) && header.next_pending().is_none() {
            // The version, a reserved byte, and the count.
            let mut prefix = [0; 4];
            let read = self.store.read_raw(at, &mut prefix);
            self.noted(read, at)?;
            let stated = u16::from_le_bytes([prefix[2], prefix[3]]);
            self.expect(
                name,
                at,
                "total number of header messages",
                stated.into(),
                header.messages().count() as u64,
            );
        }
        Some(header)
    }

    /// Decodes every message of a header, and adds a finding for each fault. Later users of a message decode
    /// it again and do not repeat the findings.
    pub(super) fn bodies(&mut self, header: &ObjectHeader) {
        let at = header.chunks.first().map_or(Addr::UNDEFINED, |chunk| chunk.extent.addr);
        for message in header.messages() {
            if message.flags & RawMessage::SHAREABLE != 0 && !message.is_shared() {
                self.shared_here(message, at);
            }
            match message.kind {
                kind::DATASPACE => self.body::<Dataspace>(message),
                kind::LINK_INFO => self.body::<LinkInfo>(message),
                kind::DATATYPE => self.body::<Datatype>(message),
                kind::OLD_FILL_VALUE => self.body::<OldFillValue>(message),
                kind::FILL_VALUE => self.body::<FillValue>(message),
                kind::LINK => self.body::<Link>(message),
                kind::LAYOUT => self.body::<LayoutMessage>(message),
                kind::GROUP_INFO => self.body::<GroupInfo>(message),
                kind::FILTER_PIPELINE => self.body::<FilterPipeline>(message),
                kind::ATTRIBUTE => self.body::<Attribute>(message),
                kind::COMMENT => self.body::<Comment>(message),
                kind::OLD_MODIFICATION_TIME => self.body::<OldModificationTime>(message),
                kind::SYMBOL_TABLE => self.body::<SymbolTable>(message),
                kind::MODIFICATION_TIME => self.body::<ModificationTime>(message),
                kind::BTREE_K => self.body::<BTreeK>(message),
                kind::ATTRIBUTE_INFO => self.body::<AttributeInfo>(message),
                kind::REFERENCE_COUNT => self.body::<ReferenceCount>(message),
                kind::FILE_SPACE_INFO => self.body::<FileSpaceInfo>(message),
                kind::SHARED_MESSAGE_TABLE => self.body::<SharedMessages>(message),
                kind::DRIVER_INFO => self.body::<DriverMessage>(message),
                kind::METADATA_CACHE_IMAGE => self.body::<CacheImageMessage>(message),
                // Continuations were followed. The other types are checked where they are used.
                kind::NIL | kind::CONTINUATION | kind::EXTERNAL_FILES | kind::BOGUS => {}
                other => {
                    let text = format!("a message of the unknown type {other:#x} is not checked");
                    self.find(Severity::Note, name_of::<ObjectHeader>(), message.at, text);
                }
            }
        }
    }

    fn body<T: MessageBody>(&mut self, message: &RawMessage) {
        if message.is_shared() && !SHAREABLE.contains(&T::KIND) {
            let text = format!("a message of type {:#x} cannot be shared", T::KIND);
            self.wrong(name_of::<ObjectHeader>(), message.at, text);
        }
        let decoded = message.decode::<T>(self.store.widths());
        if let Some(MaybeShared::Shared(location)) = self.noted(decoded.map_err(Error::from), message.at) {
            self.shared(location, T::KIND);
        }
    }

    /// Returns the value of a message that may be stored in another header, or `None` if it is unavailable.
    /// Adds a finding if the place is there, but no value.
    pub(super) fn resolved<T: MessageBody>(&mut self, found: MaybeShared<T>) -> Option<T> {
        let at = match found {
            MaybeShared::Here(value) => return Some(value),
            MaybeShared::Shared(SharedLocation::Heap(id)) => return self.shared_body(id),
            MaybeShared::Shared(SharedLocation::Header(at)) => at,
        };
        let value = self.value_in::<T>(at);
        if value.is_none() {
            let text = format!("the message of type {:#x} is not in the header that it refers to", T::KIND);
            self.wrong(name_of::<ObjectHeader>(), at, text);
        }
        value
    }

    /// Returns the value of a message of the header at `at`, which must not be in another header.
    fn value_in<T: MessageBody>(&mut self, at: Addr) -> Option<T> {
        let widths = self.store.widths();
        let mut header = self.store.read::<ObjectHeader>(at, &()).ok()?;
        while header.find(T::KIND).is_none() {
            let extent = header.next_pending()?;
            let bytes = self.store.bytes(extent, name_of::<ObjectHeader>()).ok()?;
            header.decode_continuation(&mut Reader::new(&bytes, widths, extent.addr)).ok()?;
        }
        match header.message::<T>(widths).ok()?? {
            MaybeShared::Here(value) => Some(value),
            MaybeShared::Shared(SharedLocation::Heap(id)) => self.shared_body(id),
            MaybeShared::Shared(SharedLocation::Header(_)) => None,
        }
    }

    /// Returns the first message with body `T`, wherever it is stored, or `None` if it is unavailable.
    pub(super) fn message<T: MessageBody>(&mut self, header: &ObjectHeader) -> Option<T> {
        self.resolved(header.message::<T>(self.store.widths()).ok()??)
    }

    /// Compares the reference counts in headers with the links that were found.
    pub(super) fn references(&mut self) {
        let mut wrong: Vec<(Addr, Arc<str>, u64, u64)> = self
            .objects
            .iter()
            .filter_map(|(&at, object)| {
                let stated = u64::from(object.stated?);
                (stated != object.found).then(|| (at, Arc::clone(&object.path), stated, object.found))
            })
            .collect();
        wrong.sort_by_key(|(at, ..)| *at);
        for (at, path, stated, found) in wrong {
            self.path = path;
            // If the count is too small, the object will be deleted while links lead to it. If it is too
            // large, it will never be deleted.
            let severity = if stated < found { Severity::Error } else { Severity::Warning };
            let message = format!("reference count is {stated}, found {found} links");
            self.find(severity, name_of::<ObjectHeader>(), at, message);
        }
    }
}

/// The types of messages that objects may share (spec IV.A.1). Others are where they are used.
const SHAREABLE: [u16; 6] = [
    kind::DATASPACE,
    kind::DATATYPE,
    kind::OLD_FILL_VALUE,
    kind::FILL_VALUE,
    kind::FILTER_PIPELINE,
    kind::ATTRIBUTE,
];
