//! Encodes many chunks at once, on all threads. Nothing is written to a file.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use hyperslab_error::{Error, Result};
use hyperslab_format::Widths;
use hyperslab_select::{Coord, Selection, first_element};
use parking_lot::Mutex;

use super::WriteOptions;
use super::plan::{PlanTarget, WritePlan};
use crate::engine::codec::{ChunkCodec, EncodedChunk, invalid};
use crate::engine::scratch::WorkerScratch;
use crate::engine::task_queue;

impl ChunkCodec {
    /// Encodes a box of elements of shape `shape`, which begins with the first element of a chunk:
    /// `elements` in row-major order, of the datatype in `options`. Calls `each` with the position of each
    /// chunk, counted in chunks of the box, and its stored form, in row-major order. Elements of chunks
    /// beyond the box hold the fill value.
    ///
    /// Errors: `Request` if the box has another number of dimensions than a chunk, if `elements` have another
    /// size than the box, or if the datatypes cannot be converted; `Encode` if a filter cannot encode a
    /// chunk; any error of `each`, which ends the work.
    pub fn encode_box(
        &self,
        shape: &[u64],
        elements: &[u8],
        options: &WriteOptions,
        each: &mut dyn FnMut(&[u64], EncodedChunk) -> Result<()>,
    ) -> Result<()> {
        if shape.len() != self.shape().len() {
            return Err(invalid("shape", "it must have as many dimensions as a chunk"));
        }
        let target = PlanTarget {
            elements: self.elements(),
            widths: Widths::EIGHT,
            shape: Coord::from_slice(shape),
            piece: Coord::from_slice(self.shape()),
            is_chunked: true,
        };
        let plan = WritePlan::of(target, &Selection::from(..), elements, options)?;
        let encode = |coord: &Coord, scratch: &mut WorkerScratch| {
            let WorkerScratch { chunk, convert, filters, .. } = scratch;
            let elements = plan.whole(self, coord, &plan.cut(coord), chunk, convert)?;
            self.encode_owned(elements, filters).map_err(|cause| Error::Encode {
                cause,
                coord: first_element(coord, self.shape()).into_vec(),
            })
        };
        self.in_order(&plan.touched(), options.threads, &encode, &mut |coord, chunk| each(coord, chunk))
    }

    /// Encodes chunks, each given as its elements in row-major order. Calls `each` with the number of each
    /// chunk and its stored form, in their order.
    ///
    /// Errors: `Request` if a chunk does not have [`chunk_bytes`](Self::chunk_bytes) bytes; `Filter` if a filter
    /// cannot encode a chunk; any error of `each`, which ends the work.
    pub fn encode_all(
        &self,
        chunks: &[&[u8]],
        threads: Option<NonZeroUsize>,
        each: &mut dyn FnMut(usize, EncodedChunk) -> Result<()>,
    ) -> Result<()> {
        let encode = |chunk: &&[u8], scratch: &mut WorkerScratch| {
            self.check(chunk)?;
            self.encode_owned(chunk, &mut scratch.filters).map_err(|cause| Error::Filter { cause })
        };
        let mut number = 0;
        self.in_order(chunks, threads, &encode, &mut |_, chunk| {
            each(number, chunk)?;
            number += 1;
            Ok(())
        })
    }

    /// Encodes a chunk for each task, as many at a time as [`TOGETHER`] allows, and calls `each` in the order
    /// of the tasks.
    fn in_order<T: Sync>(
        &self,
        tasks: &[T],
        threads: Option<NonZeroUsize>,
        encode: &(dyn Fn(&T, &mut WorkerScratch) -> Result<EncodedChunk> + Sync),
        each: &mut dyn FnMut(&T, EncodedChunk) -> Result<()>,
    ) -> Result<()> {
        let bytes = self.chunk_bytes();
        let workers = task_queue::workers(tasks.len(), bytes as u64, threads);
        for tasks in tasks.chunks((TOGETHER / bytes).max(workers)) {
            let encoded = Mutex::new(BTreeMap::new());
            let numbers: Vec<usize> = (0..tasks.len()).collect();
            task_queue::run(&numbers, workers.min(tasks.len()), bytes, &|numbers, scratch| {
                numbers.iter().try_for_each(|&number| {
                    task_queue::worked("encode", bytes)?;
                    let chunk = encode(&tasks[number], scratch)?;
                    encoded.lock().insert(number, chunk);
                    Ok(())
                })
            })?;
            encoded.into_inner().into_iter().try_for_each(|(number, chunk)| each(&tasks[number], chunk))?;
        }
        Ok(())
    }
}

/// As many bytes of decoded chunks are encoded before their stored forms are passed on, which wait in memory.
const TOGETHER: usize = 32 << 20;
