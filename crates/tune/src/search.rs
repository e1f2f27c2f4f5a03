//! The chunk shapes that are worth trying. Pure code without I/O.

use hyperslab::internals::auto_chunks;

use crate::access::Access;
use crate::model::{self, ArrayFacts, Engine, Machine, Ratio, Stored, Times, real};

/// A possible storage of the elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The shape of a chunk, or of the dataset if it is contiguous.
    pub chunk: Vec<u64>,
    /// The reason why it is tried.
    pub origin: Origin,
}

/// The reason why a shape is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The dataset is stored in this shape.
    Present,
    /// The dataset is contiguous.
    Contiguous,
    /// The shape has the same edge along every axis.
    Cube,
    /// The model predicts good times for the accesses.
    Search,
}

/// The data for judging candidates.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Judge<'a> {
    pub(crate) array: &'a ArrayFacts,
    pub(crate) accesses: &'a [Access],
    pub(crate) machine: &'a Machine,
    pub(crate) engine: Engine,
    /// How small filters make chunks, if there are filters.
    pub(crate) ratio: Option<Ratio>,
}

impl Candidate {
    /// Returns the storage of this candidate. Contiguous data have no filters.
    fn stored(&self, ratio: Option<Ratio>, element_size: u64) -> Stored<'_> {
        let ratio = ratio.filter(|_| self.origin != Origin::Contiguous);
        Stored { chunk: &self.chunk, ratio: ratio.map(|ratio| ratio.at(real(self.bytes(element_size)))) }
    }

    /// Returns the bytes of a chunk.
    pub fn bytes(&self, element_size: u64) -> u64 {
        self.chunk.iter().fold(element_size, |all, &side| all.saturating_mul(side))
    }
}

impl Judge<'_> {
    /// Returns the predicted times of each access.
    pub(crate) fn times(&self, candidate: &Candidate) -> Vec<Times> {
        let stored = candidate.stored(self.ratio, self.array.element_size);
        let work = |access| model::work(access, self.array, stored, self.engine);
        self.accesses.iter().map(|access| self.machine.times(&work(access))).collect()
    }

    /// Returns the weighted mean of the predicted times.
    pub(crate) fn mean(&self, candidate: &Candidate) -> Times {
        weighted(self.accesses, &self.times(candidate))
    }
}

/// Returns the mean of the times of accesses, weighted by their weights.
pub(crate) fn weighted(accesses: &[Access], times: &[Times]) -> Times {
    Times::mean(accesses.iter().map(|access| access.weight).zip(times.iter().copied()))
}

/// Returns the candidates: the present storage, cubes with these edges, and the best shapes of a search. The
/// search covers the shape that [`auto_chunks`] chooses, and all shapes whose sides are powers of two or
/// whole axes.
pub(crate) fn candidates(judge: &Judge<'_>, present: Option<&Candidate>, edges: &[u64]) -> Vec<Candidate> {
    let shape = &judge.array.shape;
    let mut found: Vec<Candidate> = present.cloned().into_iter().collect();
    let mut add = |chunk: Vec<u64>, origin| {
        if found.iter().all(|known| known.chunk != chunk || known.origin == Origin::Contiguous) {
            found.push(Candidate { chunk, origin });
        }
    };
    for &edge in edges {
        add(shape.iter().map(|&len| edge.min(len)).collect(), Origin::Cube);
    }
    let mut boxes: Vec<(Times, Vec<u64>)> = Vec::new();
    let mut judged = |chunk: &[u64]| {
        let candidate = Candidate { chunk: chunk.to_vec(), origin: Origin::Search };
        boxes.push((judge.mean(&candidate), candidate.chunk));
    };
    judged(&auto_chunks(shape, None, judge.array.element_size));
    each_box(shape, judge.array.element_size, &mut judged);
    boxes.sort_by(|(_, a), (_, b)| a.cmp(b));
    boxes.dedup_by(|(_, a), (_, b)| a == b);
    for (most, key) in
        [(BEST_COLD, (|times| times.cold) as fn(&Times) -> f64), (BEST_WARM, |times| times.warm)]
    {
        boxes.sort_by(|(a, _), (b, _)| key(a).total_cmp(&key(b)));
        boxes.iter().take(most).for_each(|(_, chunk)| add(chunk.clone(), Origin::Search));
    }
    found
}

/// Calls `f` with all chunk shapes whose sides are powers of two or whole axes, and whose size is usual for
/// chunks.
fn each_box(shape: &[u64], element_size: u64, f: &mut dyn FnMut(&[u64])) {
    let size = element_size.max(1);
    let doublings = (MOST_BYTES / size).max(1).ilog2();
    // Many axes have too many combinations of powers of two. Powers of four or more are used then.
    let is_too_many = |step: &u32| shapes(doublings / step, shape.len()) > MOST_SHAPES;
    let step = (1..=doublings.max(1)).find(|step| !is_too_many(step)).unwrap_or(doublings.max(1));
    let all: u64 = shape.iter().fold(size, |all, &len| all.saturating_mul(len));
    let least = LEAST_BYTES.min(all);
    let mut chunk = vec![1; shape.len()];
    let mut found = |chunk: &[u64]| {
        let bytes = chunk.iter().fold(size, |bytes, &side| bytes.saturating_mul(side));
        if (least..=MOST_BYTES.max(size)).contains(&bytes) {
            f(chunk);
        }
    };
    grow(shape, 0, doublings / step, step, &mut chunk, &mut found);
}

/// Tries every side of the axes from `axis` on. All these sides together have at most `left` steps.
fn grow(shape: &[u64], axis: usize, left: u32, step: u32, chunk: &mut [u64], f: &mut dyn FnMut(&[u64])) {
    let Some(&len) = shape.get(axis) else { return f(chunk) };
    for steps in 0..=left {
        let side = 1_u64.checked_shl(steps * step).unwrap_or(u64::MAX);
        chunk[axis] = side.min(len);
        grow(shape, axis + 1, left - steps, step, chunk, f);
        if side >= len {
            break;
        }
    }
    chunk[axis] = 1;
}

/// Returns the number of ways to share at most `steps` steps among the axes.
fn shapes(steps: u32, rank: usize) -> u64 {
    (1..=rank as u64).fold(1_u64, |all, axis| all.saturating_mul(u64::from(steps) + axis) / axis)
}

/// The number of shapes that are tried because they are the best with an empty page cache.
const BEST_COLD: usize = 2;
/// The number of shapes that are tried because they are the best with everything in the page cache.
const BEST_WARM: usize = 1;
/// The bytes of the largest chunk in the search. Larger chunks gain nothing, and take that memory on every
/// thread.
const MOST_BYTES: u64 = 4 << 20;
/// The bytes of the smallest chunk in the search. Smaller chunks make a large index, whose cost the model
/// does not count.
const LEAST_BYTES: u64 = 16 << 10;
/// The most shapes in the search.
const MOST_SHAPES: u64 = 20_000;

#[cfg(test)]
mod tests {
    use hyperslab::driver::Hints;

    use super::*;
    use crate::access::plane;
    use crate::model::Medium;

    const ENGINE: Engine = Engine {
        hints: Hints { coalesce_gap: 8 << 10, max_span: 4 << 20, queue_depth: 256, concurrent: true },
        threads: 4,
    };

    fn machine() -> Machine {
        Machine {
            cold: Medium { latency: 1e-4, bandwidth: 5e8, parallelism: 8.0 },
            warm: Medium { latency: 1e-6, bandwidth: 5e9, parallelism: 2.0 },
            chunk: 1e-6,
            decode: 1e9,
        }
    }

    fn best(shape: &[u64], weights: &[f64], ratio: Option<f64>) -> Vec<u64> {
        let ratio = ratio.map(|ratio| Ratio { small: (1.0, ratio), large: (1.0, ratio) });
        let array = ArrayFacts { shape: shape.to_vec(), element_size: 4 };
        let planes = weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0);
        let accesses: Vec<Access> = planes.map(|(axis, &weight)| plane("", axis, weight, shape)).collect();
        let machine = machine();
        let judge = Judge { array: &array, accesses: &accesses, machine: &machine, engine: ENGINE, ratio };
        let all = candidates(&judge, None, &[16, 32, 64, 128]);
        all.into_iter().min_by(|a, b| judge.mean(a).cold.total_cmp(&judge.mean(b).cold)).unwrap().chunk
    }

    #[test]
    fn the_best_shape_follows_the_weights() {
        for ratio in [None, Some(0.5)] {
            for axis in 0..3 {
                let mut weights = [0.0; 3];
                weights[axis] = 1.0;
                let chunk = best(&[512, 512, 512], &weights, ratio);
                let others = (0..3).filter(|other| *other != axis).map(|other| chunk[other]).min().unwrap();
                assert!(chunk[axis] <= 2 && others >= 64, "across axis {axis} with {ratio:?}: {chunk:?}");
            }
        }
        let chunk = best(&[512, 512, 512], &[1.0, 1.0, 1.0], Some(0.5));
        let (least, most) = (chunk.iter().min().unwrap(), chunk.iter().max().unwrap());
        assert!(most / least <= 2 && (16..=128).contains(least), "equal weights: {chunk:?}");
        let chunk = best(&[512, 512, 512], &[8.0, 1.0, 1.0], Some(0.5));
        assert!(chunk[0] < chunk[1] && chunk[0] < chunk[2], "most across the first axis: {chunk:?}");
    }

    #[test]
    fn the_present_shape_comes_first_and_all_shapes_are_distinct() {
        let array = ArrayFacts { shape: vec![100, 30, 200], element_size: 4 };
        let accesses = [plane("", 0, 1.0, &array.shape)];
        let machine = machine();
        let judge =
            Judge { array: &array, accesses: &accesses, machine: &machine, engine: ENGINE, ratio: None };
        let present = Candidate { chunk: vec![16, 16, 16], origin: Origin::Present };
        let all = candidates(&judge, Some(&present), &[16, 64, 128, 300]);
        assert_eq!(all[0], present);
        let chunks: Vec<&[u64]> = all.iter().map(|candidate| &candidate.chunk[..]).collect();
        assert_eq!(&chunks[1..4], [[64, 30, 64], [100, 30, 128], [100, 30, 200]]);
        let distinct: std::collections::HashSet<_> = chunks.iter().collect();
        assert_eq!(distinct.len(), chunks.len());
    }

    #[test]
    fn boxes_have_a_usual_chunk_size_for_every_rank() {
        for shape in [vec![7], vec![1 << 40], vec![512; 3], vec![3, 1000, 70], vec![9; 8], vec![4; 32]] {
            let mut count = 0;
            each_box(&shape, 8, &mut |chunk| {
                count += 1;
                let bytes: u64 = chunk.iter().product::<u64>() * 8;
                assert!((LEAST_BYTES.min(56)..=MOST_BYTES).contains(&bytes), "{chunk:?}");
                let is_allowed = |(side, len): (&u64, &u64)| side.is_power_of_two() || side == len;
                assert!(chunk.iter().zip(&shape).all(is_allowed), "{chunk:?} of {shape:?}");
            });
            // With very many axes, a single axis cannot make a chunk.
            assert!((u64::from(shape.len() < 10)..=MOST_SHAPES).contains(&count), "{count} of {shape:?}");
        }
        assert_eq!(best(&[2; 32], &[1.0; 32], None).len(), 32);
    }
}
