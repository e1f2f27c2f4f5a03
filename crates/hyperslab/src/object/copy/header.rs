//! Copies headers and attributes. Messages that mean the same in any file are copied unchanged; the others
//! are rebuilt.

use hyperslab_error::{Error, Result};
use hyperslab_format::header::RawMessage;
use hyperslab_format::heap::global::GlobalHeapId;
use hyperslab_format::layout::{ChunkIndexInfo, Layout, LayoutMessage};
use hyperslab_format::message::attribute::Attribute as AttributeMessage;
use hyperslab_format::message::dense_info::LinkInfo;
use hyperslab_format::message::fill::{FillBytes, FillValue, OldFillValue};
use hyperslab_format::message::group_info::GroupInfo;
use hyperslab_format::message::shared::{MaybeShared, SharedLocation};
use hyperslab_format::message::{MessageBody, kind};
use hyperslab_format::{Addr, Widths};

use super::Copy;
use super::translate::holds_addresses;
use super::widths::too_long;
use crate::object::attribute;
use crate::object::dataset::create::{COMPACT_BYTES, committed_message};
use crate::object::file::create::{message, new_group};
use crate::object::header;
use crate::object::header::read::{Header, shared_in};
use crate::object::{ExternalFile, Node, Object, dataset, dense, limits, shared};

impl Copy<'_> {
    /// Writes the header of a copy, without attributes, links and data.
    pub(super) fn make_header(&mut self, source: &Node) -> Result<Addr> {
        let header = source.header()?;
        header.check_writable()?;
        let (to, widths) = (self.to.clone(), self.to.store().widths());
        if let (Some(version), Node::Group(group)) = (self.version(), source) {
            return self.group_anew(group, version);
        }
        let is_old_group = header.has(kind::SYMBOL_TABLE);
        if is_old_group && header.object_header().version() == 1 {
            return to.store().step(|txn| Ok(new_group(txn, to.version(), false)?.address()));
        }
        let committed = match dataset::committed_type(&header)? {
            Some(datatype) if matches!(source, Node::Dataset(_)) => {
                Some(self.object(&source.file().object_at(datatype)?, 1)?)
            }
            _ => None,
        };
        let mut messages = Vec::new();
        if is_old_group {
            // Attributes of the group have a creation order, which a version 1 header cannot express. The
            // copy therefore stores its links in messages.
            messages.push(message::<LinkInfo>(&dense::none_yet(None, false), 0, widths));
            let info = GroupInfo { phase_change: None, estimate: None };
            messages.push(message(&info, RawMessage::CONSTANT, widths));
        }
        let anew = self.anew(source)?;
        for raw in header.object_header().messages().filter(|raw| !anew.owns(raw.kind)) {
            messages.extend(self.message(source, &header, raw, committed)?);
        }
        let shared = committed.map(|committed| committed_message(committed, RawMessage::CONSTANT, widths));
        messages.extend(self.messages_anew(source, &header, &anew, shared)?);
        let prefix = anew.prefix(&header);
        let external = self.external_files(source)?;
        to.store().step(|txn| {
            if !external.is_empty() {
                let files = dataset::external::create(txn, &external)?;
                messages.push(message(&files, RawMessage::CONSTANT, widths));
            }
            committed.map_or(Ok(()), |committed| self.count_user(txn, committed))?;
            Ok(header::edit::create(txn, prefix, messages, ROOM)?.address())
        })
    }

    /// Returns the external files of a dataset, which the copy shares with the source.
    fn external_files(&self, source: &Node) -> Result<Vec<ExternalFile>> {
        let Node::Dataset(dataset) = source else { return Ok(Vec::new()) };
        let files = dataset.external_files()?;
        if !files.is_empty() && holds_addresses(&dataset.datatype(), self.keeps_references(source.file())) {
            let what = "copying external raw data that refer to objects or to the heap of their file";
            return Err(Error::unsupported(what, "IV.A.2.h"));
        }
        Ok(files)
    }

    /// Translates a message of the source for the copy. Returns `None` if the message is made later or left
    /// out.
    fn message(
        &mut self,
        source: &Node,
        header: &Header,
        raw: &RawMessage,
        committed: Option<Addr>,
    ) -> Result<Option<RawMessage>> {
        let from = header.widths();
        let widths = self.to.store().widths();
        let raw = &shared::unshared(source.file().store(), raw)?;
        let anew = match (raw.kind, committed) {
            (
                kind::NIL
                | kind::CONTINUATION
                | kind::REFERENCE_COUNT
                | kind::ATTRIBUTE
                | kind::ATTRIBUTE_INFO
                | kind::LINK
                | kind::SYMBOL_TABLE
                | kind::EXTERNAL_FILES,
                _,
            ) => return Ok(None),
            (kind::DATATYPE, Some(committed)) => committed_message(committed, raw.flags, widths),
            (kind::LINK_INFO, _) => {
                let info: LinkInfo = raw.decode_here(from)?;
                let is_indexed = info.creation_order_index.is_some();
                let none: LinkInfo = dense::none_yet(info.max_creation_order.map(|_| 0), is_indexed);
                encoded(&none, raw, widths)
            }
            (kind::LAYOUT, _) => {
                let mut layout: LayoutMessage = raw.decode_here(from)?;
                self.forget_places(source, &mut layout.layout)?;
                encoded(&layout, raw, widths)
            }
            (kind::FILL_VALUE, _) => {
                let mut fill: FillValue = raw.decode_here(from)?;
                if let FillBytes::Defined(value) = &mut fill.value {
                    self.translate_fill(source, value)?;
                }
                encoded(&fill, raw, widths)
            }
            (kind::OLD_FILL_VALUE, _) => {
                let mut fill: OldFillValue = raw.decode_here(from)?;
                self.translate_fill(source, &mut fill.value)?;
                encoded(&fill, raw, widths)
            }
            _ if from != widths => self.rewidened(source, raw, from)?,
            _ => RawMessage { at: Addr::UNDEFINED, creation_order: None, ..raw.clone() },
        };
        Ok(Some(anew))
    }

    /// Changes `layout` to that of a copy that has no data yet.
    fn forget_places(&mut self, source: &Node, layout: &mut Layout) -> Result<()> {
        let sizes = self.element_sizes(source)?;
        match layout {
            Layout::Compact { data } => {
                let len = sizes.resized(data.len() as u64)?;
                if len > COMPACT_BYTES {
                    return Err(too_long());
                }
                data.resize(usize::try_from(len).unwrap_or(0), 0);
            }
            Layout::Contiguous(extent) => {
                (extent.addr, extent.len) = (Addr::UNDEFINED, sizes.resized(extent.len)?);
                limits::check_len("contiguous data", extent.len, self.to.store().widths())?;
            }
            Layout::Virtual { heap, index } => {
                let id = GlobalHeapId { collection: *heap, index: *index };
                if !id.is_null() {
                    let mappings = self.mappings(source.file(), source.file().heap_object(id)?)?;
                    let copied = self.to.put_vlen(&[mappings], 1)?;
                    let id = copied.first().map_or(id, |element| element.id);
                    (*heap, *index) = (id.collection, id.index);
                }
            }
            Layout::Chunked(chunked) => {
                let len = sizes.resized(chunked.element_size.into())?;
                chunked.element_size = u32::try_from(len).map_err(|_| too_long())?;
                forget_index(&mut chunked.index);
            }
        }
        Ok(())
    }

    pub(super) fn translate_fill(&mut self, source: &Node, value: &mut Vec<u8>) -> Result<()> {
        let Node::Dataset(dataset) = source else { return Ok(()) };
        if value.iter().any(|&byte| byte != 0) {
            return self.translate(dataset.file(), &dataset.datatype(), value);
        }
        if !value.is_empty() {
            value.resize(self.element_size(dataset.store().widths(), &dataset.datatype())?, 0);
        }
        Ok(())
    }

    /// Copies all attributes of an object.
    pub(super) fn attributes(&mut self, source: &Object, copy: Addr) -> Result<()> {
        let mut copied: Vec<(AttributeMessage, Option<Addr>)> = Vec::new();
        for mut message in source.stored_attributes()? {
            let committed = match shared_in(&message.datatype) {
                Some(datatype) => Some(self.object(&source.file().object_at(datatype)?, 1)?),
                None => None,
            };
            let mut attribute = source.resolve(&*source.header()?, message.clone())?;
            self.translate(source.file(), &attribute.datatype, &mut attribute.data)?;
            message.data = attribute.data;
            message.dataspace = MaybeShared::Here(attribute.dataspace);
            message.datatype = match committed {
                Some(committed) => MaybeShared::Shared(SharedLocation::Header(committed)),
                None => MaybeShared::Here(self.relaid(source.store().widths(), &attribute.datatype)?),
            };
            copied.push((message, committed));
        }
        if copied.is_empty() {
            return Ok(());
        }
        let to = self.to.clone();
        to.store().step(|txn| {
            copied.into_iter().try_for_each(|(message, committed)| {
                committed.map_or(Ok(()), |committed| self.count_user(txn, committed))?;
                attribute::edit::insert(txn, copy, message, None)
            })
        })
    }
}

/// Makes the index of chunks that of a dataset without chunks.
fn forget_index(index: &mut ChunkIndexInfo) {
    match index {
        ChunkIndexInfo::Single { addr, filtered } => {
            *addr = Addr::UNDEFINED;
            *filtered = filtered.map(|_| (0, 0));
        }
        ChunkIndexInfo::BTree1 { addr }
        | ChunkIndexInfo::Implicit { addr }
        | ChunkIndexInfo::FixedArray { addr, .. }
        | ChunkIndexInfo::ExtensibleArray { addr, .. }
        | ChunkIndexInfo::BTree2 { addr, .. } => *addr = Addr::UNDEFINED,
    }
}

/// Encodes a message with the flags of `raw`.
pub(super) fn encoded<T: MessageBody>(body: &T, raw: &RawMessage, widths: Widths) -> RawMessage {
    message(body, raw.flags, widths)
}
/// The least number of bytes for messages in the header of a copy. The links of a group are added later.
const ROOM: usize = 120;
