//! A file in memory, for the tests of modules built on the store.

use std::sync::Arc;

use hyperslab_format::superblock::Superblock;
use hyperslab_format::superblock::v2::SuperblockV2;
use hyperslab_format::{Addr, Widths};
use hyperslab_io::driver::{Driver, Memory};

use crate::{CommitOptions, Store};

/// Creates a file open for writing. The address of its root is never read.
pub(crate) fn new_store(widths: Widths) -> Store {
    let superblock = Superblock::V2(SuperblockV2 {
        version: 3,
        widths,
        consistency_flags: 0,
        base_address: 0,
        extension: Addr::UNDEFINED,
        end_of_file: 0,
        root: Addr::new(48),
    });
    Store::create(Arc::new(Memory::default()), 0, superblock, CACHE_BYTES, CommitOptions::default()).unwrap()
}

/// Commits, and opens a copy of the file.
pub(crate) fn reopened(store: &Store) -> Store {
    store.commit().unwrap();
    let driver: Arc<dyn Driver> = Arc::new(Memory::new(image(store)));
    Store::open_writable(driver, CACHE_BYTES, CommitOptions::default()).unwrap()
}

/// Returns the bytes of the file.
pub(crate) fn image(store: &Store) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(store.driver().unwrap().len().unwrap()).unwrap()];
    store.driver().unwrap().read_at(0, &mut bytes).unwrap();
    bytes
}

/// Small, so that blocks are read again.
const CACHE_BYTES: u64 = 1 << 16;
