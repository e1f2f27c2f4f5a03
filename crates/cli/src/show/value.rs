//! Decodes one element of any datatype from its stored bytes, and shows it as text or as JSON.

use std::collections::HashMap;
use std::sync::OnceLock;

use anyhow::{Context as _, bail};
use hyperslab::{Attribute, Dataset, Destination, File, ReadOptions, Selection, Walk};
use hyperslab_format::Addr;
use hyperslab_format::datatype::{BitRange, ByteOrder, Datatype, Integer, IntegerValue, Padding, Reference};
use hyperslab_format::selection::StoredSelection;

use super::{float, json, region, time};

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
        Ok(match datatype {
            Datatype::Integer(t) => integer(stored, t.order, t.bits, t.signed),
            Datatype::Bits(t) => integer(stored, t.order, t.bits, false),
            Datatype::Float(t) if self.is_exact => float::exact(t, stored),
            Datatype::Float(t) => float::value(t, stored),
            Datatype::Time(t) => {
                integer(stored, t.order, BitRange { offset: 0, precision: t.precision }, true)
            }
            Datatype::Text(t) => text(match t.padding {
                Padding::NullTerminated => until_zero(stored),
                Padding::NullPadded => trimmed(stored, 0),
                // Some writers end such strings with zeros.
                Padding::SpacePadded => trimmed(trimmed(stored, 0), b' '),
            }),
            Datatype::VariableText(_) => {
                let ids = self.file.vlen_ids(stored)?;
                let [id] = ids[..] else { bail!("{} bytes are not the id of a string", stored.len()) };
                text(until_zero(&self.file.vlen_bytes(id)?))
            }
            Datatype::Opaque(t) => match time::value(t, stored) {
                Some(time) if !self.is_exact => time,
                _ => Value::Bytes(stored.to_vec()),
            },
            Datatype::Compound(t) => {
                if let Some(part) = t.complex_parts() {
                    return self.complex(&Datatype::Float(*part), stored);
                }
                let members = t.members.iter().map(|member| {
                    let size = self.size(&member.datatype)?;
                    let stored = part(stored, member.offset as usize, size)?;
                    Ok((member.name.clone(), self.value(&member.datatype, stored)?))
                });
                Value::Record(members.collect::<anyhow::Result<_>>()?)
            }
            Datatype::Reference(t) => Value::Reference(self.target(*t, stored)?),
            Datatype::Enumeration(t) => match t.members.iter().find(|(_, value)| value[..] == *stored) {
                Some((name, _)) if t.is_bool() => Value::Bool(name == "TRUE"),
                Some((name, _)) => Value::Name(name.clone()),
                None => self.value(&t.base, stored)?,
            },
            Datatype::Sequence(base) => {
                let ids = self.file.vlen_ids(stored)?;
                let size = self.size(base)?;
                let found = self.file.vlen_many(&ids, size)?;
                let [bytes] = &found[..] else {
                    bail!("{} bytes are not the id of a sequence", stored.len())
                };
                self.list(base, size, bytes)?
            }
            Datatype::Array(t) => {
                let size = self.size(&t.base)?;
                nested(self.list(&t.base, size, stored)?, &t.shape)
            }
            Datatype::Complex(t) => self.complex(&t.base, stored)?,
        })
    }

    /// Decodes the first `most` elements of an attribute.
    pub(crate) fn attribute(&self, attribute: &Attribute, most: usize) -> anyhow::Result<Vec<Value>> {
        let size = self.size(&attribute.datatype)?.max(1);
        let elements = attribute.data.chunks_exact(size).take(most);
        elements.map(|element| self.value(&attribute.datatype, element)).collect()
    }

    fn list(&self, base: &Datatype, size: usize, stored: &[u8]) -> anyhow::Result<Value> {
        let items = stored.chunks_exact(size.max(1)).map(|item| self.value(base, item));
        Ok(Value::List(items.collect::<anyhow::Result<_>>()?))
    }

    fn complex(&self, base: &Datatype, stored: &[u8]) -> anyhow::Result<Value> {
        let (re, im) = stored.split_at(stored.len() / 2);
        Ok(Value::Complex(Box::new([self.value(base, re)?, self.value(base, im)?])))
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

fn integer(stored: &[u8], order: ByteOrder, bits: BitRange, signed: bool) -> Value {
    match IntegerValue::decode(stored, order, bits, signed) {
        Some(value) => Value::Number(value.to_string()),
        None => Value::Bytes(stored.to_vec()),
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

fn part(stored: &[u8], offset: usize, size: usize) -> anyhow::Result<&[u8]> {
    let end = offset.checked_add(size);
    end.and_then(|end| stored.get(offset..end)).context("a member is outside its compound")
}

fn until_zero(bytes: &[u8]) -> &[u8] {
    bytes.split(|&byte| byte == 0).next().unwrap_or_default()
}

fn trimmed(bytes: &[u8], filler: u8) -> &[u8] {
    let len = bytes.iter().rposition(|&byte| byte != filler).map_or(0, |last| last + 1);
    &bytes[..len]
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

/// Returns bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_of_more_than_16_bytes_is_shown_as_its_bytes() {
        let bits = BitRange { offset: 0, precision: 136 };
        let shown = integer(&[1; 17], ByteOrder::Little, bits, true).text(1);
        assert_eq!(shown, format!("0x{}", "01".repeat(17)));
    }

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
    fn padding_is_removed_from_strings() {
        assert_eq!(text(until_zero(b"ab\0cd")), Value::Text("ab".to_owned()));
        assert_eq!(text(trimmed(b"a\0b\0\0", 0)), Value::Text("a\0b".to_owned()));
        assert_eq!(text(trimmed(b"a  ", b' ')), Value::Text("a".to_owned()));
        assert_eq!(text(b"\xff"), Value::Bytes(vec![0xff]));
    }
}
