//! The cost of a read, by arithmetic: touched chunks, requests, bytes and time. Pure code without I/O.

use hyperslab::driver::Hints;
use hyperslab::internals::engine::{CLAIM_BYTES, JOINED_BYTES, Route, is_small};

use crate::access::{Access, Along};

/// The properties of a dataset that its reads depend on.
#[derive(Debug, Clone)]
pub struct ArrayFacts {
    /// The elements along each axis.
    pub shape: Vec<u64>,
    /// The bytes of an element.
    pub element_size: u64,
}

/// The storage of an array's elements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stored<'a> {
    /// The shape of a chunk, or of the whole array if it is contiguous.
    pub(crate) chunk: &'a [u64],
    /// The stored bytes per byte of elements for filtered chunks; `None` without filters.
    pub(crate) ratio: Option<f64>,
}

/// The properties of the engine that the model uses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Engine {
    /// The preferences of the medium.
    pub(crate) hints: Hints,
    /// The number of threads that read.
    pub(crate) threads: usize,
}

/// How small filters make chunks. Each pair is the bytes of a chunk, small or large, and its stored bytes per
/// byte.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// A small chunk.
    pub small: (f64, f64),
    /// A large chunk.
    pub large: (f64, f64),
}

impl Ratio {
    /// Returns the stored bytes per byte of a chunk of `bytes` bytes, interpolated linearly over the
    /// logarithm of the size.
    pub(crate) fn at(&self, bytes: f64) -> f64 {
        let ((low, first), (high, last)) = (self.small, self.large);
        let share = (bytes / low).ln() / (high / low).ln();
        if share.is_finite() { first + share.clamp(0.0, 1.0) * (last - first) } else { last }
    }
}

/// The work of a read, averaged over all possible positions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Work {
    /// The chunks that hold an element of the read.
    pub(crate) chunks: f64,
    /// The calls that request bytes of the file.
    pub(crate) requests: f64,
    /// The requested bytes.
    pub(crate) bytes: f64,
    /// The distinct regions of the medium with requested bytes. Requests that are close together count as
    /// one.
    pub(crate) seeks: f64,
    /// The bytes of all pages with requested bytes.
    pub(crate) paged: f64,
    /// The bytes that filters decode.
    pub(crate) decoded: f64,
}

/// The time that the machine takes per unit of work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Machine {
    /// With an empty page cache.
    pub cold: Medium,
    /// With everything in the page cache.
    pub warm: Medium,
    /// The seconds per chunk, for its lookup and its task.
    pub chunk: f64,
    /// The bytes that filters decode per second, on all threads.
    pub decode: f64,
}

/// The speed of a medium.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Medium {
    /// The seconds of a small request.
    pub latency: f64,
    /// The bytes per second.
    pub bandwidth: f64,
    /// The number of simultaneous requests that do not slow each other down.
    pub parallelism: f64,
}

/// The seconds of a read, cold and warm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Times {
    /// With an empty page cache.
    pub cold: f64,
    /// With everything in the page cache.
    pub warm: f64,
}

impl Times {
    /// Returns the weighted mean of times.
    pub(crate) fn mean(all: impl Iterator<Item = (f64, Self)>) -> Self {
        let start = (0.0, Self { cold: 0.0, warm: 0.0 });
        let (weights, sum) = all.fold(start, |(weights, sum), (weight, times)| {
            (
                weights + weight,
                Self { cold: sum.cold + weight * times.cold, warm: sum.warm + weight * times.warm },
            )
        });
        Self { cold: sum.cold / weights, warm: sum.warm / weights }
    }
}

impl Along {
    /// Returns the number of chunks of `chunk` indices that a read touches along an axis of `len`, averaged
    /// over all positions.
    pub(crate) fn touched(&self, len: u64, chunk: u64) -> f64 {
        let chunk = chunk.max(1);
        let places = len.saturating_sub(self.reach()) + 1;
        match self {
            // No two indices share a chunk.
            Self::Range { count, step } if *step >= chunk => real(*count),
            // All chunks between the first and the last are touched.
            Self::Range { .. } => {
                let last = self.reach() - 1;
                let chunks_before = |end: u64| sum_of_quotients(end, chunk);
                let lasts = chunks_before(last + places) - chunks_before(last);
                1.0 + (lasts - chunks_before(places)) / real(places)
            }
            Self::List(list) => {
                let tried = places.min(PLACES);
                let total: f64 = (0..tried)
                    .map(|place| {
                        let start = u128::from(place) * u128::from(places) / u128::from(tried);
                        let chunk = |index: &u64| (start + u128::from(*index)) / u128::from(chunk);
                        let mut chunks: Vec<u128> = list.iter().map(chunk).collect();
                        chunks.sort_unstable();
                        chunks.dedup();
                        real(chunks.len() as u64)
                    })
                    .sum();
                total / real(tried)
            }
        }
    }
}

/// Returns the sum of `n / divisor`, rounded down, over all `n` less than `end`.
fn sum_of_quotients(end: u64, divisor: u64) -> f64 {
    let (quotient, rest) = (u128::from(end / divisor), u128::from(end % divisor));
    let whole = u128::from(divisor) * (quotient * quotient.saturating_sub(1) / 2);
    #[expect(clippy::cast_precision_loss, reason = "an average")]
    let sum = (whole + quotient * rest) as f64;
    sum
}

/// Returns the work of a read of `access` from an array with this storage.
pub(crate) fn work(access: &Access, array: &ArrayFacts, stored: Stored<'_>, engine: Engine) -> Work {
    let along = || access.axes.iter().zip(&array.shape).zip(stored.chunk);
    let touched: Vec<f64> = along().map(|((along, &len), &chunk)| along.touched(len, chunk)).collect();
    let chunks: f64 = touched.iter().product();
    let chunk_elements: f64 = stored.chunk.iter().map(|&side| real(side)).product();
    let chunk_bytes = chunk_elements * real(array.element_size);
    // The elements of a whole chunk along each axis. A chunk at the end of the array may be shorter.
    let inside = along().zip(&touched).map(|(((along, &len), &chunk), touched)| {
        let step = if let Along::Range { step, .. } = along { *step } else { 1 };
        Inside { count: (real(along.count()) / touched).min(real(len)), step: real(step), chunk: real(chunk) }
    });
    let inside: Vec<Inside> = inside.collect();
    let spans = Spans::new(&inside, real(array.element_size), engine.hints);
    let stored_bytes = chunk_bytes * stored.ratio.unwrap_or(1.0);
    let group = group(stored_bytes, chunk_bytes, chunks, engine.threads);
    let wanted = || (whole(spans.count), whole(spans.count * spans.len));
    let is_whole = stored.ratio.is_some()
        || Route::unfiltered(whole(chunk_bytes), chunks <= 1.0, wanted) == Route::Whole
        || spans.len * spans.count >= chunk_bytes;
    if !is_whole {
        let bytes = chunks * spans.count * spans.len;
        let (seeks, paged) = if spans.gap < PAGE {
            (chunks, spans.count * (spans.len + spans.gap))
        } else {
            (chunks * spans.count, spans.count * (spans.len + PAGE))
        };
        let paged = chunks * paged.min(chunk_bytes + PAGE);
        return Work { chunks, requests: chunks * spans.count, bytes, seeks, paged, decoded: 0.0 };
    }
    // Neighbouring small chunks are read together. Chunks are neighbours along the last axis, and along the
    // axis before if all chunks along the last axis are taken.
    let mut run = 1.0;
    for (axis, touched) in touched.iter().enumerate().rev() {
        run *= touched;
        if *touched + 0.5 < real(array.shape[axis].div_ceil(stored.chunk[axis].max(1))) {
            break;
        }
    }
    let requests = chunks / run.min(group).max(1.0);
    let bytes = chunks * stored_bytes;
    let decoded = if stored.ratio.is_some() { chunks * chunk_bytes } else { 0.0 };
    Work { chunks, requests, bytes, seeks: requests, paged: bytes + requests * PAGE / 2.0, decoded }
}

/// Returns how many chunks a worker reads together: as many small ones as are available to it, up to a limit.
fn group(stored_bytes: f64, chunk_bytes: f64, chunks: f64, threads: usize) -> f64 {
    if !is_small(whole(stored_bytes)) {
        return 1.0;
    }
    let share = if threads > 1 { (chunks / real(2 * threads as u64)).floor() + 1.0 } else { chunks };
    let claim = if threads > 1 { (real(CLAIM_BYTES as u64) / chunk_bytes).floor() } else { f64::INFINITY };
    (real(JOINED_BYTES) / stored_bytes).floor().min(claim).min(share).max(1.0)
}

/// The part of a chunk that is read, along one axis.
struct Inside {
    count: f64,
    step: f64,
    /// The elements of the chunk along the axis.
    chunk: f64,
}

/// The parts of an unfiltered chunk that are requested one at a time.
struct Spans {
    count: f64,
    /// The bytes of one span.
    len: f64,
    /// The bytes between one span and the next.
    gap: f64,
}

impl Spans {
    /// Computes the spans by the engine's rule: gaps that cost less than a request are read, too.
    fn new(inside: &[Inside], element_size: f64, hints: Hints) -> Self {
        let (mut len, mut pitch, mut gap, mut is_dense) = (element_size, element_size, 0.0, true);
        let mut axes = inside.iter().enumerate().rev();
        let mut outer = 0;
        for (axis, along) in &mut axes {
            if along.count > 1.0 {
                let step = along.step * pitch;
                gap = step - len;
                let longer = (along.count - 1.0) * step + len;
                let is_short = longer <= real(hints.max_span);
                let is_worth_it = gap <= real(hints.coalesce_gap) && is_short;
                if (gap > 0.0 && !is_worth_it) || !(is_short || is_dense && gap <= 0.0) {
                    outer = axis + 1;
                    break;
                }
                is_dense &= gap <= 0.0;
                len = longer;
            }
            pitch *= along.chunk;
        }
        let count = inside[..outer].iter().map(|along| along.count).product();
        Self { count, len, gap: if outer > 0 { gap } else { 0.0 } }
    }
}

impl Machine {
    /// Returns the seconds that the work of a read takes.
    pub(crate) fn times(&self, work: &Work) -> Times {
        let compute = work.chunks * self.chunk + work.decoded / self.decode;
        let io = |medium: &Medium, requests: f64, bytes: f64| {
            let at_a_time = medium.parallelism.min(requests).max(1.0);
            requests * medium.latency / at_a_time + bytes / medium.bandwidth
        };
        Times {
            cold: compute + io(&self.cold, work.seeks, work.paged),
            warm: compute + io(&self.warm, work.requests, work.bytes),
        }
    }
}

/// Converts a count to a number for averages.
#[expect(clippy::cast_precision_loss, reason = "averages and predictions")]
pub(crate) const fn real(count: u64) -> f64 {
    count as f64
}

/// Rounds an average to a count.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "never negative; a huge count may saturate"
)]
fn whole(count: f64) -> u64 {
    count.round() as u64
}

/// The number of positions that are tried for a list of indices.
const PLACES: u64 = 512;
/// The bytes of a page of memory.
const PAGE: f64 = 4096.0;

#[cfg(test)]
#[expect(clippy::float_cmp, clippy::cast_precision_loss, reason = "small numbers, whose sums are exact")]
mod tests {
    use std::num::NonZeroUsize;
    use std::sync::Arc;

    use hyperslab::Element as _;
    use hyperslab::driver::{Driver, Operation, Posix, Trace};
    use hyperslab::internals::filter_spec;
    use hyperslab::storage::{DatasetOptions, NewStorage};
    use hyperslab::{Destination, ReadOptions, WriteOptions};
    use hyperslab::{Dim, Slab};
    use hyperslab::{File, Selection};
    use hyperslab_filters::FilterChoice;
    use hyperslab_format::message::dataspace::Dataspace;
    use proptest::prelude::*;

    use super::*;
    use crate::access::plane;

    const ENGINE: Engine = Engine {
        hints: Hints { coalesce_gap: 8 << 10, max_span: 4 << 20, queue_depth: 256, concurrent: true },
        threads: 1,
    };

    /// Returns the length of an axis, the length of a chunk along it, and the indices that are read.
    fn axis() -> impl Strategy<Value = (u64, u64, Along)> {
        (1_u64..60, 1_u64..20).prop_flat_map(|(len, chunk)| {
            let range = (1..=len, 1_u64..9)
                .prop_map(move |(count, step)| Along::Range { count: count.min((len - 1) / step + 1), step });
            let list = proptest::collection::vec(0..len, 1..5).prop_map(|mut list| {
                let least = *list.iter().min().unwrap_or(&0);
                for index in &mut list {
                    *index -= least;
                }
                Along::List(list)
            });
            (Just(len), Just(chunk), prop_oneof![range, list])
        })
    }

    fn indices(along: &Along) -> Vec<u64> {
        match along {
            Along::Range { count, step } => (0..*count).map(|n| n * step).collect(),
            Along::List(list) => list.clone(),
        }
    }

    proptest! {
        /// The oracle tries every position of the read and counts the chunks of every element.
        #[test]
        fn touched_chunks_equal_a_count_over_all_positions(axes in proptest::collection::vec(axis(), 1..4)) {
            let mut expected = 1.0;
            for (len, chunk, along) in &axes {
                let all = indices(along);
                let places = len - all.iter().max().unwrap_or(&0);
                let touched: usize = (0..places)
                    .map(|start| {
                        let chunks = all.iter().map(|index| (start + index) / chunk);
                        chunks.collect::<std::collections::BTreeSet<_>>().len()
                    })
                    .sum();
                expected *= touched as f64 / places as f64;
            }
            let access = Access { name: String::new(), weight: 1.0, axes: axes.iter().map(|axis| axis.2.clone()).collect() };
            let array = ArrayFacts { shape: axes.iter().map(|axis| axis.0).collect(), element_size: 4 };
            let chunk: Vec<u64> = axes.iter().map(|axis| axis.1).collect();
            let found = work(&access, &array, Stored { chunk: &chunk, ratio: None }, ENGINE);
            prop_assert!((found.chunks - expected).abs() < 1e-9 * expected, "{} for {expected}", found.chunks);
        }

        /// All selected bytes are read, and no more bytes than an unfiltered chunk has.
        #[test]
        fn bytes_are_at_least_those_selected_and_at_most_those_of_the_chunks(
            axes in proptest::collection::vec(axis(), 1..4),
            filtered in any::<bool>(),
        ) {
            let access = Access { name: String::new(), weight: 1.0, axes: axes.iter().map(|axis| axis.2.clone()).collect() };
            let array = ArrayFacts { shape: axes.iter().map(|axis| axis.0).collect(), element_size: 4 };
            let chunk: Vec<u64> = axes.iter().map(|axis| axis.1).collect();
            let stored = Stored { chunk: &chunk, ratio: filtered.then_some(0.5) };
            let found = work(&access, &array, stored, ENGINE);
            let chunk_bytes = 4.0 * found.chunks * real(chunk.iter().product());
            prop_assert!(found.requests >= 0.99 && found.seeks <= found.requests * 1.001 + 1e-9, "{found:?}");
            if filtered {
                prop_assert!((found.bytes - chunk_bytes * 0.5).abs() < 1e-6 * chunk_bytes && found.decoded == chunk_bytes);
            } else {
                // A list may name an element more than once. It is read whole.
                let distinct = |along: &Along| indices(along).into_iter().collect::<std::collections::BTreeSet<_>>().len();
                let wanted: usize = access.axes.iter().map(distinct).product();
                let is_exact = access.axes.iter().all(|along| matches!(along, Along::Range { .. }));
                prop_assert!(!is_exact || found.bytes >= 4.0 * wanted as f64 * 0.999, "{found:?} for {wanted}");
                prop_assert!(!is_exact || found.bytes <= chunk_bytes * 1.001, "{found:?} of {chunk_bytes}");
            }
        }
    }

    fn cube() -> ArrayFacts {
        ArrayFacts { shape: vec![256, 256, 256], element_size: 4 }
    }

    fn of_plane(axis: usize, chunk: [u64; 3], ratio: Option<f64>) -> Work {
        let array = cube();
        work(&plane("", axis, 1.0, &array.shape), &array, Stored { chunk: &chunk, ratio }, ENGINE)
    }

    #[test]
    fn an_unfiltered_plane_has_the_same_spans_as_in_the_engine() {
        // The plane touches 16 chunks, in each of which its 64 x 64 elements are one run.
        let first = of_plane(0, [64, 64, 64], None);
        assert_eq!((first.chunks, first.requests, first.bytes), (16.0, 16.0, 16.0 * 16384.0));
        // Rows of 256 bytes, 16 KiB apart, which is too far for reading the gaps.
        let second = of_plane(1, [64, 64, 64], None);
        assert_eq!((second.requests, second.bytes, second.seeks), (16.0 * 64.0, 16.0 * 16384.0, 16.0 * 64.0));
        // Elements 256 bytes apart are read together with the gaps.
        let third = of_plane(2, [64, 64, 64], None);
        assert_eq!((third.chunks, third.requests), (16.0, 16.0));
        assert!(third.bytes > 16.0 * 0.99 * 1_048_576.0, "{third:?}");
        // Neighbouring small chunks are read together.
        let small = of_plane(0, [1, 16, 16], None);
        assert_eq!((small.chunks, small.requests), (256.0, 1.0));
    }

    #[test]
    fn filtered_chunks_are_read_and_decoded_whole() {
        let found = of_plane(1, [64, 64, 64], Some(0.25));
        assert_eq!((found.chunks, found.requests), (16.0, 16.0));
        assert_eq!((found.bytes, found.decoded), (4_194_304.0, 16.0 * 1_048_576.0));
    }

    /// Reads one plane across an axis of a cube in chunks of this shape, filtered or not. Returns the number
    /// of reads that the engine requests from the file, and their bytes.
    fn asked(chunk: [u64; 3], axis: usize, is_filtered: bool) -> (u64, u64) {
        let path = std::env::temp_dir()
            .join(format!("hyperslab-model-{}-{chunk:?}-{axis}-{is_filtered}", std::process::id()));
        let written = File::create(&path).unwrap();
        let dataspace = Dataspace::Simple { shape: vec![64; 3], max_shape: None };
        let mut options = DatasetOptions::new(dataspace, f32::datatype());
        options.storage = NewStorage::Chunked(chunk.to_vec());
        if is_filtered {
            let widths = written.store().widths();
            let facts = (&f32::datatype(), &options.fill);
            options.filters = vec![filter_spec(&FilterChoice::Fletcher32, facts, &chunk, widths).unwrap()];
        }
        let dataset = written.root().create_dataset("d", &options).unwrap();
        // One thread writes, so that chunks are in order in the file.
        let alone = WriteOptions::default().threads(NonZeroUsize::new(1));
        dataset.write_with(.., &vec![1; 4 * 64 * 64 * 64], &alone).unwrap();
        written.close().unwrap();
        let driver = Arc::new(Trace::new(Posix::new(std::fs::File::open(&path).unwrap())));
        std::fs::remove_file(&path).unwrap();
        let file =
            File::options().chunk_cache_bytes(0).open_on(Arc::clone(&driver) as Arc<dyn Driver>).unwrap();
        let dataset = file.dataset("d").unwrap();
        let read = |place| {
            let mut dims = [Dim::range(0, 64); 3];
            dims[axis] = Dim::one(place);
            let mut plane = vec![0; 4 * 64 * 64];
            driver.take();
            let what = Selection::Slab(Slab(dims.into_iter().collect()));
            let options = ReadOptions::default().threads(NonZeroUsize::new(1));
            dataset.read_with(&what, &mut Destination::contiguous(&mut plane), &options).unwrap();
            let reads = driver.take().into_iter().filter_map(|operation| match operation {
                Operation::Read { len, .. } => Some(len),
                _ => None,
            });
            let reads: Vec<u64> = reads.collect();
            (reads.len() as u64, reads.iter().sum())
        };
        // The first read also loads the chunk index.
        read(5);
        read(37)
    }

    #[test]
    fn requests_and_bytes_equal_those_of_the_engine() {
        let array = ArrayFacts { shape: vec![64; 3], element_size: 4 };
        for chunk in
            [[64, 64, 64], [32, 32, 32], [16, 16, 16], [1, 64, 64], [8, 32, 16], [32, 4, 64], [64, 8, 8]]
        {
            for axis in 0..3 {
                for is_filtered in [false, true] {
                    let bytes = real(chunk.iter().product::<u64>() * 4);
                    let ratio = is_filtered.then_some((bytes + 4.0) / bytes);
                    let stored_bytes = bytes * ratio.unwrap_or(1.0);
                    let access = plane("", axis, 1.0, &array.shape);
                    let found = work(&access, &array, Stored { chunk: &chunk, ratio }, ENGINE);
                    let (requests, bytes) = asked(chunk, axis, is_filtered);
                    let case =
                        format!("{chunk:?} across {axis}, {is_filtered}: {requests} of {bytes}, {found:?}");
                    if is_small(whole(stored_bytes)) {
                        // The boundaries of groups of small chunks may differ by a chunk.
                        assert!((found.bytes / real(bytes) - 1.0).abs() < 0.1, "{case}");
                        assert!((0.5..=2.0).contains(&(found.requests / real(requests))), "{case}");
                    } else {
                        assert_eq!((found.requests, found.bytes), (real(requests), real(bytes)), "{case}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_ratio_is_interpolated_between_the_two_measured_sizes() {
        let ratio = Ratio { small: (1e4, 0.8), large: (1e6, 0.4) };
        let all = [1e3, 1e4, 1e5, 1e6, 1e9].map(|bytes| ratio.at(bytes));
        assert!(
            all.iter()
                .zip([0.8, 0.8, 0.6, 0.4, 0.4])
                .all(|(found, expected)| (found - expected).abs() < 1e-12),
            "{all:?}"
        );
        assert_eq!(Ratio { small: (1e4, 0.7), large: (1e4, 0.7) }.at(5.0), 0.7);
    }

    #[test]
    fn time_is_the_sum_of_latency_transfer_and_decoding() {
        let medium = Medium { latency: 1e-3, bandwidth: 1e6, parallelism: 4.0 };
        let warm = Medium { latency: 0.0, bandwidth: 1e9, parallelism: 1.0 };
        let machine = Machine { cold: medium, warm, chunk: 1e-5, decode: 1e8 };
        let work = Work { chunks: 10.0, requests: 20.0, bytes: 5e5, seeks: 8.0, paged: 1e6, decoded: 1e7 };
        let times = machine.times(&work);
        assert!((times.cold - (8.0 * 1e-3 / 4.0 + 1.0 + 1e-4 + 0.1)).abs() < 1e-12, "{times:?}");
        assert!((times.warm - (5e-4 + 1e-4 + 0.1)).abs() < 1e-12, "{times:?}");
        let alone = machine.times(&Work { requests: 1.0, seeks: 1.0, ..work });
        assert!(
            (alone.cold - (1e-3 + 1.0 + 1e-4 + 0.1)).abs() < 1e-12,
            "a single request has the full latency"
        );
    }

    #[test]
    fn the_weighted_mean_follows_the_weights() {
        let times = |cold| Times { cold, warm: 2.0 * cold };
        assert_eq!(
            Times::mean([(1.0, times(2.0)), (3.0, times(6.0))].into_iter()),
            Times { cold: 5.0, warm: 10.0 }
        );
    }
}
