//! Fractal heap ids (spec III.G): a B-tree record or a link holds an id to find its object in a heap.

use crate::addr::Addr;
use crate::bytes::{Reader, Widths, Writer};
use crate::error::Result;
use crate::structure::Structure;

/// The location of an object of a fractal heap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeapId {
    /// Type 0: in a direct block.
    Managed {
        /// The heap offset of the object.
        offset: u64,
        /// The size of the object in bytes.
        length: u64,
    },
    /// Type 1, direct form: at the address that the id states.
    HugeDirect {
        /// The address of the object.
        addr: Addr,
        /// The stored size of the object in bytes.
        length: u64,
        /// The filter mask and the size in bytes before filtering, if the heap has filters.
        filtered: Option<(u32, u64)>,
    },
    /// Type 1, indirect form: the B-tree of huge objects has the address.
    HugeIndirect {
        /// The key of the object in that B-tree.
        id: u64,
    },
    /// Type 2: in the id itself.
    Tiny {
        /// The bytes of the object.
        data: Vec<u8>,
    },
}

/// The form of a heap's ids, derived from the heap's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeapIdForm {
    /// The size of an id in bytes.
    pub len: u16,
    /// The size of a heap offset in bytes.
    pub offset_width: usize,
    /// The size of a managed object's length field in bytes.
    pub length_width: usize,
    /// Whether the heap has filters.
    pub filtered: bool,
}

/// The largest tiny object whose length fits in the first byte of its id. Longer objects need a second byte
/// for the length, in ids that have room for it.
const SHORT_TINY: usize = 16;

impl HeapIdForm {
    /// Returns whether ids of huge objects hold the address.
    pub fn huge_is_direct(&self, widths: Widths) -> bool {
        let (address, length) = (widths.offset.bytes(), widths.length.bytes());
        let needed = if self.filtered { address + length + 4 + length } else { address + length };
        self.room() >= needed
    }

    /// Returns the size in bytes of the B-tree key in the id of a huge object.
    pub fn huge_id_width(&self) -> usize {
        self.room().min(8)
    }

    /// Returns whether the length of a tiny object takes twelve bits instead of four.
    pub fn tiny_is_extended(&self) -> bool {
        self.room() > SHORT_TINY + 1
    }

    /// Returns the size in bytes of the largest object that an id can hold.
    pub fn max_tiny(&self) -> usize {
        if self.tiny_is_extended() { self.room() - 1 } else { self.room().min(SHORT_TINY) }
    }

    /// Returns the number of bytes after the first byte of an id.
    fn room(&self) -> usize {
        usize::from(self.len).saturating_sub(1)
    }
}

const MANAGED: u8 = 0;
const HUGE: u8 = 1;
const TINY: u8 = 2;

impl Structure for HeapId {
    const NAME: &'static str = "fractal heap id";
    const SPEC: &'static str = "III.G";
    type Context = HeapIdForm;
    const FIXED: bool = true;

    fn read_len(_: Widths, form: &HeapIdForm) -> usize {
        form.len.into()
    }

    fn decode(r: &mut Reader<'_>, form: &HeapIdForm) -> Result<Self> {
        let mut r = r.sub(form.len.into())?;
        let first = r.u8()?;
        if first >> 6 != 0 {
            return Err(r.bad_value("heap id version", u64::from(first >> 6), "0"));
        }
        match first >> 4 & 3 {
            MANAGED => {
                Ok(Self::Managed { offset: r.uint(form.offset_width)?, length: r.uint(form.length_width)? })
            }
            HUGE if form.huge_is_direct(r.widths()) => {
                let (addr, length) = (r.addr()?, r.length()?);
                let filtered = if form.filtered { Some((r.u32()?, r.length()?)) } else { None };
                Ok(Self::HugeDirect { addr, length, filtered })
            }
            HUGE => Ok(Self::HugeIndirect { id: r.uint(form.huge_id_width())? }),
            TINY => {
                let low = first & 0x0f;
                let stored =
                    if form.tiny_is_extended() { u16::from_be_bytes([low, r.u8()?]) } else { low.into() };
                Ok(Self::Tiny { data: r.bytes(usize::from(stored) + 1)?.to_vec() })
            }
            other => Err(r.bad_value("heap id type", other.into(), "0 to 2")),
        }
    }

    fn encode(&self, w: &mut Writer<'_>, form: &HeapIdForm) {
        let start = w.written();
        match self {
            Self::Managed { offset, length } => {
                w.u8(MANAGED << 4);
                w.uint(*offset, form.offset_width);
                w.uint(*length, form.length_width);
            }
            Self::HugeDirect { addr, length, filtered } => {
                w.u8(HUGE << 4);
                w.addr(*addr);
                w.length(*length);
                if let Some((mask, memory_size)) = filtered {
                    w.u32(*mask);
                    w.length(*memory_size);
                }
            }
            Self::HugeIndirect { id } => {
                w.u8(HUGE << 4);
                w.uint(*id, form.huge_id_width());
            }
            Self::Tiny { data } => {
                debug_assert!((1..=form.max_tiny()).contains(&data.len()), "a tiny object fits in its id");
                let [high, low] =
                    u16::try_from(data.len().saturating_sub(1)).unwrap_or(u16::MAX).to_be_bytes();
                if form.tiny_is_extended() {
                    w.u8(TINY << 4 | high & 0x0f);
                    w.u8(low);
                } else {
                    w.u8(TINY << 4 | low & 0x0f);
                }
                w.bytes(data);
            }
        }
        let unused = usize::from(form.len).saturating_sub(w.written() - start);
        w.zeros(unused);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::golden::{error, golden};

    fn form(len: u16, filtered: bool) -> HeapIdForm {
        HeapIdForm { len, offset_width: 4, length_width: 2, filtered }
    }

    #[test]
    fn a_managed_object_decodes() {
        // h5py, libver v110: the id of a link, from the index by name of a group of 400
        let id = golden::<HeapId>("005b3500002d00", &form(7, false));
        assert_eq!(id, HeapId::Managed { offset: 0x355b, length: 0x2d });
    }

    #[test]
    fn huge_objects_decode_with_and_without_address() {
        assert_eq!(golden::<HeapId>("10010000000000", &form(7, false)), HeapId::HugeIndirect { id: 1 });
        assert_eq!(golden::<HeapId>("1007 00*14", &form(16, false)), HeapId::HugeIndirect { id: 7 });
        let direct = HeapId::HugeDirect { addr: Addr::new(0x60), length: 5, filtered: None };
        assert_eq!(golden::<HeapId>("1060 00*7 05 00*7", &form(17, false)), direct);
        let filtered = HeapId::HugeDirect { addr: Addr::new(0x60), length: 5, filtered: Some((1, 9)) };
        assert_eq!(golden::<HeapId>("1060 00*7 05 00*7 01000000 09 00*7", &form(29, true)), filtered);
        assert_eq!(golden::<HeapId>("1007 00*26", &form(28, true)), HeapId::HugeIndirect { id: 7 });
    }

    #[test]
    fn tiny_objects_are_stored_in_the_id() {
        assert_eq!(
            golden::<HeapId>("22616263 00*3", &form(7, false)),
            HeapId::Tiny { data: b"abc".to_vec() }
        );
        // From 19 bytes on, an id has room for objects whose length needs more than four bits.
        assert_eq!((form(18, false).max_tiny(), form(18, false).tiny_is_extended()), (16, false));
        assert_eq!((form(19, false).max_tiny(), form(19, false).tiny_is_extended()), (17, true));
        let long = golden::<HeapId>("20ff 61*256 00*42", &form(300, false));
        assert_eq!(long, HeapId::Tiny { data: vec![b'a'; 256] });
        let longer = golden::<HeapId>("2100 61*257 00*41", &form(300, false));
        assert_eq!(longer, HeapId::Tiny { data: vec![b'a'; 257] });
    }

    #[test]
    fn ids_with_invalid_fields_are_errors() {
        assert!(matches!(
            error::<HeapId>("40 00*6", &form(7, false)),
            ErrorKind::Value { field: "heap id version", .. }
        ));
        assert!(matches!(
            error::<HeapId>("30 00*6", &form(7, false)),
            ErrorKind::Value { field: "heap id type", .. }
        ));
        assert!(matches!(error::<HeapId>("27 00*6", &form(7, false)), ErrorKind::Truncated { .. }));
    }
}
