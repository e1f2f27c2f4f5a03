//! Sorts more records than fit in memory: sorted runs, which are merged part by part.
//!
//! A record is a key and, as its last word, a row. No two records are equal, so every rank has exactly one
//! record, and a part of the result begins in each run at exactly one place. [`Runs::cut`] finds these places
//! with samples of the runs, so parts can be merged independently, by all threads.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

use hyperslab::internals::engine::{each_number, threads};
use parking_lot::Mutex;

use crate::error::{Error, Result};

/// Sorted runs of records.
pub(super) struct Runs<const N: usize> {
    /// The number of records in each run.
    lens: Vec<usize>,
    /// Every [`SAMPLED`]-th record of all runs, sorted, with the number of its run.
    samples: Vec<([u64; N], usize)>,
    place: RunStorage<N>,
}

/// Where the runs are.
enum RunStorage<const N: usize> {
    Memory(Vec<Vec<[u64; N]>>),
    /// One after another in a file without a name, each at the place of its number times the longest run.
    Disk(Mutex<File>, usize),
}

/// The distance of samples in a run. A cut reads a few times as many records of each run.
const SAMPLED: usize = 1024;
/// The fewest records of a run.
const SHORTEST: usize = 1 << 16;
/// The most records of a run.
const LONGEST: usize = 1 << 20;

/// The function that reads the records of some rows, in any order.
type Load<'a, const N: usize> = dyn Fn(Range<u64>, &mut Vec<[u64; N]>) -> Result<()> + Sync + 'a;

impl<const N: usize> Runs<N> {
    /// Reads and sorts the records of `rows`, in runs. `sorted` is a run that is sorted already. If all
    /// records take more than `memory` bytes, the runs are written to a file in the directory `tmp`.
    pub(super) fn make(
        sorted: &[[u64; N]],
        rows: Range<u64>,
        memory: u64,
        tmp: &Path,
        load: &Load<'_, N>,
    ) -> Result<Self> {
        let count = rows.end - rows.start;
        let record = 8 * N as u64;
        let is_small = (count + sorted.len() as u64).saturating_mul(record) <= memory;
        let workers = threads().max(1);
        let most = usize::try_from(memory / record / (2 * workers as u64)).unwrap_or(LONGEST);
        let share = usize::try_from(count / (2 * workers as u64)).unwrap_or(LONGEST);
        let longest = if is_small { share } else { most }.clamp(SHORTEST, LONGEST).max(sorted.len());
        let number = count.div_ceil(longest as u64);
        let first = u64::from(!sorted.is_empty());
        let place = if is_small {
            RunStorage::Memory(Vec::new())
        } else {
            let file = tempfile::tempfile_in(tmp).map_err(|error| temporary(tmp, &error))?;
            RunStorage::Disk(Mutex::new(file), longest)
        };
        let done = Mutex::new(Vec::new());
        each_number(number + first, &|run| {
            let mut records = Vec::new();
            if run < first {
                records.extend_from_slice(sorted);
            } else {
                let from = rows.start + (run - first) * longest as u64;
                load(from..rows.end.min(from + longest as u64), &mut records)?;
                records.sort_unstable();
            }
            let run = usize::try_from(run).unwrap_or(usize::MAX);
            let samples: Vec<_> = records.iter().step_by(SAMPLED).map(|&record| (record, run)).collect();
            let len = records.len();
            if let RunStorage::Disk(file, longest) = &place {
                let bytes: Vec<u8> =
                    records.as_flattened().iter().flat_map(|word| word.to_le_bytes()).collect();
                records = Vec::new();
                let mut file = file.lock();
                file.seek(SeekFrom::Start((run * longest) as u64 * record))
                    .and_then(|_| file.write_all(&bytes))
                    .map_err(|error| temporary(tmp, &error))?;
            }
            done.lock().push((run, len, samples, records));
            Ok::<(), Error>(())
        })?;
        let mut done = done.into_inner();
        done.sort_unstable_by_key(|(run, ..)| *run);
        let mut runs = Self { lens: Vec::new(), samples: Vec::new(), place };
        for (_, len, samples, records) in done {
            runs.lens.push(len);
            runs.samples.extend(samples);
            if let RunStorage::Memory(kept) = &mut runs.place {
                kept.push(records);
            }
        }
        runs.samples.sort_unstable();
        Ok(runs)
    }

    /// Returns the place in each run before which the `rank` first records of all runs are.
    pub(super) fn cut(&self, rank: u64) -> Result<Vec<usize>> {
        let rank = usize::try_from(rank).unwrap_or(usize::MAX);
        if rank >= self.lens.iter().sum() {
            return Ok(self.lens.clone());
        }
        // Of the records of a run below a sample, at least those up to its sample before, and at most all up
        // to its sample after, come before the cut.
        let (low, high) = (rank / SAMPLED, (rank + self.lens.len() * (SAMPLED - 1)).div_ceil(SAMPLED));
        let mut from: Vec<usize> = vec![0; self.lens.len()];
        let mut to = if high < self.samples.len() { vec![0; self.lens.len()] } else { self.lens.clone() };
        for (number, (_, run)) in self.samples.iter().take(high.min(self.samples.len())).enumerate() {
            if number < low {
                from[*run] = if from[*run] == 0 { 1 } else { from[*run] + SAMPLED };
            }
            if high < self.samples.len() {
                to[*run] = self.lens[*run].min(to[*run] + SAMPLED);
            }
        }
        let windows = (0..self.lens.len()).map(|run| self.read(run, from[run]..to[run]));
        let windows = windows.collect::<Result<Vec<_>>>()?;
        let mut all = windows.concat();
        let inside = rank - from.iter().sum::<usize>();
        if inside >= all.len() {
            return Ok(to);
        }
        let (_, &mut record, _) = all.select_nth_unstable(inside);
        let starts = windows.iter().zip(from);
        Ok(starts.map(|(window, from)| from + window.partition_point(|other| *other < record)).collect())
    }

    /// Returns the records between two cuts, sorted.
    pub(super) fn merged(&self, from: &[usize], to: &[usize]) -> Result<Vec<[u64; N]>> {
        let mut records = Vec::with_capacity(to.iter().zip(from).map(|(to, from)| to - from).sum());
        for (run, (&from, &to)) in from.iter().zip(to).enumerate() {
            match &self.place {
                RunStorage::Memory(runs) => records.extend_from_slice(&runs[run][from..to]),
                RunStorage::Disk(..) => records.extend(self.read(run, from..to)?),
            }
        }
        // A stable sort finds the sorted runs, and merges them.
        records.sort_by(Ord::cmp);
        Ok(records)
    }

    /// Returns records of a run.
    fn read(&self, run: usize, records: Range<usize>) -> Result<Vec<[u64; N]>> {
        let (file, longest) = match &self.place {
            RunStorage::Memory(runs) => return Ok(runs[run][records].to_vec()),
            RunStorage::Disk(file, longest) => (file, *longest),
        };
        let mut bytes = vec![0; records.len() * N * 8];
        let at = ((run * longest + records.start) * N * 8) as u64;
        let mut file = file.lock();
        file.seek(SeekFrom::Start(at))
            .and_then(|_| file.read_exact(&mut bytes))
            .map_err(|error| temporary(Path::new("the directory for temporary files"), &error))?;
        let words: Vec<u64> =
            bytes.chunks_exact(8).map(|word| word.try_into().map_or(0, u64::from_le_bytes)).collect();
        Ok(words.as_chunks::<N>().0.to_vec())
    }
}

fn temporary(directory: &Path, error: &io::Error) -> Error {
    let why = format!("a temporary file for sorting failed: {error}; give another directory");
    Error::Argument { what: directory.display().to_string(), why }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sorts the rows of a permutation with many equal keys, and compares all parts with a sort in memory.
    fn sorts(rows: u64, memory: u64, part: u64) {
        let key = |row: u64| (row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) % 1000;
        let load = |range: Range<u64>, records: &mut Vec<[u64; 2]>| {
            records.extend(range.rev().map(|row| [key(row), row]));
            Ok(())
        };
        let first: Vec<[u64; 2]> = (0..500).map(|row| [row, rows + row]).collect();
        let mut expected: Vec<[u64; 2]> =
            (0..rows).map(|row| [key(row), row]).chain(first.iter().copied()).collect();
        expected.sort_unstable();
        let runs = Runs::make(&first, 0..rows, memory, &std::env::temp_dir(), &load).expect("sorted");
        let mut found = Vec::new();
        let mut from = runs.cut(0).expect("a cut");
        for end in (0..rows + 500).step_by(usize::try_from(part).expect("small")).skip(1).chain([rows + 500])
        {
            let to = runs.cut(end).expect("a cut");
            found.extend(runs.merged(&from, &to).expect("records"));
            assert_eq!(found.len() as u64, end);
            from = to;
        }
        assert_eq!(found, expected);
    }

    #[test]
    fn parts_are_those_of_a_sort_in_memory() {
        sorts(300_000, u64::MAX, 7777);
        sorts(300_000, 1 << 20, 65_536);
        sorts(1000, u64::MAX, 100);
        sorts(0, u64::MAX, 100);
    }
}
