//! What systems do differently with files, behind the same functions. What one system only does better, such
//! as asking about the page cache, is with the driver that does it.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub use system::{
    LIST_SEPARATOR, LOCKS_ARE_MANDATORY, SEPARATORS, bytes_of, identity, identity_at, identity_of_link,
    path_from, read_exact_at, sync_folder, write_all_at,
};
