//! Strings without their padding, and the spellings that several texts share.

use std::fmt::Write as _;

use hyperslab_format::datatype::Padding;

/// Returns the bytes of a string of fixed length without its padding.
pub(crate) fn unpadded(padding: Padding, stored: &[u8]) -> &[u8] {
    match padding {
        Padding::NullTerminated => until_zero(stored),
        Padding::NullPadded => trimmed(stored, 0),
        // Some writers end such strings with zeros.
        Padding::SpacePadded => trimmed(trimmed(stored, 0), b' '),
    }
}

/// Returns the bytes before the first zero, or all if there is none. libhdf5 returns C strings, so in h5py a
/// string in the heap of the file ends at its first zero.
pub fn until_zero(bytes: &[u8]) -> &[u8] {
    // The search for any zero byte is faster than that for the first.
    if !bytes.contains(&0) {
        return bytes;
    }
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    &bytes[..end]
}

fn trimmed(bytes: &[u8], filler: u8) -> &[u8] {
    let len = bytes.iter().rposition(|&byte| byte != filler).map_or(0, |last| last + 1);
    &bytes[..len]
}

/// Returns bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Returns a name as one line for a terminal, with control characters escaped.
pub fn one_line(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_control() { shown.extend(letter.escape_default()) } else { shown.push(letter) }
    }
    shown
}

/// Returns items as a Python tuple.
pub fn tuple(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    match &items[..] {
        [only] => format!("({only},)"),
        _ => format!("({})", items.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_removed_from_strings() {
        assert_eq!(unpadded(Padding::NullTerminated, b"ab\0cd"), b"ab");
        assert_eq!(unpadded(Padding::NullPadded, b"a\0b\0\0"), b"a\0b");
        assert_eq!(unpadded(Padding::SpacePadded, b"a \0b  \0"), b"a \0b");
        assert_eq!(unpadded(Padding::SpacePadded, b"   "), b"");
    }

    #[test]
    fn a_name_cannot_control_the_terminal() {
        assert_eq!(one_line("a\nb\u{1b}[31m ü"), "a\\nb\\u{1b}[31m ü");
    }
}
