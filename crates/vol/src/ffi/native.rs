//! Objects of the native connector, and what the plug-in asks of them.

use std::ffi::{c_int, c_void};
use std::os::fd::{BorrowedFd, OwnedFd};

use super::datatypes::OwnedDatatype;
use super::library::Library;
use super::lists::List;
use super::spaces::OwnedSpace;
use super::types::{DATASET, Handle, Hid, ItsOwnLocation, MoveElements, Operation, Optional, Request};
use crate::boxes::Box;

/// Nothing is done asynchronously.
const NO_REQUEST: Request = std::ptr::null_mut();

/// A dataset.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NativeDataset {
    library: &'static Library,
    handle: Handle,
}

// SAFETY: the handle is only used in calls of libhdf5, which it makes one at a time.
unsafe impl Send for NativeDataset {}

impl PartialEq for NativeDataset {
    fn eq(&self, other: &Self) -> bool {
        self.handle == other.handle
    }
}

/// What identifies a dataset of a library: the number of the file, and the address of the object.
pub(crate) type DatasetKey = (u64, u64);

/// A box of a dataset, whose elements are in memory at the beginning of an array of the shape `within`.
#[derive(Debug)]
pub(crate) struct MemoryBox<'a> {
    pub(crate) within: &'a [u64],
    pub(crate) at: &'a Box,
}

impl MemoryBox<'_> {
    /// # Panics
    ///
    /// If an array of `len` bytes does not have the shape `within`, of elements of `size` bytes.
    fn check(&self, len: usize, size: u64) {
        let bytes = self.within.iter().try_fold(size, |bytes, &len| bytes.checked_mul(len));
        assert_eq!(bytes, Some(len as u64), "an array of the shape {:?}", self.within);
    }
}

/// `H5VL_dataset_get_t`
#[derive(Debug, Clone, Copy)]
#[repr(i32)]
enum DatasetGet {
    Space = 2,
    Datatype = 5,
    Creation = 1,
}

/// What a read and a write of a box need.
struct BoxTransfer {
    datatype: OwnedDatatype,
    file: OwnedSpace,
    memory: OwnedSpace,
}

impl NativeDataset {
    /// # Safety
    ///
    /// The handle is a dataset of the library's native connector, and open as long as the result is used.
    pub(crate) unsafe fn new(library: &'static Library, handle: Handle) -> Self {
        Self { library, handle }
    }

    fn get(&self, what: DatasetGet) -> Option<Hid> {
        let mut operation = Operation::new(what as c_int);
        let library = self.library;
        // SAFETY: the dataset is open, and the operation stores an identifier.
        let done = unsafe {
            (library.functions.dataset_get)(
                self.handle,
                library.native(),
                operation.as_arguments(),
                library.default_transfer(),
                NO_REQUEST,
            )
        };
        (done >= 0).then(|| operation.id())
    }

    /// Returns the property list with which the dataset was created.
    pub(crate) fn creation(&self) -> Option<List> {
        List::new(self.library, self.get(DatasetGet::Creation)?)
    }

    pub(crate) fn space(&self) -> Option<OwnedSpace> {
        OwnedSpace::new(self.library, self.get(DatasetGet::Space)?)
    }

    /// Returns the datatype in the file.
    pub(crate) fn datatype(&self) -> Option<OwnedDatatype> {
        OwnedDatatype::new(self.library, self.get(DatasetGet::Datatype)?)
    }

    pub(crate) fn identity(&self) -> Option<DatasetKey> {
        // SAFETY: the dataset is open.
        unsafe { identity(self.library, self.handle, DATASET) }
    }

    fn elements(&self, place: &MemoryBox<'_>) -> Option<BoxTransfer> {
        let memory = OwnedSpace::with_extent(self.library, place.within)?;
        let (datatype, file) = (self.datatype()?, self.space()?);
        let origin = vec![0; place.within.len()];
        let is_selected =
            file.select(&place.at.start, &place.at.count) && memory.select(&origin, &place.at.count);
        is_selected.then_some(BoxTransfer { datatype, file, memory })
    }

    /// Reads a box into the beginning of an array of elements in the datatype of the file, which have
    /// `size` bytes. Returns whether that succeeded.
    pub(crate) fn read_box(&self, place: &MemoryBox<'_>, into: &mut [u8], size: u64) -> bool {
        place.check(into.len(), size);
        // SAFETY: the array has as many elements as `place` says.
        unsafe { self.move_box(self.library.functions.dataset_read, place, into.as_mut_ptr().cast()) }
    }

    /// Writes a box from the beginning of an array. Returns whether that succeeded.
    pub(crate) fn write_box(&self, place: &MemoryBox<'_>, from: &[u8], size: u64) -> bool {
        place.check(from.len(), size);
        // SAFETY: as in `read_box`. The native connector does not change what it writes.
        unsafe { self.move_box(self.library.functions.dataset_write, place, from.as_ptr().cast_mut().cast()) }
    }

    /// # Safety
    ///
    /// The array has as many elements of the file's datatype as `place` says, and the function reads or
    /// writes them.
    unsafe fn move_box(&self, function: MoveElements, place: &MemoryBox<'_>, array: *mut c_void) -> bool {
        let Some(elements) = self.elements(place) else { return false };
        let (datatype, memory, file) = (elements.datatype.id(), elements.memory.id(), elements.file.id());
        // SAFETY: the caller's promise.
        let done = unsafe {
            function(
                1,
                &raw const self.handle,
                self.library.native(),
                &raw const datatype,
                &raw const memory,
                &raw const file,
                self.library.default_transfer(),
                &raw const array,
                NO_REQUEST,
            )
        };
        done >= 0
    }

    /// # Safety
    ///
    /// The arguments are those of the operation.
    unsafe fn optional<T>(&self, kind: c_int, arguments: &mut T) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            optional(self.library, self.library.functions.dataset_optional, self.handle, kind, arguments)
        }
    }

    /// Returns the size of a chunk as it is stored now, given its first element: 0 if it is not stored, which
    /// is an error for libhdf5. `None` if that cannot be asked.
    pub(crate) fn stored_size(&self, first: &[u64]) -> Option<u64> {
        /// `H5VL_NATIVE_DATASET_GET_CHUNK_STORAGE_SIZE`
        const GET_CHUNK_SIZE: c_int = 2;
        /// `H5VL_native_dataset_get_chunk_storage_size_t`
        #[repr(C)]
        struct ChunkSize {
            first: *const u64,
            size: *mut u64,
        }
        let mut size = 0;
        let first = with_all_dimensions(first);
        let mut arguments = ChunkSize { first: first.as_ptr(), size: &raw mut size };
        // SAFETY: `first` has a number for each dimension, and the place is valid.
        let is_stored = self.library.quietly(|| unsafe { self.optional(GET_CHUNK_SIZE, &mut arguments) })?;
        Some(if is_stored { size } else { 0 })
    }

    /// Stores a chunk in its stored form, for which no filter was skipped. Returns whether that succeeded.
    pub(crate) fn write_chunk(&self, first: &[u64], bytes: &[u8]) -> bool {
        /// `H5VL_NATIVE_DATASET_CHUNK_WRITE`
        const WRITE_CHUNK: c_int = 7;
        /// `H5VL_native_dataset_chunk_write_t` of libhdf5 1.14, and of libhdf5 2.
        #[repr(C)]
        struct WriteChunk<Len> {
            first: *const u64,
            mask: u32,
            len: Len,
            bytes: *const c_void,
        }
        let Ok(len) = u32::try_from(bytes.len()) else { return false };
        let first = with_all_dimensions(first);
        let (first, bytes) = (first.as_ptr(), bytes.as_ptr().cast::<c_void>());
        // The native connector writes the elements if this fails, and reports its own errors.
        let done = self.library.quietly(|| match self.library.version[0] {
            // SAFETY: `first` has a number for each dimension, and the bytes stay until the call ends.
            0 | 1 => unsafe { self.optional(WRITE_CHUNK, &mut WriteChunk { first, mask: 0, len, bytes }) },
            _ => {
                let len = len as usize;
                // SAFETY: as above.
                unsafe { self.optional(WRITE_CHUNK, &mut WriteChunk { first, mask: 0, len, bytes }) }
            }
        });
        done == Some(true)
    }
}

/// Returns the position of an element with a number for each dimension that a dataset can have.
fn with_all_dimensions(position: &[u64]) -> [u64; super::types::MAX_RANK] {
    std::array::from_fn(|axis| position.get(axis).copied().unwrap_or(0))
}

/// Returns the number of the file that an object is in, and the address of its object header: the native
/// connector's token of the object (`H5O_info2_t`).
///
/// # Safety
///
/// The handle is that of an open object of this kind (`H5I_type_t`).
pub(crate) unsafe fn identity(library: &Library, handle: Handle, kind: c_int) -> Option<(u64, u64)> {
    /// `H5VL_OBJECT_GET_INFO`
    const GET_INFO: c_int = 3;
    /// `H5O_INFO_BASIC`
    const BASIC: u64 = 1;
    // The number of the file, the token, and more.
    let mut info = [0_u64; 64];
    let place = ItsOwnLocation::new(kind);
    // SAFETY: the caller's promise, and the operation stores a `H5O_info2_t` of less than 512 bytes.
    let done = unsafe {
        (library.functions.object_get)(
            handle,
            place.as_location(),
            library.native(),
            Operation::new(GET_INFO).word(0, BASIC).out(1, &mut info).as_arguments(),
            library.default_transfer(),
            NO_REQUEST,
        )
    };
    (done >= 0).then_some((info[0], info[1]))
}

/// Calls an optional operation.
///
/// # Safety
///
/// The handle is open, and the arguments are those of the operation.
unsafe fn optional<T>(
    library: &Library,
    function: unsafe extern "C" fn(Handle, Hid, *mut c_void, Hid, Request) -> c_int,
    handle: Handle,
    kind: c_int,
    arguments: &mut T,
) -> bool {
    let mut operation = Optional { kind, arguments: std::ptr::from_mut(arguments).cast() };
    // SAFETY: the caller's promise.
    unsafe {
        function(
            handle,
            library.native(),
            std::ptr::from_mut(&mut operation).cast(),
            library.default_transfer(),
            NO_REQUEST,
        ) >= 0
    }
}

/// A file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NativeFile {
    library: &'static Library,
    handle: Handle,
}

impl PartialEq for NativeFile {
    fn eq(&self, other: &Self) -> bool {
        self.handle == other.handle
    }
}

// SAFETY: as for datasets.
unsafe impl Send for NativeFile {}

impl NativeFile {
    /// # Safety
    ///
    /// The handle is a file of the library's native connector, and open as long as the result is used.
    pub(crate) unsafe fn new(library: &'static Library, handle: Handle) -> Self {
        Self { library, handle }
    }

    /// # Safety
    ///
    /// The operation is one of `H5VL_file_get_t`, and its words are places for its results.
    unsafe fn get(&self, mut operation: Operation) -> Option<Operation> {
        let library = self.library;
        // SAFETY: the file is open, and the caller's promise.
        let done = unsafe {
            (library.functions.file_get)(
                self.handle,
                library.native(),
                operation.as_arguments(),
                library.default_transfer(),
                NO_REQUEST,
            )
        };
        (done >= 0).then_some(operation)
    }

    /// Returns the number that the library gives the file as long as it is open.
    pub(crate) fn number(&self) -> Option<u64> {
        /// `H5VL_FILE_GET_FILENO`
        const GET_NUMBER: c_int = 3;
        let mut number = 0_u64;
        // SAFETY: the operation stores a `unsigned long`.
        unsafe { self.get(Operation::new(GET_NUMBER).out(0, &mut number)) }?;
        Some(number)
    }

    /// Returns the flags with which the file is open: `H5F_ACC_*`.
    pub(crate) fn intent(&self) -> Option<u32> {
        /// `H5VL_FILE_GET_INTENT`
        const GET_INTENT: c_int = 4;
        let mut intent = 0_u32;
        // SAFETY: the operation stores an `unsigned`.
        unsafe { self.get(Operation::new(GET_INTENT).out(0, &mut intent)) }?;
        Some(intent)
    }

    /// Returns the property list of access to the file, which names the driver.
    fn access(&self) -> Option<List> {
        /// `H5VL_FILE_GET_FAPL`
        const GET_ACCESS: c_int = 1;
        // SAFETY: the operation stores an identifier.
        List::new(self.library, unsafe { self.get(Operation::new(GET_ACCESS)) }?.id())
    }

    /// Returns whether the driver for plain files has the file open. `None` if the library does not say.
    pub(crate) fn is_plain(&self) -> Option<bool> {
        let driver = self.access()?.driver();
        Some(self.library.plain_files() == Some(driver))
    }

    /// Returns whether objects of the file are open that stay so when it is closed. Files are none.
    pub(crate) fn leaves_objects(&self) -> bool {
        /// `H5VL_FILE_GET_OBJ_COUNT`
        const GET_COUNT: c_int = 6;
        /// `H5F_OBJ_DATASET | H5F_OBJ_GROUP | H5F_OBJ_DATATYPE | H5F_OBJ_ATTR`
        const OBJECTS: u64 = 0x1e;
        let mut count = 0_usize;
        // SAFETY: the operation stores a `size_t`.
        let done = unsafe { self.get(Operation::new(GET_COUNT).word(0, OBJECTS).out(1, &mut count)) };
        (done.is_none() || count > 0) && !self.access().is_some_and(|access| access.closes_objects())
    }

    /// Returns a copy of the descriptor by which the driver for plain files has the file open.
    pub(crate) fn descriptor(&self) -> Option<OwnedFd> {
        /// `H5VL_NATIVE_FILE_GET_VFD_HANDLE`
        const GET_DRIVER_HANDLE: c_int = 9;
        /// `H5VL_native_file_get_vfd_handle_t`
        #[repr(C)]
        struct DriverHandle {
            access: Hid,
            handle: *mut *mut c_void,
        }
        if self.is_plain() != Some(true) {
            return None;
        }
        let access = self.access()?;
        let mut found: *mut c_void = std::ptr::null_mut();
        let mut arguments = DriverHandle { access: access.id(), handle: &raw mut found };
        let function = self.library.functions.file_optional;
        // SAFETY: the operation stores the address of the descriptor, since the driver is the one for plain
        // files. libhdf5 has the descriptor open during this call.
        unsafe {
            let done = optional(self.library, function, self.handle, GET_DRIVER_HANDLE, &mut arguments);
            if !done || found.is_null() {
                return None;
            }
            BorrowedFd::borrow_raw(*found.cast::<c_int>()).try_clone_to_owned().ok()
        }
    }
}
