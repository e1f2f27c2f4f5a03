//! Decodes one element of any datatype from its stored bytes, and shows it as text or as JSON.

use std::collections::HashMap;
use std::sync::OnceLock;

use anyhow::{Context as _, bail};
use hyperslab::{Attribute, Dataset, Destination, File, ReadOptions, Selection, Walk};
use hyperslab_format::Addr;
use hyperslab_format::datatype::{Datatype, Integer, IntegerValue, Reference};
use hyperslab_format::selection::StoredSelection;
use hyperslab_present::{Decoded, ElementBytes, FloatValue, TimeValue, elements, hex, until_zero};

use super::{json, region};

/// An element.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// A finite number.
    Number(String),
    /// `nan`, `inf` or `-inf`.
    NotFinite(&'static str),
    /// The real and the imaginary part.
    Complex(Box<[Value; 2]>),
    /// A boolean.
    Bool(bool),
    /// The name of a member of an enumeration.
    Name(String),
    /// A string.
    Text(String),
    /// A date or a time, or `NaT`.
    Date(String),
    /// Opaque bytes, or a string that is not UTF-8.
    Bytes(Vec<u8>),
    /// Members by name.
    Record(Vec<(String, Value)>),
    /// The elements of an array or a sequence, nested as its dimensions.
    List(Vec<Value>),
    /// The target of a reference.
    Reference(ReferenceTarget),
}

/// The target of a reference.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ReferenceTarget {
    /// Nothing.
    Null,
    /// An object.
    Object(String),
    /// Elements of a dataset.
    Region {
        /// The dataset.
        object: String,
        /// The selected elements.
        selection: StoredSelection,
    },
    /// An attribute of an object.
    Attribute {
        /// The object.
        object: String,
        /// The attribute's name.
        name: String,
    },
}

/// A decoder for the elements of one file.
pub(crate) struct Decoder<'f> {
    file: &'f File,
    /// The paths of objects, collected when the first reference is decoded.
    paths: OnceLock<HashMap<Addr, String>>,
    /// The most objects that are visited to collect paths.
    most_paths: usize,
    /// Whether floating-point numbers are shown in hexadecimal.
    is_exact: bool,
}

/// The most objects that are visited to collect paths of references that are only shown.
const PATHS: usize = 100_000;

impl<'f> Decoder<'f> {
    /// Creates a decoder for elements of `file`.
    pub(crate) fn new(file: &'f File) -> Self {
        Self { file, paths: OnceLock::new(), most_paths: PATHS, is_exact: false }
    }

    /// Creates a decoder that finds the paths of all references, however long that takes.
    pub(crate) fn thorough(file: &'f File) -> Self {
        Self { most_paths: usize::MAX, ..Self::new(file) }
    }

    /// Creates a thorough decoder that shows the exact value of floating-point numbers.
    pub(crate) fn exact(file: &'f File) -> Self {
        Self { is_exact: true, ..Self::thorough(file) }
    }

    /// Reads elements of a dataset of the file into `bytes`, and calls `f` with the decoder for them.
    pub(crate) fn read<T>(
        &self,
        dataset: &Dataset,
        what: &Selection,
        bytes: &mut [u8],
        f: impl FnOnce(&Decoder<'_>, &[u8]) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let mut destination = Destination::contiguous(bytes);
        let heap = dataset.read_with_heap(None, what, &mut destination, &ReadOptions::default())?;
        f(self.over(&heap).as_ref().unwrap_or(self), bytes)
    }

    /// Returns a decoder for elements whose data of variable length are in `heap`, if that is another file.
    pub(crate) fn over<'h>(&self, heap: &'h File) -> Option<Decoder<'h>> {
        (!heap.is_same(self.file)).then(|| Decoder { file: heap, paths: OnceLock::new(), ..*self })
    }

    /// Returns the bytes of one element.
    pub(crate) fn size(&self, datatype: &Datatype) -> anyhow::Result<usize> {
        let size = datatype.size(self.file.store().widths());
        usize::try_from(size).context("an element larger than the address space")
    }

    /// Decodes the element in `stored`.
    pub(crate) fn value(&self, datatype: &Datatype, stored: &[u8]) -> anyhow::Result<Value> {
        self.decode(ElementBytes { datatype, bytes: stored, widths: self.file.store().widths() })
    }

    fn decode(&self, element: ElementBytes<'_>) -> anyhow::Result<Value> {
        let stored = element.bytes;
        Ok(match element.decoded()? {
            Decoded::Integer(number) => Value::Number(number.to_string()),
            Decoded::Float(number) => float(number, self.is_exact),
            Decoded::Bool(value) => Value::Bool(value),
            Decoded::Name { name, .. } => Value::Name(name.to_owned()),
            Decoded::Time(_) if self.is_exact => Value::Bytes(stored.to_vec()),
            Decoded::Time(TimeValue::Duration(units)) => Value::Number(units.to_string()),
            Decoded::Time(date) => Value::Date(date.to_string()),
            Decoded::Text(bytes) => text(bytes),
            Decoded::Bytes(bytes) => Value::Bytes(bytes.to_vec()),
            Decoded::Complex([re, im]) => Value::Complex(Box::new([self.decode(re)?, self.decode(im)?])),
            Decoded::Record(members) => {
                let members =
                    members.into_iter().map(|(name, member)| Ok((name.to_owned(), self.decode(member)?)));
                Value::Record(members.collect::<anyhow::Result<_>>()?)
            }
            Decoded::Array { shape, base } => nested(self.list(base, stored)?, shape),
            Decoded::Reference(t) => Value::Reference(self.target(t, stored)?),
            Decoded::VariableText => {
                let ids = self.file.vlen_ids(stored)?;
                let [id] = ids[..] else { bail!("{} bytes are not the id of a string", stored.len()) };
                text(until_zero(&self.file.vlen_bytes(id)?))
            }
            Decoded::Sequence(base) => {
                let found = self.file.vlen_many(&self.file.vlen_ids(stored)?, self.size(base)?)?;
                let [bytes] = &found[..] else {
                    bail!("{} bytes are not the id of a sequence", stored.len())
                };
                self.list(base, bytes)?
            }
        })
    }

    /// Decodes the first `most` elements of an attribute.
    pub(crate) fn attribute(&self, attribute: &Attribute, most: usize) -> anyhow::Result<Vec<Value>> {
        let elements = elements(&attribute.datatype, &attribute.data, self.file.store().widths());
        elements.take(most).map(|element| self.decode(element)).collect()
    }

    fn list(&self, base: &Datatype, stored: &[u8]) -> anyhow::Result<Value> {
        let items = elements(base, stored, self.file.store().widths());
        Ok(Value::List(items.map(|item| self.decode(item)).collect::<anyhow::Result<_>>()?))
    }

    fn target(&self, reference: Reference, stored: &[u8]) -> anyhow::Result<ReferenceTarget> {
        let Some(target) = self.file.reference_target(&reference, stored)? else {
            return Ok(ReferenceTarget::Null);
        };
        let object = self.path_of(target.object);
        Ok(match (target.attribute, target.selection) {
            (Some(name), _) => ReferenceTarget::Attribute { object, name },
            (None, Some(selection)) => ReferenceTarget::Region { object, selection },
            (None, None) => ReferenceTarget::Object(object),
        })
    }

    /// Returns the path of the object at an address, or a text with the address if the object has none.
    fn path_of(&self, address: Addr) -> String {
        let paths = self.paths.get_or_init(|| paths(self.file, self.most_paths));
        paths.get(&address).cloned().unwrap_or_else(|| format!("object at {:#x}", address.get()))
    }
}

/// Returns the paths of the first `most` objects of a file.
fn paths(file: &File, most: usize) -> HashMap<Addr, String> {
    let root = file.root();
    let mut paths = HashMap::from([(root.address(), "/".to_owned())]);
    // Objects that cannot be read have no path here. References to them show addresses.
    let steps = Walk::new(&root).flatten();
    paths.extend(
        steps.filter_map(|step| Some((step.new_node()?.address(), format!("/{}", step.path)))).take(most),
    );
    paths
}

impl Value {
    /// Returns the value as one line of text. Lists are cut after `most` items.
    pub(crate) fn text(&self, most: usize) -> String {
        match self {
            Self::Number(text) => text.clone(),
            Self::NotFinite(text) => (*text).to_owned(),
            Self::Complex(parts) => {
                let [re, im] = parts.each_ref().map(|part| part.text(most));
                let plus = if im.starts_with('-') { "" } else { "+" };
                format!("{re}{plus}{im}j")
            }
            Self::Bool(value) => if *value { "True" } else { "False" }.to_owned(),
            Self::Name(name) => super::plain(name),
            Self::Text(text) => format!("{text:?}"),
            Self::Date(date) => date.clone(),
            Self::Bytes(bytes) => format!("0x{}", hex(bytes)),
            Self::Record(members) => super::tuple(members.iter().map(|(_, value)| value.text(most))),
            Self::List(items) => {
                let mut shown: Vec<String> = items.iter().take(most).map(|item| item.text(most)).collect();
                if items.len() > most {
                    shown.push("…".to_owned());
                }
                format!("[{}]", shown.join(" "))
            }
            Self::Reference(target) => match target {
                ReferenceTarget::Null => "null".to_owned(),
                ReferenceTarget::Object(object) => format!("-> {}", super::plain(object)),
                ReferenceTarget::Region { object, .. } => format!("-> region of {}", super::plain(object)),
                ReferenceTarget::Attribute { object, name } => {
                    format!("-> @{} of {}", super::plain(name), super::plain(object))
                }
            },
        }
    }

    /// Returns the value as JSON. NaN and infinities are strings, and bytes are `{"hex": ...}`.
    pub(crate) fn json(&self) -> String {
        match self {
            Self::Number(text) => text.clone(),
            Self::NotFinite(text) => json(text),
            Self::Complex(parts) => format!("[{},{}]", parts[0].json(), parts[1].json()),
            Self::Bool(value) => value.to_string(),
            Self::Name(text) | Self::Text(text) | Self::Date(text) => json(text),
            Self::Bytes(bytes) => format!(r#"{{"hex":"{}"}}"#, hex(bytes)),
            Self::Record(members) => {
                let members = members.iter().map(|(name, value)| format!("{}:{}", json(name), value.json()));
                format!("{{{}}}", members.collect::<Vec<_>>().join(","))
            }
            Self::List(items) => format!("[{}]", items.iter().map(Self::json).collect::<Vec<_>>().join(",")),
            Self::Reference(target) => match target {
                ReferenceTarget::Null => "null".to_owned(),
                ReferenceTarget::Object(object) => format!(r#"{{"object":{}}}"#, json(object)),
                ReferenceTarget::Region { object, selection } => {
                    format!(r#"{{"region_of":{},"elements":{}}}"#, json(object), region::json(selection))
                }
                ReferenceTarget::Attribute { object, name } => {
                    format!(r#"{{"attribute":{},"of":{}}}"#, json(name), json(object))
                }
            },
        }
    }

    /// Returns whether the value is shown as a number, aligned to the right of its column.
    pub(crate) fn is_numeric(&self) -> bool {
        matches!(self, Self::Number(_) | Self::NotFinite(_) | Self::Complex(_))
    }
}

fn float(number: FloatValue, is_exact: bool) -> Value {
    match number.double() {
        double if double.is_nan() => Value::NotFinite("nan"),
        f64::INFINITY => Value::NotFinite("inf"),
        f64::NEG_INFINITY => Value::NotFinite("-inf"),
        _ if is_exact => Value::Number(number.hexadecimal()),
        _ => Value::Number(number.to_string()),
    }
}

/// Returns an integer of at most 8 bytes.
pub(crate) fn small_integer(stored: &[u8], t: &Integer) -> i128 {
    match IntegerValue::decode(stored, t.order, t.bits, t.signed) {
        Some(IntegerValue::Signed(value)) => value,
        Some(IntegerValue::Unsigned(value)) => value.cast_signed(),
        None => 0,
    }
}

fn text(bytes: &[u8]) -> Value {
    match str::from_utf8(bytes) {
        Ok(text) => Value::Text(text.to_owned()),
        Err(_) => Value::Bytes(bytes.to_vec()),
    }
}

/// Nests the items of `list`, which are in row-major order, by the dimensions of `shape`.
fn nested(list: Value, shape: &[u32]) -> Value {
    let Value::List(mut items) = list else { return list };
    for &len in shape.iter().skip(1).rev() {
        let len = (len as usize).max(1);
        let mut rest = items.into_iter();
        items = Vec::new();
        loop {
            let row: Vec<Value> = rest.by_ref().take(len).collect();
            if row.is_empty() {
                break;
            }
            items.push(Value::List(row));
        }
    }
    Value::List(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_nested_as_its_shape() {
        let items = (0..6).map(|k| Value::Number(k.to_string())).collect();
        let list = nested(Value::List(items), &[1, 2, 3]);
        assert_eq!(list.text(9), "[[[0 1 2] [3 4 5]]]");
        assert_eq!(list.json(), "[[[0,1,2],[3,4,5]]]");
        assert_eq!(list.text(1), "[[[0 …] …]]");
    }

    #[test]
    fn values_without_a_json_type_are_strings_or_objects() {
        let record = Value::Record(vec![
            ("a\"b".to_owned(), Value::NotFinite("nan")),
            ("b".to_owned(), Value::Bytes(vec![0, 255])),
            ("c".to_owned(), Value::Reference(ReferenceTarget::Null)),
        ]);
        assert_eq!(record.json(), r#"{"a\"b":"nan","b":{"hex":"00ff"},"c":null}"#);
        assert_eq!(record.text(9), "(nan, 0x00ff, null)");
    }

    #[test]
    fn a_string_that_is_not_utf_8_is_its_bytes() {
        assert_eq!(text(b"ab"), Value::Text("ab".to_owned()));
        assert_eq!(text(b"\xff"), Value::Bytes(vec![0xff]));
    }
}
