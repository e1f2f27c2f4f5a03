//! Calls that read or write several datasets at once, and the parts that reads and writes have in common.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

use hyperslab::datatype::Datatype;

use crate::callbacks::object::Object;
use crate::ffi::library::Library;
use crate::ffi::spaces;
use crate::ffi::types::{FAILED, Handle, Herr, Hid, MoveElements, Request};
use crate::rules::{Least, Reason, Ruled};
use crate::space::{ALL, BLOCK, IN_LIST, Space};
use crate::transfer;

/// One of the datasets of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call {
    dataset: Handle,
    pub(crate) memory_type: Hid,
    memory_space: Hid,
    file_space: Hid,
    transfer: Hid,
    pub(crate) memory: *mut c_void,
}

/// The arguments of a call, as libhdf5 passes them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arguments {
    pub(crate) count: usize,
    pub(crate) datasets: *const Handle,
    pub(crate) memory_types: *const Hid,
    pub(crate) memory_spaces: *const Hid,
    pub(crate) file_spaces: *const Hid,
    pub(crate) transfer: Hid,
    pub(crate) memory: *const *mut c_void,
}

/// Calls `run` for each dataset, and passes on those for which `run` returns an error to the native function.
///
/// # Safety
///
/// The arguments are those of a callback of libhdf5.
pub(crate) unsafe fn each(
    arguments: Arguments,
    request: Request,
    native: fn(&Library) -> MoveElements,
    run: impl Fn(&Call, &Object) -> Ruled<()>,
) -> Herr {
    // SAFETY: libhdf5 passes `count` values of each kind, and handles of ours.
    let mut left: Vec<Call> = unsafe {
        (0..arguments.count)
            .map(|number| Call {
                dataset: *arguments.datasets.add(number),
                memory_type: *arguments.memory_types.add(number),
                memory_space: *arguments.memory_spaces.add(number),
                file_space: *arguments.file_spaces.add(number),
                transfer: arguments.transfer,
                memory: *arguments.memory.add(number),
            })
            .collect()
    };
    let mut is_lost = false;
    left.retain(|call| {
        // SAFETY: as above.
        let object = unsafe { Object::of(call.dataset) };
        let done = catch_unwind(AssertUnwindSafe(|| run(call, object))).unwrap_or(Err(Reason::Engine));
        is_lost |= done == Err(Reason::Unstored);
        done.is_err()
    });
    if is_lost {
        return FAILED;
    }
    let Some(first) = left.first() else { return 0 };
    // SAFETY: as above.
    let library = unsafe { Object::of(first.dataset) }.library;
    // SAFETY: as above.
    let objects: Vec<&Object> = left.iter().map(|call| unsafe { Object::of(call.dataset) }).collect();
    if objects.iter().any(|object| object.settle().is_err()) {
        return FAILED;
    }
    let under: Vec<Handle> = objects.iter().map(|object| object.under).collect();
    let types: Vec<Hid> = left.iter().map(|call| call.memory_type).collect();
    let spaces: Vec<Hid> = left.iter().map(|call| call.memory_space).collect();
    let files: Vec<Hid> = left.iter().map(|call| call.file_space).collect();
    let memory: Vec<*mut c_void> = left.iter().map(|call| call.memory).collect();
    // SAFETY: the same call as libhdf5's, for the native objects.
    unsafe {
        native(library)(
            left.len(),
            under.as_ptr(),
            library.native(),
            types.as_ptr(),
            spaces.as_ptr(),
            files.as_ptr(),
            arguments.transfer,
            memory.as_ptr(),
            request,
        )
    }
}

impl Call {
    /// Checks what costs least: whether the call is worth a look, and asks for nothing that the engine
    /// does not do.
    pub(crate) fn check(&self, library: &Library) -> Ruled<()> {
        if self.file_space == IN_LIST || self.memory_space == IN_LIST || self.memory.is_null() {
            return Err(Reason::Selection);
        }
        if self.file_space != ALL {
            let count = spaces::count(library, self.file_space);
            if count.is_some_and(|count| count < Least::work().elements) {
                return Err(Reason::Small);
            }
        }
        transfer::check(library, self.transfer)
    }

    /// Returns the selections in the file and in memory, for a dataset of this shape.
    pub(crate) fn spaces(&self, library: &Library, shape: &[u64]) -> Ruled<(Space, Space)> {
        let file = match self.file_space {
            ALL => Space::whole(shape),
            space => Space::of(library, space)?,
        };
        // The extent of the program's selection may be another one than that of the dataset.
        if file.extent != shape {
            return Err(Reason::Selection);
        }
        if file.elements() == Some(0) {
            return Err(Reason::Small);
        }
        let memory = match self.memory_space {
            ALL => file.clone(),
            BLOCK => Space::whole(&[file.elements().ok_or(Reason::Selection)?]),
            space => Space::of(library, space)?,
        };
        Ok((file, memory))
    }
}

/// Returns the datatype in memory, if it is another one than `stored`, which `object` has in the file.
pub(crate) fn conversion(
    object: &Object,
    stored: &Datatype,
    memory: Hid,
    way: transfer::Way,
) -> Ruled<Option<Datatype>> {
    let file = object.native_dataset().datatype().ok_or(Reason::Conversion)?;
    transfer::conversion(object.library, stored, memory, file.id(), way)
}
