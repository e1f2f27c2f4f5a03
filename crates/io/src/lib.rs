//! The media of HDF5 files: a [`driver`](driver::Driver) is a file on a disk, in memory, or several files as one.

pub mod driver;
pub mod interrupt;
pub mod os;
pub mod process;
pub mod ranks;
pub mod report;
