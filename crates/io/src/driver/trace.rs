//! A wrapper that records the operations on a driver, for tests and I/O statistics.

use std::io;

use parking_lot::Mutex;

use super::{Capabilities, Driver, ReadQueue, Request, ReservesSpace, WriteRequest};

/// One recorded operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Operation {
    /// A read, single or from a queue.
    Read {
        /// The offset in the file.
        offset: u64,
        /// The number of bytes.
        len: u64,
    },
    /// A write, single or in a batch.
    Write {
        /// The offset in the file.
        offset: u64,
        /// The number of bytes.
        len: u64,
    },
    /// A reservation of space for later writes.
    Reserve {
        /// The offset in the file.
        offset: u64,
        /// The number of bytes.
        len: u64,
    },
    /// A change of length.
    SetLen(u64),
    /// A flush.
    Flush {
        /// Whether it was the flush before closing the file.
        closing: bool,
    },
}

/// Records the operations on another driver.
#[derive(Debug)]
pub struct Trace<D> {
    inner: D,
    log: Mutex<Vec<Operation>>,
}

impl<D: Driver> Trace<D> {
    /// Wraps `inner`.
    pub fn new(inner: D) -> Self {
        Self { inner, log: Mutex::default() }
    }

    /// Returns the operations since the last call, in the order in which they began.
    pub fn take(&self) -> Vec<Operation> {
        std::mem::take(&mut self.log.lock())
    }

    fn record(&self, operation: Operation) {
        self.log.lock().push(operation);
    }
}

impl<D: Driver> Driver for Trace<D> {
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> io::Result<()> {
        self.record(Operation::Read { offset, len: dst.len() as u64 });
        self.inner.read_at(offset, dst)
    }

    fn write_at(&self, offset: u64, src: &[u8]) -> io::Result<()> {
        self.record(Operation::Write { offset, len: src.len() as u64 });
        self.inner.write_at(offset, src)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.record(Operation::SetLen(len));
        self.inner.set_len(len)
    }

    fn flush(&self, closing: bool) -> io::Result<()> {
        self.record(Operation::Flush { closing });
        self.inner.flush(closing)
    }

    fn read_many(&self, queue: &mut dyn ReadQueue) -> io::Result<()> {
        self.inner.read_many(&mut Traced { queue, trace: &|operation| self.record(operation) })
    }

    fn write_batch(&self, requests: &[WriteRequest<'_>]) -> io::Result<()> {
        for request in requests {
            self.record(Operation::Write { offset: request.offset, len: request.src.len() as u64 });
        }
        self.inner.write_batch(requests)
    }

    fn capabilities(&self) -> Capabilities<'_> {
        // Bytes in memory are read, so that the trace shows it.
        Capabilities { memory: None, space: Some(self), ..self.inner.capabilities() }
    }
}

impl<D: Driver> ReservesSpace for Trace<D> {
    fn reserve(&self, offset: u64, len: u64) -> io::Result<()> {
        self.record(Operation::Reserve { offset, len });
        self.inner.capabilities().space.map_or(Ok(()), |space| space.reserve(offset, len))
    }
}

/// A queue whose requests are recorded when the driver takes them.
struct Traced<'q> {
    queue: &'q mut dyn ReadQueue,
    trace: &'q dyn Fn(Operation),
}

impl ReadQueue for Traced<'_> {
    fn next(&mut self) -> Option<Request> {
        let request = self.queue.next()?;
        (self.trace)(Operation::Read { offset: request.offset, len: request.len as u64 });
        Some(request)
    }

    fn place(&mut self, id: u64) -> io::Result<&mut [u8]> {
        self.queue.place(id)
    }

    fn arrived(&mut self, id: u64) {
        self.queue.arrived(id);
    }

    fn upcoming(&mut self, most: usize, f: &mut dyn FnMut(u64, u64)) {
        self.queue.upcoming(most, f);
    }
}
