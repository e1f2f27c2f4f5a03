//! The elements that ranks send to the rank that a chunk belongs to.

use std::collections::{HashMap, HashSet};

use hyperslab_error::Result;
use hyperslab_select::{Coord, Dim, Part};
use hyperslab_store::{Collective, Meeting};
use smallvec::SmallVec;

use super::rounds::Round;
use crate::engine::plan::pieces::ReadTask;
use crate::engine::scratch::{self, sized};
use crate::engine::write::WriteRun;
use crate::engine::write::input::{Input, Walk, pitches, size, strides};

/// The elements of one chunk that one rank has sent.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sent {
    /// The boxes of the chunk, with their places in `bytes`.
    parts: Vec<Part>,
    /// The elements, in the stored datatype.
    bytes: Vec<u8>,
}

impl WriteRun<'_> {
    /// Sends the elements of this round's chunks that belong to other ranks. Returns what other ranks have
    /// sent, in the order of the ranks.
    pub(super) fn exchange(
        &self,
        collective: &Collective,
        tasks: &[ReadTask],
        round: &Round,
    ) -> Result<Vec<Vec<u8>>> {
        // All ranks know that none sends anything.
        if !round.is_shared() {
            return Ok(Vec::new());
        }
        let mut to = vec![Vec::new(); collective.size()];
        let packed =
            round.sent.iter().try_for_each(|&(task, owner)| self.pack(&tasks[task].coord, &mut to[owner]));
        collective.meet(Meeting::Sending, packed.map(|()| Vec::new()))?;
        collective.exchange(&to)
    }

    /// Returns the elements in messages of other ranks, for each chunk of `own`.
    pub(super) fn unpack_all(
        &self,
        came: &[Vec<u8>],
        own: &[&ReadTask],
    ) -> Result<HashMap<Coord, Vec<Sent>>> {
        let mut sent: HashMap<Coord, Vec<Sent>> = HashMap::new();
        if came.iter().all(Vec::is_empty) {
            return Ok(sent);
        }
        let own: HashSet<&Coord> = own.iter().map(|task| &task.coord).collect();
        for bytes in came {
            let mut rest = bytes.as_slice();
            while !rest.is_empty() {
                let (coord, parts) = self
                    .unpack(&mut rest)
                    .filter(|(coord, _)| own.contains(coord))
                    .ok_or_else(Collective::garbled_elements)?;
                sent.entry(coord).or_default().push(parts);
            }
        }
        Ok(sent)
    }

    /// Appends the written elements of a chunk: its position, the number of boxes, and for each box the
    /// dimensions and the elements.
    fn pack(&self, coord: &Coord, out: &mut Vec<u8>) -> Result<()> {
        let input = &self.plan.input;
        scratch::with(|scratch| {
            let mut chunk = Vec::new();
            let chunk = sized(&mut chunk, self.piece_bytes)?;
            self.plan.place(coord, chunk, &mut scratch.convert)?;
            let mut parts = Vec::new();
            self.plan.each(coord, |part| parts.push(part.clone()));
            out.extend(bytes_of(coord));
            out.extend(bytes_of(&[parts.len() as u64]));
            for part in &parts {
                let dims: Vec<u64> =
                    part.within.iter().flat_map(|dim| [dim.start, dim.step, dim.count]).collect();
                out.extend(bytes_of(&dims));
                let at = out.len();
                out.resize(at + size(part.count()) * input.stored_size, 0);
                let counts: SmallVec<[usize; 4]> = part.within.iter().map(|dim| size(dim.count)).collect();
                let (start, from) = input.places(part);
                let to = pitches(&counts, input.stored_size);
                Walk { counts, from, to, size: input.stored_size }.copy(chunk, start, &mut out[at..], 0);
            }
            Ok(())
        })
    }

    /// Takes the elements of one chunk off `rest`. `None` if they are not what [`pack`](Self::pack) makes.
    fn unpack(&self, rest: &mut &[u8]) -> Option<(Coord, Sent)> {
        let input = &self.plan.input;
        let axes = input.piece.len();
        let coord = Coord::from_vec(take_words(rest, axes)?);
        let count = *take_words(rest, 1)?.first()?;
        let (mut parts, mut bytes) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let dims = take_words(rest, 3 * axes)?;
            let within: SmallVec<[Dim; 4]> =
                dims.chunks_exact(3).map(|dim| Dim { start: dim[0], step: dim[1], count: dim[2] }).collect();
            let fits = within.iter().zip(&input.piece).all(|(dim, &len)| {
                let has_step = dim.step > 0 || dim.count == 1;
                let last = dim
                    .count
                    .checked_sub(1)
                    .filter(|_| has_step)
                    .and_then(|steps| steps.checked_mul(dim.step));
                last.and_then(|last| last.checked_add(dim.start)).is_some_and(|last| last < len as u64)
            });
            if !fits {
                return None;
            }
            let counts: Vec<u64> = within.iter().map(|dim| dim.count).collect();
            let part =
                Part { within, dst: bytes.len() as u64, dst_strides: strides(&counts, input.stored_size) };
            let count = counts.iter().try_fold(1_u64, |count, more| count.checked_mul(*more))?;
            let (elements, after) = rest.split_at_checked(size(count).checked_mul(input.stored_size)?)?;
            bytes.extend_from_slice(elements);
            *rest = after;
            parts.push(part);
        }
        Some((coord, Sent { parts, bytes }))
    }
}

impl Sent {
    /// Copies the elements to their places in the chunk, whose elements are those of `input`.
    pub(super) fn place(
        &self,
        input: &Input<'_>,
        chunk: &mut [u8],
        scratch: &mut [Vec<u8>; 2],
    ) -> Result<()> {
        let input = Input {
            bytes: &self.bytes,
            conversion: None,
            stored_size: input.stored_size,
            memory_size: input.stored_size,
            piece: input.piece.clone(),
        };
        self.parts.iter().try_for_each(|part| input.place(part, chunk, scratch))
    }
}

fn take_words(rest: &mut &[u8], count: usize) -> Option<Vec<u64>> {
    let (bytes, after) = rest.split_at_checked(count.checked_mul(8)?)?;
    *rest = after;
    words_of(bytes)
}

/// Returns the bytes of a message of numbers.
pub(super) fn bytes_of(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Returns the numbers of a message. `None` if its length is none of a message of numbers.
pub(super) fn words_of(bytes: &[u8]) -> Option<Vec<u64>> {
    let (words, rest) = bytes.as_chunks();
    rest.is_empty().then(|| words.iter().map(|word| u64::from_le_bytes(*word)).collect())
}
