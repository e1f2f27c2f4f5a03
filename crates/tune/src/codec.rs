//! The processor time of chunks, measured in memory with a part of the dataset itself.

use std::sync::Arc;
use std::time::Instant;

use hyperslab::File;
use hyperslab::driver::Memory;
use hyperslab::internals::auto_chunks;

use crate::model::{Ratio, real};
use crate::sample::Sample;
use crate::specimen::{NAME, Recipe};

/// The result of the measurement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Codec {
    /// How small filters make chunks; `None` without filters.
    pub(crate) ratio: Option<Ratio>,
    /// The bytes that the filters decode per second, on all threads.
    pub(crate) decode: f64,
    /// The additional seconds for each chunk.
    pub(crate) chunk: f64,
}

/// Writes a small sample to files in memory, in small chunks and in large ones, and reads it back.
pub(crate) fn measure(recipe: &Recipe<'_>, sample: &Sample) -> hyperslab::Result<Codec> {
    let size = recipe.dataset.element_size() as u64;
    if !recipe.is_filtered() {
        // These chunks are so small that the cost of their elements is negligible.
        let small = read_back(recipe, sample, &cube(sample, SMALL_BYTES / 8 / size.max(1)))?;
        return Ok(Codec { ratio: None, decode: f64::INFINITY, chunk: small.seconds / small.chunks });
    }
    let small = read_back(recipe, sample, &cube(sample, SMALL_BYTES / size.max(1)))?;
    let large = read_back(recipe, sample, &auto_chunks(&sample.shape, None, size))?;
    let bytes = real(sample.bytes.len() as u64);
    // Two equations with two unknowns: the time per chunk, and the time per byte.
    let more = small.chunks - large.chunks;
    let chunk = if more > 0.0 { ((small.seconds - large.seconds) / more).max(0.0) } else { 0.0 };
    let decoding = (large.seconds - chunk * large.chunks).max(large.seconds / 10.0);
    let ratio =
        Ratio { small: (small.bytes, small.stored / bytes), large: (large.bytes, large.stored / bytes) };
    Ok(Codec { ratio: Some(ratio), decode: bytes / decoding, chunk })
}

/// The measurement of one chunk shape.
struct ReadBack {
    /// The seconds to read everything, the best of a few reads.
    seconds: f64,
    chunks: f64,
    /// The bytes of a chunk.
    bytes: f64,
    /// The stored bytes of all chunks.
    stored: f64,
}

fn read_back(recipe: &Recipe<'_>, sample: &Sample, chunk: &[u64]) -> hyperslab::Result<ReadBack> {
    // There is no cache of chunks, so every read decodes them.
    let file = File::options().create(true).chunk_cache_bytes(0).open_on(Arc::new(Memory::default()))?;
    recipe.write(&file, sample, Some(chunk))?;
    file.flush()?;
    let dataset = file.dataset(NAME)?;
    let mut read = vec![1; sample.bytes.len()];
    let mut seconds = f64::INFINITY;
    for _ in 0..READS {
        let begun = Instant::now();
        dataset.read_into(.., &mut read)?;
        seconds = seconds.min(begun.elapsed().as_secs_f64());
    }
    let chunks: u64 = sample.shape.iter().zip(chunk).map(|(len, side)| len.div_ceil(*side)).product();
    let elements: u64 = chunk.iter().product();
    Ok(ReadBack {
        seconds: seconds.max(1e-9),
        chunks: real(chunks.max(1)),
        bytes: real(elements * dataset.element_size() as u64),
        stored: real(dataset.storage_bytes()?.max(1)),
    })
}

/// Returns a cube of about `elements` elements, cut to the sample.
fn cube(sample: &Sample, elements: u64) -> Vec<u64> {
    let rank = f64::from(u32::try_from(sample.shape.len()).unwrap_or(u32::MAX));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an edge")]
    let edge = (real(elements).powf(1.0 / rank).round() as u64).max(2);
    sample.shape.iter().map(|&len| edge.min(len)).collect()
}

/// The bytes of a small chunk.
const SMALL_BYTES: u64 = 16 << 10;
/// The number of reads, of which the fastest counts.
const READS: usize = 3;
