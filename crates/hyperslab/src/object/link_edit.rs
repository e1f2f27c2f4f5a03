//! Links that are added to a group and taken out of it.

use hyperslab_format::message::dense_info::LinkInfo;
use hyperslab_format::message::group_info::{GroupInfo, PhaseChange};
use hyperslab_format::message::kind;
use hyperslab_format::message::link::{Link, LinkTarget};
use hyperslab_format::{Addr, Structure};

use super::header_edit::HeaderChange;
use super::header_io::Header;
use super::links::LinkStorage;
use crate::error::{Error, RequestError, Result};
use crate::store::{Store, Txn};

/// Adds a link to the group whose header is at `group`; its creation order is the group's to give.
pub(super) fn insert(txn: &mut Txn<'_>, group: Addr, mut link: Link) -> Result<()> {
    let header = Header::read(txn.store(), group)?;
    let storage = storage(&header, txn.store())?;
    if storage.find(&header, txn.store(), &link.name)?.is_some() {
        return Err(RequestError::Exists { name: link.name }.into());
    }
    if let LinkStorage::SymbolTable(_) = storage {
        return Err(Error::unsupported("changing a symbol table", "III.B"));
    }
    let count = storage.len(&header, txn.store())?;
    let mut change = HeaderChange::new(txn, group)?;
    let mut info = change.find::<LinkInfo>()?.ok_or_else(|| header.lacks("a link info message"))?;
    link.creation_order = info.max_creation_order;
    if let Some(order) = &mut info.max_creation_order {
        *order += 1;
        change.set(&info)?;
    }
    let limit = u64::from(phase_change(&change)?.max_compact);
    let widths = change.txn().store().widths();
    if count >= limit || link.encoded_len(widths, &()) > LONGEST_MESSAGE {
        return Err(Error::unsupported("a group of many links", "IV.A.2.c"));
    }
    change.put(&link, 0)?;
    change.finish()?;
    Ok(())
}

/// Takes a link out of a group.
pub(super) fn remove(txn: &mut Txn<'_>, group: Addr, name: &str) -> Result<Link> {
    let header = Header::read(txn.store(), group)?;
    let storage = storage(&header, txn.store())?;
    let missing = || RequestError::NoSuchObject { name: name.to_owned() };
    let link = storage.find(&header, txn.store(), name)?.ok_or_else(missing)?;
    match storage {
        LinkStorage::Compact { .. } => {
            let mut change = HeaderChange::new(txn, group)?;
            let widths = header.widths();
            let found = change.places(kind::LINK).find_map(|(place, message)| {
                let found = message.decode_here::<Link>(widths).ok()?;
                (found.name == name).then_some(place)
            });
            change.remove(found.ok_or_else(missing)?)?;
            change.finish()?;
        }
        LinkStorage::Dense(_) => return Err(Error::unsupported("a group of many links", "IV.A.2.c")),
        LinkStorage::SymbolTable(_) => return Err(Error::unsupported("changing a symbol table", "III.B")),
    }
    Ok(link)
}

fn storage(header: &Header, store: &Store) -> Result<LinkStorage> {
    LinkStorage::of(header, store)?.ok_or_else(|| header.lacks("links"))
}

/// When the group's links move between messages and the heap.
fn phase_change(change: &HeaderChange<'_, '_>) -> Result<PhaseChange> {
    let info = change.find::<GroupInfo>()?;
    Ok(info.and_then(|info| info.phase_change).unwrap_or(PhaseChange::DEFAULT))
}

/// Frees what holds the links of a group that is deleted, but its header.
pub(super) fn delete(_txn: &mut Txn<'_>, links: &LinkStorage) -> Result<()> {
    match links {
        LinkStorage::Compact { .. } => Ok(()),
        LinkStorage::Dense(_) => Err(Error::unsupported("a group of many links", "IV.A.2.c")),
        LinkStorage::SymbolTable(_) => Err(Error::unsupported("changing a symbol table", "III.B")),
    }
}

/// A hard link.
pub(super) fn hard(name: &str, target: Addr) -> Link {
    new(name, LinkTarget::Hard(target))
}

/// A link of any kind.
pub(super) fn new(name: &str, target: LinkTarget) -> Link {
    use hyperslab_format::datatype::Charset;
    let charset = if name.is_ascii() { Charset::Ascii } else { Charset::Utf8 };
    Link { creation_order: None, charset, name: name.to_owned(), target }
}

/// The longest body of a message; a longer link is kept in the heap, whatever their number.
const LONGEST_MESSAGE: usize = 65_000;
