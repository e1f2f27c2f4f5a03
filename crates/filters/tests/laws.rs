//! Laws of every filter and of chains of filters: decoding returns the encoded bytes, a wrong length is an
//! error, and nothing panics.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests")]

mod conversions;

use std::sync::Arc;

use hyperslab_filters::error::Result;
use hyperslab_filters::scatter::scatter;
use hyperslab_filters::{
    Axis, Convert, Encoded, Filter, FilterError, FilterId, FilterMask, Gather, Handed, Pipeline, Registry,
    Scratch, StageSpec,
};
use proptest::prelude::*;

use crate::conversions::{conversions, converted};

/// Each filter, with several sets of parameters.
const FILTERS: [(FilterId, &[u32]); 27] = [
    (FilterId::DEFLATE, &[0]),
    (FilterId::DEFLATE, &[1]),
    (FilterId::DEFLATE, &[9]),
    (FilterId::SHUFFLE, &[1]),
    (FilterId::SHUFFLE, &[3]),
    (FilterId::SHUFFLE, &[8]),
    (FilterId::FLETCHER32, &[]),
    (FilterId::SZIP, &[0xa9, 8, 32, 128]),
    (FilterId::SZIP, &[0x8d, 32, 8, 100]),
    (FilterId::SZIP, &[0xb1, 2, 16, 77]),
    (FilterId::SZIP, &[0xa9, 16, 24, 33]),
    (FilterId::BZIP2, &[]),
    (FilterId::BZIP2, &[1]),
    (FilterId::LZF, &[4, 261, 0]),
    (FilterId::SNAPPY, &[]),
    // All bits, which the filter leaves alone.
    (FilterId::NBIT, &[3, 1, 0]),
    (FilterId::LZ4, &[]),
    (FilterId::LZ4, &[64]),
    (FilterId::ZSTD, &[]),
    (FilterId::ZSTD, &[(-1_i32).cast_unsigned()]),
    (FilterId::BITSHUFFLE, &[]),
    (FilterId::BITSHUFFLE, &[0, 4, 1, 8, 0]),
    (FilterId::BITSHUFFLE, &[0, 4, 1, 8, 2]),
    (FilterId::BITSHUFFLE, &[0, 4, 4, 0, 2]),
    (FilterId::BITSHUFFLE, &[0, 4, 4, 16, 3, 1]),
    (FilterId::BITSHUFFLE, &[0, 4, 1, 0, 3, 1]),
    (FilterId::ZSTD, &[1]),
];

/// Returns chunks of whole elements of 4 bytes: noise, and values that compress.
fn chunks() -> impl Strategy<Value = Vec<u8>> {
    let noise = prop::collection::vec(any::<[u8; 4]>(), 0..700);
    let slow = (prop::collection::vec(0u32..20, 0..700), any::<u32>()).prop_map(|(steps, first)| {
        let values = steps.iter().scan(first, |value, step| {
            *value = value.wrapping_add(*step);
            Some(value.to_le_bytes())
        });
        values.collect()
    });
    let runs = (any::<[u8; 4]>(), 0usize..700).prop_map(|(value, count)| vec![value; count]);
    prop_oneof![noise, slow, runs].prop_map(|elements| elements.concat())
}

fn chains() -> impl Strategy<Value = Vec<StageSpec<'static>>> {
    let stage = prop::sample::select(&FILTERS[..]);
    prop::collection::vec(stage.prop_map(|(id, data)| StageSpec { flags: 1, ..spec(id, data) }), 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn decoding_returns_the_encoded_bytes(specs in chains(), raw in chunks()) {
        let (pipeline, scratch) = (pipeline(&specs), &mut Scratch::default());
        let (stored, mask) = pipeline.encode(&raw, scratch).map(|(stored, mask)| (stored.to_vec(), mask)).unwrap();
        let mut found = vec![0xaa; raw.len()];
        pipeline.decode_into(mask, &stored, &mut found, scratch).unwrap();
        prop_assert_eq!(&found, &raw);
        // Decodes again, in buffers that hold the bytes of the first time.
        pipeline.decode_into(mask, &stored, &mut found, scratch).unwrap();
        prop_assert_eq!(found, raw);
    }

    #[test]
    fn the_encoded_form_stays_within_its_bound_and_a_short_buffer_is_not_overrun(
        number in 0..FILTERS.len(), raw in chunks(), short in 1usize..40,
    ) {
        let (id, data) = FILTERS[number];
        let chain = pipeline(&[spec(id, data)]);
        let (filter, scratch) = (chain.filters()[0].filter().unwrap(), &mut Scratch::default());
        let bound = filter.encode_bound(raw.len());
        let mut stored = vec![0xEE; bound];
        if let Encoded::Stored(len) = filter.encode_into(&raw, &mut stored, scratch).unwrap() {
            prop_assert!(len <= filter.decode_bound(raw.len()));
            // With too little room, encoding gives an error or skips the chunk, and never panics.
            let room = len.saturating_sub(short);
            let encoded = filter.encode_into(&raw, &mut stored[..room], scratch);
            prop_assert!(!matches!(encoded, Ok(Encoded::Stored(len)) if len > room));
        }
    }

    #[test]
    fn selected_elements_equal_the_converted_elements_of_the_decoded_chunk(
        specs in chains(),
        shape in prop::collection::vec(1usize..9, 1..4),
        size in prop::sample::select(vec![1usize, 2, 3, 4, 8, 16, 20, 24, 40]),
        picks in prop::collection::vec((0usize..9, 1usize..4, 1usize..9), 3),
        gap in 0usize..5,
        bytes in prop::collection::vec(0usize..1000, 1..30),
        seed in any::<u8>(),
    ) {
        let elements: usize = shape.iter().product();
        let raw: Vec<u8> = (0..elements * size).map(|i| ((i * 7 + i / 13) % 251).to_le_bytes()[0] ^ seed).collect();
        // Half of the chains start with a shuffle of exactly these elements.
        let width = [u32::try_from(size).unwrap()];
        let mut specs = specs;
        if seed % 2 == 0 {
            specs.insert(0, spec(FilterId::SHUFFLE, &width));
        }
        let (pipeline, scratch) = (pipeline(&specs), &mut Scratch::default());
        let (stored, mask) = pipeline.encode(&raw, scratch).map(|(stored, mask)| (stored.to_vec(), mask)).unwrap();
        for convert in conversions(size, &bytes) {
            let convert = convert.as_deref();
            let mut pitch = convert.map_or(size, Convert::size) + gap;
            let mut axes = Vec::new();
            for (&len, &(start, step, count)) in shape.iter().zip(&picks).rev() {
                let start = start % len;
                let count = count.min((len - start).div_ceil(step));
                axes.insert(0, Axis { start, step, count, stride: pitch.cast_signed() });
                pitch = pitch * count + gap;
            }
            let after = converted(convert, size, &raw);
            let mut expected = vec![0xee; pitch + gap];
            scatter(&Gather::new(after.len() / elements, &shape, &axes, gap), &after, &mut expected[..]);
            let gather = Gather { convert, ..Gather::new(size, &shape, &axes, gap) };
            let (mut found, mut room) = (vec![0xee; pitch + gap], vec![0; raw.len()]);
            scatter(&gather, &raw, &mut found[..]);
            prop_assert_eq!(&found, &expected);
            found.fill(0xee);
            pipeline.scatter_into(mask, &stored, &mut room, &gather, &mut found[..], scratch).unwrap();
            prop_assert_eq!(found, expected);
            let (mut next, mut seen) = (0, 0);
            let feed = &mut |Handed { at, count, elements: run }: Handed<'_>| {
                let one = after.len() / elements;
                let from = at / size * one;
                assert!(run.len() == one || run.len() == count * one);
                assert!(at >= next && run.repeat(count * one / run.len()) == after[from..from + count * one]);
                next = at + count * size;
                seen += count;
            };
            pipeline.blocks(mask, &stored, &mut room, &gather, scratch, feed).unwrap();
            prop_assert_eq!(seen, axes.iter().map(|axis| axis.count).product::<usize>());
        }
    }

    #[test]
    fn a_destination_of_another_length_is_an_error(specs in chains(), raw in chunks(), other in 0usize..2900) {
        let (pipeline, scratch) = (pipeline(&specs), &mut Scratch::default());
        let (stored, mask) = pipeline.encode(&raw, scratch).map(|(stored, mask)| (stored.to_vec(), mask)).unwrap();
        prop_assume!(other != raw.len());
        prop_assert!(pipeline.decode_into(mask, &stored, &mut vec![0; other], scratch).is_err());
    }

    #[test]
    fn a_damaged_chunk_gives_an_error_or_other_bytes_and_never_a_panic(
        specs in chains(),
        raw in chunks(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let (pipeline, scratch) = (pipeline(&specs), &mut Scratch::default());
        let (stored, mask) = pipeline.encode(&raw, scratch).map(|(stored, mask)| (stored.to_vec(), mask)).unwrap();
        let mut found = vec![0; raw.len()];
        let cut = cut.index(stored.len() + 1);
        let _ = pipeline.decode_into(mask, &stored[..cut], &mut found, scratch);
        let mut stored = stored;
        for (at, value) in changes {
            if !stored.is_empty() {
                let at = at.index(stored.len());
                stored[at] = value;
            }
        }
        let _ = pipeline.decode_into(mask, &stored, &mut found, scratch);
    }

    #[test]
    fn random_bytes_give_an_error_or_bytes_and_never_a_panic(
        specs in chains(),
        stored in prop::collection::vec(any::<u8>(), 0..300),
        mask in 0u32..8,
        len in 0usize..3000,
    ) {
        let _ = pipeline(&specs).decode_into(FilterMask(mask), &stored, &mut vec![0; len], &mut Scratch::default());
    }
}

#[test]
fn a_masked_filter_is_skipped_at_any_position_in_the_chain() {
    let specs =
        [spec(FilterId::SHUFFLE, &[4]), spec(FilterId::DEFLATE, &[6]), spec(FilterId::FLETCHER32, &[])];
    let raw: Vec<u8> = (0..400u32).flat_map(u32::to_le_bytes).collect();
    let scratch = &mut Scratch::default();
    for mask in 0..8 {
        let applied: Vec<_> = (0..3).filter(|k| mask >> k & 1 == 0).map(|k| specs[k]).collect();
        let stored = pipeline(&applied).encode(&raw, scratch).unwrap().0.to_vec();
        let mut found = vec![0; raw.len()];
        pipeline(&specs).decode_into(FilterMask(mask), &stored, &mut found, scratch).unwrap();
        assert_eq!(found, raw, "mask {mask:#b}");
    }
}

#[test]
fn a_chunk_that_no_filter_shortens_is_stored_unchanged() {
    let raw: Vec<u8> = (0..=255).collect();
    let chain = pipeline(&[StageSpec { flags: 1, ..spec(FilterId::LZF, &[]) }]);
    let scratch = &mut Scratch::default();
    let (stored, mask) = chain.encode(&raw, scratch).unwrap();
    assert_eq!((stored, mask), (&raw[..], FilterMask(1)));
    let mut found = vec![0; 256];
    chain.decode_into(mask, &raw, &mut found, scratch).unwrap();
    assert_eq!(found, raw);
    let short = chain.decode_into(mask, &raw[1..], &mut found, scratch);
    assert!(matches!(short, Err(FilterError::Length { expected: 256, found: 255, .. })), "{short:?}");
}

#[test]
fn a_missing_filter_is_an_error_only_for_a_chunk_that_needs_it() {
    let specs = [spec(FilterId(32016), &[]), spec(FilterId::SHUFFLE, &[4])];
    let chain = pipeline(&specs);
    assert_eq!(chain.filters().len(), 2);
    let scratch = &mut Scratch::default();
    let mut found = [0; 8];
    let error = chain.decode_into(FilterMask(0), &[0; 8], &mut found, scratch).unwrap_err();
    assert_eq!(error, FilterError::Unknown { id: 32016, name: "b3d".to_owned() });
    chain.decode_into(FilterMask(1), &[1, 2, 3, 4, 5, 6, 7, 8], &mut found, scratch).unwrap();
    assert_eq!(found, [1, 3, 5, 7, 2, 4, 6, 8]);
}

#[test]
fn wrong_parameters_are_an_error_for_a_chunk_that_needs_the_filter() {
    for (id, data) in [
        (FilterId::SHUFFLE, &[0][..]),
        (FilterId::BITSHUFFLE, &[0, 4, 4, 12, 2]),
        (FilterId::BITSHUFFLE, &[0, 4, 0]),
    ] {
        let chain = pipeline(&[spec(id, data)]);
        let error =
            chain.decode_into(FilterMask(0), &[0; 8], &mut [0; 8], &mut Scratch::default()).unwrap_err();
        assert!(matches!(error, FilterError::Parameter { .. }), "{error}");
    }
}

#[test]
fn more_than_32_filters_are_refused() {
    let specs = [spec(FilterId::FLETCHER32, &[]); 33];
    assert!(Pipeline::new(&specs, 4, 64, &Registry::default()).is_err());
}

#[test]
fn a_chunk_that_claims_a_huge_size_is_refused_before_allocating() {
    let mut lz4 = u64::MAX.to_be_bytes().to_vec();
    lz4.extend([0xff; 8]);
    for (id, data) in [(FilterId::LZ4, &[][..]), (FilterId::BITSHUFFLE, &[0, 4, 4, 0, 2])] {
        let chain = pipeline(&[spec(FilterId::SHUFFLE, &[4]), spec(id, data)]);
        let error =
            chain.decode_into(FilterMask(0), &lz4, &mut [0; 64], &mut Scratch::default()).unwrap_err();
        assert!(matches!(error, FilterError::Length { .. }), "{error}");
    }
}

#[test]
fn a_filter_that_cannot_encode_is_skipped_if_optional_and_an_error_if_not() {
    let noise: Vec<u8> =
        (0..4096u32).map(|i| (i.wrapping_mul(i | 1).wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let scratch = &mut Scratch::default();
    // LZF cannot shorten the noise, Blosc has no codec 3, and filter 32016 is not implemented here.
    for declined in
        [spec(FilterId::LZF, &[]), spec(FilterId::BLOSC, &[2, 2, 4, 0, 5, 1, 3]), spec(FilterId(32016), &[])]
    {
        let chain = |flags| {
            [spec(FilterId::SHUFFLE, &[4]), StageSpec { flags, ..declined }, spec(FilterId::FLETCHER32, &[])]
        };
        assert!(pipeline(&chain(0)).encode(&noise, scratch).is_err(), "{}", declined.id);
        let (optional, without) = (pipeline(&chain(1)), pipeline(&[chain(1)[0], chain(1)[2]]));
        let (stored, mask) =
            optional.encode(&noise, scratch).map(|(stored, mask)| (stored.to_vec(), mask)).unwrap();
        assert_eq!(mask, FilterMask(0b10));
        assert_eq!(stored, without.encode(&noise, scratch).unwrap().0);
        let mut found = vec![0; noise.len()];
        optional.decode_into(mask, &stored, &mut found, scratch).unwrap();
        assert_eq!(found, noise);
    }
}

#[test]
fn a_checksum_is_appended_and_the_bytes_before_it_are_unchanged() {
    let raw: Vec<u8> = (0..99).collect();
    let scratch = &mut Scratch::default();
    for count in 1..4 {
        let chain = pipeline(&vec![spec(FilterId::FLETCHER32, &[]); count]);
        let stored = chain.encode(&raw, scratch).unwrap().0.to_vec();
        assert_eq!((stored.len(), &stored[..99]), (99 + 4 * count, &raw[..]));
        let mut found = vec![0; 99];
        chain.decode_into(FilterMask(0), &stored, &mut found, scratch).unwrap();
        assert_eq!(found, raw);
    }
}

/// A filter that adds one to every byte.
#[derive(Debug)]
struct Increment;

impl Filter for Increment {
    fn id(&self) -> FilterId {
        FilterId(400)
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> Result<usize> {
        dst.iter_mut().zip(src).for_each(|(dst, src)| *dst = src.wrapping_sub(1));
        Ok(src.len())
    }

    fn encode_into(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> Result<Encoded> {
        dst.iter_mut().zip(src).for_each(|(dst, src)| *dst = src.wrapping_add(1));
        Ok(Encoded::Stored(src.len()))
    }
}

#[test]
fn a_registered_filter_works_in_a_chain() {
    let mut registry = Registry::default();
    registry.register(FilterId(400), |_| Ok(Arc::new(Increment)));
    let chain =
        Pipeline::new(&[spec(FilterId(400), &[]), spec(FilterId::SHUFFLE, &[2])], 2, 6, &registry).unwrap();
    let scratch = &mut Scratch::default();
    let stored = chain.encode(&[1, 2, 3, 4, 5, 255], scratch).unwrap().0.to_vec();
    assert_eq!(stored, [2, 4, 6, 3, 5, 0]);
    let mut found = [0; 6];
    chain.decode_into(FilterMask(0), &stored, &mut found, scratch).unwrap();
    assert_eq!(found, [1, 2, 3, 4, 5, 255]);
}

fn spec(id: FilterId, client_data: &[u32]) -> StageSpec<'_> {
    StageSpec { id, name: None, flags: 0, client_data }
}

fn pipeline(specs: &[StageSpec<'_>]) -> Pipeline {
    Pipeline::new(specs, 4, 4096, &Registry::default()).unwrap()
}
