//! Reads the bytes of several structures at a time, for callers that decode them on their own.

use std::sync::Arc;

use hyperslab_error::Result;
use hyperslab_format::{Addr, Extent, Structure};

use crate::Store;

impl Store {
    /// Returns the structure at `at` if it is in memory: changed, or cached.
    pub fn in_memory<S: Structure + Send + Sync + 'static>(&self, at: Addr) -> Option<Arc<S>> {
        self.known(at)
    }

    /// Returns the number of bytes that the file has from `at` on.
    pub fn bytes_from(&self, at: Addr) -> u64 {
        self.readable_bytes(at).saturating_sub(at.get())
    }

    /// Makes `buffer` the bytes from `at` on: `len` of them, or all up to the end of the file if there are
    /// fewer. `name` is the structure at `at`, with its section.
    ///
    /// Errors: there is no byte at `at`, or the medium fails.
    pub fn read_span(
        &self,
        at: Addr,
        len: u64,
        name: (&'static str, &'static str),
        buffer: &mut Vec<u8>,
    ) -> Result<()> {
        let available = self.bytes_from(at);
        if available == 0 {
            return Err(self.outside(Extent::new(at, 1), name));
        }
        let size = self.check(Extent::new(at, len.min(available)), name)?;
        // The bytes that the buffer has are overwritten: new ones only are cleared.
        buffer.resize(size, 0);
        self.read_raw(at, buffer)
    }

    /// Drops what is cached of the structure at `at`, whose bytes the caller has written.
    pub fn forget_structure<S: Structure + Send + Sync + 'static>(&self, at: Addr) {
        self.cache.remove::<S>(at);
    }
}
