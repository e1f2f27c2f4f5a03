//! Version 2 B-tree header, `BTHD` (spec III.A.2).
//!
//! The layout, link info, attribute info and shared message table messages and the fractal heap name the
//! header. The header names the root node.

use super::geometry::{BTree2Geometry, BTree2NodeShape, MAX_DEPTH};
use crate::addr::Addr;
use crate::bytes::{Reader, Widths, Writer};
use crate::error::{ErrorKind, Result};
use crate::structure::{Structure, fields};

/// The header of a version 2 B-tree. Fields in disk order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BTree2Header {
    /// The type of the records, 1 to 11.
    pub kind: u8,
    /// The size of a node in bytes.
    pub node_size: u32,
    /// The size of a record in bytes.
    pub record_size: u16,
    /// The number of levels below the root.
    pub depth: u16,
    /// The fill level, in percent, at which a node splits.
    pub split_percent: u8,
    /// The fill level, in percent, at which nodes merge.
    pub merge_percent: u8,
    /// The address of the root node; undefined in an empty tree.
    pub root: Addr,
    /// The number of records in the root node.
    pub root_records: u16,
    /// The number of records in the tree.
    pub total_records: u64,
}

impl BTree2Header {
    /// Returns the shape of the tree's nodes.
    pub fn geometry(&self, widths: Widths) -> BTree2Geometry {
        BTree2Geometry::new(self.kind, self.node_size, self.record_size, self.depth, widths)
    }

    /// Returns the address and shape of the root node, or `None` if the tree has no records.
    pub fn root(&self, widths: Widths) -> Option<(Addr, BTree2NodeShape)> {
        let root = self.root.defined()?;
        Some((root, self.geometry(widths).node(self.depth, self.root_records)))
    }
}

fields!(BTree2Header {
    kind: u8,
    node_size: u32,
    record_size: u16,
    depth: u16,
    split_percent: u8,
    merge_percent: u8,
    root: addr,
    root_records: u16,
    total_records: length,
});

impl Structure for BTree2Header {
    const NAME: &'static str = "version 2 B-tree header";
    const SPEC: &'static str = "III.A.2";
    type Context = ();
    const FIXED: bool = true;

    fn read_len(widths: Widths, (): &()) -> usize {
        4 + 1 + 1 + 4 + 2 + 2 + 1 + 1 + widths.offset.bytes() + 2 + widths.length.bytes() + 4
    }

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        r.signature(b"BTHD")?;
        r.version(0)?;
        let header = Self::decode_fields(r)?;
        r.checksum()?;
        if !(1..=11).contains(&header.kind) {
            return Err(r.bad_value("type", header.kind.into(), "1 to 11"));
        }
        if header.depth > MAX_DEPTH {
            return Err(r.error(ErrorKind::Depth { limit: MAX_DEPTH.into() }));
        }
        let geometry = header.geometry(r.widths());
        if !geometry.is_sound() {
            return Err(r.bad_value(
                "node size",
                header.node_size.into(),
                "room for 1 to 65535 records in a node",
            ));
        }
        let limit = geometry.max_records(header.depth);
        r.at_most(0, "number of records in root node", header.root_records.into(), limit)?;
        Ok(header)
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        w.signature(b"BTHD");
        w.u8(0); // version
        self.encode_fields(w);
        w.checksum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::{error, golden};

    #[test]
    fn a_tree_of_chunks_decodes() {
        let header = golden::<BTree2Header>(
            "42544844000a0008000018000000642809f2010000000000040004 00*7 4783ac03",
            &(),
        );
        assert_eq!((header.kind, header.node_size, header.record_size), (10, 2048, 24));
        assert_eq!((header.split_percent, header.merge_percent), (100, 40));
        assert_eq!((header.depth, header.root_records, header.total_records), (0, 4, 4));
    }

    #[test]
    fn a_flipped_bit_is_a_wrong_checksum() {
        let kind = error::<BTree2Header>(
            &"42544844000a0008000018000000642809f2010000000000040004 00*7 4783ac03"
                .replacen("6428", "6429", 1),
            &(),
        );
        assert!(matches!(kind, ErrorKind::Checksum { .. }), "{kind:?}");
    }

    #[test]
    fn a_depth_above_the_maximum_is_an_error() {
        let header = BTree2Header {
            kind: 10,
            node_size: 2048,
            record_size: 24,
            depth: MAX_DEPTH,
            split_percent: 100,
            merge_percent: 40,
            root: Addr::new(64),
            root_records: 1,
            total_records: 1,
        };
        for (depth, is_refused) in [(MAX_DEPTH, false), (MAX_DEPTH + 1, true), (u16::MAX, true)] {
            let mut bytes = Vec::new();
            Writer::new(&mut bytes, Widths::EIGHT).structure(&BTree2Header { depth, ..header }, &());
            let decoded = Reader::new(&bytes, Widths::EIGHT, Addr::new(0)).structure::<BTree2Header>(&());
            let is_too_deep = decoded.is_err_and(|error| matches!(error.kind, ErrorKind::Depth { .. }));
            assert_eq!(is_too_deep, is_refused, "{depth}");
        }
    }
}
