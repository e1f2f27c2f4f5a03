//! The ranks of a file, by a communicator of MPI.

use std::io;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use hyperslab::Ranks;
use mpi::Count;

use crate::sys::Comm;

/// The ranks of a communicator, for a file that they change together
/// ([`OpenOptions::ranks`](hyperslab::OpenOptions::ranks)).
///
/// Messages go through a duplicate of the communicator, so they do not mix with those of the program. The
/// duplicate is freed when this value is dropped, on all ranks, unless MPI has ended by then.
#[derive(Debug)]
pub struct Communicator {
    comm: Comm,
    rank: usize,
    size: usize,
    /// The most bytes that a rank sends or receives in one call of MPI.
    round_bytes: usize,
    /// Held during a call: MPI's calls on one communicator have one order.
    busy: Mutex<()>,
}

impl Communicator {
    /// Duplicates a communicator, on all of its ranks.
    ///
    /// Errors: `NotConnected` if MPI is not running; `InvalidInput` if it is a communicator of two groups.
    ///
    /// ```no_run
    /// use hyperslab_mpio::Communicator;
    ///
    /// let universe = mpi::initialize().expect("MPI is not initialized before");
    /// let ranks = Communicator::new(&universe.world())?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn new(of: &impl mpi::traits::Communicator) -> io::Result<Self> {
        let comm = Comm::duplicate(of)?;
        let (rank, size) = (comm.rank()?, comm.size()?);
        Ok(Self { comm, rank, size, round_bytes: ROUND_BYTES, busy: Mutex::default() })
    }

    /// Sets the most bytes of one call of MPI, on all ranks alike. For tests of messages in several rounds.
    #[doc(hidden)]
    #[must_use]
    pub fn with_round_bytes(mut self, bytes: usize) -> Self {
        self.round_bytes = bytes;
        self
    }

    pub(crate) fn comm(&self) -> &Comm {
        &self.comm
    }

    /// Returns the most bytes of a message that go in one round. Those to or from all ranks are then no more
    /// than [`round_bytes`](Self::round_bytes), which MPI can count.
    fn piece(&self) -> u64 {
        (self.round_bytes / self.size).max(1) as u64
    }
}

impl Ranks for Communicator {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn all_gather(&self, mine: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        let _busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        let lens = self.comm.all_gather_numbers(mine.len() as u64)?;
        let rounds = Rounds { piece: self.piece() };
        let mut all: Vec<Vec<u8>> = lens.iter().map(|&len| Vec::with_capacity(index(len))).collect();
        // Every rank knows all lengths, and so the number of rounds.
        for round in 0..rounds.of(&lens) {
            let counts: Vec<Count> = lens.iter().map(|&len| rounds.count(round, len)).collect();
            let came = self.comm.all_gather(&mine[rounds.part(round, mine.len() as u64)], &counts)?;
            distribute(&came, &counts, &mut all);
        }
        Ok(all)
    }

    fn exchange(&self, to: &[Vec<u8>]) -> io::Result<Vec<Vec<u8>>> {
        let _busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        // The others must not wait for a rank that has made a mistake.
        let lens: Vec<u64> = if to.len() == self.size {
            to.iter().map(|message| message.len() as u64).collect()
        } else {
            vec![WRONG; self.size]
        };
        let from_lens = self.comm.exchange_numbers(&lens)?;
        if let Some(rank) = from_lens.iter().position(|&len| len == WRONG) {
            let why = format!("rank {rank} has not one message for each of the {} ranks", self.size);
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let rounds = Rounds { piece: self.piece() };
        let mut all: Vec<Vec<u8>> = from_lens.iter().map(|&len| Vec::with_capacity(index(len))).collect();
        // A rank knows its own messages only.
        let most = self.comm.greatest(rounds.of(&lens).max(rounds.of(&from_lens)))?;
        for round in 0..most {
            let part = |message: &Vec<u8>| rounds.part(round, message.len() as u64);
            let sent: Vec<u8> = to.iter().flat_map(|message| &message[part(message)]).copied().collect();
            let counts = |lens: &[u64]| lens.iter().map(|&len| rounds.count(round, len)).collect::<Vec<_>>();
            let (to_counts, from_counts) = (counts(&lens), counts(&from_lens));
            let came = self.comm.exchange(&sent, &to_counts, &from_counts)?;
            distribute(&came, &from_counts, &mut all);
        }
        Ok(all)
    }
}

/// Messages in rounds of at most `piece` bytes each.
struct Rounds {
    piece: u64,
}

impl Rounds {
    /// Returns the number of rounds for messages of these lengths.
    fn of(&self, lens: &[u64]) -> u64 {
        lens.iter().max().map_or(0, |len| len.div_ceil(self.piece))
    }

    /// Returns the bytes of a message of this length that go in a round.
    fn part(&self, round: u64, len: u64) -> Range<usize> {
        let at = |round: u64| index(round.saturating_mul(self.piece).min(len));
        at(round)..at(round + 1)
    }

    /// Returns their number.
    fn count(&self, round: u64, len: u64) -> Count {
        // The piece of a round fits, since `ROUND_BYTES` does.
        Count::try_from(self.part(round, len).len()).unwrap_or(Count::MAX)
    }
}

/// Appends the bytes of a round to the messages.
fn distribute(mut came: &[u8], counts: &[Count], all: &mut [Vec<u8>]) {
    for (message, &count) in all.iter_mut().zip(counts) {
        let (part, rest) = came.split_at(usize::try_from(count).unwrap_or_default());
        message.extend_from_slice(part);
        came = rest;
    }
}

fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The bytes of a round: below the 2^31 that MPI can count, and little beside the messages themselves.
const ROUND_BYTES: usize = 256 << 20;
/// In place of a length: a message is missing.
const WRONG: u64 = u64::MAX;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rounds_of_a_message_cover_it_once() {
        for (piece, len) in [(1, 0), (1, 3), (4, 8), (4, 9), (10, 9), (u64::MAX, 5)] {
            let rounds = Rounds { piece };
            let parts: Vec<_> = (0..rounds.of(&[0, len])).map(|round| rounds.part(round, len)).collect();
            assert!(parts.iter().all(|part| part.len() as u64 <= piece), "{parts:?}");
            let covered: Vec<usize> = parts.into_iter().flatten().collect();
            assert_eq!(covered, (0..index(len)).collect::<Vec<_>>(), "{piece}, {len}");
            assert!(rounds.part(len + 1, len).is_empty(), "a shorter message has nothing in late rounds");
        }
    }
}
