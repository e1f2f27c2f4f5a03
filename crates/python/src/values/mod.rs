//! Elements and their types: NumPy's dtypes and HDF5's datatypes in each direction, the memory of arrays,
//! elements that are Python objects, strings, references, and plain numbers, which take a short way. Nothing
//! here knows a dataset; values come from a file or go to one as arrays.

pub(crate) mod buffer;
pub(crate) mod description;
pub(crate) mod dtype;
pub(crate) mod empty;
pub(crate) mod memory;
pub(crate) mod objects;
pub(crate) mod objects_write;
pub(crate) mod plain;
pub(crate) mod reference;
pub(crate) mod stored;
pub(crate) mod string_dtype;
pub(crate) mod texts;
pub(crate) mod translation;
