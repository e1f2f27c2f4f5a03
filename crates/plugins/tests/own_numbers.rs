//! The plug-ins of hdf5plugin whose filters hyperslab has itself: what one encodes, the other decodes, and
//! the parameters that both store are equal. hyperslab's own filters come first, so this goes around the
//! registry.
#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]

use std::fs;
use std::path::{Path, PathBuf};

use hyperslab_filters::added;
use hyperslab_filters::choice::{BitshuffleCodec, BloscCodec, BloscFilter, FilterChoice};
use hyperslab_filters::{
    ChunkFacts, Element, Encoded, FilterId, Kind, Number, Order, Parameters, Registry, Scratch, ZfpMode,
};

/// Returns the folder of hdf5plugin in the environment of the tests.
fn hdf5plugin() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/lib");
    let versions = fs::read_dir(root).ok()?.filter_map(|version| Some(version.ok()?.path()));
    let folders = versions.map(|version| version.join("site-packages/hdf5plugin/plugins"));
    let found = folders.into_iter().find(|folder| folder.is_dir());
    assert!(
        found.is_some() || std::env::var_os("HYPERSLAB_NO_SKIPS").is_none(),
        "hdf5plugin is not installed"
    );
    found
}

/// The filters, with the parameters that a user gives their plug-ins.
fn choices() -> Vec<(FilterChoice, Vec<u32>)> {
    let blosc = |codec| {
        let (level, filter) = (5, BloscFilter::Shuffle);
        (FilterChoice::Blosc { codec, level, filter }, vec![0, 0, 0, 0, level, 1, codec as u32])
    };
    let blosc2 = |codec, filter| {
        let level = 5;
        let given = vec![0, 0, 0, 0, level, filter as u32, codec as u32];
        (FilterChoice::Blosc2 { codec, level, filter }, given)
    };
    let zfp = |mode, given: &[u32]| (FilterChoice::Zfp { mode }, given.to_vec());
    vec![
        blosc(BloscCodec::BloscLz),
        blosc(BloscCodec::Lz4),
        blosc(BloscCodec::Lz4Hc),
        blosc(BloscCodec::Snappy),
        blosc(BloscCodec::Zlib),
        blosc(BloscCodec::Zstd),
        blosc2(BloscCodec::BloscLz, BloscFilter::Shuffle),
        blosc2(BloscCodec::Lz4, BloscFilter::BitShuffle),
        blosc2(BloscCodec::Zstd, BloscFilter::Delta),
        (FilterChoice::Bitshuffle { block: 0, codec: BitshuffleCodec::None }, vec![0, 0]),
        (FilterChoice::Bitshuffle { block: 0, codec: BitshuffleCodec::Lz4 }, vec![0, 2]),
        (FilterChoice::Bitshuffle { block: 64, codec: BitshuffleCodec::Zstd { level: 3 } }, vec![64, 3, 3]),
        (FilterChoice::Bzip2 { block_size: 9 }, vec![9]),
        (FilterChoice::Lz4 { block_size: 0 }, vec![0]),
        (FilterChoice::Lz4 { block_size: 512 }, vec![512]),
        (FilterChoice::Zstd { level: 3 }, vec![3]),
        zfp(ZfpMode::Reversible, &[5, 0, 0, 0, 0, 0]),
        zfp(ZfpMode::Precision(20), &[2, 0, 20, 0, 0, 0]),
    ]
}

#[test]
fn plugins_and_own_filters_decode_what_the_other_encodes() {
    let Some(folder) = hdf5plugin() else { return };
    let loaded = hyperslab_plugins::load(&folder).unwrap();
    assert_eq!(loaded.len(), 12, "{loaded:?}");
    let shape = [24, 50];
    // Smooth numbers, so that all filters encode them in fewer bytes.
    let raw: Vec<u8> = (0..1200_u32).flat_map(|i| (f64::from(i / 7) / 16.0).to_le_bytes()).collect();
    for (size, precision) in [(8, 64), (4, 32)] {
        let number = Number { kind: Kind::Float, size, order: Order::Little, precision, offset: 0 };
        let element = Element::Number(number);
        let raw: Vec<u8> = match size {
            8 => raw.clone(),
            _ => (0..1200_u16).flat_map(|i| (f32::from(i / 7) / 16.0).to_le_bytes()).collect(),
        };
        let facts = ChunkFacts::new(&element, &shape);
        for (choice, given) in choices() {
            let id = choice.id();
            let plugin = added::find(id).unwrap();
            let stored = choice.client_data(&facts).unwrap();
            let theirs = plugin.client_data(&given, true, &facts).unwrap();
            // ZFP's header names the version of its library; LZF's and others' data are compared as they are.
            assert!(id == FilterId::ZFP || stored == theirs, "{choice:?}: {stored:?} {theirs:?}");
            let own = |client_data| {
                let parameters = Parameters { client_data, element_size: size, chunk_bytes: raw.len() };
                Registry::default().filter(id, None, &parameters).unwrap()
            };
            let other = |client_data| {
                let parameters = Parameters { client_data, element_size: size, chunk_bytes: raw.len() };
                plugin.filter(&parameters).unwrap()
            };
            let filters = [own(&stored), other(&theirs)];
            let scratch = &mut Scratch::default();
            let mut decoded = Vec::new();
            for from in &filters {
                let mut chunk = vec![0; from.encode_bound(raw.len())];
                let Ok(Encoded::Stored(len)) = from.encode_into(&raw, &mut chunk, scratch) else {
                    panic!("{choice:?} {from:?}: {:?}", from.encode_into(&raw, &mut chunk, scratch))
                };
                for to in &filters {
                    let mut found = vec![0; raw.len()];
                    let count = to.decode_into(&chunk[..len], &mut found, scratch);
                    assert_eq!(count, Ok(raw.len()), "{choice:?}: {from:?} {to:?}");
                    decoded.push(found);
                }
            }
            assert!(decoded.iter().all(|found| *found == decoded[0]), "{choice:?}");
            let loses = matches!(choice, FilterChoice::Zfp { mode: ZfpMode::Precision(_) });
            assert!(loses || decoded[0] == raw, "{choice:?}");
        }
    }
}
