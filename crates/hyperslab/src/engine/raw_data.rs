//! Where the stored bytes of an array are: in its file, or in a medium of their own.

use hyperslab_format::{Addr, Extent};

use super::array::{Storage, StoredArray};
use crate::driver::{Driver, Hints};
use crate::error::{Error, Result};
use crate::store::Store;

/// The bytes that the pieces of an array are read from.
#[derive(Debug, Clone, Copy)]
pub(in crate::engine) struct RawData<'a> {
    store: &'a Store,
    /// Where they are, if that is not the file.
    elsewhere: Option<&'a dyn Driver>,
}

impl<'a> RawData<'a> {
    pub(in crate::engine) fn of(store: &'a Store, array: &'a StoredArray) -> Self {
        let elsewhere = match &array.storage {
            Storage::Elsewhere(driver) => Some(&**driver),
            _ => None,
        };
        Self { store, elsewhere }
    }

    /// Calls `f` with the driver that reads them; an error where the file is closed, or was left half-changed.
    pub(in crate::engine) fn with<R>(self, f: impl FnOnce(&dyn Driver) -> R) -> Result<R> {
        self.store.check_readable()?;
        let driver = self.store.driver()?;
        Ok(f(self.elsewhere.unwrap_or(&**driver)))
    }

    /// The offset of address 0.
    pub(in crate::engine) fn base(self) -> u64 {
        if self.elsewhere.is_some() { 0 } else { self.store.base() }
    }

    pub(in crate::engine) fn hints(self) -> Hints {
        self.elsewhere.map_or_else(|| self.store.hints(), Driver::hints)
    }

    /// The length of `extent` as a size in memory, if it is there.
    pub(in crate::engine) fn check(self, extent: Extent) -> Result<usize> {
        match usize::try_from(extent.len) {
            // Who opened the dataset has compared its size with the medium's.
            Ok(len) if self.elsewhere.is_some() => Ok(len),
            _ => self.store.check(extent, RAW_DATA),
        }
    }

    /// Fills `dst` with the bytes at `at`, which were [checked](Self::check).
    pub(in crate::engine) fn read(self, at: Addr, dst: &mut [u8]) -> Result<()> {
        let offset = self.base().saturating_add(at.get());
        self.with(|driver| driver.read_at(offset, dst))?.map_err(Error::io("read", offset, dst.len() as u64))
    }
}

/// How errors name data that no structure wraps.
pub(in crate::engine) const RAW_DATA: (&str, &str) = ("Raw data", "IV.B");
