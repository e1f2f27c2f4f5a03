//! The locks and atomic numbers of those modules whose threads `crates/models` runs in every order. There,
//! the module of this name has loom's.

pub(super) use std::sync::Arc;
pub(super) use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

pub(super) use parking_lot::{Condvar, Mutex, MutexGuard, RwLock};
