//! A cursor over the bytes of structures. Every read is checked, and errors state the place in the file.

use super::lookup3::lookup3;
use super::{Width, Widths};
use crate::addr::Addr;
use crate::error::{ErrorKind, FormatError, Result};
use crate::name;
use crate::structure::Structure;

/// A cursor over a slice whose address in the file is known.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
    widths: Widths,
    at: Addr,
    name: &'static str,
    spec: &'static str,
    /// The position at which the current structure began. Its checksum covers the bytes from here.
    start: usize,
}

impl<'a> Reader<'a> {
    /// Creates a reader of `bytes`, which are at address `at` in a file with `widths`.
    pub fn new(bytes: &'a [u8], widths: Widths, at: Addr) -> Self {
        Self { bytes, position: 0, widths, at, name: "file", spec: "I", start: 0 }
    }

    /// Decodes the structure `S` at the position. Errors carry the name of the structure.
    pub fn structure<S: Structure>(&mut self, context: &S::Context) -> Result<S> {
        self.within(S::NAME, S::SPEC, |r| S::decode(r, context))
    }

    /// Runs `f` as the decoder of a structure called `name`. Errors name it, and its checksum begins here.
    pub fn within<T>(
        &mut self,
        name: &'static str,
        spec: &'static str,
        f: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let outer = (self.name, self.spec, self.start);
        (self.name, self.spec, self.start) = (name, spec, self.position);
        let result = f(self);
        (self.name, self.spec, self.start) = outer;
        result
    }

    /// Returns the widths of addresses and lengths.
    pub fn widths(&self) -> Widths {
        self.widths
    }

    /// Reads all later addresses and lengths with `widths`, which the superblock has just stated.
    pub fn adopt_widths(&mut self, widths: Widths) {
        self.widths = widths;
    }

    /// Returns the address of the slice's first byte.
    pub fn at(&self) -> Addr {
        self.at
    }

    /// Returns the address of the next byte to read; undefined if there is no such address.
    pub fn address(&self) -> Addr {
        self.at.checked_add(self.position as u64).unwrap_or(Addr::UNDEFINED)
    }

    /// Returns the number of bytes read so far, from the start of the slice.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Returns the number of unread bytes.
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.position
    }

    /// Returns whether all bytes have been read.
    pub fn is_at_end(&self) -> bool {
        self.remaining() == 0
    }

    /// Returns an error of kind `kind` at the position.
    pub fn error(&self, kind: ErrorKind) -> FormatError {
        self.error_at(self.position, kind)
    }

    /// Returns an error of kind `kind` that is `back` bytes before the position, at the field just read.
    pub fn error_back(&self, back: usize, kind: ErrorKind) -> FormatError {
        self.error_at(self.position.saturating_sub(back), kind)
    }

    fn error_at(&self, position: usize, kind: ErrorKind) -> FormatError {
        FormatError { kind, structure: self.name, spec: self.spec, at: self.at, offset: position as u64 }
    }

    /// Returns the error for a field, just read, with a forbidden value.
    pub fn bad_value(&self, field: &'static str, value: u64, expected: &'static str) -> FormatError {
        self.error(ErrorKind::Value { field, value, expected })
    }

    /// Checks that a value is at most `limit`. The field with the value is `back` bytes before the position.
    pub fn at_most(&self, back: usize, field: &'static str, value: u64, limit: u64) -> Result<()> {
        if value <= limit {
            return Ok(());
        }
        Err(self.error_back(back, ErrorKind::TooLarge { field, value, limit }))
    }

    /// Reads a byte of flags, of which only those in `known` may be set. `expected` names these flags.
    pub fn flags(&mut self, known: u8, expected: &'static str) -> Result<u8> {
        match self.u8()? {
            flags if flags & !known == 0 => Ok(flags),
            flags => Err(self.bad_value("Flags", flags.into(), expected)),
        }
    }

    /// Returns the result of `f` if `is_there` is true, and `None` otherwise.
    pub fn when<T>(&mut self, is_there: bool, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<Option<T>> {
        is_there.then(|| f(self)).transpose()
    }

    /// Reads the next `count` bytes.
    #[inline]
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8]> {
        let end = self.position.checked_add(count);
        let Some(taken) = end.and_then(|end| self.bytes.get(self.position..end)) else {
            let needed = (self.position as u64).saturating_add(count as u64);
            return Err(self.error(ErrorKind::Truncated { needed, have: self.bytes.len() as u64 }));
        };
        self.position += count;
        Ok(taken)
    }

    /// Reads the next `N` bytes as an array.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.bytes(N)?);
        Ok(array)
    }

    /// Reads all unread bytes.
    pub fn rest(&mut self) -> &'a [u8] {
        let rest = self.bytes.get(self.position..).unwrap_or_default();
        self.position = self.bytes.len();
        rest
    }

    /// Returns a reader of only the next `count` bytes, with the same addresses, and moves past them.
    pub fn sub(&mut self, count: usize) -> Result<Self> {
        let start = self.position;
        self.bytes(count)?;
        let bytes = self.bytes.get(..self.position).unwrap_or_default();
        Ok(Self { bytes, position: start, ..self.clone() })
    }

    /// Skips reserved bytes or padding, which a reader must ignore.
    pub fn skip(&mut self, count: usize) -> Result<()> {
        self.bytes(count).map(|_| ())
    }

    /// Reads one byte.
    pub fn u8(&mut self) -> Result<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// Reads a two-byte integer.
    pub fn u16(&mut self) -> Result<u16> {
        self.array().map(u16::from_le_bytes)
    }

    /// Reads a four-byte integer.
    #[inline]
    pub fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// Reads an eight-byte integer.
    #[inline]
    pub fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Reads an integer of `count` bytes, 0 to 8, for fields whose width another field determines.
    #[inline]
    pub fn uint(&mut self, count: usize) -> Result<u64> {
        // Nearly all fields have one of these widths; a copy whose length is known only at run time is a
        // call.
        match count {
            8 => return self.u64(),
            4 => return self.u32().map(u64::from),
            2 => return self.u16().map(u64::from),
            9.. => return Err(self.bad_value("field width", count as u64, "at most 8 bytes")),
            _ => {}
        }
        let mut wide = [0; 8];
        if let Some(low) = wide.get_mut(..count) {
            low.copy_from_slice(self.bytes(count)?);
        }
        Ok(u64::from_le_bytes(wide))
    }

    /// Reads an address ("Size of Offsets" bytes). All bits set is the undefined address.
    #[inline]
    pub fn addr(&mut self) -> Result<Addr> {
        if self.widths.offset == Width::Sixteen {
            return self.wide_addr();
        }
        let value = self.uint(self.widths.offset.bytes())?;
        Ok(if value == self.widths.offset.max() { Addr::UNDEFINED } else { Addr::new(value) })
    }

    /// Reads an address of sixteen bytes.
    fn wide_addr(&mut self) -> Result<Addr> {
        match (self.u64()?, self.u64()?) {
            (u64::MAX, u64::MAX) => Ok(Addr::UNDEFINED),
            (low, 0) if low != u64::MAX => Ok(Addr::new(low)),
            (_, high) => Err(self.error_back(
                8,
                ErrorKind::Value {
                    field: "upper half of an address",
                    value: high,
                    expected: "0: addresses of 2^64 and more cannot be read",
                },
            )),
        }
    }

    /// Reads a length ("Size of Lengths" bytes).
    #[inline]
    pub fn length(&mut self) -> Result<u64> {
        self.uint(self.widths.length.bytes())
    }

    /// Reads a length for which all bits set means "undefined" or "unlimited".
    pub fn length_or_max(&mut self) -> Result<Option<u64>> {
        let value = self.length()?;
        Ok((value != self.widths.length.max()).then_some(value))
    }

    /// Reads and checks the structure's signature.
    pub fn signature(&mut self, expected: &[u8; 4]) -> Result<()> {
        let found = self.array()?;
        if found == *expected {
            return Ok(());
        }
        Err(self.error_back(4, ErrorKind::Signature { found, expected: *expected }))
    }

    /// Reads a version number and checks that it is `expected`.
    pub fn version(&mut self, expected: u8) -> Result<()> {
        let found = self.u8()?;
        if found == expected {
            return Ok(());
        }
        let known = ["0", "1", "2", "3", "4", "5"].get(usize::from(expected)).unwrap_or(&"others");
        Err(self.error_back(1, ErrorKind::Version { found, known }))
    }

    /// Reads a version number and checks that it is in `range`. Errors print the range as `known`.
    pub fn version_in(&mut self, range: std::ops::RangeInclusive<u8>, known: &'static str) -> Result<u8> {
        let found = self.u8()?;
        if range.contains(&found) {
            return Ok(found);
        }
        Err(self.error_back(1, ErrorKind::Version { found, known }))
    }

    /// Reads the checksum and compares it with the computed checksum of the bytes since the structure began.
    pub fn checksum(&mut self) -> Result<()> {
        let computed = lookup3(self.bytes.get(self.start..self.position).unwrap_or_default());
        let stored = self.u32()?;
        if stored == computed {
            return Ok(());
        }
        Err(self.error_back(4, ErrorKind::Checksum { stored, computed }))
    }

    /// Reads up to a zero byte, and returns the bytes before it.
    pub fn zero_terminated(&mut self) -> Result<&'a [u8]> {
        let rest = self.bytes.get(self.position..).unwrap_or_default();
        let Some(len) = rest.iter().position(|&byte| byte == 0) else {
            let needed = self.bytes.len() as u64 + 1;
            return Err(self.error(ErrorKind::Truncated { needed, have: self.bytes.len() as u64 }));
        };
        let text = self.bytes(len)?;
        self.skip(1)?;
        Ok(text)
    }

    /// Reads UTF-8 text up to a zero byte. Errors carry the name `field`.
    pub fn zero_terminated_text(&mut self, field: &'static str) -> Result<String> {
        let bytes = self.zero_terminated()?;
        String::from_utf8(bytes.to_vec())
            .map_err(|_| self.error_back(bytes.len() + 1, ErrorKind::Text { field }))
    }

    /// Reads up to a zero byte, and returns the name before it.
    pub fn zero_terminated_name(&mut self) -> Result<String> {
        self.zero_terminated().map(name::from_bytes)
    }

    /// Reads a name of `count` bytes.
    pub fn name(&mut self, count: usize) -> Result<String> {
        self.bytes(count).map(name::from_bytes)
    }

    /// Reads UTF-8 text of `count` bytes. Errors carry the name `field`.
    pub fn text(&mut self, count: usize, field: &'static str) -> Result<String> {
        let bytes = self.bytes(count)?;
        String::from_utf8(bytes.to_vec()).map_err(|_| self.error_back(count, ErrorKind::Text { field }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Width;

    fn reader(bytes: &[u8]) -> Reader<'_> {
        Reader::new(bytes, Widths { offset: Width::Four, length: Width::Two }, Addr::new(0x100))
    }

    #[test]
    fn a_short_read_reports_the_number_of_bytes_needed() {
        let mut r = reader(&[1, 2, 3]);
        r.u16().unwrap();
        let error = r.u32().unwrap_err();
        assert_eq!(error.kind, ErrorKind::Truncated { needed: 6, have: 3 });
        assert_eq!((error.at, error.offset), (Addr::new(0x100), 2));
    }

    #[test]
    fn addresses_and_lengths_have_the_given_widths() {
        let mut r = reader(&[0xff, 0xff, 0xff, 0xff, 5, 0, 0xff, 0xff]);
        assert!(r.addr().unwrap().is_undefined());
        assert_eq!(r.length().unwrap(), 5);
        assert_eq!(r.length_or_max().unwrap(), None);
        assert!(r.is_at_end());
    }

    #[test]
    fn a_sub_reader_ends_after_its_bytes() {
        let mut r = reader(&[1, 2, 3, 4]);
        let mut sub = r.sub(2).unwrap();
        assert_eq!(sub.u16().unwrap(), 0x0201);
        assert!(sub.u8().is_err());
        assert_eq!(r.u8().unwrap(), 3);
    }
}
