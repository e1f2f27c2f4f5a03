//! Arrays of NumPy's `StringDType`, filled and read through the C API of NumPy 2. Besides `buffer` and
//! `arrow/capsule`, only this file has unsafe code.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};

use hyperslab::internals::engine::{each_number, worked};
use hyperslab::internals::{Found, Place, VlenSink};
use hyperslab_present::until_zero;
use numpy::PyUntypedArray;
use numpy::prelude::*;
use parking_lot::Mutex;
use pyo3::exceptions::{PyMemoryError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyCapsule;

use crate::interpreter::error::OrRaise;
use crate::interpreter::signals;
use crate::values::buffer;
use crate::values::texts::{BLOCK, TextBlock, Texts};

/// The functions of NumPy's C API for strings, with the types of their opaque arguments.
#[derive(Clone, Copy)]
struct Api {
    load: unsafe extern "C" fn(*mut c_void, *const c_void, *mut Unpacked) -> c_int,
    pack: unsafe extern "C" fn(*mut c_void, *mut c_void, *const c_char, usize) -> c_int,
    acquire: unsafe extern "C" fn(*const c_void) -> *mut c_void,
    release: unsafe extern "C" fn(*mut c_void),
}

/// `npy_static_string`: a string in the memory of its array.
#[repr(C)]
struct Unpacked {
    size: usize,
    bytes: *const c_char,
}

/// The places of the functions in NumPy's table, which no version of NumPy changes.
const LOAD: usize = 313;
const PACK: usize = 314;
const ACQUIRE: usize = 316;
const RELEASE: usize = 318;

impl Api {
    /// Returns the functions of the NumPy that is running.
    #[expect(clippy::missing_transmute_annotations, reason = "the fields have the types of the functions")]
    fn get(py: Python<'_>) -> PyResult<Self> {
        static API: PyOnceLock<Api> = PyOnceLock::new();
        API.get_or_try_init(py, || {
            let module = py.import("numpy._core._multiarray_umath")?;
            let capsule = module.getattr("_ARRAY_API")?.cast_into::<PyCapsule>()?;
            let table: NonNull<*const c_void> = capsule.pointer_checked(None)?.cast();
            // SAFETY: the dtype exists, so this is NumPy 2, whose table has these functions at these places.
            // The table is part of a module that stays loaded.
            unsafe {
                let function = |place: usize| table.as_ptr().add(place).read();
                Ok(Self {
                    load: std::mem::transmute::<*const c_void, _>(function(LOAD)),
                    pack: std::mem::transmute::<*const c_void, _>(function(PACK)),
                    acquire: std::mem::transmute::<*const c_void, _>(function(ACQUIRE)),
                    release: std::mem::transmute::<*const c_void, _>(function(RELEASE)),
                })
            }
        })
        .copied()
    }
}

/// An array of `StringDType`, for threads that do not hold the GIL.
struct Strings {
    api: Api,
    /// The dtype, to which the allocator of the array belongs.
    descr: *const c_void,
    /// The first element.
    first: *mut Packed,
    len: usize,
}

// SAFETY: the array and its dtype live while this value is used: `Filler` and `read` borrow the array. The
// functions of NumPy need no GIL. `element` is the only way to the elements, and its callers take care that
// two threads do not write to one element.
unsafe impl Send for Strings {}
// SAFETY: as above.
unsafe impl Sync for Strings {}

/// `npy_packed_static_string`: an element of an array.
#[repr(C, align(8))]
#[derive(Clone, Copy, PartialEq, Eq)]
struct Packed([u8; 16]);

/// The allocator of an array, which other threads cannot use meanwhile.
struct Allocator<'s> {
    strings: &'s Strings,
    allocator: *mut c_void,
}

impl Strings {
    fn of(array: &Bound<'_, PyUntypedArray>) -> PyResult<Self> {
        let descr = array.dtype();
        if descr.kind() != b'T' || descr.itemsize() != size_of::<Packed>() {
            return Err(PyTypeError::new_err("not an array of StringDType"));
        }
        let places = buffer::ElementAddresses::new(array)?;
        let (api, len) = (Api::get(array.py())?, array.len());
        let first = if len == 0 { std::ptr::null_mut() } else { places.at(0).cast() };
        Ok(Self { api, descr: descr.as_dtype_ptr().cast_const().cast(), first, len })
    }

    /// Returns the address of element `index`.
    fn element(&self, index: usize) -> *mut Packed {
        assert!(index < self.len);
        // SAFETY: the element is inside the array (just asserted), whose elements have this size.
        unsafe { self.first.add(index) }
    }

    /// Locks the allocator. A thread that has it must not wait for the GIL: a thread with the GIL may wait
    /// for the allocator.
    fn lock(&self) -> Allocator<'_> {
        // SAFETY: the dtype is a `StringDType`. The call locks its allocator, which `drop` unlocks.
        let allocator = unsafe { (self.api.acquire)(self.descr) };
        Allocator { strings: self, allocator }
    }
}

impl Allocator<'_> {
    /// Stores a text in an element. Returns false if there is no memory.
    fn pack(&self, element: *mut Packed, text: &[u8]) -> bool {
        let api = &self.strings.api;
        // SAFETY: `element` is an element of the array, or a packed string of the caller. This thread has
        // locked the allocator. The call copies the text.
        unsafe { (api.pack)(self.allocator, element.cast(), text.as_ptr().cast(), text.len()) == 0 }
    }

    /// Returns whether the running NumPy stores short texts as [`short`] does.
    fn packs_short(&self) -> bool {
        let text = b"0123456789abcde";
        cfg!(target_endian = "little")
            && (1..=SHORT).all(|len| {
                let mut packed = Packed([0; 16]);
                self.pack(&raw mut packed, &text[..len]) && packed == short(word(&text[..len]), len)
            })
    }

    /// Appends the text of element `index` to `bytes`. Returns false if it is missing.
    fn append(&self, index: usize, packs_short: bool, bytes: &mut Vec<u8>) -> bool {
        if packs_short {
            // SAFETY: the address is that of an element, and this thread or the one that started it has
            // locked the allocator, so no other thread writes to it.
            let Packed(packed) = unsafe { self.strings.element(index).read() };
            let last = packed[SHORT];
            if last & 0xF0 == SHORT_FLAGS {
                let end = bytes.len() + usize::from(last & 0x0F);
                bytes.extend_from_slice(&packed);
                bytes.truncate(end);
                return true;
            }
        }
        self.load(index).map(|text| bytes.extend_from_slice(text)).is_some()
    }

    /// Returns the text of element `index`, or `None` if it is missing.
    fn load(&self, index: usize) -> Option<&[u8]> {
        let mut text = Unpacked { size: 0, bytes: std::ptr::null() };
        let element = self.strings.element(index);
        // SAFETY: this thread or the one that started it has locked the allocator, so no other thread
        // changes the text before it is unlocked.
        let found = unsafe { (self.strings.api.load)(self.allocator, element.cast(), &raw mut text) };
        match (found, text.size) {
            (0, 0) => Some(&[]),
            // SAFETY: the text is in the memory of the array until the allocator is unlocked.
            (0, size) => Some(unsafe { std::slice::from_raw_parts(text.bytes.cast(), size) }),
            _ => None,
        }
    }
}

// SAFETY: see `append` and `load`, the only methods that several threads call.
unsafe impl Sync for Allocator<'_> {}

impl Drop for Allocator<'_> {
    fn drop(&mut self) {
        // SAFETY: the allocator was locked by `lock`, once.
        unsafe { (self.strings.api.release)(self.allocator) }
    }
}

/// Fills a new array of `StringDType`: receives its texts on several threads.
///
/// A text of up to 15 bytes is stored in the element itself, in the form that NumPy's documentation gives
/// (NEP 55). `new` compares this form with what the running NumPy stores; if it differs, NumPy stores all
/// texts. NumPy stores longer texts, many under one lock.
pub(crate) struct Filler<'a, 'py> {
    array: &'a Bound<'py, PyUntypedArray>,
    filling: Filling,
}

/// The part of a [`Filler`] that needs no GIL.
pub(crate) struct Filling {
    strings: Strings,
    packs_short: bool,
    /// Texts that NumPy has to store, and the lock of the thread that lets it store some.
    waiting: Mutex<Vec<Long>>,
    storing: Mutex<()>,
    out_of_memory: AtomicBool,
    /// The first text that is not UTF-8, with the index of its element.
    invalid: Mutex<Option<(usize, Vec<u8>)>>,
}

/// Texts that NumPy has to store, one after another, with the element and the end of each.
#[derive(Default)]
pub(crate) struct Long {
    bytes: Vec<u8>,
    texts: Vec<(usize, usize)>,
}

impl<'a, 'py> Filler<'a, 'py> {
    /// Returns a filler of a new C-contiguous array.
    pub(crate) fn new(array: &'a Bound<'py, PyUntypedArray>) -> PyResult<Self> {
        let strings = Strings::of(array)?;
        let packs_short = strings.lock().packs_short();
        let filling = Filling {
            strings,
            packs_short,
            waiting: Mutex::default(),
            storing: Mutex::default(),
            out_of_memory: AtomicBool::new(false),
            invalid: Mutex::default(),
        };
        Ok(Self { array, filling })
    }

    /// Returns what receives the texts.
    pub(crate) fn sink(&self) -> &Filling {
        &self.filling
    }

    /// Stores the last texts. Raises the exception for a text that could not be stored.
    pub(crate) fn finish(self) -> PyResult<()> {
        let py = self.array.py();
        while self.filling.store_next() {}
        if let Some((_, text)) = self.filling.invalid.into_inner() {
            // Python's decoder raises the exception.
            buffer::text(py, &text, c"strict")?;
        }
        if self.filling.out_of_memory.into_inner() {
            return Err(PyMemoryError::new_err("no memory for a string"));
        }
        Ok(())
    }
}

impl VlenSink for Filling {
    type Part = Long;

    fn take(&self, long: &mut Long, found: &Found<'_>) -> hyperslab::Result<()> {
        for &Place { element, start, len } in found.places {
            if len <= SHORT {
                // Most texts are followed by other bytes of the collection, so that one load takes them.
                let word = match found.bytes[start..].first_chunk() {
                    Some(bytes) => u128::from_le_bytes(*bytes) & !(u128::MAX << (8 * len)),
                    None => word(&found.bytes[start..start + len]),
                };
                // A string ends at its first zero byte; there is one behind it.
                let len = (word.wrapping_sub(ONES) & !word & HIGH_BITS).trailing_zeros() as usize / 8;
                let text = word & !(u128::MAX << (8 * len));
                if self.packs_short && (text & HIGH_BITS == 0 || is_utf8(&text.to_le_bytes()[..len])) {
                    if len > 0 {
                        // SAFETY: the address is that of an element. Each element has one text, so no other
                        // thread writes to it.
                        unsafe { self.strings.element(element).write(short(text, len)) }
                    }
                    continue;
                }
            }
            let text = until_zero(&found.bytes[start..start + len]);
            if is_utf8(text) {
                long.bytes.extend_from_slice(text);
                long.texts.push((element, long.bytes.len()));
            } else {
                self.note_invalid(element, text);
            }
        }
        Ok(())
    }

    fn finish(&self, long: Long) -> hyperslab::Result<()> {
        if long.texts.is_empty() {
            return Ok(());
        }
        self.waiting.lock().push(long);
        loop {
            // Only one thread at a time can have NumPy store texts. The others leave a few of theirs to it.
            let is_full = self.waiting.lock().len() > MOST_WAITING;
            let alone = if is_full { Some(self.storing.lock()) } else { self.storing.try_lock() };
            if alone.is_none_or(|_alone| !self.store_next()) {
                return Ok(());
            }
            worked("read", usize::MAX)?;
        }
    }
}

impl Filling {
    /// Lets NumPy store texts that wait. Returns false if there are none.
    fn store_next(&self) -> bool {
        let Some(long) = self.waiting.lock().pop() else { return false };
        let (allocator, mut start) = (self.strings.lock(), 0);
        for (element, end) in long.texts {
            if !allocator.pack(self.strings.element(element), &long.bytes[start..end]) {
                self.out_of_memory.store(true, Ordering::Relaxed);
            }
            start = end;
        }
        true
    }

    fn note_invalid(&self, element: usize, text: &[u8]) {
        let mut first = self.invalid.lock();
        if first.as_ref().is_none_or(|(before, _)| element < *before) {
            *first = Some((element, text.to_vec()));
        }
    }
}

fn is_utf8(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok()
}

/// Returns up to 15 bytes as the low bytes of a number.
fn word(bytes: &[u8]) -> u128 {
    let mut all = [0; 16];
    all[..bytes.len()].copy_from_slice(bytes);
    u128::from_le_bytes(all)
}

/// Returns the element that stores a text of 1 to 15 bytes: the text, and in the last byte its length, with
/// the flags of a text that is in the element.
fn short(text: u128, len: usize) -> Packed {
    Packed((text | (u128::from(SHORT_FLAGS) | len as u128) << 120).to_le_bytes())
}

/// The flags of a text that is in the element.
const SHORT_FLAGS: u8 = 0x60;

/// The longest text that an element stores itself.
const SHORT: usize = size_of::<Packed>() - 1;
/// The highest bit of each byte, and the lowest.
const HIGH_BITS: u128 = u128::from_le_bytes([0x80; 16]);
const ONES: u128 = u128::from_le_bytes([1; 16]);

/// Returns the texts of a C-contiguous array of `StringDType`. `None` if an element is missing
/// (`StringDType(na_object=...)`). Raises `ValueError` if a text has a zero byte.
pub(crate) fn read(array: &Bound<'_, PyUntypedArray>) -> PyResult<Option<Texts>> {
    let strings = Strings::of(array)?;
    let blocks: Vec<Mutex<TextBlock>> = (0..strings.len.div_ceil(BLOCK)).map(|_| Mutex::default()).collect();
    let read: Result<(), Option<hyperslab::Error>> = signals::detach(array.py(), || {
        for (some, first) in blocks.chunks(LOCKED_TOGETHER).zip((0..).step_by(LOCKED_TOGETHER * BLOCK)) {
            read_blocks(&strings, some, first)?;
            // The question needs the GIL, so nothing is asked while the allocator is locked.
            worked("write", usize::MAX).map_err(Some)?;
        }
        Ok(())
    });
    match read {
        Ok(()) => {}
        Err(None) => return Ok(None),
        Err(Some(error)) => return Err(error).or_raise(),
    }
    let blocks: Vec<TextBlock> = blocks.into_iter().map(Mutex::into_inner).collect();
    blocks.iter().try_for_each(TextBlock::check)?;
    Ok(Some(Texts::of(blocks)))
}

/// Reads the texts of elements from number `first` on into blocks, whose elements follow each other. The
/// error is `None` if an element is missing.
fn read_blocks(
    strings: &Strings,
    blocks: &[Mutex<TextBlock>],
    first: usize,
) -> Result<(), Option<hyperslab::Error>> {
    let allocator = strings.lock();
    let packs_short = allocator.packs_short();
    each_number(blocks.len() as u64, &|number| {
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        let (mut block, first) = (blocks[number].lock(), first + number * BLOCK);
        block.bytes.reserve(BLOCK * SHORT);
        block.ends.reserve(BLOCK.min(strings.len - first));
        for index in first..strings.len.min(first + BLOCK) {
            if !allocator.append(index, packs_short, &mut block.bytes) {
                return Err(None);
            }
            let end = block.bytes.len();
            block.ends.push(end);
        }
        Ok(())
    })
}

/// The blocks that are read under one lock: other threads that use the array wait for some milliseconds.
const LOCKED_TOGETHER: usize = 32;
/// The parts of a read that may wait for the thread that stores. More would keep the end of the read waiting.
const MOST_WAITING: usize = 4;
