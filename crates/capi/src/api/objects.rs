//! Groups, links and objects of any kind, by their paths from the root group of a file.

use std::ffi::c_char;

use hyperslab::{Addr, File, Group, LinkTarget, Node};

use crate::codes::{
    HS_DATASET, HS_DATATYPE, HS_GROUP, HS_LINK_EXTERNAL, HS_LINK_HARD, HS_LINK_SOFT, HS_NO_ADDRESS,
    HS_ORDER_ATTRIBUTES, HS_ORDER_LINKS,
};
use crate::failure::{Failure, guard};
use crate::handle;
use crate::items::{self, ItemKind};
use crate::pointers;
use crate::structs::{hs_file, hs_items, hs_link_info, hs_object_info};
use crate::types;

/// Returns the names of the links in a group: in the order of creation if the group keeps it, else sorted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_names(file: *mut hs_file, group: *const c_char, names: *mut hs_items) -> i32 {
    guard(|| {
        // SAFETY: the pointers are those of the caller, who keeps what the interface says.
        let (place, path) = unsafe { (pointers::items("names", names)?, pointers::text("group", group)?) };
        items::put_texts(place, &handle::file(file.addr())?.group(path)?.names()?)
    })
}

/// Describes the object at `path`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_object(
    file: *mut hs_file,
    path: *const c_char,
    info: *mut hs_object_info,
) -> i32 {
    guard(|| {
        // SAFETY: the pointers are those of the caller, who keeps what the interface says.
        let ((place, _), path) = unsafe { (pointers::filled("info", info)?, pointers::text("path", path)?) };
        let node = handle::file(file.addr())?.get(path)?;
        let (kind, links, order) = match &node {
            Node::Group(group) if group.tracks_creation_order()? => (HS_GROUP, group.len()?, HS_ORDER_LINKS),
            Node::Group(group) => (HS_GROUP, group.len()?, 0),
            Node::Dataset(_) => (HS_DATASET, 0, 0),
            Node::Datatype(_) => (HS_DATATYPE, 0, 0),
        };
        place.put(&hs_object_info {
            size: 0,
            kind,
            hard_links: node.hard_links()?,
            address: node.address().get(),
            links,
            attributes: node.attribute_count()?,
            orders: order + if node.tracks_attribute_order() { HS_ORDER_ATTRIBUTES } else { 0 },
        });
        Ok(())
    })
}

/// Describes the link at `path` itself, which may lead nowhere. `targets` may be NULL; else it
/// gets the path of a soft link, the path and the name of the file of an external one, and nothing of others.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_link(
    file: *mut hs_file,
    path: *const c_char,
    info: *mut hs_link_info,
    targets: *mut hs_items,
) -> i32 {
    guard(|| {
        // SAFETY: the pointers are those of the caller, who keeps what the interface says.
        let (targets, (place, _), path) = unsafe {
            let targets = if targets.is_null() { None } else { Some(pointers::items("targets", targets)?) };
            (targets, pointers::filled("info", info)?, pointers::text("path", path)?)
        };
        let file = handle::file(file.addr())?;
        let (group, name) = parent(&file, path)?;
        let missing = || Failure::not_found(format!("no link named {path:?}"));
        let link = group.link(name)?.ok_or_else(missing)?;
        let (kind, address, texts) = match &link.target {
            LinkTarget::Hard(address) => (HS_LINK_HARD, address.get(), vec![]),
            LinkTarget::Soft(path) => (HS_LINK_SOFT, HS_NO_ADDRESS, vec![path]),
            LinkTarget::External { file, path } => (HS_LINK_EXTERNAL, HS_NO_ADDRESS, vec![path, file]),
            LinkTarget::User { kind, .. } => (i32::from(*kind), HS_NO_ADDRESS, vec![]),
        };
        if let Some(targets) = targets {
            items::put_texts(targets, &texts)?;
        }
        place.put(&hs_link_info {
            size: 0,
            kind,
            has_order: link.creation_order.is_some().into(),
            order: link.creation_order.unwrap_or(0),
            address,
        });
        Ok(())
    })
}

/// Returns the path of the object with this address, which is that of an object reference.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_path_at(file: *mut hs_file, address: u64, path: *mut hs_items) -> i32 {
    guard(|| {
        // SAFETY: the pointers are those of the caller, who keeps what the interface says.
        let place = unsafe { pointers::items("path", path) }?;
        let found = handle::file(file.addr())?.path_of(Addr::new(address))?;
        let missing = || Failure::not_found(format!("no path leads to an object at {address:#x}"));
        items::put_texts(place, &[found.ok_or_else(missing)?])
    })
}

/// Creates a group, and missing groups on the way.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_group_create(file: *mut hs_file, path: *const c_char) -> i32 {
    guard(|| {
        // SAFETY: the pointers are those of the caller, who keeps what the interface says.
        let path = unsafe { pointers::text("path", path) }?;
        handle::file(file.addr())?.root().create_group(path)?;
        Ok(())
    })
}

/// Creates a link at `path` to the path `target`: of an object in this file (`HS_LINK_HARD`), or of one that
/// need not exist in this file (`HS_LINK_SOFT`) or in the file named `target_file` (`HS_LINK_EXTERNAL`). For
/// other kinds than the last, `target_file` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_link_create(
    file: *mut hs_file,
    path: *const c_char,
    kind: i32,
    target: *const c_char,
    target_file: *const c_char,
) -> i32 {
    guard(|| {
        // SAFETY: the pointers are those of the caller, who keeps what the interface says.
        let (path, target, target_file) = unsafe {
            (
                pointers::text("path", path)?,
                pointers::text("target", target)?,
                pointers::optional_text("target_file", target_file)?,
            )
        };
        let file = handle::file(file.addr())?;
        match (kind, target_file) {
            (HS_LINK_HARD, None) => {
                let target = file.get(target)?;
                file.root().link_to(path, &target)?;
            }
            (HS_LINK_SOFT, None) => file.root().link_soft(path, target)?,
            (HS_LINK_EXTERNAL, Some(name)) => file.root().link_external(path, name, target)?,
            (HS_LINK_EXTERNAL, None) => {
                return Err(Failure::argument("target_file", "an external link has the name of a file"));
            }
            (HS_LINK_HARD | HS_LINK_SOFT, Some(_)) => {
                return Err(Failure::argument(
                    "target_file",
                    "only an external link has one: set it to NULL",
                ));
            }
            _ => return Err(Failure::argument("kind", format!("{kind} is no kind of link to create"))),
        }
        Ok(())
    })
}

/// Removes the link at `path`. An object without further hard links is deleted, and its space is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_delete(file: *mut hs_file, path: *const c_char) -> i32 {
    guard(|| {
        // SAFETY: the pointers are those of the caller, who keeps what the interface says.
        let path = unsafe { pointers::text("path", path) }?;
        Ok(handle::file(file.addr())?.root().remove(path)?)
    })
}

/// Returns a datatype message, as one item: of an attribute, or with NULL for `attribute`, of the dataset or
/// committed datatype at `path`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_type_at(
    file: *mut hs_file,
    path: *const c_char,
    attribute: *const c_char,
    message: *mut hs_items,
) -> i32 {
    guard(|| {
        // SAFETY: the pointers are those of the caller, who keeps what the interface says.
        let (place, path, attribute) = unsafe {
            (
                pointers::items("message", message)?,
                pointers::text("path", path)?,
                pointers::optional_text("attribute", attribute)?,
            )
        };
        let node = handle::file(file.addr())?.get(path)?;
        let widths = node.file().store().widths();
        let bytes = match (attribute, &node) {
            (Some(name), _) => types::message(&node.attribute(name)?.datatype, widths),
            (None, Node::Dataset(dataset)) => types::message(&dataset.datatype(), widths),
            (None, Node::Datatype(named)) => types::message(named.datatype(), widths),
            (None, Node::Group(_)) => {
                return Err(Failure::request(format!("{path:?} is a group, which has no datatype")));
            }
        };
        items::put(place, ItemKind::Data, std::iter::once(&bytes[..]))
    })
}

/// Returns the group that holds the link at `path`, and the name of the link.
fn parent<'p>(file: &File, path: &'p str) -> Result<(Group, &'p str), Failure> {
    let trimmed = path.trim_end_matches('/');
    let (before, name) = trimmed.rsplit_once('/').unwrap_or(("", trimmed));
    if name.is_empty() {
        return Err(Failure::not_found("no link leads to the root group".to_owned()));
    }
    let group = if before.trim_matches('/').is_empty() { file.root() } else { file.group(before)? };
    Ok((group, name))
}
