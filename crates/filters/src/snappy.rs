//! Snappy, filter 32003, in the layout of the registered plugin (Snappy-CUDA): the length of the chunk and of
//! a block as varints, and then each block, after its stored length (4 bytes, little-endian). A block is a
//! Snappy stream without its length.
//!
//! Other programs store a chunk as one Snappy stream under the same number. Such chunks are decoded, too.

use crate::codec::{self, CodecError, External};
use crate::error::{FilterError, Result};
use crate::filter::{Encoded, Filter, FilterId, Scratch, buffer, expansion_bound, prefix};

/// The filter, which has no parameters.
#[derive(Debug)]
pub struct Snappy;

/// The most bytes of a varint for a number of 32 bits.
const VARINT: usize = 5;

impl Snappy {
    const NAME: &'static str = "snappy";
    /// The size of a block, which is the plugin's.
    const BLOCK: usize = 32 << 10;

    /// Decodes the blocks of a chunk. Returns `None` if the bytes do not have the plugin's layout.
    fn decode_blocks(mut src: &[u8], dst: &mut [u8], room: &mut Vec<u8>) -> Option<Result<usize>> {
        let total = take_varint(&mut src)? as usize;
        let block = take_varint(&mut src)? as usize;
        let mut rest = src;
        let blocks = total.checked_div(block)? + usize::from(!total.is_multiple_of(block));
        // The lengths of the blocks must lead to the end of the chunk.
        for _ in 0..blocks {
            let (len, after) = rest.split_first_chunk::<4>()?;
            rest = after.get(u32::from_le_bytes(*len) as usize..)?;
        }
        if !rest.is_empty() {
            return None;
        }
        let decoded = prefix(Self::NAME, dst, total).and_then(|dst| {
            for to in dst.chunks_mut(block) {
                let damaged = CodecError::Damaged.of(Self::NAME, to.len());
                let (len, after) = src.split_first_chunk::<4>().ok_or_else(|| damaged.clone())?;
                let (stored, after) = after.split_at(u32::from_le_bytes(*len) as usize);
                src = after;
                let stream = buffer(room, VARINT + stored.len());
                let front = put_varint(stream, to.len());
                stream[front..front + stored.len()].copy_from_slice(stored);
                if codec::snappy::decode(&stream[..front + stored.len()], to) != Ok(to.len()) {
                    return Err(damaged);
                }
            }
            Ok(total)
        });
        Some(decoded)
    }
}

fn take_varint(src: &mut &[u8]) -> Option<u32> {
    let mut value = 0_u64;
    for place in 0..VARINT {
        let (&byte, rest) = src.split_first()?;
        *src = rest;
        value |= u64::from(byte & 0x7f) << (7 * place);
        if byte < 0x80 {
            return u32::try_from(value).ok();
        }
    }
    None
}

/// Writes a number of at most 32 bits and returns the number of bytes.
fn put_varint(dst: &mut [u8], mut value: usize) -> usize {
    let mut at = 0;
    while value >= 0x80 {
        dst[at] = crate::codec::lz::low(value) | 0x80;
        value >>= 7;
        at += 1;
    }
    dst[at] = crate::codec::lz::low(value);
    at + 1
}

impl Filter for Snappy {
    fn id(&self) -> FilterId {
        FilterId::SNAPPY
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<usize> {
        External::Snappy.check(Self::NAME)?;
        if let Some(decoded) = Self::decode_blocks(src, dst, &mut scratch.filter[0]) {
            return decoded;
        }
        codec::snappy::decode(src, dst).map_err(|error| error.of(Self::NAME, dst.len()))
    }

    fn encode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<Encoded> {
        External::Snappy.check(Self::NAME)?;
        if u32::try_from(src.len()).is_err() {
            return Ok(Encoded::Skipped);
        }
        let dst = prefix(Self::NAME, dst, self.encode_bound(src.len()))?;
        let mut at = put_varint(dst, src.len());
        at += put_varint(&mut dst[at..], Self::BLOCK);
        for block in src.chunks(Self::BLOCK) {
            let damaged = FilterError::damaged(Self::NAME, "the chunk cannot be encoded");
            let mut stream = codec::snappy::stream(block, &mut scratch.codecs.snappy).ok_or(damaged)?;
            take_varint(&mut stream);
            let (stored_len, stored) = dst[at..].split_at_mut(4);
            #[expect(clippy::cast_possible_truncation, reason = "a block has 32 KiB")]
            stored_len.copy_from_slice(&(stream.len() as u32).to_le_bytes());
            stored[..stream.len()].copy_from_slice(stream);
            at += 4 + stream.len();
        }
        Ok(Encoded::Stored(at))
    }

    fn encode_bound(&self, len: usize) -> usize {
        let blocks = len.div_ceil(Self::BLOCK);
        // At most a sixth more, and some bytes for each block.
        len.saturating_add(len / 6).saturating_add(blocks.saturating_mul(64)).saturating_add(2 * VARINT)
    }

    fn decode_bound(&self, decoded: usize) -> usize {
        expansion_bound(decoded)
    }
}

#[cfg(all(test, feature = "snappy"))]
mod tests {
    use super::*;

    #[test]
    fn chunks_have_the_layout_of_the_plugin() {
        let raw = vec![7; Snappy::BLOCK + 3];
        let mut stored = vec![0; Snappy.encode_bound(raw.len())];
        let Ok(Encoded::Stored(len)) = Snappy.encode_into(&raw, &mut stored, &mut Scratch::default()) else {
            panic!("not encoded")
        };
        // 32,771 and 32,768 as varints.
        assert_eq!(stored[..6], [0x83, 0x80, 0x02, 0x80, 0x80, 0x02]);
        // The last block: its length, the tag of 3 literals, and the literals.
        assert_eq!(stored[len - 8..len], [4, 0, 0, 0, 2 << 2, 7, 7, 7]);
    }

    #[test]
    fn a_chunk_that_is_one_stream_decodes_as_well() {
        let raw: Vec<u8> = (0..70_000u32).map(|i| (i / 50).to_le_bytes()[0]).collect();
        let stored = snap::raw::Encoder::new().compress_vec(&raw).unwrap();
        let mut found = vec![0; raw.len()];
        assert_eq!(Snappy.decode_into(&stored, &mut found, &mut Scratch::default()), Ok(raw.len()));
        assert_eq!(found, raw);
    }
}
