//! Fill value messages, types 4 and 5 (spec IV.A.2.e and f).

/// What elements hold that were never written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FillValue {
    /// When space is allocated.
    pub allocation: AllocationTime,
    /// When the fill value is written.
    pub write: FillTime,
    /// The value.
    pub value: FillBytes,
}

/// The value itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FillBytes {
    /// The library's default: zeros.
    Default,
    /// Explicitly undefined: such elements may hold anything.
    Undefined,
    /// One element of the dataset's datatype.
    Defined(Vec<u8>),
}

/// When space for data is allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllocationTime {
    /// When the dataset is created.
    Early,
    /// When data are first written.
    Late,
    /// Chunk by chunk.
    Incremental,
}

/// When fill values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FillTime {
    /// On allocation.
    OnAllocation,
    /// Never.
    Never,
    /// On allocation, if the user set a value.
    IfSet,
}
