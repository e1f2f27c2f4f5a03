//! Which bytes of the file to read, and in which requests.

mod in_memory;
mod parts;
pub(in crate::engine) mod window;
