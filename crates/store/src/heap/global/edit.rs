//! Inserts objects into the global heap of a file, and removes them.

use hyperslab_error::Result;
use hyperslab_format::heap::global::{GlobalHeapCollection, GlobalHeapId};
use hyperslab_format::{Addr, Extent, Structure, Widths};

use super::unused;
use crate::{SpaceKind, Txn};

/// Changes the global heap of a file within a step.
#[derive(Debug)]
pub struct GlobalHeapEdit<'t, 's> {
    txn: &'t mut Txn<'s>,
    room: &'t mut HeapRoom,
}

/// The most recently used collections that have room, each with its free bytes. Further objects go there. A
/// step's changes to this list are valid only once the step is finished.
#[derive(Debug, Clone, Default)]
pub struct HeapRoom(Vec<(Addr, u64)>);

impl<'t, 's> GlobalHeapEdit<'t, 's> {
    /// Begins to change the heap.
    pub fn new(txn: &'t mut Txn<'s>, room: &'t mut HeapRoom) -> Self {
        Self { txn, room }
    }

    /// Inserts objects into the heap, in order, and returns their ids.
    pub fn put<T: AsRef<[u8]>>(&mut self, objects: &[T]) -> Result<Vec<GlobalHeapId>> {
        let widths = self.txn.store().widths();
        let mut ids = Vec::with_capacity(objects.len());
        while let [first, ..] = &objects[ids.len()..] {
            let rest = &objects[ids.len()..];
            let needed = GlobalHeapCollection::object_len(first.as_ref().len(), widths);
            let store = self.txn.store();
            let room = self.room.of_at_least(needed);
            let at = match room.filter(|at| !store.is_seen(*at)) {
                Some(at) => at,
                None => self.create(rest, widths)?,
            };
            let fill = |collection: &mut GlobalHeapCollection| {
                fill(collection, at, rest, widths, &mut ids);
                collection.free_len(widths)
            };
            let free = self.txn.edit(at, &(), fill)?;
            // The object did not fit for want of bytes or of an index.
            let missing = objects.get(ids.len()).map(AsRef::as_ref);
            let missing = missing.map(|next| GlobalHeapCollection::object_len(next.len(), widths));
            self.room.note(at, missing.map_or(free, |missing| free.min(missing - 1)));
        }
        Ok(ids)
    }

    /// Records that the step refers to a collection that was written outside it.
    pub fn name(&mut self, extent: Extent) {
        self.txn.names(extent);
    }

    /// Removes objects from the heap. Frees a collection that becomes empty.
    ///
    /// While other programs read, nothing is removed: a collection has no checksum that would tell them.
    pub fn remove(&mut self, mut ids: Vec<GlobalHeapId>) -> Result<()> {
        if self.txn.store().is_swmr_writer() {
            return Ok(());
        }
        let widths = self.txn.store().widths();
        ids.sort_unstable_by_key(|id| (id.collection, id.index));
        ids.dedup();
        for ids in ids.chunk_by(|a, b| a.collection == b.collection) {
            let at = ids.first().map_or(Addr::UNDEFINED, |id| id.collection);
            let collection = self.txn.store().get::<GlobalHeapCollection>(at, &())?;
            if let Some(&id) = ids.iter().find(|id| collection.object(id.index).is_none()) {
                return Err(unused(id));
            }
            if collection.objects().count() == ids.len() {
                let extent = Extent::new(at, collection.size);
                self.txn.store().check(extent, (GlobalHeapCollection::NAME, GlobalHeapCollection::SPEC))?;
                self.txn.free_data(extent);
                self.room.forget(at);
                continue;
            }
            drop(collection);
            let is_kept = |index: u16| ids.binary_search_by_key(&u32::from(index), |id| id.index).is_err();
            let free = self.txn.edit(at, &(), |collection: &mut GlobalHeapCollection| {
                collection.retain(is_kept);
                collection.free_len(widths)
            })?;
            self.room.note(at, free);
        }
        Ok(())
    }

    /// Creates a collection with room for the first of these objects, and for as many others as one
    /// collection should hold.
    fn create<T: AsRef<[u8]>>(&mut self, objects: &[T], widths: Widths) -> Result<Addr> {
        let mut lens =
            objects.iter().map(|object| GlobalHeapCollection::object_len(object.as_ref().len(), widths));
        let mut len = lens.next().unwrap_or(0);
        for next in lens {
            if len + next > LARGEST {
                break;
            }
            len += next;
        }
        let size = GlobalHeapCollection::len_for(len, widths);
        let extent = self.txn.allocate(SpaceKind::GlobalHeap, size)?;
        self.txn.put(extent.addr, GlobalHeapCollection::new(size), ());
        Ok(extent.addr)
    }
}

/// Inserts objects into a collection while there is room.
fn fill<T: AsRef<[u8]>>(
    collection: &mut GlobalHeapCollection,
    at: Addr,
    objects: &[T],
    widths: Widths,
    ids: &mut Vec<GlobalHeapId>,
) {
    let (mut free, mut next) = (collection.free_len(widths), 1);
    for object in objects.iter().map(AsRef::as_ref) {
        let len = GlobalHeapCollection::object_len(object.len(), widths);
        let Some(index) = collection.unused_index(next).filter(|_| len <= free) else { return };
        // libhdf5 stores 0 as the reference count of an object that one element names.
        if collection.insert(index, 0, object).is_none() {
            return;
        }
        ids.push(GlobalHeapId { collection: at, index: index.into() });
        free -= len;
        next = index;
    }
}

impl HeapRoom {
    fn of_at_least(&self, len: u64) -> Option<Addr> {
        self.0.iter().find(|(_, free)| *free >= len).map(|(at, _)| *at)
    }

    /// Moves a collection to the front of the list; the least recently used one may drop out.
    fn note(&mut self, at: Addr, free: u64) {
        self.forget(at);
        if free >= WORTH_WHILE {
            self.0.insert(0, (at, free));
            self.0.truncate(REMEMBERED);
        }
    }

    fn forget(&mut self, at: Addr) {
        self.0.retain(|(other, _)| *other != at);
    }

    /// Clears the list: its collections may no longer exist.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// The largest size of object data in a collection that is made for many objects.
pub(super) const LARGEST: u64 = 64 << 10;
/// The least free space of a listed collection: an object of eight bytes needs this much.
const WORTH_WHILE: u64 = 24;
/// The number of listed collections.
const REMEMBERED: usize = 8;
