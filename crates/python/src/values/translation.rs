//! What a datatype is in NumPy: the dtype of its elements, and the recipe by which stored elements become
//! those of the dtype.

use hyperslab_format::datatype::{Charset, Datatype, Reference as StoredReference};
use numpy::PyArrayDescr;
use pyo3::prelude::*;

/// The NumPy form of a datatype.
#[derive(Debug)]
pub(crate) struct Translation {
    /// The dtype of an array of these elements.
    pub(crate) descr: Py<PyArrayDescr>,
    /// The datatype of the elements that the engine returns.
    pub(crate) memory: Datatype,
    /// The size of an element of `memory`, in bytes.
    pub(crate) memory_size: usize,
    /// How to create Python objects from such elements. `None` if the dtype has no objects: then the bytes
    /// are already in NumPy's form.
    pub(crate) recipe: Option<Recipe>,
}

/// How to convert one stored element to a part of a NumPy element.
#[derive(Debug)]
pub(crate) enum Recipe {
    /// Copies this number of bytes.
    Plain(usize),
    /// A string in the global heap, which becomes `bytes`.
    Text(Charset),
    /// A sequence in the global heap, which becomes an array.
    Sequence {
        /// How to convert the elements of the sequence.
        element: Box<Translation>,
        /// The datatype of the elements in the file.
        stored: Box<Datatype>,
        /// The size of an element in the file, in bytes.
        stored_size: usize,
    },
    /// A reference to an object or to a region.
    Reference(StoredReference),
    /// Several elements of the same kind.
    Repeat {
        /// The number of elements.
        count: usize,
        /// The distance between elements as read, in bytes.
        from: usize,
        /// The distance between elements in NumPy, in bytes.
        to: usize,
        /// How to convert each element.
        element: Box<Recipe>,
    },
    /// The members of a record.
    Record(Vec<RecordField>),
}

/// One member of a record.
#[derive(Debug)]
pub(crate) struct RecordField {
    /// The offset of the member in the record as read.
    pub(crate) from: usize,
    /// The offset of the member in the NumPy record.
    pub(crate) to: usize,
    /// How to convert the member.
    pub(crate) recipe: Recipe,
}

impl Recipe {
    /// Whether the result contains any Python object.
    pub(crate) fn has_objects(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Repeat { element, .. } => element.has_objects(),
            Self::Record(fields) => fields.iter().any(|field| field.recipe.has_objects()),
            _ => true,
        }
    }

    /// Whether the result contains only strings.
    pub(crate) fn is_text(&self) -> bool {
        match self {
            Self::Text(_) => true,
            Self::Repeat { element, .. } => element.is_text(),
            _ => false,
        }
    }

    /// Calls `f` for each global heap id in an element as read: with the offset of the id, and with the size
    /// in bytes of the items that the id counts (the characters of a string or the elements of a sequence).
    pub(crate) fn ids(&self, at: usize, f: &mut dyn FnMut(usize, usize)) {
        match self {
            Self::Text(_) => f(at, 1),
            Self::Sequence { stored_size, .. } => f(at, *stored_size),
            Self::Repeat { count, from, element, .. } => {
                for index in 0..*count {
                    element.ids(at + index * from, f);
                }
            }
            Self::Record(fields) => {
                for field in fields {
                    field.recipe.ids(at + field.from, f);
                }
            }
            Self::Plain(_) | Self::Reference(_) => {}
        }
    }
}
