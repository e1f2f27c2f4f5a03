//! Chunks that are encoded and decoded without a file.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, as tests do")]
#![allow(clippy::cast_possible_truncation, reason = "the numbers of the tests are small")]

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab::datatype::{ByteOrder, Datatype};
use hyperslab::driver::{Driver, Memory};
use hyperslab::filter::{Deflate, Filter, FilterId, Lz4, Shuffle};
use hyperslab::storage::{FillBytes, FilterMask, FilterSpec};
use hyperslab::{ChunkCodec, Element, EncodedChunk, Error, File, RequestError, WriteOptions};
use hyperslab_format::layout::Layout;
use hyperslab_select::{first_element, inside};
use hyperslab_testkit::golden::Manifest;
use hyperslab_testkit::sound::assert_sound;
use proptest::prelude::*;

fn deflate(datatype: Datatype, fill: &FillBytes, shape: &[u64]) -> ChunkCodec {
    let filter = FilterSpec { id: FilterId::DEFLATE.0, name: None, flags: 1, client_data: vec![3] };
    ChunkCodec::stored(datatype, fill, shape, &[filter]).unwrap()
}

fn decoded(codec: &ChunkCodec, chunk: &EncodedChunk) -> Vec<u8> {
    let mut decoded = vec![0xa5; codec.chunk_bytes()];
    codec.decode(&chunk.bytes, chunk.mask, &mut decoded).unwrap();
    decoded
}

/// Calls `f` with the number of each element of a chunk that is inside a dataset of this shape, and the
/// number of the same element in the dataset.
fn each_inside(coord: &[u64], chunk: &[u64], shape: &[u64], mut f: impl FnMut(usize, usize)) {
    let (first, used) = (first_element(coord, chunk), inside(coord, chunk, shape));
    for number in 0..chunk.iter().product::<u64>() {
        let (mut rest, mut at, mut is_inside, mut pitch) = (number, 0, true, 1);
        for axis in (0..chunk.len()).rev() {
            let along = rest % chunk[axis];
            rest /= chunk[axis];
            is_inside &= along < used[axis];
            at += (first[axis] + along) * pitch;
            pitch *= shape[axis];
        }
        if is_inside {
            f(number as usize, at as usize);
        }
    }
}

#[test]
fn the_chunks_of_golden_files_decode_without_their_file() {
    let mut compared = 0;
    for (entry, path) in Manifest::load().present().filter(|(entry, _)| !entry.damaged) {
        let file = File::open(&path).unwrap();
        for expected in entry.datasets.iter().filter(|expected| !expected.refused) {
            let Ok(dataset) = file.dataset(&expected.path) else { continue };
            let Ok(Some(codec)) = dataset.chunk_codec() else { continue };
            let Layout::Chunked(layout) = dataset.layout() else { continue };
            // Chunks at the edge of such a dataset are stored without filters.
            if layout.unfiltered_edges {
                continue;
            }
            let (shape, size) = (dataset.shape(), codec.element_size());
            let mut all = vec![0; usize::try_from(dataset.len_bytes()).unwrap()];
            dataset.read_into(.., &mut all).unwrap();
            let mut chunks = Vec::new();
            let listing = dataset.visit_chunks(&mut |coord, record| {
                chunks.push((coord.to_vec(), record));
                ControlFlow::Continue(())
            });
            listing.unwrap();
            for (coord, record) in chunks {
                let mut chunk = vec![0xa5; codec.chunk_bytes()];
                let stored = dataset.read_stored_chunk(record).unwrap();
                codec.decode(&stored, record.mask, &mut chunk).unwrap();
                each_inside(&coord, codec.shape(), &shape, |number, at| {
                    let (found, wanted) = (&chunk[number * size..][..size], &all[at * size..][..size]);
                    assert_eq!(found, wanted, "{}:{} {coord:?}", entry.name, expected.path);
                    compared += 1;
                });
            }
        }
    }
    assert!(compared > 100_000, "only {compared} elements were compared");
}

#[test]
fn a_dataset_takes_chunks_that_were_encoded_without_it() {
    let driver = Arc::new(Memory::default());
    let file = File::options().create(true).open_on(Arc::clone(&driver) as Arc<dyn Driver>).unwrap();
    let made = file.root().new_dataset::<i32>("d").shape([6, 5]).chunks([3, 5]).filter(Shuffle);
    let dataset = made.filter(Deflate::default()).create().unwrap();
    let codec = dataset.chunk_codec().unwrap().unwrap();
    let values: Vec<i32> = (0..30).collect();
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let mut first = 0;
    let encoded = codec.encode_box(&[6, 5], &bytes, &WriteOptions::default(), &mut |coord, chunk| {
        assert_eq!(coord, [first / 3, 0]);
        dataset.write_stored_chunk(&[first, 0], chunk.mask.0, &chunk.bytes)?;
        first += 3;
        Ok(())
    });
    encoded.unwrap();
    assert_eq!(dataset.read::<i32>(..).unwrap(), values);
    assert!(file.dataset("d").unwrap().chunk_codec().unwrap().is_some());
    let whole = file.root().new_dataset::<i32>("whole").shape([4]).create().unwrap();
    assert!(whole.chunk_codec().unwrap().is_none());
    file.close().unwrap();
    assert_sound(&driver.bytes());
}

#[test]
fn sizes_that_are_not_those_of_a_chunk_are_errors() {
    let codec = deflate(u16::datatype(), &FillBytes::Default, &[4, 2]);
    assert_eq!((codec.chunk_bytes(), codec.element_size(), codec.shape()), (16, 2, &[4, 2][..]));
    let is_size =
        |error| matches!(error, Error::Request(RequestError::SourceSize { expected: 16, found: 15 }));
    assert!(is_size(codec.encode(&[0; 15]).unwrap_err()));
    let chunk = codec.encode(&[0; 16]).unwrap();
    assert!(is_size(codec.decode(&chunk.bytes, chunk.mask, &mut [0; 15]).unwrap_err()));
    assert!(is_size(codec.encode_all(&[&[0; 16], &[0; 15]], None, &mut |_, _| Ok(())).unwrap_err()));
    // A stream that decodes to less or to more than a chunk.
    for len in [14, 18] {
        let other = deflate(u8::datatype(), &FillBytes::Default, &[len]);
        let chunk = other.encode(&vec![7; other.chunk_bytes()]).unwrap();
        let error = codec.decode(&chunk.bytes, chunk.mask, &mut [0; 16]).unwrap_err();
        assert!(matches!(error, Error::Filter { .. }), "{error}");
    }
    for shape in [&[0, 2][..], &[u64::MAX, 2], &[1 << 62, 4]] {
        let error = ChunkCodec::new(u16::datatype(), shape, &[]).unwrap_err();
        assert!(matches!(error, Error::Request(RequestError::Argument { .. })), "{shape:?}: {error}");
    }
    let mut none = |_: &[u64], _| panic!("there is no chunk");
    for shape in [&[8][..], &[4, 2, 1], &[]] {
        let error = codec.encode_box(shape, &[0; 16], &WriteOptions::default(), &mut none).unwrap_err();
        assert!(error.to_string().contains("as many dimensions"), "{shape:?}: {error}");
    }
    let error = codec.encode_box(&[4, 2], &[0; 15], &WriteOptions::default(), &mut none).unwrap_err();
    assert!(is_size(error));
    codec.encode_box(&[0, 2], &[], &WriteOptions::default(), &mut none).unwrap();
    let long = FillBytes::Defined(vec![1; 3]);
    assert!(ChunkCodec::stored(u16::datatype(), &long, &[4], &[]).is_err());
}

#[test]
fn a_chunk_that_a_filter_does_not_make_smaller_has_its_mask() {
    let codec = ChunkCodec::new(u8::datatype(), &[3], &[Shuffle.into(), Filter::Lzf]).unwrap();
    let chunk = codec.encode(&[1, 2, 3]).unwrap();
    assert_eq!((chunk.mask, decoded(&codec, &chunk)), (FilterMask(0b10), vec![1, 2, 3]));
    let none = ChunkCodec::new(u8::datatype(), &[3], &[]).unwrap();
    assert_eq!(decoded(&none, &none.encode(&[1, 2, 3]).unwrap()), [1, 2, 3]);
}

#[test]
fn an_error_of_the_receiver_ends_the_work() {
    let codec = ChunkCodec::new(u8::datatype(), &[10], &[Lz4::default().into()]).unwrap();
    let mut calls = 0;
    let ended = codec.encode_box(&[95], &[1; 95], &WriteOptions::default(), &mut |coord, _| {
        calls += 1;
        if coord == [3] { Err(Error::unsupported("a fourth chunk", "IV")) } else { Ok(()) }
    });
    assert!(ended.unwrap_err().to_string().contains("a fourth chunk"));
    assert_eq!(calls, 4);
}

proptest! {
    #[test]
    fn the_chunks_of_a_box_hold_its_elements_and_the_fill_value(
        sides in prop::collection::vec((1_u64..9, 1_u64..6), 1..4),
        threads in 1_usize..4,
        is_big in any::<bool>(),
    ) {
        let shape: Vec<u64> = sides.iter().map(|side| side.0).collect();
        let chunk: Vec<u64> = sides.iter().map(|side| side.1).collect();
        let values: Vec<i16> = (0..shape.iter().product::<u64>()).map(|at| at as i16 - 50).collect();
        let codec = deflate(i32::datatype(), &FillBytes::Defined(9_i32.to_le_bytes().to_vec()), &chunk);
        // The caller's elements have another size and byte order than the stored ones.
        let mut memory = i16::datatype();
        if let (Datatype::Integer(integer), true) = (&mut memory, is_big) {
            integer.order = ByteOrder::Big;
        }
        let bytes: Vec<u8> = values
            .iter()
            .flat_map(|value| if is_big { value.to_be_bytes() } else { value.to_le_bytes() })
            .collect();
        let options = WriteOptions::default().threads(NonZeroUsize::new(threads)).datatype(memory);
        let mut chunks = Vec::new();
        codec.encode_box(&shape, &bytes, &options, &mut |coord, encoded| {
            chunks.push((coord.to_vec(), decoded(&codec, &encoded)));
            Ok(())
        }).unwrap();
        let counts = shape.iter().zip(&chunk).map(|(len, side)| len.div_ceil(*side));
        prop_assert_eq!(chunks.len() as u64, counts.product::<u64>());
        prop_assert!(chunks.is_sorted_by(|a, b| a.0 < b.0));
        let filled = codec.filled().unwrap();
        for (coord, found) in chunks {
            let mut wanted = filled.clone();
            each_inside(&coord, &chunk, &shape, |number, at| {
                wanted[number * 4..][..4].copy_from_slice(&i32::from(values[at]).to_le_bytes());
            });
            prop_assert_eq!(found, wanted, "{:?}", coord);
        }
    }

    #[test]
    fn encoded_chunks_keep_their_order(count in 0_usize..40, threads in 1_usize..5) {
        let codec = deflate(u8::datatype(), &FillBytes::Default, &[20_000]);
        let chunks: Vec<Vec<u8>> = (0..count).map(|number| vec![number as u8; 20_000]).collect();
        let borrowed: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
        let mut found = Vec::new();
        codec.encode_all(&borrowed, NonZeroUsize::new(threads), &mut |number, chunk| {
            assert_eq!(number, found.len());
            found.push(decoded(&codec, &chunk));
            Ok(())
        }).unwrap();
        prop_assert_eq!(found, chunks);
    }
}
