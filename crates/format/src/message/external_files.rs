//! External data files message, type 7 (spec IV.A.2.h): a dataset whose elements are in files without any structure.

use crate::addr::Addr;
use crate::bytes::{Reader, Widths, Writer};
use crate::error::{ErrorKind, Result};
use crate::structure::Structure;

/// The files that hold the elements of a dataset, one part after another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalFiles {
    /// The local heap of their names.
    pub heap: Addr,
    /// The parts, in the order of the elements.
    pub parts: Vec<ExternalPart>,
}

/// A part of a file that holds elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExternalPart {
    /// Where the name of the file is in the heap.
    pub name_offset: u64,
    /// The first byte of the part in its file.
    pub offset: u64,
    /// Bytes of the part; `None` if it goes on as long as there are elements.
    pub len: Option<u64>,
}

impl Structure for ExternalFiles {
    const NAME: &'static str = "external data files message";
    const SPEC: &'static str = "IV.A.2.h";
    type Context = ();

    fn read_len(_: Widths, (): &()) -> usize {
        64
    }

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        r.version(1)?;
        r.skip(3)?;
        let (allocated, used) = (r.u16()?, r.u16()?);
        if used > allocated {
            let (value, limit) = (used.into(), allocated.into());
            return Err(r.error_back(2, ErrorKind::TooLarge { field: "Used Slots", value, limit }));
        }
        let heap = r.addr()?;
        let part = |r: &mut Reader<'_>| {
            Ok(ExternalPart { name_offset: r.length()?, offset: r.length()?, len: r.length_or_max()? })
        };
        Ok(Self { heap, parts: (0..used).map(|_| part(r)).collect::<Result<_>>()? })
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        w.u8(1); // version
        w.zeros(3);
        // As many slots as are used.
        w.uint(self.parts.len() as u64, 2);
        w.uint(self.parts.len() as u64, 2);
        w.addr(self.heap);
        for part in &self.parts {
            w.length(part.name_offset);
            w.length(part.offset);
            w.length_or_max(part.len);
        }
    }

    fn encoded_len(&self, widths: Widths, (): &()) -> usize {
        8 + widths.offset.bytes() + self.parts.len() * 3 * widths.length.bytes()
    }
}
