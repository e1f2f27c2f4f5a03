//! Finds the block of an Extensible Array that contains an element (spec VII.D), in O(1).
//!
//! The elements after those of the index block are numbered through *super blocks*. Super block `s` consists
//! of `2^(s/2)` data blocks, each with `2^((s+1)/2)` times the smallest number of elements. The index block
//! names the data blocks of the first super blocks. Each later super block has a secondary block, which names
//! its data blocks.

use crate::layout::ExtensibleArrayParameters;

/// The block structure of one array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    parameters: ExtensibleArrayParameters,
}

/// The location of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// In the index block.
    Index {
        /// The position of the element in the index block.
        position: usize,
    },
    /// In a data block that the index block names.
    Direct {
        /// The number of the data block, among those that the index block names.
        data_block: usize,
        /// The number of elements in the data block.
        elements: u64,
        /// The position of the element in the data block.
        position: u64,
    },
    /// In a data block that a secondary block names.
    Secondary {
        /// The number of the secondary block, among those that the index block names.
        secondary: usize,
        /// The number of the super block to which the secondary block belongs.
        super_block: u32,
        /// The number of the data block in the super block.
        data_block: usize,
        /// The number of elements in the data block.
        elements: u64,
        /// The position of the element in the data block.
        position: u64,
    },
}

impl Geometry {
    /// Returns the geometry of an array with `parameters`, which the caller has checked.
    pub const fn new(parameters: ExtensibleArrayParameters) -> Self {
        Self { parameters }
    }

    /// Returns the location of element `number`, or `None` if the array cannot have that many elements.
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
        // The super blocks before `s` hold `2^s - 1` times the smallest number of elements.
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

    /// Returns the largest number of super blocks that the array can have.
    pub fn super_blocks(&self) -> usize {
        let min_bits = self.parameters.min_elements.checked_ilog2().unwrap_or(0) as usize;
        (1 + usize::from(self.parameters.max_elements_bits)).saturating_sub(min_bits)
    }

    /// Returns the number of data blocks that the index block names.
    pub fn direct_data_blocks(&self) -> usize {
        2 * usize::from(self.parameters.min_pointers).saturating_sub(1)
    }

    /// Returns the number of secondary blocks that the index block names.
    pub fn secondary_blocks(&self) -> usize {
        self.super_blocks().saturating_sub(self.direct_super_blocks())
    }

    /// Returns the number of data blocks in super block `super_block`.
    pub fn data_blocks(&self, super_block: u32) -> usize {
        1_usize.checked_shl(super_block / 2).unwrap_or(usize::MAX)
    }

    /// Returns the number of elements in each data block of super block `super_block`.
    pub fn block_elements(&self, super_block: u32) -> u64 {
        let scale = 1_u64.checked_shl(super_block.div_ceil(2)).unwrap_or(u64::MAX);
        scale.saturating_mul(self.parameters.min_elements.into())
    }

    /// Returns the number of elements in a page of a data block.
    pub fn page_elements(&self) -> u64 {
        1 << self.parameters.page_bits
    }

    /// Returns the number of pages of a data block with `elements` elements; 0 if it is not paged.
    pub fn pages(&self, elements: u64) -> u64 {
        if elements > self.page_elements() { elements / self.page_elements() } else { 0 }
    }

    /// Returns whether the field for a block's first element number can hold numbers up to `number`. The last
    /// super block may have slots beyond.
    pub fn can_store(&self, number: u64) -> bool {
        let number = number.saturating_sub(self.parameters.index_elements.into());
        number.checked_shr(self.parameters.max_elements_bits.into()).is_none_or(|rest| rest == 0)
    }

    /// Returns the size in bytes of the field for a block's first element number.
    pub fn offset_bytes(&self) -> usize {
        usize::from(self.parameters.max_elements_bits).div_ceil(8)
    }

    /// Returns the number of super blocks whose data blocks the index block names.
    pub fn direct_super_blocks(self) -> usize {
        2 * self.parameters.min_pointers.checked_ilog2().unwrap_or(0) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parameters that libhdf5 gives every dataset.
    const DEFAULT: ExtensibleArrayParameters = ExtensibleArrayParameters {
        max_elements_bits: 32,
        index_elements: 4,
        min_pointers: 4,
        min_elements: 16,
        page_bits: 10,
    };

    /// Compares with a count through the blocks, one by one.
    #[test]
    fn slots_match_a_count_through_all_blocks() {
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
    fn numbers_of_more_bits_than_the_array_has_cannot_be_stored() {
        let geometry = Geometry::new(DEFAULT);
        let most = u64::from(DEFAULT.index_elements) + (1 << DEFAULT.max_elements_bits);
        assert!(geometry.can_store(most - 1) && !geometry.can_store(most) && geometry.slot(most).is_some());
        let wide = ExtensibleArrayParameters { max_elements_bits: 64, ..DEFAULT };
        assert!(Geometry::new(wide).can_store(u64::MAX));
    }

    #[test]
    fn an_element_beyond_the_last_super_block_has_no_slot() {
        let geometry = Geometry::new(DEFAULT);
        let last = 4 + ((1_u64 << 29) - 1) * 16 - 1;
        assert!(geometry.slot(last).is_some());
        assert!(geometry.slot(last + 1).is_none());
        assert!(geometry.slot(u64::MAX).is_none());
    }
}
