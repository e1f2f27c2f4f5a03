//! Local heap, `HEAP` (spec III.D): holds link names of an old-style group, or names of external data files.
//!
//! The symbol table message or the external file list names the heap. The heap names one data segment.

use crate::addr::Addr;
use crate::bytes::{Reader, Widths, Writer};
use crate::error::{ErrorKind, FormatError, Result};
use crate::structure::Structure;

/// The header of a local heap. Fields in disk order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalHeapHeader {
    /// The size of the data segment in bytes.
    pub data_size: u64,
    /// The offset in the data segment of the first free block. `None` if nothing is free.
    pub free_list: Option<u64>,
    /// The address of the data segment.
    pub data: Addr,
}

/// The value of the free-list head if nothing is free.
const NOTHING_FREE: u64 = 1;

impl Structure for LocalHeapHeader {
    const NAME: &'static str = "local heap";
    const SPEC: &'static str = "III.D";
    type Context = ();
    const FIXED: bool = true;

    fn read_len(widths: Widths, (): &()) -> usize {
        4 + 1 + 3 + 2 * widths.length.bytes() + widths.offset.bytes()
    }

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        r.signature(b"HEAP")?;
        r.version(0)?;
        r.skip(3)?;
        let data_size = r.length()?;
        // Early libraries wrote all bits set for "nothing free".
        let free_list = r.length_or_max()?.filter(|&head| head != NOTHING_FREE);
        if free_list.is_some_and(|head| head >= data_size) {
            return Err(r.bad_value(
                "head of free list",
                free_list.unwrap_or(0),
                "an offset in the data segment",
            ));
        }
        Ok(Self { data_size, free_list, data: r.addr()? })
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        w.signature(b"HEAP");
        w.u8(0); // version
        w.zeros(3);
        w.length(self.data_size);
        w.length(self.free_list.unwrap_or(NOTHING_FREE));
        w.addr(self.data);
    }
}

/// The data segment of a local heap: names, with free blocks between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalHeapData {
    /// The address of the segment.
    pub at: Addr,
    /// The bytes of the whole segment.
    pub bytes: Vec<u8>,
}

impl LocalHeapData {
    /// Returns the zero-terminated bytes that begin at `offset`, without the zero byte.
    pub fn bytes_at(&self, offset: u64) -> Result<&[u8]> {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.bytes.get(offset..));
        let len = rest.and_then(|rest| rest.iter().position(|&byte| byte == 0));
        rest.zip(len).and_then(|(rest, len)| rest.get(..len)).ok_or(FormatError {
            kind: ErrorKind::Missing { what: "the zero byte at the end of a name" },
            structure: Self::NAME,
            spec: Self::SPEC,
            at: self.at,
            offset,
        })
    }
}

impl Structure for LocalHeapData {
    const NAME: &'static str = "local heap data segment";
    const SPEC: &'static str = "III.D";
    type Context = LocalHeapHeader;

    fn read_len(_: Widths, header: &LocalHeapHeader) -> usize {
        usize::try_from(header.data_size).unwrap_or(usize::MAX)
    }

    fn decode(r: &mut Reader<'_>, header: &LocalHeapHeader) -> Result<Self> {
        let len = Self::read_len(r.widths(), header);
        Ok(Self { at: header.data, bytes: r.bytes(len)?.to_vec() })
    }

    fn encode(&self, w: &mut Writer<'_>, _: &LocalHeapHeader) {
        w.bytes(&self.bytes);
    }

    fn encoded_len(&self, _: Widths, _: &LocalHeapHeader) -> usize {
        self.bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::golden;

    #[test]
    fn names_of_a_group_decode() {
        // h5py, libver earliest: g['x'] = SoftLink('/some/path'); g.create_group('sub')
        let header = golden::<LocalHeapHeader>("484541500000000058 00*7 28 00*7 8805 00*6", &());
        assert_eq!((header.data_size, header.free_list, header.data), (88, Some(40), Addr::new(0x588)));
        let data = golden::<LocalHeapData>(
            "00*8 78 00*7 2f736f6d652f70617468 00*6 737562000000000001 00*7 30 00*39",
            &header,
        );
        assert_eq!(data.bytes_at(16).unwrap(), b"/some/path");
        assert_eq!(data.bytes_at(32).unwrap(), b"sub");
        assert_eq!(data.bytes_at(0).unwrap(), b"");
        assert_eq!(data.bytes_at(88).unwrap_err().offset, 88);
        assert!(data.bytes_at(u64::MAX).is_err());
    }

    #[test]
    fn a_name_without_a_zero_byte_is_an_error() {
        let data = LocalHeapData { at: Addr::new(0), bytes: b"abc".to_vec() };
        assert!(matches!(data.bytes_at(1).unwrap_err().kind, ErrorKind::Missing { .. }));
    }
}
