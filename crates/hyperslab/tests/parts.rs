//! Reading a small part of a large Blosc chunk: few bytes of the file are asked for, and they are enough.

#![allow(clippy::unwrap_used)] // helpers of tests, which may fail as tests do

use std::sync::Arc;

use hyperslab::driver::{Memory, Operation, Trace};
use hyperslab::{File, OpenOptions};
use hyperslab_filters::blosc::Blosc;
use hyperslab_filters::{Encoded, Filter, FilterId, Scratch};
use hyperslab_format::message::filters::FilterSpec;
use hyperslab_testkit::build;

/// Noise of which every piece comes twice, so that blocks of the chunk take about half as much in the file.
fn values() -> Vec<u8> {
    let mut state = 1_u32;
    let mut noise = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    (0..1 << 11).flat_map(|_| std::array::from_fn::<u8, 256, _>(|_| noise()).repeat(2)).collect()
}

#[test]
fn a_part_of_a_blosc_chunk_takes_few_bytes_of_the_file_and_all_that_it_needs() {
    let values = values();
    for (id, codec, shuffle) in
        [(FilterId::BLOSC, 1, 0), (FilterId::BLOSC, 1, 1), (FilterId::BLOSC2, 1, 1), (FilterId::BLOSC2, 5, 2)]
    {
        let len = u32::try_from(values.len()).unwrap();
        let client_data = vec![2, 8192, 4, len, 5, shuffle, codec];
        let blosc = Blosc::new(id, &client_data, 1, values.len()).unwrap();
        let mut stored = Vec::new();
        let encoded = blosc.encode(&values, &mut stored, &mut Scratch::default()).unwrap();
        assert_eq!(encoded, Encoded::Stored, "{id} {codec} {shuffle}");
        let filter = FilterSpec { id: id.0, name: Some("blosc".into()), flags: 0, client_data };
        let bytes = build::one_filtered_chunk(values.len() as u64, filter, &stored);
        let driver = Arc::new(Trace::new(Memory::new(bytes)));
        let file = File::from_driver(driver.clone(), &OpenOptions::default()).unwrap();
        let dataset = file.dataset("values").unwrap();
        let end = values.len() as u64;
        let mut parts = 0;
        // Parts of no more than one in a few hundred, far apart, so that nothing is worth keeping for long.
        for start in (0..end - 5000).step_by(49_999).chain([end - 5000]) {
            driver.take();
            let found = dataset.read::<u8>(start..start + 5000).unwrap();
            let range = usize::try_from(start).unwrap()..usize::try_from(start).unwrap() + 5000;
            assert!(found == values[range], "{id} {codec} {shuffle}: 5000 elements from {start}");
            let read = driver.take().into_iter().map(|operation| match operation {
                Operation::Read { len, .. } => len,
                other => panic!("{other:?}"),
            });
            parts += u64::from(read.sum::<u64>() < stored.len() as u64 / 4);
        }
        assert!(parts > 1, "{id} {codec} {shuffle}: {parts} parts, {} bytes are stored", stored.len());
    }
}
