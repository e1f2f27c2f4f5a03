//! Checks datasets: whether their messages fit together, and where their elements are stored (spec IV.A.2.i).

use hyperslab_format::datatype::Datatype;
use hyperslab_format::header::ObjectHeader;
use hyperslab_format::heap::global::GlobalHeapId;
use hyperslab_format::layout::mappings::VirtualMappings;
use hyperslab_format::layout::{Layout, LayoutMessage};
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::message::external_files::ExternalFiles;
use hyperslab_format::message::fill::{FillBytes, FillValue, OldFillValue};
use hyperslab_format::message::filters::FilterPipeline;
use hyperslab_format::message::kind;
use hyperslab_format::{Addr, Extent, Reader};

use super::{Check, RAW_DATA, name_of};

/// A dataset as its messages describe it.
pub(super) struct Described {
    pub at: Addr,
    pub shape: Vec<u64>,
    pub max_shape: Option<Vec<Option<u64>>>,
    pub datatype: Datatype,
    /// The size of one element, and of all elements, in bytes.
    pub element_bytes: u64,
    pub bytes: u64,
    pub filters: FilterPipeline,
}

impl Check<'_> {
    /// Checks everything that belongs only to a dataset.
    pub(super) fn dataset(&mut self, header: &ObjectHeader) {
        let at = header.chunks.first().map_or(Addr::UNDEFINED, |chunk| chunk.extent.addr);
        let Some(layout) = self.message::<LayoutMessage>(header) else { return };
        // The names of external files are in a local heap. The files themselves are not checked. One of them
        // may be this file.
        if let Some(files) = self.message::<ExternalFiles>(header) {
            self.passes_over = true;
            self.local_heap(files.heap);
        }
        let Some(described) = self.described(header, at) else { return };
        let fill = self.message::<FillValue>(header).map(|fill| fill.value);
        if let Some(FillBytes::Defined(value)) = &fill {
            if !value.is_empty() && value.len() as u64 != described.element_bytes {
                let (stated, found) = (value.len() as u64, described.element_bytes);
                self.expect(name_of::<FillValue>(), at, "size of the fill value", stated, found);
            }
            self.values(&described.datatype, value);
        }
        // Beside a new message, which is the one that counts, the old one usually repeats its value.
        if let Some(OldFillValue { value }) = self.message::<OldFillValue>(header) {
            let is_repeated = matches!(&fill, Some(FillBytes::Defined(known)) if *known == value);
            if !value.is_empty() && !is_repeated {
                self.not_followed(&described.datatype);
            }
        }
        match layout.layout {
            Layout::Compact { data } => {
                let needed = usize::try_from(described.bytes).unwrap_or(usize::MAX);
                match data.get(..needed) {
                    Some(data) => self.values(&described.datatype, data),
                    None => self.too_short(at, data.len() as u64, described.bytes),
                }
            }
            Layout::Contiguous(extent) => self.contiguous(extent, layout.version, &described),
            Layout::Chunked(chunked) => self.chunked(&chunked, described),
            Layout::Virtual { heap, index } => {
                self.mappings(GlobalHeapId { collection: heap, index }, described.shape.len());
            }
        }
    }

    /// Checks the mappings of a virtual dataset. The sources are not checked.
    fn mappings(&mut self, id: GlobalHeapId, rank: usize) {
        // A dataset without mappings has no object.
        if id.is_null() {
            return;
        }
        let Some(collection) = self.global_object(id) else { return };
        let bytes = collection.object(id.index).unwrap_or_default();
        let mut r = Reader::new(bytes, self.store.widths(), id.collection);
        match r.structure::<VirtualMappings>(&()) {
            Err(error) => self.wrong(name_of::<VirtualMappings>(), id.collection, error),
            Ok(found) => {
                let ranks = found.mappings.iter().filter_map(|mapping| mapping.target.rank());
                for wrong in ranks.filter(|&found| found != rank) {
                    let (found, expected) = (wrong as u64, rank as u64);
                    self.expect(
                        name_of::<VirtualMappings>(),
                        id.collection,
                        "rank of a mapping",
                        found,
                        expected,
                    );
                }
            }
        }
    }

    /// Combines the messages of a dataset. Returns `None` if they cannot be read or do not fit together.
    fn described(&mut self, header: &ObjectHeader, at: Addr) -> Option<Described> {
        let name = name_of::<ObjectHeader>();
        for (kind, what) in [(kind::DATASPACE, "dataspace"), (kind::DATATYPE, "datatype")] {
            if header.find(kind).is_none() {
                self.wrong(name, at, format_args!("the {what} message of a dataset is missing"));
            }
        }
        let (dataspace, datatype) = (self.message::<Dataspace>(header)?, self.message::<Datatype>(header)?);
        let element_bytes = datatype.size(self.store.widths());
        let Some(bytes) = dataspace.elements().and_then(|count| count.checked_mul(element_bytes)) else {
            self.wrong(name_of::<Dataspace>(), at, "the size of all elements overflows");
            return None;
        };
        let max_shape = match &dataspace {
            Dataspace::Simple { max_shape, .. } => max_shape.clone(),
            Dataspace::Null | Dataspace::Scalar => None,
        };
        let filters = match header.find(kind::FILTER_PIPELINE) {
            Some(_) => self.message::<FilterPipeline>(header)?,
            None => FilterPipeline { version: 2, filters: Vec::new() },
        };
        Some(Described {
            at,
            shape: dataspace.shape().to_vec(),
            max_shape,
            datatype,
            element_bytes,
            bytes,
            filters,
        })
    }

    fn contiguous(&mut self, extent: Extent, version: u8, described: &Described) {
        if extent.addr.is_undefined() || described.bytes == 0 {
            return;
        }
        // The dimensions in versions 1 and 2 of the message have 32 bits each, so they may be too small for
        // the size.
        let stated = if version < 3 { described.bytes } else { extent.len };
        if stated < described.bytes {
            return self.too_short(described.at, stated, described.bytes);
        }
        if !self.claim(RAW_DATA, extent.addr) || !self.cover(Extent::new(extent.addr, stated), RAW_DATA) {
            return;
        }
        if self.reads_elements(described) {
            self.contiguous_values(Extent::new(extent.addr, described.bytes), described);
        } else {
            self.not_followed(&described.datatype);
        }
    }

    fn too_short(&mut self, at: Addr, have: u64, needed: u64) {
        let message = format!("the layout has {have} bytes, but the elements need {needed}");
        self.wrong(name_of::<LayoutMessage>(), at, message);
    }
}
