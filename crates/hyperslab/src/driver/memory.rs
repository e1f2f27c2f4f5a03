//! A file in memory: an image that grows as it is written.

use std::io;

use parking_lot::RwLock;

use super::{Driver, Hints};

/// An image of a file.
#[derive(Debug, Default)]
pub struct Memory {
    image: RwLock<Vec<u8>>,
}

impl Memory {
    /// The file with these bytes.
    pub fn new(image: Vec<u8>) -> Self {
        Self { image: RwLock::new(image) }
    }

    /// A copy of the bytes of the file as they are now.
    pub fn bytes(&self) -> Vec<u8> {
        self.image.read().clone()
    }

    /// The bytes of the file.
    pub fn into_bytes(self) -> Vec<u8> {
        self.image.into_inner()
    }
}

impl Driver for Memory {
    fn len(&self) -> io::Result<u64> {
        Ok(self.image.read().len() as u64)
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> io::Result<()> {
        let image = self.image.read();
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
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let len = usize::try_from(len).map_err(|_| io::ErrorKind::FileTooLarge)?;
        self.image.write().resize(len, 0);
        Ok(())
    }

    fn flush(&self, _closing: bool) -> io::Result<()> {
        Ok(())
    }

    fn hints(&self) -> Hints {
        Hints { coalesce_gap: 0, max_span: u64::MAX, queue_depth: 1, concurrent: true }
    }
}
