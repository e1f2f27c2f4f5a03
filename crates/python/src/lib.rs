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
        handles::attrs::AttributeManager,
        handles::dataset::Dataset,
        handles::datatype::Datatype,
        handles::file::File,
        handles::group::Group,
        handles::identifier::ObjectID,
        handles::links::{ExternalLink, HardLink, SoftLink},
        handles::object::HLObject,
        handles::regionref::RegionProxy,
        handles::scales::{AxisNames, attach_scale, axis_label, scale_name, scales, set_axis_label},
        interpreter::settings::{stand_in, track_order},
        interpreter::threads::{get_threads, set_threads},
        low::attribute::AttrID,
        low::dataset::DatasetID,
        low::datatype::TypeID,
        low::facts::{attribute_facts, handle_counts, link_facts, object_facts},
        low::file::FileID,
        low::group::GroupID,
        selection::chunks::ChunkIterator,
        selection::index::PointList,
        services::check::check,
        services::command::run_cli,
        services::references::{reference_arrays, references},
        services::segy::{describe, export, extract, ingest, scan},
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
        super::interpreter::threads::warn(module.py())?;
        super::interpreter::signals::watch(module.py())?;
        super::interpreter::reports::watch(module)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
