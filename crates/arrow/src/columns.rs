//! The columns of a table that a stream has: their schema, and the places of their bytes in rows that are
//! read.

use std::sync::Arc;

use arrow_schema::{Field, Schema, SchemaRef};
use hyperslab_format::Widths;
use hyperslab_format::datatype::{Compound, Datatype, Member};
use hyperslab_tables::Table;

use crate::error::{Error, Result};
use crate::values::Values;

/// The forms of values of which Arrow has several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Forms {
    /// Whether texts are `Binary`, for texts in another encoding than UTF-8. A text that is not UTF-8 cannot
    /// be `Utf8`.
    pub binary: bool,
    /// Whether floats of 16 bits are `Float32`, for consumers without `Float16`.
    pub wide_halves: bool,
}

/// The columns of a stream.
#[derive(Debug)]
pub(crate) struct Columns {
    pub(crate) schema: SchemaRef,
    pub(crate) forms: Forms,
    pub(crate) list: Vec<Column>,
    /// The datatype of the rows that are read: the columns, and no other bytes. `None` if there are none.
    pub(crate) datatype: Option<Datatype>,
    /// The bytes of such a row.
    pub(crate) width: usize,
}

/// A column of a stream.
#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) path: String,
    /// The first byte of the column in a row that is read.
    pub(crate) at: usize,
    pub(crate) values: Values,
}

impl Columns {
    /// Returns the columns at these paths, in this order. A nested column that is named by its path becomes a
    /// column of this name. `None` takes all outermost columns.
    ///
    /// Errors: `Column` if there is no such column, or it has no counterpart in Arrow.
    pub(crate) fn new(table: &Table, paths: Option<&[String]>, forms: Forms) -> Result<Self> {
        let dataset = table.dataset();
        let (datatype, widths) = (dataset.datatype(), dataset.file().store().widths());
        let Datatype::Compound(row) = &*datatype else {
            // A table has rows.
            let why = "not a table".to_owned();
            return Err(Error::Column { path: dataset.path().to_owned(), why });
        };
        let all: Vec<String>;
        let paths = if let Some(paths) = paths {
            paths
        } else {
            all = row.members.iter().map(|member| member.name.clone()).collect();
            &all
        };
        let read = packed(row, "", paths, widths);
        let column = |path: &String| {
            let (at, datatype) = found(&read, path).ok_or_else(|| {
                let known: Vec<&str> = row.members.iter().map(|member| &*member.name).collect();
                let why = format!("it must be one of {}", known.join(", "));
                Error::Column { path: path.clone(), why }
            })?;
            Ok(Column { path: path.clone(), at, values: Values::of(path, datatype, widths)? })
        };
        let list = paths.iter().map(column).collect::<Result<Vec<_>>>()?;
        let fields: Vec<Field> = list.iter().map(|column| column.values.field(&column.path, forms)).collect();
        let width = usize::try_from(read.size).unwrap_or(usize::MAX);
        let datatype = (!read.members.is_empty()).then_some(Datatype::Compound(read));
        Ok(Self { schema: Arc::new(Schema::new(fields)), forms, list, datatype, width })
    }
}

/// Returns a row with the columns at `paths` and no others.
fn packed(row: &Compound, prefix: &str, paths: &[String], widths: Widths) -> Compound {
    let mut made = Compound { size: 0, members: Vec::new() };
    for member in &row.members {
        let path = format!("{prefix}{}", member.name);
        let below = format!("{path}/");
        let datatype = match &member.datatype {
            _ if paths.contains(&path) => member.datatype.clone(),
            Datatype::Compound(nested) if paths.iter().any(|wanted| wanted.starts_with(&below)) => {
                Datatype::Compound(packed(nested, &below, paths, widths))
            }
            _ => continue,
        };
        let size = u32::try_from(datatype.size(widths)).unwrap_or(u32::MAX);
        if size > 0 {
            made.members.push(Member { name: member.name.clone(), offset: made.size, datatype });
            made.size = made.size.saturating_add(size);
        }
    }
    made
}

/// Returns the first byte and the datatype of the column at a path.
fn found<'a>(row: &'a Compound, path: &str) -> Option<(usize, &'a Datatype)> {
    for member in &row.members {
        let offset = usize::try_from(member.offset).ok()?;
        match (path.strip_prefix(&*member.name), &member.datatype) {
            (Some(""), datatype) => return Some((offset, datatype)),
            (Some(rest), Datatype::Compound(nested)) if rest.starts_with('/') => {
                if let Some((at, datatype)) = found(nested, &rest[1..]) {
                    return Some((offset + at, datatype));
                }
            }
            _ => {}
        }
    }
    None
}
