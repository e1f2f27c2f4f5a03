//! The arguments that reads and writes have in common: a selection, a type, options and memory.

use std::num::NonZeroUsize;

use hyperslab::{Destination, Dim, HyperslabAxis, ReadOptions, Selection, Slab, WriteOptions};
use smallvec::SmallVec;

use crate::codes::HS_MAX_RANK;
use crate::failure::Failure;
use crate::opened::Opened;
use crate::pointers;
use crate::structs::{hs_io_options, hs_selection};
use crate::types::Named;

/// The type of the caller's elements, and the options of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Transfer<'c> {
    pub(crate) named: Named<'c>,
    /// From one element to the next along each dimension, if the caller's memory has gaps.
    pub(crate) strides: Option<&'c [u64]>,
    pub(crate) threads: Option<NonZeroUsize>,
    buffer_size: usize,
    /// The caller said how large its memory is.
    is_checked: bool,
}

impl Transfer<'_> {
    /// Takes the options of a call. `rank` is the number of dimensions of the result.
    pub(crate) unsafe fn of(code: i32, options: *const hs_io_options, rank: usize) -> Result<Self, Failure> {
        let mut transfer = Self {
            named: Named { code, message: &[] },
            strides: None,
            threads: None,
            buffer_size: 0,
            is_checked: false,
        };
        // SAFETY: as the caller promises.
        let Some(options) = (unsafe { pointers::optional("options", options) })? else { return Ok(transfer) };
        let (message, size) = (options.type_message.cast::<u8>(), options.type_message_size);
        // SAFETY: the caller has as many bytes of a message, and as many strides as dimensions.
        unsafe {
            transfer.named.message = pointers::array("type_message", message, size)?;
            if !options.strides.is_null() {
                transfer.strides = Some(pointers::array("strides", options.strides, rank)?);
            }
        }
        transfer.threads = NonZeroUsize::new(options.threads as usize);
        transfer.buffer_size = options.buffer_size;
        transfer.is_checked = options.buffer_size != 0 || options.checked != 0;
        Ok(transfer)
    }

    /// Returns the bytes of `elements` elements of `element_size` bytes, if the caller's memory has them.
    pub(crate) fn bytes_of(&self, elements: u64, element_size: u64) -> Result<usize, Failure> {
        self.check_room(bytes_of(elements, element_size)?)
    }

    /// Returns the bytes from the first to the last element of a result of `shape`, if the caller's memory
    /// has them.
    pub(crate) fn span_of(
        &self,
        shape: &[u64],
        strides: &[u64],
        element_size: u64,
    ) -> Result<usize, Failure> {
        if shape.contains(&0) {
            return Ok(0);
        }
        let span = shape
            .iter()
            .zip(strides)
            .try_fold(element_size, |span, (len, stride)| span.checked_add(stride.checked_mul(len - 1)?));
        let span =
            span.and_then(|span| usize::try_from(span).ok()).filter(|&span| isize::try_from(span).is_ok());
        let why = "with these strides the elements do not fit into memory";
        self.check_room(span.ok_or_else(|| Failure::argument("strides", why))?)
    }

    fn check_room(&self, needed: usize) -> Result<usize, Failure> {
        if self.is_checked && self.buffer_size < needed {
            let why = format!("it is {}, and the elements have {needed} bytes", self.buffer_size);
            return Err(Failure::argument("buffer_size", why));
        }
        Ok(needed)
    }

    /// Refuses strides in a call that has none.
    pub(crate) fn without_strides(self) -> Result<Self, Failure> {
        match self.strides {
            None => Ok(self),
            Some(_) => {
                Err(Failure::argument("strides", "only hs_read takes strides: copy the elements first"))
            }
        }
    }
}

/// Returns the bytes of `elements` elements of `element_size` bytes.
#[inline]
pub(crate) fn bytes_of(elements: u64, element_size: u64) -> Result<usize, Failure> {
    let bytes = elements.checked_mul(element_size).and_then(|bytes| usize::try_from(bytes).ok());
    match bytes.filter(|&bytes| isize::try_from(bytes).is_ok()) {
        Some(bytes) => Ok(bytes),
        None => Err(too_many(elements, element_size)),
    }
}

#[cold]
fn too_many(elements: u64, element_size: u64) -> Failure {
    let elements = format!("{elements} elements of {element_size} bytes");
    Failure::argument("selection", format!("{elements} do not fit into memory: select fewer"))
}

/// The elements that a caller selects.
#[derive(Debug)]
pub(crate) struct Chosen {
    pub(crate) what: Selection,
    /// The number of elements.
    pub(crate) elements: u64,
    /// The shape of the dataset, if all of its elements are selected. In another shape, the transfer fails.
    whole: Option<Vec<u64>>,
}

impl Chosen {
    /// Takes the selection of a caller. Null selects all elements.
    #[inline]
    pub(crate) unsafe fn of(given: *const hs_selection, dataset: &Opened) -> Result<Self, Failure> {
        // SAFETY: as the caller promises.
        let Some(given) = (unsafe { pointers::optional("selection", given) })? else {
            return if dataset.is_null { Ok(Self::nothing()) } else { Self::whole(dataset.shape()) };
        };
        let rank = given.rank as usize;
        if rank != dataset.rank {
            let why = format!("it is {rank}, and the dataset has {} dimensions", dataset.rank);
            return Err(Failure::argument("selection.rank", why));
        }
        if dataset.is_null {
            return Ok(Self::nothing());
        }
        // SAFETY: the caller has a number for each dimension.
        let (start, count) = unsafe {
            (
                pointers::array("selection.start", given.start, rank)?,
                pointers::array("selection.count", given.count, rank)?,
            )
        };
        if given.stride.is_null()
            && given.block.is_null()
            && let Some((what, elements)) = of_box(start, count)
        {
            return Ok(Self { what, elements, whole: None });
        }
        // SAFETY: as above.
        unsafe { Self::hyperslab(&given, start, count, &dataset.shape()) }
    }

    /// Takes a hyperslab with strides and blocks.
    unsafe fn hyperslab(
        given: &hs_selection,
        start: &[u64],
        count: &[u64],
        shape: &[u64],
    ) -> Result<Self, Failure> {
        let rank = start.len();
        // SAFETY: the caller has a number for each dimension, where the pointer is not null.
        let [stride, block] = unsafe {
            let optional = |what, pointer: *const u64| {
                if pointer.is_null() {
                    Ok(&ONES[..rank.min(HS_MAX_RANK)])
                } else {
                    pointers::array(what, pointer, rank)
                }
            };
            [optional("selection.stride", given.stride)?, optional("selection.block", given.block)?]
        };
        let axis = |axis: usize| HyperslabAxis {
            start: start[axis],
            stride: stride[axis],
            count: count[axis],
            block: block[axis],
        };
        let what = Selection::from_hyperslab(&(0..rank).map(axis).collect::<Vec<_>>(), shape)?;
        Ok(Self { elements: what.count(shape)?, what, whole: None })
    }

    fn whole(shape: Vec<u64>) -> Result<Self, Failure> {
        let elements = Selection::All.count(&shape)?;
        Ok(Self { what: Selection::All, elements, whole: Some(shape) })
    }

    /// Selects from a dataset without elements.
    fn nothing() -> Self {
        Self { what: Selection::All, elements: 0, whole: None }
    }

    /// Returns the number of elements along each dimension.
    pub(crate) fn shape(&self) -> Vec<u64> {
        self.what.shape(self.whole.as_deref().unwrap_or_default()).to_vec()
    }

    /// Reads the elements.
    pub(crate) fn read(
        &self,
        dataset: &Opened,
        dst: &mut Destination<'_>,
        options: &ReadOptions,
    ) -> Result<(), Failure> {
        if dataset.is_null {
            return Ok(());
        }
        Ok(dataset.read_shaped(self.whole.as_deref(), &self.what, dst, options)?)
    }

    /// Writes the elements.
    pub(crate) fn write(self, dataset: &Opened, bytes: &[u8], options: &WriteOptions) -> Result<(), Failure> {
        if dataset.is_null {
            return Ok(());
        }
        let written = match &self.whole {
            Some(shape) => dataset.write_shaped(shape, &self.what, bytes, options),
            None => dataset.write_with(self.what, bytes, options),
        };
        Ok(written?)
    }
}

const ONES: [u64; HS_MAX_RANK] = [1; HS_MAX_RANK];

/// Returns the selection of a box, and the number of its elements. It needs no shape: the engine checks it
/// against that of the read or write.
#[inline]
fn of_box(start: &[u64], count: &[u64]) -> Option<(Selection, u64)> {
    let (mut slab, mut elements) = (Slab(SmallVec::new()), 1_u64);
    for (&start, &count) in start.iter().zip(count) {
        slab.0.push(Dim::range(start, start.checked_add(count)?));
        elements = elements.checked_mul(count)?;
    }
    Some((Selection::Slab(slab), elements))
}
