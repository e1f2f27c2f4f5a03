//! Which rank encodes which chunk of a collective write, and in which round. Every rank knows which chunks
//! all ranks touch, so each makes the same division.
//!
//! A chunk that several ranks touch belongs to the one of them that has the fewest chunks so far; of several,
//! to the lowest. A round is bounded, so that few chunks and messages are in memory.

use std::collections::HashMap;

use hyperslab_error::{RequestError, Result};
use hyperslab_select::Coord;
use hyperslab_store::{Collective, Meeting};
use smallvec::SmallVec;

use super::exchange;
use crate::engine::plan::pieces::ReadTask;

/// What one rank does at the same time as the others. The numbers of tasks are positions in its list of
/// tasks.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Round {
    /// The tasks whose chunks this rank encodes.
    pub(super) own: Vec<usize>,
    /// The tasks whose elements this rank sends, each with the rank that encodes the chunk.
    pub(super) sent: Vec<(usize, usize)>,
    /// The largest number of ranks, of all ranks, that touch one chunk of the round.
    sharers: usize,
}

impl Round {
    /// Returns whether any rank sends elements.
    pub(super) fn is_shared(&self) -> bool {
        self.sharers > 1
    }
}

/// The ranks that touch a chunk, in their order, and what follows from that.
#[derive(Debug, Default)]
struct Touch {
    ranks: SmallVec<[usize; 2]>,
    owner: usize,
    round: usize,
}

/// Tells the other ranks which chunks this one touches, and hears the same of them. Returns the rounds of
/// this rank; all ranks have the same number.
pub(super) fn divide(
    collective: &Collective,
    tasks: &[ReadTask],
    axes: usize,
    piece_bytes: usize,
) -> Result<Vec<Round>> {
    let coords: Vec<u64> = tasks.iter().flat_map(|task| task.coord.iter().copied()).collect();
    let told = collective.meet(Meeting::Touched, Ok(exchange::bytes_of(&coords)))?;
    let told: Option<Vec<Vec<Coord>>> = told.iter().map(|bytes| coords_of(bytes, axes)).collect();
    let told = told.ok_or_else(|| collective.garbled())?;
    let rounds = rounds(&told, collective.rank(), ROUND_BYTES / piece_bytes.max(1));
    let sharers = rounds.iter().map(|round| round.sharers).max().unwrap_or_default();
    // All ranks see this, so none waits for the others.
    if sharers > 1 && sharers.saturating_mul(piece_bytes) > MESSAGE_BYTES {
        let why = "ranks that share a chunk send its elements to one of them, 1 GiB at most: write along the \
                   borders of chunks, or create the dataset with smaller ones";
        return Err(RequestError::Argument { what: "selection".to_owned(), why }.into());
    }
    Ok(rounds)
}

fn coords_of(bytes: &[u8], axes: usize) -> Option<Vec<Coord>> {
    let words = exchange::words_of(bytes)?;
    let coords = words.chunks_exact(axes.max(1));
    coords.remainder().is_empty().then(|| coords.map(Coord::from_slice).collect())
}

/// Returns the rounds of the rank `own`. `touched` has the chunks that each rank touches. The sum over a
/// round's chunks of the ranks that touch each is at most `limit`, or the round has one chunk.
fn rounds(touched: &[Vec<Coord>], own: usize, limit: usize) -> Vec<Round> {
    let mut touches: HashMap<&Coord, Touch> = HashMap::new();
    for (rank, coords) in touched.iter().enumerate() {
        for coord in coords {
            touches.entry(coord).or_default().ranks.push(rank);
        }
    }
    let mut counts = vec![0_u64; touched.len()];
    let mut shared = Vec::new();
    for (coord, touch) in &mut touches {
        match *touch.ranks {
            [only] => {
                touch.owner = only;
                counts[only] += 1;
            }
            _ => shared.push((*coord, touch)),
        }
    }
    shared.sort_unstable_by_key(|(coord, _)| *coord);
    for (_, touch) in shared {
        touch.owner = touch.ranks.iter().copied().min_by_key(|&rank| counts[rank]).unwrap_or_default();
        counts[touch.owner] += 1;
    }
    let mut rounds: Vec<Round> = Vec::new();
    for (rank, coords) in touched.iter().enumerate() {
        let (mut round, mut weight) = (0, 0);
        for (number, coord) in coords.iter().enumerate() {
            let Some(touch) = touches.get_mut(coord).filter(|touch| touch.owner == rank) else { continue };
            let more = touch.ranks.len();
            if weight > 0 && weight + more > limit {
                (round, weight) = (round + 1, 0);
            }
            weight += more;
            touch.round = round;
            if round == rounds.len() {
                rounds.push(Round::default());
            }
            rounds[round].sharers = rounds[round].sharers.max(more);
            if rank == own {
                rounds[round].own.push(number);
            }
        }
    }
    for (number, coord) in touched[own].iter().enumerate() {
        if let Some(touch) = touches.get(coord).filter(|touch| touch.owner != own) {
            rounds[touch.round].sent.push((number, touch.owner));
        }
    }
    rounds
}

/// The decoded size of the chunks of a rank's round, counted once for each rank that touches the chunk.
const ROUND_BYTES: usize = 64 << 20;
/// The bytes that a rank is sent at a time: the counts of MPI have 31 bits.
const MESSAGE_BYTES: usize = 1 << 30;

#[cfg(test)]
mod tests {
    use super::*;

    fn coords(numbers: &[u64]) -> Vec<Coord> {
        numbers.iter().map(|&number| Coord::from_slice(&[number])).collect()
    }

    /// Returns the rounds of every rank.
    fn all(touched: &[&[u64]], limit: usize) -> Vec<Vec<Round>> {
        let touched: Vec<Vec<Coord>> = touched.iter().map(|numbers| coords(numbers)).collect();
        (0..touched.len()).map(|rank| rounds(&touched, rank, limit)).collect()
    }

    #[test]
    fn a_chunk_of_one_rank_stays_with_it() {
        let all = all(&[&[0, 1], &[], &[2]], 8);
        let own: Vec<_> = all.iter().map(|rounds| rounds[0].own.clone()).collect();
        assert_eq!(own, [vec![0, 1], vec![], vec![0]]);
        assert!(all.iter().flatten().all(|round| !round.is_shared() && round.sent.is_empty()));
    }

    #[test]
    fn shared_chunks_go_to_the_rank_with_the_fewest() {
        // Rank 0 has chunks 0 and 1 to itself.
        let all = all(&[&[0, 1, 5, 6, 7], &[5, 6, 7]], 100);
        assert_eq!(all[0], [Round { own: vec![0, 1, 4], sent: vec![(2, 1), (3, 1)], sharers: 2 }]);
        assert_eq!(all[1], [Round { own: vec![0, 1], sent: vec![(2, 0)], sharers: 2 }]);
    }

    #[test]
    fn a_round_is_bounded_by_the_elements_that_come() {
        let all = all(&[&[0, 1, 2, 3, 4], &[3, 4]], 2);
        // Rank 1 owns both shared chunks, each of which fills a round.
        let own: Vec<_> = all[0].iter().map(|round| round.own.clone()).collect();
        assert_eq!(own, [vec![0, 1], vec![2]]);
        let sent: Vec<_> = all[0].iter().map(|round| round.sent.clone()).collect();
        assert_eq!(sent, [vec![(3, 1)], vec![(4, 1)]]);
        assert!(all.iter().flatten().all(Round::is_shared));
    }

    #[test]
    fn every_chunk_has_one_owner_and_comes_in_its_round() {
        let touched: [&[u64]; 4] = [&[9, 3, 4, 7], &[3, 4, 5], &[], &[7, 5, 3, 1]];
        for limit in 0..9 {
            let all = all(&touched, limit);
            let mut owned = HashMap::new();
            for (rank, rounds) in all.iter().enumerate() {
                assert_eq!(rounds.len(), all[0].len());
                for (round, own) in rounds.iter().enumerate() {
                    for &number in &own.own {
                        assert_eq!(owned.insert(touched[rank][number], (rank, round)), None);
                    }
                }
            }
            assert_eq!(owned.len(), 6);
            for (rank, rounds) in all.iter().enumerate() {
                for (round, own) in rounds.iter().enumerate() {
                    for &(number, owner) in &own.sent {
                        assert_eq!(owned[&touched[rank][number]], (owner, round));
                        assert!(own.is_shared() && owner != rank);
                    }
                }
                let sent = rounds.iter().map(|round| round.sent.len() + round.own.len()).sum::<usize>();
                assert_eq!(sent, touched[rank].len());
            }
        }
    }

    #[test]
    fn a_message_that_is_no_list_of_chunks_is_refused() {
        assert_eq!(coords_of(&exchange::bytes_of(&[1, 2, 3, 4]), 2).map(|coords| coords.len()), Some(2));
        assert_eq!(coords_of(&exchange::bytes_of(&[1, 2, 3]), 2), None);
        assert_eq!(coords_of(&[0; 9], 1), None);
    }
}
