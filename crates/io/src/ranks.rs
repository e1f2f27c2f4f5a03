//! What a file that several processes change together needs of them.

use std::fmt::Debug;
use std::io;

/// The processes that have one file open together, numbered from 0: the ranks of a communicator of MPI.
///
/// Every rank makes the calls that change the file, in the same order, and each rank writes its own elements.
/// Every rank also makes the same calls of this trait, in the same order; a call returns when all ranks have
/// made it. A thread of each rank calls at a time.
///
/// An error means that the ranks cannot reach each other any more. The file is then unusable on all ranks
/// that see the error, and stays as it was committed last.
pub trait Ranks: Debug + Send + Sync {
    /// Returns the number of this rank.
    fn rank(&self) -> usize;

    /// Returns the number of ranks, 1 or more.
    fn size(&self) -> usize;

    /// Gives the bytes of each rank to all ranks. Returns those of every rank, in the order of the ranks.
    fn all_gather(&self, mine: &[u8]) -> io::Result<Vec<Vec<u8>>>;

    /// Sends `to[rank]` to each rank. Returns what every rank has sent to this one, in the order of the
    /// ranks.
    fn exchange(&self, to: &[Vec<u8>]) -> io::Result<Vec<Vec<u8>>>;
}
