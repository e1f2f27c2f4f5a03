//! Extends, rebuilds, marks and removes indexes when their table changes.

use hyperslab::{Dataset, Group, Node, silent};

use super::build::{IndexOptions, build_index, fill};
use super::content::Content;
use super::layout::{self, INDEX, IndexLayout, NESTED};
use super::{IndexableColumn, Kind};
use crate::error::{Error, Result};
use crate::node::is_class;

/// Nested columns deeper than this have no indexes, as tables have no such columns.
const DEPTH: usize = 32;
/// More new rows than this share of the old ones, and than this number, rebuild an index of kind `full`: then
/// it stays completely sorted, and the rows need not fit in memory.
const SHARE: u64 = 4;
const MANY: u64 = 1 << 20;

/// Returns the columns of a table that have an index, with nested names joined by `/`. Indexes of columns
/// that the table does not have belong to another table, which had its path.
pub fn indexed_columns(table: &Dataset) -> Result<Vec<String>> {
    let (root, mut found) = (table.file().root(), Vec::new());
    // A table without a path has no indexes.
    let Ok(path) = layout::table_path(table) else { return Ok(found) };
    if root.contains(&path)?
        && let Node::Group(group) = root.get(&path)?
    {
        collect(&group, "", DEPTH, &mut found)?;
        found.retain(|column| IndexableColumn::of(table, column).is_ok());
    }
    Ok(found)
}

fn collect(group: &Group, prefix: &str, depth: usize, found: &mut Vec<String>) -> Result<()> {
    for name in group.names()? {
        let Ok(Node::Group(inner)) = group.get(&name) else { continue };
        let path = format!("{prefix}{name}");
        if is_class(&inner, INDEX)? {
            found.push(path);
        } else if depth > 0 && is_class(&inner, NESTED)? {
            collect(&inner, &format!("{path}/"), depth - 1, found)?;
        }
    }
    Ok(())
}

/// Returns whether the indexes of a table follow its changes. By default they do.
pub fn indexes_follow(table: &Dataset) -> Result<bool> {
    layout::is_automatic(table)
}

/// Sets whether the indexes of a table follow its changes.
pub fn set_indexes_follow(table: &Dataset, follow: bool) -> Result<()> {
    layout::set_automatic(table, follow)
}

/// Removes the index of a column. Returns whether there was one.
///
/// Errors: `Argument` if the table has no such column.
pub fn remove_index(table: &Dataset, column: &str) -> Result<bool> {
    let column = IndexableColumn::of(table, column)?;
    let (root, path) = (table.file().root(), layout::path(table, &column.path)?);
    let is_there = root.contains(&path)?;
    if is_there {
        root.remove(&path)?;
    }
    Ok(is_there)
}

/// Marks indexes of a table as out of date, as PyTables does: no reader uses them until they are rebuilt.
/// `columns` are the columns that change, nested names joined by `/`; without columns, all change. Returns
/// whether there are such indexes.
pub fn mark_stale(table: &Dataset, columns: Option<&[String]>) -> Result<bool> {
    let is_inside = |path: &str, column: &String| {
        path.strip_prefix(column.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let mut is_any = false;
    for column in indexed_columns(table)? {
        if columns.is_some_and(|changed| !changed.iter().any(|changed| is_inside(&column, changed))) {
            continue;
        }
        is_any = true;
        layout::mark_dirty(table, &column)?;
    }
    Ok(is_any)
}

/// Makes the indexes of a table hold its rows: rebuilds those that are marked as out of date, and adds the
/// rows that were appended to the others. A damaged index is marked as out of date, and stays until
/// [`rebuild_index`] builds it again.
///
/// Errors: those of [`build_index`].
pub fn update_indexes(table: &Dataset) -> Result<()> {
    for path in indexed_columns(table)? {
        match update(table, &path) {
            Err(Error::Object { .. }) => layout::mark_dirty(table, &path)?,
            updated => updated?,
        }
    }
    Ok(())
}

fn update(table: &Dataset, path: &str) -> Result<()> {
    let Some(layout) = IndexLayout::open(table, path)? else { return Ok(()) };
    let (rows, known) = (table.size(), layout.len());
    let new = rows.saturating_sub(known);
    let is_much = layout.kind == Kind::Full && new > MANY.min(known / SHARE) && new > layout.last;
    if layout.is_dirty || known > rows || is_much {
        return rebuild(table, path, &layout);
    }
    if new == 0 {
        return Ok(());
    }
    let column = IndexableColumn::of(table, path)?;
    fill(table, &column, Content::read(layout)?, &IndexOptions::default(), &silent)
}

/// Builds the index of a column anew, with the options of the old index. With `only_stale`, only if it is
/// marked as out of date or does not hold the values of the column. Returns whether it was built.
///
/// Errors: `Argument` if the table has no such column; those of [`build_index`].
pub fn rebuild_index(table: &Dataset, column: &str, only_stale: bool) -> Result<bool> {
    let path = IndexableColumn::of(table, column)?.path;
    match IndexLayout::open(table, &path) {
        Ok(None) => return Ok(false),
        Ok(Some(layout)) => {
            let is_current = only_stale
                && super::ColumnIndex::open(table, &path)
                    .and_then(|index| {
                        index.map_or(Ok(true), |index| index.unusable().map(|why| why.is_none()))
                    })
                    .unwrap_or(false);
            if is_current {
                return Ok(false);
            }
            rebuild(table, &path, &layout)?;
        }
        Err(_) => {
            remove_index(table, &path)?;
            build_index(table, &path, &IndexOptions::default())?;
        }
    }
    Ok(true)
}

/// Builds the index of a column of a table with the options of the index that another table has, or with the
/// usual ones if that is damaged.
///
/// Errors: those of [`build_index`].
pub fn build_like(other: &Dataset, table: &Dataset, column: &str) -> Result<()> {
    let options = match IndexLayout::open(other, column) {
        Ok(Some(layout)) => options_of(&layout),
        _ => IndexOptions::default(),
    };
    build_index(table, column, &options)
}

fn options_of(layout: &IndexLayout) -> IndexOptions {
    IndexOptions {
        kind: layout.kind,
        optlevel: layout.optlevel.min(9),
        filters: layout.filters(),
        ..IndexOptions::default()
    }
}

fn rebuild(table: &Dataset, path: &str, layout: &IndexLayout) -> Result<()> {
    remove_index(table, path)?;
    build_index(table, path, &options_of(layout))
}
