//! The canonical text of datatypes: every property of the stored datatype that a value depends on.

use hyperslab_format::datatype::{
    BitRange, ByteOrder, Charset, Compound, Datatype, Enumeration, Float, Normalization, Padding,
    ReferenceKind,
};
use hyperslab_present::{hex, integer_in};

use crate::show::json;

/// Returns the canonical text of a datatype.
pub(super) fn text(datatype: &Datatype) -> String {
    match datatype {
        Datatype::Integer(t) => number(if t.signed { 'i' } else { 'u' }, t.size, t.order, t.bits),
        Datatype::Bits(t) => number('b', t.size, t.order, t.bits),
        Datatype::Time(t) => number('t', t.size, t.order, BitRange { offset: 0, precision: t.precision }),
        Datatype::Float(t) => float(t),
        Datatype::Text(t) => string(&t.size.to_string(), t.charset, t.padding),
        Datatype::VariableText(t) => string("var", t.charset, t.padding),
        Datatype::Opaque(t) => format!("opaque({} {})", t.size, json(&t.tag)),
        Datatype::Compound(t) => compound(t),
        Datatype::Reference(t) => match t.kind {
            ReferenceKind::Object1 => "object",
            ReferenceKind::Region1 => "region",
            ReferenceKind::Object2 | ReferenceKind::Region2 | ReferenceKind::Attribute => "reference",
        }
        .to_owned(),
        Datatype::Enumeration(t) => enumeration(t),
        Datatype::Sequence(base) => format!("vlen({})", text(base)),
        Datatype::Array(t) => {
            let shape = t.shape.iter().map(u32::to_string).collect::<Vec<_>>();
            format!("array({} {})", shape.join(","), text(&t.base))
        }
        Datatype::Complex(t) => format!("complex({})", text(&t.base)),
    }
}

fn order(order: ByteOrder) -> &'static str {
    match order {
        ByteOrder::Little => "le",
        ByteOrder::Big => "be",
        ByteOrder::Vax => "vax",
    }
}

/// Returns `i32le`, or `i16be[12 at 2]` if not all bits are significant. One byte has no order.
fn number(kind: char, size: u32, byte_order: ByteOrder, bits: BitRange) -> String {
    let width = 8 * u64::from(size);
    let order = if size == 1 { "" } else { order(byte_order) };
    if bits.offset == 0 && u64::from(bits.precision) == width {
        return format!("{kind}{width}{order}");
    }
    format!("{kind}{width}{order}[{} at {}]", bits.precision, bits.offset)
}

fn float(t: &Float) -> String {
    let width = 8 * u64::from(t.size);
    let order = if t.size == 1 { "" } else { order(t.order) };
    if t.is_ieee() && t.size <= 8 {
        return format!("f{width}{order}");
    }
    let normalization = match t.normalization {
        Normalization::None => "none",
        Normalization::MsbSet => "set",
        Normalization::Implied => "implied",
    };
    format!(
        "f{width}{order}[sign {} exponent {}+{} bias {} mantissa {}+{} {normalization}]",
        t.sign_location,
        t.exponent_location,
        t.exponent_size,
        t.exponent_bias,
        t.mantissa_location,
        t.mantissa_size,
    )
}

fn string(size: &str, charset: Charset, padding: Padding) -> String {
    let charset = match charset {
        Charset::Ascii => "ascii",
        Charset::Utf8 => "utf-8",
    };
    let padding = match padding {
        Padding::NullTerminated => "null-terminated",
        Padding::NullPadded => "null-padded",
        Padding::SpacePadded => "space-padded",
    };
    format!("string({size} {charset} {padding})")
}

fn compound(t: &Compound) -> String {
    // Places in the element are left out: those behind data of variable length depend on the program.
    let members =
        t.members.iter().map(|member| format!("{}: {}", json(&member.name), text(&member.datatype)));
    format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
}

fn enumeration(t: &Enumeration) -> String {
    let members = t.members.iter().map(|(name, value)| {
        let number = integer_in(&t.base, value);
        let shown = number.map_or_else(|| format!("0x{}", hex(value)), |number| number.to_string());
        format!("{}={shown}", json(name))
    });
    format!("enum({} {})", text(&t.base), members.collect::<Vec<_>>().join(" "))
}
