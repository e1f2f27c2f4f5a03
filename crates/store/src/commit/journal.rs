//! The journal of one transaction: the information needed to finish it, stored in the tail of the file
//! itself.
//!
//! A tail is the bytes after the End of File Address. Readers ignore it, and libhdf5 cuts it when it has
//! written (spec II.A lets users keep content of their own there). A journal found at open therefore belongs
//! to the bytes before it. Its format is, little-endian:
//!
//! ```text
//! header      magic, version, length of a superblock, transaction number, offset of the superblock, offset
//!             of the range of elements or zero, number of overwrites; three images of the superblock
//!             (before, guarded, after); CRC-32C of the header so far
//! overwrites  for each: offset, length, CRC-32C of the old bytes, the new bytes;
//!             ascending, without overlap
//! trailer     the last 32 bytes of the file: magic, offset and length of the journal,
//!             CRC-32C of the journal, CRC-32C of the trailer
//! ```
//!
//! Invariants, named in the code of the neighbouring modules:
//!
//! - **J1** A reachable byte of metadata is overwritten only after a journal holding its new value is
//!   durable.
//! - **J2** No overwrite begins before the guard is durable, so no other program sees a half-applied change.
//! - **J3** Redo is idempotent: overwrites are absolute bytes, not edits.
//! - **J4** The tail is cut only after the final superblock is durable.
//! - **J5** Space freed by a transaction is not allocated again until that transaction is durable and no open
//!   snapshot of this process is older.
//! - **J6** If the superblock is neither one of the journal's images nor a byte-wise mixture of them, the
//!   file is refused. Nothing is guessed.
//!
//! Assumptions about the medium: a write inside one sector of 512 bytes is all or nothing, or detectably
//! torn; after a flush, writes are durable; a write changes no byte outside its range.

use hyperslab_error::{Error, Result};
use hyperslab_format::superblock::Superblock;
use hyperslab_format::superblock::guard::{self, Reach};
use hyperslab_format::{Addr, Reader, Widths, Writer};
use hyperslab_io::driver::Driver;

use crate::space::raw_data_range;

/// A transaction as recorded in its journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Journal {
    pub(crate) transaction: u64,
    /// The offset of the range of elements, or 0 if the file has none.
    pub(crate) elements: u64,
    pub(crate) images: Images,
    pub(crate) overwrites: Vec<Entry>,
}

/// The states of the superblock during a transaction. All images have the same length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Images {
    /// The file offset of the superblock.
    pub(crate) at: u64,
    pub(crate) before: Vec<u8>,
    pub(crate) guarded: Vec<u8>,
    pub(crate) after: Vec<u8>,
}

/// One overwrite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) offset: u64,
    pub(crate) old_crc32c: u32,
    pub(crate) bytes: Vec<u8>,
}

/// The result of looking for a journal at the end of a file.
#[derive(Debug)]
pub(crate) enum Found {
    /// No journal.
    Absent,
    /// The trailer of a damaged journal, with the images of the superblock if they are intact.
    Torn(Option<Images>),
    /// An intact journal.
    Whole(Journal),
    /// The journal of a file in other ranges: of one with a range of elements (`is_split`), in one without,
    /// or the other way round.
    OfOtherRanges { images: Images, is_split: bool },
}

impl Journal {
    /// Returns the number of bytes that [`encode`](Self::encode) returns.
    pub(crate) fn encoded_len(&self) -> u64 {
        let header = HEADER_LEN + 3 * self.images.before.len() + 4;
        let entries: usize = self.overwrites.iter().map(|entry| ENTRY_LEN + entry.bytes.len()).sum();
        (header + entries + TRAILER_LEN) as u64
    }

    /// Returns the journal and its trailer, for file offset `at`.
    pub(crate) fn encode(&self, at: u64) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(usize::try_from(self.encoded_len()).unwrap_or(0));
        let mut w = Writer::new(&mut bytes, Widths::EIGHT);
        w.bytes(MAGIC);
        w.u32(VERSION);
        w.uint(self.images.before.len() as u64, 4);
        w.u64(self.transaction);
        w.u64(self.images.at);
        w.u64(self.elements);
        w.u64(self.overwrites.len() as u64);
        for image in [&self.images.before, &self.images.guarded, &self.images.after] {
            w.bytes(image);
        }
        seal(&mut bytes, 0);
        let mut w = Writer::new(&mut bytes, Widths::EIGHT);
        for entry in &self.overwrites {
            w.u64(entry.offset);
            w.u64(entry.bytes.len() as u64);
            w.u32(entry.old_crc32c);
            w.bytes(&entry.bytes);
        }
        let (len, crc) = (bytes.len(), crc32c::crc32c(&bytes));
        let mut w = Writer::new(&mut bytes, Widths::EIGHT);
        w.bytes(TRAILER_MAGIC);
        w.u64(at);
        w.u64(len as u64);
        w.u32(crc);
        seal(&mut bytes, len);
        bytes
    }

    /// Decodes the journal that `encode` made for offset `at`, without the trailer. Returns `None` if it is
    /// invalid.
    fn decode(bytes: &[u8], at: u64) -> Option<Self> {
        let mut r = Reader::new(bytes, Widths::EIGHT, Addr::new(0));
        let Header { transaction, elements, images, overwrites: entries } = header(&mut r)?;
        images.check(at, elements)?;
        // Overwrites must ascend without overlap, so that they can be applied in any order.
        let mut overwrites: Vec<Entry> = Vec::new();
        let mut end = 0;
        for _ in 0..entries {
            let (offset, len, old_crc32c) = (r.u64().ok()?, r.u64().ok()?, r.u32().ok()?);
            (offset >= end).then_some(())?;
            let is_element = elements > 0 && offset >= elements;
            end = offset.checked_add(len).filter(|&end| is_element || end <= at)?;
            let bytes = r.bytes(usize::try_from(len).ok()?).ok()?.to_vec();
            overwrites.push(Entry { offset, old_crc32c, bytes });
        }
        r.is_at_end().then_some(Self { transaction, elements, images, overwrites })
    }
}

impl Images {
    /// Checks that a transaction with its journal at `journal_at` could have these images.
    fn check(&self, journal_at: u64, elements: u64) -> Option<()> {
        let end = |image: &[u8]| decode_superblock(image, self.at).ok().map(|found| found.end_of_file());
        let holds = end(&self.before)? <= journal_at
            && end(&self.after)? <= journal_at
            && guard::set(&self.before, reach(elements))? == self.guarded;
        holds.then_some(())
    }
}

/// Looks for a journal at the end of a file of `file_len` bytes. No allocation uses a size that has not been
/// verified.
pub(crate) fn find(driver: &dyn Driver, file_len: u64) -> Result<Found> {
    let Some(trailer_at) = file_len.checked_sub(TRAILER_LEN as u64) else { return Ok(Found::Absent) };
    let mut trailer = [0; TRAILER_LEN];
    read(driver, trailer_at, &mut trailer)?;
    if !trailer.starts_with(TRAILER_MAGIC) {
        return Ok(Found::Absent);
    }
    let Some((at, len, crc)) = decode_trailer(&trailer) else { return Ok(Found::Torn(None)) };
    if at.checked_add(len) != Some(trailer_at) {
        return Ok(Found::Torn(None));
    }
    let mut head = vec![0; usize::try_from(len).unwrap_or(usize::MAX).min(LONGEST_HEADER)];
    read(driver, at, &mut head)?;
    let mut r = Reader::new(&head, Widths::EIGHT, Addr::new(0));
    let header = header(&mut r).filter(|header| header.images.check(at, header.elements).is_some());
    let Some(Header { images, elements, .. }) = header else { return Ok(Found::Torn(None)) };
    if elements != raw_data_range::start(driver) {
        return Ok(Found::OfOtherRanges { images, is_split: elements > 0 });
    }
    if crc_of(driver, at, len)? != crc {
        return Ok(Found::Torn(Some(images)));
    }
    let Ok(size) = usize::try_from(len) else { return Ok(Found::Torn(Some(images))) };
    let mut bytes = vec![0; size];
    read(driver, at, &mut bytes)?;
    Ok(Journal::decode(&bytes, at).map_or(Found::Torn(Some(images)), Found::Whole))
}

struct Header {
    transaction: u64,
    elements: u64,
    images: Images,
    overwrites: u64,
}

fn header(r: &mut Reader<'_>) -> Option<Header> {
    let mut ahead = r.clone();
    (r.bytes(MAGIC.len()).ok()? == MAGIC && r.u32().ok()? == VERSION).then_some(())?;
    let len = usize::try_from(r.u32().ok()?).ok().filter(|&len| len <= LONGEST_SUPERBLOCK)?;
    let (transaction, at) = (r.u64().ok()?, r.u64().ok()?);
    let elements = r.u64().ok()?;
    let overwrites = r.u64().ok()?;
    let mut image = || r.bytes(len).ok().map(<[u8]>::to_vec);
    let images = Images { at, before: image()?, guarded: image()?, after: image()? };
    let summed = ahead.bytes(r.position()).ok()?;
    (r.u32().ok()? == crc32c::crc32c(summed)).then_some(Header { transaction, elements, images, overwrites })
}

/// Returns how far the addresses of a file reach whose range of elements begins at this offset, or that has
/// none (0).
fn reach(elements: u64) -> Reach {
    if elements > 0 { Reach::Split } else { Reach::Whole }
}

/// Returns the offset, length and CRC-32C of the journal.
fn decode_trailer(bytes: &[u8]) -> Option<(u64, u64, u32)> {
    let mut r = Reader::new(bytes, Widths::EIGHT, Addr::new(0));
    r.skip(TRAILER_MAGIC.len()).ok()?;
    let found = (r.u64().ok()?, r.u64().ok()?, r.u32().ok()?);
    (r.u32().ok()? == crc32c::crc32c(bytes.get(..TRAILER_LEN - 4)?)).then_some(found)
}

/// Appends the CRC-32C of the bytes from `start` on.
fn seal(bytes: &mut Vec<u8>, start: usize) {
    let crc = crc32c::crc32c(bytes.get(start..).unwrap_or_default());
    bytes.extend_from_slice(&crc.to_le_bytes());
}

/// Returns the CRC-32C of `len` bytes at `offset`, read in pieces.
pub(crate) fn crc_of(driver: &dyn Driver, offset: u64, len: u64) -> Result<u32> {
    let mut piece = vec![0; usize::try_from(len.min(PIECE)).unwrap_or(0)];
    let (mut crc, mut done) = (0, 0);
    while done < len {
        let take = usize::try_from((len - done).min(PIECE)).unwrap_or(0);
        let part = piece.get_mut(..take).unwrap_or_default();
        read(driver, offset + done, part)?;
        crc = crc32c::crc32c_append(crc, part);
        done += take as u64;
    }
    Ok(crc)
}

/// Decodes the superblock in `image`, which is at file offset `at`.
pub(crate) fn decode_superblock(image: &[u8], at: u64) -> hyperslab_format::Result<Superblock> {
    let mut r = Reader::new(image, Widths::EIGHT, Addr::new(0));
    r.structure::<Superblock>(&()).map(|superblock| superblock.relocated(at))
}

pub(crate) fn read(driver: &dyn Driver, offset: u64, dst: &mut [u8]) -> Result<()> {
    driver.read_at(offset, dst).map_err(Error::io("read", offset, dst.len() as u64))
}

const MAGIC: &[u8; 8] = b"hslabjnl";
const TRAILER_MAGIC: &[u8; 8] = b"hslabend";
const VERSION: u32 = 1;
const TRAILER_LEN: usize = 32;
/// The length of a version 1 superblock with addresses of eight bytes.
const LONGEST_SUPERBLOCK: usize = 100;
/// The length of the header before the images and their checksum.
const HEADER_LEN: usize = 48;
const LONGEST_HEADER: usize = HEADER_LEN + 3 * LONGEST_SUPERBLOCK + 4;
/// The length of an entry before its bytes: offset, length and checksum.
const ENTRY_LEN: usize = 20;
const PIECE: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hyperslab_format::superblock::driver_information::MultiInformation;

    use super::*;
    use hyperslab_io::driver::{Memory, Names, Split};

    fn superblock(end_of_file: u64) -> Vec<u8> {
        let superblock = Superblock::V2(hyperslab_format::superblock::v2::SuperblockV2 {
            version: 3,
            widths: Widths::EIGHT,
            consistency_flags: 0,
            base_address: 0,
            extension: Addr::UNDEFINED,
            end_of_file,
            root: Addr::new(48),
        });
        let mut bytes = Vec::new();
        Writer::new(&mut bytes, Widths::EIGHT).structure(&superblock, &());
        bytes
    }

    fn journal() -> Journal {
        let before = superblock(600);
        let guarded = guard::set(&before, Reach::Whole).unwrap();
        Journal {
            transaction: 7,
            elements: 0,
            images: Images { at: 0, before, guarded, after: superblock(700) },
            overwrites: vec![
                Entry { offset: 100, old_crc32c: 1, bytes: vec![1; 10] },
                Entry { offset: 110, old_crc32c: 2, bytes: vec![2; 3] },
            ],
        }
    }

    fn file_with(journal: &Journal) -> Vec<u8> {
        let mut file = vec![0; 700];
        file.extend(journal.encode(700));
        assert_eq!(file.len() as u64 - 700, journal.encoded_len());
        file
    }

    fn found_in(file: &[u8]) -> Found {
        find(&Memory::new(file.to_vec()), file.len() as u64).unwrap()
    }

    #[test]
    fn an_encoded_journal_is_found() {
        let Found::Whole(found) = found_in(&file_with(&journal())) else { panic!("not whole") };
        assert_eq!(found, journal());
    }

    #[test]
    fn a_journal_with_any_byte_wrong_or_missing_is_not_whole() {
        let whole = file_with(&journal());
        for at in 700..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            assert!(!matches!(found_in(&damaged), Found::Whole(_)), "{at}");
            assert!(matches!(found_in(&whole[..at]), Found::Absent), "{at}");
        }
        let mut moved = vec![0; 8];
        moved.extend(&whole);
        assert!(matches!(found_in(&moved), Found::Torn(None)));
    }

    #[test]
    fn the_images_of_a_journal_with_a_torn_body_are_found() {
        let mut damaged = file_with(&journal());
        let body = damaged.len() - TRAILER_LEN - 1;
        damaged[body] ^= 1;
        assert!(matches!(found_in(&damaged), Found::Torn(Some(images)) if images == journal().images));
    }

    #[test]
    fn an_invalid_journal_is_not_whole() {
        let mut overlapping = journal();
        overlapping.overwrites[1].offset = 109;
        let mut outside = journal();
        outside.overwrites[1].offset = 699;
        let mut endless = journal();
        endless.overwrites[1].offset = u64::MAX;
        let mut end = journal();
        end.images.after = superblock(701);
        for wrong in [overlapping, outside, endless, end] {
            assert!(matches!(found_in(&file_with(&wrong)), Found::Torn(_)));
        }
    }

    /// A file of 700 bytes of metadata and 50 bytes of elements.
    fn split_with(journal: &Journal) -> Split {
        let metadata = Arc::new(Memory::new(file_with(journal)));
        Split::new(metadata, Arc::new(Memory::new(vec![0; 50])), Box::new(NoNames))
    }

    #[derive(Debug)]
    struct NoNames;

    impl Names for NoNames {
        fn sync(&self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_journal_of_two_ranges_is_found_in_a_file_of_two_ranges_only() {
        let mut journal = journal();
        let start = MultiInformation::SPLIT_AT;
        journal.elements = start;
        journal.images.guarded = guard::set(&journal.images.before, Reach::Split).unwrap();
        journal.overwrites.push(Entry { offset: start, old_crc32c: 3, bytes: vec![3; 4] });
        let find = |journal: &Journal| {
            let split = split_with(journal);
            find(&split, split.len().unwrap()).unwrap()
        };
        assert!(matches!(find(&journal), Found::Whole(found) if found == journal));
        assert!(
            matches!(found_in(&file_with(&journal)), Found::OfOtherRanges { is_split: true, .. }),
            "a member alone"
        );
        assert!(matches!(find(&self::journal()), Found::OfOtherRanges { is_split: false, .. }));
        for (offset, guarded) in [(start - 1, Reach::Split), (start, Reach::Whole)] {
            let mut wrong = journal.clone();
            wrong.overwrites[2].offset = offset;
            wrong.images.guarded = guard::set(&journal.images.before, guarded).unwrap();
            assert!(matches!(find(&wrong), Found::Torn(_)));
        }
        let mut endless = journal.clone();
        endless.overwrites[2].offset = u64::MAX - 3;
        assert!(matches!(find(&endless), Found::Torn(_)));
        let mut without = journal;
        without.elements = 0;
        assert!(matches!(find(&without), Found::Torn(_)));
    }

    #[test]
    fn a_foreign_tail_is_not_taken_for_a_journal() {
        for tail in [&b""[..], b"notes", &[0; 500], b"hslabjnl"] {
            assert!(matches!(found_in(tail), Found::Absent));
        }
    }
}
