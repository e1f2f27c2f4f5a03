//! NumPy's array files, version 1.0.

/// The most bytes before the elements. A version 1.0 file has room for 64 KiB; 32 axes of 20 digits fit.
pub(crate) const MOST_HEAD: u64 = 1024;

/// Returns the bytes before the elements of an array.
pub(crate) fn head(dtype: &str, shape: &[u64]) -> Vec<u8> {
    let lengths: Vec<String> = shape.iter().map(u64::to_string).collect();
    let comma = if lengths.len() == 1 { "," } else { "" };
    let shape = format!("({}{comma})", lengths.join(", "));
    let mut text = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}");
    // The elements start at a multiple of 64 bytes, after a line break.
    let len = (10 + text.len() + 1).next_multiple_of(64) - 10;
    text.extend(std::iter::repeat_n(' ', len - text.len() - 1));
    text.push('\n');
    let mut head = b"\x93NUMPY\x01\x00".to_vec();
    // A header of at most 1 KiB.
    head.extend(u16::try_from(text.len()).unwrap_or(u16::MAX).to_le_bytes());
    head.extend(text.into_bytes());
    head
}
