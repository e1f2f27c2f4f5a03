//! Items: texts or other data of different lengths, in memory that the library owns until `hs_free`.

use std::mem::MaybeUninit;
use std::ptr;

use crate::failure::Failure;
use crate::handle::{self, HandleEntry};
use crate::structs::hs_items;

/// The memory of items.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    offsets: Vec<u64>,
    lengths: Vec<u64>,
    /// The bytes, in words: so they are aligned for every kind of element.
    words: Vec<u64>,
}

/// What items are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ItemKind {
    /// Texts: each is followed by a zero byte.
    Text,
    /// Data: each begins at a multiple of 8.
    Data,
}

impl ItemKind {
    /// Returns the bytes that an item of `len` bytes takes.
    fn room(self, len: usize) -> usize {
        match self {
            Self::Text => len.saturating_add(1),
            Self::Data => len.checked_next_multiple_of(8).unwrap_or(usize::MAX),
        }
    }
}

impl hs_items {
    /// No items, and no memory.
    pub(crate) const NONE: Self = Self {
        count: 0,
        offsets: ptr::null(),
        lengths: ptr::null(),
        bytes: ptr::null(),
        owner: ptr::null_mut(),
    };
}

impl Memory {
    /// Copies items.
    fn of<'i>(kind: ItemKind, items: impl Iterator<Item = &'i [u8]> + Clone) -> Result<Self, Failure> {
        let room = items.clone().fold(0_usize, |sum, item| sum.saturating_add(kind.room(item.len())));
        let no_room =
            |_| Failure::request(format!("no memory for {room} bytes of items: read fewer at a time"));
        let mut memory = Self::default();
        // One word more, so that `bytes` is never the address of nothing.
        memory.words.try_reserve_exact(room / 8 + 1).map_err(no_room)?;
        memory.words.resize(room / 8 + 1, 0);
        let count = items.clone().count();
        memory.offsets.try_reserve_exact(count).map_err(no_room)?;
        memory.lengths.try_reserve_exact(count).map_err(no_room)?;
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut memory.words);
        let mut at = 0;
        for item in items {
            bytes[at..at + item.len()].copy_from_slice(item);
            memory.offsets.push(at as u64);
            memory.lengths.push(item.len() as u64);
            at += kind.room(item.len());
        }
        Ok(memory)
    }
}

/// Hands out a copy of items.
pub(crate) fn put<'i>(
    place: &mut MaybeUninit<hs_items>,
    kind: ItemKind,
    items: impl Iterator<Item = &'i [u8]> + Clone,
) -> Result<(), Failure> {
    let memory = Memory::of(kind, items)?;
    let items = hs_items {
        count: memory.offsets.len(),
        offsets: memory.offsets.as_ptr(),
        lengths: memory.lengths.as_ptr(),
        bytes: memory.words.as_ptr().cast(),
        owner: ptr::null_mut(),
    };
    let owner = handle::insert(HandleEntry::Memory(memory))?;
    place.write(hs_items { owner: ptr::without_provenance_mut(owner), ..items });
    Ok(())
}

/// Hands out texts.
pub(crate) fn put_texts<T: AsRef<str>>(
    place: &mut MaybeUninit<hs_items>,
    texts: &[T],
) -> Result<(), Failure> {
    put(place, ItemKind::Text, texts.iter().map(|text| text.as_ref().as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(memory: &Memory) -> &[u8] {
        bytemuck::cast_slice(&memory.words)
    }

    #[test]
    fn texts_end_with_a_zero_byte() {
        let texts: [&[u8]; 3] = [b"ab", b"", b"cde"];
        let memory = Memory::of(ItemKind::Text, texts.into_iter()).unwrap();
        assert_eq!((&memory.offsets[..], &memory.lengths[..]), (&[0, 3, 4][..], &[2, 0, 3][..]));
        assert_eq!(&bytes(&memory)[..8], b"ab\0\0cde\0");
    }

    #[test]
    fn data_begin_at_multiples_of_eight() {
        let data: [&[u8]; 3] = [&[1; 9], &[], &[2; 8]];
        let memory = Memory::of(ItemKind::Data, data.into_iter()).unwrap();
        assert_eq!(memory.offsets, [0, 16, 16]);
        assert_eq!(bytes(&memory)[16..24], [2; 8]);
    }
}
