//! Media in several parts, with gaps between them (spec II.B).

use std::io;
use std::ops::Range;

use hyperslab_format::{Addr, Extent};

use super::Store;
use crate::driver::Driver;
use crate::error::Error;

/// Returns the parts of a medium, as addresses.
pub(super) fn of(driver: &dyn Driver, base: u64) -> Box<[Range<u64>]> {
    let address = |offset: u64| offset.saturating_sub(base);
    driver.parts().into_iter().map(|part| address(part.start)..address(part.end)).collect()
}

impl Store {
    /// Returns whether the medium has several parts.
    pub fn has_parts(&self) -> bool {
        !self.parts.is_empty()
    }

    /// Returns whether some addresses below the length of the file have no bytes.
    pub fn has_gaps(&self) -> bool {
        self.parts.len() > 1
    }

    /// Returns the number of bytes of `extent` that are not in gaps.
    pub fn bytes_in_parts(&self, extent: Extent) -> u64 {
        if self.parts.is_empty() {
            return extent.len;
        }
        let (start, end) = (extent.addr.get(), extent.addr.get().saturating_add(extent.len));
        self.parts.iter().map(|part| part.end.min(end).saturating_sub(part.start.max(start))).sum()
    }

    /// Returns the end of the bytes that follow `at` without a gap.
    pub(super) fn end_of_part(&self, at: Addr) -> u64 {
        if self.parts.is_empty() {
            return self.len_bytes();
        }
        let after = self.parts.partition_point(|part| part.start <= at.get());
        let part = after.checked_sub(1).and_then(|last| self.parts.get(last));
        part.map_or(0, |part| part.end)
    }

    /// Returns the error of reading the first byte of `extent` if the medium lacks the part that has it.
    pub(super) fn missing_part(&self, extent: Extent) -> Option<Error> {
        if self.parts.is_empty() || extent.addr.is_undefined() {
            return None;
        }
        self.read_raw(extent.addr, &mut [0]).err().filter(
            |error| matches!(error, Error::Io { cause, .. } if cause.kind() != io::ErrorKind::UnexpectedEof),
        )
    }
}
