//! Copies stored bytes from file to file, or within one file.

use hyperslab_error::Result;
use hyperslab_format::{Addr, Extent};
use hyperslab_store::Store;

use crate::engine::raw_data::RAW_DATA;
use crate::engine::scratch::sized;
use crate::engine::task_queue;
use crate::engine::task_queue::workers_on;

/// A copy of one extent.
#[derive(Debug, Clone, Copy)]
pub struct Move {
    /// The bytes to copy.
    pub from: Extent,
    /// The target address, in allocated space that no structure refers to yet.
    pub to: Addr,
}

/// Copies all `moves` from one store to the other, or within one store. Uses several threads for many bytes.
pub fn copy_extents(from: &Store, to: &Store, moves: &[Move]) -> Result<()> {
    moves.iter().try_for_each(|one| from.check(one.from, RAW_DATA).map(drop))?;
    let pieces = pieces(moves);
    let bytes: u64 = pieces.iter().map(|piece| piece.from.len).sum();
    let mean = bytes / (pieces.len() as u64).max(1);
    let workers = workers_on(from, pieces.len(), mean, None).min(workers_on(to, pieces.len(), mean, None));
    // Ranks write in the same order.
    let workers = if to.collective().is_some() { 1 } else { workers };
    task_queue::run(&pieces, workers, usize::try_from(mean).unwrap_or(usize::MAX), &|pieces, scratch| {
        pieces.iter().try_for_each(|piece| {
            let bytes = sized(&mut scratch.stored, usize::try_from(piece.from.len).unwrap_or(usize::MAX))?;
            from.read_raw(piece.from.addr, bytes)?;
            to.write_data(piece.to, bytes)
        })
    })
}

/// Divides the same bytes into as few pieces of at most [`PIECE_BYTES`] as possible. Extents that are
/// adjacent in both places become one.
fn pieces(moves: &[Move]) -> Vec<Move> {
    let mut pieces: Vec<Move> = Vec::new();
    for &one in moves {
        if let Some(last) = pieces.last_mut()
            && last.from.end() == Some(one.from.addr)
            && last.to.checked_add(last.from.len) == Some(one.to)
            && last.from.len + one.from.len <= PIECE_BYTES
        {
            last.from.len += one.from.len;
            continue;
        }
        let mut rest = one;
        while rest.from.len > PIECE_BYTES {
            let (Some(next), Some(to)) =
                (rest.from.addr.checked_add(PIECE_BYTES), rest.to.checked_add(PIECE_BYTES))
            else {
                break;
            };
            pieces.push(Move { from: Extent::new(rest.from.addr, PIECE_BYTES), to: rest.to });
            rest = Move { from: Extent::new(next, rest.from.len - PIECE_BYTES), to };
        }
        pieces.push(rest);
    }
    pieces
}

/// The maximum number of bytes that are read and written at a time.
const PIECE_BYTES: u64 = 4 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn one(from: u64, len: u64, to: u64) -> Move {
        Move { from: Extent::new(Addr::new(from), len), to: Addr::new(to) }
    }

    #[test]
    fn extents_adjacent_in_both_places_are_copied_as_one() {
        let found = pieces(&[one(10, 5, 100), one(15, 5, 105), one(20, 5, 111), one(30, 5, 116)]);
        let found: Vec<_> =
            found.iter().map(|piece| (piece.from.addr.get(), piece.from.len, piece.to.get())).collect();
        assert_eq!(found, [(10, 10, 100), (20, 5, 111), (30, 5, 116)]);
    }

    #[test]
    fn a_long_run_is_copied_in_pieces() {
        let found = pieces(&[one(0, 2 * PIECE_BYTES + 1, 7)]);
        let found: Vec<_> =
            found.iter().map(|piece| (piece.from.addr.get(), piece.from.len, piece.to.get())).collect();
        let piece = PIECE_BYTES;
        assert_eq!(found, [(0, piece, 7), (piece, piece, 7 + piece), (2 * piece, 1, 7 + 2 * piece)]);
    }
}
