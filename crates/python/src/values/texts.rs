//! Strings in memory, one after another, on their way from Python to a file; lists of them in Python.

use std::ops::Range;

use hyperslab::internals::VlenData;
use hyperslab_format::datatype::Charset;
use pyo3::exceptions::{PyRecursionError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple, PyType};

/// Strings in blocks of [`BLOCK`], so that threads can fill blocks, and none grows large.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    blocks: Vec<TextBlock>,
}

/// Some strings.
#[derive(Debug, Default)]
pub(crate) struct TextBlock {
    /// The strings, one after another.
    pub(crate) bytes: Vec<u8>,
    /// The end of each string.
    pub(crate) ends: Vec<usize>,
}

/// The number of strings of a block. The last block may have fewer.
pub(crate) const BLOCK: usize = 1 << 13;

impl Texts {
    /// Returns the strings of full blocks and a last one.
    pub(crate) fn of(blocks: Vec<TextBlock>) -> Self {
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
                    TextBlock { bytes: Vec::with_capacity(last.bytes.len()), ends: Vec::with_capacity(BLOCK) }
                }
                None => TextBlock::default(),
            };
            self.blocks.push(next);
        }
        let Some(last) = self.blocks.last_mut() else { return Ok(()) };
        // The first string that is wrong decides which exception is raised.
        last.push(object, charset).map_err(|error| last.check().err().unwrap_or(error))
    }

    /// Returns the strings. Raises `ValueError` if one has a zero byte.
    pub(crate) fn checked(self) -> PyResult<Self> {
        self.blocks.last().map_or(Ok(()), TextBlock::check)?;
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

impl TextBlock {
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

/// The elements of a list or a tuple, in turn.
pub(crate) enum Listed<'a, 'py> {
    List(&'a Bound<'py, PyList>),
    Tuple(&'a Bound<'py, PyTuple>),
}

impl<'a, 'py> Listed<'a, 'py> {
    /// Returns the elements if `value` is a list or a tuple.
    pub(crate) fn of(value: &'a Bound<'py, PyAny>) -> Option<Self> {
        let list = value.cast::<PyList>().ok().map(Self::List);
        list.or_else(|| value.cast::<PyTuple>().ok().map(Self::Tuple))
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::List(list) => list.len(),
            Self::Tuple(tuple) => tuple.len(),
        }
    }

    /// Returns an element. Raises `IndexError` if code that runs meanwhile has made the list shorter.
    pub(crate) fn get(&self, index: usize) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Self::List(list) => list.get_item(index),
            Self::Tuple(tuple) => tuple.get_item(index),
        }
    }

    /// Returns the strings, or `None` if an element is no string.
    pub(crate) fn texts(&self, charset: Charset) -> PyResult<Option<Texts>> {
        let mut texts = Texts::default();
        for index in 0..self.len() {
            let item = self.get(index)?;
            if !item.is_instance_of::<PyString>() && !item.is_instance_of::<PyBytes>() {
                return Ok(None);
            }
            texts.push(&item, charset)?;
        }
        texts.checked().map(Some)
    }
}

/// Returns the common type of all items of nested lists, or `None`; and whether no list is in another one.
/// `other` gives the type of items that are not lists.
#[pyfunction]
#[pyo3(name = "_item_type")]
pub(crate) fn item_type<'py>(
    value: &Bound<'py, PyAny>,
    other: &Bound<'py, PyAny>,
) -> PyResult<(Option<Bound<'py, PyType>>, bool)> {
    let mut found = Common { first: None, other, is_flat: true };
    let is_common = found.add(value, 0)?;
    Ok((found.first.filter(|_| is_common), found.is_flat))
}

struct Common<'a, 'py> {
    first: Option<Bound<'py, PyType>>,
    other: &'a Bound<'py, PyAny>,
    is_flat: bool,
}

impl<'py> Common<'_, 'py> {
    /// Adds a value at a depth of lists. Returns whether all items so far have one type.
    fn add(&mut self, value: &Bound<'py, PyAny>, depth: usize) -> PyResult<bool> {
        let exact = value.is_exact_instance_of::<PyString>() || value.is_exact_instance_of::<PyBytes>();
        if let Some(items) = (!exact).then(|| Listed::of(value)).flatten() {
            if depth == DEEPEST {
                return Err(PyRecursionError::new_err(format!(
                    "lists are nested in more than {DEEPEST} others"
                )));
            }
            self.is_flat &= depth == 0;
            for index in 0..items.len() {
                if !self.add(&items.get(index)?, depth + 1)? {
                    return Ok(false);
                }
            }
            // An empty list has no type.
            return Ok(items.len() > 0);
        }
        let kind = if exact {
            value.get_type()
        } else {
            match self.other.call1((value,))?.cast_into::<PyType>() {
                Ok(kind) => kind,
                Err(_) => return Ok(false),
            }
        };
        Ok(self.first.get_or_insert_with(|| kind.clone()).is(&kind))
    }
}

/// The most lists that are nested in each other. NumPy has fewer dimensions.
const DEEPEST: usize = 500;
