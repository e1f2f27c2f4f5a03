//! A dataset that the engine writes: how its chunks are stored.

use std::ffi::{c_int, c_void};

use hyperslab::datatype::Datatype;
use hyperslab::storage::{FillBytes, FilterSpec};

use crate::chunks::Form;
use crate::dataset::WIDTHS;
use crate::ffi::library::Library;
use crate::ffi::types::{Handle, Hid, Optional};
use crate::file::no_request;
use crate::native::{Get, get};
use crate::object::Object;
use crate::rules::{Reason, Ruled};
use crate::transfer;

/// `H5D_CHUNKED`
const CHUNKED: c_int = 2;
/// The most dimensions (`H5S_MAX_RANK`).
const MOST_DIMENSIONS: c_int = 32;
/// The most parameters of a filter that are asked for.
const MOST_PARAMETERS: usize = 256;
/// The filters that do not compress: shuffle, Fletcher-32 and N-bit.
const KEEP_THE_SIZE: [u16; 3] = [2, 3, 5];
/// The filters that may change values: scale-offset and ZFP.
const LOSSY: [u16; 2] = [6, 32_013];
/// `H5VL_NATIVE_DATASET_GET_CHUNK_STORAGE_SIZE`
const GET_CHUNK_SIZE: c_int = 2;
/// `H5VL_NATIVE_DATASET_CHUNK_WRITE`
const WRITE_CHUNK: c_int = 7;

/// A dataset whose chunks the engine can encode.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) form: Form,
}

impl Target {
    /// Returns how a dataset stores its chunks, if the engine stores the same elements.
    pub(crate) fn of(object: &Object) -> Ruled<Self> {
        let library = object.library;
        object.file.check_has(library, object.dataset.key(object)?.0)?;
        object.file.check_writable(library)?;
        let file_type = get(library, object.under, Get::Type).ok_or(Reason::Conversion)?;
        let creation = get(library, object.under, Get::Creation).ok_or(Reason::Layout);
        let form = creation.and_then(|creation| {
            let form = form(library, creation, file_type);
            // SAFETY: the property list was made for us.
            unsafe { (library.functions.list_close)(creation) };
            form
        });
        // SAFETY: the datatype was made for us.
        unsafe { (library.functions.type_close)(file_type) };
        Ok(Self { form: form? })
    }
}

/// Returns whether the elements of a dataset are those of other datasets.
pub(crate) fn is_virtual(object: &Object) -> bool {
    /// `H5D_VIRTUAL`
    const VIRTUAL: c_int = 3;
    let library = object.library;
    get(library, object.under, Get::Creation).is_some_and(|creation| {
        // SAFETY: the property list was made for us.
        unsafe {
            let layout = (library.functions.layout)(creation);
            (library.functions.list_close)(creation);
            layout == VIRTUAL
        }
    })
}

/// Returns what a property list for the creation of a dataset says of its chunks.
fn form(library: &Library, creation: Hid, file_type: Hid) -> Ruled<Form> {
    let calls = &library.functions;
    let datatype = transfer::datatype(library, file_type)?;
    if datatype.has_variable_parts() || datatype.has_references() {
        return Err(Reason::Datatype);
    }
    let (mut chunk, mut edges) = ([0_u64; MOST_DIMENSIONS.cast_unsigned() as usize], 0);
    // SAFETY: a property list of a dataset, and places with room for the values that are stored there.
    let (rank, filters) = unsafe {
        if (calls.layout)(creation) != CHUNKED
            || (calls.chunk_options)(creation, &raw mut edges) < 0
            || edges != 0
        {
            return Err(Reason::Layout);
        }
        ((calls.chunk)(creation, MOST_DIMENSIONS, chunk.as_mut_ptr()), (calls.filter_count)(creation))
    };
    let rank = usize::try_from(rank).map_err(|_| Reason::Layout)?;
    let filters = (0..u32::try_from(filters).map_err(|_| Reason::Filter)?)
        .map(|number| filter(library, creation, number))
        .collect::<Ruled<Vec<_>>>()?;
    match filters.iter().filter(|filter| !KEEP_THE_SIZE.contains(&filter.id)).count() {
        0 => return Err(Reason::Uncompressed),
        1 => {}
        // One of them may be skipped in a chunk that is smaller than its elements.
        _ => return Err(Reason::Filter),
    }
    if filters.iter().any(|filter| LOSSY.contains(&filter.id)) {
        return Err(Reason::Lossy);
    }
    let fill = fill(library, creation, file_type, &datatype)?;
    Ok(Form { datatype, chunk: chunk[..rank].to_vec(), filters, fill })
}

fn filter(library: &Library, creation: Hid, number: u32) -> Ruled<FilterSpec> {
    let mut parameters = [0_u32; MOST_PARAMETERS];
    let (mut flags, mut count, mut config) = (0_u32, MOST_PARAMETERS, 0_u32);
    // SAFETY: the places have room for the values that are stored there; a name is not asked for.
    let id = unsafe {
        (library.functions.filter)(
            creation,
            number,
            &raw mut flags,
            &raw mut count,
            parameters.as_mut_ptr(),
            0,
            std::ptr::null_mut(),
            &raw mut config,
        )
    };
    let id = u16::try_from(id).map_err(|_| Reason::Filter)?;
    let client_data = parameters.get(..count).ok_or(Reason::Filter)?.to_vec();
    let flags = u16::try_from(flags & 0xffff).map_err(|_| Reason::Filter)?;
    Ok(FilterSpec { id, name: None, flags, client_data })
}

/// Returns the fill value in the datatype of the file.
fn fill(library: &Library, creation: Hid, file_type: Hid, datatype: &Datatype) -> Ruled<FillBytes> {
    /// `H5D_FILL_VALUE_USER_DEFINED`
    const DEFINED: c_int = 2;
    let mut status = 0;
    let size = usize::try_from(datatype.size(WIDTHS)).map_err(|_| Reason::Datatype)?;
    // SAFETY: the value has the size of the datatype that it is asked for in.
    unsafe {
        if (library.functions.fill_status)(creation, &raw mut status) < 0 {
            return Err(Reason::Layout);
        }
        if status != DEFINED {
            return Ok(FillBytes::Default);
        }
        let mut value = vec![0_u8; size];
        let found = (library.functions.fill_value)(creation, file_type, value.as_mut_ptr().cast());
        if found < 0 { Err(Reason::Layout) } else { Ok(FillBytes::Defined(value)) }
    }
}

/// `H5VL_native_dataset_get_chunk_storage_size_t`
#[repr(C)]
struct ChunkSize {
    first: *const u64,
    size: *mut u64,
}

/// Returns the size of a chunk as it is stored now: 0 if it is not stored, which is an error for libhdf5.
fn stored_size(library: &Library, native: Handle, first: &[u64]) -> u64 {
    let mut size = 0;
    let mut arguments = ChunkSize { first: first.as_ptr(), size: &raw mut size };
    let arguments: *mut c_void = std::ptr::from_mut(&mut arguments).cast();
    let mut operation = Optional { kind: GET_CHUNK_SIZE, arguments };
    // SAFETY: the dataset is open, `first` has a number for each dimension, and the place is valid.
    let done = library.quietly(|| unsafe {
        (library.functions.dataset_optional)(
            native,
            library.native(),
            std::ptr::from_mut(&mut operation).cast(),
            library.default_transfer(),
            no_request(),
        )
    });
    match done {
        None => u64::MAX,
        Some(failed) if failed < 0 => 0,
        Some(_) => size,
    }
}

/// `H5VL_native_dataset_chunk_write_t` of libhdf5 1.14.
#[repr(C)]
struct WriteChunk1 {
    first: *const u64,
    mask: u32,
    len: u32,
    bytes: *const c_void,
}

/// The same of libhdf5 2.
#[repr(C)]
struct WriteChunk2 {
    first: *const u64,
    mask: u32,
    len: usize,
    bytes: *const c_void,
}

/// Stores a chunk in its stored form, for which no filter was skipped. Returns whether it succeeded.
///
/// A chunk that is stored without compression is left as it is: libhdf5 would go on to use the filters
/// that were skipped for that one (its `H5D__chunk_direct_write` does not update what it remembers of the
/// last chunk).
pub(crate) fn write_chunk(
    library: &Library,
    native: Handle,
    form: &Form,
    first: &[u64],
    bytes: &[u8],
) -> bool {
    let Ok(len) = u32::try_from(bytes.len()) else { return false };
    if form.chunk_bytes().is_ok_and(|raw| stored_size(library, native, first) >= raw as u64) {
        return false;
    }
    let (first, bytes) = (first.as_ptr(), bytes.as_ptr().cast::<c_void>());
    let mut one = WriteChunk1 { first, mask: 0, len, bytes };
    let mut two = WriteChunk2 { first, mask: 0, len: len as usize, bytes };
    let arguments: *mut c_void = match library.version[0] {
        0 | 1 => std::ptr::from_mut(&mut one).cast(),
        _ => std::ptr::from_mut(&mut two).cast(),
    };
    let mut operation = Optional { kind: WRITE_CHUNK, arguments };
    // SAFETY: the dataset is open, `first` has a number for each dimension, and the bytes stay until the
    // call ends.
    unsafe {
        (library.functions.dataset_optional)(
            native,
            library.native(),
            std::ptr::from_mut(&mut operation).cast(),
            library.default_transfer(),
            no_request(),
        ) >= 0
    }
}
