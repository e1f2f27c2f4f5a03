//! Tests Blosc with chunks made by python-blosc2 and hdf5plugin (`golden/make/blosc_samples.py`).

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests")]

mod conversions;

use std::fmt::Write as _;
use std::path::PathBuf;

use hyperslab_filters::blosc::{Blosc, MAX_NOTE, Spans, note};
use hyperslab_filters::{Axis, ByteMap, Convert, Encoded, Filter, FilterId, Gather, Handed, Scratch, Stores};

use crate::conversions::{conversions, converted};

struct Sample {
    name: String,
    blosc: Blosc,
    element_size: usize,
    shape: Vec<usize>,
    stored: Vec<u8>,
    hash: u64,
}

/// Returns the samples of the repository, or those in the folder that the variable `BLOSC_SAMPLES` names.
fn samples() -> Vec<Sample> {
    let folder = std::env::var_os("BLOSC_SAMPLES").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../golden/files/blosc"),
        PathBuf::from,
    );
    let chunks = std::fs::read(folder.join("samples.bin")).unwrap();
    let lines = std::fs::read_to_string(folder.join("samples.txt")).unwrap();
    let samples = lines.lines().map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| words[at].parse::<usize>().unwrap();
        let shape: Vec<usize> = words[3].split('x').map(|n| n.parse().unwrap()).collect();
        let (element_size, offset) = (number(2), number(4));
        let bytes = element_size * shape.iter().product::<usize>();
        let id = FilterId(words[1].parse().unwrap());
        Sample {
            name: words[0].to_owned(),
            blosc: Blosc::new(id, &[], element_size, bytes).unwrap(),
            element_size,
            shape,
            stored: chunks[offset..offset + number(5)].to_vec(),
            hash: u64::from_str_radix(words[6], 16).unwrap(),
        }
    });
    samples.collect()
}

impl Sample {
    fn bytes(&self) -> usize {
        self.element_size * self.shape.iter().product::<usize>()
    }

    fn decode(&self, scratch: &mut Scratch) -> Vec<u8> {
        let mut out = vec![0xEE; self.bytes()];
        let len = self.blosc.decode_into(&self.stored, &mut out, scratch);
        assert_eq!(len.as_ref(), Ok(&out.len()), "{}", self.name);
        out
    }
}

fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// A small random number generator, so that every run makes the same choices.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    /// Returns a selection of an array of `shape`, and the bytes of a contiguous copy of it.
    fn selection(&mut self, shape: &[usize], element_size: usize) -> (Vec<Axis>, usize) {
        let mut stride = element_size;
        let mut axes = Vec::new();
        for &extent in shape.iter().rev() {
            let start = if self.below(3) == 0 { 0 } else { self.below(extent) };
            let step = if self.below(2) == 0 { 1 } else { 1 + self.below(5) };
            let most = (extent - start).div_ceil(step);
            let count = if self.below(3) == 0 { most } else { 1 + self.below(most) };
            axes.insert(0, Axis { start, step, count, stride: stride.cast_signed() });
            stride *= count;
        }
        (axes, stride)
    }
}

/// Returns the selected elements of a decoded chunk.
fn selected(decoded: &[u8], sample: &Sample, axes: &[Axis]) -> Vec<u8> {
    let size = sample.element_size;
    numbers(sample, axes).into_iter().flat_map(|at| &decoded[at * size..(at + 1) * size]).copied().collect()
}

/// Returns the numbers of the selected elements of a chunk.
fn numbers(sample: &Sample, axes: &[Axis]) -> Vec<usize> {
    let mut numbers = vec![0];
    for (axis, &extent) in axes.iter().zip(&sample.shape) {
        let along = |outer: usize| (0..axis.count).map(move |i| outer * extent + axis.start + i * axis.step);
        numbers = numbers.into_iter().flat_map(along).collect();
    }
    numbers
}

/// Checks selections of a chunk against `decoded`, with all kinds of conversions and destinations.
fn check_conversions(sample: &Sample, decoded: &[u8], random: &mut Random, scratch: &mut Scratch) {
    let size = sample.element_size;
    let most = [4, 16, 40][random.below(3)];
    let picks: Vec<usize> = (0..=random.below(most)).map(|_| random.below(1000)).collect();
    for convert in conversions(size, &picks) {
        let convert = convert.as_deref();
        let (axes, len) = random.selection(&sample.shape, convert.map_or(size, Convert::size));
        let stores = if random.below(2) == 0 { Stores::Cached } else { Stores::PastCache };
        let gather = Gather { convert, stores, ..Gather::new(size, &sample.shape, &axes, 3) };
        let what = format!("{} {axes:?} {convert:?}", sample.name);
        let mut out = vec![0xEE; len + 5];
        assert_eq!(
            sample.blosc.scatter_into(&sample.stored, &gather, &mut out[..], scratch),
            Ok(()),
            "{what}"
        );
        assert!([&out[..3], &out[len + 3..]].concat() == [0xEE; 5], "{what}");
        assert!(out[3..len + 3] == converted(convert, size, &selected(decoded, sample, &axes)), "{what}");
        let mut seen = Vec::new();
        let feed = &mut |Handed { at, count, elements }: Handed<'_>| {
            let given = elements.len() / convert.map_or(size, Convert::size);
            assert!(at.is_multiple_of(size) && count > 0 && elements.len() <= 64 << 10, "{what}");
            assert!(given == count || given == 1, "{what} at {at}");
            let stored = &decoded[at..at + count * size];
            assert!(elements.repeat(count / given) == converted(convert, size, stored), "{what} at {at}");
            seen.extend(at / size..at / size + count);
        };
        assert_eq!(sample.blosc.blocks(&sample.stored, &gather, scratch, feed), Ok(()), "{what}");
        seen.sort_unstable();
        assert!(seen == numbers(sample, &axes), "{what}");
    }
}

#[test]
fn every_chunk_decodes_to_the_bytes_that_were_encoded() {
    let mut scratch = Scratch::default();
    let mut wrong = Vec::new();
    let samples = samples();
    for sample in &samples {
        let mut out = vec![0xEE; sample.bytes()];
        match sample.blosc.decode_into(&sample.stored, &mut out, &mut scratch) {
            Ok(len) if len == out.len() && fnv1a(&out) == sample.hash => {}
            other => wrong.push(format!("{} {:?}: {other:?}", sample.name, sample.shape)),
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), samples.len(), wrong.join("\n"));
}

#[test]
fn a_selection_has_the_same_elements_as_the_decoded_chunk() {
    let mut scratch = Scratch::default();
    let mut random = Random(1);
    for sample in samples() {
        let decoded = sample.decode(&mut scratch);
        for _ in 0..8 {
            let (axes, len) = random.selection(&sample.shape, sample.element_size);
            let gather = Gather::new(sample.element_size, &sample.shape, &axes, 5);
            let mut out = vec![0xEE; len + 7];
            let result = sample.blosc.scatter_into(&sample.stored, &gather, &mut out[..], &mut scratch);
            assert_eq!(result, Ok(()), "{} {axes:?}", sample.name);
            assert_eq!(out[..5], [0xEE; 5]);
            assert_eq!(out[len + 5..], [0xEE; 2]);
            assert!(out[5..len + 5] == selected(&decoded, &sample, &axes), "{} {axes:?}", sample.name);
        }
    }
}

#[test]
fn elements_are_converted_while_they_are_copied() {
    let mut scratch = Scratch::default();
    let mut random = Random(5);
    for sample in samples() {
        let decoded = sample.decode(&mut scratch);
        for _ in 0..4 {
            check_conversions(&sample, &decoded, &mut random, &mut scratch);
        }
    }
}

#[test]
fn a_selection_uses_only_the_byte_ranges_of_spans() {
    let mut scratch = Scratch::default();
    let mut random = Random(2);
    let mut parts = 0;
    for sample in samples() {
        let decoded = sample.decode(&mut scratch);
        for _ in 0..8 {
            let (axes, len) = random.selection(&sample.shape, sample.element_size);
            let gather = Gather::new(sample.element_size, &sample.shape, &axes, 0);
            let mut ranges = Vec::new();
            let mut prefix = 0;
            let spans = loop {
                let known = &sample.stored[..prefix];
                match sample.blosc.spans(known, sample.stored.len(), &gather, &mut ranges).unwrap() {
                    Spans::More(more) => {
                        assert!(more > prefix, "{}", sample.name);
                        prefix = more.min(sample.stored.len());
                    }
                    done => break done,
                }
            };
            if spans == Spans::Whole {
                continue;
            }
            parts += 1;
            let mut sparse = vec![0x55; sample.stored.len()];
            ranges.push(0..prefix);
            for range in ranges {
                sparse[range.clone()].copy_from_slice(&sample.stored[range]);
            }
            let mut out = vec![0xEE; len];
            let result = sample.blosc.scatter_into(&sparse, &gather, &mut out[..], &mut scratch);
            assert_eq!(result, Ok(()), "{} {axes:?}", sample.name);
            assert!(out == selected(&decoded, &sample, &axes), "{} {axes:?}", sample.name);
        }
    }
    assert!(parts > 0, "no sample is long enough to be read in parts");
}

#[test]
fn a_damaged_chunk_gives_an_error_or_other_values_but_no_panic() {
    let mut scratch = Scratch::default();
    let mut random = Random(3);
    for sample in samples() {
        let mut out = vec![0; sample.bytes()];
        for _ in 0..40 {
            let mut stored = sample.stored.clone();
            if random.below(4) == 0 {
                stored.truncate(random.below(stored.len()));
            } else {
                for _ in 0..=random.below(3) {
                    // Half of the changes are in the headers, where most can go wrong.
                    let limit = if random.below(2) == 0 { stored.len() } else { stored.len().min(200) };
                    let at = random.below(limit);
                    stored[at] = match random.below(4) {
                        0 => 0xff,
                        1 => 0,
                        2 => stored[at] ^ (1 << random.below(8)),
                        _ => u8::try_from(random.below(256)).unwrap(),
                    };
                }
            }
            if let Ok(len) = sample.blosc.decode_into(&stored, &mut out, &mut scratch) {
                assert!(len <= out.len());
            }
            let (axes, len) = random.selection(&sample.shape, sample.element_size);
            let gather = Gather::new(sample.element_size, &sample.shape, &axes, 0);
            let mut part = vec![0; len];
            let _ = sample.blosc.scatter_into(&stored, &gather, &mut part[..], &mut scratch);
            let _ = sample.blosc.spans(&stored, stored.len() + 100_000, &gather, &mut Vec::new());
        }
    }
}

#[test]
fn a_truncated_chunk_is_an_error_at_every_length() {
    let mut scratch = Scratch::default();
    for sample in samples().iter().step_by(5) {
        let mut out = vec![0; sample.bytes()];
        for len in 0..sample.stored.len() {
            let result = sample.blosc.decode_into(&sample.stored[..len], &mut out, &mut scratch);
            assert!(result.is_err(), "{} cut to {len}", sample.name);
        }
    }
}

/// Returns elements of `size` bytes: an arithmetic sequence, noise, repetitions, one value only, or NaN.
fn elements(random: &mut Random, size: usize, count: usize) -> Vec<u8> {
    let kind = random.below(6);
    if kind == 5 {
        let element = match (size, random.below(3)) {
            (4, 0) => f32::NAN.to_le_bytes().to_vec(),
            (8, 0) => f64::NAN.to_le_bytes().to_vec(),
            (_, 1) => vec![0; size],
            _ => (0..size).map(|_| random.below(256).to_le_bytes()[0]).collect(),
        };
        return element.repeat(count);
    }
    let mut value = 1_000_000;
    let mut out = Vec::new();
    for index in 0..count {
        match kind {
            0 => value = index * 3,
            1 => value += random.below(7),
            2 if index % 37 == 0 => value = random.below(1 << 30),
            3 => value = random.below(1 << 30),
            _ => {}
        }
        out.extend((0..size).map(|byte| (value >> (8 * (byte % 4))).to_le_bytes()[0]));
    }
    out
}

/// Returns floating-point numbers of `size` bytes with all bits of the mantissa cleared.
fn without_mantissa(raw: &[u8], size: usize) -> Vec<u8> {
    let kept: [u8; 8] =
        if size == 4 { [0, 0, 0x80, 0xff, 0, 0, 0, 0] } else { [0, 0, 0, 0, 0, 0, 0xf0, 0xff] };
    raw.iter().enumerate().map(|(at, byte)| byte & kept[at % size]).collect()
}

/// Encodes chunks with random combinations of parameters. If the variable `BLOSC_ENCODED` names a folder, the
/// chunks are written there, and `golden/make/blosc_check.py` decodes them with python-blosc2.
#[test]
fn decoding_returns_the_encoded_bytes() {
    let mut scratch = Scratch::default();
    let mut random = Random(4);
    let (mut chunks, mut lines) = (Vec::new(), String::new());
    for number in 0..600u32 {
        let size = match random.below(2) {
            0 => 1 + random.below(255),
            _ => [1, 2, 3, 4, 7, 8, 12, 16, 17, 24, 32, 255, 300][random.below(13)],
        };
        let shapes: [&[u32]; 11] = [
            &[1],
            &[700],
            &[50, 37],
            &[1, 20, 20, 9],
            &[3, 1, 130],
            &[2, 1, 3, 2, 1, 5, 2, 2],
            &[2, 1, 3, 2, 1, 5, 2, 2, 3],
            &[64, 64],
            &[40_000],
            &[1, 60, 60, 60],
            &[53, 31, 101],
        ];
        let shape = shapes[random.below(if size < 9 { 11 } else { 8 })];
        let count = shape.iter().product::<u32>() as usize;
        let raw = elements(&mut random, size, count);
        let id = if number % 3 == 0 { FilterId::BLOSC } else { FilterId::BLOSC2 };
        let block = if random.below(3) == 0 { u32::try_from(random.below(9000)).unwrap() } else { 0 };
        let length = u32::try_from(raw.len()).unwrap();
        let codec = [0, 1, 2, 4, 5][random.below(5)];
        let level = if codec > 1 { random.below(8) } else { random.below(10) };
        let type_size = u32::try_from(size).unwrap();
        let change = match number / 3 % if id == FilterId::BLOSC { 3 } else { 5 } {
            4 if !matches!(size, 4 | 8) => 0,
            change => change,
        };
        let mut client = vec![1, block, type_size, length, u32::try_from(level).unwrap(), change, codec];
        if id == FilterId::BLOSC2 && shape.len() > 1 {
            client.push(u32::try_from(shape.len()).unwrap());
            client.extend(shape);
        }
        let blosc = Blosc::new(id, &client, size, raw.len()).unwrap();
        // Truncation loses precision, unless the chunk is stored uncompressed.
        let expected = if change == 4 { without_mantissa(&raw, size) } else { raw.clone() };
        let mut stored = vec![7; blosc.encode_bound(raw.len())];
        let given = (random.below(2) == 0).then(|| vec![0xa5; random.below(MAX_NOTE + 2)]);
        scratch.note.clone_from(&given);
        let Encoded::Stored(len) = blosc.encode_into(&raw, &mut stored, &mut scratch).unwrap() else {
            assert_eq!(id, FilterId::BLOSC, "{client:?}");
            continue;
        };
        stored.truncate(len);
        assert!(stored.len() < 2 * raw.len() + 600 + given.as_ref().map_or(0, Vec::len), "{client:?}");
        let kept = given.filter(|note| {
            id == FilterId::BLOSC2
                && change != 4
                && note.len() <= MAX_NOTE
                && !stored.windows(4).take(200).any(|w| w == b"b2nd")
        });
        let found = note(&stored);
        assert_eq!(found.map(|note| note.bytes), kept.as_deref(), "{client:?}");
        assert!(found.is_none_or(|note| note.is_intact()), "{client:?}");
        let mut back = vec![0xEE; raw.len()];
        let decoded = blosc.decode_into(&stored, &mut back, &mut scratch);
        assert_eq!(decoded, Ok(raw.len()), "{client:?}");
        assert!(back == expected || (change == 4 && back == raw), "{client:?}");
        let sample = Sample {
            name: format!("{client:?}"),
            blosc,
            element_size: size,
            shape: shape.iter().map(|&extent| extent as usize).collect(),
            stored: stored.clone(),
            hash: 0,
        };
        check_conversions(&sample, &back, &mut random, &mut scratch);
        let name = format!("encoded-{number}-{codec}-{level}-{}", client[5]);
        let shape: Vec<String> = shape.iter().map(ToString::to_string).collect();
        let (at, len) = (chunks.len(), stored.len());
        writeln!(lines, "{name} {id} {size} {} {at} {len} {:016x}", shape.join("x"), fnv1a(&back)).unwrap();
        chunks.extend_from_slice(&stored);
    }
    if let Some(folder) = std::env::var_os("BLOSC_ENCODED").map(PathBuf::from) {
        std::fs::write(folder.join("samples.bin"), chunks).unwrap();
        std::fs::write(folder.join("samples.txt"), lines).unwrap();
    }
}

#[test]
fn a_note_is_not_intact_after_any_change_of_the_frame() {
    let (size, mut scratch) = (8, Scratch::default());
    let raw = elements(&mut Random(7), size, 300);
    let blosc = Blosc::new(FilterId::BLOSC2, &[1, 0, 8, 0, 5, 1, 1], size, raw.len()).unwrap();
    let mut stored = vec![0; blosc.encode_bound(raw.len())];
    scratch.note = Some(b"a note".to_vec());
    let Encoded::Stored(len) = blosc.encode_into(&raw, &mut stored, &mut scratch).unwrap() else { panic!() };
    stored.truncate(len);
    assert!(scratch.note.is_none(), "a note is stored once");
    assert!(note(&stored).is_some_and(|note| note.bytes == b"a note" && note.is_intact()));
    for at in 0..len {
        for change in [1, 0x80, 0xff] {
            stored[at] ^= change;
            assert!(!note(&stored).is_some_and(|note| note.is_intact()), "byte {at} changed by {change}");
            stored[at] ^= change;
        }
        assert!(!note(&stored[..at]).is_some_and(|note| note.is_intact()), "cut to {at}");
    }
}

#[test]
fn a_chunk_of_equal_elements_is_handed_on_as_one_element() {
    let (rows, mut scratch) = (100_000, Scratch::default());
    let row: Vec<u8> = (0..24).collect();
    // Rows that are all equal, and rows whose first column is constant.
    let equal = row.repeat(rows);
    let mut column = equal.clone();
    column.chunks_exact_mut(24).enumerate().for_each(|(k, row)| row[8] = k.to_le_bytes()[0]);
    for (raw, columns, blocks) in [(&equal, 0..24, 1), (&vec![0; 24 * rows], 3..7, 1), (&column, 0..8, 5)] {
        let blosc = Blosc::new(FilterId::BLOSC2, &[1, 0, 24, 0, 5, 1, 1], 24, raw.len()).unwrap();
        let mut stored = vec![0; blosc.encode_bound(raw.len())];
        let Encoded::Stored(len) = blosc.encode_into(raw, &mut stored, &mut scratch).unwrap() else {
            panic!()
        };
        let map = ByteMap::columns(24, std::slice::from_ref(&columns)).unwrap();
        let axes = [Axis { start: 0, step: 1, count: rows, stride: 0 }];
        let shape = [rows];
        let gather = Gather { convert: Some(&map), ..Gather::new(24, &shape, &axes, 0) };
        let (mut next, mut calls) = (0, 0);
        let feed = &mut |Handed { at, count, elements }: Handed<'_>| {
            assert!(at == next && elements[..columns.len()] == raw[columns.clone()], "{columns:?} at {at}");
            // The rows after the last split block are not constant streams.
            calls += usize::from(elements.len() == columns.len());
            next += 24 * count;
        };
        blosc.blocks(&stored[..len], &gather, &mut scratch, feed).unwrap();
        assert_eq!(
            (next, calls >= blocks - 1, calls <= blocks),
            (raw.len(), true, true),
            "{columns:?} {calls}"
        );
    }
}

#[test]
fn an_empty_chunk_decodes_to_zero_bytes() {
    // A Blosc 1 header: LZ4, elements of 4 bytes, 0 decoded bytes, blocks of 64 bytes, 16 stored bytes.
    let stored = [2, 1, 0x20, 4, 0, 0, 0, 0, 64, 0, 0, 0, 16, 0, 0, 0];
    let blosc = Blosc::new(FilterId::BLOSC, &[], 4, 400).unwrap();
    assert_eq!(blosc.decode_into(&stored, &mut [0; 400], &mut Scratch::default()), Ok(0));
}
