//! The target of a stored reference: an object, elements of a dataset, or an attribute (spec IV.A.2.d, class
//! 7).

use hyperslab_error::{Error, RequestError, Result};
use hyperslab_format::datatype::{Reference, ReferenceKind};
use hyperslab_format::header::ObjectHeader;
use hyperslab_format::heap::global::GlobalHeapId;
use hyperslab_format::message::kind;
use hyperslab_format::selection::StoredSelection;
use hyperslab_format::{Addr, Extent, Reader, Structure as _, Width, Writer};

use super::file::external::{self, LinkAccess};
use super::{Dataset, File, Node, Object, path};

/// The target of a reference.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReferenceTarget {
    /// The address of the object's header.
    pub object: Addr,
    /// For a region: the selected elements.
    pub selection: Option<StoredSelection>,
    /// For an attribute of the object: the name of the attribute.
    pub attribute: Option<String>,
    /// The name of the file that has the object, if it is another file.
    pub file: Option<String>,
}

impl ReferenceTarget {
    /// Returns the target that is the object at an address.
    pub fn object(object: Addr) -> Self {
        Self { object, selection: None, attribute: None, file: None }
    }
}

impl File {
    /// Returns the target of the reference in `stored`, one element of datatype `reference`, or `None` for a
    /// null reference.
    pub fn reference_target(&self, reference: &Reference, stored: &[u8]) -> Result<Option<ReferenceTarget>> {
        let widths = self.store().widths();
        let mut r = Reader::new(stored, widths, Addr::UNDEFINED);
        let decode = |r: &mut Reader<'_>| match reference.kind {
            // libhdf5 writes the lower half of an address of 16 bytes, and leaves the upper half undefined.
            ReferenceKind::Object1 if widths.offset == Width::Sixteen => {
                let object = r.u64().map(|object| DirectTarget::Object(Addr::new(object)))?;
                r.skip(8).map(|()| object)
            }
            ReferenceKind::Object1 => r.addr().map(DirectTarget::Object),
            ReferenceKind::Region1 => r.structure::<GlobalHeapId>(&()).map(DirectTarget::Region1),
            ReferenceKind::Object2 | ReferenceKind::Region2 | ReferenceKind::Attribute => encoded(r),
        };
        match r.within("reference", SPEC, decode)? {
            DirectTarget::Object(object) if is_null(object) => Ok(None),
            DirectTarget::Object(object) => Ok(Some(ReferenceTarget::object(object))),
            DirectTarget::Region1(id) | DirectTarget::Encoded { id, .. } if id.is_null() => Ok(None),
            place @ (DirectTarget::Region1(id) | DirectTarget::Encoded { id, .. }) => {
                let bytes = self.heap_object(id)?;
                let mut r = Reader::new(&bytes, widths, id.collection);
                let target = |r: &mut Reader<'_>| {
                    if let DirectTarget::Encoded { kind, is_elsewhere, .. } = place {
                        return in_blob(r, kind, is_elsewhere);
                    }
                    let object = r.addr()?;
                    Ok(ReferenceTarget {
                        selection: Some(r.structure(&())?),
                        ..ReferenceTarget::object(object)
                    })
                };
                r.within("reference in the global heap", SPEC, target).map(Some).map_err(Error::from)
            }
        }
    }

    /// Returns the stored form of a reference to `target`, an element of datatype `reference`. The parts that
    /// do not fit in the element are written to the global heap. If the caller then fails to store the
    /// element, they stay in the file without an owner.
    pub fn stored_reference(&self, reference: &Reference, target: &ReferenceTarget) -> Result<Vec<u8>> {
        let widths = self.store().widths();
        let len = usize::try_from(reference.size).unwrap_or(usize::MAX).min(u16::MAX.into());
        let mut stored = Vec::new();
        let is_plain = target.selection.is_none() && target.attribute.is_none() && target.file.is_none();
        match (reference.kind, &target.selection) {
            (ReferenceKind::Object1, _) if is_plain => {
                Writer::new(&mut stored, widths).addr(target.object);
            }
            (ReferenceKind::Region1, Some(selection)) if target.file.is_none() => {
                let mut part = Vec::new();
                let mut w = Writer::new(&mut part, widths);
                w.addr(target.object);
                w.structure(selection, &());
                let id = self.put_part(&part)?;
                Writer::new(&mut stored, widths).structure(&id, &());
            }
            (ReferenceKind::Object1 | ReferenceKind::Region1, _) => {
                let why = "references of this datatype do not refer to such a part of a file";
                return Err(RequestError::Argument { what: "reference".to_owned(), why }.into());
            }
            _ => self.encode(target, &mut stored)?,
        }
        if stored.len() > len {
            let why = "it is longer than an element of the datatype";
            return Err(RequestError::Argument { what: "reference".to_owned(), why }.into());
        }
        stored.resize(len, 0);
        Ok(stored)
    }

    /// Encodes a reference as HDF5 1.12 does.
    fn encode(&self, target: &ReferenceTarget, stored: &mut Vec<u8>) -> Result<()> {
        let widths = self.store().widths();
        let kind = match target {
            ReferenceTarget { selection: Some(_), .. } => REGION,
            ReferenceTarget { attribute: Some(_), .. } => ATTRIBUTE,
            _ => OBJECT,
        };
        let flags = if target.file.is_some() { EXTERNAL } else { 0 };
        let mut part = Vec::new();
        let mut w = Writer::new(&mut part, widths);
        w.uint(widths.offset.bytes() as u64, 1);
        w.addr(target.object);
        if let Some(file) = &target.file {
            put_text(&mut w, file);
        }
        if let Some(selection) = &target.selection {
            let rank = match selection.rank() {
                Some(rank) => rank,
                None if target.file.is_none() => self.referenced_dataset(target)?.shape().len(),
                None => 0,
            };
            let mut encoded = Vec::new();
            Writer::new(&mut encoded, widths).structure(selection, &());
            w.uint(encoded.len() as u64, 4);
            w.uint(rank as u64, 4);
            w.bytes(&encoded);
        }
        if let Some(attribute) = &target.attribute {
            put_text(&mut w, attribute);
        }
        stored.extend([kind, flags]);
        if kind == OBJECT && flags == 0 {
            stored.extend(part);
            return Ok(());
        }
        let id = self.put_part(&part)?;
        let mut w = Writer::new(stored, widths);
        w.uint(part.len() as u64, 4);
        w.structure(&id, &());
        Ok(())
    }

    /// Writes the part of a reference that is in the global heap.
    fn put_part(&self, part: &[u8]) -> Result<GlobalHeapId> {
        let ids = self.put_vlen(&[part], 1)?;
        Ok(ids.first().map_or(GlobalHeapId::NULL, |element| element.id))
    }

    /// Encodes a reference to an object of this file as an element of datatype [`ReferenceKind::Object1`]. (A
    /// null reference is the same number of zero bytes.)
    pub fn object_reference(&self, object: &Object) -> Result<Vec<u8>> {
        if !self.is_same(object.file()) {
            let why = "the object is in another file, and a reference cannot lead there";
            return Err(
                RequestError::Argument { what: format!("reference to {:?}", object.path()), why }.into()
            );
        }
        let mut stored = Vec::new();
        Writer::new(&mut stored, self.store().widths()).addr(object.address());
        Ok(stored)
    }

    /// Returns the object that a reference leads to, which may be in another file. For elements or an
    /// attribute, this is the object that has them.
    pub fn referenced(&self, target: &ReferenceTarget) -> Result<Node> {
        match &target.file {
            Some(name) => external::open(self, name, LinkAccess::default())?.object_at(target.object),
            None => self.object_at(target.object),
        }
    }

    fn referenced_dataset(&self, target: &ReferenceTarget) -> Result<Dataset> {
        self.referenced(target)?.into_dataset()
    }

    /// Returns the object that the reference in `stored` refers to. For elements or an attribute, this is the
    /// object that has them.
    pub fn dereference(&self, reference: &Reference, stored: &[u8]) -> Result<Node> {
        let target = self.reference_target(reference, stored)?;
        let target = target.ok_or(RequestError::NoSuchObject { name: "a null reference".to_owned() })?;
        self.referenced(&target)
    }

    /// Returns the object that the reference in `stored` refers to, or `None` if it leads nowhere: it is
    /// null, or there is no object at its address. Copying an object alone and deleting one leave such
    /// references.
    ///
    /// Errors: those of the file. Damage in the header of an object is one, if it can be told from other
    /// bytes.
    pub fn dereference_if_found(&self, reference: &Reference, stored: &[u8]) -> Result<Option<Node>> {
        let Some(target) = self.reference_target(reference, stored)? else { return Ok(None) };
        match self.referenced(&target) {
            Ok(node) => Ok(Some(node)),
            Err(error) if path::is_absence(&error) => Ok(None),
            Err(error) => match error.root() {
                Error::Format(_) if target.file.is_none() && !self.has_header(target.object) => Ok(None),
                _ => Err(error),
            },
        }
    }

    /// Whether the bytes at an address, which are no object that can be opened, are an object header. Version
    /// 2 has a signature. Version 1 has none (spec IV.A.1.a): without a link and a message it is taken for
    /// other bytes.
    fn has_header(&self, address: Addr) -> bool {
        let name = (ObjectHeader::NAME, ObjectHeader::SPEC);
        if self.store().bytes(Extent::new(address, 4), name).is_ok_and(|found| found == *b"OHDR") {
            return true;
        }
        let header = self.store().read::<ObjectHeader>(address, &());
        header.is_ok_and(|header| {
            header.messages().any(|message| message.kind != kind::NIL)
                && header.reference_count(self.store().widths()).is_ok_and(|links| links > 0)
        })
    }
}

/// The location that an element of a reference type names directly.
#[derive(Clone, Copy)]
enum DirectTarget {
    Object(Addr),
    /// A heap object with an object's address and a selection.
    Region1(GlobalHeapId),
    /// A reference in the encoding of HDF5 1.12.
    Encoded {
        /// The type of the reference.
        kind: u8,
        /// Whether the object is in another file.
        is_elsewhere: bool,
        /// The heap object with the rest of it.
        id: GlobalHeapId,
    },
}

/// Decodes the encoding of HDF5 1.12. The address of an object in the same file is stored in the element,
/// everything else in the global heap.
fn encoded(r: &mut Reader<'_>) -> hyperslab_format::Result<DirectTarget> {
    let (kind, flags) = (r.u8()?, r.u8()?);
    if kind == 0 {
        return Ok(DirectTarget::Object(Addr::UNDEFINED)); // never written
    }
    let is_elsewhere = flags & EXTERNAL != 0;
    if !matches!(kind, OBJECT | REGION | ATTRIBUTE) {
        return Err(r.bad_value("reference type", kind.into(), "2, 3 or 4"));
    }
    if kind == OBJECT && !is_elsewhere {
        return token(r).map(DirectTarget::Object);
    }
    let _size = r.u32()?;
    Ok(DirectTarget::Encoded { kind, is_elsewhere, id: r.structure(&())? })
}

/// Decodes the part of such a reference that is in the global heap.
fn in_blob(r: &mut Reader<'_>, kind: u8, is_elsewhere: bool) -> hyperslab_format::Result<ReferenceTarget> {
    let mut target = ReferenceTarget::object(token(r)?);
    if is_elsewhere {
        target.file = Some(text(r, "file name")?);
    }
    if kind == ATTRIBUTE {
        target.attribute = Some(text(r, "attribute name")?);
    } else if kind == REGION {
        let (len, _rank) = (r.u32()?, r.u32()?);
        let mut selection = r.sub(usize::try_from(len).unwrap_or(usize::MAX))?;
        target.selection = Some(selection.structure(&())?);
    }
    Ok(target)
}

/// Reads a length of two bytes and a text.
fn text(r: &mut Reader<'_>, field: &'static str) -> hyperslab_format::Result<String> {
    let len = r.u16()?;
    r.text(len.into(), field)
}

/// Writes such a text. A longer one does not come from a file, and is cut.
fn put_text(w: &mut Writer<'_>, text: &str) {
    let bytes = &text.as_bytes()[..text.len().min(u16::MAX.into())];
    w.uint(bytes.len() as u64, 2);
    w.bytes(bytes);
}

/// Reads an object token. In this format, a token is an address.
fn token(r: &mut Reader<'_>) -> hyperslab_format::Result<Addr> {
    let len = r.u8()?;
    if usize::from(len) != r.widths().offset.bytes() {
        return Err(r.bad_value("size of the object token", len.into(), "the size of an address"));
    }
    r.addr()
}

/// Whether a reference is null. Null references are stored as zeros; some writers use the undefined address.
fn is_null(address: Addr) -> bool {
    address.is_undefined() || address == Addr::new(0)
}

/// The types of encoded references. The datatype names the first for elements of all three.
const OBJECT: u8 = 2;
const REGION: u8 = 3;
const ATTRIBUTE: u8 = 4;

/// Flags, bit 0: the object is in another file.
const EXTERNAL: u8 = 1;

const SPEC: &str = "IV.A.2.d";
