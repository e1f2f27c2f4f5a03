//! Structs as elements: compounds.

use hyperslab_format::datatype::{Compound, Datatype, Member};

use super::FixedSize;
use crate::error::Result;
use crate::object::File;

/// Returns the compound of members with these names, datatypes and bytes, one after another.
pub fn compound<const N: usize>(members: [(&str, Datatype, usize); N]) -> Datatype {
    let mut size = 0_u32;
    let members = members.map(|(name, datatype, bytes)| {
        let member = Member::new(name, size, datatype);
        size = size.saturating_add(u32::try_from(bytes).unwrap_or(u32::MAX));
        member
    });
    Datatype::Compound(Compound { size, members: members.into() })
}

/// Returns the elements that `stored` holds in `datatype`.
pub fn decode<T: FixedSize>(file: &File, datatype: &Datatype, stored: &[u8]) -> Result<Vec<T>> {
    super::fixed::decode(file, datatype, stored)
}

/// Returns the bytes of elements, one after another.
pub fn packed<T: FixedSize>(elements: &[T]) -> Vec<u8> {
    let mut bytes = vec![0; elements.len() * T::size()];
    elements
        .iter()
        .zip(bytes.chunks_exact_mut(T::size().max(1)))
        .for_each(|(element, bytes)| element.put(bytes));
    bytes
}
