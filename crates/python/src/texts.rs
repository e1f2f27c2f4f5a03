//! Strings in memory, one after another, on their way from Python to a file.

use std::ops::Range;

use hyperslab::internals::VlenData;
use hyperslab_format::datatype::Charset;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// Strings in blocks of [`BLOCK`], so that threads can fill blocks, and none grows large.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    blocks: Vec<Block>,
}

/// Some strings.
#[derive(Debug, Default)]
pub(crate) struct Block {
    /// The strings, one after another.
    pub(crate) bytes: Vec<u8>,
    /// The end of each string.
    pub(crate) ends: Vec<usize>,
}

/// The number of strings of a block. The last block may have fewer.
pub(crate) const BLOCK: usize = 1 << 13;

impl Texts {
    /// Returns the strings of full blocks and a last one.
    pub(crate) fn of(blocks: Vec<Block>) -> Self {
        Self { blocks }
    }

    /// Adds the string that an object is, in the encoding that `charset` names.
    ///
    /// Raises `TypeError` if the object is no string. [`checked`](Self::checked) has to follow.
    pub(crate) fn push(&mut self, object: &Bound<'_, PyAny>, charset: Charset) -> PyResult<()> {
        if self.blocks.last().is_none_or(|last| last.ends.len() == BLOCK) {
            let next = match self.blocks.last() {
                Some(last) => {
                    last.check()?;
                    Block { bytes: Vec::with_capacity(last.bytes.len()), ends: Vec::with_capacity(BLOCK) }
                }
                None => Block::default(),
            };
            self.blocks.push(next);
        }
        let Some(last) = self.blocks.last_mut() else { return Ok(()) };
        // The first string that is wrong decides which exception is raised.
        last.push(object, charset).map_err(|error| last.check().err().unwrap_or(error))
    }

    /// Returns the strings. Raises `ValueError` if one has a zero byte.
    pub(crate) fn checked(self) -> PyResult<Self> {
        self.blocks.last().map_or(Ok(()), Block::check)?;
        Ok(self)
    }

    /// Whether all strings are ASCII.
    pub(crate) fn are_ascii(&self) -> bool {
        self.blocks.iter().all(|block| block.bytes.is_ascii())
    }
}

impl VlenData for Texts {
    fn count(&self) -> usize {
        self.blocks.iter().map(|block| block.ends.len()).sum()
    }

    #[inline]
    fn data(&self, index: usize) -> &[u8] {
        let (block, index) = (&self.blocks[index / BLOCK], index % BLOCK);
        let start = index.checked_sub(1).map_or(0, |before| block.ends[before]);
        &block.bytes[start..block.ends[index]]
    }

    fn iter(&self, range: Range<usize>) -> impl Iterator<Item = &[u8]> {
        let first = range.start / BLOCK;
        let blocks =
            self.blocks.iter().enumerate().skip(first).take(range.end.div_ceil(BLOCK).saturating_sub(first));
        blocks.flat_map(move |(number, block)| {
            let inside = |index: usize| index.saturating_sub(number * BLOCK).min(block.ends.len());
            let (from, to) = (inside(range.start), inside(range.end));
            let mut start = from.checked_sub(1).map_or(0, |before| block.ends[before]);
            block.ends[from..to].iter().map(move |&end| &block.bytes[std::mem::replace(&mut start, end)..end])
        })
    }
}

impl Block {
    #[inline]
    fn push(&mut self, object: &Bound<'_, PyAny>, charset: Charset) -> PyResult<()> {
        if let Ok(text) = object.cast::<PyString>() {
            match text.to_cow() {
                Ok(text) if charset == Charset::Utf8 || text.is_ascii() => {
                    self.bytes.extend_from_slice(text.as_bytes());
                }
                _ => {
                    let encoding = if charset == Charset::Ascii { "ascii" } else { "utf-8" };
                    let bytes = text.call_method1("encode", (encoding, "surrogateescape"))?;
                    self.bytes.extend_from_slice(bytes.cast::<PyBytes>()?.as_bytes());
                }
            }
        } else if let Ok(bytes) = object.cast::<PyBytes>() {
            self.bytes.extend_from_slice(bytes.as_bytes());
        } else {
            let kind = object.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "Can't implicitly convert non-string objects to strings: {} is a {kind}, convert it first",
                object.repr()?
            )));
        }
        self.ends.push(self.bytes.len());
        Ok(())
    }

    /// Raises `ValueError` if a string has a zero byte: readers would cut it short there.
    pub(crate) fn check(&self) -> PyResult<()> {
        if self.bytes.contains(&0) {
            return Err(PyValueError::new_err("VLEN strings do not support embedded NULLs"));
        }
        Ok(())
    }
}
