//! Tests with chunks that h5py and hdf5plugin wrote (`golden/make/filter_samples.py`).

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests")]

use hyperslab_filters::{FilterError, FilterId, FilterMask, Pipeline, Registry, Scratch, StageSpec};

struct Sample {
    name: &'static str,
    pipeline: Pipeline,
    mask: FilterMask,
    raw: Vec<u8>,
    stored: Vec<u8>,
}

#[test]
fn every_sample_decodes_to_the_original_bytes() {
    let scratch = &mut Scratch::default();
    for sample in samples() {
        let mut found = vec![0xaa; sample.raw.len()];
        sample.pipeline.decode_into(sample.mask, &sample.stored, &mut found, scratch).unwrap();
        assert_eq!(found, sample.raw, "{}", sample.name);
    }
}

#[test]
fn every_sample_decodes_again_after_encoding_it_here() {
    let scratch = &mut Scratch::default();
    for sample in samples() {
        let (stored, mask) = sample.pipeline.encode(&sample.raw, scratch).unwrap();
        let stored = stored.to_vec();
        assert_eq!(mask, sample.mask, "{}", sample.name);
        assert!(stored.len() <= sample.stored.len() * 5 / 4 + 8, "{}: {} bytes", sample.name, stored.len());
        let mut found = vec![0xaa; sample.raw.len()];
        sample.pipeline.decode_into(mask, &stored, &mut found, scratch).unwrap();
        assert_eq!(found, sample.raw, "{}", sample.name);
    }
}

#[test]
fn filters_that_only_move_bytes_encode_to_the_bytes_of_the_sample() {
    let scratch = &mut Scratch::default();
    let names =
        ["shuffle", "fletcher-odd", "fletcher-even", "bitshuffle", "bitshuffle-small-blocks", "lz4-noise"];
    for sample in samples().filter(|sample| names.contains(&sample.name)) {
        let (stored, _) = sample.pipeline.encode(&sample.raw, scratch).unwrap();
        assert_eq!(stored, sample.stored, "{}", sample.name);
    }
}

#[test]
fn a_truncated_sample_is_an_error() {
    let scratch = &mut Scratch::default();
    for sample in samples() {
        let mut found = vec![0; sample.raw.len()];
        for len in 0..sample.stored.len() {
            let decoded =
                sample.pipeline.decode_into(sample.mask, &sample.stored[..len], &mut found, scratch);
            assert!(decoded.is_err(), "{} cut to {len} bytes", sample.name);
        }
    }
}

#[test]
fn a_destination_of_another_length_is_an_error() {
    let scratch = &mut Scratch::default();
    for sample in samples() {
        for len in [0, 1, sample.raw.len() - 1, sample.raw.len() + 1, sample.raw.len() + 16] {
            let mut found = vec![0; len];
            let decoded = sample.pipeline.decode_into(sample.mask, &sample.stored, &mut found, scratch);
            assert!(decoded.is_err(), "{} into {len} bytes", sample.name);
        }
    }
}

#[test]
fn a_damaged_sample_gives_an_error_or_other_bytes_and_never_a_panic() {
    let scratch = &mut Scratch::default();
    for sample in samples() {
        let mut found = vec![0; sample.raw.len()];
        let step = sample.stored.len() / 300 + 1;
        for at in (0..sample.stored.len()).step_by(step) {
            for change in [1, 0x80, 0xff] {
                let mut stored = sample.stored.clone();
                stored[at] ^= change;
                let decoded = sample.pipeline.decode_into(sample.mask, &stored, &mut found, scratch);
                if sample.name.contains("fletcher") {
                    assert!(decoded.is_err(), "{}: byte {at} changed unnoticed", sample.name);
                }
            }
        }
    }
}

#[test]
fn a_damaged_sample_gives_a_checksum_error() {
    let mut sample = samples().find(|sample| sample.name == "fletcher-odd").unwrap();
    sample.stored[7] ^= 4;
    let mut found = vec![0; sample.raw.len()];
    let decoded =
        sample.pipeline.decode_into(sample.mask, &sample.stored, &mut found, &mut Scratch::default());
    assert!(matches!(decoded, Err(FilterError::Checksum { filter: "fletcher32", .. })), "{decoded:?}");
}

fn samples() -> impl Iterator<Item = Sample> {
    let registry = Registry::default();
    include_str!("samples.txt").lines().map(move |line| {
        let [name, element_size, chain, mask, raw, stored] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("not a sample: {line}");
        };
        let raw = bytes(raw);
        let stages: Vec<(u16, Vec<u32>)> = chain
            .split('+')
            .map(|stage| {
                let (id, data) = stage.split_once(':').unwrap();
                let data = data.split(',').filter(|number| !number.is_empty());
                (id.parse().unwrap(), data.map(|number| number.parse().unwrap()).collect())
            })
            .collect();
        let specs: Vec<_> = stages
            .iter()
            .map(|(id, client_data)| StageSpec { id: FilterId(*id), name: None, flags: 1, client_data })
            .collect();
        let pipeline = Pipeline::new(&specs, element_size.parse().unwrap(), raw.len(), &registry).unwrap();
        Sample { name, pipeline, mask: FilterMask(mask.parse().unwrap()), raw, stored: bytes(stored) }
    })
}

fn bytes(hex: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(byte).collect()
}
