//! Opening files: the keywords and modes of `File`, the drivers that are written here (Python file objects,
//! the ranks of mpi4py), and what all objects of one opening share until it is closed, with the changes that
//! wait for a flush.

pub(crate) mod counts;
pub(crate) mod fileobj;
pub(crate) mod keywords;
pub(crate) mod open;
pub(crate) mod ranks;
pub(crate) mod ros3;
pub(crate) mod state;
pub(crate) mod waiting;
