//! Version 2 B-tree nodes, `BTIN` and `BTLF` (spec III.A.2).
//!
//! A leaf holds only records. An internal node holds records and one child more than records. Child `i` comes
//! before record `i`, and the last child comes after the last record.

use super::geometry::BTree2NodeShape;
use super::record::Records;
use crate::addr::Addr;
use crate::bytes::{Reader, Widths, Writer};
use crate::error::Result;
use crate::structure::Structure;

/// A node, either internal or a leaf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BTree2Node {
    /// The records in ascending order.
    pub records: Records,
    /// The children: one more than records, or none in a leaf.
    pub children: Vec<ChildPointer>,
}

/// A child of an internal node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChildPointer {
    /// The address of the node.
    pub addr: Addr,
    /// The number of records in the node.
    pub records: u16,
    /// The number of records in the node and its descendants.
    pub total_records: u64,
}

impl BTree2NodeShape {
    /// Returns whether the node has no children.
    pub fn is_leaf(&self) -> bool {
        self.depth == 0
    }

    fn signature(&self) -> &'static [u8; 4] {
        if self.is_leaf() { b"BTLF" } else { b"BTIN" }
    }

    fn len(&self) -> usize {
        usize::try_from(self.node_size).unwrap_or(usize::MAX)
    }
}

impl Structure for BTree2Node {
    const NAME: &'static str = "version 2 B-tree node";
    const SPEC: &'static str = "III.A.2";
    type Context = BTree2NodeShape;
    const FIXED: bool = true;

    fn read_len(_: Widths, shape: &BTree2NodeShape) -> usize {
        shape.len()
    }

    fn decode(r: &mut Reader<'_>, shape: &BTree2NodeShape) -> Result<Self> {
        let mut r = r.sub(shape.len())?;
        r.signature(shape.signature())?;
        r.version(0)?;
        let kind = r.u8()?;
        if kind != shape.kind {
            return Err(r.bad_value("type", kind.into(), "the type in the tree's header"));
        }
        let records = Records::decode(&mut r, shape.kind, shape.record_size, shape.records)?;
        if let Some(record) = records.first_out_of_order() {
            return Err(r.bad_value(
                "chunk of record",
                record as u64,
                "a chunk after that of the record before",
            ));
        }
        let count = if shape.is_leaf() { 0 } else { usize::from(shape.records) + 1 };
        let mut children = Vec::with_capacity(count.min(r.remaining()));
        for _ in 0..count {
            children.push(ChildPointer::decode(&mut r, shape)?);
        }
        r.checksum()?;
        Ok(Self { records, children })
    }

    fn encode(&self, w: &mut Writer<'_>, shape: &BTree2NodeShape) {
        let start = w.written();
        w.signature(shape.signature());
        w.u8(0); // version
        w.u8(shape.kind);
        self.records.encode(w);
        for child in &self.children {
            child.encode(w, shape);
        }
        w.checksum();
        let unused = shape.len().saturating_sub(w.written() - start);
        w.zeros(unused);
    }
}

impl ChildPointer {
    fn decode(r: &mut Reader<'_>, shape: &BTree2NodeShape) -> Result<Self> {
        let addr = r.addr()?;
        let records = r.uint(shape.count_width.into())?;
        r.at_most(0, "number of records in child", records, shape.max_child_records.min(u16::MAX.into()))?;
        let count = u16::try_from(records).unwrap_or(u16::MAX);
        let total_records = if shape.total_width == 0 { records } else { r.uint(shape.total_width.into())? };
        if total_records < records {
            return Err(r.bad_value(
                "total number of records in child",
                total_records,
                "at least the number in the child itself",
            ));
        }
        Ok(Self { addr, records: count, total_records })
    }

    fn encode(&self, w: &mut Writer<'_>, shape: &BTree2NodeShape) {
        w.addr(self.addr);
        w.uint(self.records.into(), shape.count_width.into());
        if shape.total_width > 0 {
            w.uint(self.total_records, shape.total_width.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::geometry::BTree2Geometry;
    use super::super::record::{ChunkRecord, Record};
    use super::*;
    use crate::error::ErrorKind;
    use crate::golden::{error, golden};

    /// h5py, libver v110: int32, shape (4, 4), chunks (2, 2), both dimensions unlimited.
    const LEAF: &str = "42544c46000a9ebd01 00*21 aebd01 00*13 01 00*7 bebd01000000000001 00*15 cebd01000000000001 \
        00*7 01 00*7 ed202ea1 00*1942";

    /// h5py, libver v110: a group of 400 links, the root of its index by name.
    const INTERNAL: &str = "\
        4254494e000503719619005b3500002d007d869a35009c3800002d00b70ae94e \
        00d71900002d00786b226a00503900002d004931ec8c00692600002d00b5ff0a \
        b100d72900002d00457ae4cd00204400002d000cc9f9e800150200002d00856a \
        03000000000029fe9a0300000000002d03150400000000002de3dd0300000000 \
        002d82b30300000000002c26030400000000002c74810300000000002c12ce03 \
        00000000002a20000400000000002ab1e973f5 00*333";

    #[test]
    fn a_leaf_of_chunks_decodes() {
        let shape = BTree2Geometry::new(10, 2048, 24, 0, Widths::EIGHT).node(0, 4);
        let node = golden::<BTree2Node>(LEAF, &shape);
        assert!(node.children.is_empty());
        let chunk = ChunkRecord { addr: Addr::new(0x1bdbe), filtered: None };
        assert_eq!(node.records.get(2).unwrap(), Record::Chunk { chunk, scaled: vec![1, 0] });
        let mut scaled = [7; 2];
        assert_eq!(node.records.chunk(3, &mut scaled).unwrap().addr, Addr::new(0x1bdce));
        assert_eq!(scaled, [1, 1]);
        assert!(node.records.get(4).is_err());
    }

    #[test]
    fn chunks_that_do_not_ascend_are_an_error() {
        let shape = BTree2Geometry::new(10, 2048, 24, 0, Widths::EIGHT).node(0, 4);
        // The chunk at (1, 0), as the one at (0, 0), and as the one at (0, 1).
        let chunk = "bebd01000000000001 00*15 ce";
        assert!(LEAF.contains(chunk));
        for other in ["bebd010000000000 00*16 ce", "bebd010000000000 00*8 01 00*7 ce"] {
            let kind = error::<BTree2Node>(&LEAF.replace(chunk, other), &shape);
            assert!(matches!(kind, ErrorKind::Value { field: "chunk of record", value: 2, .. }));
        }
    }

    #[test]
    fn an_internal_node_of_links_decodes() {
        let shape = BTree2Geometry::new(5, 512, 11, 1, Widths::EIGHT).node(1, 8);
        let node = golden::<BTree2Node>(INTERNAL, &shape);
        assert_eq!(node.records.len(), 8);
        let Record::LinkName { hash, .. } = node.records.get(0).unwrap() else { panic!("not a link") };
        assert_eq!(hash, 0x1996_7103);
        let total: u64 = node.children.iter().map(|child| child.total_records).sum();
        assert_eq!((node.children.len(), total + 8), (9, 400));
    }

    #[test]
    fn a_child_with_more_records_than_fit_is_an_error() {
        let shape = BTree2Geometry::new(5, 512, 11, 1, Widths::EIGHT).node(1, 8);
        let kind = error::<BTree2Node>(&INTERNAL.replace("000000000029fe", "0000000000f9fe"), &shape);
        assert!(matches!(
            kind,
            ErrorKind::TooLarge { field: "number of records in child", value: 0xf9, limit: 45 }
        ));
    }

    #[test]
    fn a_node_of_the_wrong_type_is_an_error() {
        let shape = BTree2Geometry::new(11, 2048, 29, 0, Widths::EIGHT).node(0, 4);
        assert!(matches!(
            error::<BTree2Node>(LEAF, &shape),
            ErrorKind::Value { field: "type", value: 10, .. }
        ));
    }
}
