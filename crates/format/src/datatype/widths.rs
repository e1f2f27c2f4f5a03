//! Datatypes in files with other widths of addresses: the sizes of references and of elements of variable
//! length follow the width of addresses.

use super::{Array, Compound, Datatype, Member, Reference};
use crate::bytes::Widths;

impl Datatype {
    /// Returns the datatype in a file with widths `to` for `self` in a file with widths `from`. Members keep
    /// their order and the gaps between them. `None` if an element would have 4 GiB or more.
    pub fn in_widths(&self, from: Widths, to: Widths) -> Option<Self> {
        Some(match self {
            Self::Compound(compound) => Self::Compound(compound.in_widths(from, to)?),
            Self::Array(Array { base, shape }) => {
                Self::Array(Array { base: Box::new(base.in_widths(from, to)?), shape: shape.clone() })
            }
            Self::Sequence(base) => Self::Sequence(Box::new(base.in_widths(from, to)?)),
            Self::Reference(reference) => {
                let (from, to) = (from.offset.bytes(), to.offset.bytes());
                let size = u64::from(reference.size) + to as u64;
                let size = size.checked_sub(from as u64).and_then(|size| u32::try_from(size).ok())?;
                Self::Reference(Reference { size, ..*reference })
            }
            other => other.clone(),
        })
    }
}

impl Compound {
    fn in_widths(&self, from: Widths, to: Widths) -> Option<Self> {
        let mut members = Vec::with_capacity(self.members.len());
        for (number, member) in self.members.iter().enumerate() {
            members
                .push((number, Member { datatype: member.datatype.in_widths(from, to)?, ..member.clone() }));
        }
        members.sort_by_key(|(_, member)| member.offset);
        // What the members so far have grown.
        let mut grown = 0_i64;
        for (number, member) in &mut members {
            let old = self.members.get(*number)?.datatype.size(from);
            let new = member.datatype.size(to);
            member.offset = u32::try_from(i64::from(member.offset).checked_add(grown)?).ok()?;
            grown = grown.checked_add(i64::try_from(new).ok()?)?.checked_sub(i64::try_from(old).ok()?)?;
        }
        members.sort_by_key(|(number, _)| *number);
        let size = u32::try_from(i64::from(self.size).checked_add(grown)?).ok()?;
        Some(Self { size, members: members.into_iter().map(|(_, member)| member).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Width;
    use crate::datatype::{Integer, ReferenceKind};

    #[test]
    fn members_move_by_what_those_before_them_grow() {
        let narrow = Widths { offset: Width::Two, length: Width::Four };
        let number = || Datatype::Integer(Integer::little(4, true));
        let reference = |size| Datatype::Reference(Reference { size, kind: ReferenceKind::Object1 });
        let lists = |offset| Member::new("lists", offset, list(number()));
        let compound = |size, lists, array: u32, [last, reference_size]: [u32; 2]| {
            let references = Array { base: Box::new(reference(reference_size)), shape: vec![3] };
            Datatype::Compound(Compound {
                size,
                members: vec![
                    Member::new("last", last, number()),
                    lists,
                    Member::new("references", array, Datatype::Array(references)),
                ],
            })
        };
        let small = compound(30, lists(1), 14, [22, 2]);
        let large = compound(54, lists(1), 20, [46, 8]);
        assert_eq!(small.in_widths(narrow, Widths::EIGHT), Some(large.clone()));
        assert_eq!(large.in_widths(Widths::EIGHT, narrow), Some(small));
        assert_eq!(number().in_widths(narrow, Widths::EIGHT), Some(number()));
        assert_eq!(reference(3).in_widths(Widths::EIGHT, narrow), None);
    }

    fn list(base: Datatype) -> Datatype {
        Datatype::Sequence(Box::new(base))
    }
}
