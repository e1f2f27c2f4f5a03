//! A file in memory, whose image grows with writes.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{RwLock, RwLockReadGuard};

use super::ahead::Medium;
use super::{Aside, Capabilities, Driver, Hints};
use crate::process;

/// An image of a file.
///
/// ```
/// use std::sync::Arc;
/// use hyperslab::{File, driver::Memory};
///
/// let memory = Arc::new(Memory::default());
/// File::options().create(true).open_on(memory.clone())?.close()?;
/// let copy = File::options().open_on(Arc::new(Memory::new(memory.bytes())))?;
/// assert!(copy.root().is_empty()?);
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Debug)]
pub struct Memory {
    image: RwLock<Vec<u8>>,
    /// The number of forks when the image was created.
    forks: u32,
    /// The file that a flush writes to, if any.
    backing: Option<PathBuf>,
    /// Whether the image has changed since it was written to that file.
    is_dirty: AtomicBool,
}

impl Default for Memory {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl Memory {
    /// Returns a file with these bytes.
    pub fn new(image: Vec<u8>) -> Self {
        let forks = process::forks();
        Self { image: RwLock::new(image), forks, backing: None, is_dirty: AtomicBool::new(false) }
    }

    /// Does the same as [`new`](Self::new). The next flush or close after a change replaces the file at `path`
    /// with the image, atomically.
    pub fn backed(image: Vec<u8>, path: PathBuf) -> Self {
        Self { backing: Some(path), ..Self::new(image) }
    }

    /// Returns a copy of the current bytes of the file.
    pub fn bytes(&self) -> Vec<u8> {
        self.image.read().clone()
    }

    /// Returns the bytes of the file.
    pub fn into_bytes(self) -> Vec<u8> {
        self.image.into_inner()
    }

    fn image(&self) -> io::Result<RwLockReadGuard<'_, Vec<u8>>> {
        if self.forks == process::forks() {
            return Ok(self.image.read());
        }
        // In a forked child, a thread that was writing at the time of the fork does not exist and cannot
        // finish.
        let image = self.image.try_read_recursive();
        image.ok_or_else(|| io::Error::other("the file was being written when this process was forked"))
    }
}

impl Medium for Memory {}

impl Driver for Memory {
    fn len(&self) -> io::Result<u64> {
        Ok(self.image()?.len() as u64)
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> io::Result<()> {
        let image = self.image()?;
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let bytes = start.checked_add(dst.len()).and_then(|end| image.get(start..end));
        dst.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_at(&self, offset: u64, src: &[u8]) -> io::Result<()> {
        let mut image = self.image.write();
        let start = usize::try_from(offset).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let end = start.checked_add(src.len()).ok_or(io::ErrorKind::FileTooLarge)?;
        if image.len() < end {
            image.resize(end, 0);
        }
        image[start..end].copy_from_slice(src);
        self.is_dirty.store(true, Ordering::Release);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let len = usize::try_from(len).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let mut image = self.image.write();
        image.resize(len, 0);
        self.is_dirty.store(true, Ordering::Release);
        Ok(())
    }

    fn flush(&self, _: bool) -> io::Result<()> {
        let Some(path) = &self.backing else { return Ok(()) };
        // No change comes in between: changes need the lock for writing.
        let image = self.image()?;
        if !self.is_dirty.load(Ordering::Acquire) {
            return Ok(());
        }
        let aside = Aside::new(path)?;
        aside.medium().write_at(0, &image)?;
        aside.finish()?;
        self.is_dirty.store(false, Ordering::Release);
        Ok(())
    }

    fn capabilities(&self) -> Capabilities<'_> {
        let hints = Hints { coalesce_gap: 0, max_span: u64::MAX, queue_depth: 1, concurrent: true };
        Capabilities::new("memory", hints)
    }
}
