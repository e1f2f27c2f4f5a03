//! A disk that fails, for tests.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use hyperslab_io::driver::{Capabilities, Driver, Memory};

/// A disk that is full when [`ELEMENTS`] are written, and gone from then on.
#[derive(Debug, Default)]
pub(crate) struct Gone {
    inner: Memory,
    is_gone: AtomicBool,
}

/// The elements for which the disk has no space.
pub(crate) const ELEMENTS: [u8; 64] = [0xab; 64];

impl Gone {
    fn check(&self) -> io::Result<()> {
        let is_gone = self.is_gone.load(Ordering::Relaxed);
        if is_gone { Err(io::Error::other("the disk is gone")) } else { Ok(()) }
    }
}

impl Driver for Gone {
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> io::Result<()> {
        self.check()?;
        self.inner.read_at(offset, dst)
    }

    fn write_at(&self, offset: u64, src: &[u8]) -> io::Result<()> {
        self.check()?;
        if src.windows(ELEMENTS.len()).any(|bytes| bytes == ELEMENTS) {
            self.is_gone.store(true, Ordering::Relaxed);
            return Err(io::Error::other("the disk is full"));
        }
        self.inner.write_at(offset, src)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.check()?;
        self.inner.set_len(len)
    }

    fn flush(&self, closing: bool) -> io::Result<()> {
        self.check()?;
        self.inner.flush(closing)
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities::new("custom", self.inner.capabilities().hints)
    }
}
