//! The reasons why two datatypes cannot be converted.

use hyperslab_format::datatype::{ByteOrder, Datatype};

use hyperslab_error::RequestError;

pub(super) fn no_conversion(from: &Datatype, to: &Datatype, why: &'static str) -> RequestError {
    RequestError::NoConversion { from: describe(from), to: describe(to), why }
}

/// Returns the reason why elements of `from` cannot be converted to `to`.
pub(super) fn reason(from: &Datatype, to: &Datatype) -> &'static str {
    use Datatype::{Array, Enumeration, Opaque, Reference, Sequence, VariableText};
    match (from, to) {
        (Sequence(_) | VariableText(_), _) | (_, Sequence(_) | VariableText(_)) => {
            "variable-length data cannot be converted"
        }
        (Array(_), Array(_)) => "their shapes differ",
        (Opaque(_), Opaque(_)) => "their tags or sizes differ",
        (Reference(_), Reference(_)) => "they are references of different kinds",
        (_, Enumeration(_)) => "a number may have no name in the enumeration",
        _ => "their classes differ",
    }
}

/// Describes a datatype in a few words.
pub(super) fn describe(datatype: &Datatype) -> String {
    let order = |size: u32, order: ByteOrder| match order {
        _ if size < 2 => "",
        ByteOrder::Little => "little-endian ",
        ByteOrder::Big => "big-endian ",
        ByteOrder::Vax => "VAX ",
    };
    match datatype {
        Datatype::Integer(t) => {
            let sign = if t.signed { "" } else { "unsigned " };
            format!("{}{sign}integer of {} bits", order(t.size, t.order), t.bits.precision)
        }
        Datatype::Float(t) => format!("{}float of {} bits", order(t.size, t.order), t.bits.precision),
        Datatype::Bits(t) => format!("{}bitfield of {} bits", order(t.size, t.order), t.bits.precision),
        Datatype::Time(t) => format!("time of {} bits", t.precision),
        Datatype::Text(t) => format!("string of {} bytes", t.size),
        Datatype::Opaque(t) => format!("opaque {:?} of {} bytes", t.tag, t.size),
        Datatype::Compound(t) => {
            let names: Vec<&str> = t.members.iter().map(|member| member.name.as_str()).collect();
            format!("compound {{{}}}", names.join(", "))
        }
        Datatype::Reference(t) => format!("reference {:?}", t.kind),
        Datatype::Enumeration(t) => format!("enumeration of {} names", t.members.len()),
        Datatype::Sequence(_) => "sequence of variable length".into(),
        Datatype::VariableText(_) => "string of variable length".into(),
        Datatype::Array(t) => format!("array {:?}", t.shape),
        Datatype::Complex(_) => "complex number".into(),
    }
}

#[cfg(test)]
mod tests {
    use hyperslab_format::datatype::{Array, Charset, Opaque, Padding, Text, VariableText};

    use super::super::convert::tests::{compound, member, parse};
    use super::super::{Conversion, Scalar};
    use super::*;

    #[test]
    fn an_impossible_conversion_says_why() {
        let opaque = |tag: &str| Datatype::Opaque(Opaque { size: 4, tag: tag.into() });
        let variable =
            Datatype::VariableText(VariableText { padding: Padding::NullTerminated, charset: Charset::Utf8 });
        let fixed = Datatype::Text(Text { size: 4, padding: Padding::NullPadded, charset: Charset::Utf8 });
        assert!(Conversion::between(&opaque("a"), &opaque("a")).unwrap().is_identity());
        let ids = |base: Datatype| Datatype::Sequence(Box::new(base));
        assert!(Conversion::between(&ids(f32::datatype()), &ids(f32::datatype())).unwrap().is_identity());
        for (from, to, expected) in [
            (
                &variable,
                &fixed,
                "no conversion from string of variable length to string of 4 bytes: variable-length data cannot be converted",
            ),
            (&opaque("a"), &opaque("b"), "their tags or sizes differ"),
            (&fixed, &f32::datatype(), "their classes differ"),
            (
                &ids(f32::datatype()),
                &ids(f64::datatype()),
                "elements of variable-length sequences cannot be converted",
            ),
            (
                &compound(4, vec![member("a", 1, f32::datatype())]),
                &compound(4, vec![member("a", 0, f32::datatype())]),
                "a member is outside its compound",
            ),
            (&compound(0, vec![]), &compound(4, vec![]), "the element size is 0 or too large"),
            (&compound(4, vec![]), &compound(5, vec![]), "they have no common member"),
            (&parse("i 16 < s 0 128"), &i64::datatype(), "integers of more than 8 bytes cannot be converted"),
            (&parse("i 4 < s 20 20"), &i64::datatype(), "the significant bits are not inside the element"),
        ] {
            let error = Conversion::between(from, to).unwrap_err().to_string();
            assert!(error.ends_with(expected), "{error}");
        }
        let mut nest = f32::datatype();
        for _ in 0..40 {
            nest = Datatype::Array(Array { base: Box::new(nest), shape: vec![1] });
        }
        let mut other = f64::datatype();
        for _ in 0..40 {
            other = Datatype::Array(Array { base: Box::new(other), shape: vec![1] });
        }
        assert!(Conversion::between(&nest, &other).is_err());
    }
}
