//! Adjacent structures. The first is needed now; on a slow medium the others are read with it.

use std::io;
use std::sync::Arc;

use hyperslab_format::{Addr, Reader, Structure};
use hyperslab_io::driver::{ReadQueue, Request};

use crate::Store;

/// The structures at some addresses, read into the cache.
pub(crate) struct Siblings<'s, S: Structure> {
    store: &'s Store,
    at: &'s [Addr],
    context: &'s S::Context,
    /// The bytes of each requested structure that has not arrived.
    bytes: Vec<Vec<u8>>,
    has_arrived: bool,
}

impl<'s, S: Structure> Siblings<'s, S> {
    pub(crate) fn new(store: &'s Store, at: &'s [Addr], context: &'s S::Context) -> Self {
        Self { store, at, context, bytes: Vec::new(), has_arrived: false }
    }
}

impl<S: Structure + Send + Sync + 'static> ReadQueue for Siblings<'_, S> {
    /// Requests structures until the first has arrived. Stops at a cached structure, because the next ones
    /// are probably cached too.
    fn next(&mut self) -> Option<Request> {
        if self.has_arrived {
            return None;
        }
        let number = self.bytes.len();
        let at = *self.at.get(number)?;
        if self.store.cache.get::<S>(at).is_some() {
            self.at = &self.at[..number];
            return None;
        }
        let available = self.store.readable_bytes(at).checked_sub(at.get())?;
        let len = (S::read_len(self.store.widths(), self.context) as u64).min(available);
        let len = usize::try_from(len).ok()?;
        self.bytes.push(vec![0; len]);
        Some(Request { id: number as u64, offset: self.store.base.checked_add(at.get())?, len })
    }

    fn place(&mut self, id: u64) -> io::Result<&mut [u8]> {
        let place = usize::try_from(id).ok().and_then(|number| self.bytes.get_mut(number));
        place.map(Vec::as_mut_slice).ok_or_else(|| io::ErrorKind::InvalidInput.into())
    }

    /// Caches the structure. A damaged structure, or one that is longer than expected, is left to the caller
    /// that needs it.
    fn arrived(&mut self, id: u64) {
        self.has_arrived = true;
        let Ok(number) = usize::try_from(id) else { return };
        let (Some(&at), Some(bytes)) = (self.at.get(number), self.bytes.get_mut(number)) else { return };
        let bytes = std::mem::take(bytes);
        let mut reader = Reader::new(&bytes, self.store.widths(), at);
        if let Ok(value) = reader.structure::<S>(self.context) {
            self.store.cache.insert(at, Arc::new(value), reader.position() as u64);
        }
    }
}
