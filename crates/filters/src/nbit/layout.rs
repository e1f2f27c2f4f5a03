//! The datatype that N-bit's client data describe.

use crate::error::Result;

use super::wrong;

/// A datatype, as far as its bits are significant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Layout {
    Number(Significant),
    /// This many bytes, all significant.
    Bytes(usize),
    Array {
        size: usize,
        count: usize,
        base: Box<Layout>,
    },
    /// Members with their offsets.
    Compound {
        size: usize,
        members: Vec<(usize, Layout)>,
    },
}

/// A number with `precision` significant bits, the lowest of which is bit `offset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Significant {
    pub(super) size: usize,
    pub(super) is_big_endian: bool,
    pub(super) precision: u32,
    pub(super) offset: u32,
}

impl Significant {
    /// Returns the places of the bytes with significant bits, from the least significant byte.
    pub(super) fn places(self) -> std::ops::Range<usize> {
        (self.offset / 8) as usize..(self.offset + self.precision).div_ceil(8) as usize
    }
}

/// The codes of the classes in the client data.
pub(crate) mod class {
    pub(crate) const NUMBER: u32 = 1;
    pub(crate) const ARRAY: u32 = 2;
    pub(crate) const COMPOUND: u32 = 3;
    pub(crate) const BYTES: u32 = 4;
}

impl Layout {
    /// The deepest nesting. Each level takes room on the stack.
    const DEPTH: usize = 64;

    /// Decodes a datatype. After an array of arrays or of compounds, libhdf5 takes the parameters of the base
    /// for those of the next member of a compound. `as_libhdf5` does the same, as files are written so.
    pub(super) fn decode(parameters: &[u32], as_libhdf5: bool) -> Result<Self> {
        let mut input = Parameters { values: parameters, at: 0, as_libhdf5, left: parameters.len() };
        input.next().and_then(|class| input.class(class, Self::DEPTH))
    }

    /// Returns the size of an element in bytes.
    pub(super) fn size(&self) -> usize {
        match *self {
            Self::Number(Significant { size, .. })
            | Self::Bytes(size)
            | Self::Array { size, .. }
            | Self::Compound { size, .. } => size,
        }
    }

    /// Returns the number of significant bits.
    pub(super) fn bits(&self) -> u64 {
        match self {
            Self::Number(number) => number.precision.into(),
            Self::Bytes(len) => *len as u64 * 8,
            Self::Array { count, base, .. } => base.bits().saturating_mul(*count as u64),
            Self::Compound { members, .. } => {
                members.iter().fold(0, |bits, (_, member)| member.bits().saturating_add(bits))
            }
        }
    }
}

struct Parameters<'a> {
    values: &'a [u32],
    at: usize,
    as_libhdf5: bool,
    /// The datatypes that may still be decoded. Parameters that are taken twice could double their number at
    /// every level.
    left: usize,
}

impl Parameters<'_> {
    fn next(&mut self) -> Result<u32> {
        let found = self.values.get(self.at).copied();
        self.at += 1;
        found.ok_or_else(|| wrong("number of values", self.values.len() as u64 + 3, "all of the datatype"))
    }

    /// Decodes a datatype of this class. Its size is next.
    fn class(&mut self, class: u32, depth: usize) -> Result<Layout> {
        if depth == 0 {
            return Err(wrong("depth of the datatype", Layout::DEPTH as u64 + 1, "at most 64"));
        }
        self.left = self.left.checked_sub(1).ok_or_else(|| {
            wrong("number of datatypes", self.values.len() as u64, "less than that of values")
        })?;
        let size = self.next()?;
        if size == 0 {
            return Err(wrong("size", 0, "1 or more"));
        }
        let size = size as usize;
        match class {
            class::NUMBER => self.number(size).map(Layout::Number),
            class::BYTES => Ok(Layout::Bytes(size)),
            class::ARRAY => self.array(size, depth - 1),
            class::COMPOUND => self.compound(size, depth - 1),
            other => Err(wrong("class", other.into(), "1 to 4")),
        }
    }

    fn number(&mut self, size: usize) -> Result<Significant> {
        let (order, precision, offset) = (self.next()?, self.next()?, self.next()?);
        if order > 1 {
            return Err(wrong("byte order", order.into(), "0 or 1"));
        }
        let bits = u64::from(precision) + u64::from(offset);
        if precision == 0 || bits > size as u64 * 8 {
            return Err(wrong(
                "precision",
                precision.into(),
                "at least 1, and at most the bits of the number",
            ));
        }
        Ok(Significant { size, is_big_endian: order == 1, precision, offset })
    }

    fn array(&mut self, size: usize, depth: usize) -> Result<Layout> {
        let class = self.next()?;
        let begin = self.at;
        let base = self.class(class, depth)?;
        if let Layout::Bytes(_) = base {
            return Ok(Layout::Bytes(size));
        }
        if self.as_libhdf5 && matches!(base, Layout::Array { .. } | Layout::Compound { .. }) {
            self.at = begin;
        }
        Ok(Layout::Array { size, count: size / base.size(), base: Box::new(base) })
    }

    fn compound(&mut self, size: usize, depth: usize) -> Result<Layout> {
        let count = self.next()?;
        let mut members = Vec::new();
        let mut used = 0;
        for _ in 0..count {
            let (offset, class) = (self.next()? as usize, self.next()?);
            let member = self.class(class, depth)?;
            used += member.size();
            if offset + member.size() > size || used > size {
                return Err(wrong("offset of a member", offset as u64, "inside the compound"));
            }
            members.push((offset, member));
        }
        Ok(Layout::Compound { size, members })
    }
}
