//! Reading a small part of a chunk requests only few bytes of the file.

#![allow(clippy::unwrap_used)] // helpers of tests may panic, as tests do

use std::sync::Arc;

use hyperslab::Element;
use hyperslab::driver::{Memory, Operation, Trace};
use hyperslab::storage::DatasetOptions;
use hyperslab::{File, Selection};
use hyperslab_filters::blosc::Blosc;
use hyperslab_filters::{Encoded, Filter, FilterId, Scratch};
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::message::filters::FilterSpec;
use hyperslab_testkit::build;
use hyperslab_testkit::sound::assert_sound;

fn noise() -> Vec<u8> {
    let mut state = 1_u32;
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    std::iter::repeat_with(next).take(4 << 20).collect()
}

#[test]
fn reading_a_part_of_a_blosc_chunk_reads_only_the_blocks_it_needs() {
    let noise = noise();
    // Each piece of 256 bytes is repeated, so that blocks of the chunk are compressed to about half their
    // size.
    let pairs: Vec<u8> = noise.chunks(256).flat_map(|piece| piece.repeat(2)).take(noise.len()).collect();
    for (id, codec, shuffle, values) in [
        (FilterId::BLOSC, 1, 0, &pairs),
        (FilterId::BLOSC, 1, 1, &pairs),
        (FilterId::BLOSC2, 1, 1, &pairs),
        (FilterId::BLOSC2, 5, 2, &pairs),
        (FilterId::BLOSC2, 1, 0, &noise),
    ] {
        let len = u32::try_from(values.len()).unwrap();
        let client_data = vec![2, 8192, 4, len, 5, shuffle, codec];
        let blosc = Blosc::new(id, &client_data, 1, values.len()).unwrap();
        let mut stored = vec![0; blosc.encode_bound(values.len())];
        let encoded = blosc.encode_into(values, &mut stored, &mut Scratch::default()).unwrap();
        let Encoded::Stored(len) = encoded else { panic!("{id} {codec} {shuffle}") };
        stored.truncate(len);
        let filter = FilterSpec { id: id.0, name: Some("blosc".into()), flags: 0, client_data };
        let bytes = build::one_filtered_chunk(values.len() as u64, filter, &stored);
        let driver = Arc::new(Trace::new(Memory::new(bytes)));
        let file = File::options().open_on(driver.clone()).unwrap();
        let dataset = file.dataset("values").unwrap();
        // Parts are so large that the engine does not cache the decoded chunk.
        for start in (0..values.len() - PART).step_by(499_999).chain([values.len() - PART]) {
            driver.take();
            let found = dataset.read::<u8>(start as u64..(start + PART) as u64).unwrap();
            assert!(found == values[start..start + PART], "{id} {codec} {shuffle}: from {start}");
            let read = driver.take().into_iter().map(|operation| match operation {
                Operation::Read { len, .. } => len,
                other => panic!("{other:?}"),
            });
            let (read, all) = (read.sum::<u64>(), stored.len() as u64);
            assert!(
                read < all / 3,
                "{id} {codec} {shuffle}: read {read} of {all} bytes for the part from {start}"
            );
        }
    }
}

#[test]
fn reading_a_plane_across_unfiltered_chunks_reads_only_its_own_runs() {
    let memory = Arc::new(Memory::new(Vec::new()));
    let made = File::options().create(true).truncate(true).open_on(memory.clone()).unwrap();
    let dataspace = Dataspace::Simple { shape: vec![64, 64, 64], max_shape: None };
    let options = DatasetOptions::new(dataspace, f32::datatype()).chunked(&[16, 16, 16], &[]).unwrap();
    let values: Vec<f32> = (0..64_u16 * 64).map(f32::from).cycle().take(64 * 64 * 64).collect();
    made.root().create_dataset("values", &options).unwrap().write(Selection::All, &values).unwrap();
    made.close().unwrap();
    assert_sound(&memory.bytes());
    let driver = Arc::new(Trace::new(Memory::new(memory.bytes())));
    let file = File::options().open_on(driver.clone()).unwrap();
    let dataset = file.dataset("values").unwrap();
    let plane = 64 * 64 * 4;
    // A plane across the slowest axis is one run of each chunk. A plane across the fastest axis takes whole
    // chunks.
    for (selection, most) in [([5..6, 0..64, 0..64], 2 * plane), ([0..64, 0..64, 5..6], 17 * plane)] {
        let found = dataset.read::<f32>(selection.clone()).unwrap();
        driver.take();
        assert_eq!(dataset.read::<f32>(selection.clone()).unwrap(), found);
        let read = driver.take().into_iter().map(|operation| match operation {
            Operation::Read { len, .. } => len,
            _ => 0,
        });
        let read = read.sum::<u64>();
        assert!((plane..=most).contains(&read), "{read} bytes for {selection:?}");
        let [a, b, c] = selection;
        let expected = a.flat_map(|i| {
            b.clone().flat_map({
                let c = c.clone();
                move |j| c.clone().map(move |k| (i, j, k))
            })
        });
        let at = |(i, j, k): (u64, u64, u64)| values[usize::try_from((i * 64 + j) * 64 + k).unwrap()];
        assert!(found.iter().copied().eq(expected.map(at)));
    }
}

/// The number of elements in one read.
const PART: usize = 70_000;
