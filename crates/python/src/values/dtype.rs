//! HDF5 datatypes as NumPy dtypes, and how to convert their elements.
//!
//! Metadata of the dtype, as in h5py, marks datatypes that NumPy does not have.

use hyperslab_format::Widths;
use hyperslab_format::datatype::{
    Array, Bits, ByteOrder, Charset, Complex, Compound, Datatype, Enumeration, Float, Integer, Member,
    Opaque, Padding, Reference, ReferenceKind, Text, Time,
};
use hyperslab_present::{float_size, type_string};
use numpy::prelude::*;
use numpy::{PyArrayDescr, PyUntypedArray};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple, PyType};

use crate::interpreter::error::UnsupportedDtypeError;
use crate::values::reference;
use crate::values::translation::{Recipe, RecordField, Translation};

/// Whose dtypes a translation has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Convention {
    /// Those of h5py.
    H5py,
    /// Those of PyTables, for its tables and arrays: bitfields of one byte are booleans, times are numbers,
    /// and strings fill their space whatever their padding is.
    PyTables,
}

/// Returns the NumPy form of `stored`, with the same dtype as in h5py.
pub(crate) fn translated(py: Python<'_>, stored: &Datatype, widths: Widths) -> PyResult<Translation> {
    translated_by(Convention::H5py, py, stored, widths)
}

/// Returns the NumPy form of `stored` by a convention.
pub(crate) fn translated_by(
    convention: Convention,
    py: Python<'_>,
    stored: &Datatype,
    widths: Widths,
) -> PyResult<Translation> {
    let translator = Translator { py, widths, convention, dtype: dtype_type(py) };
    translator.level(stored)?.translation(widths)
}

/// Returns the NumPy form of some members of a compound, a record without gaps, and the dtype of the
/// result. This is the dtype of the record, or of the one member if `single`.
pub(crate) fn translated_fields(
    py: Python<'_>,
    stored: &Datatype,
    names: &[String],
    single: bool,
    widths: Widths,
    convention: Convention,
) -> PyResult<(Translation, Py<PyArrayDescr>)> {
    let whole = match stored {
        Datatype::Compound(compound) if !is_complex(compound) => compound,
        _ => return Err(PyValueError::new_err("Field names only allowed for compound types")),
    };
    let mut members = Vec::new();
    let mut offset = 0;
    let translator = Translator { py, widths, convention, dtype: dtype_type(py) };
    for name in names {
        let member = whole.members.iter().find(|member| member.name == *name);
        let member = member
            .ok_or_else(|| PyValueError::new_err(format!("Field {name} does not appear in this type.")))?;
        let size = size_of(&member.datatype, widths)?;
        members.push(Member { name: name.clone(), offset, datatype: member.datatype.clone() });
        offset += u32::try_from(size).map_err(|_| PyValueError::new_err("compound too large"))?;
    }
    let level = translator.compound(&Compound { size: offset, members }, true)?;
    let field = match (single, names) {
        (true, [name]) => level.descr.get_field(name)?.0,
        _ => level.descr.clone(),
    };
    Ok((level.translation(widths)?, field.unbind()))
}

/// The NumPy form of one level of a datatype.
struct Level<'py> {
    descr: Bound<'py, PyArrayDescr>,
    memory: Datatype,
    recipe: Recipe,
    /// The size of an element in libhdf5's memory, in bytes. It determines the offsets of later members.
    libhdf5_size: usize,
}

impl Level<'_> {
    /// Returns the form of whole elements.
    fn translation(self, widths: Widths) -> PyResult<Translation> {
        Ok(Translation {
            descr: self.descr.unbind(),
            memory_size: size_of(&self.memory, widths)?,
            memory: self.memory,
            recipe: self.recipe.has_objects().then_some(self.recipe),
        })
    }
}

struct Translator<'py> {
    py: Python<'py>,
    widths: Widths,
    convention: Convention,
    dtype: Bound<'py, PyType>,
}

impl<'py> Translator<'py> {
    fn size(&self, datatype: &Datatype) -> PyResult<usize> {
        size_of(datatype, self.widths)
    }

    fn level(&self, stored: &Datatype) -> PyResult<Level<'py>> {
        match stored {
            Datatype::Integer(integer) => self.integer(*integer),
            Datatype::Float(float) => self.float(*float),
            Datatype::Bits(bits) => self.bits(*bits),
            Datatype::Text(text) => self.text(*text),
            Datatype::Opaque(opaque) => self.opaque(opaque),
            Datatype::Compound(compound) if is_complex(compound) => self.complex_compound(compound),
            Datatype::Compound(compound) => self.compound(compound, false),
            Datatype::Enumeration(enumeration) => self.enumeration(enumeration),
            Datatype::Array(array) => self.array(array),
            Datatype::Complex(complex) => self.complex(complex),
            Datatype::Reference(reference) => self.reference(*reference),
            Datatype::VariableText(text) => {
                let builtins = self.py.import("builtins")?;
                let kind = builtins.getattr(if text.charset == Charset::Utf8 { "str" } else { "bytes" })?;
                self.object(stored, "vlen", &kind, Recipe::Text(text.charset), 8)
            }
            Datatype::Sequence(base) => self.sequence(stored, base),
            Datatype::Time(time) if self.convention == Convention::PyTables => self.time(*time),
            Datatype::Time(_) => {
                Err(UnsupportedDtypeError::new_err("No NumPy equivalent for TypeTimeID exists"))
            }
        }
    }

    /// Returns the form of elements that are NumPy's own once the engine has converted them to `memory`.
    fn plain(&self, descr: Bound<'py, PyArrayDescr>, memory: Datatype) -> PyResult<Level<'py>> {
        let size = self.size(&memory)?;
        if descr.itemsize() != size {
            return Err(UnsupportedDtypeError::new_err(format!(
                "No NumPy equivalent of {size} bytes exists"
            )));
        }
        Ok(Level { descr, memory, recipe: Recipe::Plain(size), libhdf5_size: size })
    }

    fn object(
        &self,
        stored: &Datatype,
        key: &str,
        value: &Bound<'py, PyAny>,
        recipe: Recipe,
        libhdf5_size: usize,
    ) -> PyResult<Level<'py>> {
        let descr = self.tagged("O", key, value)?;
        Ok(Level { descr, memory: stored.clone(), recipe, libhdf5_size })
    }

    fn named(&self, name: &str) -> PyResult<Bound<'py, PyArrayDescr>> {
        Ok(self.dtype.call1((name,))?.cast_into()?)
    }

    fn tagged(
        &self,
        base: impl IntoPyObject<'py>,
        key: &str,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArrayDescr>> {
        let metadata = PyDict::new(self.py);
        metadata.set_item(key, value)?;
        let keywords = PyDict::new(self.py);
        keywords.set_item("metadata", metadata)?;
        Ok(self.dtype.call((base,), Some(&keywords))?.cast_into()?)
    }

    fn integer(&self, integer: Integer) -> PyResult<Level<'py>> {
        let kind = if integer.signed { 'i' } else { 'u' };
        let descr = self.number(kind, integer.order, integer.size)?;
        self.plain(descr, Datatype::Integer(Integer::whole(integer.size, integer.signed, integer.order)))
    }

    /// Returns the form of PyTables' times: seconds, whole ones in 4 bytes and fractions in 8.
    fn time(&self, time: Time) -> PyResult<Level<'py>> {
        match time.size {
            4 => self.integer(Integer::whole(4, true, time.order)),
            8 => self.float(Float::ieee(8, time.order).unwrap_or(Float::DOUBLE)),
            size => Err(UnsupportedDtypeError::new_err(format!("a time of {size} bytes has no dtype"))),
        }
    }

    fn bits(&self, bits: Bits) -> PyResult<Level<'py>> {
        if self.convention == Convention::PyTables && bits == Bits::little(1) {
            return self.plain(self.named("?")?, Datatype::Bits(bits));
        }
        self.plain(self.number('u', bits.order, bits.size)?, Datatype::Bits(bits))
    }

    fn number(&self, kind: char, order: ByteOrder, size: u32) -> PyResult<Bound<'py, PyArrayDescr>> {
        let name = type_name(kind, size, order)?;
        if matches!(size, 1 | 2 | 4 | 8) {
            self.named(&name)
        } else {
            Err(UnsupportedDtypeError::new_err(format!("data type '{name}' not understood")))
        }
    }

    /// Returns the smallest NumPy float that can represent every value, as h5py does.
    fn float(&self, float: Float) -> PyResult<Level<'py>> {
        let Some(size) = float_size(&float) else {
            let place = (
                float.sign_location,
                float.exponent_location,
                float.exponent_size,
                float.mantissa_location,
                float.mantissa_size,
            );
            return Err(UnsupportedDtypeError::new_err(format!(
                "Insufficient precision in available types to represent {place:?}"
            )));
        };
        let memory = Datatype::Float(numpy_float(size, &float));
        self.plain(self.named(&type_name('f', size, float.order)?)?, memory)
    }

    fn complex(&self, complex: &Complex) -> PyResult<Level<'py>> {
        let Datatype::Float(base) = &*complex.base else {
            return Err(UnsupportedDtypeError::new_err(
                "No NumPy equivalent for TypeComplexID of this base type found",
            ));
        };
        if !matches!(base.size, 4 | 8 | 16) {
            let size = base.size * 2 * 8;
            return Err(UnsupportedDtypeError::new_err(format!(
                "No NumPy equivalent for TypeComplexID of size {size} bits found"
            )));
        }
        let descr = self.named(&type_name('c', base.size * 2, base.order)?)?;
        let part = Datatype::Float(numpy_float(base.size, base));
        self.plain(descr, Datatype::Complex(Complex { base: Box::new(part) }))
    }

    /// Returns the form of a compound of two floats `r` and `i`: h5py's complex numbers before HDF5 2.0.
    fn complex_compound(&self, compound: &Compound) -> PyResult<Level<'py>> {
        let Some(Member { datatype: Datatype::Float(base), .. }) = compound.members.first() else {
            return Err(PyTypeError::new_err("not a complex number"));
        };
        let descr = self.named(&type_name('c', base.size * 2, base.order)?)?;
        let mut offset = 0;
        let members = compound.members.iter().map(|member| {
            let datatype = Datatype::Float(numpy_float(base.size, base));
            let member = Member { offset, datatype, name: member.name.clone() };
            offset += base.size;
            member
        });
        let members = members.collect();
        self.plain(descr, Datatype::Compound(Compound { size: base.size * 2, members }))
    }

    fn text(&self, text: Text) -> PyResult<Level<'py>> {
        let encoding = if text.charset == Charset::Utf8 { "utf-8" } else { "ascii" };
        let encoding = PyString::new(self.py, encoding).into_any();
        let descr = self.tagged(format!("S{}", text.size), "h5py_encoding", &encoding)?;
        // PyTables stores strings that fill their space, and calls them terminated.
        let is_full = self.convention == Convention::PyTables && text.padding == Padding::NullTerminated;
        let padding = if is_full { text.padding } else { Padding::NullPadded };
        self.plain(descr, Datatype::Text(Text { padding, ..text }))
    }

    fn opaque(&self, opaque: &Opaque) -> PyResult<Level<'py>> {
        let descr = match opaque.tag.strip_prefix("NUMPY:") {
            Some(name) => {
                let yes = true.into_pyobject(self.py)?.to_owned().into_any();
                self.tagged(name.trim_end_matches('\0'), "h5py_opaque", &yes)?
            }
            None => self.named(&format!("V{}", opaque.size))?,
        };
        self.plain(descr, Datatype::Opaque(opaque.clone()))
    }

    fn enumeration(&self, enumeration: &Enumeration) -> PyResult<Level<'py>> {
        let Datatype::Integer(base) = &*enumeration.base else {
            return Err(PyTypeError::new_err("Only integer types can be used as enums"));
        };
        let values: Vec<(&str, Py<PyAny>)> = enumeration
            .members
            .iter()
            .map(|(name, value)| Ok((name.as_str(), self.member_value(value, base)?)))
            .collect::<PyResult<_>>()?;
        let is = |name: &str, expected: i64| {
            let value = values.iter().find(|(other, _)| *other == name);
            value.is_some_and(|(_, value)| value.extract::<i64>(self.py).is_ok_and(|value| value == expected))
        };
        let stored = Datatype::Enumeration(enumeration.clone());
        if values.len() == 2 && is("FALSE", 0) && is("TRUE", 1) {
            let memory = if base.size == 1 {
                stored
            } else {
                let base = Integer::little(1, true);
                let member = |(name, value): (&str, u8)| (name.to_owned(), vec![value]);
                let members = [("FALSE", 0), ("TRUE", 1)].map(member).into();
                Datatype::Enumeration(Enumeration { base: Box::new(Datatype::Integer(base)), members })
            };
            return self.plain(self.named("?")?, memory);
        }
        let dict = PyDict::new(self.py);
        for (name, value) in values {
            dict.set_item(name, value)?;
        }
        let kind = if base.signed { 'i' } else { 'u' };
        let number = self.number(kind, base.order, base.size)?;
        self.plain(self.tagged(number, "enum", &dict.into_any())?, stored)
    }

    fn member_value(&self, bytes: &[u8], base: &Integer) -> PyResult<Py<PyAny>> {
        let keywords = PyDict::new(self.py);
        keywords.set_item("signed", base.signed)?;
        let order = if base.order == ByteOrder::Big { "big" } else { "little" };
        let int = self.py.get_type::<pyo3::types::PyInt>();
        let value = int.call_method("from_bytes", (PyBytes::new(self.py, bytes), order), Some(&keywords))?;
        Ok(value.unbind())
    }

    fn array(&self, array: &Array) -> PyResult<Level<'py>> {
        let base = self.level(&array.base)?;
        let shape = PyTuple::new(self.py, &array.shape)?;
        let count = array.shape.iter().map(|&len| len as usize).product();
        let (from, to) = (self.size(&base.memory)?, base.descr.itemsize());
        let descr = self.dtype.call1(((base.descr, shape),))?.cast_into()?;
        let recipe = if base.recipe.has_objects() {
            Recipe::Repeat { count, from, to, element: Box::new(base.recipe) }
        } else {
            Recipe::Plain(from * count)
        };
        let memory = Datatype::Array(Array { base: Box::new(base.memory), shape: array.shape.clone() });
        Ok(Level { descr, memory, recipe, libhdf5_size: base.libhdf5_size * count })
    }

    fn reference(&self, reference: Reference) -> PyResult<Level<'py>> {
        let (kind, size) = match reference.kind {
            ReferenceKind::Region1 => (self.py.get_type::<reference::RegionReference>(), 12),
            // h5py has no dtype for references of HDF5 1.12. The elements of one dataset may refer to
            // objects, to regions and to attributes.
            _ => (self.py.get_type::<reference::Reference>(), 8),
        };
        let recipe = Recipe::Reference(reference);
        self.object(&Datatype::Reference(reference), "ref", &kind.into_any(), recipe, size)
    }

    fn sequence(&self, stored: &Datatype, base: &Datatype) -> PyResult<Level<'py>> {
        let mut element = translated_by(self.convention, self.py, base, self.widths)?;
        let descr = element.descr.bind(self.py).clone().into_any();
        // As in h5py, sequences of enumerations and of Python objects have dtypes without metadata.
        match base {
            Datatype::Enumeration(_) => {
                element.descr = self.named(&descr.getattr("str")?.extract::<String>()?)?.unbind();
            }
            Datatype::Reference(_) | Datatype::Sequence(_) | Datatype::VariableText(_) => {
                element.descr = PyArrayDescr::object(self.py).unbind();
            }
            _ => {}
        }
        let stored_size = self.size(base)?;
        let recipe =
            Recipe::Sequence { element: Box::new(element), stored: Box::new(base.clone()), stored_size };
        self.object(stored, "vlen", &descr, recipe, 16)
    }

    /// Returns a compound as a record, without gaps if `packed`. Otherwise, members keep their offsets, which
    /// move only after members that libhdf5 makes larger or smaller in memory.
    fn compound(&self, compound: &Compound, packed: bool) -> PyResult<Level<'py>> {
        let mut members = Vec::new();
        for member in &compound.members {
            let level = self.level(&member.datatype)?;
            let (from, into) = (self.size(&member.datatype)?, self.size(&level.memory)?);
            members.push((member, level, from, into));
        }
        let mut by_offset: Vec<usize> = (0..members.len()).collect();
        by_offset.sort_by_key(|&index| members[index].0.offset);
        // The distance that members have moved so far, in NumPy's record and in the engine's, and the end of
        // the last member in a packed record.
        let (mut moved, mut shifted, mut end) = (0i64, 0i64, 0i64);
        let mut places = vec![(0i64, 0i64); members.len()];
        for index in by_offset {
            let (member, level, stored_size, memory_size) = &members[index];
            let offset = i64::from(member.offset);
            places[index] = if packed { (end, offset + shifted) } else { (offset + moved, offset + shifted) };
            end += i64::try_from(level.descr.itemsize())?;
            moved += i64::try_from(level.libhdf5_size)? - i64::try_from(*stored_size)?;
            shifted += i64::try_from(*memory_size)? - i64::try_from(*stored_size)?;
        }
        let itemsize = if packed { end } else { i64::from(compound.size) + moved };
        let memory_size = i64::from(compound.size) + shifted;
        let specification = PyDict::new(self.py);
        let names: Vec<&str> = members.iter().map(|(member, ..)| member.name.as_str()).collect();
        let formats: Vec<_> = members.iter().map(|(_, level, ..)| level.descr.clone()).collect();
        let offsets: Vec<i64> = places.iter().map(|&(offset, _)| offset).collect();
        specification.set_item("names", names)?;
        specification.set_item("formats", formats)?;
        specification.set_item("offsets", offsets)?;
        specification.set_item("itemsize", itemsize)?;
        let descr = self.dtype.call1((specification,))?.cast_into()?;

        let mut fields = Vec::new();
        let mut memory_members = Vec::new();
        let mut has_objects = false;
        for ((member, level, ..), (to, from)) in members.into_iter().zip(places) {
            has_objects |= level.recipe.has_objects();
            fields.push(RecordField {
                from: usize::try_from(from)?,
                to: usize::try_from(to)?,
                recipe: level.recipe,
            });
            memory_members.push(Member {
                name: member.name.clone(),
                offset: u32::try_from(from)?,
                datatype: level.memory,
            });
        }
        let memory =
            Datatype::Compound(Compound { size: u32::try_from(memory_size)?, members: memory_members });
        let size = usize::try_from(itemsize)?;
        let recipe = if has_objects { Recipe::Record(fields) } else { Recipe::Plain(size) };
        if !has_objects && itemsize != memory_size {
            return Err(UnsupportedDtypeError::new_err("No NumPy equivalent for this compound exists"));
        }
        Ok(Level { descr, memory, recipe, libhdf5_size: size })
    }
}

/// Returns the layout of NumPy's float of `size` bytes, in the byte order of `stored`. The `longdouble` of
/// x86 has the extended precision. On other processors, only layouts of the processor are read.
fn numpy_float(size: u32, stored: &Float) -> Float {
    let known = match size {
        16 if cfg!(target_arch = "x86_64") => Some(Float::EXTENDED.in_order(stored.order)),
        16 => None,
        _ => Float::ieee(size, stored.order),
    };
    known.unwrap_or(*stored)
}

/// Whether h5py reads a compound as complex numbers: it has two members `r` and `i` of the same float type.
fn is_complex(compound: &Compound) -> bool {
    match &compound.members[..] {
        [re, im] => {
            re.name == "r"
                && im.name == "i"
                && re.datatype == im.datatype
                && matches!(&re.datatype, Datatype::Float(float) if matches!(float.size, 4 | 8 | 16))
        }
        _ => false,
    }
}

fn size_of(datatype: &Datatype, widths: Widths) -> PyResult<usize> {
    usize::try_from(datatype.size(widths)).map_err(|_| PyValueError::new_err("datatype too large"))
}

/// Whether the elements of an array have the dtype `descr`, whose subarray dimensions are axes of the array.
pub(crate) fn holds(array: &Bound<'_, PyUntypedArray>, descr: &Bound<'_, PyArrayDescr>) -> bool {
    let given = array.dtype();
    given.is(descr) || given.is_equiv_to(descr) || (descr.has_subarray() && given.is_equiv_to(&descr.base()))
}

fn type_name(kind: char, size: u32, order: ByteOrder) -> PyResult<String> {
    type_string(kind, size, order)
        .ok_or_else(|| UnsupportedDtypeError::new_err("No NumPy equivalent for VAX byte order exists"))
}

/// Returns `numpy.dtype(given)`: for None, NumPy's default dtype.
pub(crate) fn descr_of<'py>(given: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArrayDescr>> {
    Ok(dtype_type(given.py()).call1((given,))?.cast_into()?)
}

fn dtype_type(py: Python<'_>) -> Bound<'_, PyType> {
    py.get_type::<PyArrayDescr>()
}
