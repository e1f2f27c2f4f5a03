//! Dimension scales: datasets that give the coordinates along an axis of another (HDF5 Dimension Scale Specification).
//!
//! They are a convention about attributes: `DIMENSION_LIST` of a dataset; `CLASS`, `NAME` and `REFERENCE_LIST` of a scale, which
//! says where it is attached.

use hyperslab_format::Writer;
use hyperslab_format::datatype::{
    Charset, Compound, Datatype, Member, Padding, Reference, ReferenceKind, Text,
};
use hyperslab_format::message::dataspace::Dataspace;

use crate::error::{RequestError, Result};
use crate::object::{Attribute, Dataset};
use crate::types::Element;

const LIST: &str = "DIMENSION_LIST";
const USERS: &str = "REFERENCE_LIST";
/// A record of `REFERENCE_LIST`: a reference, the number of an axis, and as libhdf5 has it, bytes that fill it up.
const USER_BYTES: usize = 16;

impl Attribute {
    /// A string of fixed length that ends with a zero byte, as libhdf5's own conventions have it.
    pub fn text(name: impl Into<String>, text: &str) -> Self {
        let mut data = text.as_bytes().to_vec();
        data.push(0);
        let charset = if text.is_ascii() { Charset::Ascii } else { Charset::Utf8 };
        let size = u32::try_from(data.len()).unwrap_or(u32::MAX);
        let datatype = Datatype::Text(Text { size, padding: Padding::NullTerminated, charset });
        Self { name: name.into(), datatype, dataspace: Dataspace::Scalar, data }
    }

    /// A number.
    pub fn number<T: Element>(name: impl Into<String>, number: T) -> Self {
        Self { dataspace: Dataspace::Scalar, ..Self::numbers(name, &[number]) }
    }

    /// Numbers, one after another.
    pub fn numbers<T: Element>(name: impl Into<String>, numbers: &[T]) -> Self {
        let dataspace = Dataspace::Simple { shape: vec![numbers.len() as u64], max_shape: None };
        Self { name: name.into(), datatype: T::datatype(), dataspace, data: T::bytes(numbers).to_vec() }
    }
}

impl Dataset {
    /// Makes the dataset a dimension scale of this name.
    pub fn make_scale(&self, name: &str) -> Result<()> {
        if self.has_attribute(LIST)? {
            return Err(argument(self, "it has scales itself, and cannot be one"));
        }
        self.set_attribute(&Attribute::text("CLASS", "DIMENSION_SCALE"))?;
        self.set_attribute(&Attribute::text("NAME", name))
    }

    /// Attaches a dimension scale to an axis, after those that it has already.
    pub fn attach_scale(&self, axis: usize, scale: &Self) -> Result<()> {
        let rank = self.shape().len();
        if axis >= rank {
            return Err(argument(self, "it has no such axis"));
        }
        if !scale.has_attribute("CLASS")? {
            return Err(argument(scale, "it is no dimension scale yet"));
        }
        let mut lists = vec![Vec::new(); rank];
        let mut old = Vec::new();
        if self.has_attribute(LIST)? {
            old = self.file().vlen_ids(&self.attribute(LIST)?.data)?;
            let size = self.file().object_reference(self)?.len();
            for (list, found) in lists.iter_mut().zip(self.file().vlen_many(&old, size)?) {
                *list = found;
            }
        }
        let reference = self.file().object_reference(scale)?;
        let size = reference.len();
        if lists[axis].chunks(size).any(|known| known == reference) {
            return Ok(());
        }
        lists[axis].extend(reference);
        let object = Datatype::Reference(Reference {
            size: u32::try_from(size).unwrap_or(u32::MAX),
            kind: ReferenceKind::Object1,
        });
        let ids = self.file().put_vlen(&lists, size)?;
        self.set_attribute(&Attribute {
            name: LIST.to_owned(),
            datatype: Datatype::Sequence(Box::new(object.clone())),
            dataspace: Dataspace::Simple { shape: vec![rank as u64], max_shape: None },
            data: self.file().vlen_stored(&ids),
        })?;
        self.file().remove_vlen(&old)?;
        scale.add_user(self, axis, object)
    }

    /// Notes in a scale that it is attached to an axis of a dataset.
    fn add_user(&self, user: &Self, axis: usize, object: Datatype) -> Result<()> {
        let mut users = if self.has_attribute(USERS)? { self.attribute(USERS)?.data } else { Vec::new() };
        let widths = self.store().widths();
        let start = users.len();
        Writer::new(&mut users, widths).addr(user.address());
        users.resize(start + USER_BYTES / 2, 0);
        users.extend(u32::try_from(axis).unwrap_or(u32::MAX).to_ne_bytes());
        users.resize(start + USER_BYTES, 0);
        let member = |name: &str, offset: usize, datatype| Member {
            name: name.to_owned(),
            offset: u32::try_from(offset).unwrap_or(u32::MAX),
            datatype,
        };
        let members =
            vec![member("dataset", 0, object), member("dimension", USER_BYTES / 2, u32::datatype())];
        let dataspace = Dataspace::Simple { shape: vec![(users.len() / USER_BYTES) as u64], max_shape: None };
        self.set_attribute(&Attribute {
            name: USERS.to_owned(),
            datatype: Datatype::Compound(Compound { size: 16, members }),
            dataspace,
            data: users,
        })
    }
}

fn argument(dataset: &Dataset, why: &'static str) -> crate::Error {
    RequestError::Argument { what: format!("dataset {:?}", dataset.path()), why }.into()
}
