//! Types of elements: codes and datatype messages of callers, and the datatypes of files.

use std::borrow::Cow;

use hyperslab::datatype::{ByteOrder, Datatype, Enumeration, Float, Integer};
use hyperslab::internals::VlenKind;
use hyperslab::{Addr, Element, Error, Scalar, half};
use hyperslab_format::{Reader, Widths, Writer};

use crate::codes::{
    HS_BOOL, HS_F16, HS_F32, HS_F64, HS_I8, HS_I16, HS_I32, HS_I64, HS_MESSAGE, HS_NATIVE, HS_STORED,
    HS_STRING, HS_U8, HS_U16, HS_U32, HS_U64,
};
use crate::failure::Failure;

/// The byte order of this machine.
const NATIVE: ByteOrder = if cfg!(target_endian = "big") { ByteOrder::Big } else { ByteOrder::Little };

/// The type that a caller names: a code, and the message that belongs to it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named<'m> {
    pub(crate) code: i32,
    pub(crate) message: &'m [u8],
}

impl Named<'_> {
    /// Returns the datatype of elements in memory whose datatype in the file is `stored`.
    pub(crate) fn in_memory(self, stored: &Datatype, widths: Widths) -> Result<Cow<'_, Datatype>, Failure> {
        match self.code {
            HS_STORED => Ok(Cow::Borrowed(stored)),
            HS_NATIVE => Ok(native(stored).map_or(Cow::Borrowed(stored), Cow::Owned)),
            HS_STRING => Err(Failure::argument(
                "type",
                "texts of variable length are read and written as items: hs_read_items, hs_write_items",
            )),
            _ => self.of_new(widths).map(Cow::Owned),
        }
    }

    /// Returns the datatype of new elements.
    pub(crate) fn of_new(self, widths: Widths) -> Result<Datatype, Failure> {
        Ok(match self.code {
            HS_I8 => <i8 as Scalar>::datatype(),
            HS_I16 => <i16 as Scalar>::datatype(),
            HS_I32 => <i32 as Scalar>::datatype(),
            HS_I64 => <i64 as Scalar>::datatype(),
            HS_U8 => <u8 as Scalar>::datatype(),
            HS_U16 => <u16 as Scalar>::datatype(),
            HS_U32 => <u32 as Scalar>::datatype(),
            HS_U64 => <u64 as Scalar>::datatype(),
            HS_F16 => <half::f16 as Scalar>::datatype(),
            HS_F32 => <f32 as Scalar>::datatype(),
            HS_F64 => <f64 as Scalar>::datatype(),
            HS_BOOL => <bool as Scalar>::datatype(),
            HS_STRING => <String as Element>::datatype(),
            HS_MESSAGE => of_message(self.message, widths)?,
            HS_STORED | HS_NATIVE => {
                return Err(Failure::argument("type", "new elements have no type in the file yet: name one"));
            }
            code => return Err(Failure::argument("type", format!("{code} is no code of a type"))),
        })
    }
}

/// Returns the datatype that a message describes.
fn of_message(message: &[u8], widths: Widths) -> Result<Datatype, Failure> {
    if message.is_empty() {
        return Err(Failure::argument("type", "HS_MESSAGE needs `type_message` and its size in the options"));
    }
    let mut r = Reader::new(message, widths, Addr::UNDEFINED);
    let datatype = r.structure::<Datatype>(&());
    datatype.map_err(|error| Failure::argument("type_message", error))
}

/// Returns how the data of elements of variable length are stored.
pub(crate) fn vlen_kind(datatype: &Datatype, widths: Widths) -> Result<VlenKind, Failure> {
    match datatype {
        Datatype::VariableText(_) => Ok(VlenKind::Text),
        Datatype::Sequence(base) if !base.has_variable_parts() => {
            Ok(VlenKind::Sequence(usize::try_from(base.size(widths)).unwrap_or(usize::MAX)))
        }
        _ => Err(Error::unsupported("writing sequences of texts or of sequences", "IV.A.2.d").into()),
    }
}

/// Returns the message that describes a datatype.
pub(crate) fn message(datatype: &Datatype, widths: Widths) -> Vec<u8> {
    let mut bytes = Vec::new();
    Writer::new(&mut bytes, widths).structure(datatype, &());
    bytes
}

/// Returns the code of the type that has the values of `datatype`, whatever its byte order.
pub(crate) fn code_of(datatype: &Datatype) -> i32 {
    match datatype {
        Datatype::Integer(t) if t.is_whole() => match (t.size, t.signed) {
            (1, true) => HS_I8,
            (2, true) => HS_I16,
            (4, true) => HS_I32,
            (8, true) => HS_I64,
            (1, false) => HS_U8,
            (2, false) => HS_U16,
            (4, false) => HS_U32,
            (8, false) => HS_U64,
            _ => HS_STORED,
        },
        Datatype::Float(t) => {
            let known = [(Float::HALF, HS_F16), (Float::SINGLE, HS_F32), (Float::DOUBLE, HS_F64)];
            let found = known.into_iter().find(|(float, _)| *float == t.in_order(float.order));
            found.map_or(HS_STORED, |(_, code)| code)
        }
        Datatype::Enumeration(t) if t.is_bool() => HS_BOOL,
        Datatype::VariableText(_) => HS_STRING,
        _ => HS_STORED,
    }
}

/// Returns the code of the type whose elements in memory have the bytes of `datatype`, or `HS_STORED`. (Texts
/// of variable length are no elements in memory.)
pub(crate) fn same_code(datatype: &Datatype) -> i32 {
    let code = code_of(datatype);
    if code == HS_STRING {
        return HS_STORED;
    }
    let named = Named { code, message: &[] }.of_new(Widths::EIGHT);
    if named.is_ok_and(|named| named == *datatype) { code } else { HS_STORED }
}

/// Returns `datatype` with numbers in the byte order of this machine, or `None` if it has them. Data outside
/// of the elements (sequences of variable length) keep their order: only an id is in the element.
fn native(datatype: &Datatype) -> Option<Datatype> {
    Some(match datatype {
        Datatype::Integer(t) if t.order != NATIVE => Datatype::Integer(Integer { order: NATIVE, ..*t }),
        Datatype::Float(t) if t.order != NATIVE => Datatype::Float(t.in_order(NATIVE)),
        Datatype::Time(t) if t.order != NATIVE => {
            let mut time = *t;
            time.order = NATIVE;
            Datatype::Time(time)
        }
        Datatype::Bits(t) if t.order != NATIVE => {
            let mut bits = *t;
            bits.order = NATIVE;
            Datatype::Bits(bits)
        }
        Datatype::Enumeration(t) => {
            let base = native(&t.base)?;
            let turned =
                |(name, value): &(String, Vec<u8>)| (name.clone(), value.iter().rev().copied().collect());
            Datatype::Enumeration(Enumeration {
                base: Box::new(base),
                members: t.members.iter().map(turned).collect(),
            })
        }
        Datatype::Compound(t) => {
            let mut compound = t.clone();
            let mut is_other = false;
            for member in &mut compound.members {
                if let Some(other) = native(&member.datatype) {
                    member.datatype = other;
                    is_other = true;
                }
            }
            return is_other.then_some(Datatype::Compound(compound));
        }
        Datatype::Array(t) => {
            let mut array = t.clone();
            array.base = Box::new(native(&t.base)?);
            Datatype::Array(array)
        }
        Datatype::Complex(t) => {
            let mut complex = t.clone();
            complex.base = Box::new(native(&t.base)?);
            Datatype::Complex(complex)
        }
        _ => return None,
    })
}
