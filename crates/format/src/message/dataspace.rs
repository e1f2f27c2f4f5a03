//! Dataspace message, type 1 (spec IV.A.2.b): the shape of a dataset or an attribute.

/// How many elements there are, and how they are arranged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dataspace {
    /// No elements at all (h5py's `Empty`).
    Null,
    /// One element, without dimensions.
    Scalar,
    /// An array of one or more dimensions.
    Simple {
        /// The current size in each dimension.
        shape: Vec<u64>,
        /// The most it may grow to; `None` per dimension means without limit. Absent if it cannot grow.
        max_shape: Option<Vec<Option<u64>>>,
    },
}
