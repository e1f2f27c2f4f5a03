//! Access to the stored bytes of an array, in its file or in another medium.

use std::io;
use std::ops::Deref;
use std::sync::Arc;

use hyperslab_error::{Error, Result};
use hyperslab_format::{Addr, Extent};
use hyperslab_io::driver::{Driver, Hints, WriteRequest};
use hyperslab_store::Store;
use smallvec::SmallVec;

use super::array::{Storage, StoredArray};

/// The medium that holds the stored bytes of an array.
#[derive(Debug, Clone, Copy)]
pub(in crate::engine) struct RawData<'a> {
    store: &'a Store,
    /// The driver of the other medium. `None` if the bytes are in the file.
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

    /// Returns the driver of the medium. Fails if the file is closed or was left half-changed.
    pub(in crate::engine) fn driver(self) -> Result<impl Deref<Target = dyn Driver + 'a>> {
        self.store.check_readable()?;
        Ok(Lent { file: self.store.driver()?, elsewhere: self.elsewhere })
    }

    /// Returns the offset of address 0.
    pub(in crate::engine) fn base(self) -> u64 {
        if self.elsewhere.is_some() { 0 } else { self.store.base() }
    }

    pub(in crate::engine) fn hints(self) -> Hints {
        self.elsewhere.map_or_else(|| self.store.hints(), <dyn Driver>::hints)
    }

    /// Returns the length of `extent` as a `usize`. Fails if the extent is not inside the file.
    pub(in crate::engine) fn check(self, extent: Extent) -> Result<usize> {
        match usize::try_from(extent.len) {
            // Opening the dataset compared its size with that of the medium.
            Ok(len) if self.elsewhere.is_some() => Ok(len),
            _ => self.store.check(extent, RAW_DATA),
        }
    }

    /// Fills `dst` with the bytes at `at`. The caller has [checked](Self::check) the extent.
    pub(in crate::engine) fn read(self, at: Addr, dst: &mut [u8]) -> Result<()> {
        let offset = self.base().saturating_add(at.get());
        self.driver()?.read_at(offset, dst).map_err(Error::io("read", offset, dst.len() as u64))
    }

    /// Writes several runs of bytes at once. Runs do not overlap.
    pub(in crate::engine) fn write_batch<'b>(
        self,
        runs: impl IntoIterator<Item = (Addr, &'b [u8])>,
    ) -> Result<()> {
        let Some(elsewhere) = self.elsewhere else { return self.store.write_batch(runs) };
        self.store.check_writable()?;
        let request = |(at, src): (Addr, &'b [u8])| WriteRequest { offset: at.get(), src };
        let requests: SmallVec<[WriteRequest<'_>; 1]> = runs.into_iter().map(request).collect();
        let Some(first) = requests.first() else { return Ok(()) };
        let bytes = requests.iter().map(|request| request.src.len() as u64).sum();
        elsewhere.write_batch(&requests).map_err(Error::io("write", first.offset, bytes))
    }
}

/// The driver of a medium, while the file stays open.
struct Lent<'a, F> {
    file: F,
    elsewhere: Option<&'a dyn Driver>,
}

impl<'a, F: Deref<Target = Arc<dyn Driver>>> Deref for Lent<'a, F> {
    type Target = dyn Driver + 'a;

    fn deref(&self) -> &Self::Target {
        self.elsewhere.unwrap_or(&**self.file)
    }
}

/// Returns the address of the byte at `offset` of contiguous data.
///
/// Errors: `Io` if the data end before it. A plan has no such offset; if one ever has, any address that this
/// returned would be that of other data, to be read or overwritten.
pub(in crate::engine) fn address_in(data: Extent, offset: u64) -> Result<Addr> {
    let at = data.addr.checked_add(offset).filter(|_| offset <= data.len);
    at.ok_or_else(|| Error::io("locate", data.addr.get(), offset)(io::ErrorKind::InvalidData.into()))
}

/// The name and spec section that errors give for data without an enclosing structure.
pub(in crate::engine) const RAW_DATA: (&str, &str) = ("Raw data", "IV.B");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_outside_the_data_is_an_error_and_no_other_address() {
        let data = Extent::new(Addr::new(100), 8);
        assert_eq!(address_in(data, 8).unwrap(), Addr::new(108));
        assert!(address_in(data, 9).is_err());
        assert!(address_in(Extent::new(Addr::new(u64::MAX - 2), 8), 2).is_err());
        assert!(address_in(Extent::new(Addr::UNDEFINED, 8), 0).is_err());
    }
}
