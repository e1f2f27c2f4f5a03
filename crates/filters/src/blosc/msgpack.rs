//! The part of `MessagePack` in which Blosc 2 writes the headers of frames and their metadata layers.

use std::ops::Range;

use crate::error::{FilterError, Result};

/// Reads the subset of msgpack that the headers use.
pub(super) struct Msgpack<'a> {
    rest: &'a [u8],
    filter: &'static str,
}

impl<'a> Msgpack<'a> {
    pub(super) fn new(rest: &'a [u8], filter: &'static str) -> Self {
        Self { rest, filter }
    }

    /// Returns the number of bytes that were not read.
    pub(super) fn remaining(&self) -> usize {
        self.rest.len()
    }

    fn damaged(&self) -> FilterError {
        FilterError::damaged(self.filter, "unexpected msgpack in the frame's header")
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or_else(|| self.damaged())?;
        self.rest = rest;
        Ok(taken)
    }

    fn unsigned(&mut self, width: usize) -> Result<u64> {
        Ok(self.take(width)?.iter().fold(0, |value, &byte| value << 8 | u64::from(byte)))
    }

    /// Reads a length, either from the tag itself (tags in `short`) or from the bytes after the tag (tags
    /// from `long` on, with the byte counts in `widths`).
    fn len(&mut self, short: Range<u8>, long: u8, widths: &[usize]) -> Result<usize> {
        let tag = self.take(1)?[0];
        if short.contains(&tag) {
            return Ok(usize::from(tag - short.start));
        }
        let width = tag.checked_sub(long).and_then(|number| widths.get(usize::from(number)));
        let len = self.unsigned(*width.ok_or_else(|| self.damaged())?)?;
        usize::try_from(len).map_err(|_| self.damaged())
    }

    /// Reads an integer of any width.
    pub(super) fn integer(&mut self) -> Result<i64> {
        let value = match self.take(1)?[0] {
            small @ 0..=0x7f => i64::from(small),
            small @ 0xe0..=0xff => i64::from(small.cast_signed()),
            tag @ 0xcc..=0xcf => {
                let value = self.unsigned(1 << (tag - 0xcc))?;
                i64::try_from(value).map_err(|_| self.damaged())?
            }
            tag @ 0xd0..=0xd3 => {
                let width = 1 << (tag - 0xd0);
                let unused = 64 - 8 * width;
                (self.unsigned(width)? << unused).cast_signed() >> unused
            }
            _ => return Err(self.damaged()),
        };
        Ok(value)
    }

    /// Reads the head of an array and returns the number of elements that follow.
    pub(super) fn array(&mut self) -> Result<usize> {
        self.len(0x90..0xa0, 0xdc, &[2, 4])
    }

    pub(super) fn map(&mut self) -> Result<usize> {
        self.len(0x80..0x90, 0xde, &[2, 4])
    }

    pub(super) fn string(&mut self) -> Result<&'a [u8]> {
        let len = self.len(0xa0..0xc0, 0xd9, &[1, 2, 4])?;
        self.take(len)
    }

    pub(super) fn binary(&mut self) -> Result<&'a [u8]> {
        let len = self.len(0..0, 0xc4, &[1, 2, 4])?;
        self.take(len)
    }
}
