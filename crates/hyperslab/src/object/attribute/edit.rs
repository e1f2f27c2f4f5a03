//! Attributes that are made, replaced and taken away.

use hyperslab_format::datatype::Charset;
use hyperslab_format::header::RawMessage;
use hyperslab_format::message::attribute::Attribute as AttributeMessage;
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::message::dense_info::AttributeInfo;
use hyperslab_format::message::kind;
use hyperslab_format::message::shared::{MaybeShared, SharedLocation};
use hyperslab_format::{Addr, Structure};

use super::{Attribute, Storage};
use crate::error::{Error, RequestError, Result};
use crate::object::header::edit::HeaderChange;
use crate::object::header::read::Header;
use crate::object::{NamedDatatype, Object, delete, dense, limits};
use crate::store::Txn;

impl Object {
    /// Makes an attribute, or puts it in the place of the one that has its name.
    pub fn set_attribute(&self, attribute: &Attribute) -> Result<()> {
        self.set_attribute_of(attribute, None)
    }

    /// As [`set_attribute`](Self::set_attribute), with a datatype that is committed in the same file.
    pub fn set_attribute_of(&self, attribute: &Attribute, committed: Option<&NamedDatatype>) -> Result<()> {
        self.change_attributes(|txn| {
            let message = message(attribute, committed.map(|datatype| datatype.address()));
            if let Some(datatype) = committed {
                datatype.check_alive()?;
                add_reference(txn, datatype.address(), 1)?;
            }
            let old = take(txn, self.address(), &attribute.name)?;
            if let Some((old, _)) = &old {
                forget_type(txn, old)?;
            }
            insert(txn, self.address(), message, old.and_then(|(_, order)| order))
        })
    }

    /// Takes an attribute away.
    pub fn remove_attribute(&self, name: &str) -> Result<()> {
        self.change_attributes(|txn| {
            let old = take(txn, self.address(), name)?;
            let (old, _) = old.ok_or_else(|| RequestError::NoSuchAttribute { name: name.to_owned() })?;
            forget_type(txn, &old)
        })
    }

    /// Gives an attribute another name; its value and its place in the order of creation stay.
    pub fn rename_attribute(&self, from: &str, to: &str) -> Result<()> {
        self.change_attributes(|txn| {
            if self.has_attribute(to)? {
                return Err(RequestError::Exists { name: to.to_owned() }.into());
            }
            let old = take(txn, self.address(), from)?;
            let (mut message, order) =
                old.ok_or_else(|| RequestError::NoSuchAttribute { name: from.to_owned() })?;
            to.clone_into(&mut message.name);
            message.charset = charset(to);
            insert(txn, self.address(), message, order)
        })
    }

    fn change_attributes(&self, f: impl FnOnce(&mut Txn<'_>) -> Result<()>) -> Result<()> {
        let change = || {
            let mut txn = self.begin()?;
            f(&mut txn)?;
            txn.finish()
        };
        change().map_err(|error: Error| error.at(self.path()))
    }
}

/// The message of an attribute.
fn message(attribute: &Attribute, committed: Option<Addr>) -> AttributeMessage {
    let datatype = match committed {
        Some(address) => MaybeShared::Shared(SharedLocation::Header(address)),
        None => MaybeShared::Here(attribute.datatype.clone()),
    };
    AttributeMessage {
        version: 3,
        name: attribute.name.clone(),
        charset: charset(&attribute.name),
        datatype,
        dataspace: MaybeShared::Here(attribute.dataspace.clone()),
        dataspace_version: 2,
        data: attribute.data.clone(),
    }
}

fn charset(name: &str) -> Charset {
    if name.is_ascii() { Charset::Ascii } else { Charset::Utf8 }
}

/// Takes out the attribute `name`, if there is one; and its place in the order of creation.
fn take(txn: &mut Txn<'_>, address: Addr, name: &str) -> Result<Option<(AttributeMessage, Option<u16>)>> {
    let header = Header::read(txn.store(), address)?;
    match Storage::of(&header, txn.store())? {
        Storage::Compact => {
            let widths = header.widths();
            let mut change = HeaderChange::new(txn, address)?;
            let mut found = None;
            for (place, message) in change.places(kind::ATTRIBUTE) {
                let attribute =
                    message.decode_here::<AttributeMessage>(widths).map_err(Error::from_format)?;
                if attribute.name == name {
                    found = Some((place, attribute, message.creation_order));
                    break;
                }
            }
            let Some((place, attribute, order)) = found else { return Ok(None) };
            change.remove(place)?;
            change.finish()?;
            Ok(Some((attribute, order)))
        }
        Storage::Dense(info) => {
            header.check_writable()?;
            let mut found = None;
            storage_of(&info).visit(&header, txn.store(), &mut |order, message| {
                if message.name == name {
                    found = Some((message, order));
                }
            })?;
            let Some((attribute, order)) = found else { return Ok(None) };
            let order = info.max_creation_order.and_then(|_| u16::try_from(order).ok());
            dense::remove::<AttributeMessage, _>(txn, &info, name, order.map(u64::from))?;
            make_compact(txn, &header, info)?;
            Ok(Some((attribute, order)))
        }
    }
}

fn storage_of(info: &AttributeInfo) -> Storage {
    Storage::Dense(info.clone())
}

/// Moves the attributes of an object back into its header, if they are few and all fit.
fn make_compact(txn: &mut Txn<'_>, header: &Header, mut info: AttributeInfo) -> Result<()> {
    let storage = storage_of(&info);
    if storage.len(header, txn.store())? >= u64::from(header.phase_change().min_dense) {
        return Ok(());
    }
    let mut attributes = Vec::new();
    storage.visit(header, txn.store(), &mut |order, message| attributes.push((order, message)))?;
    if attributes.iter().any(|(_, message)| message.encoded_len(header.widths(), &()) > LONGEST_MESSAGE) {
        return Ok(());
    }
    attributes.sort_by_key(|(order, _)| *order);
    let is_tracked = info.max_creation_order.is_some();
    let mut change = HeaderChange::new(txn, header.address())?;
    dense::delete(change.txn(), &mut info)?;
    change.set(&info)?;
    for (order, message) in attributes {
        let order = u16::try_from(order).ok().filter(|_| is_tracked);
        change.put_raw(raw(&message, order, header))?;
    }
    change.finish().map(|_| ())
}

/// The message of an attribute as a header stores it.
fn raw(message: &AttributeMessage, order: Option<u16>, header: &Header) -> RawMessage {
    RawMessage { creation_order: order, ..crate::object::file::create::message(message, 0, header.widths()) }
}

/// Adds an attribute; `order` is its place in the order of creation, if it had one.
pub(in crate::object) fn insert(
    txn: &mut Txn<'_>,
    address: Addr,
    mut message: AttributeMessage,
    order: Option<u16>,
) -> Result<()> {
    let header = Header::read(txn.store(), address)?;
    let widths = header.widths();
    limits::check_attribute(&message, widths)?;
    let storage = Storage::of(&header, txn.store())?;
    let count = storage.len(&header, txn.store())?;
    let is_old = header.object_header().version() == 1;
    if is_old && message.charset == Charset::Ascii {
        let is_shared = matches!(message.datatype, MaybeShared::Shared(_));
        message.version = if is_shared { 2 } else { 1 };
        message.dataspace_version = if message.dataspace.here().is_some_and(is_null) { 2 } else { 1 };
    }
    let len = message.encoded_len(widths, &());
    if is_old {
        if len > LONGEST_MESSAGE {
            let why = "in an object of this age it has less than 64 KiB: make the file with libver=\"v108\" or later";
            return Err(RequestError::Argument { what: format!("attribute of {len} bytes"), why }.into());
        }
        let mut change = HeaderChange::new(txn, address)?;
        change.put_raw(raw(&message, None, &header))?;
        return change.finish().map(|_| ());
    }
    let mut change = HeaderChange::new(txn, address)?;
    let known = change.find::<AttributeInfo>()?;
    let mut info = known.clone().unwrap_or_else(|| new_info(&header));
    let mut order = order;
    if let (None, Some(next)) = (order, &mut info.max_creation_order) {
        order = Some(*next);
        let full = || Error::unsupported("an object that has had 65,536 attributes", "IV.A.2.v");
        *next = next.checked_add(1).ok_or_else(full)?;
    }
    if !info.is_dense() && (count >= u64::from(header.phase_change().max_compact) || len > LONGEST_MESSAGE) {
        make_dense(&mut change, &mut info)?;
    }
    // Before the attribute, as libhdf5 has it.
    match known {
        None => change.put(&info, RawMessage::DO_NOT_SHARE)?,
        Some(known) if known != info => change.set(&info)?,
        Some(_) => {}
    }
    if info.is_dense() {
        dense::insert(change.txn(), &info, &message, order.map(u64::from))?;
    } else {
        change.put_raw(raw(&message, order, &header))?;
    }
    change.finish().map(|_| ())
}

/// Moves the attributes of a header into a heap.
fn make_dense(change: &mut HeaderChange<'_, '_>, info: &mut AttributeInfo) -> Result<()> {
    dense::create::<AttributeMessage, _>(change.txn(), info)?;
    while let Some(message) = change.take(kind::ATTRIBUTE)? {
        let widths = change.txn().store().widths();
        let attribute = message.decode_here::<AttributeMessage>(widths).map_err(Error::from_format)?;
        let order = info.max_creation_order.and(message.creation_order).map(u64::from);
        dense::insert(change.txn(), info, &attribute, order)?;
    }
    Ok(())
}

fn is_null(dataspace: &Dataspace) -> bool {
    *dataspace == Dataspace::Null
}

fn new_info(header: &Header) -> AttributeInfo {
    let tracks = header.tracks_attribute_order();
    AttributeInfo {
        max_creation_order: tracks.then_some(0),
        heap: Addr::UNDEFINED,
        name_index: Addr::UNDEFINED,
        creation_order_index: header.indexes_attribute_order().then_some(Addr::UNDEFINED),
    }
}

/// A committed datatype counts who uses it among its links.
pub(in crate::object) fn add_reference(txn: &mut Txn<'_>, datatype: Addr, change: i32) -> Result<()> {
    let mut header = HeaderChange::new(txn, datatype)?;
    header.add_references(change)?;
    header.finish().map(|_| ())
}

fn forget_type(txn: &mut Txn<'_>, message: &AttributeMessage) -> Result<()> {
    match message.datatype {
        MaybeShared::Shared(SharedLocation::Header(datatype)) => delete::unlink(txn, datatype).map(|_| ()),
        _ => Ok(()),
    }
}

/// Frees the attributes of an object that is deleted; `targets` gets the committed datatypes that they use.
pub(in crate::object) fn delete(txn: &mut Txn<'_>, header: &Header, targets: &mut Vec<Addr>) -> Result<()> {
    let storage = Storage::of(header, txn.store())?;
    storage.visit(header, txn.store(), &mut |_, message| {
        if let MaybeShared::Shared(SharedLocation::Header(datatype)) = message.datatype {
            targets.push(datatype);
        }
    })?;
    match storage {
        Storage::Compact => Ok(()),
        Storage::Dense(info) => dense::delete(txn, &mut info.clone()),
    }
}

/// The longest body of a message.
const LONGEST_MESSAGE: usize = 65_000;
