//! Shared messages (spec IV.A.2, "Shared Message"): a message, or the place where it is stored.

use crate::addr::Addr;
use crate::bytes::{Reader, Writer};
use crate::error::Result;
use crate::structure::Structure;

/// A message's value, or the place where it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MaybeShared<T> {
    /// The value itself.
    Here(T),
    /// Stored elsewhere.
    Shared(SharedLocation),
}

/// The place where a shared message is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharedLocation {
    /// In the object header at this address: a committed datatype.
    Header(Addr),
    /// In the file's shared message heap, under this id.
    Heap([u8; 8]),
}

impl<T> MaybeShared<T> {
    /// Returns the value, or `None` if it is stored elsewhere.
    pub fn here(&self) -> Option<&T> {
        match self {
            Self::Here(value) => Some(value),
            Self::Shared(_) => None,
        }
    }

    /// Decodes a body, or its location if `shared`.
    pub(crate) fn decode(r: &mut Reader<'_>, shared: bool) -> Result<Self>
    where
        T: Structure<Context = ()>,
    {
        if shared { r.structure(&()).map(Self::Shared) } else { r.structure(&()).map(Self::Here) }
    }
}

/// "Type" of a location: the message is in the shared message heap.
const IN_HEAP: u8 = 1;
/// "Type" of a location: the message is in another object's header.
const IN_HEADER: u8 = 2;

impl Structure for SharedLocation {
    const NAME: &'static str = "shared message";
    const SPEC: &'static str = "IV.A.2";
    type Context = ();

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        match r.version_in(1..=3, "1 to 3")? {
            // Seven reserved bytes, then a symbol table entry: the name's offset (ignored) and the header.
            1 => {
                r.skip(7 + r.widths().length.bytes())?;
                r.addr().map(Self::Header)
            }
            2 => {
                r.skip(1)?;
                r.addr().map(Self::Header)
            }
            _ => match r.u8()? {
                IN_HEAP => r.array().map(Self::Heap),
                IN_HEADER => r.addr().map(Self::Header),
                other => Err(r.bad_value("Type", other.into(), "1 (in the heap) or 2 (in an object header)")),
            },
        }
    }

    /// Encodes like libhdf5: version 2 for a committed datatype, version 3 for the heap.
    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        match self {
            Self::Header(addr) => {
                w.u8(2); // version
                w.u8(IN_HEADER);
                w.addr(*addr);
            }
            Self::Heap(id) => {
                w.u8(3); // version
                w.u8(IN_HEAP);
                w.bytes(id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Widths;
    use crate::golden;

    /// The datatype message of a dataset with a committed datatype, by h5py 3.16.
    #[test]
    fn a_committed_datatype_is_shared_by_its_header_address() {
        let location: SharedLocation = golden::golden("02 02 8007000000000000", &());
        assert_eq!(location, SharedLocation::Header(Addr::new(0x780)));
    }

    #[test]
    fn version_1_stores_the_address_after_a_name_offset() {
        let bytes = golden::unhex("01 00 00*6 ff*8 8007000000000000");
        let mut r = Reader::new(&bytes, Widths::EIGHT, Addr::new(0));
        assert_eq!(r.structure::<SharedLocation>(&()), Ok(SharedLocation::Header(Addr::new(0x780))));
    }

    #[test]
    fn version_3_may_refer_to_the_shared_message_heap() {
        let location: SharedLocation = golden::golden("03 01 0102030405060708", &());
        assert_eq!(location, SharedLocation::Heap([1, 2, 3, 4, 5, 6, 7, 8]));
    }
}
