//! Test helpers: check bytes that libhdf5 wrote, given in hex, against the laws of [`Structure`].

use crate::{Addr, ErrorKind, Reader, Structure, Widths, Writer};

/// Converts words of hex digits to bytes; `00*16` repeats `00` sixteen times.
pub(crate) fn unhex(hex: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in hex.split_whitespace() {
        let (digits, times) =
            word.split_once('*').map_or((word, 1), |(digits, n)| (digits, n.parse().unwrap()));
        let once: Vec<u8> = (0..digits.len())
            .step_by(2)
            .map(|i| u8::from_str_radix(&digits[i..i + 2], 16).unwrap())
            .collect();
        bytes.extend(once.repeat(times));
    }
    bytes
}

/// Decodes `hex` and checks that the value encodes to the same bytes, that `encoded_len` is their number, and
/// that decoding any shorter prefix fails.
pub(crate) fn golden<S: Structure>(hex: &str, context: &S::Context) -> S {
    let bytes = unhex(hex);
    let mut r = Reader::new(&bytes, Widths::EIGHT, Addr::new(0));
    let value = r.structure::<S>(context).unwrap();
    assert!(r.is_at_end(), "{} bytes left", r.remaining());
    let mut again = Vec::new();
    Writer::new(&mut again, Widths::EIGHT).structure(&value, context);
    assert_eq!(again, bytes);
    assert_eq!(value.encoded_len(Widths::EIGHT, context), bytes.len());
    for len in 0..bytes.len() {
        assert!(Reader::new(&bytes[..len], Widths::EIGHT, Addr::new(0)).structure::<S>(context).is_err());
    }
    value
}

/// Returns the error of decoding `hex`.
pub(crate) fn error<S: Structure>(hex: &str, context: &S::Context) -> ErrorKind {
    let bytes = unhex(hex);
    match Reader::new(&bytes, Widths::EIGHT, Addr::new(0)).structure::<S>(context) {
        Ok(_) => panic!("decoded without an error"),
        Err(error) => error.kind,
    }
}
