//! Removes, moves and copies the members of a group. The indexes of a table follow the table.
//!
//! PyTables finds the indexes of `t` by the name `_i_t`. Indexes that stay behind would be taken for those of
//! the next table that gets the name.

use hyperslab::{CopyOptions, Dataset, Group, Node, Result};

use super::layout::{CONTAINER, beside, table_path};
use crate::node::{TABLE, is_class};

/// Removes the link at a path, as [`Group::remove`] does, and the indexes of the table at this path.
///
/// Errors: those of [`Group::remove`].
pub fn remove(group: &Group, path: &str) -> Result<()> {
    if let Some(indexes) = indexes(group, path)
        && group.contains(path)?
    {
        // First: a table without indexes is right, and indexes without their table are not.
        group.remove(&indexes)?;
    }
    group.remove(path)
}

/// Moves the link at `from` to `to`, as [`Group::rename`] does, with the indexes of the table at `from`.
///
/// Errors: those of [`Group::rename`].
pub fn rename(group: &Group, from: &str, to: &str) -> Result<()> {
    let (moved, target) = (indexes(group, from), beside(to));
    if !group.contains(to)? {
        remove_leftover(group, to)?;
    }
    group.rename(from, to)?;
    let (Some(moved), Some(target)) = (moved, target) else { return Ok(()) };
    match group.get(&target) {
        Err(_) => group.rename(&moved, &target),
        // The path is that of the table itself, written in another way.
        Ok(known) if group.get(&moved)?.address() == known.address() => Ok(()),
        // Another object has the name that the indexes need.
        Ok(_) => group.remove(&moved),
    }
}

/// Copies an object to a path of a group, as [`Group::copy`] does. A table is copied with its indexes.
///
/// Errors: those of [`Group::copy`].
pub fn copy(group: &Group, source: &Node, path: &str, options: &CopyOptions) -> Result<Node> {
    if !group.contains(path)? {
        remove_leftover(group, path)?;
    }
    let made = group.copy(source, path, options)?;
    if let Node::Dataset(table) = source
        && !options.without_attributes
        && is_class(table, TABLE)?
        && let Some(target) = beside(path)
        && !group.contains(&target)?
        && let Ok(Some(indexes)) = container_of(table)
    {
        let indexes = table.file().get(&indexes)?;
        group.copy(&indexes, &target, &CopyOptions::default())?;
    }
    Ok(made)
}

/// Returns the path of the group of a table's indexes, if it has one.
///
/// Errors: `Object` if no path leads to the table.
pub fn container_of(table: &Dataset) -> crate::Result<Option<String>> {
    let path = table_path(table)?;
    Ok(container(&table.file().root(), &path).map(|_| path))
}

/// Removes indexes that were left behind where a new table is about to be.
///
/// Errors: those of [`Group::remove`].
pub fn remove_leftover(group: &Group, path: &str) -> Result<()> {
    indexes(group, path).map_or(Ok(()), |indexes| group.remove(&indexes))
}

/// Returns the path of the indexes that belong to the path of a table, if there are any.
fn indexes(group: &Group, path: &str) -> Option<String> {
    let path = beside(path)?;
    container(group, &path).map(|_| path)
}

/// Returns the group of the indexes of a table. Other objects of this name, and damaged ones, are the user's.
fn container(group: &Group, path: &str) -> Option<Group> {
    match group.get(path) {
        Ok(Node::Group(found)) if is_class(&found, CONTAINER).unwrap_or(false) => Some(found),
        _ => None,
    }
}
