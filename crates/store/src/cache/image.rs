//! Metadata cache images (spec IV.A.2.y): a program may leave the newest state of metadata in one block
//! instead of in their places. Readers see the blocks of the image at their addresses. A writer first puts
//! them there, as libhdf5 does.

use std::sync::Arc;

use hyperslab_error::{Error, Result, misfit};
use hyperslab_format::cache_image::{CacheImage, CacheImageEntry};
use hyperslab_format::header::ObjectHeader;
use hyperslab_format::message::small::CacheImageMessage;
use hyperslab_format::{Addr, Extent, Reader, Structure};
use hyperslab_io::driver::Overlay;

use crate::Store;

impl Store {
    /// Returns the file's cache image and its message, if there is one.
    fn cache_image(&self) -> Result<Option<(CacheImageMessage, CacheImage)>> {
        let Some(extension) = self.superblock.extension() else { return Ok(None) };
        // Neither the superblock nor its extension is ever in an image.
        let mut header = self.read::<ObjectHeader>(extension, &())?;
        while let Some(extent) = header.next_pending() {
            let bytes = self.bytes(extent, (ObjectHeader::NAME, ObjectHeader::SPEC))?;
            header.decode_continuation(&mut Reader::new(&bytes, self.widths(), extent.addr))?;
        }
        let Some(message) = header.own_message::<CacheImageMessage>(self.widths())? else { return Ok(None) };
        let CacheImageMessage { extent } = message;
        // A program that changes the image moves it, and leaves a message without an address meanwhile.
        if extent.addr.is_undefined() {
            return Ok(None);
        }
        self.check(extent, (CacheImage::NAME, CacheImage::SPEC))?;
        let mut image = self.read::<CacheImage>(extent.addr, &extent)?;
        image.entries.sort_by_key(|entry| entry.at);
        let mut end = Addr::new(0);
        for entry in &image.entries {
            let block = block(entry);
            self.check(block, (CacheImage::NAME, CacheImage::SPEC))?;
            if entry.at < end {
                let expected = "an address after the block before it";
                return Err(misfit::<CacheImage>(extent.addr, "entry address", entry.at.get(), expected));
            }
            end = block.end().unwrap_or(Addr::UNDEFINED);
        }
        Ok(Some((message, image)))
    }

    /// Shows the blocks of the file's cache image at their addresses, if it has an image.
    pub(crate) fn show_image(&self) -> Result<()> {
        let Some((_, image)) = self.cache_image()? else { return Ok(()) };
        let view = Arc::clone(&*self.driver()?);
        let len = view.len().map_err(Error::io("length", 0, 0))?;
        let offset = |entry: &CacheImageEntry| self.base.saturating_add(entry.at.get());
        let patches = image.entries.into_iter().map(|entry| (offset(&entry), entry.bytes)).collect();
        self.media.write().view = Some(Arc::new(Overlay::new(view, patches, len)));
        Ok(())
    }

    /// Writes the blocks of the cache image to their addresses. Returns the message, which the caller
    /// removes. Only their bytes change that the image replaces, so a crash leaves a valid file.
    pub fn settle_image(&self) -> Result<Option<CacheImageMessage>> {
        let Some((message, image)) = self.cache_image()? else { return Ok(None) };
        let mut media = self.media.write();
        let Some(medium) = media.medium.clone() else { return Ok(None) };
        for entry in &image.entries {
            let offset = self.base.saturating_add(entry.at.get());
            medium.write_at(offset, &entry.bytes).map_err(Error::io(
                "write",
                offset,
                entry.bytes.len() as u64,
            ))?;
        }
        medium.flush(true).map_err(Error::io("flush", 0, 0))?;
        media.view = Some(medium);
        Ok(Some(message))
    }
}

/// Returns the extent of an entry's block.
fn block(entry: &CacheImageEntry) -> Extent {
    Extent::new(entry.at, entry.bytes.len() as u64)
}
