//! A driver that can be shut: closing a file gives the file back to the system, whatever objects of it are still alive.

use std::io;
use std::sync::{Arc, PoisonError, RwLock};

use hyperslab::driver::{Driver, Hints, ReadQueue, WriteRequest};

/// A driver, until it is shut.
#[derive(Debug)]
pub(crate) struct Valve {
    driver: RwLock<Option<Arc<dyn Driver>>>,
    hints: Hints,
}

impl Valve {
    /// A driver that reads through `driver`.
    pub(crate) fn new(driver: Arc<dyn Driver>) -> Self {
        Self { hints: driver.hints(), driver: RwLock::new(Some(driver)) }
    }

    /// Lets go of the driver. Reads under way still finish.
    pub(crate) fn shut(&self) {
        *self.driver.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The driver, held so shortly that nobody waits.
    fn open(&self) -> io::Result<Arc<dyn Driver>> {
        let driver = self.driver.read().unwrap_or_else(PoisonError::into_inner);
        driver.clone().ok_or_else(|| io::Error::new(io::ErrorKind::NotConnected, "the file is closed"))
    }
}

impl Driver for Valve {
    fn len(&self) -> io::Result<u64> {
        self.open()?.len()
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> io::Result<()> {
        self.open()?.read_at(offset, dst)
    }

    fn write_at(&self, offset: u64, src: &[u8]) -> io::Result<()> {
        self.open()?.write_at(offset, src)
    }

    fn reserve(&self, offset: u64, len: u64) -> io::Result<()> {
        self.open()?.reserve(offset, len)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.open()?.set_len(len)
    }

    fn flush(&self, closing: bool) -> io::Result<()> {
        self.open()?.flush(closing)
    }

    fn read_many(&self, queue: &mut dyn ReadQueue) -> io::Result<()> {
        self.open()?.read_many(queue)
    }

    fn write_batch(&self, requests: &[WriteRequest<'_>]) -> io::Result<()> {
        self.open()?.write_batch(requests)
    }

    fn hints(&self) -> Hints {
        self.hints
    }
}
