//! Copies to files with other widths of addresses and lengths: messages are encoded anew, and elements with
//! addresses have another size.

use hyperslab_error::{Error, RequestError, Result};
use hyperslab_filters::FilterId;
use hyperslab_format::datatype::Datatype;
use hyperslab_format::header::RawMessage;
use hyperslab_format::layout::mappings::VirtualMappings;
use hyperslab_format::message::dataspace::DataspaceMessage;
use hyperslab_format::message::filters::{FilterPipeline, FilterSpec};
use hyperslab_format::message::kind;
use hyperslab_format::{Addr, Reader, Widths, Writer};

use super::Copy;
use super::header::encoded;
use crate::engine::refitted_filter;
use crate::object::dataset::create::datatype_message;
use crate::object::{Dataset, File, Node, limits};

/// The sizes of an element in bytes.
#[derive(Clone, Copy)]
pub(super) struct ElementSizes {
    source: u64,
    copy: u64,
}

impl ElementSizes {
    /// Returns the size in the copy of elements that have `len` bytes in the source.
    pub(super) fn resized(self, len: u64) -> Result<u64> {
        if self.source == self.copy {
            return Ok(len);
        }
        (len / self.source).checked_mul(self.copy).ok_or_else(too_long)
    }
}

impl Copy<'_> {
    /// Returns a datatype of a file with widths `from` in the file of the copy.
    ///
    /// Errors: its elements would have 4 GiB or more.
    pub(super) fn relaid(&self, from: Widths, datatype: &Datatype) -> Result<Datatype> {
        datatype.in_widths(from, self.to.store().widths()).ok_or_else(too_long)
    }

    /// Encodes a message for a file with other widths.
    pub(super) fn rewidened(&self, source: &Node, raw: &RawMessage, from: Widths) -> Result<RawMessage> {
        let widths = self.to.store().widths();
        Ok(match raw.kind {
            kind::DATASPACE => {
                let dataspace: DataspaceMessage = raw.decode_here(from)?;
                limits::check_dataspace(&dataspace.dataspace, widths)?;
                encoded(&dataspace, raw, widths)
            }
            kind::DATATYPE => {
                let stored: Datatype = raw.decode_here(from)?;
                let relaid = self.relaid(from, &stored)?;
                datatype_message(&relaid, raw.flags, self.to.version(), widths)
            }
            kind::FILTER_PIPELINE => {
                let mut pipeline: FilterPipeline = raw.decode_here(from)?;
                if let Node::Dataset(dataset) = source {
                    self.refit(dataset, &mut pipeline.filters)?;
                }
                encoded(&pipeline, raw, widths)
            }
            _ => RawMessage { at: Addr::UNDEFINED, creation_order: None, ..raw.clone() },
        })
    }

    /// Changes filters for elements of another size.
    pub(super) fn refit(&self, source: &Dataset, filters: &mut [FilterSpec]) -> Result<()> {
        let element_size = self.element_size(source.store().widths(), &source.datatype())?;
        let Some(chunk) = source.chunk_shape().filter(|_| element_size != source.element_size()) else {
            return Ok(());
        };
        for filter in filters {
            *filter = resized_filter(filter, element_size, &chunk)?;
        }
        Ok(())
    }

    /// Returns the size in bytes of an element in the copy.
    pub(super) fn element_size(&self, from: Widths, datatype: &Datatype) -> Result<usize> {
        Ok(usize::try_from(self.relaid(from, datatype)?.size(self.to.store().widths())).unwrap_or(usize::MAX))
    }

    /// Returns the sizes of an element of a dataset in the source and in the copy.
    pub(super) fn element_sizes(&self, source: &Node) -> Result<ElementSizes> {
        let Node::Dataset(dataset) = source else { return Ok(ElementSizes { source: 1, copy: 1 }) };
        let copy = self.element_size(dataset.store().widths(), &dataset.datatype())?;
        Ok(ElementSizes { source: dataset.element_size().max(1) as u64, copy: copy.max(1) as u64 })
    }

    /// Returns the block of the global heap with the mappings of a virtual dataset, for the file of the copy.
    pub(super) fn mappings(&self, from: &File, block: Vec<u8>) -> Result<Vec<u8>> {
        let (old, new) = (from.store().widths(), self.to.store().widths());
        if old == new {
            return Ok(block);
        }
        let mappings = Reader::new(&block, old, Addr::UNDEFINED).structure::<VirtualMappings>(&())?;
        let mut copy = Vec::with_capacity(block.len());
        Writer::new(&mut copy, new).structure(&mappings, &());
        Ok(copy)
    }
}

/// Returns a filter for chunks of another shape, and elements of another size.
pub(super) fn resized_filter(filter: &FilterSpec, element_size: usize, chunk: &[u64]) -> Result<FilterSpec> {
    let mut fitted = refitted_filter(filter, element_size, chunk)?;
    if FilterId(filter.id) == FilterId::SHUFFLE {
        fitted.client_data = vec![u32::try_from(element_size).unwrap_or(u32::MAX)];
    }
    Ok(fitted)
}

/// The error for elements that are too large in a file with wider addresses.
pub(super) fn too_long() -> Error {
    let why = "its elements are too large for their storage in a file with addresses of this width";
    RequestError::Argument { what: "dataset".to_owned(), why }.into()
}
