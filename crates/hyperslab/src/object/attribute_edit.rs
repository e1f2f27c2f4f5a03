//! Attributes that are made, replaced and taken away.

use hyperslab_format::header::RawMessage;
use hyperslab_format::message::attribute::Attribute as AttributeMessage;
use hyperslab_format::message::dense_info::AttributeInfo;
use hyperslab_format::message::kind;
use hyperslab_format::message::shared::{MaybeShared, SharedLocation};
use hyperslab_format::{Addr, Structure};

use super::attribute::{Attribute, Storage};
use super::header_edit::HeaderChange;
use super::header_io::Header;
use super::{NamedDatatype, Object, delete};
use crate::error::{Error, RequestError, Result};
use crate::store::Txn;

impl Object {
    /// Makes an attribute, or puts it in the place of the one that has its name.
    pub fn set_attribute(&self, attribute: &Attribute) -> Result<()> {
        self.set_attribute_of(attribute, None)
    }

    /// As [`set_attribute`](Self::set_attribute), with a datatype that is committed in the same file.
    pub fn set_attribute_of(&self, attribute: &Attribute, committed: Option<&NamedDatatype>) -> Result<()> {
        self.change_attributes(|txn| {
            let message = message(txn, attribute, committed.map(|datatype| datatype.address()));
            if let Some(datatype) = committed {
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
            let mut txn = self.store().begin()?;
            f(&mut txn)?;
            txn.finish()
        };
        change().map_err(|error: Error| error.at(self.path()))
    }
}

/// The message of an attribute, in a version that the object's header goes with.
fn message(txn: &Txn<'_>, attribute: &Attribute, committed: Option<Addr>) -> AttributeMessage {
    let _ = txn;
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

fn charset(name: &str) -> hyperslab_format::datatype::Charset {
    use hyperslab_format::datatype::Charset;
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
        Storage::Dense(_) => Err(Error::unsupported("many or large attributes", "IV.A.2.v")),
    }
}

/// Adds an attribute; `order` is its place in the order of creation, if it had one.
fn insert(txn: &mut Txn<'_>, address: Addr, mut message: AttributeMessage, order: Option<u16>) -> Result<()> {
    let header = Header::read(txn.store(), address)?;
    let storage = Storage::of(&header, txn.store())?;
    let count = storage.len(&header, txn.store())?;
    let widths = header.widths();
    let is_old = header.object_header().version() == 1;
    if is_old && message.charset == hyperslab_format::datatype::Charset::Ascii {
        let is_shared = matches!(message.datatype, MaybeShared::Shared(_));
        message.version = if is_shared { 2 } else { 1 };
        message.dataspace_version = if message.dataspace.here().is_some_and(is_null) { 2 } else { 1 };
    }
    let mut change = HeaderChange::new(txn, address)?;
    let mut order = order;
    if !is_old {
        let mut info = change.find::<AttributeInfo>()?.unwrap_or_else(|| new_info(&header));
        if let (None, Some(next)) = (order, &mut info.max_creation_order) {
            order = Some(*next);
            *next = next
                .checked_add(1)
                .ok_or_else(|| Error::unsupported("65,536 attributes ever made", "IV.A.2.v"))?;
        }
        if change.places(kind::ATTRIBUTE_INFO).next().is_none() {
            change.put(&info, RawMessage::DO_NOT_SHARE)?;
        } else {
            change.set(&info)?;
        }
    }
    let limit = header.phase_change().max_compact;
    let len = message.encoded_len(widths, &());
    if !is_old && (count >= u64::from(limit) || len > LONGEST_MESSAGE) {
        return Err(Error::unsupported("many or large attributes", "IV.A.2.v"));
    }
    if len > LONGEST_MESSAGE {
        let why =
            "in an object of this age it has less than 64 KiB: make the file with libver=\"v108\" or later";
        return Err(RequestError::Argument { what: format!("attribute of {len} bytes"), why }.into());
    }
    let mut raw = super::file_write::message(&message, 0, widths);
    raw.creation_order = order;
    change.put_raw(raw)?;
    change.finish().map(|_| ())
}

fn is_null(dataspace: &hyperslab_format::message::dataspace::Dataspace) -> bool {
    *dataspace == hyperslab_format::message::dataspace::Dataspace::Null
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
fn add_reference(txn: &mut Txn<'_>, datatype: Addr, change: i32) -> Result<()> {
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
pub(super) fn delete(txn: &mut Txn<'_>, header: &Header, targets: &mut Vec<Addr>) -> Result<()> {
    let storage = Storage::of(header, txn.store())?;
    storage.visit(header, txn.store(), &mut |_, message| {
        if let MaybeShared::Shared(SharedLocation::Header(datatype)) = message.datatype {
            targets.push(datatype);
        }
    })?;
    match storage {
        Storage::Compact => Ok(()),
        Storage::Dense(_) => Err(Error::unsupported("many or large attributes", "IV.A.2.v")),
    }
}

/// The longest body of a message.
const LONGEST_MESSAGE: usize = 65_000;
