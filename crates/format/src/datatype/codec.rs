//! Datatype message, type 3 (spec IV.A.2.d). The file of each class decodes and encodes what follows the
//! head.

use super::head::Head;
use super::{
    Array, Bits, Complex, Compound, Datatype, Enumeration, Float, Integer, Opaque, Reference, Text, Time,
};
use super::{other, text};
use crate::bytes::{Reader, Writer};
use crate::error::{ErrorKind, Result};
use crate::structure::Structure;

/// The depth limit of nested datatypes: far more than any file needs, and little of a thread's stack.
pub(super) const DEPTH_LIMIT: u32 = 32;

impl Datatype {
    /// Decodes a datatype that is nested `depth` levels deep in the message.
    pub(super) fn decode_nested(r: &mut Reader<'_>, depth: u32) -> Result<Self> {
        if depth >= DEPTH_LIMIT {
            return Err(r.error(ErrorKind::Depth { limit: DEPTH_LIMIT }));
        }
        let class_and_version = r.u8()?;
        let (class, version) = (class_and_version & 0x0f, class_and_version >> 4);
        if !(1..=5).contains(&version) {
            return Err(r.error_back(1, ErrorKind::Version { found: version, known: "1 to 5" }));
        }
        let [a, b, c] = r.array()?;
        let head = Head { version, flags: u32::from_le_bytes([a, b, c, 0]), size: r.u32()? };
        if head.size == 0 {
            return Err(r.bad_value("datatype size", 0, "at least 1"));
        }
        let inside = depth + 1;
        Ok(match class {
            0 => Self::Integer(Integer::decode(r, head)?),
            1 => Self::Float(Float::decode(r, head)?),
            2 => Self::Time(Time::decode(r, head)?),
            3 => Self::Text(Text::decode(r, head)?),
            4 => Self::Bits(Bits::decode(r, head)?),
            5 => Self::Opaque(Opaque::decode(r, head)?),
            6 => Self::Compound(Compound::decode(r, head, inside)?),
            7 => Self::Reference(Reference::decode(r, head)?),
            8 => Self::Enumeration(Enumeration::decode(r, head, inside)?),
            9 => other::decode_variable(r, head, inside)?,
            10 => Self::Array(Array::decode(r, head, inside)?),
            11 => Self::Complex(Complex::decode(r, head, inside)?),
            _ => return Err(r.bad_value("datatype class", class.into(), "0 to 11")),
        })
    }

    /// Encodes compounds, arrays and enumerations at version `floor` or later, like libhdf5 with a lower
    /// version bound of 1.8 (`floor` 3), 1.12 (4) or 2.0 (5). The other classes gain nothing from later
    /// versions.
    pub fn encode_from(&self, w: &mut Writer<'_>, floor: u8) {
        match self {
            Self::Integer(t) => t.encode(w),
            Self::Float(t) => t.encode(w),
            Self::Time(t) => t.encode(w),
            Self::Text(t) => t.encode(w),
            Self::Bits(t) => t.encode(w),
            Self::Opaque(t) => t.encode(w),
            Self::Compound(t) => t.encode(w, self.version_from(floor), floor),
            Self::Reference(t) => t.encode(w),
            Self::Enumeration(t) => t.encode(w, self.version_from(floor), floor),
            Self::Sequence(base) => other::encode_sequence(base, w, self.version_from(floor), floor),
            Self::VariableText(t) => text::encode_variable(*t, w),
            Self::Array(t) => t.encode(w, self.version_from(floor), floor),
            Self::Complex(t) => t.encode(w, floor),
        }
    }

    /// Returns the lowest version that can express this datatype; at least `floor` for the classes that
    /// [`encode_from`](Self::encode_from) raises to it.
    pub fn version_from(&self, floor: u8) -> u8 {
        match self {
            Self::Float(t) => t.version(),
            Self::Reference(t) => t.version(),
            Self::Compound(t) => {
                t.members.iter().map(|member| member.datatype.version_from(floor)).fold(floor.max(1), u8::max)
            }
            Self::Enumeration(t) => t.base.version_from(floor).max(floor),
            Self::Sequence(base) => base.version_from(floor),
            Self::Array(t) => t.base.version_from(floor).max(floor).max(2),
            Self::Complex(_) => 5,
            Self::Integer(_)
            | Self::Time(_)
            | Self::Text(_)
            | Self::Bits(_)
            | Self::Opaque(_)
            | Self::VariableText(_) => 1,
        }
    }
}

impl Structure for Datatype {
    const NAME: &'static str = "Datatype message";
    const SPEC: &'static str = "IV.A.2.d";
    type Context = ();

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        Self::decode_nested(r, 0)
    }

    /// Encodes in the lowest version that can express the datatype, like libhdf5 by default. A `Datatype`
    /// does not keep its decoded version: pass that version to [`Datatype::encode_from`] to get the same
    /// bytes again.
    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        self.encode_from(w, 1);
    }
}
