//! The dtypes of Zarr (version 2) for datatypes of HDF5.

use hyperslab_format::Widths;
use hyperslab_format::datatype::{ByteOrder, Compound, Datatype, Float, Padding, Text};
use hyperslab_present::type_string;

use crate::show::json;

/// A datatype as Zarr has it.
#[derive(Debug)]
pub(super) struct Type {
    /// The dtype as JSON.
    pub dtype: String,
    /// The datatype of an element of Zarr's array.
    pub element: Datatype,
    /// Axes that Zarr's array has after those of the dataset: an element of HDF5 may be an array.
    pub axes: Vec<u64>,
}

/// The dtype of strings of variable length, which are embedded.
pub(super) const OBJECT: &str = r#""|O""#;

impl Type {
    /// Returns the type for a datatype, or why there is none.
    pub(super) fn of(datatype: &Datatype, widths: Widths) -> Result<Self, String> {
        let (mut inside, mut axes) = (datatype, Vec::new());
        while let Datatype::Array(array) = inside {
            axes.extend(array.shape.iter().map(|&len| u64::from(len)));
            inside = &array.base;
        }
        let element = element(datatype);
        let dtype = match element {
            Datatype::VariableText(_) if axes.is_empty() => OBJECT.to_owned(),
            element => dtype(element, widths)?,
        };
        Ok(Self { dtype, element: element.clone(), axes })
    }

    /// Returns whether the elements are strings of a fixed length that spaces fill, which Zarr has not.
    pub(super) fn is_space_padded(&self) -> bool {
        is_space_padded(&self.element)
    }

    /// Returns whether the elements are strings of variable length.
    pub(super) fn is_text(&self) -> bool {
        self.dtype == OBJECT
    }
}

/// Returns the datatype of what is not an array.
pub(super) fn element(mut datatype: &Datatype) -> &Datatype {
    while let Datatype::Array(array) = datatype {
        datatype = &array.base;
    }
    datatype
}

fn dtype(datatype: &Datatype, widths: Widths) -> Result<String, String> {
    let number = |kind: char, size: u32, order: ByteOrder| {
        let name = type_string(kind, size, order);
        name.map(|name| json(&name)).ok_or_else(|| "Zarr has no numbers in VAX order".to_owned())
    };
    let whole = |kind, size: u32, order, is_whole| match size {
        1 | 2 | 4 | 8 if is_whole => number(kind, size, order),
        _ => Err(format!("Zarr has no integers of {size} bytes of which only some bits count")),
    };
    let complex = |part: &Float| match part.size {
        4 | 8 if part.is_ieee() => number('c', 2 * part.size, part.order),
        _ => Err("Zarr has no complex numbers with such parts".to_owned()),
    };
    match datatype {
        Datatype::Integer(t) => whole(if t.signed { 'i' } else { 'u' }, t.size, t.order, t.is_whole()),
        Datatype::Bits(t) => {
            let is_whole = t.bits.offset == 0 && u32::from(t.bits.precision) == 8 * t.size;
            whole('u', t.size, t.order, is_whole)
        }
        Datatype::Float(t) if t.is_ieee() && t.size <= 8 => number('f', t.size, t.order),
        Datatype::Float(t) => Err(format!("Zarr has no floating-point numbers as these of {} bytes", t.size)),
        Datatype::Enumeration(t) if t.is_bool() => Ok(r#""|b1""#.to_owned()),
        Datatype::Enumeration(t) => dtype(&t.base, widths),
        Datatype::Text(t) if t.size > 0 => Ok(format!("\"|S{}\"", t.size)),
        Datatype::Opaque(t) if t.size > 0 => Ok(format!("\"|V{}\"", t.size)),
        Datatype::Compound(t) => match t.complex_parts() {
            Some(part) => complex(part),
            None => record(t, widths),
        },
        Datatype::Complex(t) => match &*t.base {
            Datatype::Float(part) => complex(part),
            _ => Err("Zarr has no complex numbers with such parts".to_owned()),
        },
        Datatype::Text(_) | Datatype::Opaque(_) => Err("Zarr has no elements of no bytes".to_owned()),
        Datatype::Time(_) => Err("Zarr has no times of HDF5".to_owned()),
        Datatype::Array(_) => Err("Zarr's readers do not read arrays inside records".to_owned()),
        Datatype::Reference(_) => Err("references have a meaning only in the HDF5 file".to_owned()),
        Datatype::Sequence(_) | Datatype::VariableText(_) => {
            Err("data of variable length are not in the chunks".to_owned())
        }
    }
}

fn is_space_padded(datatype: &Datatype) -> bool {
    matches!(datatype, Datatype::Text(Text { padding: Padding::SpacePadded, .. }))
}

fn record(t: &Compound, widths: Widths) -> Result<String, String> {
    let (mut end, mut members) = (0, Vec::with_capacity(t.members.len()));
    for member in &t.members {
        if u64::from(member.offset) != end {
            return Err("Zarr has no records with gaps between their members".to_owned());
        }
        end += member.datatype.size(widths);
        if is_space_padded(&member.datatype) {
            return Err("Zarr has no strings in records that spaces fill".to_owned());
        }
        members.push(format!("[{},{}]", json(&member.name), dtype(&member.datatype, widths)?));
    }
    if end != u64::from(t.size) {
        return Err("Zarr has no records with gaps between their members".to_owned());
    }
    Ok(format!("[{}]", members.join(",")))
}
