//! Tests the client data of chosen filters against that of h5py, hdf5plugin and PyTables
//! (`golden/make/client_data.py`).

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests")]

use hyperslab_filters::{
    BitshuffleCodec, BloscCodec, BloscFilter, ChunkFacts, Element, FilterChoice, FilterError, Pipeline,
    Registry, StageSpec,
};

/// Returns the filters that the name of a line describes.
fn chosen(name: &str) -> Vec<FilterChoice> {
    let words: Vec<&str> = name.split('-').collect();
    let level = |at: usize| words[at].parse().unwrap();
    match words[..] {
        ["gzip", ..] => {
            vec![FilterChoice::Shuffle, FilterChoice::Deflate { level: 4 }, FilterChoice::Fletcher32]
        }
        ["shuffle", ..] => vec![FilterChoice::Shuffle],
        ["lzf", ..] => vec![FilterChoice::Lzf],
        ["lz4"] => vec![FilterChoice::Lz4 { block_size: 0 }],
        ["lz4", block_size] => vec![FilterChoice::Lz4 { block_size: block_size.parse().unwrap() }],
        ["zstd", level] => vec![FilterChoice::Zstd { level: level.parse().unwrap() }],
        ["zstd", "", level] => vec![FilterChoice::Zstd { level: -level.parse::<i32>().unwrap() }],
        ["bitshuffle", "none", block] => {
            vec![FilterChoice::Bitshuffle { block: block.parse().unwrap(), codec: BitshuffleCodec::None }]
        }
        ["bitshuffle", "lz4", ..] => {
            vec![FilterChoice::Bitshuffle { block: 0, codec: BitshuffleCodec::Lz4 }]
        }
        ["bitshuffle", "zstd", ..] => {
            vec![FilterChoice::Bitshuffle { block: 0, codec: BitshuffleCodec::Zstd { level: 5 } }]
        }
        ["blosc", codec, _, filter] => {
            vec![FilterChoice::Blosc {
                codec: self::codec(codec),
                level: level(2),
                filter: self::filter(filter),
            }]
        }
        ["blosc2", codec, _, filter, ..] => vec![FilterChoice::Blosc2 {
            codec: self::codec(codec),
            level: level(2),
            filter: self::filter(filter),
        }],
        _ => panic!("{name}"),
    }
}

fn codec(name: &str) -> BloscCodec {
    match name {
        "blosclz" => BloscCodec::BloscLz,
        "lz4" => BloscCodec::Lz4,
        "lz4hc" => BloscCodec::Lz4Hc,
        "snappy" => BloscCodec::Snappy,
        "zlib" => BloscCodec::Zlib,
        "zstd" => BloscCodec::Zstd,
        _ => panic!("{name}"),
    }
}

fn filter(name: &str) -> BloscFilter {
    match name {
        "none" => BloscFilter::None,
        "shuffle" => BloscFilter::Shuffle,
        "bitshuffle" => BloscFilter::BitShuffle,
        "delta" => BloscFilter::Delta,
        "truncate" => BloscFilter::Truncate,
        _ => panic!("{name}"),
    }
}

/// A line of the file: its name, the facts of the dataset, and each filter's number, flags and client data.
struct Line {
    name: &'static str,
    element_size: usize,
    item_size: usize,
    shape: Vec<usize>,
    filters: Vec<(u16, u16, Vec<u32>)>,
}

impl Line {
    fn element(&self) -> Element {
        let item = Element::unsigned(self.item_size);
        if self.item_size == self.element_size {
            return item;
        }
        Element::Array { size: self.element_size, base: Box::new(item) }
    }
}

fn lines() -> impl Iterator<Item = Line> {
    include_str!("client_data.txt").lines().map(|line| {
        let words: Vec<&'static str> = line.split(' ').collect();
        let filters = words[4..].iter().map(|filter| {
            let [id, flags, data] = filter.split(':').collect::<Vec<_>>()[..] else { panic!("{line}") };
            let data = data.split(',').filter(|number| !number.is_empty());
            let data = data.map(|number| number.parse().unwrap()).collect();
            (id.parse().unwrap(), flags.parse().unwrap(), data)
        });
        Line {
            name: words[0],
            element_size: words[1].parse().unwrap(),
            item_size: words[2].parse().unwrap(),
            shape: words[3].split('x').map(|extent| extent.parse().unwrap()).collect(),
            filters: filters.collect(),
        }
    })
}

#[test]
fn client_data_equals_that_of_the_reference_plugins() {
    for line in lines().filter(|line| !line.name.starts_with("pytables")) {
        let element = line.element();
        let facts = ChunkFacts::new(&element, &line.shape);
        let found: Vec<_> = chosen(line.name)
            .iter()
            .map(|choice| (choice.id().0, choice.flags(), choice.client_data(&facts).unwrap()))
            .collect();
        assert_eq!(found, line.filters, "{}", line.name);
    }
}

#[test]
fn filters_encode_with_client_data_stored_by_other_programs() {
    for line in lines() {
        let specs = line.filters.iter().map(|(id, flags, client_data)| StageSpec {
            id: hyperslab_filters::FilterId(*id),
            name: None,
            flags: *flags & !1,
            client_data,
        });
        let specs: Vec<_> = specs.collect();
        let bytes = line.element_size * line.shape.iter().product::<usize>();
        let pipeline = Pipeline::new(&specs, line.element_size, bytes, &Registry::default()).unwrap();
        let raw: Vec<u8> = (0..bytes).map(|at| (at / 7 % 50).to_le_bytes()[0]).collect();
        let scratch = &mut hyperslab_filters::Scratch::default();
        let (stored, mask) = pipeline.encode(&raw, scratch).unwrap();
        let stored = stored.to_vec();
        let mut found = vec![0xEE; bytes];
        pipeline.decode_into(mask, &stored, &mut found, scratch).unwrap();
        if !line.name.contains("truncate") {
            assert!(found == raw, "{}", line.name);
        }
    }
}

#[test]
fn a_parameter_out_of_range_and_a_chunk_of_4_gib_are_refused() {
    let shape = [1 << 30];
    let element = Element::unsigned(4);
    let facts = ChunkFacts::new(&element, &shape);
    let blosc = |filter| FilterChoice::Blosc { codec: BloscCodec::Lz4, level: 5, filter };
    for choice in [
        FilterChoice::Deflate { level: 10 },
        FilterChoice::Zstd { level: 23 },
        FilterChoice::Lz4 { block_size: u32::MAX },
        FilterChoice::Bitshuffle { block: 12, codec: BitshuffleCodec::Lz4 },
        FilterChoice::Blosc2 { codec: BloscCodec::Lz4, level: 10, filter: BloscFilter::Shuffle },
        blosc(BloscFilter::Delta),
        blosc(BloscFilter::Shuffle),
        FilterChoice::Lzf,
    ] {
        let refused = choice.client_data(&facts);
        assert!(matches!(refused, Err(FilterError::Parameter { .. })), "{choice:?}: {refused:?}");
    }
}
