//! Version 1 B-tree node, `TREE` (spec III.A.1): of the links of an old group, or of the chunks of a dataset.
//!
//! Named by the symbol table message or by the layout message. A node of level 0 names symbol table nodes or chunks, a
//! higher one names nodes. Key `i` is at most every key in child `i`, and key `i + 1` is beyond them.

pub mod keys;

use crate::addr::Addr;
use crate::bytes::{Reader, Widths, Writer};
use crate::error::Result;
use crate::structure::Structure;

/// A node. Keys and children alternate on disk; here each is one vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BTree1Node {
    /// How many nodes are below it on the way to what the tree indexes.
    pub level: u8,
    /// The node before it on its level.
    pub left: Addr,
    /// The node after it on its level.
    pub right: Addr,
    /// Nodes one level down, or symbol table nodes (groups), or chunks.
    pub children: Vec<Addr>,
    /// One more than children; none if there are no children.
    pub keys: BTree1Keys,
}

/// The keys of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BTree1Keys {
    /// Node type 0: offsets of names in the local heap. A name is greater than key `i` and not greater than key `i + 1`.
    Group(Vec<u64>),
    /// Node type 1.
    Chunks(ChunkKeys),
}

/// The keys of a node of chunks. Key `i` describes child `i`, if that is a chunk.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChunkKeys {
    /// Bytes of each chunk as stored.
    pub sizes: Vec<u32>,
    /// The filters that each chunk was stored without.
    pub masks: Vec<u32>,
    /// Where each chunk begins, in elements: for each key as many numbers as the dataset has dimensions, and one more
    /// for the bytes of an element.
    pub offsets: Vec<u64>,
}

impl ChunkKeys {
    /// Where chunk `index` of a dataset of `rank` dimensions begins, in elements.
    pub fn offset(&self, index: usize, rank: usize) -> Option<&[u64]> {
        let start = index.checked_mul(rank + 1)?;
        self.offsets.get(start..start.checked_add(rank)?)
    }
}

/// What is known of a node from elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BTree1Context {
    /// What the tree indexes.
    pub kind: BTree1Kind,
    /// Half the capacity of a node: Group Internal Node K or Indexed Storage Internal Node K of the superblock.
    pub k: u16,
}

/// What a tree indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BTree1Kind {
    /// Node type 0: the links of a group.
    Group,
    /// Node type 1: the chunks of a dataset.
    Chunks {
        /// The dataset's dimensions.
        rank: usize,
    },
}

impl BTree1Context {
    /// Children that a node has room for.
    pub fn capacity(self) -> usize {
        2 * usize::from(self.k)
    }

    fn key_len(self, widths: Widths) -> usize {
        match self.kind {
            BTree1Kind::Group => widths.length.bytes(),
            BTree1Kind::Chunks { rank } => 4 + 4 + 8 * (rank + 1),
        }
    }

    /// Bytes of a node.
    pub fn node_len(self, widths: Widths) -> usize {
        let (capacity, address) = (self.capacity(), widths.offset.bytes());
        4 + 1 + 1 + 2 + 2 * address + capacity * address + (capacity + 1) * self.key_len(widths)
    }

    fn node_type(self) -> u8 {
        match self.kind {
            BTree1Kind::Group => 0,
            BTree1Kind::Chunks { .. } => 1,
        }
    }
}

impl Structure for BTree1Node {
    const NAME: &'static str = "version 1 B-tree node";
    const SPEC: &'static str = "III.A.1";
    type Context = BTree1Context;
    const FIXED: bool = true;

    fn read_len(widths: Widths, context: &BTree1Context) -> usize {
        context.node_len(widths)
    }

    fn decode(r: &mut Reader<'_>, context: &BTree1Context) -> Result<Self> {
        let mut r = r.sub(context.node_len(r.widths()))?;
        r.signature(b"TREE")?;
        let node_type = r.u8()?;
        if node_type != context.node_type() {
            return Err(r.bad_value(
                "node type",
                node_type.into(),
                "that of the object which names the tree",
            ));
        }
        let level = r.u8()?;
        let count = usize::from(r.u16()?);
        r.at_most(0, "entries used", count as u64, context.capacity() as u64)?;
        let (left, right) = (r.addr()?, r.addr()?);
        let (children, keys) = decode_entries(&mut r, context.kind, count)?;
        if let Some(key) = keys.first_out_of_order(context.kind) {
            return Err(r.bad_value(
                "chunk offset of key",
                key as u64,
                "not before that of the key to its left",
            ));
        }
        Ok(Self { level, left, right, children, keys })
    }

    fn encode(&self, w: &mut Writer<'_>, context: &BTree1Context) {
        let start = w.written();
        debug_assert!(self.children.len() <= context.capacity(), "a node has room for its children");
        w.signature(b"TREE");
        w.u8(context.node_type());
        w.u8(self.level);
        w.u16(u16::try_from(self.children.len()).unwrap_or(u16::MAX));
        w.addr(self.left);
        w.addr(self.right);
        for (index, &child) in self.children.iter().enumerate() {
            self.keys.encode_one(w, context.kind, index);
            w.addr(child);
        }
        if !self.children.is_empty() {
            self.keys.encode_one(w, context.kind, self.children.len());
        }
        let unused = context.node_len(w.widths()).saturating_sub(w.written() - start);
        w.zeros(unused);
    }
}

/// The children of a node and the keys around them. A tree of many chunks is read node after node, so this takes all
/// bytes of the entries at once, not field by field.
fn decode_entries(r: &mut Reader<'_>, kind: BTree1Kind, count: usize) -> Result<(Vec<Addr>, BTree1Keys)> {
    let mut children = Vec::with_capacity(count);
    let key_count = if count == 0 { 0 } else { count + 1 };
    let keys = match kind {
        BTree1Kind::Group => {
            let mut keys = Vec::with_capacity(key_count);
            for _ in 0..count {
                keys.push(r.length()?);
                children.push(r.addr()?);
            }
            if count > 0 {
                keys.push(r.length()?);
            }
            BTree1Keys::Group(keys)
        }
        BTree1Kind::Chunks { rank } => {
            let mut keys = ChunkKeys {
                sizes: Vec::with_capacity(key_count),
                masks: Vec::with_capacity(key_count),
                offsets: Vec::with_capacity(key_count * (rank + 1)),
            };
            for index in 0..key_count {
                let (sizes, offsets) = r.bytes(8 + 8 * (rank + 1))?.split_at(8);
                if let ([size, mask], []) = sizes.as_chunks::<4>() {
                    keys.sizes.push(u32::from_le_bytes(*size));
                    keys.masks.push(u32::from_le_bytes(*mask));
                }
                keys.offsets
                    .extend(offsets.as_chunks::<8>().0.iter().map(|&bytes| u64::from_le_bytes(bytes)));
                if index < count {
                    children.push(r.addr()?);
                }
            }
            BTree1Keys::Chunks(keys)
        }
    };
    Ok((children, keys))
}

impl BTree1Keys {
    /// The first key that comes before its left neighbour: a search in such a node would miss chunks that are there. Keys
    /// of groups are offsets of names, in any order.
    fn first_out_of_order(&self, kind: BTree1Kind) -> Option<usize> {
        let (Self::Chunks(keys), BTree1Kind::Chunks { rank }) = (self, kind) else { return None };
        let each = || keys.offsets.chunks_exact(rank + 1);
        each().zip(each().skip(1)).position(|(key, next)| next < key).map(|key| key + 1)
    }

    fn encode_one(&self, w: &mut Writer<'_>, kind: BTree1Kind, index: usize) {
        match self {
            Self::Group(keys) => w.length(keys.get(index).copied().unwrap_or(0)),
            Self::Chunks(keys) => {
                let stride = match kind {
                    BTree1Kind::Chunks { rank } => rank + 1,
                    BTree1Kind::Group => 0,
                };
                w.u32(keys.sizes.get(index).copied().unwrap_or(0));
                w.u32(keys.masks.get(index).copied().unwrap_or(0));
                for &offset in keys.offsets.get(index * stride..).unwrap_or_default().iter().take(stride) {
                    w.u64(offset);
                }
            }
        }
    }

    /// The keys of a tree of chunks.
    pub fn chunks(&self) -> Option<&ChunkKeys> {
        match self {
            Self::Chunks(keys) => Some(keys),
            Self::Group(_) => None,
        }
    }

    /// The keys of a tree of links.
    pub fn group(&self) -> Option<&[u64]> {
        match self {
            Self::Group(keys) => Some(keys),
            Self::Chunks(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::golden::{error, golden};

    const GROUP: BTree1Context = BTree1Context { kind: BTree1Kind::Group, k: 16 };
    const CHUNKS: BTree1Context = BTree1Context { kind: BTree1Kind::Chunks { rank: 1 }, k: 32 };

    #[test]
    fn a_node_of_a_group() {
        // h5py, libver earliest: a group of two links
        let node = golden::<BTree1Node>("5452454500000100 ff*16 00*8 2807 00*6 08 00*503", &GROUP);
        assert_eq!((node.level, node.left), (0, Addr::UNDEFINED));
        assert_eq!(node.children, [Addr::new(0x728)]);
        assert_eq!(node.keys.group().unwrap(), [0, 8]);
    }

    #[test]
    fn a_node_of_chunks() {
        // h5py, libver earliest: int16, shape (10,), chunks (4,), gzip
        let node = golden::<BTree1Node>(
            "5452454501000300 ff*16 10 00*23 6018 00*6 10 00*7 04 00*15 7018 00*6 0d 00*7 08 00*15 8018 \
             00*14 0c 00*7 02 00*1959",
            &CHUNKS,
        );
        assert_eq!(node.children, [0x1860, 0x1870, 0x1880].map(Addr::new));
        let keys = node.keys.chunks().unwrap();
        assert_eq!(keys.sizes, [16, 16, 13, 0]);
        assert_eq!(keys.offset(1, 1), Some(&[4][..]));
        // libhdf5 puts the end of the last chunk into the last key, and so the size of an element after it.
        assert_eq!(keys.offsets, [0, 0, 4, 0, 8, 0, 12, 2]);
    }

    #[test]
    fn more_children_than_there_is_room_for_are_an_error() {
        let kind = error::<BTree1Node>("5452454500002100 ff*16 00*600", &GROUP);
        assert_eq!(kind, ErrorKind::TooLarge { field: "entries used", value: 33, limit: 32 });
    }

    #[test]
    fn keys_of_chunks_that_fall_are_an_error() {
        let keys = ChunkKeys { sizes: vec![8; 3], masks: vec![0; 3], offsets: vec![0, 0, 8, 0, 4, 0] };
        let (left, right) = (Addr::UNDEFINED, Addr::UNDEFINED);
        let children = vec![Addr::new(64), Addr::new(72)];
        let node = BTree1Node { level: 0, left, right, children, keys: BTree1Keys::Chunks(keys) };
        let mut bytes = Vec::new();
        Writer::new(&mut bytes, Widths::EIGHT).structure(&node, &CHUNKS);
        let error = Reader::new(&bytes, Widths::EIGHT, left).structure::<BTree1Node>(&CHUNKS).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Value { field: "chunk offset of key", value: 2, .. }));
    }

    #[test]
    fn a_node_of_another_tree_is_an_error() {
        let kind = error::<BTree1Node>("5452454500000000 ff*16 00*3000", &CHUNKS);
        assert!(matches!(kind, ErrorKind::Value { field: "node type", value: 0, .. }));
    }
}
