//! PyTables' attributes of a table: its class, version, title, and the name and default of each column.

use hyperslab::{Attribute, Dataset, Dataspace};
use hyperslab_format::datatype::{Charset, Compound, Datatype, Padding, Text};

use super::Column;
use crate::error::Result;

/// The value of `CLASS` of a table.
const CLASS: &str = "TABLE";
/// The version of tables that PyTables writes since release 3.0.
const VERSION: &str = "2.7";

/// Writes the attributes of a new table. `defaults` is one row in the stored datatype.
pub(super) fn put(
    dataset: &Dataset,
    row: &Compound,
    columns: &[Column],
    title: &str,
    defaults: &[u8],
) -> Result<()> {
    let mut attributes = vec![text("CLASS", CLASS), text("VERSION", VERSION), text("TITLE", title)];
    let names = row.members.iter().enumerate();
    attributes.extend(names.map(|(number, member)| text(&format!("FIELD_{number}_NAME"), &member.name)));
    let fills = columns.iter().enumerate();
    attributes.extend(fills.map(|(number, column)| fill(number, column, &defaults[column.bytes.clone()])));
    attributes.push(rows(0));
    attributes.iter().try_for_each(|attribute| Ok(dataset.put_attribute(attribute)?))
}

/// Returns the attribute with the number of rows, which PyTables writes and does not read.
pub(super) fn rows(count: u64) -> Attribute {
    Attribute::number("NROWS", i64::try_from(count).unwrap_or(i64::MAX))
}

/// Returns the attribute with the default of a column. The elements of a multidimensional column are those of
/// the attribute.
fn fill(number: usize, column: &Column, value: &[u8]) -> Attribute {
    let (datatype, dataspace) = match &column.datatype {
        Datatype::Array(array) => {
            let shape = array.shape.iter().map(|&len| len.into()).collect();
            ((*array.base).clone(), Dataspace::Simple { shape, max_shape: None })
        }
        datatype => (datatype.clone(), Dataspace::Scalar),
    };
    Attribute { name: format!("FIELD_{number}_FILL"), datatype, dataspace, data: value.to_vec() }
}

/// Returns a text as PyTables stores it: UTF-8 without a zero byte, and an empty text without elements.
fn text(name: &str, text: &str) -> Attribute {
    let data = text.as_bytes().to_vec();
    let size = u32::try_from(data.len().max(1)).unwrap_or(u32::MAX);
    let datatype = Datatype::Text(Text { size, padding: Padding::NullTerminated, charset: Charset::Utf8 });
    let dataspace = if data.is_empty() { Dataspace::Null } else { Dataspace::Scalar };
    Attribute { name: name.to_owned(), datatype, dataspace, data }
}
