//! Which versions of structures new objects get: those that a library of a given age reads.

/// The oldest libhdf5 that new objects are made for. A newer one reads them, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LibVersion {
    /// Every library: superblock 0, groups of symbol tables, version 1 headers and B-trees.
    Earliest,
    /// HDF5 1.8: superblock 2, links in messages or heaps, version 2 headers with checksums.
    V18,
    /// HDF5 1.10: superblock 3, chunk indexes made for each shape of dataset.
    V110,
    /// HDF5 1.12.
    V112,
    /// HDF5 1.14.
    V114,
    /// HDF5 2.0.
    V200,
}

impl LibVersion {
    /// Every version by its name in h5py, and `latest`.
    pub const NAMES: [(&'static str, Self); 7] = [
        ("earliest", Self::Earliest),
        ("v108", Self::V18),
        ("v110", Self::V110),
        ("v112", Self::V112),
        ("v114", Self::V114),
        ("v200", Self::V200),
        ("latest", Self::V200),
    ];

    /// The version of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find_map(|(known, version)| (known == name).then_some(version))
    }

    /// The version of the superblock of a new file.
    pub(in crate::object) fn superblock(self) -> u8 {
        match self {
            Self::Earliest => 0,
            Self::V18 => 2,
            _ => 3,
        }
    }

    /// What a file that has this superblock was made for.
    pub(in crate::object) fn of_superblock(version: u8) -> Self {
        match version {
            0 | 1 => Self::Earliest,
            2 => Self::V18,
            _ => Self::V110,
        }
    }

    /// Whether objects have version 1 headers, and groups symbol tables.
    pub(in crate::object) fn is_old(self) -> bool {
        self == Self::Earliest
    }

    /// The version of dataspace messages.
    pub(in crate::object) fn dataspace(self) -> u8 {
        if self.is_old() { 1 } else { 2 }
    }

    /// The version of fill value messages.
    pub(in crate::object) fn fill(self) -> u8 {
        if self.is_old() { 2 } else { 3 }
    }

    /// The version of filter pipeline messages.
    pub(in crate::object) fn filters(self) -> u8 {
        if self.is_old() { 1 } else { 2 }
    }

    /// The version of layout messages.
    pub(in crate::object) fn layout(self) -> u8 {
        if self < Self::V110 { 3 } else { 4 }
    }

    /// The lowest version of datatype messages, where the class of a datatype knows others.
    pub(in crate::object) fn datatype(self) -> u8 {
        if self.is_old() { 1 } else { 3 }
    }
}
