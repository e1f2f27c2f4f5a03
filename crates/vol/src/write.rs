//! Writes of datasets whose chunks have filters.

use std::ffi::c_void;

use hyperslab::datatype::Datatype;
use hyperslab::{ChunkCodec, WriteOptions};

use crate::boxes::Box;
use crate::callbacks::calls::{Arguments, Call, conversion, each};
use crate::callbacks::object::Object;
use crate::codec::write_chunk;
use crate::ffi::datatypes::WIDTHS;
use crate::ffi::types::{Handle, Herr, Hid, Request};
use crate::memory::Strided;
use crate::pending::{Pending, PendingPart};
use crate::report;
use crate::rules::{Least, Reason, Ruled};
use crate::space::Space;
use crate::transfer::Way;

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
        each(
            arguments,
            request,
            |library| library.functions.dataset_write,
            |call, object| {
                let done = write(call, object);
                report::write(done);
                done
            },
        )
    }
}

fn write(call: &Call, object: &Object) -> Ruled<()> {
    let library = object.library;
    call.check(library)?;
    let codec = object.dataset.codec(object)?;
    let extent = extent(object)?;
    let (file, memory) = call.spaces(library, &extent)?;
    let stored_size = codec.element_size() as u64;
    let bytes = file.elements().and_then(|elements| elements.checked_mul(stored_size));
    if bytes.is_none_or(|bytes| bytes < Least::work().filtered) {
        return Err(Reason::Small);
    }
    let place = neighbours(&file)?;
    let wanted = conversion(object, codec.datatype(), call.memory_type, Way::Write)?;
    let size = wanted.as_ref().map_or(stored_size, |wanted| wanted.size(WIDTHS));
    let size = usize::try_from(size).map_err(|_| Reason::Memory)?;
    let strided = Strided::of(&memory, &place.count, size)?;
    if strided.strides.is_some() {
        return Err(Reason::Memory);
    }
    // SAFETY: the program gives the memory of its selection to this call.
    let elements = unsafe {
        std::slice::from_raw_parts(call.memory.cast::<u8>().cast_const().add(strided.offset), strided.span)
    };
    if is_whole(&place, codec.shape(), &extent) {
        object.settle().map_err(|_| Reason::Unstored)?;
        return write_whole(object, &codec, &place, elements, wanted);
    }
    if wanted.is_some() {
        return Err(Reason::PartOfChunk);
    }
    let part = PendingPart {
        key: object.dataset.key(object)?,
        native: object.native_dataset(),
        codec: &codec,
        extent: &extent,
        elements,
        place: &place,
    };
    Pending::of(library).write(&part)
}

/// Encodes whole chunks and stores them.
fn write_whole(
    object: &Object,
    codec: &ChunkCodec,
    place: &Box,
    elements: &[u8],
    memory: Option<Datatype>,
) -> Ruled<()> {
    let options = WriteOptions::default().datatype(memory);
    let encoded = codec.encode_box(&place.count, elements, &options, &mut |coord, chunk| {
        let axes = place.start.iter().zip(coord).zip(codec.shape());
        let first: Vec<u64> = axes.map(|((start, at), len)| start + at * len).collect();
        write_chunk(object.native_dataset(), codec, &first, &chunk)
    });
    encoded.map_err(|error| report::refused(&error))
}

/// Returns the number of elements of a dataset along each dimension, which may change while it is open.
fn extent(object: &Object) -> Ruled<Vec<u64>> {
    let space = object.native_dataset().space().ok_or(Reason::Selection)?;
    Ok(Space::of(object.library, space.id())?.extent)
}

/// Returns the selected elements, if they are a box of neighbours.
fn neighbours(file: &Space) -> Ruled<Box> {
    let Some(axes) = &file.axes else {
        return Ok(Box { start: vec![0; file.extent.len()], count: file.extent.clone() });
    };
    let (mut start, mut count) = (Vec::new(), Vec::new());
    for axis in axes {
        if axis.count != 1 && axis.stride != axis.block {
            return Err(Reason::Selection);
        }
        start.push(axis.start);
        count.push(axis.count.checked_mul(axis.block).ok_or(Reason::Selection)?);
    }
    Ok(Box { start, count })
}

/// Returns whether a box consists of whole chunks, of which those at the end of the dataset may extend
/// beyond it.
fn is_whole(place: &Box, chunk: &[u64], extent: &[u64]) -> bool {
    let axes = place.start.iter().zip(&place.count).zip(chunk).zip(extent);
    chunk.len() == extent.len()
        && axes.into_iter().all(|(((start, count), chunk), len)| {
            let end = start + count;
            start % chunk == 0 && (end % chunk == 0 || end == *len)
        })
}

#[cfg(test)]
mod tests {
    use hyperslab::HyperslabAxis;

    use super::*;

    fn chosen(start: u64, stride: u64, count: u64, block: u64) -> Space {
        Space { extent: vec![25], axes: Some(vec![HyperslabAxis { start, stride, count, block }]) }
    }

    #[test]
    fn whole_chunks_begin_and_end_at_chunks_or_at_the_end_of_the_dataset() {
        let is = |space: &Space| is_whole(&neighbours(space).unwrap(), &[10], &[25]);
        assert!(is(&chosen(10, 1, 10, 1)));
        assert!(is(&chosen(20, 1, 1, 5)));
        assert!(is(&Space::whole(&[25])));
        for (start, count) in [(10, 9), (11, 9), (20, 4)] {
            assert!(!is(&chosen(start, 1, count, 1)));
        }
    }

    #[test]
    fn elements_with_gaps_between_them_are_no_box() {
        assert_eq!(neighbours(&chosen(0, 2, 10, 1)), Err(Reason::Selection));
        assert_eq!(neighbours(&chosen(3, 4, 2, 4)), Ok(Box { start: vec![3], count: vec![8] }));
    }
}
