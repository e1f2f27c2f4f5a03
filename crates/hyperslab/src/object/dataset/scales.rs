//! Dimension scales: datasets with the coordinates along an axis of another dataset; and the labels of axes
//! (HDF5 Dimension Scale Specification).
//!
//! Scales are a convention about attributes: `DIMENSION_LABELS` and `DIMENSION_LIST` of a dataset; `CLASS`,
//! `NAME` and `REFERENCE_LIST` of a scale, which lists the datasets with this scale. Each attribute is
//! changed under the lock of the data of its dataset.

use hyperslab_convert::{Conversion, Scalar};
use hyperslab_error::{Error, RequestError, Result};
use hyperslab_format::datatype::{
    Charset, Compound, Datatype, Member, Padding, Reference, ReferenceKind, VariableText,
};
use hyperslab_format::heap::global::VariableElement;
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::{Addr, Writer};

use crate::object::{Attribute, Dataset, Node};

const CLASS: &str = "CLASS";
const NAME: &str = "NAME";
const LABELS: &str = "DIMENSION_LABELS";
const LIST: &str = "DIMENSION_LIST";
const USERS: &str = "REFERENCE_LIST";
/// The value of `CLASS`.
const SCALE: &str = "DIMENSION_SCALE";
/// A record of `REFERENCE_LIST`: a reference, the number of an axis, and padding as in libhdf5.
const USER_BYTES: usize = 16;

/// The references to the scales of each axis, the size of a reference, and the stored ids.
struct Lists {
    kind: Reference,
    of_axes: Vec<Vec<u8>>,
    stored: Vec<VariableElement>,
}

impl Dataset {
    /// Returns whether the dataset is a dimension scale.
    pub fn is_scale(&self) -> Result<bool> {
        let class = self.found_attribute(CLASS)?;
        let is_text = |class: &Attribute| matches!(class.datatype, Datatype::Text(_));
        Ok(class.is_some_and(|class| is_text(&class) && class.data.starts_with(SCALE.as_bytes())))
    }

    /// Makes the dataset a dimension scale of this name, or gives a scale another name.
    pub fn make_scale(&self, name: &str) -> Result<()> {
        if self.has_attribute(LIST)? {
            return Err(argument(self, "it has scales itself, and cannot be one"));
        }
        if name.contains('\0') {
            return Err(argument(
                self,
                "the name of a scale ends at its first zero byte: leave the zero out",
            ));
        }
        self.put_attribute(&Attribute::text(CLASS, SCALE))?;
        self.put_attribute(&Attribute::text(NAME, name))
    }

    /// Returns the name of a scale, in bytes that are usually UTF-8. A scale without a name has an empty
    /// name.
    pub fn scale_name(&self) -> Result<Vec<u8>> {
        let name = self.found_attribute(NAME)?;
        name.map_or(Ok(Vec::new()), |name| Ok(self.texts(&name)?.into_iter().next().unwrap_or_default()))
    }

    /// Returns the scales of an axis, in the order in which they were attached. References that lead to no
    /// scale are left out: those to scales that were deleted, or that a copy of this dataset left behind.
    pub fn scales(&self, axis: usize) -> Result<Vec<Self>> {
        self.check_axis(axis)?;
        let _reading = self.file().reading_vlen();
        let lists = self.lists()?;
        let references = lists.of_axes[axis].chunks(lists.kind.size as usize);
        references.filter_map(|stored| self.scale_at(lists.kind, stored).transpose()).collect()
    }

    /// Returns the addresses of the scales of each axis.
    pub(in crate::object) fn addresses_of_scales(&self) -> Result<Vec<Vec<Addr>>> {
        if !self.has_attribute(LIST)? {
            return Ok(Vec::new());
        }
        let _reading = self.file().reading_vlen();
        let Lists { kind, of_axes, .. } = self.lists()?;
        let at = |list: &Vec<u8>| {
            let stored = list.chunks(kind.size as usize);
            let scales = stored.filter_map(|stored| self.scale_at(kind, stored).transpose());
            scales.map(|scale| Ok(scale?.address())).collect()
        };
        of_axes.iter().map(at).collect()
    }

    /// Returns the scale that a stored reference leads to, or `None` if it leads to something else or
    /// nowhere.
    fn scale_at(&self, kind: Reference, stored: &[u8]) -> Result<Option<Self>> {
        match self.file().dereference_if_found(&kind, stored)? {
            Some(Node::Dataset(dataset)) => Ok(dataset.is_scale()?.then_some(dataset)),
            _ => Ok(None),
        }
    }

    /// Attaches a scale to an axis, after the other scales of the axis. A plain dataset becomes a scale. A
    /// scale that is attached already stays attached once.
    ///
    /// ```
    /// let file = hyperslab::File::in_memory()?;
    /// let dataset = file.root().new_dataset::<f32>("t2m").shape([3, 2]).create()?;
    /// let time = file.root().new_dataset::<f64>("time").shape([3]).create_with(&[0.0, 6.0, 12.0])?;
    /// time.make_scale("time")?;
    /// dataset.attach_scale(0, &time)?;
    /// assert_eq!(dataset.scales(0)?.len(), 1);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn attach_scale(&self, axis: usize, scale: &Self) -> Result<()> {
        self.check_axis(axis)?;
        if self.is_scale()? {
            return Err(argument(self, "it is a scale itself, and has none"));
        }
        let reference = self.file().object_reference(scale)?;
        if self.address() == scale.address() || scale.has_attribute(LIST)? {
            return Err(argument(scale, "it has scales itself, and cannot be one"));
        }
        if !scale.is_scale()? {
            scale.put_attribute(&Attribute::text(CLASS, SCALE))?;
        }
        self.change_list(axis, |list| {
            let is_new = !list.chunks(reference.len()).any(|known| known == reference);
            if is_new {
                list.extend(&reference);
            }
            is_new
        })?;
        let user = self.user(axis);
        // A reference to a deleted scale may be that of a new one, which does not list the dataset yet.
        scale.change_users(|users| {
            if !users.chunks(USER_BYTES).any(|known| known == user) {
                users.extend(user);
            }
        })
    }

    /// Detaches a scale from an axis. Errors: `Request` if the scale is not attached.
    pub fn detach_scale(&self, axis: usize, scale: &Self) -> Result<()> {
        self.check_axis(axis)?;
        let reference = self.file().object_reference(scale)?;
        let was_attached = self.change_list(axis, |list| {
            let place = list.chunks(reference.len()).position(|known| known == reference);
            let place = place.map(|place| place * reference.len());
            place.is_some_and(|place| list.drain(place..place + reference.len()).len() > 0)
        })?;
        if !was_attached {
            return Err(argument(scale, "it is not attached to this axis"));
        }
        let gone = self.user(axis);
        scale.change_users(|users| {
            let left = users.chunks(USER_BYTES).filter(|user| *user != gone);
            *users = left.flatten().copied().collect();
        })
    }

    /// Returns the label of an axis, in bytes that are usually UTF-8. An axis without a label has an empty
    /// label.
    pub fn axis_label(&self, axis: usize) -> Result<Vec<u8>> {
        self.check_axis(axis)?;
        let _reading = self.file().reading_vlen();
        Ok(self.labels()?.swap_remove(axis))
    }

    /// Sets the label of an axis.
    pub fn set_axis_label(&self, axis: usize, label: &[u8]) -> Result<()> {
        self.check_axis(axis)?;
        if label.contains(&0) {
            return Err(argument(self, "a label ends at its first zero byte: leave the zero out"));
        }
        let lock = &self.state().data;
        let _storing = self.file().storing();
        let _alone = lock.write();
        let mut labels = self.labels()?;
        label.clone_into(&mut labels[axis]);
        let is_labelled = |at: usize| at == axis || !labels[at].is_empty();
        let texts: Vec<&Vec<u8>> =
            (0..labels.len()).filter(|&at| is_labelled(at)).map(|at| &labels[at]).collect();
        let mut ids = self.file().put_text(&texts)?.into_iter();
        // Labels that were never set hold no string.
        let id = |at| if is_labelled(at) { ids.next() } else { None };
        let ids: Vec<_> = (0..labels.len()).map(id).map(|id| id.unwrap_or(VariableElement::EMPTY)).collect();
        let text = VariableText { padding: Padding::NullTerminated, charset: Charset::Ascii };
        self.replace_ids(LABELS, Datatype::VariableText(text), &ids)
    }

    fn check_axis(&self, axis: usize) -> Result<()> {
        if axis < self.shape().len() { Ok(()) } else { Err(argument(self, "it has no such axis")) }
    }

    /// Returns the labels of all axes. An axis without a label has an empty label.
    fn labels(&self) -> Result<Vec<Vec<u8>>> {
        let rank = self.shape().len();
        match self.found_attribute(LABELS)? {
            None => Ok(vec![Vec::new(); rank]),
            Some(labels) => self.one_an_axis(LABELS, self.texts(&labels)?),
        }
    }

    /// Returns the strings of an attribute.
    fn texts(&self, attribute: &Attribute) -> Result<Vec<Vec<u8>>> {
        match &attribute.datatype {
            Datatype::VariableText(_) => self.file().vlen_many(&self.file().vlen_ids(&attribute.data)?, 1),
            Datatype::Text(text) => Ok(attribute
                .data
                .chunks(text.size as usize)
                .map(|text| text.split(|&byte| byte == 0).next().unwrap_or_default().to_vec())
                .collect()),
            _ => Err(argument(self, "an attribute that names scales or labels holds no strings")),
        }
    }

    fn one_an_axis<T>(&self, what: &'static str, found: Vec<T>) -> Result<Vec<T>> {
        let (given, expected) = (found.len() as u64, self.shape().len() as u64);
        if given == expected {
            return Ok(found);
        }
        Err(Error::from(RequestError::Length { what, given, expected }).at(self.path()))
    }

    fn lists(&self) -> Result<Lists> {
        let size = u32::try_from(self.store().widths().offset.bytes()).unwrap_or(u32::MAX);
        let Some(list) = self.found_attribute(LIST)? else {
            let kind = Reference { size, kind: ReferenceKind::Object1 };
            let of_axes = vec![Vec::new(); self.shape().len()];
            return Ok(Lists { kind, of_axes, stored: Vec::new() });
        };
        let kind = match &list.datatype {
            Datatype::Sequence(base) => match &**base {
                Datatype::Reference(kind) if kind.size > 0 => *kind,
                _ => return Err(argument(self, "its DIMENSION_LIST holds no references")),
            },
            _ => return Err(argument(self, "its DIMENSION_LIST holds no lists")),
        };
        let stored = self.one_an_axis(LIST, self.file().vlen_ids(&list.data)?)?;
        let of_axes = self.file().vlen_many(&stored, kind.size as usize)?;
        Ok(Lists { kind, of_axes, stored })
    }

    /// Changes the references to the scales of an axis, if `f` returns that it changed them.
    fn change_list(&self, axis: usize, f: impl FnOnce(&mut Vec<u8>) -> bool) -> Result<bool> {
        let lock = &self.state().data;
        let _storing = self.file().storing();
        let _alone = lock.write();
        let Lists { kind, mut of_axes, stored } = self.lists()?;
        if kind.kind != ReferenceKind::Object1 {
            return Err(
                Error::unsupported("changing scales in references of HDF5 1.12", "IV.A.2.d").at(self.path())
            );
        }
        if !f(&mut of_axes[axis]) {
            return Ok(false);
        }
        if of_axes.iter().all(Vec::is_empty) {
            self.remove_attribute(LIST)?;
            self.file().remove_vlen(&stored)?;
            return Ok(true);
        }
        let ids = self.file().put_vlen(&of_axes, kind.size as usize)?;
        self.replace_ids(LIST, Datatype::Sequence(Box::new(Datatype::Reference(kind))), &ids)?;
        Ok(true)
    }

    /// Sets an attribute with one id for each axis, and removes the data of its old ids from the file.
    fn replace_ids(&self, name: &str, datatype: Datatype, ids: &[VariableElement]) -> Result<()> {
        let old = self.found_attribute(name)?.filter(|old| old.datatype == datatype);
        let old = old.map_or(Ok(Vec::new()), |old| self.file().vlen_ids(&old.data))?;
        let dataspace = Dataspace::Simple { shape: vec![ids.len() as u64], max_shape: None };
        let data = self.file().vlen_stored(ids);
        self.put_attribute(&Attribute { name: name.to_owned(), datatype, dataspace, data })?;
        self.file().remove_vlen(&old)
    }

    /// Returns the record of a scale about an axis of this dataset.
    fn user(&self, axis: usize) -> Vec<u8> {
        let mut user = Vec::new();
        Writer::new(&mut user, self.store().widths()).addr(self.address());
        user.resize(USER_BYTES / 2, 0);
        user.extend(u32::try_from(axis).unwrap_or(u32::MAX).to_ne_bytes());
        user.resize(USER_BYTES, 0);
        user
    }

    /// Changes the list of datasets that a scale is attached to.
    fn change_users(&self, f: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        let widths = self.store().widths();
        let size = u32::try_from(widths.offset.bytes()).unwrap_or(u32::MAX);
        let object = Datatype::Reference(Reference { size, kind: ReferenceKind::Object1 });
        let members = vec![
            Member::new("dataset", 0, object),
            Member::new("dimension", u32::try_from(USER_BYTES / 2).unwrap_or(u32::MAX), u32::datatype()),
        ];
        let size = u32::try_from(USER_BYTES).unwrap_or(u32::MAX);
        let datatype = Datatype::Compound(Compound { size, members });
        let lock = &self.state().data;
        let _alone = lock.write();
        let mut users = Vec::new();
        if let Some(known) = self.found_attribute(USERS)? {
            let conversion = Conversion::with_widths(&known.datatype, &datatype, widths)?;
            let count = known.data.len() / conversion.src_size().max(1);
            users.resize(count * USER_BYTES, 0);
            conversion.apply(&known.data, &mut users, count)?;
        }
        let before = users.clone();
        f(&mut users);
        if users == before {
            return Ok(());
        }
        if users.is_empty() {
            return if self.has_attribute(USERS)? { self.remove_attribute(USERS) } else { Ok(()) };
        }
        let dataspace = Dataspace::Simple { shape: vec![(users.len() / USER_BYTES) as u64], max_shape: None };
        self.put_attribute(&Attribute { name: USERS.to_owned(), datatype, dataspace, data: users })
    }
}

fn argument(dataset: &Dataset, why: &'static str) -> Error {
    RequestError::Argument { what: format!("dataset {:?}", dataset.path()), why }.into()
}
