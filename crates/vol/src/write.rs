//! Writes of datasets: chunks that are written whole, and have filters.

use std::ffi::c_void;

use hyperslab::Error;

use crate::calls::{Arguments, Call, Get, conversion, each, get};
use crate::dataset::WIDTHS;
use crate::ffi::library::Library;
use crate::ffi::types::{Handle, Herr, Hid, Request};
use crate::memory::Strided;
use crate::object::Object;
use crate::report;
use crate::rules::{Least, Reason, Ruled};
use crate::space::Space;
use crate::target::{Target, write_chunk};
use crate::transfer::Way;

/// The most bytes of elements that are encoded before their chunks are stored, unless chunks side by side have more.
const BATCH: u64 = 64 << 20;

/// The callback. The native connector writes what the engine leaves.
pub(crate) unsafe extern "C" fn dataset_write(
    count: usize,
    datasets: *const Handle,
    memory_types: *const Hid,
    memory_spaces: *const Hid,
    file_spaces: *const Hid,
    transfer: Hid,
    memory: *const *const c_void,
    request: Request,
) -> Herr {
    let memory = memory.cast();
    let arguments = Arguments { count, datasets, memory_types, memory_spaces, file_spaces, transfer, memory };
    // SAFETY: libhdf5 passes these arguments.
    unsafe {
        each(arguments, request, |library| library.functions.dataset_write, |call, object| {
            let done = write(call, object);
            report::write(done);
            done
        })
    }
}

fn write(call: &Call, object: &Object) -> Ruled<()> {
    let library = object.library;
    call.check(library)?;
    let target = object.dataset.target(object)?;
    let extent = extent(object)?;
    let (file, memory) = call.spaces(library, &extent)?;
    let stored_size = target.form.datatype.size(WIDTHS);
    let bytes = file.elements().and_then(|elements| elements.checked_mul(stored_size));
    if bytes.is_none_or(|bytes| bytes < Least::work().filtered) {
        return Err(Reason::Small);
    }
    let first = whole_chunks(&file, &target.form.chunk)?;
    let wanted = conversion(object, &target.form.datatype, call.memory_type, Way::Write)?;
    let size = wanted.as_ref().map_or(stored_size, |wanted| wanted.size(WIDTHS));
    let size = usize::try_from(size).map_err(|_| Reason::Memory)?;
    let shape = file.shape();
    let place = Strided::of(&memory, &shape, size)?;
    if place.strides.is_some() {
        return Err(Reason::Memory);
    }
    // SAFETY: the program gives the memory of its selection to this call.
    let elements = unsafe {
        std::slice::from_raw_parts(call.memory.cast::<u8>().cast_const().add(place.offset), place.span)
    };
    let chunk_rows = rows(&shape, &target, stored_size);
    let row_bytes = elements.len() / usize::try_from(shape[0]).map_err(|_| Reason::Memory)?;
    let step = usize::try_from(chunk_rows).map_err(|_| Reason::Memory)?.saturating_mul(row_bytes);
    let mut begin = first;
    let mut part = shape;
    for elements in elements.chunks(step.max(1)) {
        part[0] = (elements.len() / row_bytes) as u64;
        let encoded = target.form.encode(&part, elements, wanted.as_ref(), &mut |stored| {
            let at: Vec<u64> = begin.iter().zip(&stored.first).map(|(begin, first)| begin + first).collect();
            if write_chunk(library, object.under, &at, stored.mask, &stored.bytes) {
                return Ok(());
            }
            Err(Error::unsupported("a chunk that the native connector does not store", "IV.A.2.i"))
        });
        encoded.map_err(|error| report::refused(&error))?;
        begin[0] += part[0];
    }
    Ok(())
}

/// Returns the number of rows to encode at a time: whole chunks, of [`BATCH`] bytes.
fn rows(shape: &[u64], target: &Target, element_size: u64) -> u64 {
    let row: u64 = shape.iter().skip(1).product::<u64>().saturating_mul(element_size).max(1);
    let chunk = target.form.chunk[0];
    (BATCH / row / chunk).max(1) * chunk
}

/// Returns the number of elements of a dataset along each dimension, which may change while it is open.
fn extent(object: &Object) -> Ruled<Vec<u64>> {
    let space = get(object, Get::Space).ok_or(Reason::Selection)?;
    let found = Space::of(object.library, space);
    close_space(object.library, space);
    found.map(|space| space.extent)
}

fn close_space(library: &Library, space: Hid) {
    // SAFETY: the dataspace was made for us.
    unsafe { (library.functions.space_close)(space) };
}

/// Returns the position of the first element of a box that consists of whole chunks, of which those at the end of the
/// dataset may extend beyond it.
fn whole_chunks(file: &Space, chunk: &[u64]) -> Ruled<Vec<u64>> {
    if file.extent.len() != chunk.len() || chunk.is_empty() {
        return Err(Reason::Layout);
    }
    let Some(axes) = &file.axes else { return Ok(vec![0; chunk.len()]) };
    axes.iter()
        .zip(chunk)
        .zip(&file.extent)
        .map(|((axis, chunk), len)| {
            let count = if axis.count == 1 {
                axis.block
            } else if axis.stride == axis.block {
                axis.count.saturating_mul(axis.block)
            } else {
                return Err(Reason::PartOfChunk);
            };
            let end = axis.start.saturating_add(count);
            let is_whole = axis.start % chunk == 0 && (end % chunk == 0 || end == *len);
            is_whole.then_some(axis.start).ok_or(Reason::PartOfChunk)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use hyperslab::HyperslabAxis;

    use super::*;

    fn axis(start: u64, stride: u64, count: u64, block: u64) -> HyperslabAxis {
        HyperslabAxis { start, stride, count, block }
    }

    #[test]
    fn whole_chunks_begin_and_end_at_chunks_or_at_the_end_of_the_dataset() {
        let space = |axes| Space { extent: vec![25], axes: Some(vec![axes]) };
        assert_eq!(whole_chunks(&space(axis(10, 1, 10, 1)), &[10]), Ok(vec![10]));
        assert_eq!(whole_chunks(&space(axis(20, 1, 1, 5)), &[10]), Ok(vec![20]));
        for part in [axis(10, 1, 9, 1), axis(11, 1, 9, 1), axis(0, 2, 10, 1), axis(20, 1, 4, 1)] {
            assert_eq!(whole_chunks(&space(part), &[10]), Err(Reason::PartOfChunk));
        }
        assert_eq!(whole_chunks(&Space::whole(&[25]), &[10]), Ok(vec![0]));
    }
}
