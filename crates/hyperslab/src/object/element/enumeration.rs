//! Enums as elements: enumerations.

use std::fmt::Display;
use std::ops::{Range, RangeInclusive};

use hyperslab_convert::Scalar;
use hyperslab_error::{RequestError, Result};
use hyperslab_format::Widths;
use hyperslab_format::datatype::{Datatype, Enumeration, Integer, IntegerValue, Member};

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
    let of_bool = is_bool(from) || is_bool(to);
    for (name, bytes) in &from.members {
        let Some((_, other)) = to.members.iter().find(|(other, _)| other == name) else {
            let why = if of_bool {
                WHY_BOOL
            } else {
                "only one of the enum and the stored enumeration has this name: an enum must have all stored \
                 names to be read, and no others to be written"
            };
            return Err(RequestError::Argument { what: format!("name {name:?}"), why }.into());
        };
        let (number, other) = (number(&from.base, bytes), number(&to.base, other));
        if let (Some(number), Some(other)) = (number, other)
            && number != other
        {
            let what = format!("name {name:?} with the numbers {number} and {other}");
            let why = if of_bool { WHY_BOOL } else { "the enum must have the stored number of each name" };
            return Err(RequestError::Argument { what, why }.into());
        }
    }
    Ok(())
}

/// Why a stored enumeration is not `bool`.
const WHY_BOOL: &str =
    "`bool` is the enumeration of FALSE = 0 and TRUE = 1: use an enum with the stored names and numbers";

fn is_bool(enumeration: &Enumeration) -> bool {
    matches!(bool::datatype(), Datatype::Enumeration(of_bool) if of_bool == *enumeration)
}

/// The enumerations of a datatype that a conversion stores in an integer with other limits. A number without
/// a name may be outside that integer, and would become the nearest one, which may have a name.
pub(super) enum Narrowing {
    /// An integer in the file, and the numbers of the one in memory.
    Number(Integer, RangeInclusive<i128>),
    Members(Vec<NarrowedMember>),
    /// Arrays, with the sizes of their elements in the file and in memory.
    Elements {
        sizes: (usize, usize),
        of: Box<Self>,
    },
}

/// A member of a compound: its bytes in the file, and its first byte in memory.
pub(super) struct NarrowedMember {
    stored: Range<usize>,
    at: usize,
    of: Narrowing,
}

impl Narrowing {
    /// Returns the enumerations in `from` that have numbers which the ones in `to` cannot have.
    pub(super) fn between(from: &Datatype, to: &Datatype, widths: Widths) -> Option<Self> {
        let size = |datatype: &Datatype| usize::try_from(datatype.size(widths)).unwrap_or(usize::MAX);
        match (from, to) {
            // All numbers but 0 are true, and the nearest one to them is not 0.
            (Datatype::Enumeration(_), Datatype::Enumeration(to)) if is_bool(to) => None,
            (Datatype::Enumeration(from), Datatype::Enumeration(to)) => {
                let Datatype::Integer(integer) = &*from.base else { return None };
                let (stored, valid) = (numbers(&from.base)?, numbers(&to.base)?);
                let fits = valid.contains(stored.start()) && valid.contains(stored.end());
                (!fits).then_some(Self::Number(*integer, valid))
            }
            (Datatype::Compound(from), Datatype::Compound(to)) => {
                let narrowed = |to: &Member| {
                    let from = from.members.iter().find(|from| from.name == to.name)?;
                    let of = Self::between(&from.datatype, &to.datatype, widths)?;
                    let start = from.offset as usize;
                    let stored = start..start.saturating_add(size(&from.datatype));
                    Some(NarrowedMember { stored, at: to.offset as usize, of })
                };
                let members: Vec<_> = to.members.iter().filter_map(narrowed).collect();
                (!members.is_empty()).then_some(Self::Members(members))
            }
            (Datatype::Array(from), Datatype::Array(to)) => {
                let of = Box::new(Self::between(&from.base, &to.base, widths)?);
                Some(Self::Elements { sizes: (size(&from.base).max(1), size(&to.base)), of })
            }
            _ => None,
        }
    }

    /// Returns the first number in the stored bytes that memory cannot have, and its byte there.
    pub(super) fn changed(&self, stored: &[u8]) -> Option<(i128, usize)> {
        match self {
            Self::Number(integer, valid) => {
                let number = integer_in(integer, stored)?;
                (!valid.contains(&number)).then_some((number, 0))
            }
            Self::Members(members) => members.iter().find_map(|member| {
                let (number, at) = member.of.changed(stored.get(member.stored.clone())?)?;
                Some((number, at + member.at))
            }),
            Self::Elements { sizes, of } => {
                stored.chunks_exact(sizes.0).enumerate().find_map(|(element, stored)| {
                    let (number, at) = of.changed(stored)?;
                    Some((number, at + element * sizes.1))
                })
            }
        }
    }
}

/// Returns the number in the bytes of an integer.
fn number(base: &Datatype, bytes: &[u8]) -> Option<i128> {
    let Datatype::Integer(integer) = base else { return None };
    integer_in(integer, bytes)
}

fn integer_in(integer: &Integer, bytes: &[u8]) -> Option<i128> {
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
