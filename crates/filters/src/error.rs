//! Errors of filtered chunks and of filter parameters.

/// An error of a filter: a damaged chunk, a wrong parameter, or an unsupported filter or feature.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FilterError {
    /// The stored bytes are not valid for the filter.
    #[error("{filter}: damaged chunk: {what}")]
    Damaged {
        /// The filter's name.
        filter: &'static str,
        /// What is wrong with the bytes.
        what: &'static str,
    },
    /// The chunk decodes to a length other than that of the dataset's chunks.
    #[error("{filter}: chunk decodes to {found} bytes, expected {expected}")]
    Length {
        /// The filter's name.
        filter: &'static str,
        /// The expected length in bytes.
        expected: u64,
        /// The length found in bytes, or a lower bound of it.
        found: u64,
    },
    /// The stored checksum does not match the bytes.
    #[error("{filter}: stored checksum {stored:#010x}, computed {computed:#010x}")]
    Checksum {
        /// The filter's name.
        filter: &'static str,
        /// The checksum stored in the chunk.
        stored: u32,
        /// The checksum computed from the bytes.
        computed: u32,
    },
    /// A parameter that the dataset stores for the filter is not valid.
    #[error("{filter}: parameter {parameter} is {value}, expected {expected}")]
    Parameter {
        /// The filter's name.
        filter: &'static str,
        /// The parameter's name.
        parameter: &'static str,
        /// Its value.
        value: u64,
        /// The values that it may have.
        expected: &'static str,
    },
    /// The filter cannot encode the chunk, and the dataset does not allow the chunk to be stored without the
    /// filter.
    #[error("{filter}: the chunk cannot be encoded, and the filter is not optional")]
    Declined {
        /// The filter's name.
        filter: &'static str,
    },
    /// The filter is not in the registry.
    #[error(
        "filter {id} ({name}) is not available; convert the dataset with `h5repack`, or register a filter with that number"
    )]
    Unknown {
        /// The filter's number in the HDF Group's registry.
        id: u16,
        /// The filter's registered name, or the name stored in the file.
        name: String,
    },
    /// This build does not have the codec that the filter needs.
    #[error(
        "{filter}: built without the feature `{feature}`; add it to the features of `hyperslab` in Cargo.toml"
    )]
    NotBuilt {
        /// The filter's name.
        filter: &'static str,
        /// The feature of the crate that has the codec.
        feature: &'static str,
    },
    /// A filter that a program has registered failed.
    #[error("filter {id}: {cause}")]
    Failed {
        /// The filter's number.
        id: u16,
        /// The program's error.
        cause: Failure,
    },
    /// The filter is supported, but this feature of the filter is not.
    #[error("{filter}: {feature} is not supported")]
    Unsupported {
        /// The filter's name.
        filter: &'static str,
        /// The name of the feature.
        feature: String,
    },
}

/// An error of a registered filter.
#[derive(Debug, Clone)]
pub struct Failure(std::sync::Arc<dyn std::error::Error + Send + Sync>);

impl Failure {
    /// Wraps an error.
    pub fn new(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self(std::sync::Arc::new(error))
    }

    /// Returns the error, if it has this type.
    pub fn downcast_ref<E: std::error::Error + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }
}

/// Two failures are equal if they are the same error.
impl PartialEq for Failure {
    fn eq(&self, other: &Self) -> bool {
        std::sync::Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Failure {}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl FilterError {
    pub(crate) const fn damaged(filter: &'static str, what: &'static str) -> Self {
        Self::Damaged { filter, what }
    }
}

/// The result of a filter.
pub type Result<T, E = FilterError> = std::result::Result<T, E>;
