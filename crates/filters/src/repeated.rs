//! Detection of data that repeats one element.

/// Returns the first element of `data`, of `size` bytes, if all other elements are equal to it. The
/// comparison stops at the first difference, and runs at the speed of memory because it compares each element
/// with the one before.
pub fn repeated(data: &[u8], size: usize) -> Option<&[u8]> {
    let (first, rest) = data.split_at_checked(size)?;
    (!first.is_empty() && data.len().is_multiple_of(size) && *rest == data[..rest.len()]).then_some(first)
}
