//! Compounds: members matched by name, moved and converted one by one.

use hyperslab_format::Widths;
use hyperslab_format::datatype::{Complex, Compound, Datatype, Member};

use super::Conversion;
use super::convert::{no_conversion, size_of};
use crate::error::RequestError;

/// Bytes gathered at a time.
const BLOCK: usize = 4096;

/// The members that both compounds have.
#[derive(Debug, Clone)]
pub(super) struct Fields {
    fields: Vec<Field>,
    /// Whether the destination has no other members.
    complete: bool,
}

#[derive(Debug, Clone)]
struct Field {
    src: usize,
    dst: usize,
    conversion: Conversion,
}

impl Fields {
    /// Matches members by name. Bytes of the destination that belong to no member of the source stay as they are.
    pub(super) fn between(
        from: &Compound,
        to: &Compound,
        widths: Widths,
        depth: u32,
    ) -> Result<Self, RequestError> {
        let error =
            |why| no_conversion(&Datatype::Compound(from.clone()), &Datatype::Compound(to.clone()), why);
        let mut fields: Vec<Field> = Vec::new();
        for member in &to.members {
            let Some(source) = from.members.iter().find(|source| source.name == member.name) else {
                continue;
            };
            let place = |member: &Member, compound: &Compound| {
                let offset = usize::try_from(member.offset).ok()?;
                let end = offset.checked_add(size_of(&member.datatype, widths)?)?;
                (end <= usize::try_from(compound.size).ok()?).then_some(offset)
            };
            let (Some(src), Some(dst)) = (place(source, from), place(member, to)) else {
                return Err(error("a member lies outside its compound"));
            };
            let conversion = Conversion::nested(&source.datatype, &member.datatype, widths, depth)?;
            fields.push(Field { src, dst, conversion });
        }
        if fields.is_empty() {
            return Err(error("they have no member in common"));
        }
        fields.sort_by_key(|field| field.dst);
        if fields.windows(2).any(|pair| pair[0].dst + pair[0].conversion.dst_size() > pair[1].dst) {
            return Err(error("members of the destination overlap"));
        }
        let complete = fields.len() == to.members.len();
        fields.dedup_by(|next, field| field.absorb(next));
        Ok(Self { fields, complete })
    }

    /// Whether every member stays where and as it is, so that whole elements may be copied.
    pub(super) fn is_identity(&self) -> bool {
        self.complete
            && self.fields.iter().all(|field| field.src == field.dst && field.conversion.is_identity())
    }

    /// Appends which byte of the source each byte of the destination is, for an element that begins at byte `at`; false if
    /// members are converted in earnest, or there are bytes that come from nowhere.
    pub(super) fn map(&self, at: u16, bytes: &mut Vec<u16>) -> bool {
        let start = bytes.len();
        self.complete
            && self.fields.iter().all(|field| {
                let source = u16::try_from(field.src).ok().and_then(|src| at.checked_add(src));
                bytes.len() - start == field.dst && source.is_some_and(|at| field.conversion.map(at, bytes))
            })
    }

    /// Converts every element; `src` and `dst` hold the same number of them, of the given sizes.
    pub(super) fn run(&self, src: &[u8], dst: &mut [u8], src_size: usize, dst_size: usize) {
        for field in &self.fields {
            field.run(src, dst, src_size, dst_size);
        }
    }
}

impl Field {
    /// Takes in a neighbour that is copied along with this one.
    fn absorb(&mut self, next: &Self) -> bool {
        let size = self.conversion.dst_size();
        let neighbours = self.conversion.is_identity()
            && next.conversion.is_identity()
            && self.dst + size == next.dst
            && self.src + size == next.src;
        if neighbours {
            self.conversion = Conversion::copy(size + next.conversion.dst_size());
        }
        neighbours
    }

    fn run(&self, src: &[u8], dst: &mut [u8], src_step: usize, dst_step: usize) {
        let (src_size, dst_size) = (self.conversion.src_size(), self.conversion.dst_size());
        if self.conversion.is_identity() {
            let elements = src.chunks_exact(src_step).zip(dst.chunks_exact_mut(dst_step));
            match src_size {
                1 => elements.for_each(|(from, to)| self.copy::<1>(from, to)),
                2 => elements.for_each(|(from, to)| self.copy::<2>(from, to)),
                4 => elements.for_each(|(from, to)| self.copy::<4>(from, to)),
                8 => elements.for_each(|(from, to)| self.copy::<8>(from, to)),
                16 => elements.for_each(|(from, to)| self.copy::<16>(from, to)),
                size => elements.for_each(|(from, to)| {
                    to[self.dst..self.dst + size].copy_from_slice(&from[self.src..self.src + size]);
                }),
            }
            return;
        }
        let block = BLOCK / src_size.max(dst_size);
        if block < 2 {
            for (from, to) in src.chunks_exact(src_step).zip(dst.chunks_exact_mut(dst_step)) {
                let to = &mut to[self.dst..self.dst + dst_size];
                self.conversion.run(&from[self.src..self.src + src_size], to);
            }
            return;
        }
        // Gathered, so that the loops of the conversion see many elements at once.
        let (mut gathered, mut converted) = ([0; BLOCK], [0; BLOCK]);
        for (from, to) in src.chunks(block * src_step).zip(dst.chunks_mut(block * dst_step)) {
            let mut elements = 0;
            for (slot, element) in gathered.chunks_exact_mut(src_size).zip(from.chunks_exact(src_step)) {
                slot.copy_from_slice(&element[self.src..self.src + src_size]);
                elements += 1;
            }
            let converted = &mut converted[..elements * dst_size];
            if self.conversion.is_partial() {
                for (slot, element) in converted.chunks_exact_mut(dst_size).zip(to.chunks_exact(dst_step)) {
                    slot.copy_from_slice(&element[self.dst..self.dst + dst_size]);
                }
            }
            self.conversion.run(&gathered[..elements * src_size], converted);
            for (slot, element) in converted.chunks_exact(dst_size).zip(to.chunks_exact_mut(dst_step)) {
                element[self.dst..self.dst + dst_size].copy_from_slice(slot);
            }
        }
    }

    fn copy<const N: usize>(&self, from: &[u8], to: &mut [u8]) {
        to[self.dst..self.dst + N].copy_from_slice(&from[self.src..self.src + N]);
    }
}

/// A complex number as the compound of two members that `like` is, if it is one: `r` and `i`, or longer names.
pub(super) fn complex_as_compound(complex: &Complex, like: &Compound, widths: Widths) -> Option<Compound> {
    let [one, two] = &like.members[..] else { return None };
    let is = |member: &Member, names: &[&str]| names.contains(&member.name.as_str());
    let (real, imaginary) = (["r", "re", "real"], ["i", "im", "imag", "imaginary"]);
    let (real, imaginary) = if is(one, &real) && is(two, &imaginary) {
        (one, two)
    } else if is(two, &real) && is(one, &imaginary) {
        (two, one)
    } else {
        return None;
    };
    let size = u32::try_from(complex.base.size(widths)).ok()?;
    let part = |name: &str, offset| Member { name: name.into(), offset, datatype: (*complex.base).clone() };
    Some(Compound {
        size: size.checked_mul(2)?,
        members: vec![part(&real.name, 0), part(&imaginary.name, size)],
    })
}
