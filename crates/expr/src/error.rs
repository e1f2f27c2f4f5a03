//! The errors of expressions.

/// An error in an expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is no expression.
    #[error("{why}, at character {position} of {text:?}")]
    Syntax {
        /// The number of the character, from 0.
        position: usize,
        /// What is wrong, and what would be right.
        why: String,
        /// The expression.
        text: String,
    },
    /// A name has no value.
    #[error("{name:?} is not known: the expression may use {known}")]
    UnknownName {
        /// The name.
        name: String,
        /// The known names.
        known: String,
    },
    /// An operation has no meaning for its operands.
    #[error("{what}: {why}")]
    Type {
        /// The operation and its operands.
        what: String,
        /// Why there is none, and what would be right.
        why: String,
    },
}

/// A result with the [`Error`] of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Returns the error of an operation without meaning for its operands.
pub(crate) fn no_meaning<T>(what: impl Into<String>, why: impl Into<String>) -> Result<T> {
    Err(Error::Type { what: what.into(), why: why.into() })
}
