//! Datatypes as h5grove describes them: the numbers of libhdf5's classes, and NumPy's names.

use hyperslab_format::Widths;
use hyperslab_format::datatype::{Datatype, Enumeration, IntegerValue};
use hyperslab_present::integer_in;
use serde_json::{Map, Value, json};

use crate::number::{Form, Numbers};
use crate::value::prefixed;

/// Returns the description of a datatype.
pub(crate) fn described(datatype: &Datatype, widths: Widths) -> Value {
    let mut members = Map::new();
    let mut put = |name: &str, value: Value| members.insert(name.to_owned(), value);
    put("class", class(datatype).into());
    put("dtype", dtype(datatype, widths));
    put("size", memory_size(datatype, widths).into());
    match datatype {
        Datatype::Integer(t) => {
            put("order", (t.order as u8).into());
            put("sign", u8::from(t.signed).into());
        }
        Datatype::Float(t) => _ = put("order", (t.order as u8).into()),
        Datatype::Bits(t) => _ = put("order", (t.order as u8).into()),
        Datatype::Text(t) => {
            put("cset", (t.charset as u8).into());
            put("strpad", (t.padding as u8).into());
            put("vlen", false.into());
        }
        Datatype::VariableText(t) => {
            put("cset", (t.charset as u8).into());
            put("strpad", (t.padding as u8).into());
            put("vlen", true.into());
        }
        Datatype::Opaque(t) => _ = put("tag", t.tag.as_str().into()),
        Datatype::Compound(t) => {
            let all = t.members.iter().map(|member| named(&member.name, &member.datatype, widths));
            put("members", all.collect());
        }
        Datatype::Complex(t) => {
            let parts = ["r", "i"].map(|part| named(part, &t.base, widths));
            put("members", parts.into_iter().collect());
        }
        Datatype::Enumeration(t) => {
            put("members", enumerated(t));
            put("base", described(&t.base, widths));
        }
        Datatype::Sequence(base) => _ = put("base", described(base, widths)),
        Datatype::Array(t) => {
            put("dims", json!(t.shape));
            put("base", described(&t.base, widths));
        }
        Datatype::Time(_) | Datatype::Reference(_) => {}
    }
    Value::Object(members)
}

fn named(name: &str, datatype: &Datatype, widths: Widths) -> Value {
    let mut described = described(datatype, widths);
    described["name"] = name.into();
    described
}

fn enumerated(t: &Enumeration) -> Value {
    let number = |value: &[u8]| integer_in(&t.base, value).map_or_else(|| prefixed(value).into(), integer);
    t.members.iter().map(|(name, value)| (name.clone(), number(value))).collect::<Map<_, _>>().into()
}

/// Returns an integer as JSON. What exceeds 64 bits is a string: as a JSON number it would lose digits.
fn integer(value: IntegerValue) -> Value {
    let number = match value {
        IntegerValue::Signed(value) => i64::try_from(value).ok().map(Value::from),
        IntegerValue::Unsigned(value) => u64::try_from(value).ok().map(Value::from),
    };
    number.unwrap_or_else(|| value.to_string().into())
}

/// Returns the class as libhdf5 numbers it (`H5T_class_t`). H5Web knows complex numbers only as compounds.
fn class(datatype: &Datatype) -> u8 {
    match datatype {
        Datatype::VariableText(_) => 3,
        Datatype::Complex(_) => 6,
        other => other.class(),
    }
}

/// Returns the size that libhdf5 states: a string of variable length is a pointer, a sequence a length and a
/// pointer.
fn memory_size(datatype: &Datatype, widths: Widths) -> u64 {
    match datatype {
        Datatype::VariableText(_) => 8,
        Datatype::Sequence(_) => 16,
        Datatype::Array(t) => {
            t.shape.iter().fold(memory_size(&t.base, widths), |size, &len| size.saturating_mul(len.into()))
        }
        Datatype::Compound(t) => {
            let grown = t.members.iter().map(|member| {
                memory_size(&member.datatype, widths).wrapping_sub(member.datatype.size(widths))
            });
            grown.fold(u64::from(t.size), u64::wrapping_add)
        }
        _ => datatype.size(widths),
    }
}

/// Returns NumPy's dtype as h5grove has it: a text, or an object for a record.
fn dtype(datatype: &Datatype, widths: Widths) -> Value {
    if !matches!(datatype, Datatype::Array(_))
        && let Some(numbers) = Numbers::of(datatype, Form::Origin)
    {
        return numbers.dtype().into();
    }
    match datatype {
        Datatype::Text(t) => format!("|S{}", t.size).into(),
        Datatype::VariableText(_) | Datatype::Sequence(_) | Datatype::Reference(_) => "|O".into(),
        Datatype::Compound(t) => t
            .members
            .iter()
            .map(|member| (member.name.clone(), dtype(&member.datatype, widths)))
            .collect::<Map<_, _>>()
            .into(),
        // h5py stores types of NumPy that HDF5 has not, such as times, with their names.
        Datatype::Opaque(t) if t.tag.starts_with("NUMPY:") => t.tag["NUMPY:".len()..].into(),
        other => format!("|V{}", memory_size(other, widths)).into(),
    }
}

#[cfg(test)]
mod tests {
    use hyperslab_format::datatype::Integer;

    use super::*;

    #[test]
    fn members_that_json_has_no_integer_for_are_strings() {
        let members = |size: u32, values: &[&[u8]]| {
            let named = values.iter().enumerate().map(|(at, value)| (format!("m{at}"), value.to_vec()));
            let base = Box::new(Datatype::Integer(Integer::little(size, false)));
            enumerated(&Enumeration { base, members: named.collect() })
        };
        let large = 1_u128 << 127;
        let found = members(16, &[&7_u128.to_le_bytes(), &large.to_le_bytes()]);
        assert_eq!(found, json!({"m0": 7, "m1": large.to_string()}));
        assert_eq!(members(17, &[&[1; 17]]), json!({"m0": format!("0x{}", "01".repeat(17))}));
    }
}
