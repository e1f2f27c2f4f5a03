//! TIFF 6.0 files without compression: one grey page for each plane of numbers.

use crate::answer::{Answered, Refusal};
use crate::limits::MOST_BYTES;
use crate::number::{Kind, Numbers};

/// A picture: the header, the planes, then a directory for each of them.
#[derive(Debug)]
pub(crate) struct Picture {
    width: u32,
    height: u32,
    pages: u32,
    bits: u16,
    format: u16,
    /// The bytes of a page.
    page: u32,
}

/// The bytes of the header.
const HEAD: u32 = 8;
/// The entries of a directory.
const ENTRIES: u16 = 10;
/// The bytes of a directory: the number of entries, entries of 12 bytes, the offset of the next directory.
const DIRECTORY: u32 = 2 + 12 * ENTRIES as u32 + 4;

const SHORT: u16 = 3;
const LONG: u16 = 4;

/// Returns the bytes beside the elements of a picture of this shape.
pub(crate) fn most_head(shape: &[u64]) -> Answered<u64> {
    let pages = shape.iter().rev().skip(2).try_fold(1_u64, |pages, len| pages.checked_mul(*len));
    let bytes =
        pages.and_then(|pages| pages.checked_mul(DIRECTORY.into())).filter(|bytes| *bytes <= MOST_BYTES);
    Ok(u64::from(HEAD) + bytes.ok_or_else(|| Refusal::too_large(MOST_BYTES))?)
}

impl Picture {
    /// Creates the picture of little-endian numbers. An array of one dimension is one row; more than two are
    /// pages.
    pub(crate) fn new(numbers: &Numbers, shape: &[u64]) -> Answered<Self> {
        let small = |len: u64| u32::try_from(len).ok();
        let mut lengths = shape.iter().rev().copied();
        let (width, height) = (lengths.next().unwrap_or(1), lengths.next().unwrap_or(1));
        let pages = lengths.product::<u64>();
        let page = width.checked_mul(height).and_then(|count| count.checked_mul(numbers.size.into()));
        let sizes = (|| Some((small(width)?, small(height)?, small(pages)?, small(page?)?)))();
        let Some((width, height, pages, page)) = sizes.filter(|(.., page)| *page > 0) else {
            return Err(Refusal::argument("Unsupported encoding tiff for an array of this shape"));
        };
        let format = match numbers.kind {
            Kind::Bool | Kind::Unsigned => 1,
            Kind::Signed => 2,
            Kind::Float => 3,
            Kind::Complex => 6,
        };
        // Numbers have at most 16 bytes.
        let bits = u16::try_from(8 * numbers.size).unwrap_or(u16::MAX);
        Ok(Self { width, height, pages, bits, format, page })
    }

    /// Returns the bytes before the elements.
    pub(crate) fn head(&self) -> Vec<u8> {
        let mut head = b"II\x2a\x00".to_vec();
        head.extend(self.directory_at(0).to_le_bytes());
        head
    }

    /// Returns the number of bytes after the elements.
    pub(crate) fn tail_len(&self) -> usize {
        (self.pages * DIRECTORY + 1) as usize
    }

    /// Returns the offset of a directory, which is even. An answer is smaller than 4 GiB.
    fn directory_at(&self, page: u32) -> u32 {
        (HEAD + self.pages * self.page).next_multiple_of(2) + page * DIRECTORY
    }

    /// Appends the directories to the header and the elements.
    pub(crate) fn finish(&self, bytes: &mut Vec<u8>) {
        bytes.resize(self.directory_at(0) as usize, 0);
        for page in 0..self.pages {
            bytes.extend(ENTRIES.to_le_bytes());
            let entries: [(u16, u16, u32); ENTRIES as usize] = [
                (256, LONG, self.width),
                (257, LONG, self.height),
                (258, SHORT, self.bits.into()),
                (259, SHORT, 1), // no compression
                (262, SHORT, 1), // black is zero
                (273, LONG, HEAD + page * self.page),
                (277, SHORT, 1), // samples of a pixel
                (278, LONG, self.height),
                (279, LONG, self.page),
                (339, SHORT, self.format.into()),
            ];
            for (tag, kind, value) in entries {
                bytes.extend(tag.to_le_bytes());
                bytes.extend(kind.to_le_bytes());
                bytes.extend(1_u32.to_le_bytes());
                bytes.extend(value.to_le_bytes());
            }
            let next = if page + 1 < self.pages { self.directory_at(page + 1) } else { 0 };
            bytes.extend(next.to_le_bytes());
        }
    }
}
