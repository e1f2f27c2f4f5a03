//! The speed of reading a file: the latency of a small request, and the bandwidth, with the file's pages in
//! memory and without.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use fastrand::Rng;
use hyperslab::internals::engine::run_on_threads;
use hyperslab_io::os::read_exact_at;

use crate::model::{Medium, real};

/// The result of measuring a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured {
    pub(crate) cold: Medium,
    pub(crate) warm: Medium,
    /// Whether the system dropped pages on request.
    pub(crate) is_dropped: bool,
}

/// Reads from all over `file`, on up to `threads` threads, cold and warm.
pub(crate) fn measure(file: &File, threads: usize) -> io::Result<Measured> {
    let len = file.metadata()?.len();
    let mut rng = Rng::with_seed(SEED);
    let pages = places(len, PAGE, PAGES, &mut rng);
    let more_pages = places(len, PAGE, PAGES * threads as u64, &mut rng);
    let pieces = places(len, PIECE, (SPAN / PIECE).min(len.div_ceil(PIECE)), &mut rng);
    let mut mediums = [None, None];
    for (is_cold, medium) in [(true, 0), (false, 1)] {
        let timed = |places: &[u64], size, threads| {
            if is_cold {
                drop_pages(file)?;
            } else {
                read_all(file, places, size, threads)?;
            }
            read_all(file, places, size, threads)
        };
        let latency = timed(&pages, PAGE, 1)? / real(pages.len() as u64);
        let together = timed(&more_pages, PAGE, threads)? / real(more_pages.len() as u64);
        let seconds = timed(&pieces, PIECE, threads)?;
        let moved: u64 = pieces.iter().map(|place| PIECE.min(len - place)).sum();
        // The latency of these requests is subtracted.
        let waiting = (latency * real(pieces.len() as u64) / real(threads as u64)).min(seconds / 2.0);
        mediums[medium] = Some(Medium {
            latency,
            bandwidth: real(moved) / (seconds - waiting).max(1e-9),
            parallelism: (latency / together.max(1e-12)).clamp(1.0, real(threads as u64)),
        });
    }
    let [Some(cold), Some(warm)] = mediums else {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file is empty"));
    };
    Ok(Measured { cold, warm, is_dropped: cold.latency > DROPPED * warm.latency })
}

/// Drops a file's pages from memory, unless something else needs them. Written data must be on the medium
/// before. Does nothing on systems other than Linux.
#[cfg_attr(not(target_os = "linux"), expect(clippy::unnecessary_wraps, reason = "only Linux can refuse"))]
pub(crate) fn drop_pages(file: &File) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed)?;
    #[cfg(not(target_os = "linux"))]
    let _ = file;
    Ok(())
}

/// Returns distinct positions of blocks of `size` bytes in a file, in random order: `most` positions, or all
/// if there are fewer.
fn places(len: u64, size: u64, most: u64, rng: &mut Rng) -> Vec<u64> {
    let all = len.div_ceil(size);
    let count = most.min(all);
    // One position from each stretch of the file, so that all are distinct.
    let mut found: Vec<u64> = (0..count)
        .map(|number| {
            let bound = |number: u64| u128::from(number) * u128::from(all) / u128::from(count);
            let bounds = [bound(number), bound(number + 1)].map(|bound| u64::try_from(bound).unwrap_or(all));
            rng.u64(bounds[0]..bounds[1]) * size
        })
        .collect();
    rng.shuffle(&mut found);
    found
}

/// Reads `size` bytes, or what remains of the file, at every position, and returns the seconds that this
/// takes.
fn read_all(file: &File, places: &[u64], size: u64, threads: usize) -> io::Result<f64> {
    let (next, len) = (AtomicU64::new(0), file.metadata()?.len());
    let failed = std::sync::Mutex::new(None);
    let work = || {
        let mut buffer = vec![0; usize::try_from(size).unwrap_or(0)];
        loop {
            let taken = usize::try_from(next.fetch_add(1, Ordering::Relaxed)).unwrap_or(usize::MAX);
            let Some(&place) = places.get(taken) else { return };
            let there = usize::try_from(len - place).unwrap_or(usize::MAX).min(buffer.len());
            if let Err(error) = read_exact_at(file, place, &mut buffer[..there])
                && let Ok(mut failed) = failed.lock()
            {
                *failed = Some(error);
            }
        }
    };
    let begun = Instant::now();
    run_on_threads(threads, &work);
    let seconds = begun.elapsed().as_secs_f64();
    match failed.into_inner() {
        Ok(Some(error)) => Err(error),
        _ => Ok(seconds),
    }
}

/// The bytes of a small request.
const PAGE: u64 = 4096;
/// The number of small requests that are timed one after another.
const PAGES: u64 = 64;
/// The bytes of a large request.
const PIECE: u64 = 1 << 20;
/// The bytes of all large requests.
const SPAN: u64 = 64 << 20;
/// A dropped page takes at least this many times as long to read as one in memory.
const DROPPED: f64 = 3.0;
/// A fixed seed, so that every run reads the same positions.
const SEED: u64 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_distinct_and_in_bounds() {
        let mut rng = Rng::with_seed(SEED);
        for (len, size, most, expected) in
            [(1, 4096, 64, 1), (8193, 4096, 64, 3), (1 << 30, 4096, 64, 64), (0, 4096, 64, 0)]
        {
            let mut found = places(len, size, most, &mut rng);
            found.sort_unstable();
            found.dedup();
            assert_eq!(found.len(), expected, "{len}");
            assert!(found.iter().all(|place| place % size == 0 && *place < len), "{found:?}");
        }
    }
}
