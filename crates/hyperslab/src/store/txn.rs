//! One operation on a file's metadata: a step that is done whole or not at all.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::Arc;

use hyperslab_format::{Addr, Extent, Structure};

use super::Store;
use super::dirty::{Block, Held, StructureBlock};
use super::lock::ChangeGuard;
use super::space::SpaceKind;
use super::writing::Writing;
use crate::error::Result;

/// A step that changes a file. Others see nothing of it until it is [finished](Self::finish); dropped before, it is undone.
///
/// It changes what the next commit writes. Nothing that a committed state reaches is overwritten before that.
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

/// What has to be put back.
#[derive(Debug, Default)]
struct Undo {
    /// What was known of each block before it was touched.
    blocks: HashMap<Addr, Option<Held>>,
    allocated: Vec<Extent>,
    freed: Vec<Extent>,
}

impl<'s> Txn<'s> {
    pub(super) fn new(store: &'s Store, writing: &'s Writing, guard: ChangeGuard<'s>) -> Self {
        let (born, died) = (Vec::new(), Vec::new());
        Self { store, writing, _guard: guard, undo: Undo::default(), named: Vec::new(), born, died }
    }

    /// The file.
    pub fn store(&self) -> &'s Store {
        self.store
    }

    /// Space that no committed state reaches. Its bytes are unspecified.
    pub fn allocate(&mut self, kind: SpaceKind, len: u64) -> Result<Extent> {
        let extent = self.store.with_space(|space| space.allocate(kind, len))?;
        self.undo.allocated.push(extent);
        Ok(extent)
    }

    /// Where `len` bytes of metadata may stand.
    pub fn allocate_metadata(&mut self, len: u64) -> Result<Addr> {
        self.allocate(SpaceKind::Metadata, len).map(|extent| extent.addr)
    }

    /// Makes an extent longer by `len` bytes where it stands, if what is after it is free and no committed state reaches it:
    /// returns the whole.
    pub fn extend(&mut self, extent: Extent, len: u64) -> Option<Extent> {
        let added = self.store.extend(extent, len)?;
        self.undo.allocated.push(added);
        Some(Extent::new(extent.addr, extent.len + added.len))
    }

    /// Gives space back, with all blocks in it.
    pub fn free(&mut self, extent: Extent) {
        let within = self.writing.dirty.read().within(extent);
        for at in within {
            self.touch(at, None);
        }
        self.undo.freed.push(extent);
    }

    /// This step leads to space that was [given out](Store::allocate) outside. If it is undone, the space is still the caller's.
    pub fn names(&mut self, extent: Extent) {
        self.named.push(extent);
    }

    /// Puts a structure at `at`: a new one, or one that replaces what was there.
    pub fn put<S>(&mut self, at: Addr, value: S, context: S::Context) -> Arc<S>
    where
        S: Structure<Context: Debug + Send + Sync + Sized> + Debug + Send + Sync + 'static,
    {
        let value = Arc::new(value);
        self.put_block(at, Arc::new(StructureBlock { value: Arc::clone(&value), context }));
        value
    }

    /// Puts a structure into space of its own, and returns where that is.
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
        // Once its state before this step is kept, a block can be changed where it stands.
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

    /// An object was made, whose header is at `at`.
    pub fn born(&mut self, at: Addr) {
        self.born.push(at);
    }

    /// The object whose header was at `at` is deleted: [`Store::is_over`] says so to who has a handle to it.
    pub fn died(&mut self, at: Addr) {
        self.died.push(at);
    }

    /// Makes the step part of the file's state.
    ///
    /// Errors: none. What cannot be done was said while the step was made.
    pub fn finish(mut self) -> Result<()> {
        let undo = std::mem::take(&mut self.undo);
        let mut space = self.writing.space.lock();
        self.named.drain(..).for_each(|extent| space.named(extent));
        undo.freed.into_iter().for_each(|extent| space.release(extent));
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
            // Nobody asks for it any more, and it would be held twice.
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
        undo.allocated.into_iter().for_each(|extent| space.release(extent));
        drop(space);
        self.store.changed();
    }
}
