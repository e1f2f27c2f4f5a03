//! The changed blocks of a file that is open for writing. Blocks are kept as structures, not bytes. Each is
//! encoded once, when it is committed or written early.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::iter;
use std::sync::Arc;

use hyperslab_format::{Addr, Extent, Structure, Widths, Writer};

use crate::cache::BlockCache;

/// A block that was changed.
pub trait Block: Any + Debug + Send + Sync {
    /// Returns the name of the structure.
    fn name(&self) -> &'static str;

    /// Appends the bytes of the block.
    fn encode(&self, w: &mut Writer<'_>);

    /// Returns the number of bytes that [`encode`](Self::encode) appends.
    fn encoded_len(&self, widths: Widths) -> usize;

    /// Returns the approximate number of bytes of memory that the block takes.
    fn memory_bytes(&self, widths: Widths) -> usize {
        self.encoded_len(widths)
    }

    /// Returns the value that readers ask for by type: an `Arc<T>`.
    fn value(&self) -> &dyn Any;

    /// Moves the value to the cache of unchanged blocks.
    fn remember(&self, cache: &BlockCache, at: Addr, len: u64);

    /// Removes the file's version of this block from the cache of unchanged blocks.
    fn forget(&self, cache: &BlockCache, at: Addr);
}

/// A structure with everything that its encoding needs.
#[derive(Debug)]
pub(crate) struct StructureBlock<S: Structure<Context: Sized>> {
    pub(crate) value: Arc<S>,
    pub(crate) context: S::Context,
}

impl<S> Block for StructureBlock<S>
where
    S: Structure<Context: Debug + Send + Sync + Sized> + Debug + Send + Sync + 'static,
{
    fn name(&self) -> &'static str {
        S::NAME
    }

    fn encode(&self, w: &mut Writer<'_>) {
        w.structure(&*self.value, &self.context);
    }

    fn encoded_len(&self, widths: Widths) -> usize {
        self.value.encoded_len(widths, &self.context)
    }

    fn value(&self) -> &dyn Any {
        &self.value
    }

    fn remember(&self, cache: &BlockCache, at: Addr, len: u64) {
        cache.insert(at, Arc::clone(&self.value), len);
    }

    fn forget(&self, cache: &BlockCache, at: Addr) {
        cache.remove::<S>(at);
    }
}

/// The changed blocks of one file, by address.
#[derive(Debug, Clone, Default)]
pub(crate) struct Dirty {
    blocks: BTreeMap<Addr, Held>,
    bytes: u64,
}

/// Blocks in address order.
pub(crate) type Blocks = Vec<(Addr, Held)>;

#[derive(Debug, Clone)]
pub(crate) struct Held {
    pub(crate) block: Arc<dyn Block>,
    /// The bytes that count against the budget.
    len: u64,
}

impl Held {
    pub(crate) fn new(block: Arc<dyn Block>, widths: Widths) -> Self {
        let len = block.memory_bytes(widths) as u64;
        Self { block, len }
    }
}

impl Dirty {
    pub(crate) fn get<T: Send + Sync + 'static>(&self, at: Addr) -> Option<Arc<T>> {
        self.blocks.get(&at)?.block.value().downcast_ref::<Arc<T>>().cloned()
    }

    /// Returns the structure at `at` for change in place. The structure is copied first if it is shared.
    pub(crate) fn edit<S>(&mut self, at: Addr) -> Option<&mut S>
    where
        S: Structure<Context: Clone + Debug + Send + Sync + Sized> + Clone + Debug + Send + Sync + 'static,
    {
        let held = self.blocks.get_mut(&at)?;
        if Arc::get_mut(&mut held.block).is_none() {
            let block: &dyn Any = &*held.block;
            let block = block.downcast_ref::<StructureBlock<S>>()?;
            held.block =
                Arc::new(StructureBlock { value: Arc::clone(&block.value), context: block.context.clone() });
        }
        let block: &mut dyn Any = Arc::get_mut(&mut held.block)?;
        Some(Arc::make_mut(&mut block.downcast_mut::<StructureBlock<S>>()?.value))
    }

    /// Puts a block, or removes it if `held` is `None`; returns the previous block.
    pub(crate) fn set(&mut self, at: Addr, held: Option<Held>) -> Option<Held> {
        self.bytes += held.as_ref().map_or(0, Held::weight);
        let before = match held {
            Some(held) => self.blocks.insert(at, held),
            None => self.blocks.remove(&at),
        };
        self.bytes -= before.as_ref().map_or(0, Held::weight);
        before
    }

    /// Returns the number of bytes that count against the budget.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the addresses of the blocks in an extent.
    pub(crate) fn within(&self, extent: Extent) -> Vec<Addr> {
        let end = extent.end().unwrap_or(Addr::UNDEFINED);
        self.blocks.range(extent.addr..end).map(|(&at, _)| at).collect()
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Returns all blocks in address order.
    pub(crate) fn sorted(&self) -> Blocks {
        self.blocks.iter().map(|(&at, held)| (at, held.clone())).collect()
    }
}

/// Encodes `blocks`, which are in address order. Adjacent blocks form one piece, so that they are read and
/// written at once.
pub(crate) fn pieces(blocks: &[(Addr, Held)], widths: Widths) -> impl Iterator<Item = (Addr, Vec<u8>)> {
    let mut rest = blocks.iter().peekable();
    iter::from_fn(move || {
        let (start, first) = rest.next()?;
        let mut bytes = Vec::with_capacity(first.block.encoded_len(widths));
        first.block.encode(&mut Writer::new(&mut bytes, widths));
        while bytes.len() < LONG_PIECE {
            let end = start.get() + bytes.len() as u64;
            let Some((_, next)) = rest.next_if(|(at, _)| at.get() == end) else { break };
            next.block.encode(&mut Writer::new(&mut bytes, widths));
        }
        Some((*start, bytes))
    })
}

impl Held {
    fn weight(&self) -> u64 {
        self.len + OVERHEAD
    }
}

/// A piece that has reached this length gets no further blocks.
const LONG_PIECE: usize = 1 << 20;
/// The cost of an entry beyond its bytes.
const OVERHEAD: u64 = 128;
