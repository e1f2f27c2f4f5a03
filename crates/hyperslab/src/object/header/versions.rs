//! The versions of structures in new objects: those that a given release of libhdf5 can read.

/// The oldest libhdf5 that must be able to read new objects. Later releases read them too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum LibVersion {
    /// Every release: superblock 0, groups with symbol tables, version 1 headers and B-trees.
    Earliest,
    /// HDF5 1.8: superblock 2, links in messages or heaps, version 2 headers with checksums.
    V18,
    /// HDF5 1.10: superblock 3, chunk indexes chosen by the shape of the dataset.
    V110,
    /// HDF5 1.12.
    V112,
    /// HDF5 1.14.
    V114,
    /// HDF5 2.0.
    V200,
}

impl LibVersion {
    /// Every version by its name in h5py, including `latest`.
    pub const NAMES: [(&'static str, Self); 7] = [
        ("earliest", Self::Earliest),
        ("v108", Self::V18),
        ("v110", Self::V110),
        ("v112", Self::V112),
        ("v114", Self::V114),
        ("v200", Self::V200),
        ("latest", Self::V200),
    ];

    /// Returns the version with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find_map(|(known, version)| (known == name).then_some(version))
    }

    /// Returns the version of the superblock of a new file.
    pub(in crate::object) fn superblock(self) -> u8 {
        match self {
            Self::Earliest => 0,
            Self::V18 => 2,
            _ => 3,
        }
    }

    /// Returns the library version of a file with this superblock.
    pub(in crate::object) fn of_superblock(version: u8) -> Self {
        match version {
            0 | 1 => Self::Earliest,
            2 => Self::V18,
            _ => Self::V110,
        }
    }

    /// Whether objects have version 1 headers, and groups have symbol tables.
    pub(in crate::object) fn is_old(self) -> bool {
        self == Self::Earliest
    }

    /// Returns the version of dataspace messages.
    pub(in crate::object) fn dataspace(self) -> u8 {
        if self.is_old() { 1 } else { 2 }
    }

    /// Returns the version of fill value messages.
    pub(in crate::object) fn fill(self) -> u8 {
        if self.is_old() { 2 } else { 3 }
    }

    /// Returns the version of filter pipeline messages.
    pub(in crate::object) fn filters(self) -> u8 {
        if self.is_old() { 1 } else { 2 }
    }

    /// Returns the version of layout messages.
    pub(in crate::object) fn layout(self) -> u8 {
        if self < Self::V110 { 3 } else { 4 }
    }

    /// Returns how many regular blocks of a stored selection are listed: libhdf5 1.10 describes four and more
    /// by start, stride, count and block. `None` from HDF5 1.12 on, which has a shorter form for all.
    #[doc(hidden)]
    pub fn listed_blocks(self) -> Option<u64> {
        match self {
            Self::Earliest | Self::V18 => Some(u64::MAX),
            Self::V110 => Some(3),
            _ => None,
        }
    }

    /// Returns the lowest version of datatype messages. Some datatype classes need a higher one.
    pub(in crate::object) fn datatype(self) -> u8 {
        if self.is_old() { 1 } else { 3 }
    }
}
