//! The target of a stored reference: an object, elements of a dataset, or an attribute (spec IV.A.2.d, class
//! 7).

use hyperslab_format::datatype::{Reference, ReferenceKind};
use hyperslab_format::heap::global::GlobalHeapId;
use hyperslab_format::{Addr, ErrorKind, Reader, Writer};

use super::{File, Node, Object};
use crate::error::{Error, RequestError, Result};

/// The target of a reference.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReferenceTarget {
    /// The address of the object's header.
    pub object: Addr,
    /// For a region: the selected elements, as a serialized selection (spec III.E, "Region Reference").
    pub selection: Option<Vec<u8>>,
    /// For an attribute of the object: the name of the attribute.
    pub attribute: Option<String>,
}

impl File {
    /// Returns the target of the reference in `stored`, one element of datatype `reference`, or `None` for a
    /// null reference.
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

    /// Returns the object that the reference in `stored` refers to. For elements or an attribute, this is the
    /// object that has them.
    pub fn dereference(&self, reference: &Reference, stored: &[u8]) -> Result<Node> {
        let target = self.reference_target(reference, stored)?;
        let target = target.ok_or(RequestError::NoSuchObject { name: "a null reference".to_owned() })?;
        self.object_at(target.object)
    }
}

/// The location that an element of a reference type names directly.
#[derive(Clone, Copy)]
enum Place {
    Object(Addr),
    /// A heap object with an object's address and a selection.
    Region1(GlobalHeapId),
    /// The type of a reference in the encoding of HDF5 1.12, and the heap object with the rest of it.
    Encoded(u8, GlobalHeapId),
}

/// Decodes the encoding of HDF5 1.12. The address of an object is stored in the element, everything else in
/// the global heap.
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

/// Decodes the part of such a reference that is in the global heap.
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
