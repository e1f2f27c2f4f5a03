//! The mark that a program has a file open for writing: the File Consistency Flags (spec II.A). A writer of
//! SWMR that dies leaves it, and no program changes the file before it is taken away.

use std::sync::Arc;

use hyperslab_error::{Error, Result};
use hyperslab_format::superblock::{OPEN_FOR_SWMR, OPEN_FOR_WRITING, Superblock};
use hyperslab_io::driver::{Driver, Overlay};

use super::recovery::Report;
use super::writing::superblock_bytes;
use crate::commit;

const MARKS: u8 = OPEN_FOR_WRITING | OPEN_FOR_SWMR;

/// Returns whether the superblock has a mark. Version 2 has the flags, too, but no program heeds them there.
pub fn is_marked(superblock: &Superblock) -> bool {
    superblock.version() >= 2 && superblock.consistency_flags() & MARKS != 0
}

/// A marked file as it is without the mark.
#[derive(Debug)]
pub struct Unmarked {
    at: u64,
    file_len: u64,
    superblock: Vec<u8>,
}

impl Unmarked {
    /// Returns the states that the file of a report may get, the better one first. The stated end is right if
    /// hyperslab wrote the file. libhdf5 states it only when a file is closed, so the file may really end
    /// where the medium does.
    pub fn states(report: &Report) -> Vec<Self> {
        let (superblock, file_len) = (report.superblock(), report.view_len());
        let flags = superblock.consistency_flags() & !MARKS;
        let mut ends = vec![superblock.end_of_file(), file_len];
        ends.retain(|&end| end <= file_len);
        ends.dedup();
        let state = |end| Self {
            at: report.superblock_at(),
            file_len,
            superblock: superblock_bytes(superblock, end, Some(flags)),
        };
        ends.into_iter().map(state).collect()
    }

    /// Returns the file without the mark, for reading.
    pub fn view(&self, medium: Arc<dyn Driver>) -> Arc<dyn Driver> {
        Arc::new(Overlay::new(medium, vec![(self.at, self.superblock.clone())], self.file_len))
    }

    /// Takes the mark away. What the dead program wrote must be durable before, so that a loss of power does
    /// not leave a file that seems closed.
    pub fn write(&self, medium: &dyn Driver) -> Result<()> {
        let flush = || medium.flush(false).map_err(Error::io("flush", 0, 0));
        flush()?;
        commit::write(medium, self.at, &self.superblock)?;
        flush()
    }
}
