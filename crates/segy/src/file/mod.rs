//! A SEG-Y file: its headers and its traces.

mod layout;
mod traces;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use hyperslab::driver::{Driver, Posix};

pub(crate) use layout::LABEL_BYTES;
pub use layout::{BINARY_HEADER_BYTES, Layout};
pub use traces::Traces;

use crate::error::{Error, Result};
use crate::io;
use crate::textual::{Encoding, TEXT_BYTES, lines};

/// Options for opening a SEG-Y file.
#[derive(Debug, Clone, Default)]
pub struct SegyOptions {
    /// Accepts traces of several lengths, and pads them to the length of the longest. Without this, such
    /// traces are an error.
    pub pad: bool,
    /// Accepts bytes after the last whole trace, such as an incomplete trace, and keeps them unchanged.
    /// Without this, such bytes are an error.
    pub ignore_rest: bool,
    /// Trusts the number of samples in the file header, even if the file could also be read as traces of
    /// several lengths, according to their own headers. Without this, such a file is an error.
    pub trust_length: bool,
}

/// A SEG-Y file, opened for reading.
#[non_exhaustive]
pub struct SegyFile {
    driver: Arc<dyn Driver>,
    path: String,
    /// The layout of the traces, from the file headers.
    pub layout: Layout,
    /// The position of each trace.
    pub traces: Traces,
    len: u64,
    trusts_lengths: bool,
}

impl SegyFile {
    /// Opens the file at `path`.
    pub fn open(path: impl AsRef<Path>, options: &SegyOptions) -> Result<Self> {
        let name = path.as_ref().display().to_string();
        let driver = Posix::open(path.as_ref()).map_err(io(&name))?;
        Self::from_driver(Arc::new(driver), name, options)
    }

    /// Opens a SEG-Y file on any medium. Errors call the file `path`.
    pub fn from_driver(driver: Arc<dyn Driver>, path: String, options: &SegyOptions) -> Result<Self> {
        let layout = Layout::read(&*driver, &path)?;
        let len = driver.len().map_err(io(&path))?;
        let mut file =
            Self { driver, path, layout, traces: Traces::none(), len, trusts_lengths: options.trust_length };
        file.traces = Traces::find(&file, options)?;
        Ok(file)
    }

    /// Returns the name of the file in errors.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns whether the sample counts in trace headers are ignored.
    pub(crate) fn trusts_lengths(&self) -> bool {
        self.trusts_lengths
    }

    /// Returns the length of the file in bytes.
    pub fn len_bytes(&self) -> u64 {
        self.len
    }

    /// Fills `dst` with the bytes that start at `offset`.
    pub fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<()> {
        self.driver.read_at(offset, dst).map_err(io(&self.path))
    }

    /// Returns `len` bytes at `offset`, or no bytes if the range is not inside the file.
    pub(crate) fn bytes(&self, offset: u64, len: u64) -> Result<Vec<u8>> {
        let len = if offset.checked_add(len).is_some_and(|end| end <= self.len) { len } else { 0 };
        let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
        self.read_at(offset, &mut bytes)?;
        Ok(bytes)
    }

    /// Returns the textual header as it is in the file.
    pub fn textual_header(&self) -> Result<Vec<u8>> {
        self.bytes(self.layout.label, TEXT_BYTES as u64)
    }

    /// Returns the lines of the textual header, and its encoding.
    pub fn text(&self) -> Result<(Vec<String>, Encoding)> {
        let bytes = self.textual_header()?;
        let encoding = Encoding::of(&bytes);
        Ok((lines(&bytes, encoding), encoding))
    }

    /// Returns the binary header as it is in the file.
    pub fn binary_header(&self) -> Result<Vec<u8>> {
        self.bytes(self.layout.label + TEXT_BYTES as u64, BINARY_HEADER_BYTES as u64)
    }

    /// Returns the first header of a trace as it is in the file.
    pub fn trace_header(&self, trace: u64) -> Result<[u8; crate::TRACE_HEADER_BYTES]> {
        let mut header = [0; crate::TRACE_HEADER_BYTES];
        self.read_at(self.traces.offset(trace), &mut header)?;
        Ok(header)
    }

    /// Returns the number of samples in a trace's own header.
    fn samples_of(&self, header: &[u8]) -> u32 {
        self.layout.order.read::<u16>(header, 115).into()
    }

    /// Returns the offset and the length of the bytes after the last trace.
    pub fn trailer(&self) -> (u64, u64) {
        let end = self.traces.end();
        (end, self.len - end)
    }
}

impl fmt::Debug for SegyFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SegyFile")
            .field("path", &self.path)
            .field("layout", &self.layout)
            .finish_non_exhaustive()
    }
}

/// Returns the error for a trace whose length differs from that of earlier traces.
fn other_length(path: &str, trace: u64, offset: u64, samples: u32, wanted: u32) -> Error {
    Error::trace(
        path,
        "header",
        trace,
        offset + 114,
        format!(
            "it counts {samples} samples, but earlier traces have {wanted}: --pad (in Python, pad=True) accepts traces of several lengths"
        ),
    )
}
