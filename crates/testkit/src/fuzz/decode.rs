//! Fuzz target `decode`: a structure that decodes encodes to exactly the number of bytes that it states, and
//! these bytes decode to an equal structure.
//!
//! An input consists of the number of a structure, the widths, and the bytes of the structure. If decoding
//! the structure needs another one, that one comes first.

use std::fmt::Debug;

use hyperslab_format::array::extensible::{
    DataBlock, ExtensibleArrayHeader, Geometry, IndexBlock, SecondaryBlock,
};
use hyperslab_format::array::fixed::{FixedArrayBlock, FixedArrayHeader};
use hyperslab_format::array::{ElementFormat, Page};
use hyperslab_format::btree1::{BTree1Context, BTree1Kind, BTree1Node};
use hyperslab_format::btree2::header::BTree2Header;
use hyperslab_format::btree2::node::BTree2Node;
use hyperslab_format::cache_image::CacheImage;
use hyperslab_format::datatype::Datatype;
use hyperslab_format::group::symbol::{SymbolTableContext, SymbolTableEntry, SymbolTableNode};
use hyperslab_format::header::{Chunk, ChunkContext, Framing, ObjectHeader};
use hyperslab_format::heap::fractal::block::{
    DirectBlock, DirectBlockContext, IndirectBlock, IndirectBlockContext,
};
use hyperslab_format::heap::fractal::header::FractalHeapHeader;
use hyperslab_format::heap::fractal::id::HeapId;
use hyperslab_format::heap::global::{GlobalHeapCollection, GlobalHeapId, VariableElement};
use hyperslab_format::heap::local::{LocalHeapData, LocalHeapHeader};
use hyperslab_format::layout::mappings::VirtualMappings;
use hyperslab_format::layout::{Layout, LayoutMessage};
use hyperslab_format::message::attribute::Attribute;
use hyperslab_format::message::dataspace::{Dataspace, DataspaceMessage};
use hyperslab_format::message::dense_info::AttributeInfo;
use hyperslab_format::message::dense_info::LinkInfo;
use hyperslab_format::message::file_space::FileSpaceInfo;
use hyperslab_format::message::fill::{FillValue, OldFillValue};
use hyperslab_format::message::filters::FilterPipeline;
use hyperslab_format::message::group_info::GroupInfo;
use hyperslab_format::message::link::Link;
use hyperslab_format::message::shared::SharedLocation;
use hyperslab_format::message::small::{
    BTreeK, CacheImageMessage, Comment, Continuation, ModificationTime, OldModificationTime, ReferenceCount,
    SharedMessages, SymbolTable,
};
use hyperslab_format::selection::StoredSelection;
use hyperslab_format::shared_messages::list::{SharedMessageList, SharedMessageListContext};
use hyperslab_format::shared_messages::table::SharedMessageTable;
use hyperslab_format::superblock::Superblock;
use hyperslab_format::superblock::driver_information::{DriverBlock, DriverMessage};
use hyperslab_format::{Addr, Extent, Reader, Structure, Width, Widths, Writer};

use super::input::Input;

/// Runs the target on an input.
pub fn decode(input: &[u8]) {
    let Some((&[which, widths], bytes)) = input.split_first_chunk() else { return };
    let (_, check) = STRUCTURES[usize::from(which) % STRUCTURES.len()];
    check(bytes, WIDTHS[usize::from(widths) % WIDTHS.len()]);
}

/// Returns the first bytes of an input for the structure called `name`.
pub(super) fn prefix(name: &str, widths: Widths) -> Option<[u8; 2]> {
    let which = STRUCTURES.iter().position(|(this, _)| *this == name)?;
    let widths = WIDTHS.iter().position(|this| *this == widths)?;
    Some([u8::try_from(which).ok()?, u8::try_from(widths).ok()?])
}

const WIDTHS: [Widths; 7] = [
    Widths::EIGHT,
    Widths { offset: Width::Four, length: Width::Four },
    Widths { offset: Width::Two, length: Width::Two },
    Widths { offset: Width::Eight, length: Width::Four },
    Widths { offset: Width::Four, length: Width::Eight },
    Widths { offset: Width::Two, length: Width::Eight },
    Widths { offset: Width::Sixteen, length: Width::Eight },
];

type Check = fn(&[u8], Widths);

const STRUCTURES: [(&str, Check); 49] = [
    ("Superblock", alone::<Superblock>),
    ("ObjectHeader", alone::<ObjectHeader>),
    ("Chunk", chunk),
    ("Datatype", alone::<Datatype>),
    ("Dataspace", alone::<Dataspace>),
    ("DataspaceMessage", alone::<DataspaceMessage>),
    ("Layout", layout),
    ("LayoutMessage", alone::<LayoutMessage>),
    ("FillValue", alone::<FillValue>),
    ("OldFillValue", alone::<OldFillValue>),
    ("FilterPipeline", alone::<FilterPipeline>),
    ("Attribute", alone::<Attribute>),
    ("AttributeInfo", alone::<AttributeInfo>),
    ("Link", alone::<Link>),
    ("LinkInfo", alone::<LinkInfo>),
    ("GroupInfo", alone::<GroupInfo>),
    ("FileSpaceInfo", alone::<FileSpaceInfo>),
    ("SharedLocation", alone::<SharedLocation>),
    ("Comment", alone::<Comment>),
    ("OldModificationTime", alone::<OldModificationTime>),
    ("ModificationTime", alone::<ModificationTime>),
    ("Continuation", alone::<Continuation>),
    ("SymbolTable", alone::<SymbolTable>),
    ("BTreeK", alone::<BTreeK>),
    ("ReferenceCount", alone::<ReferenceCount>),
    ("BTree1Node", btree1),
    ("BTree2", btree2),
    ("SymbolTableNode", symbol_table),
    ("SymbolTableEntry", alone::<SymbolTableEntry>),
    ("LocalHeap", local_heap),
    ("GlobalHeapCollection", alone::<GlobalHeapCollection>),
    ("GlobalHeapId", alone::<GlobalHeapId>),
    ("VariableElement", alone::<VariableElement>),
    ("DirectBlock", direct_block),
    ("IndirectBlock", indirect_block),
    ("HeapId", heap_id),
    ("FixedArray", fixed_array),
    ("IndexBlock", index_block),
    ("SecondaryBlock", secondary_block),
    ("DataBlock", data_block),
    ("SharedMessages", alone::<SharedMessages>),
    ("CacheImageMessage", alone::<CacheImageMessage>),
    ("SharedMessageTable", shared_table),
    ("SharedMessageList", shared_list),
    ("CacheImage", cache_image),
    ("StoredSelection", alone::<StoredSelection>),
    ("VirtualMappings", alone::<VirtualMappings>),
    ("DriverBlock", alone::<DriverBlock>),
    ("DriverMessage", alone::<DriverMessage>),
];

/// The address of the structures.
const AT: Addr = Addr::new(0x1000);

/// Decodes, encodes and decodes again. Returns the decoded structure and the bytes after it.
fn check<'b, S>(bytes: &'b [u8], widths: Widths, context: &S::Context) -> Option<(S, &'b [u8])>
where
    S: Structure + PartialEq + Debug,
{
    let mut reader = Reader::new(bytes, widths, AT);
    let value = reader.structure::<S>(context).ok()?;
    let _ = S::read_len(widths, context);
    let mut encoded = Vec::new();
    Writer::new(&mut encoded, widths).structure(&value, context);
    let len = value.encoded_len(widths, context);
    assert_eq!(len, encoded.len(), "{} has another length than it states: {value:?}", S::NAME);
    let mut again = Reader::new(&encoded, widths, AT);
    let decoded = again.structure::<S>(context);
    assert_eq!(decoded.as_ref(), Ok(&value), "{}: encoded as {encoded:02x?}", S::NAME);
    assert!(again.is_at_end(), "{}: {} bytes too many: {value:?}", S::NAME, again.remaining());
    Some((value, bytes.get(reader.position()..)?))
}

fn alone<S>(bytes: &[u8], widths: Widths)
where
    S: Structure<Context = ()> + PartialEq + Debug,
{
    check::<S>(bytes, widths, &());
}

/// Skips versions 1 and 2: a layout outside its message does not keep these versions, and their lengths may
/// exceed the range of later versions.
fn layout(bytes: &[u8], widths: Widths) {
    let message = Reader::new(bytes, widths, AT).structure::<LayoutMessage>(&());
    if message.is_ok_and(|message| message.version >= 3) {
        check::<Layout>(bytes, widths, &());
    }
}

fn chunk(bytes: &[u8], widths: Widths) {
    let mut input = Input(bytes);
    let framing = match input.below(3) {
        0 => Framing::V1,
        kind => Framing::V2 { creation_order: kind == 2 },
    };
    let rest = input.rest();
    check::<Chunk>(rest, widths, &ChunkContext { framing, len: rest.len() as u64 });
}

fn shared_table(bytes: &[u8], widths: Widths) {
    let mut input = Input(bytes);
    let indexes = input.u8() % 9;
    check::<SharedMessageTable>(input.rest(), widths, &indexes);
}

fn shared_list(bytes: &[u8], widths: Widths) {
    let mut input = Input(bytes);
    let (messages, spare) = (input.u16() % 100, input.u16() % 100);
    let context = SharedMessageListContext { messages, list_max: messages + spare };
    check::<SharedMessageList>(input.rest(), widths, &context);
}

fn cache_image(bytes: &[u8], widths: Widths) {
    check::<CacheImage>(bytes, widths, &Extent::new(AT, bytes.len() as u64));
}

fn btree1(bytes: &[u8], widths: Widths) {
    let mut input = Input(bytes);
    let kind = match input.below(33) {
        0 => BTree1Kind::Group,
        rank => BTree1Kind::Chunks { rank: usize::try_from(rank).unwrap_or(1) },
    };
    let context = BTree1Context { kind, k: input.u16() };
    check::<BTree1Node>(input.rest(), widths, &context);
}

fn symbol_table(bytes: &[u8], widths: Widths) {
    let mut input = Input(bytes);
    let context = SymbolTableContext { k: input.u16() };
    check::<SymbolTableNode>(input.rest(), widths, &context);
}

/// Checks a header and a node: the root, or one whose depth and number of records the input chooses.
fn btree2(bytes: &[u8], widths: Widths) {
    let mut input = Input(bytes);
    let (is_root, depth, records) = (input.u8() == 0, input.u8(), input.u16());
    let Some((header, rest)) = check::<BTree2Header>(input.rest(), widths, &()) else { return };
    let geometry = header.geometry(widths);
    if !geometry.is_sound() {
        return;
    }
    let shape = match header.root(widths) {
        Some((_, shape)) if is_root => shape,
        _ => geometry.node(u16::from(depth) % (geometry.depth() + 1), records),
    };
    let Some((node, _)) = check::<BTree2Node>(rest, widths, &shape) else { return };
    for record in node.records.iter() {
        let _ = record;
    }
}

fn local_heap(bytes: &[u8], widths: Widths) {
    let Some((header, rest)) = check::<LocalHeapHeader>(bytes, widths, &()) else { return };
    let Some((data, _)) = check::<LocalHeapData>(rest, widths, &header) else { return };
    for offset in [0, 1, header.data_size, u64::MAX] {
        let _ = data.bytes_at(offset);
    }
}

/// Checks the header of a heap, and returns it if its geometry is sound.
fn fractal_heap(bytes: &[u8], widths: Widths) -> Option<(FractalHeapHeader, &[u8])> {
    let found = check::<FractalHeapHeader>(bytes, widths, &())?;
    found.0.geometry(AT).is_sound().then_some(found)
}

fn direct_block(bytes: &[u8], widths: Widths) {
    let mut input = Input(bytes);
    let row = u16::from(input.u8());
    let Some((header, rest)) = fractal_heap(input.rest(), widths) else { return };
    let geometry = header.geometry(AT);
    let size = geometry.row_block_size(row % geometry.direct_rows().max(1));
    check::<DirectBlock>(rest, widths, &DirectBlockContext { geometry, size });
}

fn indirect_block(bytes: &[u8], widths: Widths) {
    let mut input = Input(bytes);
    let row = u16::from(input.u8());
    let Some((header, rest)) = fractal_heap(input.rest(), widths) else { return };
    let geometry = header.geometry(AT);
    let rows = if row == 0 { header.root_rows } else { row };
    let rows = rows.min(geometry.max_root_rows());
    let _ = check::<IndirectBlock>(rest, widths, &IndirectBlockContext { geometry, rows });
    let steps = rest.chunks_exact(8).map(|word| Input(word).u64());
    for offset in steps.take(8).chain([0, u64::MAX]) {
        if geometry.max_heap_bits >= 64 || offset >> geometry.max_heap_bits == 0 {
            let _ = geometry.step(offset);
        }
    }
}

fn heap_id(bytes: &[u8], widths: Widths) {
    let Some((header, rest)) = fractal_heap(bytes, widths) else { return };
    check::<HeapId>(rest, widths, &header.id_form());
}

fn fixed_array(bytes: &[u8], widths: Widths) {
    let Some((header, rest)) = check::<FixedArrayHeader>(bytes, widths, &()) else { return };
    for number in [0, header.elements / 2, header.elements.saturating_sub(1), header.elements, u64::MAX] {
        let _ = header.slot(number, widths);
    }
    if let Some((_, rest)) = check::<FixedArrayBlock>(rest, widths, &header) {
        page(rest, widths, header.page_elements(), header.format);
    }
}

fn page(bytes: &[u8], widths: Widths, elements: u64, format: ElementFormat) {
    let Ok(elements) = usize::try_from(elements) else { return };
    check::<Page>(bytes, widths, &(elements, format));
}

fn index_block(bytes: &[u8], widths: Widths) {
    let Some((header, rest)) = check::<ExtensibleArrayHeader>(bytes, widths, &()) else { return };
    check::<IndexBlock>(rest, widths, &header);
    let geometry = Geometry::new(header.parameters);
    let numbers = rest.chunks_exact(8).map(|word| Input(word).u64());
    for number in numbers.take(8).chain([0, u64::MAX]) {
        let _ = geometry.slot(number);
    }
}

/// Checks the header of an array, and returns it with the number of one of its super blocks.
fn super_block(bytes: &[u8], widths: Widths) -> Option<(ExtensibleArrayHeader, u32, &[u8])> {
    let mut input = Input(bytes);
    let number = usize::from(input.u8());
    let (header, rest) = check::<ExtensibleArrayHeader>(input.rest(), widths, &())?;
    let count = Geometry::new(header.parameters).super_blocks();
    Some((header, u32::try_from(number.checked_rem(count)?).ok()?, rest))
}

fn secondary_block(bytes: &[u8], widths: Widths) {
    let Some((header, number, rest)) = super_block(bytes, widths) else { return };
    check::<SecondaryBlock>(rest, widths, &(header, number));
}

fn data_block(bytes: &[u8], widths: Widths) {
    let Some((header, number, rest)) = super_block(bytes, widths) else { return };
    let geometry = Geometry::new(header.parameters);
    if let Some((_, rest)) = check::<DataBlock>(rest, widths, &(header, geometry.block_elements(number))) {
        page(rest, widths, geometry.page_elements(), header.format);
    }
    let _ = DataBlock::page_extent(AT, u64::from(number), &header, widths);
}
