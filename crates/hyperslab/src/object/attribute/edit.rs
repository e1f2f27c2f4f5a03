//! Creates, replaces, renames and removes attributes.

use hyperslab_error::{RequestError, Result};
use hyperslab_format::datatype::Charset;
use hyperslab_format::message::attribute::Attribute as AttributeMessage;
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::message::dense_info::AttributeInfo;
use hyperslab_format::message::shared::{MaybeShared, SharedLocation};
use hyperslab_format::{Addr, Structure, Widths};
use hyperslab_store::Txn;

use super::Attribute;
use crate::object::dense::{LONGEST_MESSAGE, Storage};
use crate::object::header::edit::{HeaderChange, add_reference};
use crate::object::header::read::Header;
use crate::object::{NamedDatatype, Object, delete, dense, limits, shared};

impl Object {
    /// Creates an attribute, or replaces the one with the same name.
    pub fn put_attribute(&self, attribute: &Attribute) -> Result<()> {
        self.put_attribute_of(attribute, None)
    }

    /// Like [`put_attribute`](Self::put_attribute), but with a committed datatype of the same file.
    #[doc(hidden)]
    pub fn put_attribute_of(&self, attribute: &Attribute, committed: Option<&NamedDatatype>) -> Result<()> {
        self.change_attributes(|txn| {
            check_size(attribute, self.store().widths())?;
            let message = message(attribute, committed.map(|datatype| datatype.address()));
            if let Some(datatype) = committed {
                datatype.check_alive()?;
                limits::check_committed(datatype, self.store())?;
                add_reference(txn, datatype.address(), 1)?;
            }
            let old = take(txn, self.address(), &attribute.name)?;
            if let Some((_, old)) = &old {
                forget_parts(txn, old)?;
            }
            insert(txn, self.address(), message, old.and_then(|(order, _)| order))
        })
    }

    /// Removes an attribute.
    ///
    /// ```
    /// let file = hyperslab::File::in_memory()?;
    /// file.root().set_attribute("version", 3)?;
    /// file.root().remove_attribute("version")?;
    /// assert!(!file.root().has_attribute("version")?);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn remove_attribute(&self, name: &str) -> Result<()> {
        self.change_attributes(|txn| {
            let old = take(txn, self.address(), name)?;
            let (_, old) = old.ok_or_else(|| RequestError::NoSuchAttribute { name: name.to_owned() })?;
            forget_parts(txn, &old)
        })
    }

    /// Renames an attribute. Its value and its creation order stay the same.
    pub fn rename_attribute(&self, from: &str, to: &str) -> Result<()> {
        self.change_attributes(|txn| {
            if self.has_attribute(to)? {
                return Err(RequestError::Exists { name: to.to_owned() }.into());
            }
            let old = take(txn, self.address(), from)?;
            let (order, mut message) =
                old.ok_or_else(|| RequestError::NoSuchAttribute { name: from.to_owned() })?;
            to.clone_into(&mut message.name);
            message.charset = Charset::of_name(to);
            insert(txn, self.address(), message, order)
        })
    }

    fn change_attributes(&self, f: impl FnOnce(&mut Txn<'_>) -> Result<()>) -> Result<()> {
        self.step(f).map_err(|error| error.at(self.path()))
    }
}

/// Checks that the data are as many elements as the dataspace has.
fn check_size(attribute: &Attribute, widths: Widths) -> Result<()> {
    let size = attribute.datatype.size(widths);
    let expected = attribute.dataspace.elements().and_then(|elements| elements.checked_mul(size));
    let found = attribute.data.len() as u64;
    if expected == Some(found) {
        return Ok(());
    }
    let expected = expected.unwrap_or(u64::MAX);
    Err(RequestError::SourceSize { expected, found }.into())
}

/// Makes the message of an attribute.
fn message(attribute: &Attribute, committed: Option<Addr>) -> AttributeMessage {
    let datatype = match committed {
        Some(address) => MaybeShared::Shared(SharedLocation::Header(address)),
        None => MaybeShared::Here(attribute.datatype.clone()),
    };
    AttributeMessage {
        version: 3,
        name: attribute.name.clone(),
        charset: Charset::of_name(&attribute.name),
        datatype,
        dataspace: MaybeShared::Here(attribute.dataspace.clone()),
        dataspace_version: 2,
        data: attribute.data.clone(),
    }
}

/// Removes the attribute `name` and returns it with its creation order, if there is one.
fn take(txn: &mut Txn<'_>, address: Addr, name: &str) -> Result<Option<(Option<u64>, AttributeMessage)>> {
    let header = Header::read(txn.store(), address)?;
    dense::take(txn, &header, name)
}

/// Adds an attribute. `order` is its creation order if it replaces an attribute that had one.
pub(in crate::object) fn insert(
    txn: &mut Txn<'_>,
    address: Addr,
    mut message: AttributeMessage,
    order: Option<u64>,
) -> Result<()> {
    let header = Header::read(txn.store(), address)?;
    let widths = header.widths();
    limits::check_attribute(&message, widths)?;
    let is_old = header.object_header().version() == 1;
    if is_old && message.charset == Charset::Ascii {
        let is_shared = matches!(message.datatype, MaybeShared::Shared(_));
        message.version = if is_shared { 2 } else { 1 };
        message.dataspace_version = if message.dataspace.here() == Some(&Dataspace::Null) { 2 } else { 1 };
    }
    if !is_old {
        return dense::add(txn, &header, message, order, || Ok(new_info(&header)));
    }
    let len = message.encoded_len(widths, &());
    if len > LONGEST_MESSAGE {
        let why =
            "must be smaller than 64 KiB in this file format: create the file with libver=\"v108\" or later";
        return Err(RequestError::LongAttribute { what: "attribute", len, why }.into());
    }
    let mut change = HeaderChange::new(txn, address)?;
    change.put(&message, 0)?;
    change.finish().map(drop)
}

fn new_info(header: &Header) -> AttributeInfo {
    let tracks = header.tracks_attribute_order();
    dense::none_yet(tracks.then_some(0), header.indexes_attribute_order())
}

/// Gives up what a removed attribute shared: its committed datatype, and messages in the file's heap.
fn forget_parts(txn: &mut Txn<'_>, message: &AttributeMessage) -> Result<()> {
    let mut targets = Vec::new();
    shared::release_parts(txn, message, &mut targets)?;
    targets.into_iter().try_for_each(|datatype| delete::unlink(txn, datatype).map(drop))
}

/// Frees the attributes of a deleted object. Adds the committed datatypes that they use to `targets`.
pub(in crate::object) fn delete(txn: &mut Txn<'_>, header: &Header, targets: &mut Vec<Addr>) -> Result<()> {
    let storage = Storage::<AttributeMessage>::of(header, txn.store())?;
    for found in storage.all(header, txn.store())? {
        match found.shared {
            Some(id) => shared::release_attribute(txn, id, targets)?,
            None => shared::release_parts(txn, &found.value, targets)?,
        }
    }
    storage.delete(txn)
}
