//! Link message, type 6 (spec IV.A.2.g): one link of a group.

use crate::addr::Addr;
use crate::bytes::{Reader, Writer};
use crate::datatype::Charset;
use crate::error::{ErrorKind, Result};
use crate::name;
use crate::structure::Structure;

/// A link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The position in the order of creation, if the group tracks it.
    pub creation_order: Option<u64>,
    /// The character set of the name.
    pub charset: Charset,
    /// The name, without any `/`.
    pub name: String,
    /// The target of the link.
    pub target: LinkTarget,
}

/// The target of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkTarget {
    /// An object header in this file.
    Hard(Addr),
    /// A path in this file.
    Soft(String),
    /// A path in another file.
    External {
        /// The name of the file.
        file: String,
        /// The path of the object in the file.
        path: String,
    },
    /// A link of a type that an application defines.
    User {
        /// The type of the link, 65 to 255.
        kind: u8,
        /// The data of the link.
        data: Vec<u8>,
    },
}

/// Flags, bits 0 and 1: log2 of the number of bytes that store the name's length.
const NAME_WIDTH: u8 = 3;
/// Flags, bit 2: the creation order is stored.
const HAS_ORDER: u8 = 4;
/// Flags, bit 3: the type is stored; otherwise the link is hard.
const HAS_TYPE: u8 = 8;
/// Flags, bit 4: the name's character set is stored; otherwise it is ASCII.
const HAS_CHARSET: u8 = 16;

const HARD: u8 = 0;
const SOFT: u8 = 1;
const EXTERNAL: u8 = 64;

impl Structure for Link {
    const NAME: &'static str = "link message";
    const SPEC: &'static str = "IV.A.2.g";
    type Context = ();

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        r.version(1)?;
        let flags = r.flags(NAME_WIDTH | HAS_ORDER | HAS_TYPE | HAS_CHARSET, "only bits 0 to 4")?;
        let kind = if flags & HAS_TYPE != 0 { r.u8()? } else { HARD };
        let creation_order = if flags & HAS_ORDER != 0 { Some(r.u64()?) } else { None };
        let charset = if flags & HAS_CHARSET != 0 { Charset::decode_byte(r)? } else { Charset::Ascii };
        let name_len = r.uint(1 << (flags & NAME_WIDTH))?;
        if name_len == 0 {
            return Err(r.bad_value("Length of Link Name", 0, "at least 1"));
        }
        let name = r.name(size(name_len))?;
        let target = match kind {
            HARD => LinkTarget::Hard(r.addr()?),
            SOFT => {
                let len = r.u16()?;
                LinkTarget::Soft(r.name(len.into())?)
            }
            EXTERNAL => {
                let len = r.u16()?;
                external(&mut r.sub(len.into())?)?
            }
            65.. => {
                let len = r.u16()?;
                LinkTarget::User { kind, data: r.bytes(len.into())?.to_vec() }
            }
            2..=63 => return Err(r.bad_value("Link type", kind.into(), "0, 1 or at least 64")),
        };
        Ok(Self { creation_order, charset, name, target })
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        let kind = match &self.target {
            LinkTarget::Hard(_) => HARD,
            LinkTarget::Soft(_) => SOFT,
            LinkTarget::External { .. } => EXTERNAL,
            LinkTarget::User { kind, .. } => *kind,
        };
        let name = name::to_bytes(&self.name);
        let name_width = name_width(name.len());
        w.u8(1); // version
        let flag = |condition, flag| if condition { flag } else { 0 };
        w.u8(name_width
            | flag(self.creation_order.is_some(), HAS_ORDER)
            | flag(kind != HARD, HAS_TYPE)
            | flag(self.charset != Charset::Ascii, HAS_CHARSET));
        if kind != HARD {
            w.u8(kind);
        }
        if let Some(order) = self.creation_order {
            w.u64(order);
        }
        if self.charset != Charset::Ascii {
            w.u8(1); // UTF-8
        }
        w.uint(name.len() as u64, 1 << name_width);
        w.bytes(&name);
        match &self.target {
            LinkTarget::Hard(addr) => w.addr(*addr),
            LinkTarget::Soft(path) => {
                let path = name::to_bytes(path);
                w.uint(path.len() as u64, 2);
                w.bytes(&path);
            }
            LinkTarget::External { file, path } => {
                let (file, path) = (name::to_bytes(file), name::to_bytes(path));
                w.uint((1 + file.len() + 1 + path.len() + 1) as u64, 2);
                w.u8(0); // version and flags
                w.bytes(&file);
                w.zeros(1);
                w.bytes(&path);
                w.zeros(1);
            }
            LinkTarget::User { data, .. } => {
                w.uint(data.len() as u64, 2);
                w.bytes(data);
            }
        }
    }
}

/// Reads the value of an external link.
fn external(r: &mut Reader<'_>) -> Result<LinkTarget> {
    let version_and_flags = r.u8()?;
    if version_and_flags != 0 {
        return Err(
            r.error_back(1, ErrorKind::Version { found: version_and_flags >> 4, known: "0 without flags" })
        );
    }
    Ok(LinkTarget::External { file: r.zero_terminated_name()?, path: r.zero_terminated_name()? })
}

/// Returns log2 of the number of bytes that store the length of a name.
fn name_width(len: usize) -> u8 {
    match len {
        0..=0xff => 0,
        0x100..=0xffff => 1,
        0x1_0000..=0xffff_ffff => 2,
        _ => 3,
    }
}

/// Converts a size to `usize`. A size that does not fit becomes `usize::MAX`, which fails when that many
/// bytes are read.
fn size(len: u64) -> usize {
    usize::try_from(len).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden;

    /// Messages of a group with `track_order=True`, written by h5py 3.16.
    #[test]
    fn soft_external_and_hard_links_round_trip_bytes_of_libhdf5() {
        let soft: Link = golden::golden("01 0c 01 00*8 04 736f6674 0200 2f63", &());
        assert_eq!((soft.name.as_str(), soft.creation_order), ("soft", Some(0)));
        assert_eq!(soft.target, LinkTarget::Soft("/c".into()));

        let external: Link =
            golden::golden("01 0c 40 0100000000000000 03 657874 0900 00 782e683500 2f7000", &());
        assert_eq!(external.target, LinkTarget::External { file: "x.h5".into(), path: "/p".into() });

        let hard: Link = golden::golden("01 14 0200000000000000 01 02 c3a9 cb02000000000000", &());
        assert_eq!((hard.name.as_str(), hard.charset), ("é", Charset::Utf8));
        assert_eq!(hard.target, LinkTarget::Hard(Addr::new(0x2cb)));
    }

    #[test]
    fn a_name_that_is_not_utf_8_keeps_its_bytes() {
        let link: Link = golden::golden("01 00 01 e9 00*8", &());
        assert_eq!(*name::to_bytes(&link.name), [0xe9]);
    }

    #[test]
    fn a_name_length_beyond_the_message_is_an_error() {
        let error = golden::error::<Link>("01 03 feffffffffffffff 61", &());
        assert!(matches!(error, ErrorKind::Truncated { .. }), "{error}");
    }
}
