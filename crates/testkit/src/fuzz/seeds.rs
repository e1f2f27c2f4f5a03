//! The inputs to start from: golden files, and structures and chunks from them.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use hyperslab::{File, Node};
use hyperslab_filters::{
    ChunkFacts, Element, FilterChoice, FilterId, Kind, Number, Order, Pipeline, Registry, Scratch,
    SzipMethod, ZfpMode,
};
use hyperslab_format::array::extensible::ExtensibleArrayHeader;
use hyperslab_format::array::fixed::FixedArrayHeader;
use hyperslab_format::btree2::header::BTree2Header;
use hyperslab_format::header::{Framing, ObjectHeader};
use hyperslab_format::heap::fractal::header::FractalHeapHeader;
use hyperslab_format::heap::local::LocalHeapHeader;
use hyperslab_format::message::kind;
use hyperslab_format::message::link::LinkTarget;
use hyperslab_format::superblock::driver_information::{
    DriverBlock, DriverInformation, DriverMessage, MultiInformation, MultiMember,
};
use hyperslab_format::{Addr, Reader, Structure, Widths, Writer};

use super::decode::prefix;
use super::filters::{Case, FILTERS, FilterStage};
use super::input::Random;
use crate::golden;
use crate::segy::SegyRecipe;

/// Returns whole golden files.
pub fn open() -> Vec<Vec<u8>> {
    files()
}

/// Returns every golden file in the repository, in the order of the paths.
///
/// # Panics
/// If there are no files, which is a fault of the checkout.
fn files() -> Vec<Vec<u8>> {
    let folder = golden::directory().join("files");
    let mut paths: Vec<PathBuf> = [folder.clone(), folder.join("object")]
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten().flatten())
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "h5" || extension == "nc"))
        .collect();
    paths.sort();
    assert!(paths.len() > 50, "{}: {} files", folder.display(), paths.len());
    paths.iter().filter_map(|path| std::fs::read(path).ok()).collect()
}

/// Returns structures of golden files, up to `PER_STRUCTURE` of each kind.
pub fn decode() -> Vec<Vec<u8>> {
    let mut found = FoundSeed::default();
    for bytes in files() {
        let Ok(file) = File::from_bytes(bytes.clone()) else { continue };
        if file.store().base() != 0 {
            continue;
        }
        found.file(&file, &bytes);
    }
    found.drivers();
    found.seeds
}

#[derive(Default)]
struct FoundSeed {
    seeds: Vec<Vec<u8>>,
    seen: HashSet<Vec<u8>>,
    counts: HashMap<&'static str, usize>,
}

impl FoundSeed {
    fn add(&mut self, name: &'static str, widths: Widths, parts: &[&[u8]]) {
        let count = self.counts.entry(name).or_default();
        let Some(front) = prefix(name, widths).filter(|_| *count < PER_STRUCTURE) else { return };
        let seed = [&front[..], &parts.concat()].concat();
        if self.seen.insert(seed.clone()) {
            *count += 1;
            self.seeds.push(seed);
        }
    }

    fn file(&mut self, file: &File, bytes: &[u8]) {
        let widths = file.store().widths();
        let image = GoldenImage { bytes, widths };
        self.add("Superblock", Widths::EIGHT, &[image.from(Addr::new(0), 256)]);
        let mut seen = HashSet::new();
        let mut waiting = vec![Node::Group(file.root())];
        while let Some(node) = waiting.pop() {
            if !seen.insert(node.address()) {
                continue;
            }
            self.header(&image, node.address());
            let Node::Group(group) = node else { continue };
            for link in group.links().unwrap_or_default() {
                if matches!(link.target, LinkTarget::Hard(_)) {
                    waiting.extend(group.open_link(&link));
                }
            }
        }
        self.blocks(&image);
    }

    /// Adds information of drivers, which no golden file has.
    fn drivers(&mut self) {
        let member = |start, name: &[u8]| MultiMember { start, end: 2048, name: name.to_vec() };
        let members = vec![member(0, b"%s-m.h5"), member(u64::MAX / 2, b"%s-r.h5")];
        let stated = [
            DriverInformation::Family { member_size: 1 << 20 },
            DriverInformation::Multi(MultiInformation { map: [1, 1, 3, 3, 1, 1], members }),
        ];
        for stated in stated {
            let (mut block, mut message) = (Vec::new(), Vec::new());
            Writer::new(&mut block, Widths::EIGHT).structure(&DriverBlock(stated.clone()), &());
            Writer::new(&mut message, Widths::EIGHT).structure(&DriverMessage(stated), &());
            self.add("DriverBlock", Widths::EIGHT, &[&block]);
            self.add("DriverMessage", Widths::EIGHT, &[&message]);
        }
    }

    /// Adds an object header, its chunks and its messages.
    fn header(&mut self, image: &GoldenImage<'_>, at: Addr) {
        let widths = image.widths;
        let Some(mut header) = image.decode::<ObjectHeader>(at) else { return };
        self.add("ObjectHeader", widths, &[image.from(at, LONGEST)]);
        let framing = match header.prefix.framing() {
            Framing::V1 => 0,
            Framing::V2 { creation_order } => 1 + u8::from(creation_order),
        };
        while let Some(extent) = header.next_pending() {
            let chunk = image.from(extent.addr, usize::try_from(extent.len).unwrap_or(0));
            self.add("Chunk", widths, &[&[framing], chunk]);
            if header.decode_continuation(&mut Reader::new(chunk, widths, extent.addr)).is_err() {
                break;
            }
        }
        for message in header.messages() {
            for name in bodies(message.kind) {
                self.add(name, widths, &[&message.data]);
            }
        }
    }

    /// Adds the structures that have a signature.
    fn blocks(&mut self, image: &GoldenImage<'_>) {
        let widths = image.widths;
        for (at, window) in image.bytes.windows(4).enumerate() {
            let at = Addr::new(at as u64);
            let block = || image.from(at, LONGEST);
            match window {
                b"TREE" => {
                    let kind = image.bytes.get(usize::try_from(at.get()).unwrap_or(0) + 4);
                    let (rank, k) = if kind == Some(&0) { (0, 16_u16) } else { (2, 32) };
                    self.add("BTree1Node", widths, &[&[rank], &k.to_le_bytes(), image.from(at, 2 * LONGEST)]);
                }
                b"SNOD" => self.add("SymbolTableNode", widths, &[&4_u16.to_le_bytes(), block()]),
                b"GCOL" => self.add("GlobalHeapCollection", widths, &[image.from(at, 3 * LONGEST)]),
                b"HEAP" => self.pair::<LocalHeapHeader>(image, at, "LocalHeap", &[], |header| header.data),
                b"BTHD" => self.pair::<BTree2Header>(image, at, "BTree2", &[0; 4], |header| header.root),
                b"FRHP" => {
                    for name in ["DirectBlock", "IndirectBlock"] {
                        self.pair::<FractalHeapHeader>(image, at, name, &[0], |header| header.root);
                    }
                    self.pair::<FractalHeapHeader>(image, at, "HeapId", &[], |header| header.root);
                }
                b"FAHD" => {
                    self.pair::<FixedArrayHeader>(image, at, "FixedArray", &[], |header| header.data_block);
                }
                b"EAHD" => {
                    self.pair::<ExtensibleArrayHeader>(image, at, "IndexBlock", &[], |header| {
                        header.index_block
                    });
                }
                b"EASB" | b"EADB" => {
                    // The block names its header.
                    let mut reader = Reader::new(image.from(at, 64), widths, at);
                    let owner = reader.skip(6).and_then(|()| reader.addr());
                    let Ok(owner) = owner else { continue };
                    let name = if window == b"EASB" { "SecondaryBlock" } else { "DataBlock" };
                    for number in 0..6 {
                        self.pair::<ExtensibleArrayHeader>(image, owner, name, &[number], |_| at);
                    }
                }
                _ => {}
            }
        }
    }

    /// Adds a header together with the block that it names.
    fn pair<H: Structure<Context = ()>>(
        &mut self,
        image: &GoldenImage<'_>,
        at: Addr,
        name: &'static str,
        before: &[u8],
        block: impl Fn(&H) -> Addr,
    ) {
        let mut reader = Reader::new(image.from(at, LONGEST), image.widths, at);
        let Ok(header) = reader.structure::<H>(&()) else { return };
        let header_bytes = image.from(at, reader.position());
        self.add(name, image.widths, &[before, header_bytes, image.from(block(&header), LONGEST)]);
    }
}

/// The bytes of a golden file.
struct GoldenImage<'a> {
    bytes: &'a [u8],
    widths: Widths,
}

impl<'a> GoldenImage<'a> {
    /// Returns up to `len` bytes from `at` on.
    fn from(&self, at: Addr, len: usize) -> &'a [u8] {
        let start = usize::try_from(at.get()).map_or(self.bytes.len(), |at| at.min(self.bytes.len()));
        &self.bytes[start..self.bytes.len().min(start.saturating_add(len))]
    }

    fn decode<S: Structure<Context = ()>>(&self, at: Addr) -> Option<S> {
        Reader::new(self.from(at, usize::MAX), self.widths, at).structure(&()).ok()
    }
}

/// Returns the names of the structures that the body of a message of this type can be.
fn bodies(message: u16) -> &'static [&'static str] {
    match message {
        kind::DATASPACE => &["Dataspace", "DataspaceMessage"],
        kind::LINK_INFO => &["LinkInfo"],
        kind::DATATYPE => &["Datatype"],
        kind::OLD_FILL_VALUE => &["OldFillValue"],
        kind::FILL_VALUE => &["FillValue"],
        kind::LINK => &["Link"],
        kind::LAYOUT => &["Layout", "LayoutMessage"],
        kind::GROUP_INFO => &["GroupInfo"],
        kind::FILTER_PIPELINE => &["FilterPipeline"],
        kind::ATTRIBUTE => &["Attribute"],
        kind::COMMENT => &["Comment"],
        kind::MODIFICATION_TIME => &["ModificationTime"],
        kind::CONTINUATION => &["Continuation"],
        kind::SYMBOL_TABLE => &["SymbolTable"],
        kind::BTREE_K => &["BTreeK"],
        kind::ATTRIBUTE_INFO => &["AttributeInfo"],
        kind::REFERENCE_COUNT => &["ReferenceCount"],
        kind::FILE_SPACE_INFO => &["FileSpaceInfo"],
        _ => &[],
    }
}

const PER_STRUCTURE: usize = 40;
/// The number of bytes that suffices to decode most structures.
const LONGEST: usize = 1024;

/// Returns chunks that python-blosc2 and hdf5plugin wrote, and chunks of every filter of this project.
pub fn filters() -> Vec<Vec<u8>> {
    let mut seeds = blosc_samples();
    seeds.extend(number_chunks());
    let mut scratch = Scratch::default();
    let content: Vec<u8> = (0..4000_u32).flat_map(|n| (n / 7).to_le_bytes()).collect();
    for (number, &id) in FILTERS.iter().enumerate() {
        for (element_size, shape) in
            [(4, vec![1000]), (2, vec![40, 60]), (3, vec![7, 11, 13]), (32, vec![400])]
        {
            let alone = vec![FilterStage { id, client_data: client_data(id, element_size) }];
            let shuffle = FilterStage { id: FilterId::SHUFFLE, client_data: vec![] };
            let sealed = FilterStage { id: FilterId::FLETCHER32, client_data: vec![] };
            let second = FilterStage { id, client_data: client_data(id, element_size) };
            for stages in [alone, vec![shuffle, second, sealed]] {
                let case = Case { element_size, shape: shape.clone(), mask: 0, stages };
                let specs: Vec<_> = case.stages.iter().map(FilterStage::spec).collect();
                let raw: Vec<u8> = content.iter().copied().skip(number).cycle().take(case.bytes()).collect();
                let registry = Registry::default();
                let Ok(pipeline) = Pipeline::new(&specs, element_size, raw.len(), &registry) else {
                    continue;
                };
                scratch.note = Some(bounds());
                let Ok((stored, _)) = pipeline.encode(&raw, &mut scratch) else { continue };
                seeds.extend(case.encode().map(|header| [&header, stored].concat()));
            }
        }
    }
    seeds
}

/// Returns the bounds of the columns of the target's record: an f32, an i16 and a u64.
fn bounds() -> Vec<u8> {
    let (head, zeros) = ([1, 14, 0, 0, 0, 3, 0, 0, 0], [0; 24]);
    [
        &head[..],
        &[0, 0, 0, 0, 9, 1],
        &zeros[..8],
        &[4, 0, 0, 0, 6, 0],
        &zeros[..4],
        &[6, 0, 0, 0, 4, 0],
        &zeros[..16],
    ]
    .concat()
}

/// Returns filter parameters as writers set them.
fn client_data(id: FilterId, element_size: usize) -> Vec<u32> {
    let size = u32::try_from(element_size).unwrap_or(1);
    match id {
        FilterId::DEFLATE | FilterId::ZSTD => vec![3],
        FilterId::BLOSC => vec![2, 2, size, 0, 5, 1, 0],
        FilterId::BITSHUFFLE => vec![0, 4, size, 0, 2],
        FilterId::SZIP => vec![0xa9, 8, 16, 100],
        _ => vec![],
    }
}

/// Returns chunks of the filters that know the datatype, with their own client data.
fn number_chunks() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    let mut scratch = Scratch::default();
    let raw: Vec<u8> = (0..600_u32).flat_map(|n| (n * n / 100 % 500).to_le_bytes()).collect();
    let shape = [20, 30];
    let number = |kind, precision| {
        Element::Number(Number {
            kind,
            size: 4,
            order: Order::Little,
            precision,
            offset: 2 * (32 - precision) / 3,
        })
    };
    let pair = Element::Compound {
        size: 4,
        members: vec![(0, Element::unsigned(2)), (2, Element::Other { size: 2, class: 3 })],
    };
    for (choice, element) in [
        (FilterChoice::NBit, number(Kind::Signed, 17)),
        (FilterChoice::NBit, pair),
        (FilterChoice::ScaleOffset { factor: 0 }, number(Kind::Signed, 32)),
        (FilterChoice::ScaleOffset { factor: 5 }, number(Kind::Unsigned, 32)),
        (FilterChoice::ScaleOffset { factor: 2 }, number(Kind::Float, 32)),
        (FilterChoice::Szip { method: SzipMethod::Entropy, pixels_per_block: 6 }, number(Kind::Signed, 32)),
        (FilterChoice::Zfp { mode: ZfpMode::Reversible }, number(Kind::Float, 32)),
        (FilterChoice::Zfp { mode: ZfpMode::Rate(7.0) }, number(Kind::Signed, 32)),
    ] {
        let Ok(client_data) = choice.client_data(&ChunkFacts::new(&element, &shape)) else { continue };
        let stages = vec![FilterStage { id: choice.id(), client_data }];
        let case = Case { element_size: 4, shape: shape.to_vec(), mask: 0, stages };
        let specs: Vec<_> = case.stages.iter().map(FilterStage::spec).collect();
        let Ok(pipeline) = Pipeline::new(&specs, 4, raw.len(), &Registry::default()) else { continue };
        let Ok((stored, _)) = pipeline.encode(&raw, &mut scratch) else { continue };
        seeds.extend(case.encode().map(|header| [&header, stored].concat()));
    }
    assert_eq!(seeds.len(), 8);
    seeds
}

/// Returns the chunks in `golden/files/blosc`.
fn blosc_samples() -> Vec<Vec<u8>> {
    let folder = golden::directory().join("files/blosc");
    let chunks = std::fs::read(folder.join("samples.bin")).unwrap_or_default();
    let lines = std::fs::read_to_string(folder.join("samples.txt")).unwrap_or_default();
    let sample = |line: &str| -> Option<Vec<u8>> {
        // Fields: name, filter, element size, shape, offset, length, hash.
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| words.get(at)?.parse::<usize>().ok();
        let shape = words.get(3)?.split('x').map(|len| len.parse().ok()).collect::<Option<Vec<usize>>>()?;
        let id = FilterId(words.get(1)?.parse().ok()?);
        let stages = vec![FilterStage { id, client_data: vec![] }];
        let case = Case { element_size: number(2)?, shape, mask: 0, stages };
        let stored = chunks.get(number(4)?..number(4)?.checked_add(number(5)?)?)?;
        Some([&case.encode()?, stored].concat())
    };
    let samples: Vec<Vec<u8>> = lines.lines().filter_map(sample).collect();
    assert!(samples.len() > 100, "{}: {} samples", folder.display(), samples.len());
    samples
}

/// Returns random numbers, and texts in the syntax of selections.
pub fn select() -> Vec<Vec<u8>> {
    let mut random = Random::new(7);
    let mut seeds: Vec<Vec<u8>> =
        (0..200).map(|_| (0..120).map(|_| random.u64().to_le_bytes()[0]).collect()).collect();
    let texts =
        ["[1:9, ::2, 5, ...]", "...", "[[1, 2, 7], :]", "-3:, -1", "0:0", " [ 3 ] ", "1:2:3:4", "[,]", ""];
    for (rank, text) in texts.iter().enumerate() {
        for rank in [rank % 5, 3] {
            let numbers = [1, 9].repeat(rank);
            seeds.push([&[0, u8::try_from(rank).unwrap_or(0)][..], &numbers, text.as_bytes()].concat());
        }
    }
    seeds
}

/// Returns SEG-Y files of every revision, with every way to read them.
pub fn segy() -> Vec<Vec<u8>> {
    let gathers = (0..3).flat_map(|i| (0..2).map(move |x| [1, i, 100 * x])).collect();
    let line = (0..5).map(|i| [i, i, 0]).collect();
    let recipes = [
        SegyRecipe::default(),
        SegyRecipe { format: 5, extended: 1, ..SegyRecipe::default() },
        SegyRecipe { format: 7, revision: (0, 0), traces: line, ..SegyRecipe::default() },
        SegyRecipe { format: 3, revision: (2, 0), additional: 1, little: true, ..SegyRecipe::default() },
        SegyRecipe { format: 6, revision: (2, 1), trailers: 1, traces: gathers, ..SegyRecipe::default() },
        SegyRecipe { format: 8, label: true, samples: 300, ..SegyRecipe::default() },
    ];
    // The second byte selects the types of the header fields: the usual ones, 4-byte and 8-byte floats.
    let ways = [[0, 0], [0b11, 0], [0b111, 0], [0b1000, 0], [0b11_1000, 0], [0, 1], [0, 2], [0b100_1000, 1]];
    ways.iter()
        .flat_map(|how| recipes.iter().map(move |recipe| [&how[..], &recipe.bytes()].concat()))
        .collect()
}
