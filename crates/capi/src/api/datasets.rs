//! Datasets: opened, created, described, resized.

use std::ffi::{c_char, c_void};
use std::ptr;
use std::sync::Arc;

use hyperslab::filter::{Filter, FilterId};
use hyperslab::storage::{DatasetOptions, NewStorage};
use hyperslab::storage::{FillBytes, FilterSpec};
use hyperslab::{Dataset, Dataspace};
use hyperslab_convert::Conversion;
use hyperslab_format::Widths;

use super::files::flag;
use crate::arrays;
use crate::codes::{
    HS_FILTER_MANDATORY, HS_FILTER_OPTIONAL, HS_LAYOUT_CHUNKED, HS_LAYOUT_COMPACT, HS_LAYOUT_CONTIGUOUS,
    HS_LAYOUT_DEFAULT, HS_MAX_RANK, HS_UNLIMITED,
};
use crate::failure::{Failure, guard};
use crate::handle::{self, HandleEntry};
use crate::items::{self, ItemKind};
use crate::opened::Opened;
use crate::pointers;
use crate::structs::{
    hs_array_info, hs_dataset, hs_dataset_options, hs_file, hs_filter, hs_io_options, hs_items,
};
use crate::transfer::Transfer;
use crate::types::{self, Named};

/// Opens the dataset at `path`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_dataset_open(
    file: *mut hs_file,
    path: *const c_char,
    dataset: *mut *mut hs_dataset,
) -> i32 {
    guard(|| {
        // SAFETY: the pointers are those of the caller, who keeps what the interface says.
        let (place, path) = unsafe {
            let place = pointers::handle("dataset", dataset)?;
            (place, pointers::text("path", path)?)
        };
        *place = handle(handle::file(file.addr())?.dataset(path)?)?;
        Ok(())
    })
}

/// Creates a dataset at `path`, and missing groups on the way, and opens it. `dataset` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_dataset_create(
    file: *mut hs_file,
    path: *const c_char,
    options: *const hs_dataset_options,
    dataset: *mut *mut hs_dataset,
) -> i32 {
    guard(|| {
        // SAFETY: the pointers are those of the caller, who keeps what the interface says.
        let (place, path, given) = unsafe {
            let place = if dataset.is_null() { None } else { Some(pointers::handle("dataset", dataset)?) };
            (place, pointers::text("path", path)?, pointers::given("options", options)?)
        };
        let file = handle::file(file.addr())?;
        // SAFETY: as above.
        let options = unsafe { new(&given, file.store().widths()) }?;
        let created = file.root().create_dataset(path, &options)?;
        if let Some(place) = place {
            *place = handle(created)?;
        }
        Ok(())
    })
}

/// Closes the handle of a dataset.
#[unsafe(no_mangle)]
pub extern "C" fn hs_dataset_close(dataset: *mut hs_dataset) -> i32 {
    guard(|| handle::close_dataset(dataset.addr()))
}

/// Describes the array of a dataset.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_dataset_info(dataset: *mut hs_dataset, info: *mut hs_array_info) -> i32 {
    guard(|| {
        // SAFETY: the pointers are those of the caller, who keeps what the interface says.
        let (place, given) = unsafe { pointers::filled("info", info) }?;
        let dataset = handle::dataset(dataset.addr())?;
        place.put(&arrays::of_dataset(&dataset, given.wanted)?);
        Ok(())
    })
}

/// Returns the datatype message of a dataset, as one item.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_type(dataset: *mut hs_dataset, message: *mut hs_items) -> i32 {
    guard(|| {
        // SAFETY: the pointers are those of the caller, who keeps what the interface says.
        let place = unsafe { pointers::items("message", message) }?;
        let dataset = handle::dataset(dataset.addr())?;
        let bytes = types::message(&dataset.datatype(), dataset.file().store().widths());
        items::put(place, ItemKind::Data, std::iter::once(&bytes[..]))
    })
}

/// Returns the filters of a dataset. Item `i` is an array of `uint32_t`: the number of filter `i`, its flags
/// as they are stored, and its parameters.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_filters(dataset: *mut hs_dataset, filters: *mut hs_items) -> i32 {
    guard(|| {
        // SAFETY: the pointers are those of the caller, who keeps what the interface says.
        let place = unsafe { pointers::items("filters", filters) }?;
        let pipeline = handle::dataset(dataset.addr())?.filters();
        let words = |filter: &FilterSpec| {
            let mut words = vec![u32::from(filter.id), filter.flags.into()];
            words.extend(&filter.client_data);
            words
        };
        let filters: Vec<Vec<u32>> = pipeline.filters.iter().map(words).collect();
        items::put(place, ItemKind::Data, filters.iter().map(|words| bytemuck::cast_slice(words)))
    })
}

/// Reads the value of elements that were never written into `out`, in the type `type`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_fill_value(
    dataset: *mut hs_dataset,
    r#type: i32,
    out: *mut c_void,
    options: *const hs_io_options,
) -> i32 {
    guard(|| {
        // SAFETY: the pointers are those of the caller, who keeps what the interface says.
        let transfer = unsafe { Transfer::of(r#type, options, HS_MAX_RANK) }?.without_strides()?;
        let dataset = handle::dataset(dataset.addr())?;
        let (stored, widths) = (dataset.datatype(), dataset.file().store().widths());
        let datatype = transfer.named.in_memory(&stored, widths)?;
        let conversion = Conversion::with_widths(&stored, &datatype, widths)?;
        let value = match dataset.fill_value().value {
            FillBytes::Default => vec![0; conversion.src_size()],
            FillBytes::Undefined => {
                let path = dataset.path();
                return Err(Failure::not_found(format!(
                    "{path}: elements that were never written have no value"
                )));
            }
            FillBytes::Defined(value) => value,
        };
        let bytes = transfer.bytes_of(1, conversion.dst_size() as u64)?;
        // SAFETY: as above.
        let out = unsafe { pointers::room("out", out.cast::<u8>(), bytes) }?;
        Ok(conversion.apply(&value, out, 1)?)
    })
}

/// Changes the shape of a dataset in chunks, up to its maximum shape. New elements have the fill value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_resize(dataset: *mut hs_dataset, rank: u32, shape: *const u64) -> i32 {
    guard(|| {
        // SAFETY: the pointers are those of the caller, who keeps what the interface says.
        let shape = unsafe { pointers::array("shape", shape, rank as usize) }?;
        Ok(handle::dataset(dataset.addr())?.resize(shape)?)
    })
}

fn handle(dataset: Dataset) -> Result<*mut hs_dataset, Failure> {
    handle::insert(HandleEntry::Dataset(Arc::new(Opened::new(dataset)))).map(ptr::without_provenance_mut)
}

/// Returns the properties of a new dataset.
unsafe fn new(given: &hs_dataset_options, widths: Widths) -> Result<DatasetOptions, Failure> {
    let rank = given.rank as usize;
    if rank > HS_MAX_RANK {
        return Err(Failure::argument("options.rank", format!("it is {rank}, at most {HS_MAX_RANK}")));
    }
    // SAFETY: the caller has a number for each dimension, where the pointer is not null, and as many bytes
    // and filters as the options say.
    let (message, shape, max_shape, chunk, filters, words) = unsafe {
        let optional = |what, pointer: *const u64| {
            if pointer.is_null() { Ok(None) } else { pointers::array(what, pointer, rank).map(Some) }
        };
        (
            pointers::array(
                "options.type_message",
                given.type_message.cast::<u8>(),
                given.type_message_size,
            )?,
            pointers::array("options.shape", given.shape, rank)?,
            optional("options.max_shape", given.max_shape)?,
            optional("options.chunk", given.chunk)?,
            pointers::array("options.filters", given.filters, given.filter_count)?,
            pointers::optional_text("options.filter_words", given.filter_words)?,
        )
    };
    let datatype = Named { code: given.r#type, message }.of_new(widths)?;
    let element_size = datatype.size(widths);
    let max_shape = max_shape
        .map(|lens| lens.iter().map(|&len| (len != HS_UNLIMITED).then_some(len)).collect::<Vec<_>>());
    let dataspace = match rank {
        0 => Dataspace::Scalar,
        _ => Dataspace::Simple { shape: shape.to_vec(), max_shape },
    };
    let mut options = DatasetOptions::new(dataspace, datatype);
    options.track_order = flag("options.track_order", given.track_order)?;
    if !given.fill_value.is_null() {
        if options.datatype.has_variable_parts() {
            let why = "elements of variable length have none here: set it to NULL";
            return Err(Failure::argument("options.fill_value", why));
        }
        let len = usize::try_from(element_size).unwrap_or(usize::MAX);
        // SAFETY: as above: one element.
        let value = unsafe { pointers::array("options.fill_value", given.fill_value.cast::<u8>(), len) }?;
        options.fill = FillBytes::Defined(value.to_vec());
    }
    let mut choices = Vec::new();
    for filter in filters {
        // SAFETY: as above.
        choices.push(unsafe { choice(filter) }?);
    }
    for word in words.unwrap_or_default().split_whitespace() {
        let parsed = word.parse::<Filter>();
        choices.push(parsed.map_err(|error| Failure::argument("options.filter_words", error))?);
    }
    let storage = match (given.layout, chunk) {
        (HS_LAYOUT_DEFAULT | HS_LAYOUT_CHUNKED, Some(chunk)) => Some(NewStorage::Chunked(chunk.to_vec())),
        (HS_LAYOUT_DEFAULT, None) => None,
        (HS_LAYOUT_CHUNKED, None) => Some(NewStorage::Chunked(options.suitable_chunk(widths))),
        (HS_LAYOUT_COMPACT, None) => Some(NewStorage::Compact),
        (HS_LAYOUT_CONTIGUOUS, None) => Some(NewStorage::Contiguous),
        (HS_LAYOUT_COMPACT | HS_LAYOUT_CONTIGUOUS, Some(_)) => {
            return Err(Failure::argument(
                "options.layout",
                "only a dataset in chunks has a shape of chunks",
            ));
        }
        (other, _) => {
            return Err(Failure::argument("options.layout", format!("{other} is no layout to create")));
        }
    };
    let mut options = options.stored(storage, &choices, widths)?;
    for (given, stored) in filters.iter().zip(&mut options.filters) {
        stored.flags = match given.flags {
            0 => stored.flags,
            HS_FILTER_OPTIONAL => 1,
            HS_FILTER_MANDATORY => 0,
            other => return Err(Failure::argument("filter.flags", format!("{other} is not known"))),
        };
    }
    Ok(options)
}

/// Returns a filter with its parameters.
unsafe fn choice(filter: &hs_filter) -> Result<Filter, Failure> {
    // SAFETY: the caller has as many values as the filter says.
    let values = unsafe { pointers::array("filter.values", filter.values, filter.value_count as usize) }?;
    let values: Vec<i64> = values.iter().map(|&value| value.into()).collect();
    let choice = Filter::from_parameters(FilterId(filter.id), &values);
    let choice = choice.map_err(|error| Failure::argument("options.filters", error))?;
    if matches!(choice, Filter::Registered { .. }) {
        let why = format!("{} is no filter of hyperslab", filter.id);
        return Err(Failure::argument("filter.id", why));
    }
    Ok(choice)
}
