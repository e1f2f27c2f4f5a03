//! Values of an object that `__init__` sets.
//!
//! The `__init__` of a subclass may have its own arguments. Therefore `__new__` takes any arguments and opens
//! nothing. The `__init__` of the native class opens the object when the subclass calls it. Until then, the
//! object behaves like an object of a closed file.

use std::ops::Deref;
use std::sync::{Arc, LazyLock, OnceLock};

use hyperslab::storage::DatasetOptions;
use hyperslab::{Element, File, Node};
use hyperslab_format::message::dataspace::Dataspace;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::opening::state::FileState;

/// A value that is known from the beginning, or that `__init__` sets once.
#[derive(Debug)]
pub(crate) enum Opened<T> {
    /// The value of an object that the package creates. It costs no atomic operation.
    Given(T),
    /// The value of an object that Python code constructs.
    Later(OnceLock<T>),
    /// The value of another object, which counts until `__init__` sets one: a subclass that wraps an object,
    /// and does not call the `__init__` of the native class, is a view of that object.
    Lent(T, OnceLock<T>),
}

impl<T> Opened<T> {
    /// Returns an empty cell that `__init__` will set.
    pub(crate) const fn not_yet() -> Self {
        Self::Later(OnceLock::new())
    }

    /// Whether the value is set.
    pub(crate) fn is_set(&self) -> bool {
        match self {
            Self::Given(_) | Self::Lent(..) => true,
            Self::Later(place) => place.get().is_some(),
        }
    }

    /// Raises `RuntimeError` if the value is already set.
    pub(crate) fn check_not_set(&self) -> PyResult<()> {
        match self {
            Self::Lent(_, place) if place.get().is_none() => Ok(()),
            _ if self.is_set() => Err(called_twice()),
            _ => Ok(()),
        }
    }

    /// Sets the value, or raises `RuntimeError` if it is already set.
    pub(crate) fn set(&self, value: T) -> PyResult<()> {
        match self {
            Self::Later(place) | Self::Lent(_, place) => place.set(value).map_err(|_| called_twice()),
            Self::Given(_) => Err(called_twice()),
        }
    }
}

fn called_twice() -> PyErr {
    PyRuntimeError::new_err("__init__ was called twice: the object is open already")
}

impl<T> From<T> for Opened<T> {
    fn from(value: T) -> Self {
        Self::Given(value)
    }
}

impl<T: Unopened> Deref for Opened<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        match self {
            Self::Given(value) => value,
            Self::Later(place) => place.get().unwrap_or_else(|| T::unopened()),
            Self::Lent(value, place) => place.get().unwrap_or(value),
        }
    }
}

/// A type that has a value for objects that are not open.
pub(crate) trait Unopened: 'static {
    /// Returns the value for objects that are not open.
    fn unopened() -> &'static Self;
}

/// The objects of a closed file in memory. They are the values of objects that are not open.
struct Closed {
    state: Arc<FileState>,
    root: Node,
    group: hyperslab::Group,
    dataset: hyperslab::Dataset,
    datatype: hyperslab::NamedDatatype,
}

static CLOSED: LazyLock<Closed> = LazyLock::new(|| closed().expect("an empty file fits in memory"));

fn closed() -> hyperslab::Result<Closed> {
    let file = File::in_memory()?;
    let group = file.root();
    // Without a shape, so that no property looks like that of data.
    let dataset =
        group.create_dataset("d", &DatasetOptions::new(Dataspace::Null, <u8 as Element>::datatype()))?;
    let datatype = group.commit_datatype("t", &dataset.datatype())?;
    let root = Node::Group(group.clone());
    Ok(Closed { state: FileState::unopened(file), root, group, dataset, datatype })
}

/// Implements [`Unopened`] for each type with the given field of [`Closed`].
macro_rules! unopened {
    ($($type:ty: $field:ident),*) => {
        $(impl Unopened for $type {
            fn unopened() -> &'static Self {
                &CLOSED.$field
            }
        })*
    };
}

unopened!(Arc<FileState>: state, Node: root, hyperslab::Group: group, hyperslab::Dataset: dataset,
    hyperslab::NamedDatatype: datatype);
