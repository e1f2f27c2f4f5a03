//! Writing while other programs read (SWMR: single writer, multiple readers). Readers hold no lock, so the
//! journal and its guard would keep them out. Changes are written in order instead: first the new blocks,
//! then the blocks that refer to them, from the leaves of each structure up to the object header. A reader
//! sees the state before or after each write. It finds a torn block by the checksum and reads it again.
//!
//! Freed space is not reused before the file is closed, because a reader may still use it. Nodes of version 2
//! B-trees, whose checksum depends on the count in the parent, and collections of the global heap, which have
//! no checksum, move when they change ([`Store::is_seen`]).

use std::sync::atomic::Ordering;

use hyperslab_error::{Error, RequestError, Result};
use hyperslab_format::array::extensible::block::SecondaryBlock;
use hyperslab_format::array::extensible::header::ExtensibleArrayHeader;
use hyperslab_format::array::extensible::index_block::IndexBlock;
use hyperslab_format::array::fixed::block::FixedArrayBlock;
use hyperslab_format::array::fixed::header::FixedArrayHeader;
use hyperslab_format::btree2::header::BTree2Header;
use hyperslab_format::btree2::node::BTree2Node;
use hyperslab_format::header::{Chunk, ObjectHeader};
use hyperslab_format::heap::fractal::block::IndirectBlock;
use hyperslab_format::heap::fractal::header::FractalHeapHeader;
use hyperslab_format::superblock::{OPEN_FOR_SWMR, OPEN_FOR_WRITING};
use hyperslab_format::{Addr, Structure};

use crate::Store;
use crate::commit;
use crate::commit::dirty_blocks::{self, Blocks};
use crate::commit::writing::{Writing, superblock_bytes};

/// The structures that refer to others, children before parents. All other structures come first.
const PARENTS: [&str; 11] = [
    FixedArrayBlock::NAME,
    SecondaryBlock::NAME,
    IndexBlock::NAME,
    FixedArrayHeader::NAME,
    ExtensibleArrayHeader::NAME,
    IndirectBlock::NAME,
    FractalHeapHeader::NAME,
    BTree2Node::NAME,
    BTree2Header::NAME,
    Chunk::NAME,
    ObjectHeader::NAME,
];

impl Store {
    /// Begins to write in order, and lets other programs read the file. This lasts until the file is closed.
    pub fn start_swmr(&self) -> Result<()> {
        let writing = self.writing()?;
        let _guard = writing.lock.change();
        let why = if writing.is_swmr() {
            "file already in SWMR writing mode"
        } else if self.superblock().version() < 3 {
            "file superblock version - should be at least 3: create the file with libver='v110' or later"
        } else if writing.in_transaction() {
            "a transaction has not ended"
        } else {
            ""
        };
        if !why.is_empty() {
            return Err(RequestError::Argument { what: "unable to start SWMR writing".into(), why }.into());
        }
        writing.touch();
        writing.commit(self)?;
        writing.set_swmr(true);
        // The mark is the only change.
        let marked = writing.commit(self);
        marked.inspect_err(|_| writing.set_swmr(false))?;
        self.driver()?.unlock().map_err(Error::io("unlock", 0, 0))
    }

    /// Writes all changes, and then the superblock without the mark. Space that was freed meanwhile is free
    /// again. Does nothing in a file that other programs may not read.
    pub fn end_swmr(&self) -> Result<()> {
        if !self.is_swmr_writer() {
            return Ok(());
        }
        let writing = self.writing()?;
        let _guard = writing.lock.change();
        writing.commit(self)?;
        writing.set_swmr(false);
        writing.commit(self)
    }

    /// Returns whether other programs may read the file while this one writes.
    pub fn is_swmr_writer(&self) -> bool {
        self.writing.as_deref().is_some_and(Writing::is_swmr)
    }

    /// Returns whether another program may be reading the block at `at`. If so, a block that cannot be
    /// replaced in one piece gets another place.
    pub fn is_seen(&self, at: Addr) -> bool {
        self.writing.as_deref().is_some_and(|writing| writing.is_swmr() && !writing.space.lock().is_fresh(at))
    }
}

impl Writing {
    /// Writes the changes of reachable blocks, whose new blocks are in the file already, and the superblock,
    /// which states the end `end` of the file. If a write fails, all blocks are written again by the next
    /// commit.
    pub(crate) fn write_in_order(
        &self,
        store: &Store,
        before: Option<&[u8]>,
        end: u64,
        mut reachable: Blocks,
    ) -> Result<Vec<u8>> {
        let driver = store.driver()?;
        let file_end = store.base() + end;
        // The end of the file first, which the medium has already: `h5clear` then repairs a file whose writer
        // died.
        let after = superblock_bytes(store.superblock(), file_end, Some(OPEN_FOR_WRITING | OPEN_FOR_SWMR));
        if before != Some(&after) {
            commit::write(&**driver, store.base(), &after)?;
        }
        let rank = |name| PARENTS.iter().position(|&parent| parent == name).map_or(0, |place| place + 1);
        reachable.sort_by_key(|(at, held)| (rank(held.block.name()), *at));
        for stage in reachable.chunk_by(|(_, a), (_, b)| rank(a.block.name()) == rank(b.block.name())) {
            for (at, bytes) in dirty_blocks::pieces(stage, store.widths()) {
                commit::write(&**driver, store.base() + at.get(), &bytes)?;
            }
        }
        self.wrote(end);
        Ok(after)
    }

    pub(crate) fn is_swmr(&self) -> bool {
        self.is_swmr.load(Ordering::Acquire)
    }

    /// Begins or ends the mode. Like a read that is always in progress, the mode keeps freed space.
    pub(crate) fn set_swmr(&self, is: bool) {
        if self.is_swmr.swap(is, Ordering::AcqRel) != is {
            let by = if is { 1 } else { usize::MAX };
            self.reads.fetch_add(by, Ordering::AcqRel);
        }
    }
}
