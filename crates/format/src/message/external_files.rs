//! External data files message, type 7 (spec IV.A.2.h), of a dataset whose elements are in raw files outside
//! the HDF5 file.

use crate::addr::Addr;
use crate::bytes::{Reader, Writer};
use crate::error::Result;
use crate::structure::{Structure, fields};

/// The files that hold the elements of a dataset, one part after another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalFiles {
    /// The local heap that holds the file names.
    pub heap: Addr,
    /// The parts, in the order of the elements.
    pub parts: Vec<ExternalPart>,
}

/// A range of bytes of an external file that holds elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExternalPart {
    /// The offset of the file's name in the heap.
    pub name_offset: u64,
    /// The offset of the part in its file.
    pub offset: u64,
    /// The size of the part in bytes; `None` if the part holds all remaining elements.
    pub len: Option<u64>,
}

fields!(ExternalPart { name_offset: length, offset: length, len: length_or_max });

impl Structure for ExternalFiles {
    const NAME: &'static str = "external data files message";
    const SPEC: &'static str = "IV.A.2.h";
    type Context = ();

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        r.version(1)?;
        r.skip(3)?;
        let (allocated, used) = (r.u16()?, r.u16()?);
        r.at_most(2, "Used Slots", used.into(), allocated.into())?;
        let heap = r.addr()?;
        Ok(Self { heap, parts: (0..used).map(|_| ExternalPart::decode_fields(r)).collect::<Result<_>>()? })
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        w.u8(1); // version
        w.zeros(3);
        // Allocated slots, then used slots: all allocated slots are used.
        w.uint(self.parts.len() as u64, 2);
        w.uint(self.parts.len() as u64, 2);
        w.addr(self.heap);
        self.parts.iter().for_each(|part| part.encode_fields(w));
    }
}
