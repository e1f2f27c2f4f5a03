//! Checks datatypes, B-trees, symbol tables and heaps against the three laws of `Structure`. The values come
//! from proptest, from the structures of the golden files, and from damaged bytes.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests")]

use std::path::{Path, PathBuf};

use hyperslab_format::btree1::entries::{BTree1Entries, BTree1Key};
use hyperslab_format::btree1::{BTree1Context, BTree1Kind, BTree1Node};
use hyperslab_format::btree2::geometry::BTree2NodeShape;
use hyperslab_format::btree2::header::BTree2Header;
use hyperslab_format::btree2::node::BTree2Node;
use hyperslab_format::btree2::record::{ChunkRecord, Record, RecordForm, Records};
use hyperslab_format::bytes::Width;
use hyperslab_format::datatype::{
    Array, ByteOrder, Charset, Complex, Compound, Datatype, Enumeration, Float, Integer, Member, Opaque,
    Padding, Reference, ReferenceKind, Text, VariableText,
};
use hyperslab_format::free_space::header::{FreeSpaceClient, FreeSpaceHeader};
use hyperslab_format::free_space::sections::{
    FreeSection, FreeSectionKind, FreeSpaceForm, FreeSpaceSections,
};
use hyperslab_format::group::symbol::{EntryCache, SymbolTableContext, SymbolTableEntry, SymbolTableNode};
use hyperslab_format::heap::fractal::block::{
    DirectBlock, DirectBlockContext, IndirectBlock, IndirectBlockContext,
};
use hyperslab_format::heap::fractal::geometry::{HeapChild, HeapGeometry};
use hyperslab_format::heap::fractal::header::FractalHeapHeader;
use hyperslab_format::heap::global::GlobalHeapCollection;
use hyperslab_format::heap::local::{LocalHeapData, LocalHeapHeader};
use hyperslab_format::{Addr, Reader, Structure, Widths, Writer};
use proptest::collection::vec;
use proptest::prelude::*;

/// Checks L1 and L3, and returns the encoded bytes.
fn check<S: Structure + PartialEq + std::fmt::Debug>(
    value: &S,
    widths: Widths,
    context: &S::Context,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    Writer::new(&mut bytes, widths).structure(value, context);
    assert_eq!(value.encoded_len(widths, context), bytes.len());
    let mut r = Reader::new(&bytes, widths, Addr::new(0));
    assert_eq!(&r.structure::<S>(context).unwrap(), value);
    assert!(r.is_at_end());
    for len in (0..bytes.len()).step_by(bytes.len() / 64 + 1).chain([bytes.len() - 1]) {
        assert!(
            Reader::new(&bytes[..len], widths, Addr::new(0)).structure::<S>(context).is_err(),
            "{len} bytes"
        );
    }
    bytes
}

/// Decodes arbitrary bytes. If they decode to a value, the value must encode.
fn survive<S: Structure>(bytes: &[u8], widths: Widths, context: &S::Context) {
    if let Ok(value) = Reader::new(bytes, widths, Addr::new(0)).structure::<S>(context) {
        Writer::new(&mut Vec::new(), widths).structure(&value, context);
    }
}

fn widths() -> impl Strategy<Value = Widths> {
    let width = prop_oneof![Just(Width::Two), Just(Width::Four), Just(Width::Eight)];
    (width.clone(), width).prop_map(|(offset, length)| Widths { offset, length })
}

/// An address that fits every width, or the undefined address.
fn addr() -> impl Strategy<Value = Addr> {
    prop_oneof![4 => (0..0xffff_u64).prop_map(Addr::new), 1 => Just(Addr::UNDEFINED)]
}

fn name() -> impl Strategy<Value = String> {
    "[a-zé]{1,18}"
}

fn charset() -> impl Strategy<Value = Charset> {
    prop_oneof![Just(Charset::Ascii), Just(Charset::Utf8)]
}

fn padding() -> impl Strategy<Value = Padding> {
    prop_oneof![Just(Padding::NullTerminated), Just(Padding::NullPadded), Just(Padding::SpacePadded)]
}

/// Datatypes of a file with eight-byte addresses.
fn datatype() -> impl Strategy<Value = Datatype> {
    let order = prop_oneof![Just(ByteOrder::Little), Just(ByteOrder::Big)];
    let integer = (1..=16_u32, any::<bool>(), order.clone()).prop_map(|(n, s, o)| Integer::whole(n, s, o));
    let float = (0..4_u32, order).prop_map(|(log2, order)| Float::ieee(2_u32 << log2, order).unwrap());
    let reference = prop_oneof![
        Just(Reference { size: 8, kind: ReferenceKind::Object1 }),
        Just(Reference { size: 12, kind: ReferenceKind::Region1 }),
        Just(Reference { size: 64, kind: ReferenceKind::Attribute }),
    ];
    let enumeration =
        (integer.clone(), proptest::collection::btree_set(name(), 0..5)).prop_map(|(base, names)| {
            let size = base.size as usize;
            let members = names.into_iter().enumerate();
            Enumeration {
                base: Box::new(Datatype::Integer(base)),
                members: members
                    .map(|(value, name)| (name, vec![u8::try_from(value).unwrap(); size]))
                    .collect(),
            }
        });
    let leaf = prop_oneof![
        integer.prop_map(Datatype::Integer),
        float.clone().prop_map(Datatype::Float),
        float.prop_map(|float| Datatype::Complex(Complex::of(float))),
        reference.prop_map(Datatype::Reference),
        enumeration.prop_map(Datatype::Enumeration),
        (1..100_u32, padding(), charset()).prop_map(|(size, padding, charset)| Datatype::Text(Text {
            size,
            padding,
            charset
        })),
        (padding(), charset())
            .prop_map(|(padding, charset)| Datatype::VariableText(VariableText { padding, charset })),
        (1..100_u32, "[a-z]{0,30}").prop_map(|(size, tag)| Datatype::Opaque(Opaque { size, tag })),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            inner.clone().prop_map(|base| Datatype::Sequence(Box::new(base))),
            (inner.clone(), vec(1..4_u32, 0..4))
                .prop_map(|(base, shape)| Datatype::Array(Array { base: Box::new(base), shape })),
            vec((inner, 0..3_u32), 1..6).prop_map(compound),
        ]
    })
}

/// Returns a compound of these members. Each member follows its given number of unused bytes.
fn compound(members: Vec<(Datatype, u32)>) -> Datatype {
    let mut size = 0;
    let mut placed = Vec::new();
    for (number, (datatype, gap)) in members.into_iter().enumerate() {
        let offset = size + gap;
        size = offset + u32::try_from(datatype.size(Widths::EIGHT)).unwrap();
        placed.push(Member::new(format!("member {number}"), offset, datatype));
    }
    Datatype::Compound(Compound { size, members: placed })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn datatypes_of_every_version_round_trip(datatype in datatype(), floor in 1..=5_u8) {
        check(&datatype, Widths::EIGHT, &());
        let mut bytes = Vec::new();
        datatype.encode_from(&mut Writer::new(&mut bytes, Widths::EIGHT), floor);
        let mut r = Reader::new(&bytes, Widths::EIGHT, Addr::new(0));
        prop_assert_eq!(r.structure::<Datatype>(&()).unwrap(), datatype);
        prop_assert!(r.is_at_end());
    }

    #[test]
    fn damaged_datatypes_do_not_panic(datatype in datatype(), at in any::<prop::sample::Index>(), byte: u8) {
        let mut bytes = check(&datatype, Widths::EIGHT, &());
        let at = at.index(bytes.len());
        bytes[at] = byte;
        survive::<Datatype>(&bytes, Widths::EIGHT, &());
    }

    #[test]
    fn nodes_of_groups(widths in widths(), k in 1..20_u16, left in addr(), children in vec((addr(), 0..0xffff_u64), 0..40)) {
        let context = BTree1Context { kind: BTree1Kind::Group, k };
        let children = &children[..children.len().min(context.capacity())];
        let mut keys: Vec<_> = children.iter().map(|&(_, key)| BTree1Key::Group(key)).collect();
        keys.extend(keys.last().cloned());
        let entries = BTree1Entries::new(context.kind, widths, &keys, children.iter().map(|&(child, _)| child));
        let node = BTree1Node { level: 1, left, right: Addr::UNDEFINED, entries };
        check(&node, widths, &context);
    }

    #[test]
    fn nodes_of_chunks(widths in widths(), rank in 1..5_usize, children in vec((addr(), any::<u32>()), 0..64)) {
        let context = BTree1Context { kind: BTree1Kind::Chunks { rank }, k: 32 };
        let count = if children.is_empty() { 0 } else { children.len() + 1 };
        let sizes = children.iter().map(|&(_, size)| size).chain([0]).take(count);
        let keys: Vec<_> = sizes.zip(0..).map(|(size, at)| {
            BTree1Key::Chunk { size, mask: !size, offset: vec![at; rank + 1] }
        }).collect();
        let entries = BTree1Entries::new(context.kind, widths, &keys, children.iter().map(|&(child, _)| child));
        let node = BTree1Node { level: 0, left: Addr::UNDEFINED, right: Addr::UNDEFINED, entries };
        let mut bytes = check(&node, widths, &context);
        bytes[6] = 0xff;
        survive::<BTree1Node>(&bytes, widths, &context);
    }

    #[test]
    fn symbol_tables(widths in widths(), entries in vec((0..0xffff_u64, addr(), 0..3, addr(), addr()), 0..8)) {
        let entries = entries.into_iter().map(|(name_offset, header, kind, btree, heap)| {
            let cache = match kind {
                0 => EntryCache::None,
                1 => EntryCache::Group { btree, heap },
                _ => EntryCache::SoftLink { path_offset: 77 },
            };
            SymbolTableEntry { name_offset, header, cache }
        });
        check(&SymbolTableNode { entries: entries.collect() }, widths, &SymbolTableContext { k: 4 });
    }

    #[test]
    fn global_heaps(widths in widths(), objects in vec((any::<u16>(), vec(any::<u8>(), 0..40)), 0..20), index: u32) {
        let mut collection = GlobalHeapCollection::new(4096);
        let mut model = std::collections::BTreeMap::new();
        for (index, bytes) in &objects {
            if collection.insert(*index, 1, bytes).is_some() {
                model.insert(u32::from(*index), bytes.as_slice());
            }
        }
        let bytes = check(&collection, widths, &());
        let mut r = Reader::new(&bytes, widths, Addr::new(0));
        let again = r.structure::<GlobalHeapCollection>(&()).unwrap();
        for index in model.keys().copied().chain([0, index]) {
            prop_assert_eq!(again.object(index), model.get(&index).copied());
        }
    }

    #[test]
    fn nodes_of_chunk_records(widths in widths(), rank in 1..6_u16, filtered in prop::option::of(1..=8_u8), n in 0..30_u16) {
        let form = RecordForm::of_chunks(rank, filtered, widths).unwrap();
        let records: Vec<_> = (0..u64::from(n)).map(|n| Record::Chunk {
            chunk: ChunkRecord { addr: Addr::new(n * 3), filtered: filtered.map(|_| (n, 1)) },
            scaled: vec![n; rank.into()],
        }).collect();
        let node = BTree2Node { records: Records::new(form, &records), children: Vec::new() };
        let shape = BTree2NodeShape {
            kind: form.kind(),
            node_size: 4096,
            record_size: form.size(),
            depth: 0,
            records: n,
            max_child_records: 0,
            count_width: 1,
            total_width: 0,
        };
        check(&node, widths, &shape);
    }

    #[test]
    fn direct_blocks(widths in widths(), checksummed: bool, offset in 0..0xffff_u64, data in vec(any::<u8>(), 0..200)) {
        let geometry = HeapGeometry {
            heap: Addr::new(0x60),
            width: 4,
            starting_size: 256,
            max_direct_size: 1024,
            max_heap_bits: 32,
            filtered: false,
            checksummed,
        };
        let context = DirectBlockContext { geometry, size: 256 };
        check(&DirectBlock::new(offset, data, &context, widths), widths, &context);
    }

    #[test]
    fn free_space_managers(widths in widths(), mut found in vec((1..300_u64, 0..60_000_u64, any::<bool>()), 0..40)) {
        found.sort_unstable();
        let sections: Vec<_> = found.iter().map(|&(size, offset, is_single)| {
            let rows = FreeSectionKind::Rows { class: 1, block: offset, row: 3, column: 1, entries: 2 };
            FreeSection { size, offset, kind: if is_single { FreeSectionKind::Single } else { rows } }
        }).collect();
        let mut header = FreeSpaceHeader {
            client: FreeSpaceClient::FractalHeap,
            total_space: found.iter().map(|(size, ..)| size).sum(),
            total_sections: sections.len() as u64,
            serialized_sections: sections.len() as u64,
            ghost_sections: 0,
            section_classes: 4,
            shrink_percent: 80,
            expand_percent: 120,
            address_bits: 32,
            max_section_size: 4096,
            list: Addr::new(0x80),
            list_size: 0,
            list_allocated: 0,
        };
        let list = FreeSpaceSections { sections };
        let at = Addr::new(0x40);
        header.list_size = list.encoded_len(widths, &header.form(at)) as u64;
        header.list_allocated = header.list_size;
        check(&header, widths, &());
        check::<FreeSpaceSections>(&list, widths, &FreeSpaceForm { header: at, ..header.form(at) });
    }

    #[test]
    fn arbitrary_bytes_after_a_signature_do_not_panic(which in 0..8_usize, bytes in vec(any::<u8>(), 0..400)) {
        let signature: &[u8] = [b"FSHD\x00\x00", b"FSSE\x00\x00", b"TREE\x01\x00", b"SNOD\x01\x00", b"HEAP\x00\x00", b"GCOL\x01\x00", b"FRHP\x00\x07", b"BTHD\x00\x0a"][which];
        let bytes = [signature, &bytes].concat();
        survive::<BTree1Node>(&bytes, Widths::EIGHT, &BTree1Context { kind: BTree1Kind::Chunks { rank: 1 }, k: 4 });
        survive::<SymbolTableNode>(&bytes, Widths::EIGHT, &SymbolTableContext { k: 1 });
        survive::<LocalHeapHeader>(&bytes, Widths::EIGHT, &());
        survive::<GlobalHeapCollection>(&bytes, Widths::EIGHT, &());
        survive::<FractalHeapHeader>(&bytes, Widths::EIGHT, &());
        survive::<BTree2Header>(&bytes, Widths::EIGHT, &());
        survive::<FreeSpaceHeader>(&bytes, Widths::EIGHT, &());
    }
}

/// A golden file in memory.
struct Golden<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    widths: Widths,
}

impl Golden<'_> {
    /// Returns the offsets at which `signature` occurs.
    fn places(&self, signature: [u8; 4]) -> impl Iterator<Item = usize> + '_ {
        let windows = self.bytes.windows(4).enumerate();
        windows.filter(move |(_, window)| **window == signature).map(|(at, _)| at)
    }

    fn decode<S: Structure>(&self, at: usize, context: &S::Context) -> Option<S> {
        Reader::new(self.bytes.get(at..)?, self.widths, Addr::new(at as u64)).structure(context).ok()
    }

    /// Checks L2: the decoded structure encodes to the same bytes. Returns the structure.
    fn same<S: Structure>(&self, at: Addr, context: &S::Context) -> S {
        let start = usize::try_from(at.get()).unwrap();
        let mut r = Reader::new(&self.bytes[start..], self.widths, at);
        let value =
            r.structure::<S>(context).unwrap_or_else(|error| panic!("{}: {error}", self.path.display()));
        let mut again = Vec::new();
        Writer::new(&mut again, self.widths).structure(&value, context);
        assert!(
            again == self.bytes[start..start + r.position()],
            "{} at {at}: {}",
            self.path.display(),
            S::NAME
        );
        value
    }

    /// Walks a version 2 B-tree. Returns the number of records and the number of nodes.
    fn tree(&self, at: Addr, shape: BTree2NodeShape, header: &BTree2Header) -> (u64, usize) {
        let node = self.same::<BTree2Node>(at, &shape);
        let (mut records, mut nodes) = (node.records.len() as u64, 1);
        for record in node.records.iter() {
            record.unwrap();
        }
        for child in &node.children {
            let shape = header.geometry(self.widths).node(shape.depth - 1, child.records);
            let (below, seen) = self.tree(child.addr, shape, header);
            assert_eq!(below, child.total_records);
            (records, nodes) = (records + below, nodes + seen);
        }
        (records, nodes)
    }

    /// Walks the blocks of a fractal heap without filters, and returns their number.
    fn blocks(&self, at: Addr, child: HeapChild, geometry: HeapGeometry, offset: u64) -> usize {
        match child {
            HeapChild::Direct { size } => {
                assert_eq!(
                    self.same::<DirectBlock>(at, &DirectBlockContext { geometry, size }).offset,
                    offset
                );
                1
            }
            HeapChild::Indirect { rows } => {
                let block = self.same::<IndirectBlock>(at, &IndirectBlockContext { geometry, rows });
                assert_eq!(block.offset, offset);
                let mut seen = 1;
                for (index, entry) in
                    block.entries.iter().enumerate().filter(|(_, entry)| entry.addr.is_defined())
                {
                    let (child, within) = geometry.entry(index);
                    seen += self.blocks(entry.addr, child, geometry, offset + within);
                }
                seen
            }
        }
    }
}

/// Returns the repository's golden files, or those in the folder that `GOLDEN_FILES` names.
fn golden_files() -> Vec<PathBuf> {
    let folder = std::env::var_os("GOLDEN_FILES")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/files"), PathBuf::from);
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|extension| extension == "h5")).collect()
}

#[test]
fn structures_of_golden_files_encode_to_the_same_bytes() {
    let [mut trees, mut nodes, mut heaps, mut blocks, mut managers] = [0; 5];
    let [mut locals, mut globals, mut tables] = [0; 3];
    for path in golden_files() {
        let bytes = std::fs::read(&path).unwrap();
        // Only files whose addresses count from the first byte. The others would need a reader of
        // superblocks.
        if !bytes.starts_with(b"\x89HDF") || path.to_string_lossy().contains("damaged") {
            continue;
        }
        let sizes = if bytes[8] < 2 { [bytes[13], bytes[14]] } else { [bytes[9], bytes[10]] };
        let [Some(offset), Some(length)] = sizes.map(Width::from_bytes) else {
            continue; // addresses of 16 or 32 bytes, which only a reader of superblocks rejects
        };
        let file = Golden { path: &path, bytes: &bytes, widths: Widths { offset, length } };
        for at in file.places(*b"BTHD") {
            let Some(header) = file.decode::<BTree2Header>(at, &()) else { continue };
            trees += 1;
            if let Some((root, shape)) = header.root(file.widths) {
                let (records, seen) = file.tree(root, shape, &header);
                assert_eq!(records, header.total_records);
                nodes += seen;
            }
        }
        for at in file.places(*b"FRHP") {
            let Some(header) = file.decode::<FractalHeapHeader>(at, &()) else { continue };
            let at = Addr::new(at as u64);
            file.same::<FractalHeapHeader>(at, &());
            heaps += 1;
            let child = match header.root_rows {
                0 => HeapChild::Direct { size: header.starting_size },
                rows => HeapChild::Indirect { rows },
            };
            if header.root.is_defined() && header.filtering.is_none() {
                blocks += file.blocks(header.root, child, header.geometry(at), 0);
            }
            if let Some(at) = header.free_space_manager.defined() {
                let manager = file.same::<FreeSpaceHeader>(at, &());
                let list = file.same::<FreeSpaceSections>(manager.list, &manager.form(at));
                assert_eq!(list.sections.len() as u64, manager.serialized_sections);
                managers += 1;
            }
        }
        for at in file.places(*b"HEAP") {
            if let Some(header) = file.decode::<LocalHeapHeader>(at, &()) {
                file.same::<LocalHeapData>(header.data, &header);
                locals += 1;
            }
        }
        for at in file.places(*b"GCOL") {
            if file.decode::<GlobalHeapCollection>(at, &()).is_some() {
                file.same::<GlobalHeapCollection>(Addr::new(at as u64), &());
                globals += 1;
            }
        }
        // Group Leaf Node K, at its offset in superblocks of versions 0 and 1.
        let k = if bytes[8] < 2 { u16::from_le_bytes([bytes[16], bytes[17]]) } else { 4 };
        for at in file.places(*b"SNOD") {
            if file.decode::<SymbolTableNode>(at, &SymbolTableContext { k }).is_some() {
                file.same::<SymbolTableNode>(Addr::new(at as u64), &SymbolTableContext { k });
                tables += 1;
            }
        }
    }
    let seen = [trees, nodes, heaps, blocks, managers, locals, globals, tables];
    println!(
        "trees, nodes, heaps, blocks, free-space managers, local heaps, global heaps, symbol tables: {seen:?}"
    );
    assert!(seen.iter().all(|&count| count > 0), "the golden files lack a structure: {seen:?}");
}
