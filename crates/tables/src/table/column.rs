//! The columns of a table: the members of its compound datatype, and the members of nested compounds.

use std::collections::VecDeque;
use std::ops::Range;

use hyperslab_format::Widths;
use hyperslab_format::datatype::{Bits, Compound, Datatype, Enumeration, Member};

/// A column of a table that holds values: not a group of nested columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The names from the outermost column to this one, joined by `/`.
    pub path: String,
    /// The bytes of the column in a row.
    pub bytes: Range<usize>,
    /// The stored datatype.
    pub datatype: Datatype,
}

/// Deeper nesting is refused, as by the conversions of datatypes.
const DEPTH: usize = 32;

/// Returns the columns of a row in the order of PyTables: those of the outermost level first, then those of
/// each nested column, level by level. Returns `None` if the datatype is damaged or nested too deeply.
pub(super) fn columns(row: &Compound, widths: Widths) -> Option<Vec<Column>> {
    let mut columns = Vec::new();
    let mut levels = VecDeque::from([(String::new(), 0_usize, row, 0)]);
    while let Some((prefix, start, level, depth)) = levels.pop_front() {
        for member in &level.members {
            let path = format!("{prefix}{}", member.name);
            let offset = start.checked_add(usize::try_from(member.offset).ok()?)?;
            if let Some(nested) = nested(&member.datatype) {
                if depth == DEPTH {
                    return None;
                }
                levels.push_back((format!("{path}/"), offset, nested, depth + 1));
                continue;
            }
            let end = offset.checked_add(usize::try_from(member.datatype.size(widths)).ok()?)?;
            if end > usize::try_from(row.size).ok()? {
                return None;
            }
            columns.push(Column { path, bytes: offset..end, datatype: member.datatype.clone() });
        }
    }
    Some(columns)
}

/// Returns the compound of a nested column. Complex numbers are compounds too, but hold values.
fn nested(datatype: &Datatype) -> Option<&Compound> {
    match datatype {
        Datatype::Compound(compound) if !is_complex(compound) => Some(compound),
        _ => None,
    }
}

/// Returns whether a compound is a complex number as h5py and PyTables store it.
pub(crate) fn is_complex(compound: &Compound) -> bool {
    match &compound.members[..] {
        [re, im] => {
            (&*re.name, &*im.name) == ("r", "i")
                && re.datatype == im.datatype
                && matches!(re.datatype, Datatype::Float(_))
        }
        _ => false,
    }
}

/// Returns the datatype of a row in PyTables' form: its booleans are bitfields of one byte, because PyTables
/// takes h5py's booleans for an enumeration.
#[must_use]
pub fn row_datatype(datatype: Datatype) -> Datatype {
    match datatype {
        Datatype::Enumeration(enumeration) if is_bool(&enumeration) => Datatype::Bits(Bits::little(1)),
        Datatype::Compound(mut compound) => {
            for Member { datatype, .. } in &mut compound.members {
                *datatype = row_datatype(datatype.clone());
            }
            Datatype::Compound(compound)
        }
        Datatype::Array(mut array) => {
            *array.base = row_datatype(*array.base);
            Datatype::Array(array)
        }
        Datatype::Sequence(base) => Datatype::Sequence(Box::new(row_datatype(*base))),
        datatype => datatype,
    }
}

/// Returns whether an enumeration is h5py's boolean.
pub(crate) fn is_bool(enumeration: &Enumeration) -> bool {
    let value = |name: &str| {
        let found = enumeration.members.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value.as_slice())
    };
    enumeration.members.len() == 2 && value("FALSE") == Some(&[0]) && value("TRUE") == Some(&[1])
}
