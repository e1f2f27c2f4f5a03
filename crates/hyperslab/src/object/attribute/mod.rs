//! Attributes, stored in messages of the header, or in a fractal heap with a B-tree over hashes of names.

pub(in crate::object) mod edit;
pub(in crate::object) mod value;

use hyperslab_convert::Scalar;
use hyperslab_error::{Error, RequestError, Result};
use hyperslab_format::Addr;
use hyperslab_format::datatype::{Charset, Datatype, Padding, Text};
use hyperslab_format::message::attribute::Attribute as AttributeMessage;
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::name;

use super::dense::Storage;
use super::header;
use super::header::read::Header;
use super::{Object, dataset};

/// An attribute with its value.
///
/// ```
/// let file = hyperslab::File::in_memory()?;
/// file.root().set_attribute("bounds", [5.9, 15.0])?;
/// let attribute = file.root().attribute("bounds")?;
/// assert_eq!(attribute.data.len(), 16);
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute {
    /// The name.
    pub name: String,
    /// The datatype of the elements; a committed one is resolved.
    pub datatype: Datatype,
    /// The shape.
    pub dataspace: Dataspace,
    /// The stored elements. Those of variable length are ids of objects in the global heap.
    pub data: Vec<u8>,
}

impl Attribute {
    /// Makes a scalar attribute: a string of fixed length that ends with a zero byte, as libhdf5 stores it.
    pub fn text(name: impl Into<String>, text: &str) -> Self {
        let mut data = text.as_bytes().to_vec();
        data.push(0);
        let charset = if text.is_ascii() { Charset::Ascii } else { Charset::Utf8 };
        let size = u32::try_from(data.len()).unwrap_or(u32::MAX);
        let datatype = Datatype::Text(Text { size, padding: Padding::NullTerminated, charset });
        Self { name: name.into(), datatype, dataspace: Dataspace::Scalar, data }
    }

    /// Makes a scalar attribute with one number.
    pub fn number<T: Scalar>(name: impl Into<String>, number: T) -> Self {
        Self { dataspace: Dataspace::Scalar, ..Self::numbers(name, &[number]) }
    }

    /// Makes a one-dimensional attribute with these numbers.
    pub fn numbers<T: Scalar>(name: impl Into<String>, numbers: &[T]) -> Self {
        let dataspace = Dataspace::Simple { shape: vec![numbers.len() as u64], max_shape: None };
        Self { name: name.into(), datatype: T::datatype(), dataspace, data: T::bytes(numbers).to_vec() }
    }
}

impl Object {
    /// Returns the names of all attributes, in creation order if the object tracks it, else sorted.
    ///
    /// ```
    /// let file = hyperslab::File::in_memory()?;
    /// file.root().set_attribute("version", 3)?;
    /// assert_eq!(file.root().attribute_names()?, ["version"]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn attribute_names(&self) -> Result<Vec<String>> {
        let names =
            |messages: Vec<AttributeMessage>| messages.into_iter().map(|message| message.name).collect();
        self.with_attributes(|storage, header| self.attribute_messages(storage, header).map(names))
    }

    /// Returns the names of at most `most` attributes, and the number of all, without reading more of an
    /// object with many.
    ///
    /// They are the first ones of [`attribute_names`](Self::attribute_names), unless there are many and the
    /// object has no index of their order.
    ///
    /// ```
    /// let file = hyperslab::File::in_memory()?;
    /// file.root().set_attribute("version", 3)?;
    /// assert_eq!(file.root().some_attribute_names(9)?, (vec!["version".to_owned()], 1));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn some_attribute_names(&self, most: usize) -> Result<(Vec<String>, u64)> {
        self.with_attributes(|storage, header| {
            let count = storage.len(header, self.store())?;
            let some = self.sorted(storage.some(header, self.store(), most)?);
            Ok((some.into_iter().take(most).map(|message| message.name).collect(), count))
        })
    }

    /// Returns all attributes in the order of [`attribute_names`](Self::attribute_names).
    pub fn attributes(&self) -> Result<Vec<Attribute>> {
        self.with_attributes(|storage, header| {
            let messages = self.attribute_messages(storage, header)?;
            messages.into_iter().map(|message| self.resolve(header, message)).collect()
        })
    }

    /// Returns the attribute `name`, if there is one.
    pub(super) fn found_attribute(&self, name: &str) -> Result<Option<Attribute>> {
        self.with_attributes(|storage, header| {
            let found = storage.find(header, self.store(), name)?;
            found.map(|message| self.resolve(header, message)).transpose()
        })
    }

    /// Returns the attribute `name`.
    pub fn attribute(&self, name: &str) -> Result<Attribute> {
        let missing = || Error::from(RequestError::NoSuchAttribute { name: name.to_owned() }).at(self.path());
        self.found_attribute(name)?.ok_or_else(missing)
    }

    /// Whether there is an attribute `name`.
    pub fn has_attribute(&self, name: &str) -> Result<bool> {
        self.with_attributes(|storage, header| Ok(storage.find(header, self.store(), name)?.is_some()))
    }

    /// Returns the address of the committed datatype of the attribute `name`, if it uses one.
    #[doc(hidden)]
    pub fn committed_datatype_of_attribute(&self, name: &str) -> Result<Option<Addr>> {
        self.with_attributes(|storage, header| {
            let found = storage.find(header, self.store(), name)?;
            Ok(found.and_then(|message| header::read::shared_in(&message.datatype)))
        })
    }

    /// Returns the number of attributes.
    pub fn attribute_count(&self) -> Result<u64> {
        self.with_attributes(|storage, header| storage.len(header, self.store()))
    }

    /// Whether the object stores the creation order of its attributes. If so, they are listed in this order.
    pub fn tracks_attribute_order(&self) -> bool {
        // This property of a header never changes, so the cached header may be used.
        self.header.read().value.tracks_attribute_order()
    }

    /// Returns all attributes as they are stored, in the order of [`attribute_names`](Self::attribute_names).
    pub(super) fn stored_attributes(&self) -> Result<Vec<AttributeMessage>> {
        self.with_attributes(|storage, header| self.attribute_messages(storage, header))
    }

    /// Runs `f` on the current attributes.
    fn with_attributes<T>(
        &self,
        f: impl FnOnce(&Storage<AttributeMessage>, &Header) -> Result<T>,
    ) -> Result<T> {
        let _reading = self.store().reading();
        let result = self.header().and_then(|header| {
            let storage = Storage::of(&header, self.store())?;
            f(&storage, &header)
        });
        result.map_err(|error| error.at(self.path()))
    }

    fn attribute_messages(
        &self,
        storage: &Storage<AttributeMessage>,
        header: &Header,
    ) -> Result<Vec<AttributeMessage>> {
        let mut found = Vec::new();
        storage.visit(header, self.store(), &mut |order, message| found.push((order, message)))?;
        Ok(self.sorted(found))
    }

    /// Returns attributes, each with its creation order, in the order of
    /// [`attribute_names`](Self::attribute_names).
    fn sorted(&self, mut found: Vec<(u64, AttributeMessage)>) -> Vec<AttributeMessage> {
        if self.tracks_attribute_order() {
            found.sort_by_key(|(order, _)| *order);
        } else {
            found.sort_by(|(_, a), (_, b)| name::order(&a.name, &b.name));
        }
        found.into_iter().map(|(_, message)| message).collect()
    }

    /// Returns the attribute that a message describes, with its shared types read. Cuts the data to their
    /// length, because messages in version 1 headers are padded.
    pub(super) fn resolve(&self, header: &Header, message: AttributeMessage) -> Result<Attribute> {
        let store = self.store();
        let AttributeMessage { name, datatype, dataspace, mut data, .. } = message;
        let datatype = header::read::resolve(datatype, store)?;
        let dataspace = header::read::resolve(dataspace, store)?;
        let len = dataset::byte_count(&dataspace, &datatype, store).filter(|&len| len <= data.len() as u64);
        let Some(len) = len.and_then(|len| usize::try_from(len).ok()) else {
            return Err(header.lacks("a part of the value of an attribute"));
        };
        data.truncate(len);
        Ok(Attribute { name, datatype, dataspace, data })
    }
}
