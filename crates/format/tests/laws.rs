//! Checks superblocks, object headers and messages against the laws of `Structure`.

#[allow(dead_code)] // each test program uses only a part of the shared harness
mod harness;

use hyperslab_format::datatype::{Charset, Datatype, Integer, Text, VariableText};
use hyperslab_format::group::symbol::{EntryCache, SymbolTableEntry};
use hyperslab_format::header::{Chunk, ChunkContext, Framing, ObjectHeader, Prefix, RawMessage, v2};
use hyperslab_format::layout::mappings::{VirtualMapping, VirtualMappings};
use hyperslab_format::layout::{
    ChunkIndexInfo, ChunkedLayout, ExtensibleArrayParameters, Layout, LayoutMessage,
};
use hyperslab_format::message::attribute::Attribute;
use hyperslab_format::message::dataspace::{Dataspace, DataspaceMessage};
use hyperslab_format::message::dense_info::AttributeInfo;
use hyperslab_format::message::dense_info::LinkInfo;
use hyperslab_format::message::external_files::{ExternalFiles, ExternalPart};
use hyperslab_format::message::file_space::FileSpaceInfo;
use hyperslab_format::message::fill::{AllocationTime, FillBytes, FillTime, FillValue, OldFillValue};
use hyperslab_format::message::filters::{FilterPipeline, FilterSpec};
use hyperslab_format::message::group_info::{Estimate, GroupInfo, PhaseChange};
use hyperslab_format::message::link::{Link, LinkTarget};
use hyperslab_format::message::shared::{MaybeShared, SharedLocation};
use hyperslab_format::message::small::{
    BTreeK, Comment, Continuation, ModificationTime, OldModificationTime, ReferenceCount, SymbolTable,
};
use hyperslab_format::selection::{PointList, RegularAxis, StoredSelection};
use hyperslab_format::superblock::{Superblock, v0::SuperblockV0, v2::SuperblockV2};
use hyperslab_format::{Addr, Extent, Structure, Width, Widths};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use harness::{AT, NARROW, addr, laws, laws_in_context, laws_with_widths};

/// Addresses of sixteen bytes.
const WIDE: Widths = Widths { offset: Width::Sixteen, length: Width::Eight };

/// Checks the laws with wide and narrow fields.
fn laws_with_both_widths<S>(strategy: impl Strategy<Value = S>)
where
    S: Structure<Context = ()> + PartialEq + std::fmt::Debug,
{
    laws_with_widths(NARROW, &strategy, &());
    laws_with_widths(WIDE, &strategy, &());
    laws(strategy, &());
}

fn defined() -> impl Strategy<Value = Addr> {
    (0..1_u64 << 31).prop_map(Addr::new)
}

fn bytes(len: std::ops::Range<usize>) -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), len)
}

fn widths() -> impl Strategy<Value = Widths> {
    // The strategies make addresses that do not fit in two bytes.
    let width = || prop_oneof![Just(Width::Four), Just(Width::Eight)];
    let offset = prop_oneof![3 => width(), 1 => Just(Width::Sixteen)];
    (offset, width()).prop_map(|(offset, length)| Widths { offset, length })
}

fn charset() -> impl Strategy<Value = Charset> {
    prop_oneof![Just(Charset::Ascii), Just(Charset::Utf8)]
}

fn name() -> impl Strategy<Value = String> {
    "[a-zé∂]{1,20}"
}

#[test]
fn external_files() {
    let length = || 0..1_u64 << 15;
    let part = (length(), length(), option::of(length()))
        .prop_map(|(name_offset, offset, len)| ExternalPart { name_offset, offset, len });
    laws_with_both_widths((addr(), vec(part, 0..5)).prop_map(|(heap, parts)| ExternalFiles { heap, parts }));
}

fn stored_selection() -> impl Strategy<Value = StoredSelection> {
    let number = || prop_oneof![0..0x2_0000_u64, 0..u64::MAX / 8];
    let limited = (number(), 1..9_u64, 0..5_u64, 0..9_u64).prop_map(|(start, block, count, gap)| {
        RegularAxis { start, stride: block + gap, count: Some(count), block: Some(block) }
    });
    let endless = (number(), 1..9_u64, 0..9_u64, any::<bool>()).prop_map(|(start, block, gap, one)| {
        RegularAxis { start, stride: block + gap, count: one.then_some(1), block: (!one).then_some(block) }
    });
    let axes = (vec(limited, 0..3), option::of(endless), any::<prop::sample::Index>());
    let regular = (axes, any::<bool>()).prop_map(|((mut axes, endless, at), is_compact)| {
        let at = at.index(axes.len() + 1);
        axes.splice(at..at, endless);
        if axes.is_empty() {
            axes.push(RegularAxis { start: 0, stride: 1, count: Some(1), block: Some(1) });
        }
        StoredSelection::regular(axes, is_compact)
    });
    let corner = (number(), 0..9_u64);
    let blocks = (vec((corner.clone(), corner), 0..4), any::<bool>()).prop_map(|(blocks, is_compact)| {
        let corners = blocks.into_iter().flat_map(|((a, high), (b, wide))| [a, b, a + high, b + wide]);
        StoredSelection::blocks(2, corners.collect(), is_compact)
    });
    let points = (vec((number(), number()), 0..4), any::<bool>()).prop_map(|(points, is_compact)| {
        let coords = points.into_iter().flat_map(<[u64; 2]>::from).collect();
        StoredSelection::Points(PointList::new(2, coords, is_compact))
    });
    prop_oneof![Just(StoredSelection::All), Just(StoredSelection::None), regular, blocks, points]
}

#[test]
fn stored_selections() {
    laws(stored_selection(), &());
}

#[test]
fn virtual_mappings() {
    let file = || prop_oneof![Just(".".to_owned()), Just("a-name-to-share.h5".to_owned()), name()];
    let mapping = (file(), file(), stored_selection(), stored_selection()).prop_map(
        |(file, dataset, source, target)| VirtualMapping {
            file: file.into(),
            dataset: dataset.into(),
            source,
            target,
        },
    );
    laws_with_both_widths(
        (0..=1_u8, vec(mapping, 0..5)).prop_map(|(version, mappings)| VirtualMappings { version, mappings }),
    );
}

#[test]
fn superblocks() {
    let ends = || (0..1_u64 << 20, 1..1_u64 << 20);
    let cache = prop_oneof![
        Just(EntryCache::None),
        (defined(), defined()).prop_map(|(btree, heap)| EntryCache::Group { btree, heap }),
    ];
    let root = (0..100_u64, defined(), cache).prop_map(|(name_offset, header, cache)| SymbolTableEntry {
        name_offset,
        header,
        cache,
    });
    let old =
        (widths(), (1..u16::MAX, 1..u16::MAX, option::of(1..u16::MAX)), any::<u8>(), ends(), addr(), root)
            .prop_map(
                |(widths, (leaf, internal, storage), consistency_flags, (base, len), driver, mut root)| {
                    if widths.offset == Width::Sixteen {
                        root.cache = EntryCache::None;
                    }
                    Superblock::V0(SuperblockV0 {
                        version: storage.is_some().into(),
                        widths,
                        group_leaf_k: leaf,
                        group_internal_k: internal,
                        consistency_flags,
                        indexed_storage_k: storage,
                        base_address: base,
                        free_space: Addr::UNDEFINED,
                        end_of_file: base + len,
                        driver_information: driver,
                        root,
                    })
                },
            );
    laws(old, &());
    let new = (2..=3_u8, widths(), any::<u8>(), ends(), addr(), defined()).prop_map(
        |(version, widths, consistency_flags, (base, len), extension, root)| {
            Superblock::V2(SuperblockV2 {
                version,
                widths,
                consistency_flags,
                base_address: base,
                extension,
                end_of_file: base + len,
                root,
            })
        },
    );
    laws(new, &());
}

/// A message of an unknown type, so that the header does not interpret its data.
fn raw_message(framing: Framing) -> impl Strategy<Value = RawMessage> {
    (0x30..0xff_u16, 0..0x80_u8, any::<u16>(), bytes(0..20)).prop_map(
        move |(kind, flags, order, mut data)| {
            if framing == Framing::V1 {
                data.resize(data.len().next_multiple_of(8), 0);
            }
            let creation_order = (framing == Framing::V2 { creation_order: true }).then_some(order);
            RawMessage { kind, flags, creation_order, data: data.into(), at: AT }
        },
    )
}

fn prefix() -> impl Strategy<Value = Prefix> {
    let old = any::<u32>().prop_map(|reference_count| Prefix::V1 { reference_count });
    let times = (any::<u32>(), any::<u32>(), any::<u32>(), any::<u32>())
        .prop_map(|(access, modification, change, birth)| v2::Times { access, modification, change, birth });
    let new = (1..=3_u8, any::<bool>(), any::<bool>(), option::of(times), option::of(phase_change()))
        .prop_map(|(len_width, tracks_creation_order, indexes_creation_order, times, phase_change)| {
            Prefix::V2(v2::Prefix {
                len_width,
                tracks_creation_order,
                indexes_creation_order,
                times,
                phase_change,
            })
        });
    prop_oneof![old, new]
}

#[test]
fn object_headers() {
    let headers = prefix().prop_flat_map(|prefix| {
        vec(raw_message(prefix.framing()), 0..6)
            .prop_map(move |messages| ObjectHeader::new(prefix, messages, AT, Widths::EIGHT).unwrap())
    });
    laws(headers, &());
}

#[test]
fn object_header_continuations() {
    let framing = prop_oneof![
        Just(Framing::V1),
        Just(Framing::V2 { creation_order: false }),
        Just(Framing::V2 { creation_order: true }),
    ];
    let chunks = framing.prop_flat_map(|framing| {
        let gaps = match framing {
            Framing::V1 => 0..1_u8,
            Framing::V2 { .. } => 0..4,
        };
        (vec(raw_message(framing), 0..6), gaps).prop_map(move |(messages, gap)| {
            let mut chunk = Chunk::continuation(messages, framing, AT);
            chunk.gap = gap;
            chunk.extent.len += u64::from(gap);
            let context = ChunkContext { framing, len: chunk.extent.len };
            (chunk, context)
        })
    });
    laws_in_context(chunks);
}

fn dataspace() -> impl Strategy<Value = Dataspace> {
    let dimension = (0..60_000_u64, option::of(0..5000_u64));
    let simple = (vec(dimension, 1..5), any::<bool>()).prop_map(|(dimensions, resizable)| {
        let shape = dimensions.iter().map(|&(size, _)| size).collect();
        let max_shape = dimensions.iter().map(|&(size, more)| more.map(|more| size + more)).collect();
        Dataspace::Simple { shape, max_shape: resizable.then_some(max_shape) }
    });
    prop_oneof![1 => Just(Dataspace::Null), 1 => Just(Dataspace::Scalar), 3 => simple]
}

#[test]
fn dataspaces() {
    laws_with_both_widths(dataspace());
    laws_with_both_widths((1..=2_u8, dataspace()).prop_map(|(version, dataspace)| {
        let version = if dataspace == Dataspace::Null { 2 } else { version };
        DataspaceMessage { version, dataspace }
    }));
}

fn chunked() -> impl Strategy<Value = ChunkedLayout> {
    let parameters = (1..=64_u8, 1..=255_u8, 1..=255_u8, 1..=255_u8, 1..=64_u8).prop_map(
        |(max_elements_bits, index_elements, min_pointers, min_elements, page_bits)| {
            ExtensibleArrayParameters {
                max_elements_bits,
                index_elements,
                min_pointers,
                min_elements,
                page_bits,
            }
        },
    );
    let index = prop_oneof![
        addr().prop_map(|addr| ChunkIndexInfo::BTree1 { addr }),
        (addr(), option::of((0..60_000_u64, any::<u32>())))
            .prop_map(|(addr, filtered)| ChunkIndexInfo::Single { addr, filtered }),
        addr().prop_map(|addr| ChunkIndexInfo::Implicit { addr }),
        (addr(), 1..=255_u8).prop_map(|(addr, page_bits)| ChunkIndexInfo::FixedArray { addr, page_bits }),
        (addr(), parameters)
            .prop_map(|(addr, parameters)| ChunkIndexInfo::ExtensibleArray { addr, parameters }),
        (addr(), any::<u32>(), 1..=100_u8, 1..=100_u8).prop_map(
            |(addr, node_size, split_percent, merge_percent)| ChunkIndexInfo::BTree2 {
                addr,
                node_size,
                split_percent,
                merge_percent,
            }
        ),
    ];
    let chunk_shape = prop_oneof![vec(1..200_u64, 1..5), vec(1..100_000_u64, 1..3)];
    (index, chunk_shape, 1..300_u32, any::<bool>(), any::<bool>()).prop_map(
        |(index, chunk_shape, element_size, edges, newer)| {
            let old = matches!(index, ChunkIndexInfo::BTree1 { .. });
            let version = if old { 3 } else { 4 + u8::from(newer) };
            ChunkedLayout { version, chunk_shape, element_size, unfiltered_edges: edges && !old, index }
        },
    )
}

#[test]
fn layouts() {
    let layout = prop_oneof![
        1 => bytes(0..40).prop_map(|data| Layout::Compact { data }),
        1 => (addr(), 0..60_000_u64).prop_map(|(addr, len)| Layout::Contiguous(Extent::new(addr, len))),
        4 => chunked().prop_map(Layout::Chunked),
        1 => (addr(), any::<u32>()).prop_map(|(heap, index)| Layout::Virtual { heap, index }),
    ];
    laws_with_both_widths(layout);
}

#[test]
fn layouts_of_versions_1_and_2() {
    let layout = (1..=2_u8, vec(1..100_u32, 1..5), bytes(0..40), addr(), chunked(), 0..3_u8).prop_map(
        |(version, dimensions, data, addr, chunked, class)| {
            let len = dimensions.iter().map(|&size| u64::from(size)).product();
            let (layout, dimensions) = match class {
                0 => (Layout::Compact { data }, dimensions),
                1 => (Layout::Contiguous(Extent::new(addr, len)), dimensions),
                _ => {
                    let index = ChunkIndexInfo::BTree1 { addr };
                    let chunked = ChunkedLayout { version, unfiltered_edges: false, index, ..chunked };
                    (Layout::Chunked(chunked), Vec::new())
                }
            };
            LayoutMessage { version, layout, dimensions }
        },
    );
    laws_with_both_widths(layout);
}

#[test]
fn fill_values() {
    let allocation = prop_oneof![
        Just(AllocationTime::Early),
        Just(AllocationTime::Late),
        Just(AllocationTime::Incremental),
    ];
    let write = prop_oneof![Just(FillTime::OnAllocation), Just(FillTime::Never), Just(FillTime::IfSet)];
    let value = prop_oneof![
        Just(FillBytes::Default),
        Just(FillBytes::Undefined),
        bytes(1..20).prop_map(FillBytes::Defined),
    ];
    let fill = (1..=3_u8, allocation, write, value)
        .prop_map(|(version, allocation, write, value)| FillValue { version, allocation, write, value });
    laws(fill, &());
    laws(bytes(0..20).prop_map(|value| OldFillValue { value }), &());
}

#[test]
fn links() {
    let target = prop_oneof![
        addr().prop_map(LinkTarget::Hard),
        "[a-z/é]{0,300}".prop_map(LinkTarget::Soft),
        (name(), name()).prop_map(|(file, path)| LinkTarget::External { file, path }),
        (65..=255_u8, bytes(0..20)).prop_map(|(kind, data)| LinkTarget::User { kind, data }),
    ];
    let name = prop_oneof![4 => name().boxed(), 1 => "[a-z]{250,260}".boxed()];
    let link = (option::of(any::<u64>()), charset(), name, target)
        .prop_map(|(creation_order, charset, name, target)| Link { creation_order, charset, name, target });
    laws_with_both_widths(link);
}

#[test]
fn filter_pipelines() {
    let filter = (any::<u16>(), option::of("[a-z é;]{0,20}"), any::<u16>(), vec(any::<u32>(), 0..6))
        .prop_map(|(id, name, flags, client_data)| FilterSpec { id, name, flags, client_data });
    let pipeline = (1..=2_u8, vec(filter, 0..5)).prop_map(|(version, mut filters)| {
        for filter in filters.iter_mut().filter(|filter| version == 2 && filter.id < 256) {
            filter.name = None;
        }
        FilterPipeline { version, filters }
    });
    laws(pipeline, &());
}

#[test]
fn attributes() {
    let datatype = prop_oneof![
        Just(Datatype::Integer(Integer::little(4, true))),
        (1..9_u32, charset()).prop_map(|(size, charset)| {
            let padding = hyperslab_format::datatype::Padding::NullPadded;
            Datatype::Text(Text { size, padding, charset })
        }),
        charset().prop_map(|charset| {
            let padding = hyperslab_format::datatype::Padding::NullTerminated;
            Datatype::VariableText(VariableText { padding, charset })
        }),
    ];
    let shape = prop_oneof![Just(vec![]), vec(0..4_u64, 1..4)];
    let attribute = (1..=3_u8, name(), charset(), datatype, shape, 1..=2_u8, bytes(1024..1025)).prop_map(
        |(version, name, charset, datatype, shape, dataspace_version, mut data)| {
            let dataspace = if shape.is_empty() {
                Dataspace::Scalar
            } else {
                Dataspace::Simple { shape, max_shape: None }
            };
            let len = dataspace.elements().unwrap() * datatype.size(Widths::EIGHT);
            data.truncate(len.try_into().unwrap());
            Attribute {
                version,
                name,
                charset: if version == 3 { charset } else { Charset::Ascii },
                datatype: MaybeShared::Here(datatype),
                dataspace: MaybeShared::Here(dataspace),
                dataspace_version,
                data,
            }
        },
    );
    laws(attribute, &());
}

#[test]
fn shared_messages() {
    let location = prop_oneof![
        defined().prop_map(SharedLocation::Header),
        any::<[u8; 8]>().prop_map(SharedLocation::Heap),
    ];
    laws_with_both_widths(location);
}

fn phase_change() -> impl Strategy<Value = PhaseChange> {
    (any::<u16>(), any::<u16>()).prop_map(|(max_compact, min_dense)| PhaseChange { max_compact, min_dense })
}

#[test]
fn group_and_attribute_storage() {
    let estimate =
        (any::<u16>(), any::<u16>()).prop_map(|(entries, name_len)| Estimate { entries, name_len });
    let group = (option::of(phase_change()), option::of(estimate))
        .prop_map(|(phase_change, estimate)| GroupInfo { phase_change, estimate });
    laws(group, &());

    let indexes = || (addr(), addr(), option::of(addr()));
    let links = (option::of(any::<u64>()), indexes()).prop_map(|(order, (heap, name_index, order_index))| {
        LinkInfo { max_creation_order: order, heap, name_index, creation_order_index: order_index }
    });
    laws_with_both_widths(links);
    let attributes =
        (option::of(any::<u16>()), indexes()).prop_map(|(order, (heap, name_index, order_index))| {
            AttributeInfo { max_creation_order: order, heap, name_index, creation_order_index: order_index }
        });
    laws_with_both_widths(attributes);
}

#[test]
fn small_messages() {
    laws("[a-zé]{0,30}".prop_map(|text| Comment { text }), &());
    laws(any::<[u8; 14]>().prop_map(|digits| OldModificationTime { digits }), &());
    laws(any::<u32>().prop_map(|seconds| ModificationTime { seconds }), &());
    laws(any::<u32>().prop_map(|count| ReferenceCount { count }), &());
    let k = (any::<u16>(), any::<u16>(), any::<u16>()).prop_map(
        |(indexed_storage_k, group_internal_k, group_leaf_k)| BTreeK {
            indexed_storage_k,
            group_internal_k,
            group_leaf_k,
        },
    );
    laws(k, &());
    laws_with_both_widths((addr(), addr()).prop_map(|(btree, heap)| SymbolTable { btree, heap }));
    let extent = (defined(), 0..60_000_u64).prop_map(|(addr, len)| Extent::new(addr, len));
    laws_with_both_widths(extent.prop_map(|extent| Continuation { extent }));
}

#[test]
fn file_space_info() {
    let six = prop::array::uniform6(addr());
    let old = (2..=4_u8, 0..60_000_u64, option::of(six)).prop_map(|(strategy, threshold, managers)| {
        // Strategy 1 means that the free-space managers are persistent.
        FileSpaceInfo::V0 { strategy: if managers.is_some() { 1 } else { strategy }, threshold, managers }
    });
    let twelve = prop::array::uniform12(addr());
    let new = (0..=3_u8, 0..60_000_u64, 512..60_000_u64, any::<u16>(), addr(), option::of(twelve)).prop_map(
        |(strategy, threshold, page_size, page_end_threshold, end_before_managers, managers)| {
            FileSpaceInfo::V1 {
                strategy,
                threshold,
                page_size,
                page_end_threshold,
                end_before_managers,
                managers,
            }
        },
    );
    laws_with_both_widths(prop_oneof![old, new]);
}
