//! Driver information (spec II.B): how the bytes of a file are distributed over several files of the system.
//!
//! Superblocks of versions 0 and 1 name a [block](DriverBlock); the extension of versions 2 and 3 has a
//! [message](DriverMessage) (IV.A.2.u).

use crate::bytes::{Reader, Writer};
use crate::error::{ErrorKind, FormatError, Result};
use crate::structure::Structure;

/// What a driver stores in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DriverInformation {
    /// Driver `NCSAfami`: the members hold the bytes of the file one after another.
    Family {
        /// The size of each member in bytes, except for the last.
        member_size: u64,
    },
    /// Driver `NCSAmult`: each member holds the data of some kinds.
    Multi(MultiInformation),
    /// Another driver.
    Other {
        /// The Driver Identification.
        name: [u8; 8],
        /// The Driver Information.
        bytes: Vec<u8>,
    },
}

/// The members of a file of the driver `NCSAmult`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MultiInformation {
    /// For each kind of data, the number of the kind in whose member the data are. The kinds, from 1 on:
    /// superblock, B-trees, raw data, global heap, local heap, object headers. 0 stands for the kind itself.
    pub map: [u8; KINDS],
    /// The members, in the order of the first kind that the map leads to each.
    pub members: Vec<MultiMember>,
}

/// A member with the data of some kinds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MultiMember {
    /// The address of its first byte.
    pub start: u64,
    /// The end of the space that is allocated in it, in bytes from its start.
    pub end: u64,
    /// The name of the member, in which `%s` stands for the name of the file.
    pub name: Vec<u8>,
}

/// The number of kinds of data.
pub const KINDS: usize = 6;

impl MultiInformation {
    /// The map of libhdf5's split files: raw data and the global heap are in the second member.
    pub const SPLIT: [u8; KINDS] = [1, 1, 3, 3, 1, 1];
    /// The address of the second member of libhdf5's split files: half of all addresses.
    pub const SPLIT_AT: u64 = (u64::MAX - 1) / 2;

    /// Returns what a split file of libhdf5 with these names of members states before it has any bytes.
    pub fn split(names: [Vec<u8>; 2]) -> Self {
        let starts = [0, Self::SPLIT_AT];
        let members = starts.into_iter().zip(names).map(|(start, name)| MultiMember { start, end: 0, name });
        Self { map: Self::SPLIT, members: members.collect() }
    }

    /// Returns whether the members are arranged as those of libhdf5's split files.
    pub fn is_split(&self) -> bool {
        let mapped = (1..).zip(self.map).map(|(own, mapped)| if mapped == 0 { own } else { mapped });
        let starts = self.members.iter().map(|member| member.start);
        mapped.eq(Self::SPLIT) && starts.eq([0, Self::SPLIT_AT])
    }

    /// Returns the kinds that have a member of their own, in the order of the members.
    pub fn kinds(map: &[u8; KINDS]) -> Vec<u8> {
        let mut kinds = Vec::with_capacity(KINDS);
        for (own, &mapped) in (1..).zip(map) {
            let kind = if mapped == 0 { own } else { mapped };
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        kinds
    }

    fn decode(r: &mut Reader<'_>) -> Result<Self> {
        let map: [u8; KINDS] = r.array()?;
        if let Some(&wrong) = map.iter().find(|&&kind| usize::from(kind) > KINDS) {
            return Err(r.bad_value("Member Mapping", wrong.into(), "0 to 6"));
        }
        r.skip(2)?;
        let count = Self::kinds(&map).len();
        let extents = (0..count).map(|_| Ok((r.u64()?, r.u64()?))).collect::<Result<Vec<_>>>()?;
        let member = |(start, end)| {
            let name = r.zero_terminated()?.to_vec();
            r.skip((name.len() + 1).next_multiple_of(8) - (name.len() + 1))?;
            Ok(MultiMember { start, end, name })
        };
        Ok(Self { map, members: extents.into_iter().map(member).collect::<Result<_>>()? })
    }

    fn encode(&self, w: &mut Writer<'_>) {
        w.bytes(&self.map);
        w.zeros(2);
        for member in &self.members {
            w.u64(member.start);
            w.u64(member.end);
        }
        for MultiMember { name, .. } in &self.members {
            w.bytes(name);
            w.zeros((name.len() + 1).next_multiple_of(8) - name.len());
        }
    }
}

impl DriverInformation {
    const FAMILY: [u8; 8] = *b"NCSAfami";
    const MULTI: [u8; 8] = *b"NCSAmult";

    /// Decodes the information of the driver `name`, which takes `size` bytes.
    fn decode(r: &mut Reader<'_>, name: [u8; 8], size: usize) -> Result<Self> {
        let mut own = r.sub(size)?;
        let cut = |error: FormatError| match error.kind {
            // More bytes of the file would not help.
            ErrorKind::Truncated { .. } => {
                let (field, value) = ("Driver Information Size", size as u64);
                FormatError {
                    kind: ErrorKind::Value { field, value, expected: "room for its fields" },
                    ..error
                }
            }
            _ => error,
        };
        match name {
            Self::FAMILY => Ok(Self::Family { member_size: own.u64().map_err(cut)? }),
            Self::MULTI => MultiInformation::decode(&mut own).map(Self::Multi).map_err(cut),
            _ => Ok(Self::Other { name, bytes: own.rest().to_vec() }),
        }
    }

    fn name(&self) -> [u8; 8] {
        match self {
            Self::Family { .. } => Self::FAMILY,
            Self::Multi(_) => Self::MULTI,
            Self::Other { name, .. } => *name,
        }
    }

    /// Returns the bytes after the name and the size.
    fn encoded(&self, w: &Writer<'_>) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut w = Writer::new(&mut bytes, w.widths());
        match self {
            Self::Family { member_size } => w.u64(*member_size),
            Self::Multi(multi) => multi.encode(&mut w),
            Self::Other { bytes, .. } => w.bytes(bytes),
        }
        bytes
    }
}

/// The driver information block, which a superblock of version 0 or 1 names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriverBlock(pub DriverInformation);

/// The driver info message of a superblock extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriverMessage(pub DriverInformation);

impl Structure for DriverBlock {
    const NAME: &'static str = "driver information block";
    const SPEC: &'static str = "II.B";
    type Context = ();

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        r.version(0)?;
        r.skip(3)?;
        let size = r.u32()?;
        r.at_most(4, "Driver Information Size", size.into(), MAX_SIZE)?;
        let name = r.array()?;
        DriverInformation::decode(r, name, size as usize).map(Self)
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        let bytes = self.0.encoded(w);
        w.u8(0); // version
        w.zeros(3);
        w.uint(bytes.len() as u64, 4);
        w.bytes(&self.0.name());
        w.bytes(&bytes);
    }
}

impl Structure for DriverMessage {
    const NAME: &'static str = "driver info message";
    const SPEC: &'static str = "IV.A.2.u";
    type Context = ();

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        r.version(0)?;
        let name = r.array()?;
        let size = r.u16()?;
        DriverInformation::decode(r, name, size.into()).map(Self)
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        let bytes = self.0.encoded(w);
        w.u8(0); // version
        w.bytes(&self.0.name());
        w.uint(bytes.len() as u64, 2);
        w.bytes(&bytes);
    }
}

/// The largest block that is read: the message cannot be larger either.
const MAX_SIZE: u64 = u16::MAX as u64;
