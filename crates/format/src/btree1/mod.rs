//! Version 1 B-tree node, `TREE` (spec III.A.1): indexes links of an old-style group or chunks of a dataset.
//!
//! The symbol table message or the layout message names the root node. A node of level 0 names symbol table
//! nodes or chunks; a node of a higher level names nodes. Key `i` is at most every key in child `i`, and key
//! `i + 1` is greater than all of them.

pub mod entries;

use crate::addr::Addr;
use crate::bytes::{Reader, Widths, Writer};
use crate::error::Result;
use crate::structure::Structure;
use entries::BTree1Entries;

/// A B-tree node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BTree1Node {
    /// The level of the node: 0 if its children are symbol table nodes or chunks.
    pub level: u8,
    /// The address of the left neighbour on the same level.
    pub left: Addr,
    /// The address of the right neighbour on the same level.
    pub right: Addr,
    /// The children (nodes of the next lower level, symbol table nodes or chunks) and the keys around them.
    pub entries: BTree1Entries,
}

/// The facts that decoding a node needs from other structures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BTree1Context {
    /// The kind of the tree.
    pub kind: BTree1Kind,
    /// Half the capacity of a node: the superblock's Group or Indexed Storage Internal Node K.
    pub k: u16,
}

/// The kind of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BTree1Kind {
    /// Node type 0: the links of a group.
    Group,
    /// Node type 1: the chunks of a dataset.
    Chunks {
        /// The number of dimensions of the dataset.
        rank: usize,
    },
}

impl BTree1Context {
    /// Returns the number of children for which a node has room.
    pub fn capacity(self) -> usize {
        2 * usize::from(self.k)
    }

    /// Returns the size of a node in bytes.
    pub fn node_len(self, widths: Widths) -> usize {
        let (capacity, address) = (self.capacity(), widths.offset.bytes());
        4 + 1 + 1 + 2 + 2 * address + capacity * address + (capacity + 1) * self.kind.key_len(widths)
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
                "the type that matches the object which names the tree",
            ));
        }
        let level = r.u8()?;
        let count = usize::from(r.u16()?);
        r.at_most(0, "entries used", count as u64, context.capacity() as u64)?;
        let (left, right) = (r.addr()?, r.addr()?);
        let entries = BTree1Entries::decode(&mut r, context.kind, count)?;
        if let Some(key) = entries.first_out_of_order() {
            return Err(r.bad_value("chunk offset of key", key as u64, "at least the key to its left"));
        }
        Ok(Self { level, left, right, entries })
    }

    fn encode(&self, w: &mut Writer<'_>, context: &BTree1Context) {
        let start = w.written();
        debug_assert!(self.entries.len() <= context.capacity(), "the children fit in the node");
        w.signature(b"TREE");
        w.u8(context.node_type());
        w.u8(self.level);
        w.u16(u16::try_from(self.entries.len()).unwrap_or(u16::MAX));
        w.addr(self.left);
        w.addr(self.right);
        self.entries.encode(w);
        let unused = context.node_len(w.widths()).saturating_sub(w.written() - start);
        w.zeros(unused);
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::entries::{BTree1Key, ChunkKey};
    use super::*;
    use crate::error::ErrorKind;
    use crate::golden::{error, golden};

    const GROUP: BTree1Context = BTree1Context { kind: BTree1Kind::Group, k: 16 };
    const CHUNKS: BTree1Context = BTree1Context { kind: BTree1Kind::Chunks { rank: 1 }, k: 32 };

    #[test]
    fn a_node_of_a_group_decodes() {
        // h5py, libver earliest: a group of two links
        let node = golden::<BTree1Node>("5452454500000100 ff*16 00*8 2807 00*6 08 00*503", &GROUP);
        assert_eq!((node.level, node.left), (0, Addr::UNDEFINED));
        assert!(node.entries.children().eq([Addr::new(0x728)]));
        assert_eq!([0, 1, 2].map(|index| node.entries.name(index)), [Some(0), Some(8), None]);
    }

    #[test]
    fn a_node_of_chunks_decodes() {
        // h5py, libver earliest: int16, shape (10,), chunks (4,), gzip
        let node = golden::<BTree1Node>(
            "5452454501000300 ff*16 10 00*23 6018 00*6 10 00*7 04 00*15 7018 00*6 0d 00*7 08 00*15 8018 \
             00*14 0c 00*7 02 00*1959",
            &CHUNKS,
        );
        assert!(node.entries.children().eq([0x1860, 0x1870, 0x1880].map(Addr::new)));
        let keys: Vec<_> = (0..).map_while(|index| node.entries.chunk(index)).collect();
        assert!(keys.iter().map(|key| key.size).eq([16, 16, 13, 0]));
        assert_eq!(
            [3, 4, 5].map(|at| keys[1].order(&[at])),
            [Ordering::Greater, Ordering::Equal, Ordering::Less]
        );
        // libhdf5 puts the end of the last chunk into the last key, with an element size as the extra number.
        assert_eq!(keys[3].order(&[12]), Ordering::Greater);
        assert!(keys.iter().flat_map(ChunkKey::offset).eq([0, 0, 4, 0, 8, 0, 12, 2]));
    }

    #[test]
    fn more_children_than_the_capacity_are_an_error() {
        let kind = error::<BTree1Node>("5452454500002100 ff*16 00*600", &GROUP);
        assert_eq!(kind, ErrorKind::TooLarge { field: "entries used", value: 33, limit: 32 });
    }

    #[test]
    fn descending_chunk_keys_are_an_error() {
        let key = |offset: [u64; 2]| BTree1Key::Chunk { size: 8, mask: 0, offset: offset.to_vec() };
        let (left, right) = (Addr::UNDEFINED, Addr::UNDEFINED);
        // The extra number after the dimensions counts, too.
        for keys in [[[0, 0], [8, 0], [4, 0]], [[0, 0], [8, 2], [8, 0]]] {
            let children = [64, 72].map(Addr::new);
            let entries = BTree1Entries::new(CHUNKS.kind, Widths::EIGHT, &keys.map(key), children);
            let node = BTree1Node { level: 0, left, right, entries };
            let mut bytes = Vec::new();
            Writer::new(&mut bytes, Widths::EIGHT).structure(&node, &CHUNKS);
            let error =
                Reader::new(&bytes, Widths::EIGHT, left).structure::<BTree1Node>(&CHUNKS).unwrap_err();
            assert!(matches!(error.kind, ErrorKind::Value { field: "chunk offset of key", value: 2, .. }));
        }
    }

    #[test]
    fn a_node_of_the_wrong_type_is_an_error() {
        let kind = error::<BTree1Node>("5452454500000000 ff*16 00*3000", &CHUNKS);
        assert!(matches!(kind, ErrorKind::Value { field: "node type", value: 0, .. }));
    }
}
