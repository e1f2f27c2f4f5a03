//! Blocks of the file that are kept for metadata and small reads, and what to request when one is missing.

use std::io;
use std::ops::Range;

use parking_lot::Mutex;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

/// The size of a block in bytes. In the time of a request over a long way, a few of them arrive.
pub(crate) const BLOCK: u64 = BLOCK_LEN as u64;
const BLOCK_LEN: usize = 256 << 10;

/// The kept blocks of one file, within a budget of bytes.
#[derive(Debug)]
pub(crate) struct Blocks {
    cache: Cache<u64, Box<[u8]>, Bytes>,
    ahead: Mutex<Ahead>,
}

#[derive(Debug, Clone)]
struct Bytes;

impl Weighter<u64, Box<[u8]>> for Bytes {
    fn weight(&self, _: &u64, block: &Box<[u8]>) -> u64 {
        block.len() as u64
    }
}

/// Reading ahead: each request that continues the one before has twice its length.
#[derive(Debug)]
struct Ahead {
    /// The number of the block after the last request.
    next: u64,
    /// The number of blocks of the last request.
    count: u64,
}

impl Ahead {
    /// Returns the number of blocks to request from `first` on, of which `needed` are needed.
    fn advance(&mut self, first: u64, needed: u64) -> u64 {
        let follows = first >= self.next && first - self.next <= 1;
        let count = if follows { (self.count * 2).min(MOST_AHEAD) } else { 1 };
        let count = count.max(needed);
        *self = Self { next: first + count, count };
        count
    }
}

/// The most blocks of one request.
const MOST_AHEAD: u64 = 16;

impl Blocks {
    pub(crate) fn new(capacity: u64) -> Self {
        let items = usize::try_from(capacity / BLOCK).unwrap_or(usize::MAX).max(1);
        Self {
            cache: Cache::with_weighter(items, capacity, Bytes),
            ahead: Mutex::new(Ahead { next: u64::MAX, count: 1 }),
        }
    }

    /// Returns whether all blocks of `range` are kept.
    pub(crate) fn has(&self, range: Range<u64>) -> bool {
        (range.start / BLOCK..range.end.div_ceil(BLOCK)).all(|number| self.cache.get(&number).is_some())
    }

    /// Copies the bytes at `offset` to `dst` if all of their blocks are kept.
    pub(crate) fn copy(&self, offset: u64, dst: &mut [u8]) -> bool {
        let mut done = 0;
        while done < dst.len() {
            let at = offset + done as u64;
            let Some(block) = self.cache.get(&(at / BLOCK)) else { return false };
            let start = usize::try_from(at % BLOCK).unwrap_or(usize::MAX);
            let Some(bytes) = block.get(start..).filter(|bytes| !bytes.is_empty()) else { return false };
            let count = bytes.len().min(dst.len() - done);
            dst[done..done + count].copy_from_slice(&bytes[..count]);
            done += count;
        }
        true
    }

    /// Returns the range to request for the bytes in `range`, in a file of `len` bytes: whole blocks, and
    /// more of them if this continues the request before.
    pub(crate) fn missing(&self, range: &Range<u64>, len: u64) -> Range<u64> {
        let (mut first, end) = (range.start / BLOCK, range.end.div_ceil(BLOCK));
        while first + 1 < end && self.cache.get(&first).is_some() {
            first += 1;
        }
        let count = self.ahead.lock().advance(first, end - first);
        let known = (end..first + count).find(|number| self.cache.get(number).is_some());
        first * BLOCK..(known.unwrap_or(first + count) * BLOCK).min(len)
    }

    /// Keeps the blocks of `bytes`, which begin at a block.
    ///
    /// Errors: there is no memory.
    pub(crate) fn keep(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        for (number, block) in (offset / BLOCK..).zip(bytes.chunks(BLOCK_LEN)) {
            let mut kept = Vec::new();
            kept.try_reserve_exact(block.len()).map_err(|_| io::ErrorKind::OutOfMemory)?;
            kept.extend_from_slice(block);
            self.cache.insert(number, kept.into_boxed_slice());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_that_continue_grow_up_to_a_bound() {
        let blocks = Blocks::new(64 * BLOCK);
        let len = 100 * BLOCK + 5;
        let mut at = 3 * BLOCK + 7;
        for count in [1, 2, 4, 8, 16, 16] {
            let range = blocks.missing(&(at..at + 10), len);
            assert_eq!(range, at / BLOCK * BLOCK..(at / BLOCK + count) * BLOCK);
            at = range.end;
        }
        assert_eq!(blocks.missing(&(0..1), len), 0..BLOCK, "a jump begins anew");
        assert_eq!(blocks.missing(&(len - 1..len), len), 100 * BLOCK..len, "the last block is shorter");
    }

    #[test]
    fn blocks_that_are_kept_are_not_requested() {
        let blocks = Blocks::new(64 * BLOCK);
        let len = 100 * BLOCK;
        blocks.keep(5 * BLOCK, &vec![5; BLOCK_LEN]).unwrap();
        assert_eq!(blocks.missing(&(6 * BLOCK - 1..6 * BLOCK + 1), len), 6 * BLOCK..7 * BLOCK);
        assert_eq!(blocks.missing(&(3 * BLOCK..3 * BLOCK + 1), len), 3 * BLOCK..4 * BLOCK);
        assert_eq!(blocks.missing(&(4 * BLOCK..4 * BLOCK + 1), len), 4 * BLOCK..5 * BLOCK);
        let mut two = [0; 2];
        assert!(blocks.has(5 * BLOCK..6 * BLOCK) && !blocks.has(5 * BLOCK..6 * BLOCK + 1));
        assert!(blocks.copy(5 * BLOCK, &mut two));
        assert_eq!(two, [5; 2]);
        assert!(!blocks.copy(6 * BLOCK - 1, &mut two), "the second byte is in a block that is not kept");
    }

    #[test]
    fn kept_blocks_stay_within_the_budget() {
        let blocks = Blocks::new(8 * BLOCK);
        let block = vec![1; BLOCK_LEN];
        for number in 0..100 {
            blocks.keep(number * BLOCK, &block).unwrap();
        }
        assert!(blocks.cache.weight() <= 8 * BLOCK);
        assert!(blocks.cache.len() >= 4);
    }
}
