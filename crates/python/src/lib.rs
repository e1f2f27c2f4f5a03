//! The native part of the Python package: classes like those of h5py on top of the engine.
//!
//! Each room has one subject, and its `mod.rs` says which; each file covers one concept. The GIL is released
//! around every operation that may read the file.

// The doc comments of Python classes and methods become docstrings, which do not use Rust's markup.
#![allow(clippy::doc_markdown, clippy::doc_link_with_quotes)]

mod filters;
mod handles;
mod interpreter;
mod low;
mod opening;
mod selection;
mod services;
mod tables;
mod transfer;
mod values;

use std::ffi::CString;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::{PyRuntimeWarning, PyTypeError, PyValueError};
use pyo3::prelude::*;

/// The module `hyperslab._native`.
#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::{
        filters::plugins::{disable_plugins, load_plugins, search_plugins, search_plugins_no_more},
        filters::registered::{register_filter, unregister_filter},
        filters::{auto_chunks, filter_facts, filter_in_words},
        get_threads,
        handles::attrs::AttributeManager,
        handles::counts::handle_counts,
        handles::dataset::Dataset,
        handles::datatype::Datatype,
        handles::file::File,
        handles::group::Group,
        handles::links::{ExternalLink, HardLink, SoftLink},
        handles::object::HLObject,
        handles::scales::{AxisNames, attach_scale, axis_label, scale_name, scales, set_axis_label},
        low::{
            AttrID, DatasetID, FileID, GroupID, ObjectID, TypeID, attribute_facts, link_facts, object_facts,
        },
        selection::chunks::ChunkIterator,
        selection::index::PointList,
        selection::region::RegionProxy,
        services::check::check,
        services::command::run_cli,
        services::references::{reference_arrays, references},
        services::segy::{describe, export, extract, ingest, scan},
        set_threads, stand_in,
        tables::arrow::{ArrowRows, PyScan},
        tables::expr::{PyCalculation, check_operand, names_of},
        tables::new_row::{PlainRows, PyNewRow},
        tables::query::PyQuery,
        tables::table::{
            append_bytes, append_rows, changing_rows, keeping_rows, make_table, mark_file, removals,
            remove_rows, row_count_changed, rows_changed, waiting_rows,
        },
        tables::table_index::{
            create_index, index_facts, index_in_order, index_search, index_unusable, indexed_columns,
            indexes_follow, rebuild_index, remove_index, set_indexes_follow, update_indexes,
        },
        track_order,
        transfer::plan::ReadPlan,
        transfer::views::{AsStrView, AsTypeView, FieldsView},
        values::description::{
            decode_datatype, describe_dtype, described_dtype, described_size, encode_datatype,
        },
        values::empty::Empty,
        values::objects::converted,
        values::reference::{Reference, RegionReference},
        values::texts::item_type,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::warn_of_threads(module.py())?;
        super::interpreter::signals::watch(module.py())?;
        super::interpreter::reports::watch(module)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

/// A number of threads that the caller gives: at least 1.
#[derive(Debug, Clone, Copy)]
struct Threads(NonZeroUsize);

impl<'py> FromPyObject<'_, 'py> for Threads {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let Ok(number) = given.call_method0("__index__") else {
            let found = given.get_type().name()?;
            return Err(PyTypeError::new_err(format!("threads must be an integer, not {found}")));
        };
        let count = number.extract::<usize>().ok().and_then(NonZeroUsize::new);
        count
            .map(Self)
            .ok_or_else(|| PyValueError::new_err(format!("threads must be at least 1, not {number}")))
    }
}

/// Sets the number of threads of each read and write, including the caller.
///
/// Reads that have started keep their number. The argument `threads` of a read replaces the number for that
/// read. At first, the number is the value of the environment variable HYPERSLAB_THREADS. Without the
/// variable, the number is the number of processors that the process may use.
///
/// The process starts at most 256 threads besides that of the caller. With a larger number, the parts of the
/// work take turns on them.
///
/// Args:
///     threads: The number of threads, at least 1. 1 leaves all work to the caller.
///
/// Raises:
///     TypeError: `threads` is not an integer.
///     ValueError: `threads` is less than 1.
///
/// Example:
///     >>> hs.set_threads(4)
///     >>> hs.get_threads()
///     4
#[pyfunction]
fn set_threads(threads: Threads) {
    hyperslab::set_threads(threads.0);
}

/// Returns the number of threads of each read and write, including the caller.
///
/// Returns:
///     The number of threads. It is the value of the last `set_threads`, or else the default at the start of
///     the process (see `set_threads`).
///
/// Example:
///     >>> hs.set_threads(2)
///     >>> hs.get_threads()
///     2
#[pyfunction]
fn get_threads() -> usize {
    hyperslab::threads()
}

/// Whether the package stands in for h5py (`hyperslab.as_h5py`).
static STANDS_IN: AtomicBool = AtomicBool::new(false);

/// Lets the package stand in for h5py from now on: files of PyTables have no classes of their own, and new
/// files are for the earliest version of HDF5 that has what they hold.
#[pyfunction]
#[pyo3(name = "_stand_in")]
fn stand_in() {
    STANDS_IN.store(true, Ordering::Relaxed);
}

/// Whether the package stands in for h5py.
fn stands_in() -> bool {
    STANDS_IN.load(Ordering::Relaxed)
}

/// Whether new files, groups and datasets keep the order of their members and attributes.
static TRACK_ORDER: AtomicBool = AtomicBool::new(false);

/// Returns whether new files, groups and datasets keep the order of their members and attributes. A value
/// other than None is the new answer.
#[pyfunction]
#[pyo3(name = "_track_order")]
fn track_order(is_on: Option<bool>) -> bool {
    if let Some(is_on) = is_on {
        TRACK_ORDER.store(is_on, Ordering::Relaxed);
    }
    TRACK_ORDER.load(Ordering::Relaxed)
}

fn warn_of_threads(py: Python<'_>) -> PyResult<()> {
    let Some(warning) = hyperslab::internals::engine::threads_warning() else { return Ok(()) };
    let warning = CString::new(warning)?;
    PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &warning, 1)
}
