//! What can go wrong: so far, requests that cannot be met.

/// The caller asked for something that cannot be done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The selection is for another number of dimensions than the array has.
    #[error("the selection has {given} dimensions, the array has {rank}")]
    Rank {
        /// Dimensions of the selection.
        given: usize,
        /// Dimensions of the array.
        rank: usize,
    },
    /// An index, or the last element of a range, lies outside the array.
    #[error("index {index} is out of bounds for axis {axis} with size {len}")]
    OutOfBounds {
        /// The axis, counted from 0.
        axis: usize,
        /// The offending index.
        index: i128,
        /// The size of that axis.
        len: u64,
    },
    /// A range that steps by zero, or backwards.
    #[error("step {step} on axis {axis}: steps must be 1 or more")]
    Step {
        /// The axis, counted from 0.
        axis: usize,
        /// The step asked for.
        step: i128,
    },
    /// The parts of one description of a selection do not have the length of each other or of the array.
    #[error("{what} has length {given}, expected {expected}")]
    Length {
        /// Which part.
        what: &'static str,
        /// Its length.
        given: u64,
        /// The length it needs.
        expected: u64,
    },
    /// More elements than can be counted, or than a list of them may hold.
    #[error("{what}: more than {limit} elements")]
    TooMany {
        /// Of what there are too many.
        what: &'static str,
        /// The most there can be.
        limit: u64,
    },
    /// The text of a selection cannot be read.
    #[error("column {column}: {what}")]
    Syntax {
        /// Where, counted from 1.
        column: usize,
        /// What is wrong there.
        what: String,
    },
}
