//! Names of datatypes, as NumPy's `str(dtype)` prints them if NumPy has the datatype.

use hyperslab_format::datatype::{
    ByteOrder, Charset, Compound, Datatype, Enumeration, Float, Integer, Member, Normalization, ReferenceKind,
};

use crate::numpy::type_string;
use crate::text::{one_line, tuple};

/// Returns the name of a datatype.
pub fn name(datatype: &Datatype) -> String {
    match datatype {
        Datatype::Integer(t) => integer(t),
        Datatype::Float(t) => float(t),
        Datatype::Time(t) => format!("time{}", bits(t.size)),
        Datatype::Text(t) => match t.charset {
            Charset::Ascii => format!("S{}", t.size),
            Charset::Utf8 => format!("S{}(utf-8)", t.size),
        },
        Datatype::VariableText(t) => match t.charset {
            Charset::Ascii => "str(ascii)".to_owned(),
            Charset::Utf8 => "str".to_owned(),
        },
        Datatype::Bits(t) if t.bits.offset == 0 && u64::from(t.bits.precision) == bits(t.size) => {
            format!("bits{}{}", bits(t.size), order(t.order, t.size))
        }
        Datatype::Bits(t) => {
            let (precision, offset) = (t.bits.precision, t.bits.offset);
            format!("bits{}{}[{precision} at {offset}]", bits(t.size), order(t.order, t.size))
        }
        Datatype::Opaque(t) if t.tag.is_empty() => format!("V{}", t.size),
        Datatype::Opaque(t) => format!("V{} {:?}", t.size, t.tag),
        Datatype::Compound(t) => compound(t),
        Datatype::Reference(t) => match t.kind {
            ReferenceKind::Object1 | ReferenceKind::Object2 => "ref(object)".to_owned(),
            ReferenceKind::Region1 | ReferenceKind::Region2 => "ref(region)".to_owned(),
            ReferenceKind::Attribute => "ref(attribute)".to_owned(),
        },
        Datatype::Enumeration(t) if t.is_bool() => "bool".to_owned(),
        Datatype::Enumeration(t) => enumeration(t),
        Datatype::Sequence(base) => format!("vlen({})", name(base)),
        Datatype::Array(t) => format!("{}{}", tuple(t.shape.iter().map(u32::to_string)), name(&t.base)),
        Datatype::Complex(t) => complex(&t.base),
    }
}

/// Returns a member of a compound as `name: datatype`.
pub fn member(member: &Member) -> String {
    format!("{}: {}", one_line(&member.name), name(&member.datatype))
}

fn bits(size: u32) -> u64 {
    8 * u64::from(size)
}

/// Returns the suffix of a name that does not contain the byte order.
fn order(order: ByteOrder, size: u32) -> &'static str {
    match order {
        ByteOrder::Big if size > 1 => "(big)",
        ByteOrder::Vax => "(vax)",
        _ => "",
    }
}

/// Returns NumPy's name: `int32` in little-endian order, `>i4` in big-endian order.
fn numpy(kind: char, word: &str, size: u32, order: ByteOrder) -> String {
    let big = type_string(kind, size, order).filter(|_| order == ByteOrder::Big && size > 1);
    big.unwrap_or_else(|| format!("{word}{}", bits(size)))
}

fn integer(t: &Integer) -> String {
    let (kind, word) = if t.signed { ('i', "int") } else { ('u', "uint") };
    let is_whole = t.bits.offset == 0 && u64::from(t.bits.precision) == bits(t.size);
    let is_numpy = matches!(t.size, 1 | 2 | 4 | 8) && t.order != ByteOrder::Vax;
    match (is_numpy, is_whole) {
        (true, true) => numpy(kind, word, t.size, t.order),
        (_, true) => format!("{word}{}{}", bits(t.size), order(t.order, t.size)),
        _ => {
            let base = format!("{word}{}{}", bits(t.size), order(t.order, t.size));
            format!("{base}[{} at {}]", t.bits.precision, t.bits.offset)
        }
    }
}

fn float(t: &Float) -> String {
    if t.is_ieee() && t.size <= 8 {
        return numpy('f', "float", t.size, t.order);
    }
    if t.has_values_of(&Float::BFLOAT16) {
        return format!("bfloat16{}", order(t.order, t.size));
    }
    let explicit = if t.normalization == Normalization::Implied { "" } else { ", explicit" };
    let (exponent, mantissa) = (t.exponent_size, t.mantissa_size);
    format!("float{}{}[e{exponent} m{mantissa}{explicit}]", bits(t.size), order(t.order, t.size))
}

fn complex(base: &Datatype) -> String {
    match base {
        Datatype::Float(t) => complex_of(t),
        other => format!("complex({})", name(other)),
    }
}

fn complex_of(part: &Float) -> String {
    let is_numpy = part.is_ieee() && matches!(part.size, 4 | 8);
    if is_numpy {
        numpy('c', "complex", 2 * part.size, part.order)
    } else {
        format!("complex({})", float(part))
    }
}

fn compound(t: &Compound) -> String {
    if let Some(part) = t.complex_parts() {
        return complex_of(part);
    }
    format!("{{{}}}", t.members.iter().map(member).collect::<Vec<_>>().join(", "))
}

/// The most members in the name of an enumeration.
const MEMBERS: usize = 8;

fn enumeration(t: &Enumeration) -> String {
    let mut members: Vec<String> = t.members.iter().take(MEMBERS).map(|(name, _)| one_line(name)).collect();
    if t.members.len() > MEMBERS {
        members.push(format!("… {} in all", t.members.len()));
    }
    format!("enum({}: {})", name(&t.base), members.join(", "))
}

#[cfg(test)]
mod tests {
    use hyperslab_format::datatype::BitRange;

    use super::*;

    fn integer_of(size: u32, order: ByteOrder, precision: u16, offset: u16) -> Datatype {
        let bits = BitRange { offset, precision };
        Datatype::Integer(Integer { size, order, signed: true, low_pad: false, high_pad: false, bits })
    }

    /// The first three names are `str(numpy.dtype(...))`.
    #[test]
    fn integers_have_numpys_names_and_unusual_ones_show_their_bits() {
        use ByteOrder::{Big, Little};
        assert_eq!(name(&integer_of(4, Little, 32, 0)), "int32");
        assert_eq!(name(&integer_of(4, Big, 32, 0)), ">i4");
        assert_eq!(name(&integer_of(1, Big, 8, 0)), "int8");
        assert_eq!(name(&integer_of(3, Little, 24, 0)), "int24");
        assert_eq!(name(&integer_of(4, Big, 12, 3)), "int32(big)[12 at 3]");
    }

    #[test]
    fn a_compound_names_its_members_in_order() {
        let byte = || integer_of(1, ByteOrder::Little, 8, 0);
        let inner = Datatype::Compound(Compound { size: 1, members: vec![Member::new("x", 0, byte())] });
        let members = vec![Member::new("a", 0, byte()), Member::new("b", 1, inner)];
        let outer = Datatype::Compound(Compound { size: 2, members });
        assert_eq!(name(&outer), "{a: int8, b: {x: int8}}");
    }
}
