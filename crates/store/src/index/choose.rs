//! Chooses the index of a new dataset: the index that libhdf5 would choose, with the same parameters, except
//! where a Fixed Array would be large (decision 0007).

use hyperslab_format::Addr;
use hyperslab_format::layout::{ChunkIndexInfo, ExtensibleArrayParameters};

use super::Grid;
use crate::tree::btree2::edit::BTree2Parameters;

/// The properties of a new dataset that determine its index.
#[derive(Debug, Clone, Copy)]
pub struct ChunkingPlan<'p> {
    /// The version of the layout message, 3 to 5.
    pub layout_version: u8,
    /// The dataset's shape.
    pub shape: &'p [u64],
    /// The maximum shape, with `None` along unlimited dimensions. Without a maximum shape the shape is fixed.
    pub max_shape: Option<&'p [Option<u64>]>,
    /// The shape of a chunk.
    pub chunk_shape: &'p [u64],
    /// Whether the dataset has filters.
    pub is_filtered: bool,
    /// Whether the space of all chunks is allocated when the dataset is created.
    pub is_allocated_early: bool,
}

/// Returns the index of a new dataset, which has no chunks yet.
///
/// Version 3 of the layout message supports only the version 1 B-tree (spec IV.A.2.i). In later versions the
/// index depends on the number of unlimited dimensions (spec VII): none, one, or more.
pub fn choose(plan: &ChunkingPlan<'_>) -> ChunkIndexInfo {
    let addr = Addr::UNDEFINED;
    if plan.layout_version < 4 {
        return ChunkIndexInfo::BTree1 { addr };
    }
    let unlimited = plan.max_shape.map_or(0, |max| max.iter().filter(|len| len.is_none()).count());
    let is_fixed =
        plan.max_shape.is_none_or(|max| max.iter().zip(plan.shape).all(|(max, &len)| *max == Some(len)));
    match unlimited {
        0 if is_fixed && plan.shape == plan.chunk_shape => {
            ChunkIndexInfo::Single { addr, filtered: plan.is_filtered.then_some((0, 0)) }
        }
        0 if plan.is_allocated_early && !plan.is_filtered => ChunkIndexInfo::Implicit { addr },
        0 => fixed(&Grid::new(plan.shape, plan.max_shape, plan.chunk_shape)),
        1 => ChunkIndexInfo::ExtensibleArray { addr, parameters: EXTENSIBLE_ARRAY },
        _ => btree2(),
    }
}

/// Returns the index of a new dataset without unlimited dimensions. This is an array with room for every
/// chunk of the maximum shape or, if these are too many, a tree of the written chunks (decision 0007).
pub(super) fn fixed(grid: &Grid) -> ChunkIndexInfo {
    match grid.most_chunks() {
        Some(0..=FIXED_ARRAY_CHUNKS) => {
            ChunkIndexInfo::FixedArray { addr: Addr::UNDEFINED, page_bits: PAGE_BITS }
        }
        _ => btree2(),
    }
}

fn btree2() -> ChunkIndexInfo {
    let BTree2Parameters { node_size, split_percent, merge_percent } = BTree2Parameters::CHUNKS;
    ChunkIndexInfo::BTree2 { addr: Addr::UNDEFINED, node_size, split_percent, merge_percent }
}

/// The most elements in a Fixed Array that hyperslab creates. Each element takes 8 bytes of the file, or 14
/// to 20 bytes with filters, even if its chunk is never written.
const FIXED_ARRAY_CHUNKS: u64 = 1 << 20;
const PAGE_BITS: u8 = 10;

const EXTENSIBLE_ARRAY: ExtensibleArrayParameters = ExtensibleArrayParameters {
    max_elements_bits: 32,
    index_elements: 4,
    min_pointers: 4,
    min_elements: 16,
    page_bits: PAGE_BITS,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_array_is_chosen_for_at_most_2_to_the_20_chunks() {
        let is_array = |shape: &[u64], max_shape: Option<&[Option<u64>]>| {
            let plan = ChunkingPlan {
                layout_version: 4,
                shape,
                max_shape,
                chunk_shape: &[2, 4],
                is_filtered: true,
                is_allocated_early: false,
            };
            match choose(&plan) {
                ChunkIndexInfo::FixedArray { .. } => true,
                ChunkIndexInfo::BTree2 { .. } => false,
                other => panic!("{other:?}"),
            }
        };
        let (rows, columns) = (2 << 10, 4 << 10);
        assert!(is_array(&[rows, columns], None));
        assert!(!is_array(&[rows + 1, columns], None));
        assert!(is_array(&[1, 1], Some(&[Some(rows), Some(columns)])));
        assert!(!is_array(&[1, 1], Some(&[Some(rows), Some(columns + 1)])));
        // The number of chunks exceeds 64 bits.
        assert!(!is_array(&[1 << 60, 1 << 60], None));
    }
}
