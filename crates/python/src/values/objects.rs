//! Reading elements that are Python objects in NumPy: strings and sequences of variable length, references,
//! and records of them.
//!
//! The engine reads such elements in their stored form, which contains ids of the global heap. [`fetch`]
//! reads all heap objects together, with the GIL released. [`array_of`] then creates the Python objects in
//! element order.

use hyperslab::File;
use hyperslab::internals::{StoredIds, VlenItems};
use hyperslab_convert::Conversion;
use hyperslab_format::Widths;
use hyperslab_format::datatype::Datatype;
use hyperslab_present::until_zero;
use numpy::prelude::*;
use numpy::{PyArrayDescr, PyUntypedArray};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::interpreter::error::OrRaise;
use crate::interpreter::signals;
use crate::values::buffer::{self, Places};
use crate::values::memory::datatype_of;
use crate::values::reference;
use crate::values::translation::{Recipe, Translation};

/// The heap objects of elements.
#[derive(Debug, Default)]
pub(crate) struct Fetched {
    /// The objects of all elements, for each id in an element.
    columns: Vec<VlenItems>,
}

impl Fetched {
    /// Returns the strings of elements that are strings.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &[u8]> {
        self.columns.iter().take(1).flat_map(VlenItems::iter).map(until_zero)
    }
}

/// Returns an array of the shape `shape` from the elements that the engine has read into `raw`.
pub(crate) fn array<'py>(
    py: Python<'py>,
    file: &File,
    translation: &Translation,
    raw: &[u8],
    shape: &[usize],
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let fetched = signals::detach(py, || fetch(file, translation, raw)).or_raise()?;
    array_of(py, file, translation, raw, &fetched, shape)
}

/// Returns the same array as [`array()`], from objects that [`fetch`] has read already.
pub(crate) fn array_of<'py>(
    py: Python<'py>,
    file: &File,
    translation: &Translation,
    raw: &[u8],
    fetched: &Fetched,
    shape: &[usize],
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let array = buffer::empty(py, shape, translation.descr.bind(py))?;
    let mut slots = Places::new(&array)?;
    let Some(recipe) = &translation.recipe else {
        slots.fill(0, raw);
        return Ok(array);
    };
    let itemsize = translation.descr.bind(py).itemsize();
    if matches!(recipe, Recipe::Text(_)) {
        for (index, text) in fetched.texts().enumerate() {
            answer_signals(py, index)?;
            slots.put(index * itemsize, PyBytes::new(py, text).into_any());
        }
        return Ok(array);
    }
    let mut maker = Maker { py, file, slots, fetched, element: 0, column: 0 };
    for (index, element) in raw.chunks_exact(translation.memory_size.max(1)).enumerate() {
        answer_signals(py, index)?;
        (maker.element, maker.column) = (index, 0);
        maker.make(recipe, element, index * itemsize)?;
    }
    Ok(array)
}

/// Calls the handlers of signals now and then, while element number `index` is made. No lock is held.
fn answer_signals(py: Python<'_>, index: usize) -> PyResult<()> {
    if index % ANSWERED_EVERY == ANSWERED_EVERY - 1 { py.check_signals() } else { Ok(()) }
}

/// The elements that are made between two looks for signals, which take some milliseconds.
const ANSWERED_EVERY: usize = 1 << 16;

/// Reads the heap objects of all elements, in the order in which [`array_of`] uses them.
pub(crate) fn fetch(file: &File, translation: &Translation, raw: &[u8]) -> hyperslab::Result<Fetched> {
    let Some(recipe) = &translation.recipe else { return Ok(Fetched::default()) };
    let size = translation.memory_size.max(1);
    // Fetches the objects at one offset of the element together, because most elements have one id.
    let mut places = Vec::new();
    recipe.ids(0, &mut |at, unit| places.push((at, unit)));
    let widths = file.store().widths();
    let column = |&(at, unit): &_| file.vlen_items(&StoredIds::new(raw, at, size, widths), unit);
    Ok(Fetched { columns: places.iter().map(column).collect::<hyperslab::Result<_>>()? })
}

struct Maker<'a, 'py> {
    py: Python<'py>,
    file: &'a File,
    slots: Places<'a, 'py>,
    fetched: &'a Fetched,
    /// The number of the element, and of its next heap object.
    element: usize,
    column: usize,
}

impl<'a> Maker<'a, '_> {
    /// Returns the next heap object of the element.
    fn next(&mut self) -> &'a [u8] {
        let column = self.fetched.columns.get(self.column);
        self.column += 1;
        column.map_or(&[], |column| column.get(self.element))
    }
}

impl Maker<'_, '_> {
    fn make(&mut self, recipe: &Recipe, element: &[u8], to: usize) -> PyResult<()> {
        let py = self.py;
        match recipe {
            Recipe::Plain(len) => self.slots.fill(to, &element[..*len]),
            Recipe::Text(_) => {
                let text = until_zero(self.next());
                self.slots.put(to, PyBytes::new(py, text).into_any());
            }
            Recipe::Sequence { element: part, stored, stored_size } => {
                let bytes = self.next();
                let count = bytes.len() / (*stored_size).max(1);
                let bytes = convert(stored, &part.memory, self.file.store().widths(), bytes)?;
                self.slots.put(to, array(py, self.file, part, &bytes, &[count])?.into_any());
            }
            Recipe::Reference(kind) => {
                let stored = &element[..kind.size as usize];
                self.slots.put(to, reference::stored(py, self.file, *kind, stored)?);
            }
            Recipe::Repeat { count, from, to: pitch, element: recipe } => {
                for index in 0..*count {
                    self.make(recipe, &element[index * from..], to + index * pitch)?;
                }
            }
            Recipe::Record(fields) => {
                for field in fields {
                    self.make(&field.recipe, &element[field.from..], to + field.to)?;
                }
            }
        }
        Ok(())
    }
}

/// Converts elements of the datatype `from` to elements of the datatype `to`.
pub(crate) fn convert(
    from: &Datatype,
    to: &Datatype,
    widths: Widths,
    bytes: impl AsRef<[u8]> + Into<Vec<u8>>,
) -> PyResult<Vec<u8>> {
    if from == to {
        return Ok(bytes.into());
    }
    let conversion = Conversion::with_widths(from, to, widths).or_raise()?;
    if conversion.is_identity() {
        return Ok(bytes.into());
    }
    let count = bytes.as_ref().len() / conversion.src_size().max(1);
    let mut converted = vec![0; count * conversion.dst_size()];
    conversion.apply(bytes.as_ref(), &mut converted, count).or_raise()?;
    Ok(converted)
}

/// Returns numbers as elements of another dtype, by the engine's rules: of a value that the dtype lacks, the
/// nearest one.
#[pyfunction]
#[pyo3(name = "_converted")]
pub(crate) fn converted<'py>(
    array: &Bound<'py, PyUntypedArray>,
    dtype: &Bound<'py, PyArrayDescr>,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let datatype = |descr| {
        datatype_of(descr)
            .ok_or_else(|| PyTypeError::new_err(format!("No conversion path for dtype: {descr}")))
    };
    let (given, wanted) = (datatype(&array.dtype())?, datatype(dtype)?);
    let bytes = convert(&given, &wanted, Widths::EIGHT, buffer::bytes(array)?)?;
    let mut made = buffer::empty(array.py(), array.shape(), dtype)?;
    buffer::bytes_mut(&mut made)?.copy_from_slice(&bytes);
    Ok(made)
}
