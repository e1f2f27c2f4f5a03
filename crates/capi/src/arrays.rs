//! What the library says of the arrays of datasets and attributes.

use hyperslab::datatype::Datatype;
use hyperslab::storage::FillBytes;
use hyperslab::{Attribute, Dataset, Dataspace};
use hyperslab_format::Widths;
use hyperslab_format::layout::Layout;

use crate::codes::{
    HS_FILL_DEFAULT, HS_FILL_DEFINED, HS_FILL_UNDEFINED, HS_LAYOUT_CHUNKED, HS_LAYOUT_COMPACT,
    HS_LAYOUT_CONTIGUOUS, HS_LAYOUT_EXTERNAL, HS_LAYOUT_VIRTUAL, HS_MAX_RANK, HS_SPACE_NULL, HS_SPACE_SCALAR,
    HS_SPACE_SIMPLE, HS_UNLIMITED, HS_WANT_STORAGE,
};
use crate::failure::Failure;
use crate::structs::hs_array_info;
use crate::types;

/// Describes an array with this dataspace and datatype.
fn of_space(space: &Dataspace, datatype: &Datatype, widths: Widths, address: u64) -> hs_array_info {
    let mut info = hs_array_info {
        size: 0,
        wanted: 0,
        rank: 0,
        space: HS_SPACE_SIMPLE,
        r#type: types::code_of(datatype),
        type_class: datatype.class().into(),
        layout: HS_LAYOUT_COMPACT,
        fill: HS_FILL_UNDEFINED,
        filter_count: 0,
        element_size: datatype.size(widths),
        elements: space.elements().unwrap_or(0),
        address,
        storage_bytes: 0,
        shape: [0; HS_MAX_RANK],
        max_shape: [0; HS_MAX_RANK],
        chunk: [0; HS_MAX_RANK],
    };
    match space {
        Dataspace::Null => info.space = HS_SPACE_NULL,
        Dataspace::Scalar => info.space = HS_SPACE_SCALAR,
        Dataspace::Simple { shape, max_shape } => {
            info.rank = u32::try_from(shape.len()).unwrap_or(u32::MAX);
            put(&mut info.shape, shape.iter().copied());
            match max_shape {
                Some(max) => put(&mut info.max_shape, max.iter().map(|len| len.unwrap_or(HS_UNLIMITED))),
                None => info.max_shape = info.shape,
            }
        }
    }
    info
}

fn put(places: &mut [u64; HS_MAX_RANK], lens: impl Iterator<Item = u64>) {
    places.iter_mut().zip(lens).for_each(|(place, len)| *place = len);
}

/// Describes a dataset.
pub(crate) fn of_dataset(dataset: &Dataset, wanted: u32) -> Result<hs_array_info, Failure> {
    check_wanted(wanted)?;
    let widths = dataset.file().store().widths();
    let mut info = of_space(&dataset.dataspace(), &dataset.datatype(), widths, dataset.address().get());
    info.wanted = wanted;
    info.layout = match dataset.layout() {
        _ if dataset.has_external_files() => HS_LAYOUT_EXTERNAL,
        Layout::Compact { .. } => HS_LAYOUT_COMPACT,
        Layout::Contiguous(_) => HS_LAYOUT_CONTIGUOUS,
        Layout::Chunked(_) => HS_LAYOUT_CHUNKED,
        Layout::Virtual { .. } => HS_LAYOUT_VIRTUAL,
    };
    info.fill = match dataset.fill_value().value {
        FillBytes::Default => HS_FILL_DEFAULT,
        FillBytes::Undefined => HS_FILL_UNDEFINED,
        FillBytes::Defined(_) => HS_FILL_DEFINED,
    };
    info.filter_count = u32::try_from(dataset.filters().filters.len()).unwrap_or(u32::MAX);
    put(&mut info.chunk, dataset.chunk_shape().unwrap_or_default().into_iter());
    if wanted & HS_WANT_STORAGE != 0 {
        info.storage_bytes = dataset.storage_bytes()?;
    }
    Ok(info)
}

/// Refuses facts that are not known.
pub(crate) fn check_wanted(wanted: u32) -> Result<(), Failure> {
    if wanted & !HS_WANT_STORAGE == 0 {
        return Ok(());
    }
    let why = format!("{wanted:#x} is not known: set it to 0 or HS_WANT_STORAGE");
    Err(Failure::argument("info.wanted", why))
}

/// Describes an attribute of the object at `address`.
pub(crate) fn of_attribute(attribute: &Attribute, widths: Widths, address: u64) -> hs_array_info {
    of_space(&attribute.dataspace, &attribute.datatype, widths, address)
}
