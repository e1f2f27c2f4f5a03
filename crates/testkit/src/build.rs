//! Builds minimal files of any size without libhdf5.

use hyperslab_format::datatype::{Datatype, Integer};
use hyperslab_format::header::{ObjectHeader, Prefix, RawMessage, v2};
use hyperslab_format::layout::{ChunkIndexInfo, ChunkedLayout, Layout};
use hyperslab_format::message::MessageBody;
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::message::dense_info::LinkInfo;
use hyperslab_format::message::filters::{FilterPipeline, FilterSpec};
use hyperslab_format::message::link::{Link, LinkTarget};
use hyperslab_format::superblock::Superblock;
use hyperslab_format::superblock::v2::SuperblockV2;
use hyperslab_format::{Addr, Widths, Writer, datatype::Charset};

/// Returns a file with one dataset, `/values`: `values` in chunks of `chunk` bytes, implicitly indexed.
///
/// # Panics
/// If the structures cannot be encoded, which is a bug in this function.
pub fn chunked(values: &[u8], chunk: u64) -> Vec<u8> {
    let index = ChunkIndexInfo::Implicit { addr: DATA };
    let mut stored = values.to_vec();
    stored.resize(values.len().next_multiple_of(usize::try_from(chunk).expect("chunks are in memory")), 0);
    file(values.len() as u64, chunk, index, &[], &stored)
}

/// Returns a file with one dataset, `/values`, of `len` bytes in one chunk: `stored`, encoded by `filter`.
///
/// # Panics
/// If the structures cannot be encoded, which is a bug in this function.
pub fn one_filtered_chunk(len: u64, filter: FilterSpec, stored: &[u8]) -> Vec<u8> {
    let index = ChunkIndexInfo::Single { addr: DATA, filtered: Some((stored.len() as u64, 0)) };
    let pipeline = FilterPipeline { version: 2, filters: vec![filter] };
    file(len, len, index, &[message(&pipeline)], stored)
}

/// Returns a file with one dataset, `/values`, of `len` one-byte elements. `stored` is at [`DATA`].
fn file(len: u64, chunk: u64, index: ChunkIndexInfo, more: &[RawMessage], stored: &[u8]) -> Vec<u8> {
    let layout = Layout::Chunked(ChunkedLayout {
        version: 4,
        chunk_shape: vec![chunk],
        element_size: 1,
        unfiltered_edges: false,
        index,
    });
    let shape = Dataspace::Simple { shape: vec![len], max_shape: None };
    let mut dataset =
        vec![message(&shape), message(&Datatype::Integer(Integer::little(1, false))), message(&layout)];
    dataset.extend_from_slice(more);
    let links = LinkInfo {
        max_creation_order: None,
        heap: Addr::UNDEFINED,
        name_index: Addr::UNDEFINED,
        creation_order_index: None,
    };
    let target = LinkTarget::Hard(DATASET);
    let link = Link { creation_order: None, charset: Charset::Ascii, name: "values".into(), target };
    let root = vec![message(&links), message(&link)];

    let superblock = Superblock::V2(SuperblockV2 {
        version: 2,
        widths: Widths::EIGHT,
        consistency_flags: 0,
        base_address: 0,
        extension: Addr::UNDEFINED,
        end_of_file: DATA.get() + stored.len() as u64,
        root: ROOT,
    });
    let mut file = Vec::new();
    Writer::new(&mut file, Widths::EIGHT).structure(&superblock, &());
    for (at, messages) in [(ROOT, root), (DATASET, dataset)] {
        pad(&mut file, at);
        let prefix = v2::Prefix {
            len_width: 1,
            tracks_creation_order: false,
            indexes_creation_order: false,
            times: None,
            phase_change: None,
        };
        let header = ObjectHeader::new(Prefix::V2(prefix), messages, at, Widths::EIGHT);
        Writer::new(&mut file, Widths::EIGHT).structure(&header.expect("the messages fit"), &());
    }
    pad(&mut file, DATA);
    file.extend_from_slice(stored);
    file
}

const ROOT: Addr = Addr::new(0x100);
const DATASET: Addr = Addr::new(0x200);
const DATA: Addr = Addr::new(0x400);

fn pad(file: &mut Vec<u8>, to: Addr) {
    let to = usize::try_from(to.get()).expect("files are in memory");
    assert!(file.len() <= to, "the structures overlap");
    file.resize(to, 0);
}

fn message<T: MessageBody>(body: &T) -> RawMessage {
    let mut data = Vec::new();
    Writer::new(&mut data, Widths::EIGHT).structure(body, &());
    RawMessage { kind: T::KIND, flags: 0, creation_order: None, data: data.into(), at: Addr::UNDEFINED }
}
