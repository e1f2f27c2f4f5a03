//! Writes outside commits: the data of datasets, and space that nothing refers to yet.

use hyperslab_error::{Error, Result};
use hyperslab_format::{Addr, Extent};
use hyperslab_io::driver::WriteRequest;
use smallvec::SmallVec;

use crate::{Collective, Store};

impl Store {
    /// Writes bytes to space that belongs to their dataset, or that nothing refers to yet.
    pub fn write_data(&self, at: Addr, bytes: &[u8]) -> Result<()> {
        self.write_batch([(at, bytes)])
    }

    /// Writes several runs of bytes at once. Runs do not overlap.
    pub fn write_batch<'b>(&self, runs: impl IntoIterator<Item = (Addr, &'b [u8])>) -> Result<()> {
        if self.collective().is_none_or(Collective::is_alone) {
            return self.write_once(runs);
        }
        let runs: Vec<(Addr, &[u8])> = runs.into_iter().collect();
        self.once(|| checksum(runs.iter().copied()), || self.write_once(runs.iter().copied()))
    }

    fn write_once<'b>(&self, runs: impl IntoIterator<Item = (Addr, &'b [u8])>) -> Result<()> {
        let writing = self.writing()?;
        writing.check()?;
        let request =
            |(at, src): (Addr, &'b [u8])| WriteRequest { offset: self.base.saturating_add(at.get()), src };
        let requests: SmallVec<[WriteRequest<'_>; 1]> = runs.into_iter().map(request).collect();
        let Some(first) = requests.first() else { return Ok(()) };
        writing.cut_tail(self)?;
        let bytes: u64 = requests.iter().map(|request| request.src.len() as u64).sum();
        self.driver()?.write_batch(&requests).map_err(Error::io("write", first.offset, bytes))?;
        // After the write: a flush during the write need not have made it durable.
        let ends = requests.iter().map(|request| request.offset - self.base + request.src.len() as u64);
        match &self.elements {
            None => writing.wrote(ends.max().unwrap_or(0)),
            Some(range) => {
                let (elements, first): (Vec<u64>, Vec<u64>) = ends.partition(|end| range.has(*end));
                range.wrote(elements.into_iter().max().unwrap_or(0));
                writing.wrote(first.into_iter().max().unwrap_or(0));
            }
        }
        Ok(())
    }

    /// Prepares space that nothing refers to yet for being written whole.
    pub fn reserve(&self, extent: Extent) -> Result<()> {
        if extent.len < RESERVE_FROM {
            return Ok(());
        }
        let what = || checksum([(extent.addr, extent.len.to_le_bytes().as_slice())]);
        self.once(what, || {
            let writing = self.writing()?;
            // After a commit that failed half-way, the journal has to stay at the end.
            writing.check()?;
            writing.cut_tail(self)?;
            let offset = self.base.saturating_add(extent.addr.get());
            self.driver()?.reserve(offset, extent.len).map_err(Error::io("make room", offset, extent.len))
        })
    }

    /// Writes zeros to space that nothing refers to yet; extends the file if it ends before that space.
    pub fn zero(&self, extent: Extent) -> Result<()> {
        self.once(
            || checksum([(extent.addr, extent.len.to_le_bytes().as_slice())]),
            || self.zero_once(extent),
        )
    }

    fn zero_once(&self, extent: Extent) -> Result<()> {
        let written = self.medium_end(extent.addr)?;
        let end = extent.addr.get().saturating_add(extent.len);
        let len = end.min(written).saturating_sub(extent.addr.get());
        self.fill_once(Extent::new(extent.addr, len), &[0])?;
        if end <= written {
            return Ok(());
        }
        let writing = self.writing()?;
        writing.cut_tail(self)?;
        self.extend_medium(extent.addr)?;
        if self.elements_at(extent.addr).is_some() {
            writing.wrote_elements();
        }
        Ok(())
    }

    /// Writes copies of `value`, one after another, to space that nothing refers to yet.
    pub fn fill(&self, extent: Extent, value: &[u8]) -> Result<()> {
        let what = || checksum([(extent.addr, extent.len.to_le_bytes().as_slice()), (extent.addr, value)]);
        self.once(what, || self.fill_once(extent, value))
    }

    fn fill_once(&self, extent: Extent, value: &[u8]) -> Result<()> {
        let at_most = usize::try_from(extent.len).unwrap_or(FILL_BYTES).min(FILL_BYTES);
        let piece = value.repeat(at_most.div_ceil(value.len().max(1)).max(1));
        let mut at = 0;
        while at < extent.len {
            let len = (extent.len - at).min(piece.len() as u64);
            let from = extent.addr.checked_add(at).unwrap_or(Addr::UNDEFINED);
            self.write_data(from, &piece[..usize::try_from(len).unwrap_or(piece.len())])?;
            at += len;
        }
        Ok(())
    }
}

/// Returns a number that differs if other bytes, or the same bytes elsewhere, are written.
pub(crate) fn checksum<'b>(runs: impl IntoIterator<Item = (Addr, &'b [u8])>) -> u32 {
    runs.into_iter().fold(0, |crc, (at, bytes)| {
        crc32c::crc32c_append(crc32c::crc32c_append(crc, &at.get().to_le_bytes()), bytes)
    })
}

/// The largest number of bytes that one fill writes at a time.
const FILL_BYTES: usize = 1 << 20;
/// Shorter writes gain less from a reservation than it costs.
const RESERVE_FROM: u64 = 1 << 20;
