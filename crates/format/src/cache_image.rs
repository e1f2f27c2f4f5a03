//! Metadata cache image, `MDCI`: the metadata that the cache of a program held when it closed the file. The
//! blocks at their own addresses may be older. The specification names only the message that leads to the
//! image (IV.A.2.y); its layout is that of libhdf5 1.10 to 2.x (`H5Cimage.c`).

use crate::addr::{Addr, Extent};
use crate::bytes::{Reader, Widths, Writer};
use crate::error::{ErrorKind, Result};
use crate::structure::Structure;

/// The image of a cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheImage {
    /// The blocks.
    pub entries: Vec<CacheImageEntry>,
}

/// One block in an image. Readers need its address and its bytes; the other fields keep the state of the
/// cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheImageEntry {
    /// The type of the block in libhdf5's cache.
    pub kind: u8,
    /// The flags: dirty, in the list of recently used blocks, parent and child of a flush dependency.
    pub flags: u8,
    /// The ring, which orders writes.
    pub ring: u8,
    /// The number of times that the block was in an image without being used.
    pub age: u8,
    /// The number of flush dependency children.
    pub children: u16,
    /// The number of dirty flush dependency children.
    pub dirty_children: u16,
    /// The rank in the list of recently used blocks, or -1.
    pub rank: i32,
    /// The address of the block.
    pub at: Addr,
    /// The addresses of flush dependency parents.
    pub parents: Vec<Addr>,
    /// The bytes of the block.
    pub bytes: Vec<u8>,
}

impl Structure for CacheImage {
    const NAME: &'static str = "metadata cache image";
    const SPEC: &'static str = "IV.A.2.y";
    /// The extent of the image, from the message.
    type Context = Extent;

    fn read_len(_: Widths, extent: &Extent) -> usize {
        usize::try_from(extent.len).unwrap_or(usize::MAX)
    }

    fn decode(r: &mut Reader<'_>, extent: &Extent) -> Result<Self> {
        r.signature(b"MDCI")?;
        r.version(0)?;
        r.flags(0, "0: no state of the cache's size")?;
        let len = r.length()?;
        if len != extent.len {
            return Err(r.bad_value("image data length", len, "the length in the message"));
        }
        let count = r.u32()?;
        let mut entries = Vec::new();
        for _ in 0..count {
            // Each takes more bytes than memory is taken here, so a wrong count ends with the bytes.
            entries.push(r.structure(&())?);
        }
        r.checksum()?;
        Ok(Self { entries })
    }

    fn encode(&self, w: &mut Writer<'_>, extent: &Extent) {
        w.signature(b"MDCI");
        w.u8(0); // version
        w.u8(0); // flags
        w.length(extent.len);
        w.u32(u32::try_from(self.entries.len()).unwrap_or(u32::MAX));
        for entry in &self.entries {
            w.structure(entry, &());
        }
        w.checksum();
    }
}

impl Structure for CacheImageEntry {
    const NAME: &'static str = "metadata cache image entry";
    const SPEC: &'static str = "IV.A.2.y";
    type Context = ();

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        let [kind, flags, ring, age] = r.array()?;
        let (children, dirty_children, parents) = (r.u16()?, r.u16()?, r.u16()?);
        let rank = i32::from_le_bytes(r.array()?);
        let (at, len) = (r.addr()?, r.length()?);
        if at.is_undefined() {
            return Err(r.error(ErrorKind::Missing { what: "the address of a block" }));
        }
        let parents = (0..parents).map(|_| r.addr()).collect::<Result<_>>()?;
        let bytes = r.bytes(usize::try_from(len).unwrap_or(usize::MAX))?.to_vec();
        Ok(Self { kind, flags, ring, age, children, dirty_children, rank, at, parents, bytes })
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        w.bytes(&[self.kind, self.flags, self.ring, self.age]);
        w.u16(self.children);
        w.u16(self.dirty_children);
        w.u16(u16::try_from(self.parents.len()).unwrap_or(u16::MAX));
        w.bytes(&self.rank.to_le_bytes());
        w.addr(self.at);
        w.length(self.bytes.len() as u64);
        for parent in &self.parents {
            w.addr(*parent);
        }
        w.bytes(&self.bytes);
    }
}
