//! The low-level API of h5py, natively: the identifier of each kind of object, and facts that only this API
//! shows. `hyperslab.low` extends the classes in Python.

pub(crate) mod attribute;
pub(crate) mod dataset;
pub(crate) mod datatype;
pub(crate) mod facts;
pub(crate) mod file;
pub(crate) mod group;
mod store_info;
