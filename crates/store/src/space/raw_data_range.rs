//! The range of addresses for elements, in a file that has metadata and elements apart (split files, spec
//! II.B). It begins beyond all metadata.

use std::sync::atomic::{AtomicU64, Ordering};

use hyperslab_error::{Error, Result};
use hyperslab_format::Addr;
use hyperslab_format::superblock::guard::Reach;
use hyperslab_io::driver::{Driver, Elements};

use crate::Store;
use crate::commit;

/// The range of elements of one file. Addresses are relative to the base address.
#[derive(Debug)]
pub(crate) struct ElementRange {
    start: u64,
    /// The address after the last byte, including space that is allocated and not yet written.
    end: AtomicU64,
    /// The address after the last byte ever written, in a file that is open for writing.
    written: AtomicU64,
}

impl ElementRange {
    /// Returns the range of the medium, if it has one. A part that is missing has no bytes.
    pub(crate) fn of(driver: &dyn Driver, base: u64) -> Option<Self> {
        let elements = driver.elements()?;
        let start = elements.start().saturating_sub(base);
        let end = start.saturating_add(elements.len().unwrap_or(0));
        Some(Self { start, end: AtomicU64::new(end), written: AtomicU64::new(0) })
    }

    /// Returns the range for a forked child.
    pub(crate) fn in_child(&self) -> Self {
        let copied = |value: &AtomicU64| AtomicU64::new(value.load(Ordering::Acquire));
        Self { start: self.start, end: copied(&self.end), written: copied(&self.written) }
    }

    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    /// Returns the address after the last byte.
    pub(crate) fn end(&self) -> u64 {
        self.end.load(Ordering::Relaxed)
    }

    pub(crate) fn written(&self) -> u64 {
        self.written.load(Ordering::Acquire)
    }

    pub(crate) fn has(&self, at: u64) -> bool {
        at >= self.start
    }

    /// Records that space up to the `len`-th byte of the range is allocated.
    pub(crate) fn grow(&self, len: u64) {
        self.end.fetch_max(self.start.saturating_add(len), Ordering::Relaxed);
    }

    /// Records a write that ends at the address `end`.
    pub(crate) fn wrote(&self, end: u64) {
        self.written.fetch_max(end, Ordering::AcqRel);
    }

    /// Records a commit after which `len` bytes are in use, and the medium has the `stated` first ones.
    pub(crate) fn settle(&self, stated: u64, len: u64) {
        let [stated, end] = [stated, len].map(|len| self.start.saturating_add(len));
        self.end.store(end, Ordering::Relaxed);
        let settled = |written: u64| Some(written.min(end).max(stated));
        let _ = self.written.fetch_update(Ordering::AcqRel, Ordering::Acquire, settled);
    }

    /// Records that the medium has `len` bytes, all of which can be read.
    pub(crate) fn set_len(&self, len: u64) {
        let end = self.start.saturating_add(len);
        self.end.store(end, Ordering::Relaxed);
        self.written.store(end, Ordering::Release);
    }
}

/// Makes the medium have at least `len` bytes of elements. Returns whether it had fewer.
pub(crate) fn extend(driver: &dyn Driver, len: u64) -> Result<bool> {
    let Some(elements) = driver.elements() else { return Ok(false) };
    let is_short = elements.len().map_err(Error::io("length", 0, 0))? < len;
    if is_short {
        elements.set_len(len).map_err(Error::io("set the length", 0, 0))?;
    }
    Ok(is_short)
}

/// Cuts the elements of the medium off after `len` bytes, if there are more.
pub(crate) fn cut(driver: &dyn Driver, len: u64) -> Result<()> {
    let Some(elements) = driver.elements() else { return Ok(()) };
    if elements.len().map_err(Error::io("length", 0, 0))? > len {
        elements.set_len(len).map_err(Error::io("set the length", 0, 0))?;
    }
    Ok(())
}

/// Returns how far the addresses of a file on this medium reach.
pub(crate) fn reach(driver: &dyn Driver) -> Reach {
    if driver.elements().is_some() { Reach::Split } else { Reach::Whole }
}

/// Returns the offset of the range of elements, or 0 if the medium has none.
pub(crate) fn start(driver: &dyn Driver) -> u64 {
    driver.elements().map_or(0, Elements::start)
}

impl Store {
    /// Returns the range of elements that has the byte at `at`, if one has it.
    pub(crate) fn elements_at(&self, at: Addr) -> Option<&ElementRange> {
        self.elements.as_ref().filter(|elements| elements.has(at.get()))
    }

    /// Returns the address after the last byte that the medium has in the range of `at`.
    pub(crate) fn medium_end(&self, at: Addr) -> Result<u64> {
        let driver = self.driver()?;
        let failed = Error::io("length", 0, 0);
        let end = match (self.elements_at(at), driver.elements()) {
            (Some(range), Some(elements)) => elements.len().map(|len| range.start + len),
            _ => driver.len().map(|len| len.saturating_sub(self.base)),
        };
        end.map_err(failed)
    }

    /// Extends the medium so that the range of `at` has all bytes that are allocated.
    pub(crate) fn extend_medium(&self, at: Addr) -> Result<()> {
        let writing = self.writing()?;
        let space = writing.space.lock();
        // After a commit that failed half-way, the journal has to stay at the end.
        writing.check()?;
        // What other threads write is before these ends, and during a commit the medium is not shorter. So
        // nothing is cut off, and the journal stays at the end.
        let (driver, ends) = (self.driver()?, space.ends_of_writable());
        if let (Some(_), Some(len)) = (self.elements_at(at), ends.elements) {
            return extend(&**driver, len).map(drop);
        }
        let len = self.base + ends.first;
        if driver.len().map_err(Error::io("length", 0, 0))? < len {
            commit::set_len(&**driver, len)
        } else {
            Ok(())
        }
    }

    /// Returns the number of bytes of the medium, the user block included.
    pub fn medium_bytes(&self) -> Result<u64> {
        let driver = self.driver()?;
        let failed = Error::io("length", 0, 0);
        if self.elements.is_none() && !self.has_parts() {
            return driver.len().map_err(failed);
        }
        Ok(self.base + self.ranges().iter().map(|range| range.end - range.start).sum::<u64>())
    }
}
