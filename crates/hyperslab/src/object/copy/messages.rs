//! Messages that differ in a repacked file: those for new chunks and filters, and those of the requested
//! version.

use hyperslab_error::Result;
use hyperslab_format::Addr;
use hyperslab_format::header::{Prefix, RawMessage};
use hyperslab_format::layout::LayoutMessage;
use hyperslab_format::message::dataspace::DataspaceMessage;
use hyperslab_format::message::fill::{AllocationTime, FillBytes, FillValue};
use hyperslab_format::message::filters::FilterPipeline;
use hyperslab_format::message::{MessageBody, kind};

use super::Copy;
use super::renewal::NewChunks;
use crate::object::dataset::create::{dataspace_version, datatype_message, header_prefix};
use crate::object::file::create::{message, new_group};
use crate::object::header::read::Header;
use crate::object::header::versions::LibVersion;
use crate::object::{Group, Node, limits};

/// The parts of a header that are rebuilt rather than copied.
pub(super) struct Anew {
    version: Option<LibVersion>,
    chunks: Option<NewChunks>,
}

impl Anew {
    /// Whether messages of this type are made by [`Copy::messages_anew`] and not copied.
    pub(super) fn owns(&self, kind: u16) -> bool {
        let of_chunks = [kind::LAYOUT, kind::FILTER_PIPELINE, kind::FILL_VALUE];
        let of_version =
            [kind::DATASPACE, kind::DATATYPE, kind::FILL_VALUE, kind::OLD_FILL_VALUE, kind::FILTER_PIPELINE];
        (self.chunks.is_some() && of_chunks.contains(&kind))
            || (self.version.is_some() && of_version.contains(&kind))
    }

    /// Returns the prefix of the copy's header.
    pub(super) fn prefix(&self, header: &Header) -> Prefix {
        match (self.version, header.object_header().prefix) {
            (Some(version), Prefix::V1 { .. }) => header_prefix(version, false),
            (Some(version), Prefix::V2(_)) if version.is_old() && !header.tracks_attribute_order() => {
                header_prefix(version, false)
            }
            (None, Prefix::V1 { .. }) => Prefix::V1 { reference_count: 1 },
            (_, prefix @ Prefix::V2(_)) => prefix,
        }
    }
}

impl Copy<'_> {
    /// Returns the parts of the header of `source` that are rebuilt.
    pub(super) fn anew(&self, source: &Node) -> Result<Anew> {
        let chunks = match source {
            Node::Dataset(dataset) => self.new_chunks(&*dataset.properties()?)?,
            Node::Group(_) | Node::Datatype(_) => None,
        };
        Ok(Anew { version: self.version(), chunks })
    }

    /// Returns the version that the caller asked for.
    pub(super) fn version(&self) -> Option<LibVersion> {
        self.renewal.as_ref().and_then(|renewal| renewal.options.version)
    }

    /// Creates an empty group in the format of `version`.
    pub(super) fn group_anew(&self, source: &Group, version: LibVersion) -> Result<Addr> {
        let header = source.header()?;
        let is_ordered = source.tracks_creation_order()? || header.tracks_attribute_order();
        self.to.store().step(|txn| Ok(new_group(txn, version, is_ordered)?.address()))
    }

    /// Makes the messages that are rebuilt. `committed` is the datatype message if the type is committed.
    pub(super) fn messages_anew(
        &mut self,
        source: &Node,
        header: &Header,
        anew: &Anew,
        committed: Option<RawMessage>,
    ) -> Result<Vec<RawMessage>> {
        let widths = self.to.store().widths();
        let mut messages = Vec::new();
        if let (Some(version), Node::Datatype(datatype)) = (anew.version, source) {
            let flags = RawMessage::CONSTANT | RawMessage::DO_NOT_SHARE;
            let relaid = self.relaid(header.widths(), datatype.datatype())?;
            messages.push(datatype_message(&relaid, flags, version, widths));
        }
        let Node::Dataset(dataset) = source else { return Ok(messages) };
        let properties = dataset.properties()?;
        let from = header.widths();
        if let Some(version) = anew.version {
            limits::check_dataspace(&properties.dataspace, widths)?;
            let dataspace = DataspaceMessage {
                version: dataspace_version(version, &properties.dataspace),
                dataspace: properties.dataspace.clone(),
            };
            messages.push(message(&dataspace, flags::<DataspaceMessage>(header), widths));
            let relaid = self.relaid(from, &properties.datatype)?;
            messages.push(
                committed.unwrap_or_else(|| datatype_message(&relaid, RawMessage::CONSTANT, version, widths)),
            );
        }
        if anew.version.is_some() || (anew.chunks.is_some() && header.has(kind::FILL_VALUE)) {
            let mut fill = properties.fill.clone();
            fill.version = anew.version.map_or(fill.version, LibVersion::fill);
            if anew.chunks.is_some() {
                fill.allocation = AllocationTime::Incremental;
            }
            if let FillBytes::Defined(value) = &mut fill.value {
                self.translate_fill(source, value)?;
            }
            messages.push(message(&fill, flags::<FillValue>(header), widths));
        }
        if anew.owns(kind::FILTER_PIPELINE) {
            let version = anew.version.unwrap_or_else(|| self.to.version()).filters();
            let mut filters = properties.filters.filters.clone();
            match &anew.chunks {
                Some(chunks) => filters.clone_from(&chunks.filters),
                None => self.refit(dataset, &mut filters)?,
            }
            if !filters.is_empty() {
                let pipeline = FilterPipeline { version, filters };
                messages.push(message(&pipeline, RawMessage::CONSTANT, widths));
            }
        }
        if let Some(chunks) = &anew.chunks {
            let element_size = self.element_size(from, &properties.datatype)?;
            messages.push(message(
                &chunks.layout(&properties, element_size),
                flags::<LayoutMessage>(header),
                widths,
            ));
        }
        Ok(messages)
    }
}

/// Returns the flags of the source's message of type `T` that hold for the copy too.
fn flags<T: MessageBody>(header: &Header) -> u8 {
    let found = header.object_header().messages().find(|message| message.kind == T::KIND);
    found.map_or(0, |message| message.flags & !(RawMessage::SHARED | RawMessage::SHAREABLE))
}
