//! Buffers that each worker thread reuses from read to read. They grow as needed, and large ones are freed
//! afterwards.

use std::cell::RefCell;
use std::io;
use std::ops::Range;

use hyperslab_error::{Error, Result};

/// The buffers of one thread.
#[derive(Debug, Default)]
pub(super) struct WorkerScratch {
    /// Stored bytes, as read from the file.
    pub(super) stored: Vec<u8>,
    /// More buffers for stored bytes, for reads of several ranges at a time.
    pub(super) spare: Vec<Vec<u8>>,
    /// One decoded chunk.
    pub(super) chunk: Vec<u8>,
    /// The parts of a stored chunk to read.
    pub(super) ranges: Vec<Range<usize>>,
    /// Elements before and after conversion.
    pub(super) convert: [Vec<u8>; 2],
    /// The buffers of the filters.
    pub(super) filters: hyperslab_filters::Scratch,
    /// Whether the thread is in the middle of another read, which has the thread's buffers.
    pub(super) is_nested: bool,
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
        // A read within a read of the same thread, for example by a driver that calls back. It gets new
        // buffers.
        Err(_) => f(&mut WorkerScratch { is_nested: true, ..WorkerScratch::default() }),
    })
}

/// Returns whether this thread is in the middle of a read or write.
pub(super) fn is_in_use() -> bool {
    SCRATCH.with(|scratch| scratch.try_borrow_mut().is_err())
}

/// Returns the first `len` bytes of `buffer`, which grows if necessary. Their contents are unspecified.
///
/// `len` may come from a file. A length beyond the available memory is an error, and
/// unused memory is not touched.
pub(super) fn sized(buffer: &mut Vec<u8>, len: usize) -> Result<&mut [u8]> {
    if buffer.len() < len {
        // The old contents are not needed: drop them first, so that growing copies nothing.
        *buffer = Vec::new();
        buffer.try_reserve_exact(len).map_err(|_| out_of_memory(len as u64))?;
        *buffer = Vec::new();
        // Unlike with `resize`, the system zeroes the pages when they are first touched.
        *buffer = vec![0; len];
    }
    Ok(&mut buffer[..len])
}

/// Returns the error for a failed allocation of `len` bytes.
fn out_of_memory(len: u64) -> Error {
    Error::io("allocation", 0, len)(io::ErrorKind::OutOfMemory.into())
}

impl WorkerScratch {
    /// Takes a buffer for stored bytes. The caller returns it with [`put_back`](Self::put_back).
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

    /// Takes over a buffer that was not taken from here, unless there is one already.
    pub(super) fn keep(&mut self, buffer: Vec<u8>) {
        if self.stored.capacity() == 0 {
            self.stored = buffer;
        }
    }

    fn trim(&mut self) {
        let mut kept = 0;
        let [before, after] = &mut self.convert;
        for buffer in [&mut self.stored, &mut self.chunk, before, after] {
            if buffer.capacity() > KEEP_BYTES - kept {
                *buffer = Vec::new();
            }
            kept += buffer.capacity();
        }
        // Only a medium that serves several requests at a time needs more buffers.
        self.spare.clear();
    }
}

/// The buffers of a thread that are kept after a read have at most this many bytes together.
const KEEP_BYTES: usize = 64 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_beyond_the_memory_is_an_error() {
        let mut buffer = vec![1; 10];
        assert!(sized(&mut buffer, isize::MAX.unsigned_abs()).is_err());
        assert!(sized(&mut buffer, usize::MAX).is_err());
        assert_eq!(sized(&mut buffer, 5).unwrap().len(), 5);
    }
}
