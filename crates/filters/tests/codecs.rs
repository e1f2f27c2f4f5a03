//! Each codec is a feature: with it chunks decode, and without it decoding and encoding are errors that name
//! the feature. `make lint` runs these tests without any codec, `make test` with all of them.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests")]

use hyperslab_filters::{
    ChunkFacts, Element, FilterChoice, FilterError, FilterId, FilterMask, Pipeline, Registry, Scratch,
    StageSpec, ZfpMode,
};

const RAW: [u8; 1024] = [7; 1024];

/// The features, and whether this build has them.
const FEATURES: [(&str, bool); 6] = [
    ("deflate", cfg!(feature = "deflate")),
    ("zstd", cfg!(feature = "zstd")),
    ("lz4", cfg!(feature = "lz4")),
    ("bzip2", cfg!(feature = "bzip2")),
    ("snappy", cfg!(feature = "snappy")),
    ("zfp", cfg!(feature = "zfp")),
];

/// Filters that need a feature, with parameters by which they need it.
const FILTERS: [(&str, FilterId, &[u32]); 8] = [
    ("deflate", FilterId::DEFLATE, &[4]),
    ("zstd", FilterId::ZSTD, &[3]),
    ("lz4", FilterId::LZ4, &[]),
    ("bzip2", FilterId::BZIP2, &[9]),
    ("snappy", FilterId::SNAPPY, &[]),
    // The header of 256 reversible integers of 4 bytes.
    ("zfp", FilterId::ZFP, &[0x1010_5111, 0x0570_667a, 0x0000_0ff0, 0x8800_0000]),
    ("lz4", FilterId::BITSHUFFLE, &[0, 4, 4, 0, 2]),
    ("zstd", FilterId::BITSHUFFLE, &[0, 4, 4, 0, 3, 1]),
];

/// The codecs inside Blosc: the feature, the number in parameters and the number in a chunk.
const INSIDE_BLOSC: [(Option<&str>, u32, u8); 6] = [
    (None, 0, 0),
    (Some("lz4"), 1, 1),
    (Some("lz4"), 2, 1),
    (Some("snappy"), 3, 2),
    (Some("deflate"), 4, 3),
    (Some("zstd"), 5, 4),
];

fn is_built(feature: &str) -> bool {
    FEATURES.iter().any(|&(name, is_built)| name == feature && is_built)
}

/// Returns a pipeline of one filter, which chunks may be stored without.
fn pipeline(id: FilterId, client_data: &[u32]) -> Pipeline {
    let stage = StageSpec { id, name: None, flags: 1, client_data };
    Pipeline::new(&[stage], 4, RAW.len(), &Registry::default()).unwrap()
}

/// Checks that the result is right with the feature, and without it an error that names the feature.
fn check<T>(feature: &str, result: Result<T, FilterError>, is_right: impl Fn(&T) -> bool) {
    match result {
        Ok(found) => assert!(is_built(feature) && is_right(&found), "{feature}"),
        Err(error) => {
            assert!(!is_built(feature), "{feature}: {error}");
            assert!(error.to_string().contains(&format!("built without the feature `{feature}`")), "{error}");
        }
    }
}

#[test]
fn a_filter_encodes_and_decodes_with_its_feature_and_names_it_otherwise() {
    let scratch = &mut Scratch::default();
    for (feature, id, client_data) in FILTERS {
        let pipeline = pipeline(id, client_data);
        let encoded = pipeline.encode(&RAW, scratch).map(|(stored, mask)| (stored.to_vec(), mask));
        let stored = encoded.as_ref().map(|(stored, _)| stored.clone()).unwrap_or_default();
        check(feature, encoded, |(stored, mask)| stored.len() < RAW.len() && *mask == FilterMask(0));
        let mut found = [0; RAW.len()];
        let decoded = pipeline.decode_into(FilterMask(0), &stored, &mut found, scratch);
        check(feature, decoded, |()| found == RAW);
    }
}

#[test]
fn the_default_registry_has_the_filters_that_are_built() {
    let registry = Registry::default();
    for (feature, id, _) in FILTERS.iter().take(FEATURES.len()) {
        assert_eq!(registry.contains(*id), is_built(feature), "{feature}");
    }
    assert!(registry.contains(FilterId::BITSHUFFLE) && registry.contains(FilterId::BLOSC));
}

#[test]
fn a_chunk_of_blosc_names_the_feature_of_the_codec_inside() {
    let scratch = &mut Scratch::default();
    for (feature, number, in_chunk) in INSIDE_BLOSC {
        for id in [FilterId::BLOSC, FilterId::BLOSC2] {
            // Blosc 2 does not write Snappy.
            if number == 3 && id == FilterId::BLOSC2 {
                continue;
            }
            let pipeline = pipeline(id, &[1, 0, 4, 1024, 5, 1, number]);
            let raw: Vec<u8> = (0..256_u32).flat_map(|n| (n / 9).to_le_bytes()).collect();
            let encoded = pipeline.encode(&raw, scratch).map(|(stored, mask)| (stored.to_vec(), mask));
            let Some(feature) = feature else {
                let (stored, mask) = encoded.unwrap();
                let mut found = [0; RAW.len()];
                pipeline.decode_into(mask, &stored, &mut found, scratch).unwrap();
                assert_eq!(found[..], raw);
                continue;
            };
            if let Ok((stored, mask)) = &encoded {
                let mut found = [0; RAW.len()];
                pipeline.decode_into(*mask, stored, &mut found, scratch).unwrap();
                assert_eq!(found[..], raw);
            }
            check(feature, encoded, |(stored, _)| stored.len() < RAW.len());
        }
        let Some(feature) = feature else { continue };
        // A chunk of Blosc 1 with one block that is not split, whose stream no codec decodes.
        let mut stored = vec![2, 1, in_chunk << 5 | 0x10, 4];
        stored.extend([1024_u32, 1024, 25, 20, 1].iter().flat_map(|n| n.to_le_bytes()));
        stored.push(0xff);
        let decoded =
            pipeline(FilterId::BLOSC, &[]).decode_into(FilterMask(0), &stored, &mut [0; 1024], scratch);
        match decoded.unwrap_err() {
            FilterError::NotBuilt { feature: found, .. } => assert!(found == feature && !is_built(feature)),
            error => assert!(is_built(feature), "{feature}: {error}"),
        }
    }
}

#[test]
fn a_level_of_0_needs_no_codec_inside_blosc() {
    let pipeline = pipeline(FilterId::BLOSC2, &[1, 0, 4, 1024, 0, 1, 5]);
    let raw: Vec<u8> = (0..256_u32).flat_map(u32::to_le_bytes).collect();
    let scratch = &mut Scratch::default();
    let (stored, mask) =
        pipeline.encode(&raw, scratch).map(|(stored, mask)| (stored.to_vec(), mask)).unwrap();
    let mut found = [0; RAW.len()];
    pipeline.decode_into(mask, &stored, &mut found, scratch).unwrap();
    assert_eq!((mask, &found[..]), (FilterMask(0), &raw[..]));
}

#[test]
fn the_client_data_of_zfp_need_its_feature() {
    let (element, shape) = (Element::unsigned(4), [256]);
    let zfp = FILTERS[5].2;
    let choice = FilterChoice::Zfp { mode: ZfpMode::Reversible };
    check("zfp", choice.client_data(&ChunkFacts::new(&element, &shape)), |data| data[..] == *zfp);
}
