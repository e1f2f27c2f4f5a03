//! Reading and writing the elements of datasets.

use std::borrow::Cow;
use std::ffi::c_void;
use std::mem::MaybeUninit;

use hyperslab::datatype::{Datatype, Padding};
use hyperslab::internals::StoredIds;
use hyperslab::{Dataset, Destination, File, ReadOptions, Selection, WriteOptions};
use hyperslab_convert::{Conversion, text_of};

use crate::codes::{HS_NATIVE, HS_STORED, HS_STRING};
use crate::failure::{Failure, guard};
use crate::handle;
use crate::items::{self, ItemKind};
use crate::pointers;
use crate::structs::{hs_dataset, hs_io_options, hs_items, hs_selection};
use crate::transfer::{Chosen, Transfer, bytes_of};
use crate::types::{self, Named};

/// Reads the elements of `selection` into `out`, in row-major order, in the type `type`. With NULL for
/// `selection`, all elements. After an error, `out` has unspecified values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_read(
    dataset: *mut hs_dataset,
    selection: *const hs_selection,
    r#type: i32,
    out: *mut c_void,
    options: *const hs_io_options,
) -> i32 {
    guard(|| {
        let dataset = handle::dataset(dataset.addr())?;
        // SAFETY: the pointers are those of the caller, who keeps what the interface says.
        let chosen = unsafe { Chosen::of(selection, &dataset) }?;
        if options.is_null() && dataset.is_as_stored(r#type) {
            let bytes = bytes_of(chosen.elements, dataset.element_size)?;
            // SAFETY: as above: the caller has room for all elements of the selection.
            let out = unsafe { pointers::room("out", out.cast::<u8>(), bytes) }?;
            return chosen.read(&dataset, &mut Destination::contiguous(out), &ReadOptions::default());
        }
        // SAFETY: as above.
        let transfer = unsafe { Transfer::of(r#type, options, dataset.rank) }?;
        let (stored, widths) = (&*dataset.datatype, dataset.widths);
        let datatype = transfer.named.in_memory(stored, widths)?;
        let element_size = datatype.size(widths);
        let options = ReadOptions::default().threads(transfer.threads).datatype(other(datatype, stored));
        let Some(strides) = transfer.strides else {
            let bytes = transfer.bytes_of(chosen.elements, element_size)?;
            // SAFETY: as above: the caller has room for all elements of the selection.
            let out = unsafe { pointers::room("out", out.cast::<u8>(), bytes) }?;
            return chosen.read(&dataset, &mut Destination::contiguous(out), &options);
        };
        let result = chosen.shape();
        let bytes = transfer.span_of(&result, strides, element_size)?;
        let size = |len: u64| usize::try_from(len).unwrap_or(usize::MAX);
        let strides: Vec<usize> = strides.iter().map(|&stride| size(stride)).collect();
        let out = pointers::place("out", out.cast::<u8>(), bytes)?;
        // SAFETY: as above: the caller has room from the first to the last element. Its other threads may use
        // what is between the elements.
        let mut out = unsafe { Destination::from_raw(out, bytes, &result, &strides, size(element_size)) }?;
        chosen.read(&dataset, &mut out, &options)
    })
}

/// Writes `data`, the elements of `selection` in row-major order, in the type `type`. With NULL for
/// `selection`, all elements. Numbers that the type in the file cannot hold become the nearest that it can.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_write(
    dataset: *mut hs_dataset,
    selection: *const hs_selection,
    r#type: i32,
    data: *const c_void,
    options: *const hs_io_options,
) -> i32 {
    guard(|| {
        let dataset = handle::dataset(dataset.addr())?;
        // SAFETY: the pointers are those of the caller, who keeps what the interface says.
        let (chosen, transfer) = unsafe {
            (
                Chosen::of(selection, &dataset)?,
                Transfer::of(r#type, options, dataset.rank)?.without_strides()?,
            )
        };
        let (stored, widths) = (&*dataset.datatype, dataset.widths);
        let datatype = transfer.named.in_memory(stored, widths)?;
        if stored.has_variable_parts() || datatype.has_variable_parts() {
            let why = "texts and sequences of variable length are written by hs_write_items";
            return Err(Failure::argument("type", why));
        }
        let bytes = transfer.bytes_of(chosen.elements, datatype.size(widths))?;
        // SAFETY: as above: the caller has all elements of the selection.
        let data = unsafe { pointers::array("data", data.cast::<u8>(), bytes) }?;
        let options = WriteOptions::default().threads(transfer.threads).datatype(other(datatype, stored));
        chosen.write(&dataset, data, &options)
    })
}

/// Reads the texts (of variable or fixed length) or sequences of `selection`. `type` is the type of the
/// elements of sequences; `HS_STRING` for texts. With NULL for `selection`, all elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_read_items(
    dataset: *mut hs_dataset,
    selection: *const hs_selection,
    r#type: i32,
    items: *mut hs_items,
) -> i32 {
    guard(|| {
        // SAFETY: the pointers are those of the caller, who keeps what the interface says.
        let place = unsafe { pointers::items("items", items) }?;
        let dataset = handle::dataset(dataset.addr())?;
        let file = dataset.file();
        // SAFETY: as above.
        let chosen = unsafe { Chosen::of(selection, &dataset) }?;
        // The ids stay those of the data until both are read.
        let _kept = file.reading_vlen();
        let mut stored = zeros(chosen.elements, dataset.element_size())?;
        chosen.read(&dataset, &mut Destination::contiguous(&mut stored), &ReadOptions::default())?;
        put_items(place, file, &dataset.datatype, &stored, r#type)
    })
}

/// Writes texts (`HS_STRING`) or sequences of elements of `type` to the elements of `selection`. Item `i` is
/// the `lengths[i]` bytes at `items[i]`; with NULL for `lengths`, the text at `items[i]`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_write_items(
    dataset: *mut hs_dataset,
    selection: *const hs_selection,
    r#type: i32,
    items: *const *const c_void,
    lengths: *const u64,
    count: usize,
) -> i32 {
    guard(|| {
        let dataset = handle::dataset(dataset.addr())?;
        // SAFETY: the pointers are those of the caller, who keeps what the interface says.
        let (chosen, items) = unsafe {
            // Without lengths, the items are texts, which end with a zero.
            if !matches!(*dataset.datatype, Datatype::Text(_) | Datatype::VariableText(_)) {
                check_lengths(lengths, count)?;
            }
            (Chosen::of(selection, &dataset)?, pointers::parts("items", items, lengths, count)?)
        };
        if chosen.elements != count as u64 {
            let why = format!("it is {count}, and the selection has {} elements", chosen.elements);
            return Err(Failure::argument("count", why));
        }
        if dataset.is_null {
            return Ok(());
        }
        write_items(&dataset, &chosen.what, r#type, &items)
    })
}

/// Checks that sequences have lengths: they do not end with a zero, as texts do.
pub(super) fn check_lengths(lengths: *const u64, count: usize) -> Result<(), Failure> {
    if lengths.is_null() && count > 0 {
        return Err(Failure::argument(
            "lengths",
            "sequences of numbers need them: only texts end with a zero",
        ));
    }
    Ok(())
}

/// Returns the datatype in memory, if it is another one than that in the file.
fn other(datatype: Cow<'_, Datatype>, stored: &Datatype) -> Option<Datatype> {
    match datatype {
        Cow::Borrowed(_) => None,
        Cow::Owned(datatype) => (datatype != *stored).then_some(datatype),
    }
}

fn write_items(dataset: &Dataset, what: &Selection, code: i32, items: &[&[u8]]) -> Result<(), Failure> {
    let (stored, widths) = (dataset.datatype(), dataset.file().store().widths());
    match &*stored {
        Datatype::VariableText(_) => {
            check_text_code(code)?;
            check_texts(items)?;
            Ok(dataset.replace_vlen(what, items)?)
        }
        Datatype::Text(text) => {
            check_text_code(code)?;
            check_texts(items)?;
            let size = text.size as usize;
            let room = if text.padding == Padding::NullTerminated { size.saturating_sub(1) } else { size };
            let pad = if text.padding == Padding::SpacePadded { b' ' } else { 0 };
            let mut bytes = Vec::new();
            for item in items {
                if item.len() > room {
                    let why = format!("a text of {} bytes, and the dataset has room for {room}", item.len());
                    return Err(Failure::request(why));
                }
                let end = bytes.len() + size;
                bytes.extend_from_slice(item);
                bytes.resize(end, pad);
            }
            Ok(dataset.write_with(what, &bytes, &WriteOptions::default())?)
        }
        Datatype::Sequence(base) => {
            let datatype = Named { code, message: &[] }.in_memory(base, widths)?;
            types::vlen_kind(&stored, widths)?;
            let conversion = Conversion::with_widths(&datatype, base, widths)?;
            let converted =
                items.iter().map(|item| converted(&conversion, item)).collect::<Result<Vec<_>, _>>()?;
            Ok(dataset.replace_vlen(what, &converted)?)
        }
        _ => Err(no_items()),
    }
}

/// Hands out the texts or sequences that are stored in `elements`.
pub(super) fn put_items(
    place: &mut MaybeUninit<hs_items>,
    file: &File,
    datatype: &Datatype,
    elements: &[u8],
    code: i32,
) -> Result<(), Failure> {
    let widths = file.store().widths();
    let pitch = usize::try_from(datatype.size(widths)).unwrap_or(usize::MAX).max(1);
    match datatype {
        Datatype::Text(text) => {
            check_text_code(code)?;
            let texts = elements.chunks_exact(pitch).map(|element| text_of(element, text.padding));
            items::put(place, ItemKind::Text, texts)
        }
        Datatype::VariableText(_) => {
            check_text_code(code)?;
            let found = file.vlen_items(&StoredIds::new(elements, 0, pitch, widths), 1)?;
            let texts = (0..found.len()).map(|index| text_of(found.get(index), Padding::NullTerminated));
            items::put(place, ItemKind::Text, texts)
        }
        Datatype::Sequence(base) => {
            let datatype = Named { code, message: &[] }.in_memory(base, widths)?;
            let size = usize::try_from(base.size(widths)).unwrap_or(usize::MAX);
            let found = file.vlen_items(&StoredIds::new(elements, 0, pitch, widths), size)?;
            let conversion = Conversion::with_widths(base, &datatype, widths)?;
            if conversion.is_identity() {
                return items::put(place, ItemKind::Data, (0..found.len()).map(|index| found.get(index)));
            }
            let converted = found.iter().map(|item| converted(&conversion, item));
            let converted = converted.collect::<Result<Vec<_>, _>>()?;
            items::put(place, ItemKind::Data, converted.iter().map(Vec::as_slice))
        }
        _ => Err(no_items()),
    }
}

fn no_items() -> Failure {
    let why = "its elements are no texts or sequences: use hs_read or hs_write, and for parts hs_resolve";
    Failure::request(format!("items: {why}"))
}

/// Checks the code for elements that are texts.
fn check_text_code(code: i32) -> Result<(), Failure> {
    match code {
        HS_STRING | HS_STORED | HS_NATIVE => Ok(()),
        _ => Err(Failure::argument("type", "the elements are texts: it is HS_STRING")),
    }
}

/// Refuses texts that readers would cut short.
pub(super) fn check_texts(texts: &[&[u8]]) -> Result<(), Failure> {
    for (index, text) in texts.iter().enumerate() {
        if text.contains(&0) {
            return Err(Failure::argument(
                "items",
                format!("text {index} has a zero byte, where it would end"),
            ));
        }
        if std::str::from_utf8(text).is_err() {
            return Err(Failure::argument("items", format!("text {index} is not UTF-8")));
        }
    }
    Ok(())
}

/// Returns the elements of a sequence in another type.
fn converted(conversion: &Conversion, item: &[u8]) -> Result<Vec<u8>, Failure> {
    let size = conversion.src_size();
    if size == 0 || !item.len().is_multiple_of(size) {
        let why = format!("{} bytes are no whole number of elements of {size} bytes", item.len());
        return Err(Failure::argument("items", why));
    }
    let mut bytes = zeros((item.len() / size) as u64, conversion.dst_size())?;
    conversion.apply(item, &mut bytes, item.len() / size)?;
    Ok(bytes)
}

/// Returns zeros for elements, or an error if memory has no room for them.
fn zeros(elements: u64, element_size: usize) -> Result<Vec<u8>, Failure> {
    let bytes = elements.checked_mul(element_size as u64).and_then(|bytes| usize::try_from(bytes).ok());
    let none = || Failure::request(format!("no memory for {elements} elements: select fewer"));
    let bytes = bytes.ok_or_else(none)?;
    let mut zeros = Vec::new();
    zeros.try_reserve_exact(bytes).map_err(|_| none())?;
    zeros.resize(bytes, 0);
    Ok(zeros)
}
