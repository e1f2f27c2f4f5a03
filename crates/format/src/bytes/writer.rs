//! The counterpart of the reader: appends fields to a caller's buffer.

use super::lookup3::lookup3;
use super::{Width, Widths};
use crate::addr::Addr;
use crate::structure::Structure;

/// Appends structures to a buffer.
#[derive(Debug)]
pub struct Writer<'a> {
    bytes: &'a mut Vec<u8>,
    widths: Widths,
    start: usize,
}

impl<'a> Writer<'a> {
    /// Creates a writer that appends to `bytes`, for a file with `widths`.
    pub fn new(bytes: &'a mut Vec<u8>, widths: Widths) -> Self {
        let start = bytes.len();
        Self { bytes, widths, start }
    }

    /// Appends a structure.
    pub fn structure<S: Structure>(&mut self, structure: &S, context: &S::Context) {
        self.within(|w| structure.encode(w, context));
    }

    /// Runs `f` as the encoder of one structure, whose checksum covers the bytes from here.
    pub fn within(&mut self, f: impl FnOnce(&mut Self)) {
        let outer = self.start;
        self.start = self.bytes.len();
        f(self);
        self.start = outer;
    }

    /// Returns the widths of addresses and lengths.
    pub fn widths(&self) -> Widths {
        self.widths
    }

    /// Writes all later addresses and lengths with `widths`, which the superblock has just stated.
    pub fn adopt_widths(&mut self, widths: Widths) {
        self.widths = widths;
    }

    /// Returns the number of bytes appended since the current structure began.
    pub fn written(&self) -> usize {
        self.bytes.len() - self.start
    }

    /// Appends `bytes` unchanged.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends `count` zeros, for reserved bytes and padding.
    pub fn zeros(&mut self, count: usize) {
        self.bytes.resize(self.bytes.len() + count, 0);
    }

    /// Appends `count` zeros, and returns them to be overwritten.
    pub fn room(&mut self, count: usize) -> &mut [u8] {
        let start = self.bytes.len();
        self.zeros(count);
        self.bytes.get_mut(start..).unwrap_or_default()
    }

    /// Appends one byte.
    pub fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    /// Appends a two-byte integer.
    pub fn u16(&mut self, value: u16) {
        self.bytes(&value.to_le_bytes());
    }

    /// Appends a four-byte integer.
    pub fn u32(&mut self, value: u32) {
        self.bytes(&value.to_le_bytes());
    }

    /// Appends an eight-byte integer.
    pub fn u64(&mut self, value: u64) {
        self.bytes(&value.to_le_bytes());
    }

    /// Appends the low `count` bytes (0 to 8) of an integer. The caller ensures that the value fits.
    pub fn uint(&mut self, value: u64, count: usize) {
        debug_assert!(count >= 8 || value >> (8 * count) == 0, "{value} does not fit in {count} bytes");
        let wide = value.to_le_bytes();
        self.bytes(wide.get(..count).unwrap_or(&wide));
    }

    /// Appends an address.
    pub fn addr(&mut self, addr: Addr) {
        let width = self.widths.offset;
        let value = if addr.is_undefined() { width.max() } else { addr.get() };
        self.uint(value, width.bytes().min(8));
        if width == Width::Sixteen {
            self.u64(if addr.is_undefined() { u64::MAX } else { 0 });
        }
    }

    /// Appends a length.
    pub fn length(&mut self, length: u64) {
        self.uint(length, self.widths.length.bytes());
    }

    /// Appends a length, or all bits set for `None`.
    pub fn length_or_max(&mut self, length: Option<u64>) {
        self.length(length.unwrap_or(self.widths.length.max()));
    }

    /// Appends a signature.
    pub fn signature(&mut self, signature: &[u8; 4]) {
        self.bytes(signature);
    }

    /// Appends the checksum of the bytes since the structure began.
    pub fn checksum(&mut self) {
        let sum = lookup3(self.bytes.get(self.start..).unwrap_or_default());
        self.u32(sum);
    }
}
