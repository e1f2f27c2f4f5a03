//! Structs as elements: compounds.

use hyperslab_error::{RequestError, Result};
use hyperslab_format::datatype::{Compound, Datatype, Member};

use super::FixedSize;
use super::enumeration::check_names;

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

/// Checks that elements of `from` have all members of `to`, since a conversion would set the others to zero,
/// and that enumerations have the same numbers.
pub(super) fn check_members(from: &Datatype, to: &Datatype) -> Result<()> {
    match (from, to) {
        (Datatype::Compound(from), Datatype::Compound(to)) => to.members.iter().try_for_each(|member| {
            let source = from.members.iter().find(|source| source.name == member.name);
            let missing = || {
                let why = "only one of the struct and the stored compound has this member: add it to the struct, \
                           or remove it";
                RequestError::Argument { what: format!("member {:?}", member.name), why }
            };
            check_members(&source.ok_or_else(missing)?.datatype, &member.datatype)
        }),
        (Datatype::Array(from), Datatype::Array(to)) => check_members(&from.base, &to.base),
        (Datatype::Enumeration(from), Datatype::Enumeration(to)) => check_names(from, to),
        _ => Ok(()),
    }
}

/// Takes the next `size` bytes.
#[inline]
pub fn next<'a>(bytes: &mut &'a [u8], size: usize) -> &'a [u8] {
    let (next, rest) = bytes.split_at(size);
    *bytes = rest;
    next
}

/// Adds the name of the member whose bytes are not a value.
#[inline]
pub fn in_member(name: &str, checked: Result<(), String>) -> Result<(), String> {
    checked.map_err(|why| format!("member {name:?}: {why}"))
}

/// The function [`FixedSize::no_variant`] of a type.
type NoVariant = fn(i128, usize) -> String;

/// Says that a number is not a variant of the enum at byte `at` of members with these names and sizes, one
/// after another.
pub fn no_variant_in(members: &[(&str, usize, NoVariant)], number: i128, mut at: usize) -> String {
    for (name, size, no_variant) in members {
        match at.checked_sub(*size) {
            None => return format!("member {name:?}: {}", no_variant(number, at)),
            Some(rest) => at = rest,
        }
    }
    format!("{number} is not a variant")
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
