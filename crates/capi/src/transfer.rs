//! The arguments that reads and writes have in common: a selection, a type, options and memory.

use std::num::NonZeroUsize;

use hyperslab::{HyperslabAxis, Selection};

use crate::codes::HS_MAX_RANK;
use crate::failure::Failure;
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
    /// 0 if the caller did not say.
    buffer_size: usize,
}

impl Transfer<'_> {
    /// Takes the options of a call. `rank` is the number of dimensions of the result.
    pub(crate) unsafe fn of(code: i32, options: *const hs_io_options, rank: usize) -> Result<Self, Failure> {
        let mut transfer =
            Self { named: Named { code, message: &[] }, strides: None, threads: None, buffer_size: 0 };
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
        Ok(transfer)
    }

    /// Returns the bytes of `elements` elements of `element_size` bytes, if the caller's memory has them.
    pub(crate) fn bytes_of(&self, elements: u64, element_size: u64) -> Result<usize, Failure> {
        let bytes = elements.checked_mul(element_size).and_then(|bytes| usize::try_from(bytes).ok());
        let bytes = bytes.filter(|&bytes| isize::try_from(bytes).is_ok());
        let bytes = bytes.ok_or_else(|| {
            let elements = format!("{elements} elements of {element_size} bytes");
            Failure::argument("selection", format!("{elements} do not fit into memory: select fewer"))
        })?;
        self.check_room(bytes)
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
        if self.buffer_size != 0 && self.buffer_size < needed {
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

/// Returns the selection of a caller in an array of the shape `extent`. Null selects all elements.
pub(crate) unsafe fn selection(given: *const hs_selection, extent: &[u64]) -> Result<Selection, Failure> {
    // SAFETY: as the caller promises.
    let Some(given) = (unsafe { pointers::optional("selection", given) })? else { return Ok(Selection::All) };
    let rank = given.rank as usize;
    if rank != extent.len() {
        let why = format!("it is {rank}, and the array has {} dimensions", extent.len());
        return Err(Failure::argument("selection.rank", why));
    }
    // SAFETY: the caller has a number for each dimension, where the pointer is not null.
    let [start, count, stride, block] = unsafe {
        let optional = |what, pointer: *const u64| {
            if pointer.is_null() {
                Ok(&[1; HS_MAX_RANK][..rank.min(HS_MAX_RANK)])
            } else {
                pointers::array(what, pointer, rank)
            }
        };
        [
            pointers::array("selection.start", given.start, rank)?,
            pointers::array("selection.count", given.count, rank)?,
            optional("selection.stride", given.stride)?,
            optional("selection.block", given.block)?,
        ]
    };
    let mut axes = [HyperslabAxis { start: 0, stride: 1, count: 0, block: 1 }; HS_MAX_RANK];
    for (axis, place) in axes.iter_mut().enumerate().take(rank) {
        *place = HyperslabAxis {
            start: start[axis],
            stride: stride[axis],
            count: count[axis],
            block: block[axis],
        };
    }
    let axes = axes.get(..rank).ok_or_else(|| Failure::argument("selection.rank", "at most 32"))?;
    Ok(Selection::from_hyperslab(axes, extent)?)
}
