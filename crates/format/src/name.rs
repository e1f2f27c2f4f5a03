//! Names of links and attributes as text.
//!
//! The format asks for ASCII or UTF-8, but libhdf5 accepts any bytes. A name is a `String` here, and each of
//! its bytes that is not UTF-8 is a character of a private range: byte `b` is `U+10FE00 + b`. So every name
//! has exactly one text, and every text leads back to the bytes (decision 0020).

use std::borrow::Cow;
use std::cmp::Ordering;

/// The character of byte 0 in the private range. Only bytes from 0x80 on are escaped.
const ESCAPE: u32 = 0x10_fe00;

/// Returns the text of a name.
pub fn from_bytes(name: &[u8]) -> String {
    let mut text = String::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        for character in chunk.valid().chars() {
            // A character of the private range would be taken for an escaped byte.
            match unescaped(character) {
                Some(_) => escape(character.encode_utf8(&mut [0; 4]).as_bytes(), &mut text),
                None => text.push(character),
            }
        }
        escape(chunk.invalid(), &mut text);
    }
    text
}

/// Returns the bytes of a name.
pub fn to_bytes(name: &str) -> Cow<'_, [u8]> {
    if is_utf8(name) {
        return Cow::Borrowed(name.as_bytes());
    }
    let mut bytes = Vec::with_capacity(name.len());
    for character in name.chars() {
        match unescaped(character) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Cow::Owned(bytes)
}

/// Compares two names by their bytes.
pub fn order(a: &str, b: &str) -> Ordering {
    to_bytes(a).cmp(&to_bytes(b))
}

/// Returns whether the bytes of a name are its text in UTF-8.
pub fn is_utf8(name: &str) -> bool {
    // The first byte of every character of the private range.
    !name.as_bytes().contains(&0xf4) || !name.chars().any(|character| unescaped(character).is_some())
}

fn escape(bytes: &[u8], text: &mut String) {
    text.extend(bytes.iter().filter_map(|&byte| char::from_u32(ESCAPE + u32::from(byte))));
}

/// Returns the byte that a character of the private range means.
fn unescaped(character: char) -> Option<u8> {
    let byte = u32::from(character).checked_sub(ESCAPE).and_then(|byte| u8::try_from(byte).ok());
    byte.filter(|&byte| byte >= 0x80)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_one_text_that_leads_back_to_its_bytes() {
        let escaped = "\u{10feff}".as_bytes();
        let names: [&[u8]; 8] = [
            b"",
            b"plain",
            "\u{e9}t\u{e9}".as_bytes(),
            b"\xff",
            b"caf\xe9",
            b"a\xc3",
            b"\xe9\xc3\xa9",
            escaped,
        ];
        let texts: Vec<String> = names.iter().map(|name| from_bytes(name)).collect();
        for (name, text) in names.iter().zip(&texts) {
            assert_eq!(&*to_bytes(text), *name, "{text:?}");
        }
        assert_eq!(texts[2], "\u{e9}t\u{e9}");
        assert_eq!(texts[4], "caf\u{10fee9}");
        assert_eq!(texts[7].chars().count(), 4);
        assert!(is_utf8(&texts[2]) && is_utf8("\u{10ffff}") && !is_utf8(&texts[3]));
        let mut sorted = texts.clone();
        sorted.sort();
        sorted.dedup();
        assert_eq!(sorted.len(), names.len());
    }
}
