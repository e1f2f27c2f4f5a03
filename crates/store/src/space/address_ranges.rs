//! Media in several parts, with gaps between them (spec II.B): those of a file that is only read, or the
//! range of metadata and that of elements.

use std::io;
use std::ops::Range;

use hyperslab_error::Error;
use hyperslab_format::{Addr, Extent};
use hyperslab_io::driver::Driver;
use smallvec::{SmallVec, smallvec};

use super::raw_data_range::ElementRange;
use crate::Store;

/// Returns the parts of a medium, as addresses.
pub(crate) fn of(driver: &dyn Driver, base: u64) -> Box<[Range<u64>]> {
    let address = |offset: u64| offset.saturating_sub(base);
    driver.parts().into_iter().map(|part| address(part.start)..address(part.end)).collect()
}

impl Store {
    /// Returns whether the medium has several parts.
    pub fn has_parts(&self) -> bool {
        !self.parts.is_empty() || self.elements.is_some()
    }

    /// Returns the ranges of addresses that have bytes, in order.
    pub(crate) fn ranges(&self) -> SmallVec<[Range<u64>; 2]> {
        match &self.elements {
            Some(elements) => smallvec![0..self.len_bytes(), elements.start()..elements.end()],
            None if self.parts.is_empty() => smallvec![0..self.len_bytes()],
            None => self.parts.iter().cloned().collect(),
        }
    }

    /// Returns the end of the last range of addresses.
    pub fn end_of_addresses(&self) -> u64 {
        self.elements.as_ref().map_or_else(|| self.len_bytes(), ElementRange::end)
    }

    /// Returns whether some addresses below the length of the file have no bytes.
    pub fn has_gaps(&self) -> bool {
        self.parts.len() > 1 || self.elements.is_some()
    }

    /// Returns the number of bytes of `extent` that are not in gaps.
    pub fn bytes_in_parts(&self, extent: Extent) -> u64 {
        if !self.has_parts() {
            return extent.len;
        }
        let (start, end) = (extent.addr.get(), extent.addr.get().saturating_add(extent.len));
        self.ranges().iter().map(|part| part.end.min(end).saturating_sub(part.start.max(start))).sum()
    }

    /// Returns the end of the bytes that follow `at` without a gap.
    pub(crate) fn end_of_part(&self, at: Addr) -> u64 {
        if let Some(elements) = self.elements_at(at) {
            return elements.end();
        }
        if self.parts.is_empty() {
            return self.len_bytes();
        }
        let after = self.parts.partition_point(|part| part.start <= at.get());
        let part = after.checked_sub(1).and_then(|last| self.parts.get(last));
        part.map_or(0, |part| part.end)
    }

    /// Returns the error of reading the first byte of `extent` if the medium lacks the part that has it.
    pub(crate) fn missing_part(&self, extent: Extent) -> Option<Error> {
        if !self.has_parts() || extent.addr.is_undefined() {
            return None;
        }
        self.read_raw(extent.addr, &mut [0]).err().filter(
            |error| matches!(error, Error::Io { cause, .. } if cause.kind() != io::ErrorKind::UnexpectedEof),
        )
    }
}
