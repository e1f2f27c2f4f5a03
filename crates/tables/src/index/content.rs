//! The values and row numbers of an index: its bounds, which are in memory, and its chunks, which are read
//! when they are needed.

use std::sync::Arc;

use hyperslab::{Attribute, Dataset};

use super::layout::{IndexLayout, damaged, unreadable};
use super::{Kind, hash};
use crate::error::Result;

/// The key of every chunk's first value and of every slice's last value. The last row counts as a slice, if
/// it has positions.
#[derive(Debug, Clone, Default)]
pub(super) struct Bounds {
    pub(super) starts: Vec<u64>,
    pub(super) ends: Vec<u64>,
}

/// What hyperslab has noted of an index and its column when it wrote them. PyTables leaves the note as it is
/// when it changes the index, which [`Content`] notices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    /// The number of rows.
    pub(super) rows: u64,
    /// The sum of the hashes of all values at their rows.
    pub(super) values: u64,
    /// The hash of sizes, bounds and checksums.
    root: u64,
}

/// An index with its bounds.
#[derive(Debug, Clone)]
pub(super) struct Content {
    pub(super) layout: IndexLayout,
    pub(super) bounds: Arc<Bounds>,
    /// The note of hyperslab, if it is the note of this content.
    pub(super) stamp: Option<Stamp>,
    /// The hashes of all chunks of values, then those of all chunks of row numbers.
    checksums: Arc<[u64]>,
}

/// The attribute and the dataset of the stamp. PyTables does not know them.
const STAMP: &str = "HYPERSLAB_STAMP";
const CHECKSUMS: &str = "hyperslab_checksums";
/// The version of the stamp.
const VERSION: u64 = 1;
/// The most bytes of bounds and checksums. The bounds of 10^10 rows of float64 have 5 MB.
const MOST_BYTES: u64 = 256 << 20;

impl Content {
    /// Reads bounds and stamp.
    pub(super) fn read(layout: IndexLayout) -> Result<Self> {
        let per_chunk = (layout.values.size() as u64).saturating_mul(4);
        if layout.chunks().checked_mul(per_chunk).is_none_or(|bytes| bytes > MOST_BYTES) {
            return Err(damaged(&layout.group, "it has too many bounds for the memory: use larger chunks"));
        }
        let group = layout.group.clone();
        Self::of(layout).map_err(|error| unreadable(&group, error))
    }

    fn of(layout: IndexLayout) -> Result<Self> {
        let bounds = Arc::new(Bounds::read(&layout)?);
        let mut content = Self { layout, bounds, stamp: None, checksums: Arc::default() };
        content.read_stamp()?;
        Ok(content)
    }

    fn read_stamp(&mut self) -> Result<()> {
        let group = &self.layout.group;
        if !group.has_attribute(STAMP)? || !group.contains(CHECKSUMS)? {
            return Ok(());
        }
        let note = group.attribute_values::<u64>(STAMP).unwrap_or_default();
        let checksums = group.dataset(CHECKSUMS)?;
        let [VERSION, rows, values, root] = note[..] else { return Ok(()) };
        if checksums.shape() != [self.layout.chunks() * 2] || rows != self.layout.len() {
            return Ok(());
        }
        let checksums: Arc<[u64]> = checksums.read::<u64>(..)?.into();
        if root == self.root(&checksums, values) {
            (self.stamp, self.checksums) = (Some(Stamp { rows, values, root }), checksums);
        }
        Ok(())
    }

    /// Returns the hash of all that a search relies on, except chunks.
    fn root(&self, checksums: &[u64], values: u64) -> u64 {
        let layout = &self.layout;
        let sizes = layout.sizes;
        let numbers = [
            layout.kind as u64,
            sizes.block,
            sizes.slice,
            sizes.chunk,
            sizes.reduction,
            layout.slices,
            layout.last,
            values,
        ];
        [&self.bounds.starts, &self.bounds.ends, checksums]
            .into_iter()
            .fold(hash::words(0, &numbers), hash::words)
    }

    /// Writes a stamp. `checksums` are those of [`checksum`] of all chunks.
    pub(super) fn write_stamp(&mut self, checksums: Vec<u64>, values: u64) -> Result<()> {
        self.remove_stamp()?;
        let group = &self.layout.group;
        let dataset = group.new_dataset::<u64>(CHECKSUMS).shape([checksums.len() as u64]);
        dataset.create_with(&checksums)?;
        let stamp = Stamp { rows: self.layout.len(), values, root: self.root(&checksums, values) };
        let note = [VERSION, stamp.rows, stamp.values, stamp.root];
        group.put_attribute(&Attribute::numbers(STAMP, &note))?;
        (self.stamp, self.checksums) = (Some(stamp), checksums.into());
        Ok(())
    }

    /// Removes the stamp: the index is about to change.
    pub(super) fn remove_stamp(&mut self) -> Result<()> {
        let group = &self.layout.group;
        if group.has_attribute(STAMP)? {
            group.remove_attribute(STAMP)?;
        }
        if group.contains(CHECKSUMS)? {
            group.remove(CHECKSUMS)?;
        }
        (self.stamp, self.checksums) = (None, Arc::default());
        Ok(())
    }

    /// Returns whether all positions are in the order of the values. PyTables leaves its attribute for this
    /// out, or unchanged.
    pub(super) fn is_sorted(&self) -> bool {
        let begins =
            (1..self.slices()).map(|slice| (self.end(slice - 1), self.start(self.first_chunk(slice))));
        self.layout.kind == Kind::Full
            && self.layout.len() > 0
            && begins.into_iter().all(|(end, start)| end <= start)
    }

    /// Returns the checksums of all chunks, if there is a stamp.
    pub(super) fn checksums(&self) -> &[u64] {
        &self.checksums
    }

    /// Returns the number of positions of a slice. The last row is the slice after all others.
    pub(super) fn len_of(&self, slice: u64) -> u64 {
        if slice < self.layout.slices { self.layout.sizes.slice } else { self.layout.last }
    }

    /// Returns the number of slices, with the last row.
    pub(super) fn slices(&self) -> u64 {
        self.layout.slices + u64::from(self.layout.last > 0)
    }

    /// Returns the number of the first chunk of a slice.
    pub(super) fn first_chunk(&self, slice: u64) -> u64 {
        slice * self.layout.sizes.chunks_in_slice()
    }

    /// Returns the key of the first value of a chunk, counted over all slices.
    pub(super) fn start(&self, chunk: u64) -> &[u64] {
        key(&self.bounds.starts, chunk, self.layout.values.words())
    }

    /// Returns the key of the last value of a slice.
    pub(super) fn end(&self, slice: u64) -> &[u64] {
        key(&self.bounds.ends, slice, self.layout.values.words())
    }

    /// Returns the keys of a chunk of values of a slice.
    pub(super) fn values(&self, slice: u64, chunk: u64) -> Result<Vec<u64>> {
        let layout = &self.layout;
        let (len, size) = (layout.values_in_chunk(), layout.values.size());
        let end = layout.values_in(self.len_of(slice)).min((chunk + 1) * len);
        let first = chunk * len;
        let count = usize::try_from(end.saturating_sub(first)).unwrap_or(usize::MAX);
        let mut bytes = vec![0; count * size];
        let dataset = if slice < layout.slices {
            layout.sorted.read_into([slice..slice + 1, first..end], &mut bytes)?;
            &layout.sorted
        } else {
            layout.sorted_last.read_into(first..end, &mut bytes)?;
            &layout.sorted_last
        };
        let keys = keys(layout, &bytes);
        self.compare(dataset, ChunkPart::Values, self.first_chunk(slice) + chunk, &keys)?;
        Ok(keys)
    }

    /// Returns the row numbers of a chunk of a slice, or the numbers of buckets, as they are stored.
    pub(super) fn places(&self, slice: u64, chunk: u64) -> Result<Vec<u64>> {
        let layout = &self.layout;
        let len = layout.sizes.chunk;
        let (first, end) = (chunk * len, self.len_of(slice).min((chunk + 1) * len));
        let (dataset, places) = if slice < layout.slices {
            (&layout.indices, layout.indices.read::<u64>([slice..slice + 1, first..end])?)
        } else {
            (&layout.indices_last, layout.indices_last.read::<u64>(first..end)?)
        };
        self.compare(dataset, ChunkPart::Places, self.first_chunk(slice) + chunk, &places)?;
        Ok(places)
    }

    /// Compares a chunk with its checksum, if it has one.
    fn compare(&self, dataset: &Dataset, part: ChunkPart, chunk: u64, words: &[u64]) -> Result<()> {
        let number = if part == ChunkPart::Values { chunk } else { self.layout.chunks() + chunk };
        let known = usize::try_from(number).ok().and_then(|number| self.checksums.get(number));
        if known.is_some_and(|&known| known != checksum(part, chunk, words)) {
            return Err(damaged(
                dataset,
                "it does not have the checksum of the index: build the index again",
            ));
        }
        Ok(())
    }
}

impl Bounds {
    fn read(layout: &IndexLayout) -> Result<Self> {
        let read = |dataset: &Dataset| {
            let mut bytes = vec![0; usize::try_from(dataset.len_bytes()).unwrap_or(usize::MAX)];
            dataset.read_into(.., &mut bytes)?;
            Ok::<_, crate::Error>(keys(layout, &bytes))
        };
        let words = layout.values.words();
        let (ranges, bounds) = (read(&layout.ranges)?, read(&layout.bounds)?);
        let mut found = Self::default();
        let width = words * usize::try_from(layout.sizes.chunks_in_slice() - 1).unwrap_or(usize::MAX);
        for slice in 0..usize::try_from(layout.slices).unwrap_or(0) {
            let range = &ranges[2 * words * slice..][..2 * words];
            found.starts.extend_from_slice(&range[..words]);
            found.starts.extend_from_slice(&bounds[width * slice..][..width]);
            found.ends.extend_from_slice(&range[words..]);
        }
        if layout.last > 0 {
            let first = layout.last_values();
            let count = layout.last_chunks() + 1;
            let mut bytes = vec![0; usize::try_from(count).unwrap_or(0) * layout.values.size()];
            layout.sorted_last.read_into(first..first + count, &mut bytes)?;
            let last = keys(layout, &bytes);
            let (starts, end) = last.split_at(last.len() - words);
            found.starts.extend_from_slice(starts);
            found.ends.extend_from_slice(end);
        }
        Ok(found)
    }
}

/// Returns the key of number `number` in a list of keys.
pub(super) fn key(keys: &[u64], number: u64, words: usize) -> &[u64] {
    let at = usize::try_from(number).ok().and_then(|number| number.checked_mul(words));
    at.and_then(|at| keys.get(at..at + words)).unwrap_or_default()
}

/// What a chunk holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChunkPart {
    Values,
    Places,
}

/// Returns the checksum of a chunk of keys or of row numbers. Chunks are counted over all slices.
pub(super) fn checksum(part: ChunkPart, chunk: u64, words: &[u64]) -> u64 {
    hash::words(!(chunk * 2 + part as u64), words)
}

/// Returns the keys of values as the index stores them.
fn keys(layout: &IndexLayout, bytes: &[u8]) -> Vec<u64> {
    let (size, words) = (layout.values.size(), layout.values.words());
    let mut keys = vec![0; bytes.len() / size * words];
    for (value, key) in bytes.chunks_exact(size).zip(keys.chunks_exact_mut(words)) {
        layout.values.key(value, key);
    }
    keys
}
