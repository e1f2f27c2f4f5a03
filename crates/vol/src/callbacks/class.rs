//! The tables of callbacks, and the two functions by which libhdf5 finds them.

use std::ffi::{c_int, c_void};
use std::io::Write as _;

use super::{files, object, pass};
use crate::ffi::library::{Library, SLOTS};
use crate::ffi::types::{
    AttributeClass, BlobClass, ConnectorClass, DatasetClass, DatatypeClass, FileClass, GroupClass, InfoClass,
    IntrospectClass, LinkClass, ObjectClass, TokenClass, WrapClass,
};
use crate::{read, report, write};

/// `H5VL_VERSION`: the version of `H5VL_class_t`.
const CLASS_VERSION: u32 = 3;
/// The number by which libhdf5 tells connectors apart. Numbers from 512 on are free for all.
const VALUE: c_int = 18_515;
/// The number of this connector's own version.
const CONNECTOR_VERSION: u32 = 1;
/// `H5VL_CAP_FLAG_*`: what the native connector can do, which is everything but asynchronous operations,
/// calls of several threads at once, and maps.
const FLAGS: u64 = 0x0000_001f_ffff_9ffc;

/// One table for each library: a table says of itself, and of files that are opened through it, which
/// library calls.
static CLASSES: [ConnectorClass; SLOTS] = [
    class::<0>(),
    class::<1>(),
    class::<2>(),
    class::<3>(),
    class::<4>(),
    class::<5>(),
    class::<6>(),
    class::<7>(),
];

const fn class<const SLOT: usize>() -> ConnectorClass {
    ConnectorClass {
        version: CLASS_VERSION,
        value: VALUE,
        name: c"hyperslab".as_ptr(),
        connector_version: CONNECTOR_VERSION,
        flags: FLAGS,
        initialize: None,
        terminate: Some(pass::terminate::<SLOT>),
        info: InfoClass { size: 0, functions: [None; 5] },
        wrap: WrapClass {
            get_object: object::get_object,
            get_context: object::get_context,
            wrap: object::wrap_object,
            unwrap: object::unwrap_object,
            free_context: object::free_context,
        },
        attribute: AttributeClass {
            create: pass::attribute_create,
            open: pass::attribute_open,
            read: pass::attribute_read,
            write: pass::attribute_write,
            get: pass::attribute_get,
            specific: pass::attribute_specific,
            optional: pass::attribute_optional,
            close: pass::attribute_close,
        },
        dataset: DatasetClass {
            create: pass::dataset_create,
            open: pass::dataset_open,
            read: read::dataset_read,
            write: write::dataset_write,
            get: pass::dataset_get,
            specific: pass::dataset_specific,
            optional: pass::dataset_optional,
            close: pass::dataset_close,
        },
        datatype: DatatypeClass {
            commit: pass::datatype_commit,
            open: pass::datatype_open,
            get: pass::datatype_get,
            specific: pass::datatype_specific,
            optional: pass::datatype_optional,
            close: pass::datatype_close,
        },
        file: FileClass {
            create: files::file_create::<SLOT>,
            open: files::file_open::<SLOT>,
            get: pass::file_get,
            specific: files::file_specific::<SLOT>,
            optional: pass::file_optional,
            close: files::file_close,
        },
        group: GroupClass {
            create: pass::group_create,
            open: pass::group_open,
            get: pass::group_get,
            specific: pass::group_specific,
            optional: pass::group_optional,
            close: pass::group_close,
        },
        link: LinkClass {
            create: pass::link_create,
            copy: pass::link_copy,
            move_: pass::link_move,
            get: pass::link_get,
            specific: pass::link_specific,
            optional: pass::link_optional,
        },
        object: ObjectClass {
            open: pass::object_open,
            copy: pass::object_copy,
            get: pass::object_get,
            specific: pass::object_specific,
            optional: pass::object_optional,
        },
        introspect: IntrospectClass {
            get_class: pass::introspect_class::<SLOT>,
            get_flags: pass::introspect_flags::<SLOT>,
            has_optional: pass::introspect_optional,
        },
        request: [None; 6],
        blob: BlobClass {
            put: pass::blob_put,
            get: pass::blob_get,
            specific: pass::blob_specific,
            optional: pass::blob_optional,
        },
        token: TokenClass {
            compare: pass::token_compare,
            to_text: pass::token_to_text,
            from_text: pass::token_from_text,
        },
        optional: pass::optional,
    }
}

/// Returns the table of the library in this slot.
pub(crate) fn of_slot(slot: usize) -> &'static ConnectorClass {
    &CLASSES[slot]
}

/// Tells libhdf5 that the plug-in is a connector (`H5PL_TYPE_VOL`).
#[unsafe(no_mangle)]
extern "C" fn H5PLget_plugin_type() -> c_int {
    1
}

/// Gives libhdf5 the table of callbacks. The library that calls is known by the return address, which this
/// function passes on as an argument.
#[cfg(target_arch = "x86_64")]
#[unsafe(no_mangle)]
#[unsafe(naked)]
extern "C" fn H5PLget_plugin_info() -> *const c_void {
    std::arch::naked_asm!("mov rdi, [rsp]", "jmp {}", sym class_for)
}

/// Gives libhdf5 the table of callbacks. The library that calls is known by the return address, which this
/// function passes on as an argument.
#[cfg(target_arch = "aarch64")]
#[unsafe(no_mangle)]
#[unsafe(naked)]
extern "C" fn H5PLget_plugin_info() -> *const c_void {
    std::arch::naked_asm!("mov x0, x30", "b {}", sym class_for)
}

extern "C" fn class_for(caller: *const c_void) -> *const c_void {
    let found = std::panic::catch_unwind(|| Library::of_caller(caller));
    match found.unwrap_or_else(|_| Err("an internal error".to_owned())) {
        Ok(library) => {
            hyperslab_io::report::to_stderr();
            report::begin(library);
            std::ptr::from_ref(of_slot(library.slot)).cast()
        }
        Err(why) => {
            let advice = "unset HDF5_VOL_CONNECTOR to go on without";
            // Nothing can be done if the standard error is closed.
            _ = writeln!(std::io::stderr(), "hyperslab: unable to serve this libhdf5: {why}; {advice}");
            std::ptr::null()
        }
    }
}
