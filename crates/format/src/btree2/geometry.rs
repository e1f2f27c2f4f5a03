//! The capacity of version 2 B-tree nodes at each depth, and the widths of the counts in them (spec III.A.2).

use crate::bytes::{Widths, bytes_for};

/// The size in bytes of the fixed fields of a node: signature, version, type and checksum.
const NODE_OVERHEAD: u64 = 4 + 1 + 1 + 4;

/// The largest supported depth. Even if each node had only one record and two children, the minimum, a deeper
/// tree would have more records than 64 bits can count.
pub const MAX_DEPTH: u16 = 64;

/// The shape of the nodes of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BTree2Geometry {
    /// The type of the tree, which is the type of its records.
    pub kind: u8,
    /// The size of a node in bytes.
    pub node_size: u32,
    /// The size of a record in bytes.
    pub record_size: u16,
    /// The size in bytes of the record count in a child pointer.
    pub count_width: u8,
    levels: Vec<Level>,
}

/// The capacity of the nodes of one depth. Leaves have depth 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Level {
    /// The largest number of records in a node.
    max_records: u64,
    /// The largest number of records in a node and its descendants.
    max_total: u64,
}

/// The facts that decoding a node needs from other structures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BTree2NodeShape {
    /// The type of the tree.
    pub kind: u8,
    /// The size of a node in bytes.
    pub node_size: u32,
    /// The size of a record in bytes.
    pub record_size: u16,
    /// The number of levels below the node.
    pub depth: u16,
    /// The number of records in the node.
    pub records: u16,
    /// The largest number of records in a child.
    pub max_child_records: u64,
    /// The size in bytes of the record count in a child pointer.
    pub count_width: u8,
    /// The size in bytes of the total record count in a child pointer; 0 if children are leaves.
    pub total_width: u8,
}

impl BTree2Geometry {
    /// Returns the shape of a tree's nodes. If the numbers come from a file, check
    /// [`is_sound`](Self::is_sound) before use.
    pub fn new(kind: u8, node_size: u32, record_size: u16, depth: u16, widths: Widths) -> Self {
        let room = u64::from(node_size).saturating_sub(NODE_OVERHEAD);
        let leaf_records = room / u64::from(record_size.max(1));
        let count_width = narrow(bytes_for(leaf_records));
        let mut levels = vec![Level { max_records: leaf_records, max_total: leaf_records }];
        let mut child_total = leaf_records;
        for level in 1..=depth.min(MAX_DEPTH) {
            let total_width = if level == 1 { 0 } else { bytes_for(child_total) as u64 };
            let pointer = widths.offset.bytes() as u64 + u64::from(count_width) + total_width;
            let max_records = room.saturating_sub(pointer) / (u64::from(record_size) + pointer);
            let max_total = (max_records + 1).saturating_mul(child_total).saturating_add(max_records);
            levels.push(Level { max_records, max_total });
            child_total = max_total;
        }
        Self { kind, node_size, record_size, count_width, levels }
    }

    /// Returns whether every node has room for a record, and the widths of the counts are sufficient.
    pub fn is_sound(&self) -> bool {
        self.record_size > 0
            && self.count_width <= 2
            && self.levels.iter().all(|level| level.max_records > 0 && level.max_records <= u16::MAX.into())
    }

    /// Returns the number of levels below the root.
    pub fn depth(&self) -> u16 {
        u16::try_from(self.levels.len() - 1).unwrap_or(MAX_DEPTH)
    }

    /// Returns the largest number of records in a node of depth `depth`.
    pub fn max_records(&self, depth: u16) -> u64 {
        self.level(depth).map_or(0, |level| level.max_records)
    }

    /// Returns the largest number of records in a node of depth `depth` and its descendants.
    pub fn max_total(&self, depth: u16) -> u64 {
        self.level(depth).map_or(0, |level| level.max_total)
    }

    /// Returns the shape of a node of depth `depth` with `records` records.
    pub fn node(&self, depth: u16, records: u16) -> BTree2NodeShape {
        let child_depth = depth.saturating_sub(1);
        BTree2NodeShape {
            kind: self.kind,
            node_size: self.node_size,
            record_size: self.record_size,
            depth,
            records,
            max_child_records: self.max_records(child_depth),
            count_width: self.count_width,
            total_width: if depth < 2 { 0 } else { narrow(bytes_for(self.max_total(child_depth))) },
        }
    }

    fn level(&self, depth: u16) -> Option<&Level> {
        self.levels.get(usize::from(depth))
    }
}

/// Converts the size in bytes of an integer, which is at most 8.
fn narrow(bytes: usize) -> u8 {
    u8::try_from(bytes).unwrap_or(8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacities_match_those_of_libhdf5() {
        // Unfiltered two-dimensional chunks, in nodes of 2048 bytes with 24 bytes for each record.
        let geometry = BTree2Geometry::new(10, 2048, 24, 2, Widths::EIGHT);
        assert_eq!(geometry.max_records(0), 84);
        assert_eq!(geometry.count_width, 1);
        assert_eq!(geometry.max_records(1), (2038 - 9) / 33);
        assert_eq!(geometry.max_total(1), 62 * 84 + 61);
        assert_eq!(geometry.node(2, 1).total_width, 2);
        assert_eq!(geometry.max_records(2), (2038 - 11) / 35);
        assert!(geometry.is_sound());
    }

    #[test]
    fn nodes_without_room_for_a_record_are_not_sound() {
        assert!(!BTree2Geometry::new(10, 30, 24, 0, Widths::EIGHT).is_sound());
        assert!(!BTree2Geometry::new(10, 2048, 0, 0, Widths::EIGHT).is_sound());
        assert!(!BTree2Geometry::new(10, 40, 24, 1, Widths::EIGHT).is_sound());
        assert!(!BTree2Geometry::new(10, u32::MAX, 24, 0, Widths::EIGHT).is_sound());
    }
}
