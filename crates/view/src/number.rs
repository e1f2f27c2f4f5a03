//! Datatypes whose elements are numbers, as NumPy or JavaScript has them.

use hyperslab_format::datatype::{Array, ByteOrder, Complex, Datatype, Float, Integer};
use hyperslab_present::{float_size, type_string};

/// The form of the numbers that are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// As h5py reads them.
    Origin,
    /// In little-endian order, without floats of more than 8 bytes.
    Little,
    /// In a form that a typed array of JavaScript has: also without floats of 2 bytes.
    Safe,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Bool,
    Signed,
    Unsigned,
    Float,
    Complex,
}

/// Numbers in one of the forms.
#[derive(Debug, Clone)]
pub(crate) struct Numbers {
    pub(crate) kind: Kind,
    /// The size of a number in bytes.
    pub(crate) size: u32,
    pub(crate) is_big: bool,
    /// The datatype in which elements are read.
    pub(crate) memory: Datatype,
    /// The axes inside an element, if it is an array.
    pub(crate) axes: Vec<u64>,
}

impl Numbers {
    /// Returns the numbers of a datatype, or `None` if its elements are not numbers, or have no such form.
    pub(crate) fn of(datatype: &Datatype, form: Form) -> Option<Self> {
        match datatype {
            Datatype::Integer(t) => whole(t.size, t.signed, t.order, form),
            Datatype::Bits(t) => whole(t.size, false, t.order, form),
            Datatype::Float(t) => {
                let float = float(t, form)?;
                Some(Self::new(Kind::Float, float.size, float.order, Datatype::Float(float)))
            }
            Datatype::Enumeration(t) => {
                let base = Self::of(&t.base, form)?;
                Some(if t.is_bool() { Self { kind: Kind::Bool, ..base } } else { base })
            }
            Datatype::Compound(t) => complex(t.complex_parts()?, form),
            Datatype::Complex(t) => match &*t.base {
                Datatype::Float(part) => complex(part, form),
                _ => None,
            },
            Datatype::Array(t) => {
                let base = Self::of(&t.base, form)?;
                let memory = Datatype::Array(Array { base: Box::new(base.memory), shape: t.shape.clone() });
                let outer = t.shape.iter().map(|&len| u64::from(len));
                Some(Self { memory, axes: outer.chain(base.axes).collect(), ..base })
            }
            _ => None,
        }
    }

    fn new(kind: Kind, size: u32, order: ByteOrder, memory: Datatype) -> Self {
        Self { kind, size, is_big: order == ByteOrder::Big && size > 1, memory, axes: Vec::new() }
    }

    /// Returns the datatype of each number as it is read.
    pub(crate) fn each(&self) -> &Datatype {
        let mut inner = &self.memory;
        while let Datatype::Array(array) = inner {
            inner = &array.base;
        }
        inner
    }

    /// Returns the bytes of an element, which may be an array of numbers.
    pub(crate) fn element_size(&self) -> u64 {
        self.axes.iter().fold(self.size.into(), |size, len| size.saturating_mul(*len))
    }

    /// Returns NumPy's name of the type.
    pub(crate) fn dtype(&self) -> String {
        let kind = match self.kind {
            Kind::Bool => 'b',
            Kind::Signed => 'i',
            Kind::Unsigned => 'u',
            Kind::Float => 'f',
            Kind::Complex => 'c',
        };
        let order = if self.is_big { ByteOrder::Big } else { ByteOrder::Little };
        type_string(kind, self.size, order).unwrap_or_default()
    }
}

/// Returns integers that use all bits of 1, 2, 4 or 8 bytes.
fn whole(size: u32, signed: bool, order: ByteOrder, form: Form) -> Option<Numbers> {
    let size = [1, 2, 4, 8].into_iter().find(|&known| known >= size)?;
    let order = if form == Form::Origin { order } else { ByteOrder::Little };
    let kind = if signed { Kind::Signed } else { Kind::Unsigned };
    Some(Numbers::new(kind, size, order, Datatype::Integer(Integer::whole(size, signed, order))))
}

fn complex(part: &Float, form: Form) -> Option<Numbers> {
    // Complex numbers of 2-byte parts exist neither in NumPy nor in TIFF.
    let part = float(part, if form == Form::Origin && part.size >= 4 { form } else { Form::Safe })?;
    let memory = Datatype::Complex(Complex { base: Box::new(Datatype::Float(part)) });
    Some(Numbers::new(Kind::Complex, 2 * part.size, part.order, memory))
}

/// Returns the smallest float of NumPy that has all values of `t`, or the nearest that the form allows.
fn float(t: &Float, form: Form) -> Option<Float> {
    let order = match (form, t.order) {
        (Form::Origin, ByteOrder::Big) => ByteOrder::Big,
        _ => ByteOrder::Little,
    };
    let size = float_size(t).unwrap_or(16);
    let size = match form {
        Form::Origin => size,
        Form::Little => size.min(8),
        Form::Safe => size.clamp(4, 8),
    };
    match size {
        16 if t.in_order(order) == Float::EXTENDED.in_order(order) => Some(Float::EXTENDED.in_order(order)),
        // Other floats of 16 bytes have no form in NumPy.
        16 => Float::ieee(8, order),
        size => Float::ieee(size, order),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_sent_in_forms_that_javascript_has() {
        let name = |datatype: &Datatype, form| Numbers::of(datatype, form).unwrap().dtype();
        let big_half = Datatype::Float(Float::HALF.in_order(ByteOrder::Big));
        assert_eq!(name(&big_half, Form::Origin), ">f2");
        assert_eq!(name(&big_half, Form::Little), "<f2");
        assert_eq!(name(&big_half, Form::Safe), "<f4");
        let extended = Datatype::Float(Float::EXTENDED);
        assert_eq!(
            (name(&extended, Form::Origin), name(&extended, Form::Safe)),
            ("<f16".into(), "<f8".into())
        );
        assert_eq!(name(&Datatype::Float(Float::BFLOAT16), Form::Origin), "<f4");
        assert_eq!(name(&Datatype::Integer(Integer::big(8, true)), Form::Safe), "<i8");
        assert_eq!(name(&Datatype::Integer(Integer::big(1, false)), Form::Origin), "|u1");
    }
}
