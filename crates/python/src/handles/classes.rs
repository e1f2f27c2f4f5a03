//! Which class of Python an object of a file has, and which one its identifier. This file knows all classes,
//! so that they need not know each other.

use std::sync::Arc;

use hyperslab::Node;
use hyperslab_tables::Class;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

use crate::handles::dataset::Dataset;
use crate::handles::datatype::Datatype;
use crate::handles::file::File;
use crate::handles::group::Group;
use crate::handles::object::HLObject;
use crate::opening::state::FileState;

/// Returns the Python object for a node that was reached from the file of `state`.
pub(crate) fn wrap<'py>(py: Python<'py>, state: &Arc<FileState>, node: Node) -> PyResult<Bound<'py, PyAny>> {
    let state =
        if node.file().is_same(&state.core) { Arc::clone(state) } else { state.external(node.file()) };
    let base = PyClassInitializer::from(HLObject::new(Arc::clone(&state), node.clone(), false));
    Ok(match node {
        Node::Group(group) => Bound::new(py, base.add_subclass(Group { group: group.into() }))?.into_any(),
        Node::Dataset(dataset) => {
            let dataset = Bound::new(py, base.add_subclass(Dataset::new(state, dataset)))?;
            match dataset.get().class() {
                Some(Class::Table) => written_in_python(&dataset, &TABLE, "_table", "Table")?,
                Some(Class::EArray) => written_in_python(&dataset, &EARRAY, "_pytables", "EArray")?,
                Some(Class::VLArray) => written_in_python(&dataset, &VLARRAY, "_pytables", "VLArray")?,
                Some(Class::Array | Class::CArray) | None => dataset.into_any(),
            }
        }
        Node::Datatype(datatype) => {
            Bound::new(py, base.add_subclass(Datatype::of(datatype.into())))?.into_any()
        }
    })
}

/// The classes of datasets that are written in Python.
static TABLE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static EARRAY: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static VLARRAY: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// Returns a dataset as an instance of a class that is written in Python.
fn written_in_python<'py>(
    dataset: &Bound<'py, Dataset>,
    class: &PyOnceLock<Py<PyType>>,
    module: &str,
    name: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let class = class.import(dataset.py(), &format!("hyperslab.{module}"), name)?;
    class.call1((dataset.getattr("id")?,))
}

/// Returns the initializer of the Python object for an open file.
pub(crate) fn file_object(state: Arc<FileState>) -> PyClassInitializer<File> {
    let group = state.core.root();
    let base = HLObject::new(state, Node::Group(group.clone()), true);
    PyClassInitializer::from(base).add_subclass(Group { group: group.into() }).add_subclass(File)
}

/// Returns the Python class for a node.
pub(crate) fn class_of<'py>(py: Python<'py>, node: &Node) -> Bound<'py, PyType> {
    match node {
        Node::Group(_) => py.get_type::<Group>(),
        Node::Dataset(_) => py.get_type::<Dataset>(),
        Node::Datatype(_) => py.get_type::<Datatype>(),
    }
}

/// The classes and functions of `hyperslab.low` that make identifiers.
static DATASET_ID: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static FILE_ID: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static GROUP_ID: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static TYPE_ID: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Returns the identifier of an object.
pub(crate) fn identifier<'py>(object: &Bound<'py, HLObject>) -> PyResult<Bound<'py, PyAny>> {
    let (maker, module, name) = if object.cast::<Dataset>().is_ok() {
        (&DATASET_ID, "h5d", "DatasetID")
    } else if object.cast::<File>().is_ok() {
        (&FILE_ID, "h5f", "FileID")
    } else if object.cast::<Group>().is_ok() {
        (&GROUP_ID, "h5g", "GroupID")
    } else {
        (&TYPE_ID, "h5t", "type_of")
    };
    let import =
        || Ok::<_, PyErr>(object.py().import(format!("hyperslab.low.{module}"))?.getattr(name)?.unbind());
    maker.get_or_try_init(object.py(), import)?.bind(object.py()).call1((object,))
}
