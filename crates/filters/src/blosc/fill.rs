//! Chunks whose elements are all equal. The destination is filled without decoding.

use super::chunk::Pattern;
use crate::convert::{Converting, Room, User, hand};
use crate::gather::Source;

/// Passes the elements of a chunk to `user`.
pub(super) fn copy<U: User>(
    pattern: &Pattern<'_>,
    converting: Option<Converting<'_>>,
    room: &mut Room,
    user: &mut U,
) {
    match *pattern {
        Pattern::Zero => hand(&Byte(0), converting, room, user),
        Pattern::Bytes(bytes) => match bytes.split_first() {
            Some((&byte, rest)) if rest.iter().all(|&other| other == byte) => {
                hand(&Byte(byte), converting, room, user);
            }
            _ => hand(&Repeated(bytes), converting, room, user),
        },
    }
}

/// A source that repeats one byte.
struct Byte(u8);

impl Source for Byte {
    #[inline]
    fn copy(&self, _at: usize, into: &mut [u8]) {
        into.fill(self.0);
    }
}

/// A source that repeats some bytes, starting at the start of the chunk.
struct Repeated<'a>(&'a [u8]);

impl Source for Repeated<'_> {
    #[inline]
    fn copy(&self, at: usize, into: &mut [u8]) {
        let (end, start) = self.0.split_at(at % self.0.len());
        let (first, rest) = into.split_at_mut(start.len().min(into.len()));
        first.copy_from_slice(&start[..first.len()]);
        let mut periods = rest.chunks_exact_mut(self.0.len());
        for period in periods.by_ref() {
            period[..end.len()].copy_from_slice(end);
            period[end.len()..].copy_from_slice(start);
        }
        for (byte, &value) in periods.into_remainder().iter_mut().zip(end.iter().chain(start)) {
            *byte = value;
        }
    }
}
