//! The keyword arguments of `File`, and its mode.

use hyperslab::driver::Locking;
use hyperslab::{Durability, File as CoreFile, LibVersion, OpenOptions};
use pyo3::exceptions::{PyNotImplementedError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::registered;

/// Keyword arguments of h5py's `File` that tune the caches, buffers and block placement of libhdf5.
const WITHOUT_EFFECT: [&str; 9] = [
    "rdcc_nslots",
    "rdcc_w0",
    "page_buf_size",
    "min_meta_keep",
    "min_raw_keep",
    "alignment_threshold",
    "alignment_interval",
    "meta_block_size",
    "block_size",
];

/// Warns, once for each keyword, that the keyword has no effect. Does not warn for the default value.
fn warn_without_effect(key: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let is_default = !value.is_truthy()? || (key.starts_with("alignment") && value.eq(1)?);
    if is_default {
        return Ok(());
    }
    let why = "the keyword is for caches and buffers of libhdf5";
    value.py().import("hyperslab._warn")?.getattr("without_effect")?.call1(("File", key, why)).map(drop)
}

/// The parsed keyword arguments.
pub(super) struct Keywords {
    /// The version bounds.
    pub(super) libver: (String, String),
    pub(super) options: OpenOptions,
    /// The size of the user block in bytes.
    pub(super) user_block: u64,
    /// Whether a file in memory is written back to its path.
    pub(super) backing_store: bool,
    pub(super) skip_fill_chunks: Option<bool>,
}

/// Where the bytes of a file are. Some keywords belong to some media.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Medium {
    /// A file of the system.
    Path,
    /// Memory that may have a file behind it.
    Core,
    /// Memory without a file.
    Memory,
    /// A Python object.
    Object,
}

impl Keywords {
    /// Parses the keywords of a file on this medium.
    pub(super) fn parse(given: &Bound<'_, PyDict>, medium: Medium, mode: Mode) -> PyResult<Self> {
        let mut options = CoreFile::options().registry(registered::registry());
        let mut user_block = 0;
        let is_earliest = mode == Mode::Read || crate::stands_in();
        let mut libver = bounds(if is_earliest { "earliest" } else { "v110" });
        if crate::stands_in() {
            options = options.version(version(&libver.0)?);
        }
        let mut backing_store = true;
        let mut skip_fill_chunks = None;
        for (key, value) in given {
            let key: String = key.extract()?;
            if value.is_none() {
                continue;
            }
            match key.as_str() {
                "libver" => {
                    libver = match value.extract::<String>() {
                        Ok(low) => bounds(&low),
                        Err(_) => two_bounds(&value)?,
                    };
                    let (low, high) = (version(&libver.0)?, version(&libver.1)?);
                    if low > high {
                        return Err(PyValueError::new_err(
                            "Invalid (low,high) combination of library version bound",
                        ));
                    }
                    options = options.version(low);
                }
                "rdcc_nbytes" => options = options.chunk_cache_bytes(value.extract()?),
                "track_order" => options = options.track_order(value.extract()?),
                "durability" => {
                    options = options.durability(match value.extract::<String>()?.as_str() {
                        "kill" => Durability::Kill,
                        "power" => Durability::Power,
                        _ => return Err(PyValueError::new_err("durability must be 'kill' or 'power'")),
                    });
                }
                "userblock_size" if mode.creates() => {
                    let integer = |_| PyValueError::new_err("User block size must be an integer");
                    user_block = value.extract().map_err(integer)?;
                    options = options.user_block(user_block);
                }
                "userblock_size" => {
                    return Err(PyValueError::new_err(
                        "User block may only be specified when creating a file",
                    ));
                }
                "swmr" if value.is_truthy()? => return Err(no_swmr()),
                "fs_threshold" if value.eq(1)? => {}
                "fs_strategy" | "fs_persist" | "fs_threshold" | "fs_page_size" if value.is_truthy()? => {
                    return Err(if mode.creates() {
                        PyNotImplementedError::new_err("files that manage their free space are not supported")
                    } else {
                        PyValueError::new_err("Unable to set file space strategy of an existing file")
                    });
                }
                "track_times" if value.is_truthy()? => {
                    return Err(PyNotImplementedError::new_err("a root group that tracks times"));
                }
                "swmr" | "fs_strategy" | "fs_persist" | "fs_threshold" | "fs_page_size" | "track_times" => {}
                "backing_store" if medium != Medium::Core => return Err(unknown(&key)),
                "block_size" if !matches!(medium, Medium::Core | Medium::Memory) => {
                    return Err(unknown(&key));
                }
                "locking" => {
                    options = options.locking(match value.extract::<bool>() {
                        Ok(true) => Locking::Required,
                        Ok(false) => Locking::No,
                        Err(_) if value.eq("best-effort")? => Locking::BestEffort,
                        Err(_) => {
                            return Err(PyValueError::new_err(
                                "locking must be True, False or 'best-effort'",
                            ));
                        }
                    });
                }
                "backing_store" => backing_store = value.is_truthy()?,
                "skip_fill_chunks" => skip_fill_chunks = Some(value.extract()?),
                other if WITHOUT_EFFECT.contains(&other) => warn_without_effect(other, &value)?,
                _ => return Err(unknown(&key)),
            }
        }
        Ok(Self { libver, options, user_block, backing_store, skip_fill_chunks })
    }
}

/// The mode in which a file is opened.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// "r": reads an existing file.
    Read,
    /// "r+": changes an existing file.
    Change,
    /// "w": replaces the file.
    Replace,
    /// "x" or "w-": creates a file that does not exist yet.
    New,
    /// "a": changes the file, or creates it.
    Append,
}

impl Mode {
    /// Parses a mode string of h5py.
    pub(super) fn parse(mode: &str) -> PyResult<Self> {
        Ok(match mode {
            "r" => Self::Read,
            "r+" => Self::Change,
            "w" => Self::Replace,
            "w-" | "x" => Self::New,
            "a" => Self::Append,
            _ => return Err(PyValueError::new_err("Invalid mode; must be one of r, r+, w, w-, x, a")),
        })
    }

    /// Whether the mode may create a file.
    pub(super) fn creates(self) -> bool {
        matches!(self, Self::Replace | Self::New | Self::Append)
    }

    /// Returns `options` with the access that this mode needs.
    pub(super) fn applied_to(self, options: OpenOptions) -> OpenOptions {
        match self {
            Self::Read => options,
            Self::Change => options.write(true),
            Self::Replace => options.create(true).truncate(true),
            Self::New => options.create_new(true),
            Self::Append => options.create(true),
        }
    }
}

/// Returns the library version of the bound `name`: the oldest version that can read objects within the
/// bound.
fn version(name: &str) -> PyResult<LibVersion> {
    let unknown = || PyValueError::new_err(format!("Invalid library version bound {name:?}"));
    LibVersion::named(name).ok_or_else(unknown)
}

/// Returns the error for `swmr=True`.
pub(super) fn no_swmr() -> PyErr {
    PyNotImplementedError::new_err(
        "SWMR mode is not supported: to follow a file that another program extends, open the file with \
         locking=False, and call refresh() of the file or of a dataset",
    )
}

fn unknown(key: &str) -> PyErr {
    PyTypeError::new_err(format!("'{key}' is an invalid keyword argument for this function"))
}

fn two_bounds(value: &Bound<'_, PyAny>) -> PyResult<(String, String)> {
    let [low, high] = value
        .extract::<[String; 2]>()
        .map_err(|_| PyTypeError::new_err("libver must be the name of a version, or a pair of names"))?;
    Ok((low, high))
}

fn bounds(low: &str) -> (String, String) {
    (if low == "latest" { "v200" } else { low }.to_owned(), "v200".to_owned())
}
