//! NumPy dtypes as HDF5 datatypes: the datatypes that the engine converts elements to.

use hyperslab_format::datatype::{
    Array, ByteOrder, Charset, Complex, Compound, Datatype, Float, Integer, Member, Opaque, Padding, Text,
};
use numpy::PyArrayDescr;
use numpy::prelude::*;
use pyo3::prelude::*;

/// Returns the datatype whose elements have the same bytes as those of `descr`. `None` for dtypes without
/// such a datatype: Python objects, dates, UTF-32.
pub(crate) fn datatype_of(descr: &Bound<'_, PyArrayDescr>) -> Option<Datatype> {
    if descr.has_object() {
        return None;
    }
    if descr.has_subarray() {
        let shape = descr.shape().into_iter().map(u32::try_from).collect::<Result<_, _>>().ok()?;
        return Some(Datatype::Array(Array { base: Box::new(datatype_of(&descr.base())?), shape }));
    }
    let size = u32::try_from(descr.itemsize()).ok()?;
    let order = match descr.byteorder() {
        b'>' => ByteOrder::Big,
        b'=' if cfg!(target_endian = "big") => ByteOrder::Big,
        _ => ByteOrder::Little,
    };
    match descr.kind() {
        b'i' => Some(Datatype::Integer(Integer::whole(size, true, order))),
        b'u' => Some(Datatype::Integer(Integer::whole(size, false, order))),
        b'f' if size <= 8 => Some(Datatype::Float(Float::ieee(size, order)?)),
        // On other architectures, `longdouble` has another format or is a double.
        b'f' if size == 16 && cfg!(target_arch = "x86_64") && order == ByteOrder::Little => {
            Some(Datatype::Float(Float::EXTENDED))
        }
        b'c' if size <= 16 => Some(Datatype::Complex(Complex {
            base: Box::new(Datatype::Float(Float::ieee(size / 2, order)?)),
        })),
        b'c' if size == 32 && cfg!(target_arch = "x86_64") && order == ByteOrder::Little => {
            Some(Datatype::Complex(Complex { base: Box::new(Datatype::Float(Float::EXTENDED)) }))
        }
        b'S' => {
            let charset =
                if encoding(descr).as_deref() == Some("utf-8") { Charset::Utf8 } else { Charset::Ascii };
            Some(Datatype::Text(Text { size, padding: Padding::NullPadded, charset }))
        }
        b'V' => match descr.names() {
            Some(names) => {
                let member = |name: String| {
                    let (field, offset) = descr.get_field(&name).ok()?;
                    let datatype = datatype_of(&field)?;
                    Some(Member { name, offset: u32::try_from(offset).ok()?, datatype })
                };
                let members = names.into_iter().map(member).collect::<Option<_>>()?;
                Some(Datatype::Compound(Compound { size, members }))
            }
            None => Some(Datatype::Opaque(Opaque { size, tag: String::new() })),
        },
        _ => None,
    }
}

fn encoding(descr: &Bound<'_, PyArrayDescr>) -> Option<String> {
    descr.getattr("metadata").ok()?.get_item("h5py_encoding").ok()?.extract().ok()
}
