//! Adds links to groups and removes them.

use hyperslab_error::{RequestError, Result};
use hyperslab_format::Addr;
use hyperslab_format::datatype::Charset;
use hyperslab_format::header::RawMessage;
use hyperslab_format::message::dense_info::LinkInfo;
use hyperslab_format::message::group_info::GroupInfo;
use hyperslab_format::message::kind;
use hyperslab_format::message::link::{Link, LinkTarget};
use hyperslab_format::message::small::SymbolTable;
use hyperslab_store::heap::symbol_table::{self, SymbolTarget};
use hyperslab_store::{Store, Txn};

use super::links::LinkStorage;
use crate::object::header::edit::HeaderChange;
use crate::object::header::read::Header;
use crate::object::{dense, limits};

/// Adds a link to the group whose header is at `group`. The group assigns the creation order.
pub(in crate::object) fn insert(txn: &mut Txn<'_>, group: Addr, link: Link) -> Result<()> {
    limits::check_name("link", &link.name)?;
    let header = Header::read(txn.store(), group)?;
    let storage = storage(&header, txn.store())?;
    if storage.find(&header, txn.store(), &link.name)?.is_some() {
        return Err(RequestError::Exists { name: link.name }.into());
    }
    match &storage {
        LinkStorage::SymbolTable(table) => insert_symbol(txn, group, table, link),
        LinkStorage::New(_) => {
            dense::add(txn, &header, link, None, || Err(header.lacks("a link info message")))
        }
    }
}

/// Returns the target of the hard link `name` of a group, if there is one.
pub(in crate::object) fn find_hard(txn: &Txn<'_>, group: Addr, name: &str) -> Result<Option<Addr>> {
    let header = Header::read(txn.store(), group)?;
    let found = storage(&header, txn.store())?.find(&header, txn.store(), name)?;
    Ok(found.and_then(|link| match link.target {
        LinkTarget::Hard(target) => Some(target),
        _ => None,
    }))
}

/// Removes a link from a group.
pub(in crate::object) fn remove(txn: &mut Txn<'_>, group: Addr, name: &str) -> Result<Link> {
    let header = Header::read(txn.store(), group)?;
    let storage = storage(&header, txn.store())?;
    let missing = || RequestError::NoSuchObject { name: name.to_owned() };
    match storage {
        LinkStorage::New(_) => {
            let found = dense::take(txn, &header, name)?;
            Ok(found.map(|(_, link)| link).ok_or_else(missing)?)
        }
        LinkStorage::SymbolTable(table) => {
            let link = storage.find(&header, txn.store(), name)?.ok_or_else(missing)?;
            header.check_writable()?;
            symbol_table::remove(txn, &table, name)?;
            Ok(link)
        }
    }
}

/// Adds a link to a group with a symbol table. A link that a symbol table cannot express converts the group
/// to the new style.
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

/// Converts a group with a symbol table to the new style and adds `link`, as libhdf5 does. If the group is
/// the root group, the superblock keeps its cached symbol table entry, as with libhdf5: readers use the
/// group's header.
fn modernize(txn: &mut Txn<'_>, group: Addr, table: &SymbolTable, link: Link) -> Result<()> {
    let header = Header::read(txn.store(), group)?;
    let links = LinkStorage::SymbolTable(*table).all(&header, txn.store())?;
    symbol_table::delete(txn, table)?;
    let mut change = HeaderChange::new(txn, group)?;
    change.take(kind::SYMBOL_TABLE)?;
    change.put::<LinkInfo>(&dense::none_yet(None, false), 0)?;
    change.put(&GroupInfo { phase_change: None, estimate: None }, RawMessage::CONSTANT)?;
    change.finish()?;
    links.into_iter().chain([link]).try_for_each(|link| insert(txn, group, link))
}

/// Frees the links of a deleted group, except for its header.
pub(in crate::object) fn delete(txn: &mut Txn<'_>, links: LinkStorage) -> Result<()> {
    match links {
        LinkStorage::New(links) => links.delete(txn),
        LinkStorage::SymbolTable(table) => symbol_table::delete(txn, &table),
    }
}

fn storage(header: &Header, store: &Store) -> Result<LinkStorage> {
    LinkStorage::of(header, store)?.ok_or_else(|| header.lacks("links"))
}

/// Makes a hard link.
pub(in crate::object) fn hard(name: &str, target: Addr) -> Link {
    new(name, LinkTarget::Hard(target))
}

/// Makes a link of any kind.
pub(in crate::object) fn new(name: &str, target: LinkTarget) -> Link {
    Link { creation_order: None, charset: Charset::of_name(name), name: name.to_owned(), target }
}
