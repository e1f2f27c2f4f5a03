//! One operation on a file's metadata: a step that is done whole or not at all.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::Arc;

use hyperslab_error::Result;
use hyperslab_format::{Addr, Extent, Structure};

use super::dirty_blocks::{Block, Held, StructureBlock};
use super::writing::Writing;
use crate::Store;
use crate::lock::ChangeGuard;
use crate::space::SpaceKind;

/// A step that changes a file. Other threads see its changes only after [`finish`](Self::finish); a step
/// dropped before that is undone.
///
/// A step changes what the next commit writes. It overwrites no byte that a committed state refers to.
#[derive(Debug)]
#[must_use]
pub struct Txn<'s> {
    store: &'s Store,
    writing: &'s Writing,
    _guard: ChangeGuard<'s>,
    undo: Undo,
    named: Vec<Extent>,
    born: Vec<Addr>,
    died: Vec<Addr>,
}

/// The state to restore if the step is undone.
#[derive(Debug, Default)]
struct Undo {
    /// The changed-block entry of each touched block before the step.
    blocks: HashMap<Addr, Option<Held>>,
    allocated: Vec<(SpaceKind, Extent)>,
    freed: Vec<(SpaceKind, Extent)>,
}

impl<'s> Txn<'s> {
    pub(crate) fn new(store: &'s Store, writing: &'s Writing, guard: ChangeGuard<'s>) -> Self {
        let (born, died) = (Vec::new(), Vec::new());
        Self { store, writing, _guard: guard, undo: Undo::default(), named: Vec::new(), born, died }
    }

    /// Returns the file.
    pub fn store(&self) -> &'s Store {
        self.store
    }

    /// Allocates space that no committed state refers to. Its bytes are unspecified.
    pub fn allocate(&mut self, kind: SpaceKind, len: u64) -> Result<Extent> {
        let extent = self.store.with_space(len, |space| space.allocate(kind, len))?;
        self.undo.allocated.push((kind, extent));
        Ok(extent)
    }

    /// Allocates `len` bytes for metadata.
    pub fn allocate_metadata(&mut self, len: u64) -> Result<Addr> {
        self.allocate(SpaceKind::Metadata, len).map(|extent| extent.addr)
    }

    /// Extends an extent of metadata in place by `len` bytes and returns the whole extent. `None` if the
    /// space after it is in use, or a committed state refers to it.
    pub fn extend(&mut self, extent: Extent, len: u64) -> Option<Extent> {
        let added = self.store.extend(extent, len)?;
        self.undo.allocated.push((SpaceKind::Metadata, added));
        Some(Extent::new(extent.addr, extent.len + added.len))
    }

    /// Frees space of metadata, with all blocks in it.
    pub fn free(&mut self, extent: Extent) {
        self.free_of(SpaceKind::Metadata, extent);
    }

    /// Frees space of data, or of a collection of the global heap.
    pub fn free_data(&mut self, extent: Extent) {
        self.free_of(SpaceKind::Raw, extent);
    }

    fn free_of(&mut self, kind: SpaceKind, extent: Extent) {
        let within = self.writing.dirty.read().within(extent);
        for at in within {
            self.touch(at, None);
        }
        self.undo.freed.push((kind, extent));
    }

    /// Returns what this step has freed so far.
    pub fn freed(&self) -> Vec<Extent> {
        self.undo.freed.iter().map(|(_, extent)| *extent).collect()
    }

    /// Records that this step refers to space that was [allocated](Store::allocate) outside it. If the step
    /// is undone, the space is still the caller's.
    pub fn names(&mut self, extent: Extent) {
        self.named.push(extent);
    }

    /// Puts a structure at `at`, new or in place of the previous one.
    pub fn put<S>(&mut self, at: Addr, value: S, context: S::Context) -> Arc<S>
    where
        S: Structure<Context: Debug + Send + Sync + Sized> + Debug + Send + Sync + 'static,
    {
        let value = Arc::new(value);
        self.put_block(at, Arc::new(StructureBlock { value: Arc::clone(&value), context }));
        value
    }

    /// Puts a structure into newly allocated space, and returns its address.
    pub fn put_new<S>(&mut self, value: S, context: S::Context) -> Result<Addr>
    where
        S: Structure<Context: Debug + Send + Sync + Sized> + Debug + Send + Sync + 'static,
    {
        let len = value.encoded_len(self.store.widths(), &context) as u64;
        let at = self.allocate_metadata(len)?;
        self.put(at, value, context);
        Ok(at)
    }

    /// Puts a block of any kind at `at`.
    pub fn put_block(&mut self, at: Addr, block: Arc<dyn Block>) {
        let held = Held::new(block, self.store.widths());
        self.touch(at, Some(held));
    }

    /// Changes the structure at `at` in place.
    pub fn edit<S, R>(&mut self, at: Addr, context: &S::Context, f: impl FnOnce(&mut S) -> R) -> Result<R>
    where
        S: Structure<Context: Clone + Debug + Send + Sync + Sized> + Clone + Debug + Send + Sync + 'static,
    {
        let mut dirty = self.writing.dirty.write();
        // Once the block's state before this step is saved, the block can be changed in place.
        if self.undo.blocks.contains_key(&at)
            && let Some(value) = dirty.edit::<S>(at)
        {
            return Ok(f(value));
        }
        drop(dirty);
        let mut value: S = (*self.store.get::<S>(at, context)?).clone();
        let result = f(&mut value);
        self.put(at, value, context.clone());
        Ok(result)
    }

    /// Records a new object, whose header is at `at`.
    pub fn born(&mut self, at: Addr) {
        self.born.push(at);
    }

    /// Records that the object whose header is at `at` is deleted. [`Store::is_over`] reports this to holders
    /// of handles.
    pub fn died(&mut self, at: Addr) {
        self.died.push(at);
    }

    /// Makes the step part of the file's state.
    ///
    /// Errors: none. Failures were reported while the step was made.
    pub fn finish(mut self) -> Result<()> {
        let undo = std::mem::take(&mut self.undo);
        let mut space = self.writing.space.lock();
        self.named.drain(..).for_each(|extent| space.named(extent));
        undo.freed.into_iter().for_each(|(kind, extent)| space.release(kind, extent));
        drop(space);
        let mut lives = self.writing.lives.lock();
        lives.born(std::mem::take(&mut self.born));
        lives.died(std::mem::take(&mut self.died), self.store.generation() + 1);
        drop(lives);
        self.store.changed();
        Ok(())
    }

    fn touch(&mut self, at: Addr, held: Option<Held>) {
        let block = held.as_ref().map(|held| Arc::clone(&held.block));
        let before = self.writing.dirty.write().set(at, held);
        if let (Some(block), None) = (block, &before) {
            // The cached block is stale, and would use memory twice.
            block.forget(&self.store.cache, at);
        }
        self.undo.blocks.entry(at).or_insert(before);
    }
}

impl Drop for Txn<'_> {
    fn drop(&mut self) {
        let undo = std::mem::take(&mut self.undo);
        if undo.blocks.is_empty() && undo.allocated.is_empty() {
            return;
        }
        let mut dirty = self.writing.dirty.write();
        for (at, held) in undo.blocks {
            dirty.set(at, held);
        }
        drop(dirty);
        let mut space = self.writing.space.lock();
        undo.allocated.into_iter().for_each(|(kind, extent)| space.release(kind, extent));
        drop(space);
        self.store.changed();
    }
}
