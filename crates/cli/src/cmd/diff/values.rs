//! Comparison of the elements of two datasets of the same shape, block by block on all threads.

use std::sync::{Mutex, PoisonError};

use anyhow::Context as _;
use hyperslab::Element as _;
use hyperslab::internals::engine::{Destination, ReadOptions, each_number};
use hyperslab::{Dataset, File, Selection};
use hyperslab_format::datatype::{Datatype, Integer};
use hyperslab_select::Boxes;
use std::num::NonZeroUsize;

use super::tolerance::Tolerance;
use crate::show::value::{Decoder, Value, small_integer};

/// An element that differs: its position, and both values.
#[derive(Debug, Clone)]
pub(super) struct Element {
    pub(super) at: Vec<u64>,
    pub(super) values: [Value; 2],
}

/// The differences between the elements of two datasets.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// The number of differing elements.
    pub(super) count: u64,
    /// The first of these elements.
    pub(super) first: Vec<Element>,
}

/// Two datasets of the same shape, and the options of their comparison.
pub(super) struct Comparison<'c> {
    pub(super) datasets: [&'c Dataset; 2],
    pub(super) decoders: [&'c Decoder<'c>; 2],
    pub(super) tolerance: Tolerance,
    /// The most differences to keep.
    pub(super) most: usize,
}

/// The type in which elements are compared.
enum Way {
    /// Integers of these types.
    Integers([Integer; 2]),
    /// 8-byte floats.
    Floats,
    /// Values of any datatype.
    Values,
}

impl Comparison<'_> {
    /// Compares all elements. Calls `done` with the bytes that have been compared, of both datasets.
    pub(super) fn run(&self, done: &(dyn Fn(u64) + Sync)) -> anyhow::Result<Outcome> {
        let [a, _] = self.datasets;
        let shape = a.shape();
        if a.size() == 0 {
            return Ok(Outcome::default());
        }
        let types = self.datasets.map(Dataset::datatype);
        let way = way([&types[0], &types[1]]);
        let sizes = self.datasets.map(Dataset::element_size);
        let most = (BLOCK_BYTES / sizes[0].max(sizes[1]).max(1) as u64).max(1);
        let [unit, other] = self.datasets.map(Dataset::chunk_shape);
        let (unit, other) = match (unit, other) {
            (Some(unit), other) => (unit, other),
            (None, Some(other)) => (other, None),
            (None, None) => (vec![1; shape.len()], None),
        };
        let boxes = Boxes::new(&shape, &unit, other.as_deref(), most);
        let found: Mutex<Vec<(u64, Outcome)>> = Mutex::default();
        each_number(boxes.len(), &|number| {
            let what = if shape.is_empty() { Selection::All } else { boxes.nth(number) };
            let outcome = self.block(&what, [&types[0], &types[1]], &way, done)?;
            if outcome.count > 0 {
                found.lock().unwrap_or_else(PoisonError::into_inner).push((number, outcome));
            }
            anyhow::Ok(())
        })?;
        let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.sort_unstable_by_key(|(number, _)| *number);
        let mut all = Outcome::default();
        for (_, outcome) in found {
            all.count += outcome.count;
            let room = self.most - all.first.len();
            all.first.extend(outcome.first.into_iter().take(room));
        }
        Ok(all)
    }

    fn block(
        &self,
        what: &Selection,
        types: [&Datatype; 2],
        way: &Way,
        done: &(dyn Fn(u64) + Sync),
    ) -> anyhow::Result<Outcome> {
        let [a, b] = self.datasets;
        let ((a_bytes, a_heap), (b_bytes, b_heap)) = (read(a, what, None)?, read(b, what, None)?);
        let over = [self.decoders[0].over(&a_heap), self.decoders[1].over(&b_heap)];
        let decoders = [0, 1].map(|file| over[file].as_ref().unwrap_or(self.decoders[file]));
        done((a_bytes.len() + b_bytes.len()) as u64);
        let is_plain = types[0] == types[1] && is_plain(types[0]);
        if is_plain && a_bytes == b_bytes {
            return Ok(Outcome::default());
        }
        let sizes = self.datasets.map(|dataset| dataset.element_size().max(1));
        let stored = |index: usize| {
            let part = |bytes: &[u8], size: usize| bytes[index * size..(index + 1) * size].to_vec();
            (part(&a_bytes, sizes[0]), part(&b_bytes, sizes[1]))
        };
        let count = a_bytes.len() / sizes[0];
        let mut differing: Vec<usize> = Vec::new();
        match way {
            Way::Integers([x, y]) => {
                let pairs = a_bytes.chunks_exact(sizes[0]).zip(b_bytes.chunks_exact(sizes[1])).enumerate();
                let differ = |(_, (a, b)): &(usize, (&[u8], &[u8]))| {
                    !self.tolerance.same_integers(small_integer(a, x), small_integer(b, y))
                };
                differing.extend(pairs.filter(differ).map(|(index, _)| index));
            }
            Way::Floats => {
                let (a, b) = (floats(a, what, count)?, floats(b, what, count)?);
                let differ = |(_, (a, b)): &(usize, (&f64, &f64))| !self.tolerance.same(**a, **b);
                differing.extend(a.iter().zip(&b).enumerate().filter(differ).map(|(index, _)| index));
            }
            Way::Values => {
                for index in 0..count {
                    let (a, b) = stored(index);
                    if is_plain && a == b {
                        continue;
                    }
                    let values = [decoders[0].value(types[0], &a)?, decoders[1].value(types[1], &b)?];
                    if !self.tolerance.same_values(&values[0], &values[1]) {
                        differing.push(index);
                    }
                }
            }
        }
        let mut outcome = Outcome { count: differing.len() as u64, first: Vec::new() };
        let shape = a.shape();
        for &index in differing.iter().take(self.most) {
            let (a, b) = stored(index);
            let values = [decoders[0].value(types[0], &a)?, decoders[1].value(types[1], &b)?];
            outcome.first.push(Element { at: place(what, &shape, index as u64), values });
        }
        Ok(outcome)
    }
}

/// Reads elements as they are stored, or converted to another datatype. Returns the file with their data of
/// variable length, too.
fn read(dataset: &Dataset, what: &Selection, datatype: Option<Datatype>) -> anyhow::Result<(Vec<u8>, File)> {
    let size = match &datatype {
        Some(datatype) => usize::try_from(datatype.size(dataset.file().store().widths())).ok(),
        None => Some(dataset.element_size()),
    };
    let count = usize::try_from(what.count(&dataset.shape())?).ok();
    let len = count.zip(size).and_then(|(count, size)| count.checked_mul(size));
    let mut bytes = vec![0; len.context("a block larger than the address space")?];
    // Threads share the blocks, so each read uses one thread.
    let options = ReadOptions::default().threads(NonZeroUsize::MIN).datatype(datatype);
    let heap = dataset.read_with_heap(None, what, &mut Destination::contiguous(&mut bytes), &options)?;
    Ok((bytes, heap))
}

fn floats(dataset: &Dataset, what: &Selection, count: usize) -> anyhow::Result<Vec<f64>> {
    let (bytes, _) = read(dataset, what, Some(f64::datatype()))?;
    let values = bytes.chunks_exact(8).map(|bytes| f64::from_ne_bytes(bytes.try_into().unwrap_or_default()));
    let values: Vec<f64> = values.collect();
    debug_assert_eq!(values.len(), count, "every element must be converted");
    Ok(values)
}

/// Returns the type in which elements of these datatypes are compared.
fn way(types: [&Datatype; 2]) -> Way {
    let is_small = |datatype: &Datatype| match datatype {
        Datatype::Integer(t) => t.size <= 8,
        Datatype::Float(t) => t.size <= 8,
        _ => false,
    };
    match types {
        [Datatype::Integer(a), Datatype::Integer(b)] if a.size <= 8 && b.size <= 8 => Way::Integers([*a, *b]),
        [a, b] if is_small(a) && is_small(b) => Way::Floats,
        _ => Way::Values,
    }
}

/// Returns whether elements with equal bytes are equal, because no part of an element is stored elsewhere.
fn is_plain(datatype: &Datatype) -> bool {
    match datatype {
        Datatype::Sequence(_) | Datatype::VariableText(_) | Datatype::Reference(_) => false,
        Datatype::Compound(compound) => compound.members.iter().all(|member| is_plain(&member.datatype)),
        Datatype::Array(array) => is_plain(&array.base),
        _ => true,
    }
}

/// Returns the position in the dataset of an element of a box.
fn place(what: &Selection, shape: &[u64], mut index: u64) -> Vec<u64> {
    let Selection::Slab(slab) = what else { return vec![0; shape.len()] };
    let mut at: Vec<u64> = slab
        .0
        .iter()
        .rev()
        .map(|dim| {
            let place = dim.start + index % dim.count.max(1) * dim.step;
            index /= dim.count.max(1);
            place
        })
        .collect();
    at.reverse();
    at
}

/// The bytes of a dataset that a thread has in memory at a time, unless a chunk is larger.
const BLOCK_BYTES: u64 = 4 << 20;
