//! What is wrong with a filtered chunk, or with the parameters of a filter.

/// A filter cannot do what is asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FilterError {
    /// The stored bytes are not what the filter writes.
    #[error("{filter}: damaged chunk: {what}")]
    Damaged {
        /// The filter's name.
        filter: &'static str,
        /// What is wrong with the bytes.
        what: &'static str,
    },
    /// The chunk decodes to another size than the dataset's chunks have.
    #[error("{filter}: chunk decodes to {found} bytes, expected {expected}")]
    Length {
        /// The filter's name.
        filter: &'static str,
        /// Bytes expected.
        expected: u64,
        /// Bytes found, or the least they can be.
        found: u64,
    },
    /// The stored checksum is not that of the bytes.
    #[error("{filter}: checksum {stored:#010x}, computed {computed:#010x}")]
    Checksum {
        /// The filter's name.
        filter: &'static str,
        /// As the chunk says.
        stored: u32,
        /// As computed.
        computed: u32,
    },
    /// The dataset's parameters for the filter make no sense.
    #[error("{filter}: parameter {parameter} is {value}, expected {expected}")]
    Parameter {
        /// The filter's name.
        filter: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// Its value.
        value: u64,
        /// What it may be.
        expected: &'static str,
    },
    /// The filter does not take the chunk, and the dataset does not allow to store it without the filter.
    #[error("{filter}: the chunk cannot be encoded, and the filter is not optional")]
    Declined {
        /// The filter's name.
        filter: &'static str,
    },
    /// No such filter is known.
    #[error(
        "filter {id} ({name}) is not available; convert the dataset with `h5repack`, or register a filter of that number"
    )]
    Unknown {
        /// Its registered number.
        id: u16,
        /// Its registered name, or the name stored in the file.
        name: String,
    },
    /// The filter is known, but not this feature of it.
    #[error("{filter}: {feature} is not supported")]
    Unsupported {
        /// The filter's name.
        filter: &'static str,
        /// The feature.
        feature: String,
    },
}

impl FilterError {
    pub(crate) const fn damaged(filter: &'static str, what: &'static str) -> Self {
        Self::Damaged { filter, what }
    }
}

/// The result of a filter.
pub type Result<T, E = FilterError> = std::result::Result<T, E>;
