//! A note that the writer of a chunk leaves in the header of the chunk's frame, as a metalayer. Other
//! decoders ignore metalayers that they do not know. The note is bound to the frame by a checksum of all its
//! bytes, so that a frame that was changed after the note was written has no note.

use super::frame::{Frame, metalayer};
use super::name;
use crate::filter::FilterId;

/// The most bytes of a note. A longer note is not stored, nor is one with a chunk whose values are truncated.
pub const MAX_NOTE: usize = 4096;
/// The name of the metalayer.
pub(super) const NAME: &[u8] = b"hyperslab";
/// The bytes of the checksum, before the note.
pub(super) const CHECKSUM: usize = 8;

/// The note in a stored chunk of Blosc 2.
#[derive(Debug, Clone, Copy)]
pub struct Note<'a> {
    /// The bytes that the writer of the chunk gave. They mean nothing unless the note [is
    /// intact](Self::is_intact).
    pub bytes: &'a [u8],
    frame: &'a [u8],
    /// The position of the checksum in the frame.
    checksum: usize,
}

/// Returns the note in a stored chunk, if it has one. Looks only at the header of the frame.
pub fn note(stored: &[u8]) -> Option<Note<'_>> {
    let filter = name(FilterId::BLOSC2);
    let frame = Frame::parse(stored, stored.len(), filter).ok()?;
    let content = metalayer(stored.get(..frame.header)?, &[NAME], filter).ok()??;
    let bytes = stored.get(content.start.checked_add(CHECKSUM)?..content.end)?;
    Some(Note { bytes, frame: stored.get(..frame.len)?, checksum: content.start })
}

impl Note<'_> {
    /// Returns whether the frame is the one that the note was written for, byte by byte. Reads all bytes of
    /// the frame.
    pub fn is_intact(&self) -> bool {
        let stored = self.frame.get(self.checksum..).and_then(<[u8]>::first_chunk::<CHECKSUM>);
        stored.is_some_and(|stored| *stored == checksum(self.frame, self.checksum))
    }
}

/// Returns the checksum of a frame, without the bytes of the checksum itself, which are at `at`.
pub(super) fn checksum(frame: &[u8], at: usize) -> [u8; CHECKSUM] {
    let (before, rest) = frame.split_at(at.min(frame.len()));
    mixed(rest.get(CHECKSUM..).unwrap_or_default(), mixed(before, 0)).to_le_bytes()
}

/// An odd number with irregular bits, so that a multiplication moves every bit to many others.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns a 64-bit checksum. Each step maps the states and the words one to one, so a change of a single
/// word always changes the result. Eight independent lanes hide the latency of the multiplication.
fn mixed(bytes: &[u8], seed: u64) -> u64 {
    let mut lanes = [1, 2, 3, 4, 5, 6, 7, 8].map(|lane: u64| seed ^ lane.wrapping_mul(FACTOR));
    let mut step = |block: &[u8; 64]| {
        for (lane, word) in lanes.iter_mut().zip(block.as_chunks().0) {
            *lane = (*lane ^ u64::from_le_bytes(*word)).wrapping_mul(FACTOR).rotate_left(31);
        }
    };
    let (blocks, rest) = bytes.as_chunks();
    blocks.iter().for_each(&mut step);
    let mut last = [0; 64];
    last[..rest.len()].copy_from_slice(rest);
    step(&last);
    lanes.into_iter().fold(bytes.len() as u64, |sum, lane| {
        let sum = (sum ^ lane).wrapping_mul(FACTOR);
        sum ^ sum >> 32
    })
}
