//! Handles: numbers that callers keep in place of pointers.
//!
//! A handle has the number of a slot and the generation of that slot when the handle was made, so a handle
//! that was closed is known to be, and is never dereferenced. The slots are in segments that are never moved
//! or freed: finding one takes no lock that other handles use, too.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::Duration;

use hyperslab::File;
use hyperslab_io::process::{PerProcess, forks};
use parking_lot::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::failure::Failure;
use crate::items::Memory;
use crate::opened::Opened;

/// The bits of a handle, from the lowest: the number of the slot, the generation, the kind.
const SLOT_BITS: u32 = usize::BITS / 2;
const GENERATION_BITS: u32 = usize::BITS / 8 * 3;
/// A slot whose last generation is over is not used again.
const LAST_GENERATION: usize = (1 << GENERATION_BITS) - 1;
/// Segment `n` has `FIRST << n` slots.
const FIRST: usize = 64;
const SEGMENTS: usize = (SLOT_BITS - FIRST.ilog2()) as usize;
/// A slot is given again only when this many others are free, so that generations last.
const RESERVE: usize = 64;

/// What a handle leads to.
#[derive(Debug)]
pub(crate) enum HandleEntry {
    File(File),
    Dataset(Arc<Opened>),
    Memory(#[expect(dead_code, reason = "kept until it is released")] Memory),
}

impl HandleEntry {
    fn kind(&self) -> HandleKind {
        match self {
            Self::File(_) => HandleKind::File,
            Self::Dataset(_) => HandleKind::Dataset,
            Self::Memory(_) => HandleKind::Memory,
        }
    }
}

/// The kind of a handle, with the number that handles of the kind have in their highest bits. On the usual
/// machines, addresses with these bits are no addresses of a program: a caller that dereferences a handle
/// fails at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HandleKind {
    File = 9,
    Dataset = 10,
    Memory = 11,
}

impl HandleKind {
    fn of(handle: usize) -> Option<Self> {
        let number = handle >> (SLOT_BITS + GENERATION_BITS);
        [Self::File, Self::Dataset, Self::Memory].into_iter().find(|kind| *kind as usize == number)
    }

    fn name(self) -> &'static str {
        match self {
            Self::File => "a file",
            Self::Dataset => "a dataset",
            Self::Memory => "memory of items",
        }
    }
}

#[derive(Debug, Default)]
struct Slot(RwLock<HandleState>);

/// In a child, another thread of the parent may have the lock of a slot for ever. A thread of the child has
/// it for a moment only.
const PATIENCE: Duration = Duration::from_secs(1);

impl Slot {
    #[inline]
    fn read(&self) -> Option<RwLockReadGuard<'_, HandleState>> {
        self.0.try_read().or_else(|| self.wait_to_read())
    }

    #[cold]
    fn wait_to_read(&self) -> Option<RwLockReadGuard<'_, HandleState>> {
        if forks() == 0 { Some(self.0.read()) } else { self.0.try_read_for(PATIENCE) }
    }

    fn write(&self) -> Option<RwLockWriteGuard<'_, HandleState>> {
        if forks() == 0 { Some(self.0.write()) } else { self.0.try_write_for(PATIENCE) }
    }
}

#[derive(Debug, Default)]
struct HandleState {
    generation: usize,
    entry: Option<HandleEntry>,
}

/// The slots.
struct Slots {
    segments: [OnceLock<Box<[Slot]>>; SEGMENTS],
    /// The first slot that was never used.
    next: AtomicUsize,
}

static TABLE: Slots = Slots { segments: [const { OnceLock::new() }; SEGMENTS], next: AtomicUsize::new(0) };

/// The slots that were used before and are free, the longest free first. A child begins without any: another
/// thread of its parent may have had the lock at the fork.
static FREE: LazyLock<PerProcess<Mutex<VecDeque<usize>>>> = LazyLock::new(PerProcess::default);

fn free() -> MutexGuard<'static, VecDeque<usize>> {
    FREE.get(|_| Mutex::default()).lock()
}

impl Slots {
    /// Returns slot `number`. Makes its segment if `make` is set.
    fn slot(&self, number: usize, make: bool) -> Option<&Slot> {
        let segment = (number / FIRST + 1).ilog2();
        let before = FIRST * ((1 << segment) - 1);
        let segments = self.segments.get(segment as usize)?;
        let slots = if make {
            segments.get_or_init(|| (0..FIRST << segment).map(|_| Slot::default()).collect())
        } else {
            segments.get()?
        };
        slots.get(number - before)
    }

    fn take(&self) -> usize {
        let mut free = free();
        if free.len() > RESERVE
            && let Some(number) = free.pop_front()
        {
            return number;
        }
        self.next.fetch_add(1, Ordering::Relaxed)
    }
}

/// Returns a new handle to `entry`.
pub(crate) fn insert(entry: HandleEntry) -> Result<usize, Failure> {
    let number = TABLE.take();
    let slot = TABLE.slot(number, true);
    let slot = slot.ok_or_else(|| Failure::argument("handle", "too many are open: close some"))?;
    let in_use = || Failure::handle("handle: another thread made one at the fork: try again".to_owned());
    let mut state = slot.write().ok_or_else(in_use)?;
    state.generation += 1;
    let kind = entry.kind() as usize;
    state.entry = Some(entry);
    Ok(kind << (SLOT_BITS + GENERATION_BITS) | state.generation << SLOT_BITS | number)
}

/// Finds the slot of a handle of this kind, and its generation.
fn find(what: &str, handle: usize, kind: HandleKind) -> Result<(&'static Slot, usize), Failure> {
    if handle >> (SLOT_BITS + GENERATION_BITS) != kind as usize {
        return Err(no_handle(what, handle, kind));
    }
    let slot = TABLE.slot(handle & ((1 << SLOT_BITS) - 1), false);
    let slot = slot.ok_or_else(|| closed(what, kind))?;
    Ok((slot, handle >> SLOT_BITS & LAST_GENERATION))
}

#[cold]
fn no_handle(what: &str, handle: usize, kind: HandleKind) -> Failure {
    let expected = kind.name();
    Failure::handle(match HandleKind::of(handle) {
        _ if handle == 0 => format!("{what}: the handle is null"),
        Some(found) => format!("{what}: this is a handle of {}, not of {expected}", found.name()),
        None => format!("{what}: this is no handle: {handle:#x}"),
    })
}

#[cold]
fn closed(what: &str, kind: HandleKind) -> Failure {
    Failure::handle(format!("{what}: the handle of {} was closed", kind.name()))
}

#[cold]
fn lost(what: &str, kind: HandleKind) -> Failure {
    let name = kind.name();
    Failure::handle(format!("{what}: another thread of the parent used the handle of {name} at the fork"))
}

/// Returns what `f` takes from the entry of a handle.
fn get<T>(
    what: &str,
    handle: usize,
    kind: HandleKind,
    f: impl FnOnce(&HandleEntry) -> Option<&T>,
) -> Result<T, Failure>
where
    T: Clone,
{
    let (slot, generation) = find(what, handle, kind)?;
    let state = slot.read().ok_or_else(|| lost(what, kind))?;
    let entry = state.entry.as_ref().filter(|_| state.generation == generation);
    entry.and_then(f).cloned().ok_or_else(|| closed(what, kind))
}

/// Takes what a handle leads to. The handle is closed from then on.
fn remove(what: &str, handle: usize, kind: HandleKind) -> Result<HandleEntry, Failure> {
    let (slot, generation) = find(what, handle, kind)?;
    let mut state = slot.write().ok_or_else(|| lost(what, kind))?;
    let found = (state.generation == generation).then(|| state.entry.take()).flatten();
    let entry = found.ok_or_else(|| closed(what, kind))?;
    drop(state);
    if generation < LAST_GENERATION {
        free().push_back(handle & ((1 << SLOT_BITS) - 1));
    }
    Ok(entry)
}

/// Returns the file of a handle.
pub(crate) fn file(handle: usize) -> Result<File, Failure> {
    get("file", handle, HandleKind::File, |entry| match entry {
        HandleEntry::File(file) => Some(file),
        _ => None,
    })
}

/// Closes the handle of a file, and returns the file.
pub(crate) fn take_file(handle: usize) -> Result<File, Failure> {
    match remove("file", handle, HandleKind::File)? {
        HandleEntry::File(file) => Ok(file),
        _ => Err(closed("file", HandleKind::File)),
    }
}

/// Returns the dataset of a handle.
pub(crate) fn dataset(handle: usize) -> Result<Arc<Opened>, Failure> {
    get("dataset", handle, HandleKind::Dataset, |entry| match entry {
        HandleEntry::Dataset(dataset) => Some(dataset),
        _ => None,
    })
}

/// Closes the handle of a dataset.
pub(crate) fn close_dataset(handle: usize) -> Result<(), Failure> {
    remove("dataset", handle, HandleKind::Dataset).map(drop)
}

/// Releases the memory of items.
pub(crate) fn release(handle: usize) -> Result<(), Failure> {
    remove("items", handle, HandleKind::Memory).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> HandleEntry {
        HandleEntry::Memory(Memory::default())
    }

    fn memory_of(handle: usize) -> Result<usize, Failure> {
        get("items", handle, HandleKind::Memory, |_| Some(&0))
    }

    #[test]
    fn a_slot_has_a_place_in_one_segment() {
        let table = Slots { segments: [const { OnceLock::new() }; SEGMENTS], next: AtomicUsize::new(0) };
        let numbers = [0, 1, FIRST - 1, FIRST, 3 * FIRST - 1, 3 * FIRST, 7 * FIRST, 1000];
        let places: Vec<_> =
            numbers.iter().map(|&number| std::ptr::from_ref(table.slot(number, true).unwrap())).collect();
        for (index, place) in places.iter().enumerate() {
            assert!(!places[..index].contains(place), "{}", numbers[index]);
            assert!(std::ptr::eq(*place, table.slot(numbers[index], false).unwrap()));
        }
        assert!(table.slot(1 << SLOT_BITS, true).is_none());
    }

    #[test]
    fn handles_are_never_equal_and_closed_once() {
        let mut seen = std::collections::HashSet::new();
        for _ in 0..10 * RESERVE {
            let handle = insert(memory()).unwrap();
            assert!(seen.insert(handle));
            release(handle).unwrap();
            assert!(release(handle).is_err() && memory_of(handle).is_err());
        }
    }

    #[test]
    fn a_handle_of_a_slot_that_is_used_again_stays_closed() {
        let old: Vec<usize> = (0..2 * RESERVE).map(|_| insert(memory()).unwrap()).collect();
        for &handle in &old {
            release(handle).unwrap();
        }
        let new: Vec<usize> = (0..8 * RESERVE).map(|_| insert(memory()).unwrap()).collect();
        let slot = |handle: usize| handle & ((1 << SLOT_BITS) - 1);
        assert!(old.iter().any(|&old| new.iter().any(|&new| slot(new) == slot(old))));
        for handle in old {
            assert!(memory_of(handle).is_err() && release(handle).is_err());
        }
        for handle in new {
            release(handle).unwrap();
        }
    }

    #[test]
    fn a_slot_is_not_used_after_its_last_generation() {
        let handle = insert(memory()).unwrap();
        let (slot, _) = find("items", handle, HandleKind::Memory).unwrap();
        slot.0.write().generation = LAST_GENERATION;
        let last = handle | LAST_GENERATION << SLOT_BITS;
        release(last).unwrap();
        let number = handle & ((1 << SLOT_BITS) - 1);
        assert!(!free().contains(&number));
    }
}
