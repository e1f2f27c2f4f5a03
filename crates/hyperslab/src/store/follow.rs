//! Reading while another program writes (SWMR: single writer, multiple readers). The writer writes each block
//! in one call and children before their parents, but a read may meet a write. Then the checksum is wrong, or
//! the block contradicts the one that led to it, and the block is read again.
//!
//! No lock is held meanwhile. A block that was cached before the header of its dataset was read may be older
//! than the header: [`Store::forget`] drops it.

use std::thread;
use std::time::Duration;

use super::Store;
use crate::error::{Error, Result};

impl Store {
    /// Returns whether the file is read while another program may write it.
    pub fn follows(&self) -> bool {
        self.follows
    }

    /// Runs `f`, which reads several blocks, and runs it again while it fails as a read does that meets a
    /// write of another program.
    pub fn patiently<T>(&self, mut f: impl FnMut() -> Result<T>) -> Result<T> {
        if self.follows { patiently(FEW_ATTEMPTS, f) } else { f() }
    }

    /// Does the same for one block.
    pub(super) fn very_patiently<T>(&self, mut f: impl FnMut() -> Result<T>) -> Result<T> {
        if self.follows { patiently(ATTEMPTS, f) } else { f() }
    }

    /// Drops everything that is cached, so that it is read again.
    pub fn forget(&self) {
        self.cache.clear();
    }
}

/// Runs `f`, and runs it again while the error may come from a write that another program has not finished.
pub(super) fn patiently<T>(attempts: u32, mut f: impl FnMut() -> Result<T>) -> Result<T> {
    let mut result = f();
    for attempt in 1..attempts {
        match &result {
            Err(error) if is_passing(error) => {}
            _ => break,
        }
        // Most writes end within microseconds; a writer that lost the processor takes longer.
        if attempt < QUICK_ATTEMPTS {
            thread::yield_now();
        } else {
            thread::sleep(PAUSE);
        }
        result = f();
    }
    result
}

/// Returns whether the cause of an error may be a write that is not finished.
fn is_passing(error: &Error) -> bool {
    matches!(error.root(), Error::Format(_) | Error::Chunk { .. })
        || matches!(error.root(), Error::Io { cause, .. } if cause.kind() == std::io::ErrorKind::UnexpectedEof)
}

/// The number of attempts to read a block, as in libhdf5.
pub(super) const ATTEMPTS: u32 = 100;
/// The number of attempts to read what spans several blocks, each of which is attempted as often.
const FEW_ATTEMPTS: u32 = 5;
/// The number of attempts before pauses.
const QUICK_ATTEMPTS: u32 = 20;
/// The pause before each of the other attempts.
const PAUSE: Duration = Duration::from_millis(2);

#[cfg(test)]
mod tests {
    use hyperslab_format::superblock::Superblock;
    use hyperslab_format::{Addr, ErrorKind};

    use super::*;
    use crate::error::{RequestError, broken};

    fn torn() -> Error {
        broken::<Superblock>(Addr::new(0), ErrorKind::Missing { what: "the other half" })
    }

    #[test]
    fn a_read_that_meets_a_write_is_repeated_within_a_bound() {
        let mut left = 7;
        let read = patiently(ATTEMPTS, || {
            left -= 1;
            if left == 0 { Ok(5) } else { Err(torn()) }
        });
        assert_eq!(read.unwrap(), 5);
        let mut attempts = 0;
        let failed = patiently(ATTEMPTS, || {
            attempts += 1;
            Err::<(), _>(torn())
        });
        assert!(failed.is_err());
        assert_eq!(attempts, ATTEMPTS);
    }

    #[test]
    fn an_error_that_no_write_causes_is_returned_at_once() {
        let mut attempts = 0;
        let failed = patiently(ATTEMPTS, || {
            attempts += 1;
            Err::<(), _>(RequestError::Closed.into())
        });
        assert!(failed.is_err());
        assert_eq!(attempts, 1);
    }
}
