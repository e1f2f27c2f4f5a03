//! Hashes of objects, for `__hash__` in Python.

use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher, Hash};

/// Returns the hash of `value`, for `__hash__` in Python.
pub(crate) fn hash_of(value: impl Hash) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(value)
}
