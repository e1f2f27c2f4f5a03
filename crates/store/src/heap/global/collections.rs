//! Reads many collections in the order of their addresses. Neighbouring collections are read together, and
//! their objects are found in the bytes that were read, without a copy.

use std::sync::Arc;

use hyperslab_error::{Error, Result, broken, misfit};
use hyperslab_format::heap::global::{
    GlobalHeapCollection, GlobalHeapPlaces, MIN_COLLECTION, VariableElement,
};
use hyperslab_format::{Addr, ErrorKind, FormatError, Structure};

use super::unused;
use crate::Store;

const NAME: (&str, &str) = (GlobalHeapCollection::NAME, GlobalHeapCollection::SPEC);

/// Reads collections of the global heap of a file one after another. Keeps its memory.
#[derive(Debug)]
pub struct Collections<'s> {
    store: &'s Store,
    /// The bytes from [`at`](Self::at) on.
    span: Vec<u8>,
    at: Addr,
    places: GlobalHeapPlaces,
    /// The address after the last collection that was read from the file.
    end: u64,
    /// The size of that collection, which the next one may have, too.
    typical: u64,
}

/// The objects of a collection.
#[derive(Debug)]
pub enum Objects<'c> {
    /// A collection in memory.
    Known(Arc<GlobalHeapCollection>),
    /// A collection as the file has it.
    Read(&'c [u8], &'c GlobalHeapPlaces),
}

impl<'s> Collections<'s> {
    /// Returns a reader of the global heap of the file in `store`.
    pub fn new(store: &'s Store) -> Self {
        Self {
            store,
            span: Vec::new(),
            at: Addr::UNDEFINED,
            places: GlobalHeapPlaces::default(),
            end: 0,
            typical: MIN_COLLECTION as u64,
        }
    }

    /// Forgets what was read, so that collections may be read in order from any address.
    pub fn restart(&mut self) {
        (self.at, self.end) = (Addr::UNDEFINED, 0);
        self.span.clear();
    }

    /// Returns the collection at `at` from memory, and keeps it there.
    pub fn cached(&self, at: Addr) -> Result<Objects<'_>> {
        self.store.get(at, &()).map(Objects::Known)
    }

    /// Returns the collection at `at`. The caller will ask for those at `next`, in this order.
    ///
    /// Errors: the file is damaged, or the collection begins inside the one before: a file could otherwise
    /// have as many long collections as it has bytes.
    pub fn get(&mut self, at: Addr, next: impl Iterator<Item = Addr>) -> Result<Objects<'_>> {
        if let Some(known) = self.store.in_memory(at) {
            return Ok(Objects::Known(known));
        }
        if self.store.follows() {
            // Another program may be writing the collection, which has no checksum.
            return self.cached(at);
        }
        if at.get() < self.end {
            let expected = "an address after the collection before it";
            return Err(misfit::<GlobalHeapCollection>(at, "address of the collection", at.get(), expected));
        }
        let mut start = self.start_in_span(at);
        if start.is_none() {
            self.read(at, self.reach(at, next))?;
            start = Some(0);
        }
        let mut start = start.unwrap_or(0);
        let widths = self.store.widths();
        while let Err(error) = self.places.find(&self.span[start..], widths, at) {
            let have = (self.span.len() - start) as u64;
            match error {
                FormatError { kind: ErrorKind::Truncated { needed, .. }, .. }
                    if needed > have && needed <= self.store.bytes_from(at) =>
                {
                    self.read(at, needed)?;
                    start = 0;
                }
                error => return Err(Error::from(error)),
            }
        }
        self.typical = self.places.size();
        self.end = at.get().saturating_add(self.typical);
        // The size was read from these bytes.
        let end = start + usize::try_from(self.typical).unwrap_or(0);
        Ok(Objects::Read(&self.span[start..end], &self.places))
    }

    /// Returns the place of a collection in the span, if the span has its header.
    fn start_in_span(&self, at: Addr) -> Option<usize> {
        let start = usize::try_from(at.get().checked_sub(self.at.get())?).ok()?;
        (start < self.span.len()).then_some(start)
    }

    fn read(&mut self, at: Addr, len: u64) -> Result<()> {
        self.at = Addr::UNDEFINED;
        self.store.read_span(at, len, NAME, &mut self.span)?;
        self.at = at;
        Ok(())
    }

    /// Returns the number of bytes to read at `at`: with the collections at `next` that follow closely.
    fn reach(&self, at: Addr, next: impl Iterator<Item = Addr>) -> u64 {
        let hints = self.store.hints();
        let most = hints.max_span.min(MOST_BYTES);
        let mut len = self.typical.min(most);
        for next in next {
            let Some(distance) = next.get().checked_sub(at.get()) else { break };
            let with_next = distance.saturating_add(self.typical);
            if distance > len.saturating_add(hints.coalesce_gap) || with_next > most {
                break;
            }
            len = len.max(with_next);
        }
        len
    }
}

impl Objects<'_> {
    /// Returns the bytes in which the places of objects are.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Known(collection) => collection.bytes(),
            Self::Read(bytes, _) => bytes,
        }
    }
}

/// Returns the error for an element whose object is missing, or shorter than the `needed` bytes.
#[cold]
pub fn missing(element: VariableElement, needed: u64, have: Option<u64>) -> Error {
    match have {
        None => unused(element.id),
        Some(have) => {
            broken::<GlobalHeapCollection>(element.id.collection, ErrorKind::Truncated { needed, have })
        }
    }
}

/// The most bytes that are read at a time, unless one collection is larger: they stay in the processor's
/// cache until their objects are taken.
const MOST_BYTES: u64 = 256 << 10;
