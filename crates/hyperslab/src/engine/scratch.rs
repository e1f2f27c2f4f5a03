//! The memory a worker keeps from read to read: grown to what it needed, cut back when that was a lot.

use std::cell::RefCell;
use std::io;
use std::ops::Range;

use crate::error::{Error, Result};

/// Buffers of one thread.
#[derive(Debug, Default)]
pub(super) struct WorkerScratch {
    /// Stored bytes as read from the file.
    pub(super) stored: Vec<u8>,
    /// Buffers for more of them, where several ranges are read at a time.
    pub(super) spare: Vec<Vec<u8>>,
    /// One decoded chunk.
    pub(super) chunk: Vec<u8>,
    /// Parts of a stored chunk to read.
    pub(super) ranges: Vec<Range<usize>>,
    /// Elements before and after conversion.
    pub(super) convert: [Vec<u8>; 2],
    /// What filters need.
    pub(super) filters: hyperslab_filters::Scratch,
}

thread_local! {
    static SCRATCH: RefCell<WorkerScratch> = RefCell::default();
}

/// Runs `f` with this thread's buffers.
pub(super) fn with<R>(f: impl FnOnce(&mut WorkerScratch) -> R) -> R {
    SCRATCH.with(|scratch| match scratch.try_borrow_mut() {
        Ok(mut scratch) => {
            let result = f(&mut scratch);
            scratch.trim();
            result
        }
        // A read inside a read of the same thread: a driver that calls back, say. It gets buffers of its own.
        Err(_) => f(&mut WorkerScratch::default()),
    })
}

/// The first `len` bytes of `buffer`, grown if need be; what they hold is left over from before.
///
/// `len` may come from a file: more than there is memory is an error, and memory that is not used is not touched.
pub(super) fn sized(buffer: &mut Vec<u8>, len: usize) -> Result<&mut [u8]> {
    if buffer.len() < len {
        // Growing copies nothing that anybody wants: drop it first.
        *buffer = Vec::new();
        buffer.try_reserve_exact(len).map_err(|_| out_of_memory(len as u64))?;
        *buffer = Vec::new();
        // Zeroed by the system when touched, unlike `resize`.
        *buffer = vec![0; len];
    }
    Ok(&mut buffer[..len])
}

/// There is not enough memory for `len` bytes.
fn out_of_memory(len: u64) -> Error {
    Error::io("allocation", 0, len)(io::ErrorKind::OutOfMemory.into())
}

impl WorkerScratch {
    /// A buffer for stored bytes, until it is [put back](Self::put_back).
    pub(super) fn take(&mut self) -> Vec<u8> {
        if self.stored.capacity() > 0 {
            std::mem::take(&mut self.stored)
        } else {
            self.spare.pop().unwrap_or_default()
        }
    }

    pub(super) fn put_back(&mut self, buffer: Vec<u8>) {
        if self.stored.capacity() > 0 { self.spare.push(buffer) } else { self.stored = buffer }
    }

    fn trim(&mut self) {
        if !self.spare.is_empty() {
            let mut kept = 0;
            self.spare.retain(|buffer| {
                kept += buffer.capacity();
                kept <= KEEP_BYTES
            });
        }
        let [before, after] = &mut self.convert;
        for buffer in [&mut self.stored, &mut self.chunk, before, after] {
            if buffer.capacity() > KEEP_BYTES {
                *buffer = Vec::new();
            }
        }
    }
}

/// A larger buffer is given back after the read that needed it.
const KEEP_BYTES: usize = 64 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_there_is_memory_is_an_error() {
        let mut buffer = vec![1; 10];
        assert!(sized(&mut buffer, isize::MAX.unsigned_abs()).is_err());
        assert!(sized(&mut buffer, usize::MAX).is_err());
        assert_eq!(sized(&mut buffer, 5).unwrap().len(), 5);
    }
}
