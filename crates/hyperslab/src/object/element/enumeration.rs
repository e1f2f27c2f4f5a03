//! Enums as elements: enumerations.

use std::fmt::Display;
use std::ops::RangeInclusive;

use hyperslab_convert::Scalar;
use hyperslab_error::{RequestError, Result};
use hyperslab_format::Widths;
use hyperslab_format::datatype::{Compound, Datatype, Enumeration, IntegerValue, Member};

/// Returns the enumeration of these names and numbers.
pub fn enumeration<T: Scalar>(members: &[(&str, T)]) -> Datatype {
    let members = members.iter().map(|(name, number)| {
        let number = T::bytes(std::slice::from_ref(number)).to_vec();
        ((*name).to_owned(), number)
    });
    Datatype::Enumeration(Enumeration { base: Box::new(T::datatype()), members: members.collect() })
}

/// Says that no variant of `name` has this number.
pub fn no_variant(number: impl Display, name: &str) -> String {
    format!("{number} is not a variant of `{name}`")
}

/// Checks that `to` has each name of `from`, with the same number.
pub(super) fn check_names(from: &Enumeration, to: &Enumeration) -> Result<()> {
    for (name, bytes) in &from.members {
        let Some((_, other)) = to.members.iter().find(|(other, _)| other == name) else {
            let why = "only one of the enum and the stored enumeration has this name: an enum must have all \
                       stored names to be read, and no others to be written";
            return Err(RequestError::Argument { what: format!("name {name:?}"), why }.into());
        };
        let (number, other) = (number(&from.base, bytes), number(&to.base, other));
        if let (Some(number), Some(other)) = (number, other)
            && number != other
        {
            let what = format!("name {name:?} with the numbers {number} and {other}");
            let why = "the enum must have the stored number of each name";
            return Err(RequestError::Argument { what, why }.into());
        }
    }
    Ok(())
}

/// Checks that a conversion changes no number of an enumeration. A number without a name may be outside the
/// other integer, and would become the nearest one, which may have a name.
pub(super) fn check_numbers(from: &Datatype, to: &Datatype, stored: &[u8], widths: Widths) -> Result<()> {
    if !may_change(from, to) {
        return Ok(());
    }
    let size = usize::try_from(from.size(widths)).unwrap_or(usize::MAX).max(1);
    for (element, bytes) in (0..).zip(stored.chunks_exact(size)) {
        if let Some(why) = changed(from, to, bytes, widths) {
            return Err(RequestError::NotAValue { element, why }.into());
        }
    }
    Ok(())
}

/// Returns whether an enumeration in `from` has numbers that the one in `to` cannot have.
fn may_change(from: &Datatype, to: &Datatype) -> bool {
    match (from, to) {
        (Datatype::Enumeration(from), Datatype::Enumeration(to)) => {
            let (from, to) = (numbers(&from.base), numbers(&to.base));
            from.zip(to).is_some_and(|(from, to)| from.start() < to.start() || from.end() > to.end())
        }
        (Datatype::Compound(from), Datatype::Compound(to)) => from
            .members
            .iter()
            .any(|one| same_member(one, to).is_some_and(|to| may_change(&one.datatype, to))),
        (Datatype::Array(from), Datatype::Array(to)) => may_change(&from.base, &to.base),
        _ => false,
    }
}

/// Says which number of an element in `from` an enumeration in `to` cannot have.
fn changed(from: &Datatype, to: &Datatype, bytes: &[u8], widths: Widths) -> Option<String> {
    let size = |datatype: &Datatype| usize::try_from(datatype.size(widths)).unwrap_or(usize::MAX).max(1);
    match (from, to) {
        (Datatype::Enumeration(from), Datatype::Enumeration(to)) => {
            let (number, valid) = (number(&from.base, bytes)?, numbers(&to.base)?);
            let (start, end) = (valid.start(), valid.end());
            let why = || format!("{number} is not a variant of an enum with numbers from {start} to {end}");
            (!valid.contains(&number)).then(why)
        }
        (Datatype::Compound(from), Datatype::Compound(to)) => from.members.iter().find_map(|one| {
            let stored = bytes.get(one.offset as usize..)?.get(..size(&one.datatype))?;
            let why = changed(&one.datatype, same_member(one, to)?, stored, widths)?;
            Some(format!("member {:?}: {why}", one.name))
        }),
        (Datatype::Array(from), Datatype::Array(to)) => bytes
            .chunks_exact(size(&from.base))
            .find_map(|bytes| changed(&from.base, &to.base, bytes, widths)),
        _ => None,
    }
}

/// Returns the datatype of the member with the same name.
fn same_member<'a>(member: &Member, compound: &'a Compound) -> Option<&'a Datatype> {
    compound.members.iter().find(|other| other.name == member.name).map(|other| &other.datatype)
}

/// Returns the number in the bytes of an integer.
fn number(base: &Datatype, bytes: &[u8]) -> Option<i128> {
    let Datatype::Integer(integer) = base else { return None };
    match IntegerValue::decode(bytes, integer.order, integer.bits, integer.signed)? {
        IntegerValue::Signed(number) => Some(number),
        IntegerValue::Unsigned(number) => i128::try_from(number).ok(),
    }
}

/// Returns the numbers that an integer can have.
fn numbers(base: &Datatype) -> Option<RangeInclusive<i128>> {
    let Datatype::Integer(integer) = base else { return None };
    let bits = u32::from(integer.bits.precision).checked_sub(integer.signed.into())?;
    let end = 1_i128.checked_shl(bits).and_then(|end| end.checked_sub(1))?;
    Some(if integer.signed { -end - 1 } else { 0 }..=end)
}
