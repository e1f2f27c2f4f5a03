//! Parts of chunks that were written, held until their chunks are complete or something else needs them.
//!
//! A program that writes rows makes the native connector decode and encode a chunk for each row, unless
//! its cache has room for all chunks of a row. Here the chunks are held decoded, and encoded together.
//! Everything that could see the difference stores them first ([`Pending::settle`]): a read or a native
//! write of the dataset, its flush, its close, and every operation on the file but those that say nothing
//! of elements.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyperslab::ChunkCodec;
use hyperslab_io::process::forks;

use crate::boxes::{Box, copy};
use crate::codec::write_chunk;
use crate::ffi::library::{Library, SLOTS};
use crate::ffi::native::{DatasetKey, MemoryBox, NativeDataset};
use crate::report;
use crate::rules::{Reason, Ruled};

/// The most bytes that are held in a library.
const MOST: usize = 192 << 20;
/// As many bytes of complete chunks are encoded together.
const TOGETHER: usize = 32 << 20;
/// The most parts of a chunk whose places are known. A chunk of more parts is not known to be complete.
const MOST_PARTS: usize = 256;

/// The held chunks of each library, by its slot.
static OF_LIBRARIES: [Pending; SLOTS] = [const { Pending::new() }; SLOTS];

/// The chunks that a library's datasets hold.
#[derive(Debug)]
pub(crate) struct Pending {
    state: Mutex<PendingState>,
    /// The number of datasets and of files in the state, to be asked without the lock.
    count: AtomicUsize,
}

#[derive(Debug, Default)]
struct PendingState {
    datasets: BTreeMap<DatasetKey, HeldChunks>,
    /// The numbers of files of which parts were lost, until the program is told.
    lost: BTreeSet<u64>,
}

/// The chunks of one dataset.
#[derive(Debug)]
struct HeldChunks {
    /// The native dataset through which the parts were written.
    native: NativeDataset,
    codec: Arc<ChunkCodec>,
    /// The shape of the dataset, which changes only after the chunks are stored.
    extent: Vec<u64>,
    chunks: BTreeMap<Vec<u64>, DecodedChunk>,
    /// In which process they were written.
    forks: u32,
}

/// A decoded chunk.
#[derive(Debug)]
struct DecodedChunk {
    bytes: Vec<u8>,
    /// The parts that were written, unless they overlap or are too many.
    parts: Option<Vec<Box>>,
    /// The number of elements that are left to write, if `parts` are known.
    left: u64,
}

/// A part to write.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PendingPart<'a> {
    pub(crate) key: DatasetKey,
    pub(crate) native: NativeDataset,
    pub(crate) codec: &'a Arc<ChunkCodec>,
    pub(crate) extent: &'a [u64],
    pub(crate) elements: &'a [u8],
    /// The place of the elements in the dataset.
    pub(crate) place: &'a Box,
}

impl Pending {
    const fn new() -> Self {
        let state = PendingState { datasets: BTreeMap::new(), lost: BTreeSet::new() };
        Self { state: Mutex::new(state), count: AtomicUsize::new(0) }
    }

    /// Returns what a library's datasets hold.
    pub(crate) fn of(library: &Library) -> &'static Self {
        &OF_LIBRARIES[library.slot]
    }

    fn lock(&self) -> MutexGuard<'_, PendingState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, and counts its datasets and files.
    fn change<T>(&self, change: impl FnOnce(&mut PendingState) -> T) -> T {
        let mut state = self.lock();
        let result = change(&mut state);
        self.count.store(state.datasets.len() + state.lost.len(), Ordering::Relaxed);
        result
    }

    /// Returns whether anything is held, or lost.
    pub(crate) fn is_any(&self) -> bool {
        self.count.load(Ordering::Relaxed) != 0
    }

    /// Takes the parts of a dataset out, so that libhdf5 is never called with the lock: it may call back.
    fn take(&self, key: DatasetKey) -> Option<HeldChunks> {
        self.change(|state| state.datasets.remove(&key))
    }

    /// Puts them back, if there are any.
    fn put(&self, key: DatasetKey, held: HeldChunks) {
        if !held.chunks.is_empty() {
            self.change(|state| state.datasets.insert(key, held));
        }
    }

    /// Forgets everything, when the library shuts down.
    pub(crate) fn clear(&self) {
        self.change(|state| *state = PendingState::default());
    }

    /// Holds a part of chunks, and stores chunks that are complete.
    ///
    /// Errors: `Unstored` if parts that were written before cannot be stored; any other if this part is to be
    /// written by the native connector.
    pub(crate) fn write(&self, part: &PendingPart<'_>) -> Ruled<()> {
        let codec = part.codec;
        let touched = part.place.chunks_touched(codec.shape()).ok_or(Reason::PartOfChunk)?;
        let touched = usize::try_from(touched).ok().and_then(|count| count.checked_mul(codec.chunk_bytes()));
        let touched = touched.filter(|bytes| *bytes <= MOST / 2).ok_or(Reason::PartOfChunk)?;
        let all: usize = self.lock().datasets.values().map(HeldChunks::len).sum();
        if all + touched > MOST {
            self.settle(|_| true).map_err(|_| Reason::Unstored)?;
        }
        let mut held = self.take(part.key).unwrap_or_else(|| HeldChunks {
            native: part.native,
            codec: Arc::clone(part.codec),
            extent: part.extent.to_vec(),
            chunks: BTreeMap::new(),
            forks: forks(),
        });
        // A panic must not lose the parts.
        let done = catch_unwind(AssertUnwindSafe(|| {
            held.add(part)?;
            let complete: usize =
                held.chunks.values().filter(|chunk| chunk.left == 0).map(DecodedChunk::len).sum();
            if complete < TOGETHER {
                return Ok(());
            }
            held.store(|chunk| chunk.left == 0).map_err(|_| Reason::Unstored)
        }));
        self.put(part.key, held);
        done.unwrap_or(Err(Reason::Unstored))
    }

    /// Stores the parts that are held of some datasets.
    ///
    /// Errors: neither the engine nor the native connector could store a chunk. It stays held.
    pub(crate) fn settle(&self, which: impl Fn(&DatasetKey) -> bool) -> Ruled<()> {
        self.settle_those(|key, _| which(key))
    }

    /// Stores the parts that this process has written. In a child of the process that wrote others, these are
    /// none of the child's business until it asks for their file: its libhdf5 does not know where the parent
    /// has stored chunks meanwhile.
    pub(crate) fn settle_own(&self) -> Ruled<()> {
        self.settle_those(|_, held| !held.is_inherited())
    }

    fn settle_those(&self, which: impl Fn(&DatasetKey, &HeldChunks) -> bool) -> Ruled<()> {
        if !self.is_any() {
            return Ok(());
        }
        let keys: Vec<DatasetKey> =
            self.lock().datasets.iter().filter(|(key, held)| which(key, held)).map(|(key, _)| *key).collect();
        let mut done = Ok(());
        for key in keys {
            if let Some(mut held) = self.take(key) {
                done = done.and(held.store_safely());
                self.put(key, held);
            }
        }
        done
    }

    /// Stores the parts that were written through a native dataset that is about to close. Parts that
    /// cannot be stored are lost.
    pub(crate) fn close(&self, native: NativeDataset) {
        if !self.is_any() {
            return;
        }
        let key = self.lock().datasets.iter().find(|(_, held)| held.native == native).map(|(key, _)| *key);
        let Some(key) = key else { return };
        if self.take(key).is_some_and(|mut held| held.store_safely().is_err()) {
            self.change(|state| state.lost.insert(key.0));
        }
    }

    /// Says once that parts of a file were lost.
    pub(crate) fn check_lost(&self, file: u64) -> Ruled<()> {
        if self.change(|state| state.lost.remove(&file)) { Err(Reason::Unstored) } else { Ok(()) }
    }
}

impl HeldChunks {
    /// Copies a part into its chunks.
    fn add(&mut self, part: &PendingPart<'_>) -> Ruled<()> {
        let codec = &self.codec;
        let size = codec.element_size() as u64;
        for coord in part.place.chunks(codec.shape()) {
            let whole = Box::of_chunk(&coord, codec.shape()).within(&self.extent);
            let written = whole.meet(part.place).ok_or(Reason::PartOfChunk)?;
            let chunk = match self.chunks.entry(coord) {
                std::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
                std::collections::btree_map::Entry::Vacant(vacant) => {
                    let mut bytes = codec.filled().map_err(|_| Reason::Memory)?;
                    if written != whole {
                        let place = MemoryBox { within: codec.shape(), at: &whole };
                        // The library stores another chunk first if it needs room, and may have failed at it.
                        // The program would not be told if the native connector wrote this part.
                        if !self.native.read_box(&place, &mut bytes, size) {
                            return Err(Reason::Unstored);
                        }
                    }
                    vacant.insert(DecodedChunk { bytes, parts: Some(Vec::new()), left: whole.elements() })
                }
            };
            copy(
                (part.elements, &written.relative_to(&part.place.start), &part.place.count),
                (&mut chunk.bytes, &written.relative_to(&whole.start), codec.shape()),
                size,
            );
            chunk.note(written);
        }
        Ok(())
    }

    /// Returns the number of bytes that are held.
    fn len(&self) -> usize {
        self.chunks.values().map(DecodedChunk::len).sum()
    }

    /// Stores all chunks. A panic is an error, since libhdf5 cannot be unwound.
    fn store_safely(&mut self) -> Ruled<()> {
        catch_unwind(AssertUnwindSafe(|| self.store(|_| true))).unwrap_or(Err(Reason::Unstored))
    }

    /// Stores the chunks that `which` wants, and no longer holds them. Chunks are encoded together.
    fn store(&mut self, which: impl Fn(&DecodedChunk) -> bool) -> Ruled<()> {
        let codec = Arc::clone(&self.codec);
        let wanted: Vec<Vec<u64>> =
            self.chunks.iter().filter(|(_, chunk)| which(chunk)).map(|(coord, _)| coord.clone()).collect();
        if self.is_inherited() {
            return self.hand_over(&wanted);
        }
        let elements: Vec<&[u8]> = wanted.iter().map(|coord| &*self.chunks[coord].bytes).collect();
        let mut stored = BTreeSet::new();
        let encoded = codec.encode_all(&elements, None, &mut |number, chunk| {
            let first = Box::of_chunk(&wanted[number], codec.shape()).start;
            match write_chunk(self.native, &codec, &first, &chunk) {
                Ok(()) => _ = stored.insert(number),
                Err(error) => _ = report::refused(&error),
            }
            Ok(())
        });
        if let Err(error) = encoded {
            report::refused(&error);
        }
        let mut left = Vec::new();
        for (number, coord) in wanted.into_iter().enumerate() {
            if stored.contains(&number) {
                self.chunks.remove(&coord);
            } else {
                left.push(coord);
            }
        }
        self.hand_over(&left)
    }

    /// Returns whether the parts were written by the parent of this process.
    fn is_inherited(&self) -> bool {
        self.forks != forks()
    }

    /// Has the native connector write chunks, as if the program had written them now: in a child of the
    /// process that wrote them, they go into the cache of its libhdf5, as they would be without a plug-in.
    fn hand_over(&mut self, coords: &[Vec<u64>]) -> Ruled<()> {
        let mut done = Ok(());
        for coord in coords {
            let whole = Box::of_chunk(coord, self.codec.shape()).within(&self.extent);
            let place = MemoryBox { within: self.codec.shape(), at: &whole };
            if self.native.write_box(&place, &self.chunks[coord].bytes, self.codec.element_size() as u64) {
                self.chunks.remove(coord);
            } else {
                done = Err(Reason::Unstored);
            }
        }
        done
    }
}

impl DecodedChunk {
    fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Notes that a part was written.
    fn note(&mut self, part: Box) {
        let Some(parts) = &mut self.parts else { return };
        if parts.len() >= MOST_PARTS || parts.iter().any(|known| known.meet(&part).is_some()) {
            self.parts = None;
            self.left = self.left.max(1);
            return;
        }
        self.left -= part.elements();
        parts.push(part);
    }
}
