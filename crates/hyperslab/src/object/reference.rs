//! What a stored reference refers to: an object, elements of one, or an attribute (spec IV.A.2.d, class 7).

use hyperslab_format::datatype::{Reference, ReferenceKind};
use hyperslab_format::heap::global::GlobalHeapId;
use hyperslab_format::{Addr, ErrorKind, Reader, Writer};

use super::{File, Node, Object};
use crate::error::{Error, RequestError, Result};

/// What a reference refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReferenceTarget {
    /// The header of the object.
    pub object: Addr,
    /// For a region: which elements, as a serialized selection (spec III.E, "Region Reference").
    pub selection: Option<Vec<u8>>,
    /// For an attribute of the object: its name.
    pub attribute: Option<String>,
}

impl File {
    /// What the reference in `stored`, one element of datatype `reference`, refers to; `None` for a null reference.
    pub fn reference_target(&self, reference: &Reference, stored: &[u8]) -> Result<Option<ReferenceTarget>> {
        let widths = self.store().widths();
        let mut r = Reader::new(stored, widths, Addr::UNDEFINED);
        let decode = |r: &mut Reader<'_>| match reference.kind {
            ReferenceKind::Object1 => r.addr().map(Place::Object),
            ReferenceKind::Region1 => r.structure::<GlobalHeapId>(&()).map(Place::Region1),
            ReferenceKind::Object2 | ReferenceKind::Region2 | ReferenceKind::Attribute => encoded(r),
        };
        match r.within("reference", SPEC, decode)? {
            Place::Object(object) if is_null(object) => Ok(None),
            Place::Object(object) => Ok(Some(ReferenceTarget { object, selection: None, attribute: None })),
            Place::Region1(id) | Place::Encoded(_, id) if id.is_null() => Ok(None),
            place @ (Place::Region1(id) | Place::Encoded(_, id)) => {
                let bytes = self.heap_object(id)?;
                let mut r = Reader::new(&bytes, widths, id.collection);
                let target = |r: &mut Reader<'_>| {
                    if let Place::Encoded(kind, _) = place {
                        return in_blob(r, kind);
                    }
                    let object = r.addr()?;
                    Ok(ReferenceTarget { object, selection: Some(r.rest().to_vec()), attribute: None })
                };
                r.within("reference in the global heap", SPEC, target).map(Some).map_err(Error::from)
            }
        }
    }

    /// A reference to an object of this file, as elements of the datatype [`ReferenceKind::Object1`] hold it. (A null
    /// reference is as many zeros.)
    pub fn object_reference(&self, object: &Object) -> Result<Vec<u8>> {
        if !self.is_same(object.file()) {
            let why = "a reference leads to an object of the same file";
            return Err(
                RequestError::Argument { what: format!("reference to {:?}", object.path()), why }.into()
            );
        }
        let mut stored = Vec::new();
        Writer::new(&mut stored, self.store().widths()).addr(object.address());
        Ok(stored)
    }

    /// The object that the reference in `stored` refers to, or that has the elements or the attribute.
    pub fn dereference(&self, reference: &Reference, stored: &[u8]) -> Result<Node> {
        let target = self.reference_target(reference, stored)?;
        let target = target.ok_or(RequestError::NoSuchObject { name: "a null reference".to_owned() })?;
        self.object_at(target.object)
    }
}

/// Where a reference leads at first.
#[derive(Clone, Copy)]
enum Place {
    Object(Addr),
    /// An object's address and a selection.
    Region1(GlobalHeapId),
    /// What the encoding of HDF5 1.12 adds to an object, and of which kind that is.
    Encoded(u8, GlobalHeapId),
}

/// The encoding of HDF5 1.12: an object's address itself, the rest in the global heap.
fn encoded(r: &mut Reader<'_>) -> hyperslab_format::Result<Place> {
    let (kind, flags) = (r.u8()?, r.u8()?);
    if kind == 0 {
        return Ok(Place::Object(Addr::UNDEFINED)); // never written
    }
    if flags & EXTERNAL != 0 {
        return Err(r.error(ErrorKind::Unsupported { feature: "a reference into another file" }));
    }
    if kind == OBJECT {
        return token(r).map(Place::Object);
    }
    if !matches!(kind, REGION | ATTRIBUTE) {
        return Err(r.bad_value("reference type", kind.into(), "2, 3 or 4"));
    }
    let _size = r.u32()?;
    Ok(Place::Encoded(kind, r.structure(&())?))
}

/// What such a reference keeps in the global heap.
fn in_blob(r: &mut Reader<'_>, kind: u8) -> hyperslab_format::Result<ReferenceTarget> {
    let mut target = ReferenceTarget { object: token(r)?, selection: None, attribute: None };
    if kind == ATTRIBUTE {
        let len = r.u16()?;
        target.attribute = Some(r.text(len.into(), "attribute name")?);
    } else {
        let (len, _rank) = (r.u32()?, r.u32()?);
        target.selection = Some(r.bytes(usize::try_from(len).unwrap_or(usize::MAX))?.to_vec());
    }
    Ok(target)
}

/// An object token: for this format, its address.
fn token(r: &mut Reader<'_>) -> hyperslab_format::Result<Addr> {
    let len = r.u8()?;
    if usize::from(len) != r.widths().offset.bytes() {
        return Err(r.bad_value("size of the object token", len.into(), "the size of an address"));
    }
    r.addr()
}

/// Null references are stored as zeros; some writers use the undefined address.
fn is_null(address: Addr) -> bool {
    address.is_undefined() || address == Addr::new(0)
}

/// The types of encoded references. A datatype says the first for elements of all three.
const OBJECT: u8 = 2;
const REGION: u8 = 3;
const ATTRIBUTE: u8 = 4;

/// Flags, bit 0: the object is in another file.
const EXTERNAL: u8 = 1;

const SPEC: &str = "IV.A.2.d";
