//! Conversions of compounds: members are matched by name, then moved and converted one by one.

use hyperslab_error::RequestError;
use hyperslab_format::Widths;
use hyperslab_format::datatype::{Complex, Compound, Datatype, Member};

use super::Conversion;
use super::convert::{offset, size_of};
use super::refusal::no_conversion;

/// The number of bytes gathered at a time.
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
    /// Matches members by name. Bytes of the destination outside the matched members are left unchanged.
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
                return Err(error("a member is outside its compound"));
            };
            let conversion = Conversion::nested(&source.datatype, &member.datatype, widths, depth)?;
            fields.push(Field { src, dst, conversion });
        }
        if fields.is_empty() {
            return Err(error("they have no common member"));
        }
        fields.sort_by_key(|field| field.dst);
        if fields.windows(2).any(|pair| pair[0].dst + pair[0].conversion.dst_size() > pair[1].dst) {
            return Err(error("members of the destination overlap"));
        }
        let complete = fields.len() == to.members.len();
        fields.dedup_by(|next, field| field.absorb(next));
        Ok(Self { fields, complete })
    }

    /// Returns whether every member keeps its place and its bytes, so that whole elements may be copied.
    pub(super) fn is_identity(&self) -> bool {
        self.complete
            && self.fields.iter().all(|field| field.src == field.dst && field.conversion.is_identity())
    }

    /// Returns whether some of the `dst_size` bytes of an element are left unchanged.
    pub(super) fn is_partial(&self, dst_size: usize) -> bool {
        let written: usize = self.fields.iter().map(|field| field.conversion.dst_size()).sum();
        written < dst_size || self.fields.iter().any(|field| field.conversion.is_partial())
    }

    /// Returns the source byte of each of the `dst_size` bytes of an element, if the conversion only moves
    /// bytes and sets all of them.
    pub(super) fn moved(&self, dst_size: usize) -> Option<Vec<u16>> {
        let mut moved = Vec::with_capacity(dst_size);
        for field in &self.fields {
            if field.dst != moved.len() {
                return None;
            }
            moved.extend(offset(field.conversion.moved()?.into_iter(), field.src)?);
        }
        (moved.len() == dst_size).then_some(moved)
    }

    /// Converts every element. `src` and `dst` hold the same number of elements, of the given sizes.
    pub(super) fn run(&self, src: &[u8], dst: &mut [u8], src_size: usize, dst_size: usize) {
        for field in &self.fields {
            field.run(src, dst, src_size, dst_size);
        }
    }
}

impl Field {
    /// Merges the next field into this one, if both are copied and adjacent in source and destination.
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
            return copy(src_size, (src, self.src, src_step), (dst, self.dst, dst_step));
        }
        let block = BLOCK / src_size.max(dst_size);
        if block < 2 {
            for (from, to) in src.chunks_exact(src_step).zip(dst.chunks_exact_mut(dst_step)) {
                let to = &mut to[self.dst..self.dst + dst_size];
                self.conversion.run(&from[self.src..self.src + src_size], to);
            }
            return;
        }
        // Gather the member first, so that the conversion's loops process many elements at once.
        let (mut gathered, mut converted) = ([0; BLOCK], [0; BLOCK]);
        for (from, to) in src.chunks(block * src_step).zip(dst.chunks_mut(block * dst_step)) {
            let elements = to.len() / dst_step;
            let gathered = &mut gathered[..elements * src_size];
            let converted = &mut converted[..elements * dst_size];
            copy(src_size, (from, self.src, src_step), (gathered, 0, src_size));
            if self.conversion.is_partial() {
                copy(dst_size, (to, self.dst, dst_step), (converted, 0, dst_size));
            }
            self.conversion.run(gathered, converted);
            copy(dst_size, (converted, 0, dst_size), (to, self.dst, dst_step));
        }
    }
}

/// Copies `size` bytes of each element. Each side is a triple: the elements, the offset of the bytes in an
/// element, and the size of an element.
fn copy(size: usize, from: (&[u8], usize, usize), to: (&mut [u8], usize, usize)) {
    match size {
        1 => copy_each::<1>(size, from, to),
        2 => copy_each::<2>(size, from, to),
        4 => copy_each::<4>(size, from, to),
        8 => copy_each::<8>(size, from, to),
        16 => copy_each::<16>(size, from, to),
        _ => copy_each::<0>(size, from, to),
    }
}

/// Copies `N` bytes of each element, or `size` bytes if `N` is 0.
fn copy_each<const N: usize>(
    size: usize,
    (src, from, src_step): (&[u8], usize, usize),
    (dst, to, dst_step): (&mut [u8], usize, usize),
) {
    let size = if N == 0 { size } else { N };
    for (src, dst) in src.chunks_exact(src_step).zip(dst.chunks_exact_mut(dst_step)) {
        dst[to..to + size].copy_from_slice(&src[from..from + size]);
    }
}

/// Returns a complex number as a compound with the member names and order of `like`: `r` and `i`, or longer
/// names. `None` if `like` is not such a compound.
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
