//! The errors of this crate.

/// An error of a table or of a computation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An argument is wrong.
    #[error("{what}: {why}")]
    Argument {
        /// The argument.
        what: String,
        /// Why the argument is wrong, and what would be right.
        why: String,
    },
    /// An object of the file is not what its attributes say.
    #[error("{path}: {why}")]
    Object {
        /// The path of the object.
        path: String,
        /// What is wrong, and what to do.
        why: String,
    },
    /// An expression has an error.
    #[error(transparent)]
    Expression(#[from] hyperslab_expr::Error),
    /// The file cannot be read or written.
    #[error(transparent)]
    Hdf5(#[from] hyperslab::Error),
}

/// A result with the [`Error`] of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
