//! Links that are added to a group and taken out of it, and how a group changes from messages to dense storage and back.

use hyperslab_format::datatype::Charset;
use hyperslab_format::header::RawMessage;
use hyperslab_format::message::dense_info::LinkInfo;
use hyperslab_format::message::group_info::{GroupInfo, PhaseChange};
use hyperslab_format::message::kind;
use hyperslab_format::message::link::{Link, LinkTarget};
use hyperslab_format::message::small::SymbolTable;
use hyperslab_format::{Addr, Structure};

use super::links::LinkStorage;
use crate::error::{Error, RequestError, Result};
use crate::heap::symbol_table::{self, SymbolTarget};
use crate::object::header::edit::HeaderChange;
use crate::object::header::read::Header;
use crate::object::{dense, limits};
use crate::store::{Store, Txn};

/// Adds a link to the group whose header is at `group`; its creation order is the group's to give.
pub(in crate::object) fn insert(txn: &mut Txn<'_>, group: Addr, link: Link) -> Result<()> {
    limits::check_name("link", &link.name)?;
    let header = Header::read(txn.store(), group)?;
    let storage = storage(&header, txn.store())?;
    if storage.find(&header, txn.store(), &link.name)?.is_some() {
        return Err(RequestError::Exists { name: link.name }.into());
    }
    match &storage {
        LinkStorage::SymbolTable(table) => insert_symbol(txn, group, table, link),
        LinkStorage::Compact { .. } | LinkStorage::Dense(_) => insert_new(txn, &header, &storage, link),
    }
}

/// Where the hard link `name` of a group leads, if there is one.
pub(in crate::object) fn find_hard(txn: &Txn<'_>, group: Addr, name: &str) -> Result<Option<Addr>> {
    let header = Header::read(txn.store(), group)?;
    let found = storage(&header, txn.store())?.find(&header, txn.store(), name)?;
    Ok(found.and_then(|link| match link.target {
        LinkTarget::Hard(target) => Some(target),
        _ => None,
    }))
}

/// Adds a link to a group of today's kind.
fn insert_new(txn: &mut Txn<'_>, header: &Header, storage: &LinkStorage, mut link: Link) -> Result<()> {
    let group = header.address();
    if let LinkStorage::Dense(info) = storage
        && info.max_creation_order.is_none()
    {
        // The header has nothing to say of the link.
        header.check_writable()?;
        return dense::insert(txn, info, &link, None);
    }
    let count = storage.len(header, txn.store())?;
    let mut change = HeaderChange::new(txn, group)?;
    let mut info = change.find::<LinkInfo>()?.ok_or_else(|| header.lacks("a link info message"))?;
    link.creation_order = info.max_creation_order;
    if let Some(order) = &mut info.max_creation_order {
        *order += 1;
    }
    let widths = header.widths();
    let is_too_much = |change: &HeaderChange<'_, '_>| -> Result<bool> {
        let is_long = link.encoded_len(widths, &()) > LONGEST_MESSAGE;
        Ok(is_long || count >= u64::from(phase_change(change)?.max_compact))
    };
    if info.is_dense() {
        dense::insert(change.txn(), &info, &link, link.creation_order)?;
    } else if is_too_much(&change)? {
        make_dense(&mut change, &mut info)?;
        dense::insert(change.txn(), &info, &link, link.creation_order)?;
    } else {
        change.put(&link, 0)?;
    }
    if change.find::<LinkInfo>()?.as_ref() != Some(&info) {
        change.set(&info)?;
    }
    change.finish().map(|_| ())
}

/// Moves the links of a header into a heap.
fn make_dense(change: &mut HeaderChange<'_, '_>, info: &mut LinkInfo) -> Result<()> {
    dense::create::<Link, _>(change.txn(), info)?;
    while let Some(message) = change.take(kind::LINK)? {
        let link = message.decode_here::<Link>(change.txn().store().widths()).map_err(Error::from_format)?;
        dense::insert(change.txn(), info, &link, link.creation_order)?;
    }
    Ok(())
}

/// Takes a link out of a group.
pub(in crate::object) fn remove(txn: &mut Txn<'_>, group: Addr, name: &str) -> Result<Link> {
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
        LinkStorage::Dense(info) => {
            header.check_writable()?;
            dense::remove::<Link, _>(txn, &info, name, link.creation_order)?;
            make_compact(txn, group, info)?;
        }
        LinkStorage::SymbolTable(table) => {
            header.check_writable()?;
            symbol_table::remove(txn, &table, name)?;
        }
    }
    Ok(link)
}

/// Moves the links of a group back into its header, if they are few and all fit.
fn make_compact(txn: &mut Txn<'_>, group: Addr, mut info: LinkInfo) -> Result<()> {
    let header = Header::read(txn.store(), group)?;
    let storage = LinkStorage::Dense(info.clone());
    let count = storage.len(&header, txn.store())?;
    let few = header.find::<GroupInfo>(txn.store())?.and_then(|info| info.phase_change);
    if count >= u64::from(few.unwrap_or(PhaseChange::DEFAULT).min_dense) {
        return Ok(());
    }
    let mut links = storage.all(&header, txn.store())?;
    if links.iter().any(|link| link.encoded_len(header.widths(), &()) > LONGEST_MESSAGE) {
        return Ok(());
    }
    links.sort_by_key(|link| link.creation_order);
    let mut change = HeaderChange::new(txn, group)?;
    dense::delete(change.txn(), &mut info)?;
    change.set(&info)?;
    links.iter().try_for_each(|link| change.put(link, 0))?;
    change.finish().map(|_| ())
}

/// Adds a link to an old group; one that its table cannot express makes it a group of today's kind.
fn insert_symbol(txn: &mut Txn<'_>, group: Addr, table: &SymbolTable, link: Link) -> Result<()> {
    Header::read(txn.store(), group)?.check_writable()?;
    let target = match &link.target {
        LinkTarget::Hard(target) => {
            let header = Header::read(txn.store(), *target)?;
            SymbolTarget::Hard { header: *target, group: header.find::<SymbolTable>(txn.store())? }
        }
        LinkTarget::Soft(path) => SymbolTarget::Soft(path),
        LinkTarget::External { .. } | LinkTarget::User { .. } => return modernize(txn, group, table, link),
    };
    symbol_table::insert(txn, table, &link.name, target).map(|_| ())
}

/// Makes an old group one of today's kind, as libhdf5 does when a link asks for it, and adds the link. What the superblock
/// repeats of an old root group stays there, as libhdf5 leaves it: readers ask the group.
fn modernize(txn: &mut Txn<'_>, group: Addr, table: &SymbolTable, link: Link) -> Result<()> {
    let header = Header::read(txn.store(), group)?;
    let links = LinkStorage::SymbolTable(*table).all(&header, txn.store())?;
    symbol_table::delete(txn, table)?;
    let mut change = HeaderChange::new(txn, group)?;
    change.take(kind::SYMBOL_TABLE)?;
    let info = LinkInfo {
        max_creation_order: None,
        heap: Addr::UNDEFINED,
        name_index: Addr::UNDEFINED,
        creation_order_index: None,
    };
    change.put(&info, 0)?;
    change.put(&GroupInfo { phase_change: None, estimate: None }, RawMessage::CONSTANT)?;
    change.finish()?;
    links.into_iter().chain([link]).try_for_each(|link| insert(txn, group, link))
}

/// Frees what holds the links of a group that is deleted, but its header.
pub(in crate::object) fn delete(txn: &mut Txn<'_>, links: &LinkStorage) -> Result<()> {
    match links {
        LinkStorage::Compact { .. } => Ok(()),
        LinkStorage::Dense(info) => dense::delete(txn, &mut info.clone()),
        LinkStorage::SymbolTable(table) => symbol_table::delete(txn, table),
    }
}

fn storage(header: &Header, store: &Store) -> Result<LinkStorage> {
    LinkStorage::of(header, store)?.ok_or_else(|| header.lacks("links"))
}

/// When the group's links move between messages and the heap.
fn phase_change(change: &HeaderChange<'_, '_>) -> Result<PhaseChange> {
    let info = change.find::<GroupInfo>()?;
    Ok(info.and_then(|info| info.phase_change).unwrap_or(PhaseChange::DEFAULT))
}

/// A hard link.
pub(in crate::object) fn hard(name: &str, target: Addr) -> Link {
    new(name, LinkTarget::Hard(target))
}

/// A link of any kind.
pub(in crate::object) fn new(name: &str, target: LinkTarget) -> Link {
    let charset = if name.is_ascii() { Charset::Ascii } else { Charset::Utf8 };
    Link { creation_order: None, charset, name: name.to_owned(), target }
}

/// The longest body of a message; a longer link is kept in the heap, whatever their number.
const LONGEST_MESSAGE: usize = 65_000;
