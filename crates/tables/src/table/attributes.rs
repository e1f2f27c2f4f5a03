//! PyTables' attributes of a table: its class, version, title, and the name and default of each column.

use hyperslab::{Attribute, Dataset, Dataspace};
use hyperslab_format::datatype::{Compound, Datatype};

use super::Column;
use crate::error::Result;
use crate::node::{TABLE, describe, text};

/// The version of tables that PyTables writes since release 3.0.
const VERSION: &str = "2.7";
/// The attribute with the number of rows.
const ROWS: &str = "NROWS";

/// Writes the attributes of a new table. `defaults` is one row in the stored datatype.
pub(super) fn put(
    dataset: &Dataset,
    row: &Compound,
    columns: &[Column],
    title: &str,
    defaults: &[u8],
) -> Result<()> {
    describe(dataset, TABLE, title, VERSION)?;
    let names = row.members.iter().enumerate();
    let names = names.map(|(number, member)| text(&format!("FIELD_{number}_NAME"), &member.name));
    let mut attributes: Vec<Attribute> = names.collect();
    let fills = columns.iter().enumerate();
    attributes.extend(fills.map(|(number, column)| fill(number, column, &defaults[column.bytes.clone()])));
    attributes.push(rows(0));
    attributes.iter().try_for_each(|attribute| Ok(dataset.put_attribute(attribute)?))
}

/// Returns the attribute with the number of rows.
fn rows(count: u64) -> Attribute {
    Attribute::number(ROWS, i64::try_from(count).unwrap_or(i64::MAX))
}

/// Writes the number of rows to its attribute. Datasets without the attribute do not get it.
pub(super) fn put_rows(dataset: &Dataset) -> Result<()> {
    if dataset.has_attribute(ROWS)? {
        dataset.put_attribute(&rows(dataset.size()))?;
    }
    Ok(())
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
    // PyTables takes the number of an enumeration, and warns of the enumeration itself.
    let datatype = match datatype {
        Datatype::Enumeration(enumeration) => *enumeration.base,
        datatype => datatype,
    };
    Attribute { name: format!("FIELD_{number}_FILL"), datatype, dataspace, data: value.to_vec() }
}
