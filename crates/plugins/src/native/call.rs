//! Calls of a plug-in's functions.

use std::ffi::c_uint;
use std::ptr;

use super::h5::state::{self, Creation};
use super::library::Class;
use super::memory;
use crate::error::PluginError;

/// `H5Z_FLAG_REVERSE`: decode.
const REVERSE: c_uint = 0x0100;

/// The client data of a dataset, for calls of its filter.
#[derive(Debug)]
pub(super) struct ClientData {
    count: usize,
    /// The values, and zeros behind them: some plug-ins read values that a damaged file does not have.
    padded: Vec<u32>,
}

impl ClientData {
    /// No known plug-in has more values of a fixed meaning.
    const PADDING: usize = 64;

    pub(super) fn new(values: &[u32]) -> Self {
        let mut padded = values.to_vec();
        padded.resize(values.len() + Self::PADDING, 0);
        Self { count: values.len(), padded }
    }
}

/// What a filter has done.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The result is in the destination, and has this length.
    Stored(usize),
    /// The result has more bytes than the destination.
    TooLong(usize),
    /// The filter reported that it failed, and said this.
    Failed(String),
}

impl Class {
    /// Calls the filter for `src` and copies its result to the front of `dst`.
    pub(super) fn call(
        &self,
        decodes: bool,
        client_data: &ClientData,
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<Outcome, PluginError> {
        let what = if decodes { "decode" } else { "encode" };
        let overrun = || PluginError::Overrun { name: self.label.clone(), what };
        state::begin(None);
        memory::begin();
        let mut piece = memory::allocate(src.len());
        if piece.is_null() {
            let (_, _) = memory::end(ptr::null());
            return Ok(Outcome::Failed(": no memory".to_owned()));
        }
        // SAFETY: the piece has the length of `src`.
        unsafe { ptr::copy_nonoverlapping(src.as_ptr(), piece.cast::<u8>(), src.len()) };
        let mut room = src.len();
        let flags = if decodes { REVERSE } else { 0 };
        // SAFETY: the arguments are those of `H5Z_func_t`: the client data, and memory of the C library's
        // allocator that holds the bytes and that the filter may replace.
        let len = unsafe {
            let (count, values) = (client_data.count, client_data.padded.as_ptr());
            (self.filter)(flags, count, values, src.len(), &raw mut room, &raw mut piece)
        };
        let (is_overrun, usable) = memory::end(piece);
        let said = state::end().said();
        let result = if is_overrun {
            Err(overrun())
        } else if len == 0 {
            Ok(Outcome::Failed(said))
        } else if len > usable {
            Err(PluginError::Length { name: self.label.clone(), found: len, room: usable })
        } else if let Some(dst) = dst.get_mut(..len) {
            // SAFETY: the piece has at least `usable` bytes, and `dst` is not in it.
            unsafe { ptr::copy_nonoverlapping(piece.cast::<u8>(), dst.as_mut_ptr(), len) };
            Ok(Outcome::Stored(len))
        } else {
            Ok(Outcome::TooLong(len))
        };
        memory::free(piece);
        result
    }

    /// Lets the filter make the client data of a new dataset: `can_apply`, and then `set_local`.
    pub(super) fn prepare(&self, creation: Creation, is_optional: bool) -> Result<Vec<u32>, PluginError> {
        let unfit = |said| PluginError::Unfit { name: self.label.clone(), said };
        state::begin(Some(creation));
        for (callback, decides) in [(self.can_apply, true), (self.set_local, false)] {
            let Some(callback) = callback else { continue };
            // SAFETY: the arguments are ids that our functions of libhdf5 know.
            let status = unsafe { callback(state::PROPERTIES, state::DATATYPE, state::DATASPACE) };
            // A filter that is optional may be one that cannot be applied: chunks are stored without it.
            if status < 0 || decides && status == 0 && !is_optional {
                return Err(unfit(state::end().said()));
            }
        }
        Ok(state::end().creation.map(|creation| creation.client_data).unwrap_or_default())
    }
}
