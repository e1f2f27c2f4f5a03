//! Data that repeat one element: how they are detected, and how they are passed on without being stored.

use crate::convert::{Converting, Room, User, hand};
use crate::source::DecodedSource;

/// Returns the first element of `data`, of `size` bytes, if all other elements are equal to it. The
/// comparison stops at the first difference, and runs at the speed of memory because it compares each element
/// with the one before.
pub fn repeated(data: &[u8], size: usize) -> Option<&[u8]> {
    let (first, rest) = data.split_at_checked(size)?;
    (!first.is_empty() && data.len().is_multiple_of(size) && *rest == data[..rest.len()]).then_some(first)
}

/// Passes elements to `user` that consist of `bytes`, again and again.
pub(crate) fn hand_repeated<U: User>(
    bytes: &[u8],
    converting: Option<Converting<'_>>,
    room: &mut Room,
    user: &mut U,
) {
    match bytes.split_first() {
        Some((&byte, rest)) if rest.iter().all(|&other| other == byte) => {
            hand(&Byte(byte), converting, room, user);
        }
        _ => hand(&Repeated(bytes), converting, room, user),
    }
}

/// A source that repeats one byte.
struct Byte(u8);

impl DecodedSource for Byte {
    #[inline]
    fn copy(&self, _at: usize, into: &mut [u8]) {
        into.fill(self.0);
    }

    #[inline]
    fn repeats(&self, _size: usize) -> bool {
        true
    }
}

/// A source that repeats some bytes, starting at the start of the chunk.
struct Repeated<'a>(&'a [u8]);

impl DecodedSource for Repeated<'_> {
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

    #[inline]
    fn repeats(&self, size: usize) -> bool {
        size.is_multiple_of(self.0.len())
    }
}
