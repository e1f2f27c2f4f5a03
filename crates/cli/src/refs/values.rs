//! Attributes and fill values as the JSON that Zarr's readers of version 2 expect: with `NaN`, `Infinity` and
//! `-Infinity`, which Python reads and writes.

use anyhow::Context as _;
use hyperslab::{Attribute, Object};
use hyperslab_format::datatype::{Datatype, Float};
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_present::FloatValue;

use super::base64::base64;
use crate::show::json;
use crate::show::value::{Decoder, ReferenceTarget, Value};

/// Attributes with which libraries describe the structure of the file.
const INTERNAL: [&str; 8] = [
    "CLASS",
    "DIMENSION_LIST",
    "NAME",
    "REFERENCE_LIST",
    "_NCProperties",
    "_Netcdf4Coordinates",
    "_Netcdf4Dimid",
    "_nc3_strict",
];

/// Returns the attributes of an object as the members of a JSON object.
pub(super) fn attributes(object: &Object, decoder: &Decoder<'_>) -> anyhow::Result<Vec<String>> {
    let mut members = Vec::new();
    for attribute in object.attributes()? {
        let name = attribute.name.as_str();
        if INTERNAL.contains(&name) {
            continue;
        }
        let value =
            self::attribute(&attribute, decoder).with_context(|| format!("the attribute {name:?}"))?;
        members.push(format!("{}:{value}", json(name)));
    }
    Ok(members)
}

/// Returns the value of an attribute. One element is itself, whatever the shape, as kerchunk has it.
fn attribute(attribute: &Attribute, decoder: &Decoder<'_>) -> anyhow::Result<String> {
    let shape = match &attribute.dataspace {
        Dataspace::Null => return Ok(r#""""#.to_owned()),
        space => space.shape(),
    };
    let size = decoder.size(&attribute.datatype)?.max(1);
    let elements = attribute.data.chunks_exact(size);
    let values: Vec<String> = elements
        .map(|stored| element(&attribute.datatype, stored, decoder))
        .collect::<anyhow::Result<_>>()?;
    Ok(match &values[..] {
        [only] => only.clone(),
        _ => nested(values, shape),
    })
}

/// Nests values in row-major order by the axes of `shape`.
fn nested(mut values: Vec<String>, shape: &[u64]) -> String {
    for &len in shape.iter().skip(1).rev() {
        let len = usize::try_from(len).unwrap_or(usize::MAX).max(1);
        values = values.chunks(len).map(|row| format!("[{}]", row.join(","))).collect();
    }
    format!("[{}]", values.join(","))
}

fn element(datatype: &Datatype, stored: &[u8], decoder: &Decoder<'_>) -> anyhow::Result<String> {
    Ok(match datatype {
        Datatype::Float(t) if t.is_ieee() && t.size <= 8 => bare(double(t, stored)),
        Datatype::Enumeration(t) if !t.is_bool() => element(&t.base, stored, decoder)?,
        datatype => value(&decoder.value(datatype, stored)?),
    })
}

fn value(found: &Value) -> String {
    match found {
        Value::NotFinite("nan") => "NaN".to_owned(),
        Value::NotFinite("inf") => "Infinity".to_owned(),
        Value::NotFinite(_) => "-Infinity".to_owned(),
        Value::Complex(_) => json(&format!("({})", found.text(usize::MAX))),
        Value::Bytes(bytes) => json(&String::from_utf8_lossy(bytes)),
        Value::Record(members) => {
            let members = members.iter().map(|(name, found)| format!("{}:{}", json(name), value(found)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        Value::List(items) => format!("[{}]", items.iter().map(value).collect::<Vec<_>>().join(",")),
        Value::Reference(ReferenceTarget::Object(path)) => json(path),
        other => other.json(),
    }
}

/// Returns the double that is equal to an IEEE number of 2, 4 or 8 bytes.
fn double(t: &Float, stored: &[u8]) -> f64 {
    FloatValue::decode(t, stored).map_or(f64::NAN, FloatValue::double)
}

fn bare(number: f64) -> String {
    if number.is_nan() {
        "NaN".to_owned()
    } else if number.is_infinite() {
        if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
    } else {
        format!("{number:?}")
    }
}

/// Returns the fill value with these stored bytes, in the forms of the specification of Zarr's version 2.
pub(super) fn fill(datatype: &Datatype, stored: &[u8], decoder: &Decoder<'_>) -> anyhow::Result<String> {
    let float = |t: &Float, stored: &[u8]| {
        let number = double(t, stored);
        if number.is_finite() { bare(number) } else { format!("\"{}\"", bare(number)) }
    };
    let complex = |part: &Float| {
        let (re, im) = stored.split_at(stored.len() / 2);
        format!("[{},{}]", float(part, re), float(part, im))
    };
    Ok(match datatype {
        Datatype::Float(t) => float(t, stored),
        Datatype::Enumeration(t) if t.is_bool() => (stored.first() == Some(&1)).to_string(),
        Datatype::Enumeration(t) => fill(&t.base, stored, decoder)?,
        Datatype::Compound(t) => match t.complex_parts() {
            Some(part) => complex(part),
            None => json(&base64(stored)),
        },
        Datatype::Complex(t) => match &*t.base {
            Datatype::Float(part) => complex(part),
            _ => json(&base64(stored)),
        },
        Datatype::Text(_) | Datatype::Opaque(_) => json(&base64(stored)),
        datatype => value(&decoder.value(datatype, stored)?),
    })
}
