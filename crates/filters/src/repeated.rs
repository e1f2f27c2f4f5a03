//! Data that are one element again and again.

/// The first element of `data`, of `size` bytes, if all others are the same. It ends at the first that is not, and compares at
/// the speed of memory: each element with the one before.
pub fn repeated(data: &[u8], size: usize) -> Option<&[u8]> {
    let (first, rest) = data.split_at_checked(size)?;
    (!first.is_empty() && data.len().is_multiple_of(size) && *rest == data[..rest.len()]).then_some(first)
}
