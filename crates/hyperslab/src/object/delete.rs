//! Deletes objects without hard links and frees their space.

use std::collections::HashSet;
use std::ops::ControlFlow;

use hyperslab_error::Result;
use hyperslab_format::layout::Layout;
use hyperslab_format::message::external_files::ExternalFiles;
use hyperslab_format::message::kind;
use hyperslab_format::message::link::LinkTarget;
use hyperslab_format::{Addr, Extent};
use hyperslab_store::Txn;
use hyperslab_store::heap::local;
use hyperslab_store::index::IndexEdit;

use super::attribute;
use super::dataset;
use super::group::link_edit;
use super::group::links::LinkStorage;
use super::header;
use super::header::edit::HeaderChange;
use super::header::read::Header;
use super::shared;

/// Removes one hard link to the object at `target`, and deletes all objects that then have none. Returns the
/// addresses of the deleted headers.
pub(super) fn unlink(txn: &mut Txn<'_>, target: Addr) -> Result<Vec<Addr>> {
    let (mut deleted, mut known) = (Vec::new(), HashSet::new());
    let mut targets = vec![target];
    while let Some(target) = targets.pop() {
        // In a damaged file, an object may have more links than it counts, even from itself.
        if known.contains(&target) {
            continue;
        }
        let mut change = HeaderChange::new(txn, target)?;
        let references = change.add_references(-1)?;
        let header = change.finish()?;
        if references == 0 {
            delete(txn, &header, &mut targets)?;
            deleted.push(target);
            known.insert(target);
        }
    }
    Ok(deleted)
}

/// Frees an object. Adds the targets of its hard links, and the committed datatypes that it uses, to
/// `targets`.
pub(super) fn delete(txn: &mut Txn<'_>, header: &Header, targets: &mut Vec<Addr>) -> Result<()> {
    if let Some(links) = LinkStorage::of(header, txn.store())? {
        for link in links.all(header, txn.store())? {
            if let LinkTarget::Hard(target) = link.target {
                targets.push(target);
            }
        }
        link_edit::delete(txn, links)?;
    } else if header.has(kind::LAYOUT) {
        delete_data(txn, header, targets)?;
    }
    attribute::edit::delete(txn, header, targets)?;
    shared::release_all(txn, header)?;
    header::edit::delete(txn, header);
    Ok(())
}

/// Frees the elements of a dataset. Adds its committed datatype to `targets`.
fn delete_data(txn: &mut Txn<'_>, header: &Header, targets: &mut Vec<Addr>) -> Result<()> {
    targets.extend(dataset::committed_type(header)?);
    if let Some(files) = header.find::<ExternalFiles>(txn.store())? {
        local::delete(txn, files.heap)?;
    }
    let Some(layout) = header.find::<Layout>(txn.store())? else { return Ok(()) };
    match &layout {
        Layout::Contiguous(extent) => {
            // Elements in external files have no space in this file.
            let is_here = extent.addr.is_defined() && extent.len > 0 && !header.has(kind::EXTERNAL_FILES);
            is_here.then(|| txn.free_data(*extent));
        }
        Layout::Chunked(chunked) => {
            let index = dataset::chunk_index(header, txn.store(), chunked)?;
            let mut extents: Vec<Extent> = Vec::new();
            match index.implicit_extent() {
                Some(all) => extents.push(all),
                None => index.visit(txn.store(), &mut |_, record| {
                    extents.push(record.extent);
                    ControlFlow::Continue(())
                })?,
            }
            for extent in extents {
                txn.free_data(extent);
            }
            IndexEdit::new(txn, &index).delete()?;
        }
        // The mappings stay in the global heap, because other data may share the collection.
        Layout::Compact { .. } | Layout::Virtual { .. } => {}
    }
    Ok(())
}
