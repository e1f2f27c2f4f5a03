//! Filters that know the datatype and the number of elements of a chunk: scale-offset, N-bit, szip and ZFP.
//! What they store is compared with libhdf5 and the plugins by the tests of the Python package.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests")]

use hyperslab_filters::{
    ChunkFacts, Element, FilterChoice, FilterError, FilterId, FilterMask, Kind, Number, Order, Pipeline,
    Registry, Scratch, StageSpec, SzipMethod, ZfpMode,
};
use proptest::prelude::*;

fn number(kind: Kind, size: usize, order: Order) -> Number {
    Number { kind, size, order, precision: 8 * u32::try_from(size).unwrap(), offset: 0 }
}

/// Returns the pipeline of one filter, for chunks of `shape`.
fn pipeline(choice: &FilterChoice, element: &Element, shape: &[usize], fill: Option<&[u8]>) -> Pipeline {
    let data = choice.client_data(&ChunkFacts { element, fill, shape }).unwrap();
    with_data(choice.id(), &data, element.size(), element.size() * shape.iter().product::<usize>())
}

fn with_data(id: FilterId, client_data: &[u32], size: usize, bytes: usize) -> Pipeline {
    let spec = StageSpec { id, name: None, flags: 0, client_data };
    Pipeline::new(&[spec], size, bytes, &Registry::default()).unwrap()
}

fn there_and_back(pipeline: &Pipeline, raw: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let scratch = &mut Scratch::default();
    let stored = pipeline.encode(raw, scratch).unwrap().0.to_vec();
    let mut found = vec![0xee; raw.len()];
    pipeline.decode_into(FilterMask(0), &stored, &mut found, scratch).unwrap();
    (stored, found)
}

fn orders() -> impl Strategy<Value = Order> {
    prop_oneof![Just(Order::Little), Just(Order::Big)]
}

/// Elements of which some are equal, and whose range is any.
fn elements(size: usize) -> impl Strategy<Value = Vec<u8>> {
    let element = prop_oneof![
        prop::collection::vec(any::<u8>(), size),
        any::<u8>().prop_map(move |byte| vec![byte; size]),
        (0_u8..4).prop_map(move |byte| [&[byte][..], &vec![0; size - 1]].concat()),
    ];
    prop::collection::vec(element, 1..200).prop_map(|elements| elements.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn integers_lose_nothing_under_scale_offset(
        (size, raw) in prop::sample::select(vec![1, 2, 4, 8]).prop_flat_map(|size| (Just(size), elements(size))),
        signed in any::<bool>(), order in orders(), fill in prop::option::of(any::<[u8; 8]>()),
        is_present in any::<bool>(),
    ) {
        let kind = if signed { Kind::Signed } else { Kind::Unsigned };
        let element = Element::Number(number(kind, size, order));
        // Half of the fill values are elements of the chunk.
        let fill = fill.map(|fill| if is_present { raw[..size].to_vec() } else { fill[..size].to_vec() });
        let choice = FilterChoice::ScaleOffset { factor: 0 };
        let (stored, found) =
            there_and_back(&pipeline(&choice, &element, &[raw.len() / size], fill.as_deref()), &raw);
        prop_assert_eq!(&found, &raw);
        prop_assert!(stored.len() <= raw.len() + 22);
    }

    #[test]
    fn floats_keep_their_digits_under_scale_offset(
        values in prop::collection::vec(-1e6_f64..1e6, 1..100), places in 0_i32..6, with_fill in any::<bool>(),
    ) {
        let element = Element::Number(number(Kind::Float, 8, Order::Little));
        let mut values = values;
        let fill = with_fill.then_some(-1e30_f64);
        if with_fill {
            values.insert(0, -1e30);
        }
        let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let bytes = fill.map(f64::to_le_bytes);
        let choice = FilterChoice::ScaleOffset { factor: places };
        let chain = pipeline(&choice, &element, &[values.len()], bytes.as_ref().map(|fill| &fill[..]));
        let (_, found) = there_and_back(&chain, &raw);
        for (found, value) in found.as_chunks().0.iter().zip(&values) {
            let found = f64::from_le_bytes(*found);
            prop_assert!((found - value).abs() <= 0.5001 * 10_f64.powi(-places), "{found} {value}");
        }
    }

    #[test]
    fn significant_bits_are_kept_under_n_bit_and_the_others_are_zeros(
        (size, raw) in (1_usize..20).prop_flat_map(|size| (Just(size), elements(size))),
        big in any::<bool>(), at in any::<prop::sample::Index>(), length in any::<prop::sample::Index>(),
    ) {
        let bits = 8 * size;
        let offset = at.index(bits);
        let precision = 1 + length.index(bits - offset);
        let order = if big { Order::Big } else { Order::Little };
        let (precision, offset) = (u32::try_from(precision).unwrap(), u32::try_from(offset).unwrap());
        let element = Element::Number(Number { kind: Kind::Unsigned, size, order, precision, offset });
        let (_, found) = there_and_back(&pipeline(&FilterChoice::NBit, &element, &[raw.len() / size], None), &raw);
        let mut expected = raw.clone();
        for element in expected.chunks_mut(size) {
            for bit in (0..offset).chain(offset + precision..u32::try_from(bits).unwrap()) {
                let byte = bit as usize / 8;
                element[if big { size - 1 - byte } else { byte }] &= !(1 << (bit % 8));
            }
        }
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn szip_loses_nothing(
        (size, raw) in prop::sample::select(vec![1, 2, 4, 8]).prop_flat_map(|size| (Just(size), elements(size))),
        order in orders(), entropy in any::<bool>(), pixels in 1_u32..17, width in 1_usize..9,
    ) {
        let elements = raw.len() / size / width * width;
        prop_assume!(elements >= 2 * pixels as usize);
        let element = Element::Number(number(Kind::Signed, size, order));
        let method = if entropy { SzipMethod::Entropy } else { SzipMethod::NearestNeighbor };
        let choice = FilterChoice::Szip { method, pixels_per_block: 2 * pixels };
        let chain = pipeline(&choice, &element, &[elements / width, width], None);
        let raw = &raw[..elements * size];
        let scratch = &mut Scratch::default();
        // A chunk that becomes longer is not encoded.
        let Ok((stored, _)) = chain.encode(raw, scratch) else { return Ok(()) };
        let stored = stored.to_vec();
        let mut found = vec![0xee; raw.len()];
        chain.decode_into(FilterMask(0), &stored, &mut found, scratch).unwrap();
        prop_assert_eq!(&found[..], raw);
    }

    #[test]
    fn reversible_zfp_loses_nothing(
        shape in prop::collection::vec(1_usize..9, 1..5), seed in any::<u64>(), kind in 0..4,
    ) {
        prop_assume!(shape.iter().any(|&side| side > 1));
        let (kind, size) =
            [(Kind::Signed, 4), (Kind::Unsigned, 8), (Kind::Float, 4), (Kind::Float, 8)][usize::try_from(kind).unwrap()];
        let element = Element::Number(number(kind, size, Order::Little));
        let choice = FilterChoice::Zfp { mode: ZfpMode::Reversible };
        let count: usize = shape.iter().product();
        let raw: Vec<u8> = (0..count as u64)
            .flat_map(|i| seed.wrapping_mul(2 * i + 1).rotate_left(7).to_le_bytes()[..size].to_vec())
            .collect();
        let (_, found) = there_and_back(&pipeline(&choice, &element, &shape, None), &raw);
        prop_assert_eq!(found, raw);
    }

    #[test]
    fn damaged_chunks_and_parameters_give_an_error_or_bytes_and_never_a_panic(
        id in prop::sample::select(vec![
            FilterId::SCALE_OFFSET, FilterId::NBIT, FilterId::SZIP, FilterId::ZFP, FilterId::SNAPPY, FilterId::BZIP2,
        ]),
        data in prop::collection::vec(prop_oneof![0_u32..10, any::<u32>()], 0..24),
        stored in prop::collection::vec(any::<u8>(), 0..200),
        len in 0_usize..600,
    ) {
        let chain = with_data(id, &data, 4, len);
        let scratch = &mut Scratch::default();
        let _ = chain.decode_into(FilterMask(0), &stored, &mut vec![0; len], scratch);
        let _ = chain.encode(&stored, scratch);
    }

    #[test]
    fn a_changed_byte_gives_an_error_or_other_elements_and_never_a_panic(
        raw in elements(4), at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>(),
        which in 0_usize..5,
    ) {
        let kind = if which == 4 { Kind::Float } else { Kind::Signed };
        let element = Element::Number(Number { precision: 20, ..number(kind, 4, Order::Little) });
        let element = if which == 0 { element } else { Element::Number(number(kind, 4, Order::Little)) };
        let choice = [
            FilterChoice::NBit,
            FilterChoice::ScaleOffset { factor: 0 },
            FilterChoice::Szip { method: SzipMethod::NearestNeighbor, pixels_per_block: 2 },
            FilterChoice::Zfp { mode: ZfpMode::Precision(9) },
            FilterChoice::ScaleOffset { factor: 1 },
        ][which].clone();
        prop_assume!(raw.len() >= 8);
        let chain = pipeline(&choice, &element, &[raw.len() / 4], Some(&[]));
        let scratch = &mut Scratch::default();
        let Ok((stored, _)) = chain.encode(&raw, scratch) else { return Ok(()) };
        let mut stored = stored.to_vec();
        let mut found = vec![0; raw.len()];
        let _ = chain.decode_into(FilterMask(0), &stored[..cut.index(stored.len())], &mut found, scratch);
        let at = at.index(stored.len());
        stored[at] = byte;
        let _ = chain.decode_into(FilterMask(0), &stored, &mut found, scratch);
        // A destination of another length is an error.
        let other = chain.decode_into(FilterMask(0), &stored, &mut vec![0; raw.len() + 4], scratch);
        prop_assert!(other.is_err());
    }
}

#[test]
fn a_chunk_cut_short_is_an_error() {
    let element = Element::Number(Number { precision: 11, ..number(Kind::Signed, 2, Order::Little) });
    let raw: Vec<u8> = (0..320_u16).flat_map(|i| (i * 201 % 1000).to_le_bytes()).collect();
    for (choice, spare) in [
        // libhdf5 stores a byte after the last bit.
        (FilterChoice::NBit, 1),
        (FilterChoice::ScaleOffset { factor: 0 }, 1),
        (FilterChoice::Szip { method: SzipMethod::NearestNeighbor, pixels_per_block: 8 }, 0),
        (FilterChoice::Szip { method: SzipMethod::Entropy, pixels_per_block: 8 }, 0),
    ] {
        let chain = pipeline(&choice, &element, &[320], Some(&[]));
        let (stored, found) = there_and_back(&chain, &raw);
        assert_eq!(found, raw, "{choice:?}");
        let mut found = vec![0; raw.len()];
        for cut in 1 + spare..stored.len() {
            let short = chain.decode_into(
                FilterMask(0),
                &stored[..stored.len() - cut],
                &mut found,
                &mut Scratch::default(),
            );
            assert!(
                matches!(short, Err(FilterError::Damaged { .. })),
                "{choice:?}: {cut} bytes less: {short:?}"
            );
        }
    }
}

#[test]
fn infinities_and_nan_are_stored_whole_under_scale_offset() {
    for special in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX] {
        let values = [1.5, special, -2.25, f32::MIN];
        let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let element = Element::Number(number(Kind::Float, 4, Order::Little));
        let chain = pipeline(&FilterChoice::ScaleOffset { factor: 2 }, &element, &[4], Some(&[]));
        let (stored, found) = there_and_back(&chain, &raw);
        assert_eq!((found, stored.len()), (raw, 21 + 16), "{special}");
    }
}

/// An array of compounds and a member after it, of which libhdf5 stores something else than the member.
#[test]
fn n_bit_does_not_encode_what_libhdf5_would_lose() {
    let short = Element::Number(Number { precision: 9, ..number(Kind::Signed, 2, Order::Little) });
    let pair = Element::Compound { size: 4, members: vec![(0, short.clone()), (2, short.clone())] };
    let array = Element::Array { size: 12, base: Box::new(pair.clone()) };
    let last = Element::Compound { size: 14, members: vec![(0, short.clone()), (2, array.clone())] };
    let lost = Element::Compound { size: 14, members: vec![(0, array), (12, short)] };
    for (element, is_encoded) in [(last, true), (lost, false)] {
        let chain = pipeline(&FilterChoice::NBit, &element, &[3], None);
        let raw: Vec<u8> = (0..42_u8).map(|i| if i % 2 == 0 { i } else { 0 }).collect();
        let encoded = chain.encode(&raw, &mut Scratch::default()).map(|(stored, _)| stored.len());
        assert_eq!(encoded.is_ok(), is_encoded, "{encoded:?}");
    }
}

#[test]
fn filters_refuse_datatypes_that_they_are_not_for() {
    let text = Element::Other { size: 4, class: 3 };
    let wide = Element::Other { size: 16, class: 3 };
    let big = Element::Number(number(Kind::Float, 8, Order::Big));
    let half = Element::Number(number(Kind::Float, 2, Order::Little));
    let small = Element::unsigned(4);
    let zfp = FilterChoice::Zfp { mode: ZfpMode::Reversible };
    let szip = FilterChoice::Szip { method: SzipMethod::Entropy, pixels_per_block: 8 };
    let scale = FilterChoice::ScaleOffset { factor: 2 };
    for (choice, element, shape) in [
        (&zfp, &text, [64]),
        (&zfp, &big, [64]),
        (&zfp, &half, [64]),
        (&szip, &text, [64]),
        (&szip, &wide, [64]),
        (&szip, &small, [7]),
        (&scale, &text, [64]),
        (&scale, &half, [64]),
        (&FilterChoice::ScaleOffset { factor: 33 }, &small, [64]),
        (&FilterChoice::Szip { method: SzipMethod::Entropy, pixels_per_block: 9 }, &small, [64]),
        (&FilterChoice::Bzip2 { block_size: 0 }, &small, [64]),
    ] {
        let refused = choice.client_data(&ChunkFacts::new(element, &shape));
        assert!(matches!(refused, Err(FilterError::Parameter { .. })), "{choice:?} {element:?}: {refused:?}");
    }
}
