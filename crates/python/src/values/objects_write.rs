//! Writing arrays of Python objects: strings and sequences of variable length, references, and records of
//! them. The counterpart of `objects`.
//!
//! Data of variable length are first written to the global heap, all of one kind together. The elements then
//! contain the ids of the heap objects.

use hyperslab::File;
use hyperslab::internals::VlenKind;
use hyperslab_format::datatype::Charset;
use numpy::PyUntypedArray;
use numpy::prelude::*;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::interpreter::error::OrRaise;
use crate::interpreter::signals;
use crate::values::buffer::{self, Places};
use crate::values::dtype::holds;
use crate::values::memory::datatype_of;
use crate::values::objects;
use crate::values::reference;
use crate::values::string_dtype;
use crate::values::texts::{Listed, Texts};
use crate::values::translation::{Recipe, Translation};

/// Returns the elements of `array` in the form that the engine writes. Raises `TypeError` if the array cannot
/// be converted to the dtype of `translation`.
pub(crate) fn elements(
    file: &File,
    translation: &Translation,
    array: &Bound<'_, PyUntypedArray>,
) -> PyResult<Vec<u8>> {
    let py = array.py();
    let Some(recipe) = &translation.recipe else { return Ok(buffer::bytes(array)?.to_vec()) };
    let descr = translation.descr.bind(py);
    if let Recipe::Text(charset) = recipe
        && array.dtype().kind() == b'T'
        && let Some(texts) = string_dtype::read(array)?
        && (*charset == Charset::Utf8 || texts.are_ascii())
    {
        return signals::detach(py, || file.put_elements(&texts, VlenKind::Text)).or_raise();
    }
    // The code below reads Python objects at the offsets of `descr`, so an array of another dtype is
    // converted first.
    let converted;
    let array = if holds(array, descr) {
        array
    } else {
        let same = py.import("hyperslab._arrays")?.getattr("by_names")?.call1((array, descr))?;
        converted = same.cast_into::<PyUntypedArray>()?;
        &converted
    };
    if !holds(array, descr) {
        return Err(PyTypeError::new_err(format!("No conversion path for dtype: {}", array.dtype())));
    }
    let itemsize = descr.itemsize();
    // The dimensions of a subarray dtype are axes of the array, so an element may span several items.
    let count = array.len() * array.dtype().itemsize() / itemsize.max(1);
    let places = Places::new(array)?;
    if let Recipe::Text(charset) = recipe
        && (0..count).all(|index| places.has(index * itemsize))
    {
        let mut texts = Texts::default();
        for object in (0..count).filter_map(|index| places.get(index * itemsize)) {
            texts.push(&object, *charset)?;
        }
        let texts = texts.checked()?;
        return signals::detach(py, || file.put_elements(&texts, VlenKind::Text)).or_raise();
    }
    let mut taker = Taker {
        file,
        places,
        out: vec![0; count * translation.memory_size],
        texts: (Vec::new(), Texts::default()),
        sequences: Vec::new(),
    };
    for index in 0..count {
        taker.take(py, recipe, index * itemsize, index * translation.memory_size)?;
    }
    taker.finish(py)
}

/// Returns the strings of a list or a tuple as the engine writes them. Returns `None` if the dtype of
/// `translation` is not of strings, or not all elements are strings.
pub(crate) fn listed(
    file: &File,
    translation: &Translation,
    list: &Listed<'_, '_>,
    py: Python<'_>,
) -> PyResult<Option<Vec<u8>>> {
    let Some(Recipe::Text(charset)) = &translation.recipe else { return Ok(None) };
    let Some(texts) = list.texts(*charset)? else { return Ok(None) };
    signals::detach(py, || file.put_elements(&texts, VlenKind::Text)).or_raise().map(Some)
}

struct Taker<'a, 'py> {
    file: &'a File,
    places: Places<'a, 'py>,
    out: Vec<u8>,
    /// The offset of each string's id in `out`, and the strings.
    texts: (Vec<usize>, Texts),
    /// The offset of each sequence's id in `out`, the size of an element in bytes, and the elements.
    sequences: Vec<(usize, usize, Vec<u8>)>,
}

impl Taker<'_, '_> {
    /// Takes one element, or a part of one, from the offset `from` of the array to the offset `to` of `out`.
    fn take(&mut self, py: Python<'_>, recipe: &Recipe, from: usize, to: usize) -> PyResult<()> {
        match recipe {
            Recipe::Plain(len) => self.places.copy(from, &mut self.out[to..to + len]),
            Recipe::Text(charset) => {
                if let Some(object) = self.places.get(from) {
                    self.texts.0.push(to);
                    self.texts.1.push(&object, *charset)?;
                }
            }
            Recipe::Sequence { element, stored, stored_size } => {
                if let Some(object) = self.places.get(from).filter(|object| !object.is_none()) {
                    let bytes = sequence(py, self.file, element, stored, &object)?;
                    self.sequences.push((to, *stored_size, bytes));
                }
            }
            Recipe::Reference(kind) => {
                if let Some(object) = self.places.get(from).filter(|object| !object.is_none()) {
                    let bytes = reference::element(self.file, *kind, &object)?;
                    self.out[to..to + bytes.len()].copy_from_slice(&bytes);
                }
            }
            Recipe::Repeat { count, from: step, to: pitch, element } => {
                for index in 0..*count {
                    self.take(py, element, from + index * pitch, to + index * step)?;
                }
            }
            Recipe::Record(fields) => {
                for field in fields {
                    self.take(py, &field.recipe, from + field.to, to + field.from)?;
                }
            }
        }
        Ok(())
    }

    /// Writes the strings and sequences to the heap, and their ids to `out`. Returns `out`.
    fn finish(mut self, py: Python<'_>) -> PyResult<Vec<u8>> {
        let (places, texts) = std::mem::take(&mut self.texts);
        let texts = texts.checked()?;
        self.put(py, &places, |file| file.put_elements(&texts, VlenKind::Text))?;
        let mut sequences = std::mem::take(&mut self.sequences);
        sequences.sort_by_key(|&(place, size, _)| (size, place));
        for group in sequences.chunk_by(|a, b| a.1 == b.1) {
            let size = group.first().map_or(1, |first| first.1);
            let places: Vec<usize> = group.iter().map(|(place, ..)| *place).collect();
            let items: Vec<&[u8]> = group.iter().map(|(.., bytes)| bytes.as_slice()).collect();
            self.put(py, &places, |file| file.put_elements(&items[..], VlenKind::Sequence(size)))?;
        }
        Ok(self.out)
    }

    fn put(
        &mut self,
        py: Python<'_>,
        places: &[usize],
        put: impl Send + FnOnce(&File) -> hyperslab::Result<Vec<u8>>,
    ) -> PyResult<()> {
        if places.is_empty() {
            return Ok(());
        }
        let file = self.file;
        let stored = signals::detach(py, || put(file)).or_raise()?;
        let len = stored.len() / places.len();
        for (&place, id) in places.iter().zip(stored.chunks_exact(len.max(1))) {
            self.out[place..place + len].copy_from_slice(id);
        }
        Ok(())
    }
}

/// Returns the elements of a sequence in the form that the file stores.
fn sequence(
    py: Python<'_>,
    file: &File,
    element: &Translation,
    stored: &hyperslab_format::datatype::Datatype,
    object: &Bound<'_, PyAny>,
) -> PyResult<Vec<u8>> {
    let numpy = py.import("numpy")?;
    let descr = element.descr.bind(py);
    let array = if object.cast::<PyUntypedArray>().is_ok() {
        numpy.call_method1("ascontiguousarray", (object,))?
    } else {
        numpy.call_method1("ascontiguousarray", (object, descr))?
    };
    let array = array.cast_into::<PyUntypedArray>()?;
    if element.recipe.is_some() {
        return elements(file, element, &array);
    }
    let given = if holds(&array, descr) && array.shape().ends_with(&descr.shape()) {
        element.memory.clone()
    } else {
        let given = datatype_of(&array.dtype());
        given
            .ok_or_else(|| PyTypeError::new_err(format!("No conversion path for dtype: {}", array.dtype())))?
    };
    objects::convert(&given, stored, file.store().widths(), buffer::bytes(&array)?)
}
