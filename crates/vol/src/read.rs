//! Reads of datasets.

use std::ffi::c_void;

use hyperslab::{Destination, ReadOptions};

use crate::callbacks::calls::{Arguments, Call, conversion, each};
use crate::callbacks::object::Object;
use crate::ffi::datatypes::WIDTHS;
use crate::ffi::types::{Handle, Herr, Hid, Request};
use crate::memory::Strided;
use crate::report;
use crate::rules::{Reason, Ruled};
use crate::transfer::Way;

/// The callback. The native connector reads what the engine leaves.
pub(crate) unsafe extern "C" fn dataset_read(
    count: usize,
    datasets: *const Handle,
    memory_types: *const Hid,
    memory_spaces: *const Hid,
    file_spaces: *const Hid,
    transfer: Hid,
    memory: *const *mut c_void,
    request: Request,
) -> Herr {
    let arguments = Arguments { count, datasets, memory_types, memory_spaces, file_spaces, transfer, memory };
    // SAFETY: libhdf5 passes these arguments.
    unsafe {
        each(
            arguments,
            request,
            |library| library.functions.dataset_read,
            |call, object| {
                let done = read(call, object);
                report::read(done);
                done
            },
        )
    }
}

fn read(call: &Call, object: &Object) -> Ruled<()> {
    let library = object.library;
    call.check(library)?;
    let source = object.dataset.source(object)?;
    let (file, memory) = call.spaces(library, &source.shape)?;
    let stored_size = source.dataset.element_size() as u64;
    let bytes = file.elements().and_then(|elements| elements.checked_mul(stored_size));
    if bytes.is_none_or(|bytes| bytes < source.fewest) {
        return Err(Reason::Small);
    }
    let wanted = conversion(object, &source.datatype, call.memory_type, Way::Read)?;
    let size = wanted.as_ref().map_or(stored_size, |wanted| wanted.size(WIDTHS));
    let size = usize::try_from(size).map_err(|_| Reason::Memory)?;
    let shape = file.shape();
    let place = Strided::of(&memory, &shape, size)?;
    // SAFETY: the program gives the memory of its selection to this call, and nothing else: other threads may
    // use what is in its gaps, so that there is a slice only without gaps.
    let mut destination = unsafe {
        let into = call.memory.cast::<u8>().add(place.offset);
        match &place.strides {
            None => Destination::contiguous(std::slice::from_raw_parts_mut(into, place.span)),
            Some(strides) => {
                let made = Destination::from_raw(into, place.span, &shape, strides, size);
                made.map_err(|_| Reason::Memory)?
            }
        }
    };
    let options = ReadOptions::default().datatype(wanted);
    let done = source.dataset.read_with(file.selection()?, &mut destination, &options);
    done.map_err(|error| report::refused(&error))
}
