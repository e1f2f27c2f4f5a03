//! The attributes by which PyTables knows its files and their nodes.

use hyperslab::{Attribute, Dataspace, File, Object, Result};
use hyperslab_format::datatype::{Charset, Datatype, Padding, Text};

/// The version of PyTables' format.
const FORMAT: &str = "2.1";
const FORMAT_VERSION: &str = "PYTABLES_FORMAT_VERSION";
/// The class of a table.
pub(crate) const TABLE: &str = "TABLE";

/// Writes the attributes of the root group by which PyTables knows its files, if they are missing. Without
/// them, PyTables reads the attributes of its nodes in other ways.
pub fn mark_file(file: &File) -> Result<()> {
    let root = file.root();
    for (name, value) in [(FORMAT_VERSION, FORMAT), ("CLASS", "GROUP"), ("TITLE", ""), ("VERSION", "1.0")] {
        if !root.has_attribute(name)? {
            root.put_attribute(&text(name, value))?;
        }
    }
    Ok(())
}

/// Returns whether a file has the version of PyTables' format.
pub(crate) fn is_marked(file: &File) -> Result<bool> {
    file.root().has_attribute(FORMAT_VERSION)
}

/// Writes the attributes that every node of PyTables has.
pub(crate) fn describe(object: &Object, class: &str, title: &str, version: &str) -> Result<()> {
    let values = [("CLASS", class), ("TITLE", title), ("VERSION", version)];
    values.into_iter().try_for_each(|(name, value)| object.put_attribute(&text(name, value)))
}

/// Returns whether PyTables gives this class to an object.
pub(crate) fn is_class(object: &Object, class: &str) -> Result<bool> {
    Ok(class_of(object)?.as_deref() == Some(class.as_bytes()))
}

/// Returns the class of an object of PyTables, if it has one.
pub(crate) fn class_of(object: &Object) -> Result<Option<Vec<u8>>> {
    if !object.has_attribute("CLASS")? {
        return Ok(None);
    }
    let class = object.attribute("CLASS")?;
    let end = class.data.iter().position(|&byte| byte == 0).unwrap_or(class.data.len());
    Ok(matches!(class.datatype, Datatype::Text(_)).then(|| class.data[..end].to_vec()))
}

/// Returns a text as PyTables stores it: UTF-8 without a zero byte, and an empty text without elements.
pub(crate) fn text(name: &str, text: &str) -> Attribute {
    let data = text.as_bytes().to_vec();
    let size = u32::try_from(data.len().max(1)).unwrap_or(u32::MAX);
    let datatype = Datatype::Text(Text { size, padding: Padding::NullTerminated, charset: Charset::Utf8 });
    let dataspace = if data.is_empty() { Dataspace::Null } else { Dataspace::Scalar };
    Attribute { name: name.to_owned(), datatype, dataspace, data }
}
