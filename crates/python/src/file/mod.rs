//! Files: opening them by name, from memory or through a Python object, and what h5py says of an open one.

mod keywords;
mod open;

use std::sync::Arc;

use hyperslab::Node;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

use crate::error::OrRaise;
use crate::group::Group;
use crate::ids::ObjectID;
use crate::object::{HLObject, base_name};
use crate::opened::Opened;
use crate::state::FileState;

pub(crate) use self::open::path_of;

/// An open file, which is also its root group. Documented in `_native.pyi`.
#[pyclass(frozen, subclass, extends = Group, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct File;

fn state<'a>(slf: &'a Bound<'_, File>) -> &'a Arc<FileState> {
    &slf.as_super().as_super().get().state
}

impl File {
    /// Opens the file object.
    fn open(slf: &Bound<'_, Self>, state: Arc<FileState>) -> PyResult<()> {
        let root = state.core.root();
        slf.as_super().get().group.set(root.clone())?;
        slf.as_super().as_super().get().open(state, Node::Group(root))
    }

    /// Returns an open file of the class `cls`, whose `__init__` is not called.
    fn made<'py>(cls: &Bound<'py, PyType>, state: Arc<FileState>) -> PyResult<Bound<'py, Self>> {
        let made = cls.call_method1("__new__", (cls,))?.cast_into::<Self>()?;
        Self::open(&made, state)?;
        Ok(made)
    }
}

/// The state of a file, which must be open.
pub(crate) fn open_state<'a>(slf: &'a Bound<'_, File>) -> PyResult<&'a Arc<FileState>> {
    let state = state(slf);
    state.check()?;
    Ok(state)
}

#[pymethods]
impl File {
    #[new]
    #[pyo3(
        signature = (*_args, **_kwds),
        text_signature = "(name, mode='r', driver=None, libver=None, *, durability=None, locking=None, \
                          userblock_size=None, track_order=None, rdcc_nbytes=None, skip_fill_chunks=None, \
                          backing_store=None, **kwds)"
    )]
    fn new(_args: &Bound<'_, PyTuple>, _kwds: Option<&Bound<'_, PyDict>>) -> PyClassInitializer<Self> {
        let group = Group { group: Opened::not_yet() };
        PyClassInitializer::from(HLObject::unopened()).add_subclass(group).add_subclass(Self)
    }

    #[pyo3(signature = (name, mode="r", driver=None, libver=None, **kwds))]
    fn __init__(
        slf: &Bound<'_, Self>,
        name: &Bound<'_, PyAny>,
        mode: &str,
        driver: Option<&str>,
        libver: Option<&Bound<'_, PyAny>>,
        kwds: Option<Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let kwds = kwds.unwrap_or_else(|| PyDict::new(slf.py()));
        if let Some(libver) = libver {
            kwds.set_item("libver", libver)?;
        }
        let state = if let Ok(id) = name.cast::<ObjectID>() {
            ObjectID::object(id)?.0
        } else if name.hasattr("read")? && name.hasattr("seek")? {
            open::object(name, mode, driver, &kwds)?
        } else {
            open::named(name, mode, driver, &kwds)?
        };
        Self::open(slf, state)
    }

    #[classmethod]
    #[pyo3(signature = (data, **kwds))]
    fn from_bytes<'py>(
        cls: &Bound<'py, PyType>,
        data: &Bound<'py, PyAny>,
        kwds: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, Self>> {
        Self::made(cls, open::image(data, &kwds.unwrap_or_else(|| PyDict::new(cls.py())))?)
    }

    #[classmethod]
    #[pyo3(signature = (file_image=None, **kwds))]
    fn in_memory<'py>(
        cls: &Bound<'py, PyType>,
        file_image: Option<&Bound<'py, PyAny>>,
        kwds: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, Self>> {
        let kwds = kwds.unwrap_or_else(|| PyDict::new(cls.py()));
        let state = file_image.map_or_else(|| open::new_in_memory(&kwds), |data| open::image(data, &kwds))?;
        Self::made(cls, state)
    }

    fn close(slf: &Bound<'_, Self>) -> PyResult<()> {
        state(slf).close(slf.py())
    }

    fn flush(slf: &Bound<'_, Self>) -> PyResult<()> {
        open_state(slf)?.flush(slf.py())
    }

    fn refresh(slf: &Bound<'_, Self>) -> PyResult<()> {
        let state = open_state(slf)?;
        slf.py().detach(|| state.core.refresh()).or_raise()
    }

    /// All that is done inside a `with` of this, or nothing of it.
    fn transaction<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        open_state(slf)?;
        slf.py().import("hyperslab._transaction")?.getattr("Transaction")?.call1((slf,))
    }

    fn _begin(slf: &Bound<'_, Self>) -> PyResult<()> {
        let state = open_state(slf)?;
        slf.py().detach(|| state.core.begin_transaction()).or_raise()
    }

    fn _end(slf: &Bound<'_, Self>, is_kept: bool) -> PyResult<()> {
        let state = open_state(slf)?;
        slf.py().detach(|| state.core.end_transaction(is_kept)).or_raise()
    }

    fn __enter__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    #[pyo3(signature = (*_args))]
    fn __exit__(slf: &Bound<'_, Self>, _args: &Bound<'_, PyTuple>) -> PyResult<()> {
        state(slf).close(slf.py())
    }

    #[getter]
    fn filename<'a>(slf: &'a Bound<'_, Self>) -> PyResult<&'a str> {
        Ok(&open_state(slf)?.name)
    }

    #[getter]
    fn mode(slf: &Bound<'_, Self>) -> PyResult<&'static str> {
        open_state(slf).map(|state| state.mode)
    }

    #[getter]
    fn driver(slf: &Bound<'_, Self>) -> PyResult<&'static str> {
        Ok(open_state(slf)?.driver)
    }

    #[getter]
    fn libver<'a>(slf: &'a Bound<'_, Self>) -> PyResult<(&'a str, &'a str)> {
        let (low, high) = &open_state(slf)?.libver;
        Ok((low, high))
    }

    #[getter]
    fn userblock_size(slf: &Bound<'_, Self>) -> PyResult<u64> {
        Ok(open_state(slf)?.core.store().base())
    }

    #[getter]
    fn swmr_mode(slf: &Bound<'_, Self>) -> PyResult<bool> {
        open_state(slf).map(|_| false)
    }

    #[setter]
    fn set_swmr_mode(slf: &Bound<'_, Self>, is_on: &Bound<'_, PyAny>) -> PyResult<()> {
        open_state(slf)?;
        if is_on.is_truthy()? {
            return Err(keywords::no_swmr());
        }
        Err(PyValueError::new_err("It is not possible to forcibly switch SWMR mode off."))
    }

    #[getter]
    fn meta_block_size(slf: &Bound<'_, Self>) -> PyResult<u64> {
        open_state(slf).map(|_| 2048)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> String {
        let state = state(slf);
        if state.is_open() {
            format!("<HDF5 file \"{}\" (mode {})>", base_name(&state.name), state.mode)
        } else {
            "<Closed HDF5 file>".to_owned()
        }
    }
}
