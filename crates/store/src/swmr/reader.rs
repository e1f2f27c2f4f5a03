//! Reading while another program writes (SWMR: single writer, multiple readers). The writer writes each block
//! in one call and children before their parents, but a read may meet a write. Then the checksum is wrong, or
//! the block contradicts the one that led to it, and the block is read again.
//!
//! No lock is held meanwhile. A block that was cached before the header of its dataset was read may be older
//! than the header: [`Store::forget`] drops it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use hyperslab_error::{Error, Result};

use crate::Store;

/// The number of pauses that reads may still make. A read that succeeds after a pause restores it: the file
/// has a writer. In a damaged file, all reads together wait for a second, and then do not wait any more.
#[derive(Debug)]
pub(crate) struct Patience(AtomicU32);

impl Default for Patience {
    fn default() -> Self {
        Self(AtomicU32::new(PAUSES))
    }
}

impl Patience {
    /// Takes one pause. Returns `false` if none is left.
    fn take(&self) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
    }
}

impl Store {
    /// Returns whether the file is read while another program may write it.
    pub fn follows(&self) -> bool {
        self.follows
    }

    /// Runs `f`, which reads several blocks, and runs it again while it fails as a read does that meets a
    /// write of another program.
    pub fn patiently<T>(&self, mut f: impl FnMut() -> Result<T>) -> Result<T> {
        if self.follows { patiently(&self.patience, FEW_ATTEMPTS, f) } else { f() }
    }

    /// Does the same for one block.
    pub(crate) fn very_patiently<T>(&self, mut f: impl FnMut() -> Result<T>) -> Result<T> {
        if self.follows { patiently(&self.patience, ATTEMPTS, f) } else { f() }
    }

    /// Drops everything that is cached, so that it is read again.
    pub fn forget(&self) {
        self.cache.clear();
    }
}

/// Runs `f`, and runs it again while the error may come from a write that another program has not finished.
pub(crate) fn patiently<T>(
    patience: &Patience,
    attempts: u32,
    mut f: impl FnMut() -> Result<T>,
) -> Result<T> {
    let mut result = f();
    let mut has_paused = false;
    for attempt in 1..attempts {
        match &result {
            Err(error) if is_passing(error) => {}
            _ => break,
        }
        // Most writes end within microseconds; a writer that lost the processor takes longer.
        if attempt < QUICK_ATTEMPTS {
            thread::yield_now();
        } else if patience.take() {
            thread::sleep(PAUSE);
            has_paused = true;
        } else {
            break;
        }
        result = f();
    }
    if has_paused && result.is_ok() {
        patience.0.store(PAUSES, Ordering::Relaxed);
    }
    result
}

/// Returns whether the cause of an error may be a write that is not finished.
fn is_passing(error: &Error) -> bool {
    matches!(error.root(), Error::Format(_) | Error::Chunk { .. })
        || matches!(error.root(), Error::Io { cause, .. } if cause.kind() == std::io::ErrorKind::UnexpectedEof)
}

/// The number of attempts to read a block, as in libhdf5.
pub(crate) const ATTEMPTS: u32 = 100;
/// The number of attempts to read what spans several blocks, each of which is attempted as often.
const FEW_ATTEMPTS: u32 = 5;
/// The number of attempts before pauses.
const QUICK_ATTEMPTS: u32 = 20;
/// The pause before each of the other attempts.
const PAUSE: Duration = Duration::from_millis(2);
/// The number of pauses without success after which there are no more: those of six blocks.
const PAUSES: u32 = 500;

#[cfg(test)]
mod tests {
    use hyperslab_format::superblock::Superblock;
    use hyperslab_format::{Addr, ErrorKind};

    use super::*;
    use hyperslab_error::{RequestError, broken};

    fn torn() -> Error {
        broken::<Superblock>(Addr::new(0), ErrorKind::Missing { what: "the other half" })
    }

    #[test]
    fn a_read_that_meets_a_write_is_repeated_within_a_bound() {
        let mut left = 7;
        let read = patiently(&Patience::default(), ATTEMPTS, || {
            left -= 1;
            if left == 0 { Ok(5) } else { Err(torn()) }
        });
        assert_eq!(read.unwrap(), 5);
        let mut attempts = 0;
        let failed = patiently(&Patience::default(), ATTEMPTS, || {
            attempts += 1;
            Err::<(), _>(torn())
        });
        assert!(failed.is_err());
        assert_eq!(attempts, ATTEMPTS);
    }

    #[test]
    fn reads_of_a_damaged_file_wait_for_a_second_in_all() {
        let patience = Patience(AtomicU32::new(3));
        let mut attempts = 0;
        let mut failing = || {
            attempts += 1;
            Err::<(), _>(torn())
        };
        assert!(patiently(&patience, ATTEMPTS, &mut failing).is_err());
        assert!(patiently(&patience, ATTEMPTS, &mut failing).is_err());
        assert_eq!(attempts, QUICK_ATTEMPTS + 3 + QUICK_ATTEMPTS);
        let (patience, mut left) = (Patience(AtomicU32::new(3)), QUICK_ATTEMPTS + 2);
        let read = patiently(&patience, ATTEMPTS, || {
            left -= 1;
            if left == 0 { Ok(()) } else { Err(torn()) }
        });
        assert!(read.is_ok() && patience.0.into_inner() == PAUSES, "a file with a writer");
    }

    #[test]
    fn an_error_that_no_write_causes_is_returned_at_once() {
        let mut attempts = 0;
        let failed = patiently(&Patience::default(), ATTEMPTS, || {
            attempts += 1;
            Err::<(), _>(RequestError::Closed.into())
        });
        assert!(failed.is_err());
        assert_eq!(attempts, 1);
    }
}
