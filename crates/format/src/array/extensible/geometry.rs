//! Which block of an Extensible Array holds an element (spec VII.D), in O(1).
//!
//! The elements after those of the index block are numbered through *super blocks*: super block `s` stands for
//! `2^(s/2)` data blocks of `2^((s+1)/2)` times the smallest number of elements. The data blocks of the first super
//! blocks are named by the index block; each later one has a secondary block that names its data blocks.

use crate::layout::ExtensibleArrayParameters;

/// How the blocks of one array grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    parameters: ExtensibleArrayParameters,
}

/// Where an element is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// In the index block.
    Index {
        /// Its position there.
        position: usize,
    },
    /// In a data block that the index block names.
    Direct {
        /// Which of the index block's data blocks.
        data_block: usize,
        /// Elements of that block.
        elements: u64,
        /// The position in it.
        position: u64,
    },
    /// In a data block that a secondary block names.
    Secondary {
        /// Which of the index block's secondary blocks.
        secondary: usize,
        /// The super block that it stands for.
        super_block: u32,
        /// Which of its data blocks.
        data_block: usize,
        /// Elements of that block.
        elements: u64,
        /// The position in it.
        position: u64,
    },
}

impl Geometry {
    /// The geometry of an array with these (checked) parameters.
    pub const fn new(parameters: ExtensibleArrayParameters) -> Self {
        Self { parameters }
    }

    /// Where element `number` is; `None` if the array cannot have so many.
    pub fn slot(&self, number: u64) -> Option<Slot> {
        let Some(number) = number.checked_sub(self.parameters.index_elements.into()) else {
            return Some(Slot::Index { position: usize::try_from(number).ok()? });
        };
        let min_elements = u64::from(self.parameters.min_elements);
        let super_block = (number / min_elements).checked_add(1)?.ilog2();
        if super_block as usize >= self.super_blocks() {
            return None;
        }
        let elements = self.block_elements(super_block);
        // The super blocks before hold 2^s - 1 times the smallest number of elements.
        let first = ((1_u64 << super_block) - 1).checked_mul(min_elements)?;
        let within = number - first;
        let data_block = usize::try_from(within / elements).ok()?;
        let position = within % elements;
        match (super_block as usize).checked_sub(self.direct_super_blocks()) {
            None => {
                let before: usize = (0..super_block).map(|s| self.data_blocks(s)).sum();
                Some(Slot::Direct { data_block: before + data_block, elements, position })
            }
            Some(secondary) => {
                Some(Slot::Secondary { secondary, super_block, data_block, elements, position })
            }
        }
    }

    /// How many super blocks the array can have.
    pub fn super_blocks(&self) -> usize {
        let min_bits = self.parameters.min_elements.checked_ilog2().unwrap_or(0) as usize;
        (1 + usize::from(self.parameters.max_elements_bits)).saturating_sub(min_bits)
    }

    /// How many data blocks the index block names.
    pub fn direct_data_blocks(&self) -> usize {
        2 * usize::from(self.parameters.min_pointers).saturating_sub(1)
    }

    /// How many secondary blocks the index block names.
    pub fn secondary_blocks(&self) -> usize {
        self.super_blocks().saturating_sub(self.direct_super_blocks())
    }

    /// How many data blocks super block `s` stands for.
    pub fn data_blocks(&self, super_block: u32) -> usize {
        1_usize.checked_shl(super_block / 2).unwrap_or(usize::MAX)
    }

    /// Elements of each data block of super block `s`.
    pub fn block_elements(&self, super_block: u32) -> u64 {
        let scale = 1_u64.checked_shl(super_block.div_ceil(2)).unwrap_or(u64::MAX);
        scale.saturating_mul(self.parameters.min_elements.into())
    }

    /// Elements of a page of a data block.
    pub fn page_elements(&self) -> u64 {
        1 << self.parameters.page_bits
    }

    /// Pages of a data block of so many elements; 0 if it is not paged.
    pub fn pages(&self, elements: u64) -> u64 {
        if elements > self.page_elements() { elements / self.page_elements() } else { 0 }
    }

    /// Bytes of the field that says where in the array a block begins.
    pub fn offset_bytes(&self) -> usize {
        usize::from(self.parameters.max_elements_bits).div_ceil(8)
    }

    /// How many super blocks have their data blocks named by the index block.
    pub fn direct_super_blocks(self) -> usize {
        2 * self.parameters.min_pointers.checked_ilog2().unwrap_or(0) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What libhdf5 gives every dataset.
    const DEFAULT: ExtensibleArrayParameters = ExtensibleArrayParameters {
        max_elements_bits: 32,
        index_elements: 4,
        min_pointers: 4,
        min_elements: 16,
        page_bits: 10,
    };

    /// Counts through the blocks one by one.
    #[test]
    fn every_element_is_where_counting_finds_it() {
        let geometry = Geometry::new(DEFAULT);
        let mut number = 0;
        for position in 0..4 {
            assert_eq!(geometry.slot(number), Some(Slot::Index { position }));
            number += 1;
        }
        let mut direct = 0;
        for super_block in 0..12 {
            for data_block in 0..geometry.data_blocks(super_block) {
                let elements = geometry.block_elements(super_block);
                for position in 0..elements {
                    let expected = if super_block < 4 {
                        Slot::Direct { data_block: direct, elements, position }
                    } else {
                        let secondary = super_block as usize - 4;
                        Slot::Secondary { secondary, super_block, data_block, elements, position }
                    };
                    assert_eq!(geometry.slot(number), Some(expected), "element {number}");
                    number += 1;
                }
                direct += 1;
            }
        }
        assert_eq!(geometry.direct_data_blocks(), 6);
        assert_eq!((geometry.super_blocks(), geometry.secondary_blocks()), (29, 25));
    }

    #[test]
    fn there_is_nothing_beyond_the_last_super_block() {
        let geometry = Geometry::new(DEFAULT);
        let last = 4 + ((1_u64 << 29) - 1) * 16 - 1;
        assert!(geometry.slot(last).is_some());
        assert!(geometry.slot(last + 1).is_none());
        assert!(geometry.slot(u64::MAX).is_none());
    }
}
