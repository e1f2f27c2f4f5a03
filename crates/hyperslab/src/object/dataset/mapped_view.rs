//! The elements of a dataset where its medium has them in memory.

use std::ops::Range;
use std::sync::Arc;

use hyperslab_error::{Error, RequestError, Result};
use hyperslab_format::Extent;
use hyperslab_format::layout::Layout;
use hyperslab_io::driver::Driver;

use super::Dataset;

/// The stored bytes of a dataset, in the memory of its file's driver. They stay there when the file is
/// closed.
#[derive(Debug, Clone)]
pub struct InPlace {
    driver: Arc<dyn Driver>,
    range: Range<usize>,
}

impl InPlace {
    /// Returns the bytes of the elements, in the datatype of the dataset.
    ///
    /// Errors: the file was cut short.
    pub fn bytes(&self) -> Result<&[u8]> {
        let failed = Error::io("map", self.range.start as u64, self.range.len() as u64);
        let bytes = self.driver.bytes().map_err(failed)?.unwrap_or_default();
        bytes.get(self.range.clone()).ok_or_else(|| refused("its driver gave up the memory"))
    }
}

impl Dataset {
    /// Returns the elements where they are, without reading or copying them: of a contiguous dataset, in a
    /// file that is [mapped](hyperslab_io::driver::Via::Map) into memory.
    ///
    /// ```
    /// use hyperslab::{File, driver::{Unchanged, Via}};
    ///
    /// let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("climate.h5");
    /// let file = File::create(&path)?;
    /// file.root().new_dataset::<u8>("mask").shape([3]).create_with(&[1, 0, 1])?;
    /// file.close()?;
    /// // SAFETY: only this program knows the new folder, and it does not open the file to change it.
    /// let unchanged = unsafe { Unchanged::promised() };
    /// let mask = File::options().via(Via::Map(unchanged)).open(&path)?.dataset("mask")?;
    /// assert_eq!(mask.in_place()?.bytes()?, [1, 0, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Errors: the elements are not in one piece of the file, or the driver has not the file in memory.
    pub fn in_place(&self) -> Result<InPlace> {
        let (file, len) = (self.file(), self.len_bytes());
        let store = file.store();
        let Layout::Contiguous(Extent { addr, .. }) = self.layout() else {
            return Err(refused("its elements are not contiguous in the file; read them"));
        };
        if self.has_external_files() {
            return Err(refused("its elements are in other files; read them"));
        }
        let driver = Arc::clone(&*store.driver()?);
        if driver.bytes().map_err(Error::io("map", 0, len))?.is_none() {
            return Err(refused("its file is not mapped into memory; open it with the driver mmap"));
        }
        if len == 0 {
            return Ok(InPlace { driver, range: 0..0 });
        }
        let Some(addr) = addr.defined() else {
            return Err(refused("it was never written, so the file has no elements; read its fill value"));
        };
        let len = store.check(Extent::new(addr, len), ("Raw data", "IV.B"))?;
        let start = usize::try_from(store.base().saturating_add(addr.get())).unwrap_or(usize::MAX);
        Ok(InPlace { driver, range: start..start.saturating_add(len) })
    }
}

fn refused(why: &'static str) -> Error {
    RequestError::Argument { what: "view of the dataset".to_owned(), why }.into()
}
