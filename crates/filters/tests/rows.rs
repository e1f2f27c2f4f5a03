//! Blosc with elements as long as the rows of tables: each byte of a row is a stream of its own.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests")]
#![allow(clippy::single_range_in_vec_init, reason = "one column is one range")]

use std::ops::Range;

use hyperslab_filters::blosc::Blosc;
use hyperslab_filters::{Axis, ByteMap, Encoded, Filter, FilterId, Gather, Scratch};

/// Returns rows of `size` bytes: counters, repeated bytes and noise.
fn rows(count: usize, size: usize) -> Vec<u8> {
    let mut state = size as u64;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state.to_le_bytes()[7]
    };
    let byte = |row: usize, at: usize| match at % 4 {
        0 => row.to_le_bytes()[0],
        1 => (row >> 6).to_le_bytes()[0],
        2 => at.to_le_bytes()[0],
        _ => 0,
    };
    let mut bytes = Vec::with_capacity(count * size);
    for row in 0..count {
        bytes.extend((0..size).map(|at| byte(row, at) ^ if at % 4 == 3 { noise() } else { 0 }));
    }
    bytes
}

fn encode(id: FilterId, parameters: [u32; 3], size: usize, raw: &[u8]) -> (Blosc, Option<Vec<u8>>) {
    let [level, shuffle, codec] = parameters;
    let client = [1, 0, u32::try_from(size).unwrap(), 0, level, shuffle, codec];
    let blosc = Blosc::new(id, &client, size, raw.len()).unwrap();
    let mut stored = vec![0; blosc.encode_bound(raw.len())];
    let encoded = blosc.encode_into(raw, &mut stored, &mut Scratch::default()).unwrap();
    let Encoded::Stored(len) = encoded else { return (blosc, None) };
    stored.truncate(len);
    (blosc, Some(stored))
}

/// Returns the place of each stream of each block of the only chunk of a frame, without the stream's length.
fn streams(stored: &[u8]) -> Vec<Vec<Range<usize>>> {
    let word = |at: usize| i32::from_le_bytes(stored[at..at + 4].try_into().unwrap());
    let size = |at: usize| usize::try_from(word(at)).unwrap();
    let chunk = usize::try_from(u32::from_be_bytes(stored[11..15].try_into().unwrap())).unwrap();
    let (flags, type_size) = (stored[chunk + 2], usize::from(stored[chunk + 3]));
    let (decoded, block_size) = (size(chunk + 4), size(chunk + 8));
    if flags & 0x02 != 0 {
        // The chunk is stored uncompressed, as one stream after the header.
        return vec![vec![chunk + 32..chunk + 32 + decoded]];
    }
    let block = |index: usize| {
        let is_split = flags & 0x10 == 0 && (index + 1) * block_size <= decoded;
        let mut at = chunk + size(chunk + 32 + 4 * index);
        let stream = |_| {
            // A length of at most 0 stands for a repeated byte. One byte follows unless it is zero.
            let len = usize::try_from(word(at)).unwrap_or(1);
            let place = at + 4..at + 4 + len;
            at = place.end;
            place
        };
        (0..if is_split { type_size } else { 1 }).map(stream).collect()
    };
    (0..decoded.div_ceil(block_size)).map(block).collect()
}

#[test]
fn rows_of_every_size_are_decoded_as_they_were_encoded() {
    let (mut scratch, mut split) = (Scratch::default(), 0);
    for size in 1..=255 {
        let raw = rows(20_000 / size + 300, size);
        // BloscLZ and LZ4 at each size, and one of the other codecs.
        for codec in [0, 1, [2, 4, 5][size % 3]] {
            let level = u32::try_from(1 + (size + codec) % if codec < 2 { 9 } else { 5 }).unwrap();
            let codec = u32::try_from(codec).unwrap();
            for id in [FilterId::BLOSC, FilterId::BLOSC2] {
                let (blosc, stored) = encode(id, [level, 1, codec], size, &raw);
                let Some(stored) = stored else { continue };
                let mut back = vec![0xee; raw.len()];
                assert_eq!(blosc.decode_into(&stored, &mut back, &mut scratch), Ok(raw.len()));
                assert!(back == raw, "{id}, rows of {size} bytes, codec {codec}, level {level}");
                let is_split = id == FilterId::BLOSC2 && streams(&stored)[0].len() == size;
                split += u32::from(is_split && size > 16);
            }
        }
    }
    assert!(split > 500, "only {split} chunks are split");
}

#[test]
fn a_row_of_more_than_16_bytes_is_split_into_streams_by_blosc_2_with_a_shuffle_and_a_fast_codec() {
    let raw = rows(20_000, 32);
    let parts = |parameters: [u32; 3]| {
        let (_, stored) = encode(FilterId::BLOSC2, parameters, 32, &raw);
        streams(&stored.unwrap())[0].len()
    };
    for (parameters, expected) in [
        ([5, 1, 0], 32),
        ([9, 1, 1], 32),
        ([5, 1, 5], 32),
        ([6, 1, 5], 1),
        ([5, 1, 2], 1),
        ([5, 1, 4], 1),
        ([5, 0, 1], 1),
        ([5, 2, 1], 1),
    ] {
        assert_eq!(parts(parameters), expected, "{parameters:?}");
    }
    // Blosc 1 has no flag for it: its readers split by the element size.
    let (_, stored) = encode(FilterId::BLOSC, [5, 1, 1], 32, &raw);
    assert_eq!(stored.unwrap()[2] & 0x10, 0x10);
}

#[test]
fn a_column_of_a_row_needs_only_its_own_streams() {
    let (size, count, plane) = (32, 60_000, 24 << 10);
    let raw = rows(count, size);
    let mut scratch = Scratch::default();
    for (codec, columns) in [
        (0, vec![8..12]),
        (1, vec![8..12]),
        (1, vec![28..32, 0..8]),
        (1, vec![3..4, 2..22]),
        (5, vec![31..32]),
    ] {
        let (blosc, stored) = encode(FilterId::BLOSC2, [5, 1, codec], size, &raw);
        let mut stored = stored.unwrap();
        let blocks = streams(&stored);
        assert_eq!(blocks.iter().filter(|block| block.len() == size).count(), count / plane);
        // The last block is one stream, so its rows are not selected.
        for block in blocks.iter().take(count / plane) {
            for (_, place) in block.iter().enumerate().filter(|(k, _)| !columns.iter().any(|r| r.contains(k)))
            {
                stored[place.clone()].fill(0xff);
            }
        }
        let selected = count / plane * plane;
        let map = ByteMap::columns(size, &columns).unwrap();
        let width: usize = columns.iter().map(Range::len).sum();
        let axes = [Axis { start: 0, step: 1, count: selected, stride: width.cast_signed() }];
        let shape = [count];
        let gather = Gather { convert: Some(&map), ..Gather::new(size, &shape, &axes, 0) };
        let mut found = vec![0; width * selected];
        blosc.scatter_into(&stored, &gather, &mut found[..], &mut scratch).unwrap();
        let wanted = |row: &[u8]| columns.iter().flat_map(|r| row[r.clone()].to_vec()).collect::<Vec<_>>();
        let expected: Vec<u8> = raw.chunks_exact(size).take(selected).flat_map(wanted).collect();
        assert!(found == expected, "codec {codec}, columns {columns:?}");
    }
}
