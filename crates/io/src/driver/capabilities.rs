//! What media can do beside reading and writing: a driver says it once, as a value, and each ability is a
//! trait of its own.

use std::io;
use std::ops::Range;

use hyperslab_format::superblock::driver_information::DriverInformation;

use super::{Driver, DriverInfo, Hints};

/// What a medium is, and what it can do beside the methods of [`Driver`].
///
/// ```
/// use hyperslab::driver::{Capabilities, Driver, Hints, Memory};
///
/// let medium = Memory::default();
/// let capabilities = medium.capabilities();
/// assert_eq!(capabilities.name, "memory");
/// assert!(capabilities.hints.concurrent && capabilities.lock.is_none());
/// ```
#[derive(Clone, Copy)]
pub struct Capabilities<'d> {
    /// The name of the driver, for its user.
    pub name: &'static str,
    /// How the medium performs best.
    pub hints: Hints,
    /// Whether the bytes outlive the program, so that a new file must be a valid one before its first commit.
    /// Objects of the caller's language, which may do anything when they are written to, do not.
    pub is_lasting: bool,
    /// Whether a gap costs next to nothing: the file may be extended far beyond its bytes, or be written
    /// there, and be cut again. Commits that flush then leave room for what other threads write meanwhile.
    pub is_sparse: bool,
    /// What the driver says of itself, if it is more than its name.
    pub description: Option<&'d dyn HasInfo>,
    /// The space that the medium can allocate before it is written.
    pub space: Option<&'d dyn ReservesSpace>,
    /// The lock of the file.
    pub lock: Option<&'d dyn HoldsLock>,
    /// The bytes of the file, if they are in memory.
    pub memory: Option<&'d dyn InMemory>,
    /// The ranges of offsets that have bytes, if the medium consists of several files.
    pub parts: Option<&'d dyn InParts>,
    /// The range of offsets that is for elements only, if the medium has one. `len` and `set_len` of the
    /// driver are then those of the range before it, which has the metadata.
    pub elements: Option<&'d dyn Elements>,
}

impl Capabilities<'_> {
    /// Returns those of a medium that outlives the program and can do nothing beside reading and writing.
    #[must_use]
    pub fn new(name: &'static str, hints: Hints) -> Self {
        Self {
            name,
            hints,
            is_lasting: true,
            is_sparse: false,
            description: None,
            space: None,
            lock: None,
            memory: None,
            parts: None,
            elements: None,
        }
    }
}

/// A driver that says more of itself than its name.
pub trait HasInfo {
    /// Returns what the driver is and does, for its user.
    fn info(&self) -> DriverInfo;
}

/// A medium that can allocate space before it is written.
pub trait ReservesSpace {
    /// Allocates space for `len` bytes at `offset` that will be written next. The length of the file does not
    /// change.
    ///
    /// Errors: there is no space. A medium that cannot tell returns `Ok`.
    fn reserve(&self, offset: u64, len: u64) -> io::Result<()>;
}

/// A driver that holds the lock of its file.
pub trait HoldsLock {
    /// Gives up the lock, so that other programs may open the file.
    fn unlock(&self) -> io::Result<()>;
}

/// A medium whose bytes are in memory.
pub trait InMemory {
    /// Returns the bytes of the file, if they stay in memory as long as the driver is borrowed. They are then
    /// decoded and copied where they are, and not read.
    fn bytes(&self) -> io::Result<Option<&[u8]>>;
}

/// A medium that consists of several files.
pub trait InParts {
    /// Returns the ranges of offsets that have bytes, in order. An empty list stands for one without gaps.
    fn parts(&self) -> Vec<Range<u64>>;
}

/// The second range of offsets of a medium, which is for elements only.
pub trait Elements {
    /// Returns the offset of the first byte, which is beyond all metadata.
    fn start(&self) -> u64;

    /// Returns the number of bytes in the range.
    ///
    /// Errors: the medium lacks the part that has them.
    fn len(&self) -> io::Result<u64>;

    /// Returns whether there are no bytes in the range.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Truncates the range to `len` bytes, or extends it with zeros.
    ///
    /// Errors: `ReadOnlyFilesystem` if the medium cannot be written.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Returns what a new file states of the parts of this medium, without their ends.
    fn to_state(&self) -> DriverInformation;
}

/// What all media have, whether their drivers say so or not.
impl dyn Driver + '_ {
    /// Returns whether the file has no bytes.
    pub fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Returns how the medium performs best.
    pub fn hints(&self) -> Hints {
        self.capabilities().hints
    }

    /// Returns what the driver is and does, for its user.
    pub fn info(&self) -> DriverInfo {
        let Capabilities { name, description, .. } = self.capabilities();
        description.map_or_else(|| DriverInfo::new(name), HasInfo::info)
    }

    /// Allocates space, if the medium can; see [`ReservesSpace::reserve`].
    pub fn reserve(&self, offset: u64, len: u64) -> io::Result<()> {
        self.capabilities().space.map_or(Ok(()), |space| space.reserve(offset, len))
    }

    /// Gives up the lock of the file, if the driver has one.
    pub fn unlock(&self) -> io::Result<()> {
        self.capabilities().lock.map_or(Ok(()), HoldsLock::unlock)
    }

    /// Returns the bytes of the file, if they are in memory; see [`InMemory::bytes`].
    pub fn bytes(&self) -> io::Result<Option<&[u8]>> {
        self.capabilities().memory.map_or(Ok(None), InMemory::bytes)
    }

    /// Returns the ranges of offsets that have bytes; see [`InParts::parts`].
    pub fn parts(&self) -> Vec<Range<u64>> {
        self.capabilities().parts.map(InParts::parts).unwrap_or_default()
    }

    /// Returns the range of offsets that is for elements only, if there is one.
    pub fn elements(&self) -> Option<&dyn Elements> {
        self.capabilities().elements
    }
}
