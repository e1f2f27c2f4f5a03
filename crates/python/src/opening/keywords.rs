//! The keyword arguments of `File`, and its mode.

use std::sync::Arc;

use hyperslab::driver::{Locking, Members, Unchanged, Via};
use hyperslab::{Durability, File as CoreFile, FileSpace, LibVersion, OpenOptions, SpaceStrategy};
use hyperslab_remote::RemoteOptions;
use pyo3::exceptions::{PyNotImplementedError, PyOSError, PyTypeError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyFloat, PyInt, PyString};

use crate::filters::registered;
use crate::interpreter::settings;
use crate::opening::ranks::Communicator;

/// Keyword arguments of h5py's `File` that tune the caches, buffers and block placement of libhdf5.
const WITHOUT_EFFECT: [&str; 6] =
    ["rdcc_nslots", "rdcc_w0", "page_buf_size", "min_meta_keep", "min_raw_keep", "block_size"];

/// Warns, once for each keyword, that the keyword has no effect. Does not warn for the default value.
fn warn_without_effect(key: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    if !value.is_truthy()? {
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
    /// The size of the blocks for metadata in bytes.
    pub(super) meta_block: u64,
    pub(super) skip_fill_chunks: Option<bool>,
    /// How a file on a server is reached and read.
    pub(super) remote: RemoteOptions,
}

/// Where the bytes of a file are. Some keywords belong to some media.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Medium {
    /// A file of the system.
    Path,
    /// A file of the system, read through rings of the kernel.
    Rings,
    /// A file of the system, mapped into memory.
    Map,
    /// Memory that may have a file behind it.
    Core,
    /// Memory without a file.
    Memory,
    /// A Python object.
    Object,
    /// A file of the system that several processes change together.
    Ranks,
    /// Several files, one after another.
    Family,
    /// A file for the metadata and one for the elements.
    Split,
    /// A file for each kind of data.
    Multi,
    /// A file on a server.
    Server,
}

impl Medium {
    /// Returns how the bytes are distributed over several files, by default.
    fn members(self) -> Option<Members> {
        match self {
            Self::Family => Some(Members::family()),
            Self::Split => Some(Members::split()),
            Self::Multi => Some(Members::Multi),
            Self::Path
            | Self::Rings
            | Self::Map
            | Self::Core
            | Self::Memory
            | Self::Object
            | Self::Ranks
            | Self::Server => None,
        }
    }
}

impl Medium {
    /// Returns how the bytes of a file at a path are reached.
    fn via(self) -> Via {
        match self {
            Self::Rings => Via::Rings { direct: false },
            // SAFETY: Python has no mark for unsafe code. A caller who asks for this driver makes the
            // promise, as the documentation of `File` says.
            Self::Map => Via::Map(unsafe { Unchanged::promised() }),
            _ => Via::Calls,
        }
    }

    /// Returns whether several requests can be in progress at a time.
    fn has_queue(self) -> bool {
        matches!(self, Self::Path | Self::Rings)
    }
}

/// Returns how a file is read through rings, given whether the page cache is bypassed.
fn rings(direct: &Bound<'_, PyAny>) -> PyResult<Via> {
    Ok(Via::Rings { direct: direct.extract()? })
}

/// Sets what a keyword says of a file on a server. Returns whether the keyword is one of those.
fn set_server(remote: &mut RemoteOptions, key: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let options = std::mem::take(remote);
    let (options, is_own) = match key {
        "storage_options" => (settings(options, value)?, true),
        "queue_depth" => (options.queue_depth(queue_depth(value)?), true),
        "page_buf_size" => (options.cache_bytes(value.extract()?), true),
        _ => (options, false),
    };
    *remote = options;
    Ok(is_own)
}

/// Returns the options of a file on a server with the settings of a dict. Numbers and truth values are taken
/// as text.
fn settings(mut remote: RemoteOptions, given: &Bound<'_, PyAny>) -> PyResult<RemoteOptions> {
    let wrong =
        || PyTypeError::new_err("storage_options is a dict of names and values: str, int, float or bool");
    for (name, value) in given.cast::<PyDict>().map_err(|_| wrong())? {
        if value.is_none() {
            continue;
        }
        let text = if let Ok(truth) = value.extract::<bool>() {
            truth.to_string()
        } else if value.is_instance_of::<PyString>()
            || value.is_instance_of::<PyInt>()
            || value.is_instance_of::<PyFloat>()
        {
            value.str()?.to_string()
        } else {
            return Err(wrong());
        };
        remote = remote.set(name.extract::<String>().map_err(|_| wrong())?, text);
    }
    Ok(remote)
}

/// Returns what a flush survives.
fn durability(value: &Bound<'_, PyAny>) -> PyResult<Durability> {
    match value.extract::<String>()?.as_str() {
        "kill" => Ok(Durability::Kill),
        "power" => Ok(Durability::Power),
        _ => Err(PyValueError::new_err("durability must be 'kill' or 'power'")),
    }
}

/// Returns a number of requests in progress at a time.
fn queue_depth(value: &Bound<'_, PyAny>) -> PyResult<usize> {
    let depth: usize = value.extract().unwrap_or(0);
    if !(1..=1024).contains(&depth) {
        return Err(PyValueError::new_err("queue_depth must be a number of requests from 1 to 1024"));
    }
    Ok(depth)
}

impl Keywords {
    /// Parses the keywords of a file on this medium.
    pub(super) fn parse(given: &Bound<'_, PyDict>, medium: Medium, mode: Mode) -> PyResult<Self> {
        let tracks = mode.creates() && settings::track_order(None);
        let mut options =
            CoreFile::options().registry(registered::registry()).track_order(tracks).via(medium.via());
        let mut user_block = 0;
        let mut libver = bounds("earliest");
        if settings::stands_in() {
            options = options.version(version(&libver.0)?);
        }
        let mut backing_store = true;
        let mut skip_fill_chunks = None;
        let mut meta_block = DEFAULT_META_BLOCK;
        let mut members = medium.members();
        let mut remote = RemoteOptions::default();
        let (mut threshold, mut interval) = (1, 1);
        let space = space_of(given, mode)?;
        for (key, value) in given {
            let key: String = key.extract()?;
            if value.is_none() {
                continue;
            }
            if members.as_mut().map_or(Ok(false), |members| set_member(members, &key, &value))? {
                continue;
            }
            if medium == Medium::Server && set_server(&mut remote, &key, &value)? {
                continue;
            }
            match key.as_str() {
                "libver" => {
                    libver = libver_of(&value)?;
                    options = options.version(version(&libver.0)?);
                }
                "rdcc_nbytes" => options = options.chunk_cache_bytes(value.extract()?),
                "in_flight_bytes" => options = options.in_flight_bytes(value.extract()?),
                "track_order" => options = options.track_order(value.extract()?),
                "durability" => {
                    options = options.durability(durability(&value)?);
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
                "swmr" if value.is_truthy()? => {
                    if mode != Mode::Read {
                        warn_swmr(given.py())?;
                    }
                    options = options.swmr(true);
                }
                "alignment_threshold" => threshold = value.extract()?,
                "alignment_interval" => {
                    interval = value.extract()?;
                    if interval == 0 {
                        return Err(PyValueError::new_err(
                            "Alignment must be positive (alignment must be positive)",
                        ));
                    }
                }
                "meta_block_size" => {
                    meta_block = value.extract()?;
                    options = options.metadata_block(meta_block);
                }
                "track_times" if value.is_truthy()? => {
                    return Err(PyNotImplementedError::new_err("a root group that tracks times"));
                }
                // `space_of` reads these.
                "swmr" | "fs_strategy" | "fs_persist" | "fs_threshold" | "fs_page_size" | "track_times" => {}
                "comm" if medium == Medium::Ranks => {
                    options = shared_by(options, &value, mode)?;
                }
                // Hints of MPI: each rank reads and writes through the system.
                "info" if medium == Medium::Ranks => {}
                "direct" if medium == Medium::Rings => options = options.via(rings(&value)?),
                "queue_depth" if medium.has_queue() => options = options.queue_depth(queue_depth(&value)?),
                "backing_store" if medium != Medium::Core => return Err(unknown(&key)),
                "block_size" if !matches!(medium, Medium::Core | Medium::Memory) => {
                    return Err(unknown(&key));
                }
                "locking" => {
                    options = options.locking(locking(&value)?);
                }
                "backing_store" => backing_store = value.is_truthy()?,
                "skip_fill_chunks" => skip_fill_chunks = Some(value.extract()?),
                "rdcc_w0" if !(0.0..=1.0).contains(&value.extract::<f64>()?) => {
                    return Err(PyValueError::new_err(
                        "Raw data cache w0 value must be between 0.0 and 1.0 inclusive",
                    ));
                }
                other if WITHOUT_EFFECT.contains(&other) => warn_without_effect(other, &value)?,
                _ => return Err(unknown(&key)),
            }
        }
        check_ranks(given, medium)?;
        options = options.alignment(threshold, interval).members(members);
        if let Some(space) = space {
            options = options.space(space);
        }
        Ok(Self { libver, options, user_block, backing_store, meta_block, skip_fill_chunks, remote })
    }
}

/// Sets the ranks of a communicator. A file that is only read needs none of their messages.
fn shared_by(options: OpenOptions, comm: &Bound<'_, PyAny>, mode: Mode) -> PyResult<OpenOptions> {
    Ok(if mode == Mode::Read { options } else { options.ranks(Arc::new(Communicator::new(comm)?)) })
}

/// Errors if a file of several ranks has no communicator.
fn check_ranks(given: &Bound<'_, PyDict>, medium: Medium) -> PyResult<()> {
    if medium == Medium::Ranks && given.get_item("comm")?.is_none_or(|comm| comm.is_none()) {
        return Err(PyTypeError::new_err(
            "driver='mpio' needs comm=, a communicator of mpi4py such as MPI.COMM_WORLD",
        ));
    }
    Ok(())
}

/// Sets what a keyword says of the members of a file. Returns whether the keyword is one of those.
fn set_member(members: &mut Members, key: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    match (members, key) {
        (Members::Family { member_size }, "memb_size") => *member_size = Some(value.extract()?),
        (Members::Split { metadata, .. }, "meta_ext") => *metadata = extension(value)?,
        (Members::Split { raw, .. }, "raw_ext") => *raw = extension(value)?,
        // libhdf5 opens the members with these property lists.
        (Members::Split { .. }, "meta_plist_id" | "raw_plist_id") => {}
        _ => return Ok(false),
    }
    Ok(true)
}

/// Returns the name of a member: bytes, as in h5py, or a string.
fn extension(value: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    match value.cast::<PyBytes>() {
        Ok(bytes) => Ok(bytes.as_bytes().to_vec()),
        Err(_) => Ok(value.extract::<String>()?.into_bytes()),
    }
}

/// Returns how a new file manages its space, or `None` for the default.
fn space_of(given: &Bound<'_, PyDict>, mode: Mode) -> PyResult<Option<FileSpace>> {
    let value = |key: &str| Ok::<_, PyErr>(given.get_item(key)?.filter(|value| !value.is_none()));
    let name = value("fs_strategy")?.filter(|name| name.is_truthy().unwrap_or(true));
    let page_buffer: u64 = value("page_buf_size")?.map_or(Ok(0), |size| size.extract())?;
    let is_paged = name.as_ref().is_some_and(|name| name.eq("page").unwrap_or(false));
    if page_buffer > 0 && matches!(mode, Mode::Replace | Mode::New) && !is_paged {
        return Err(PyOSError::new_err(
            "Unable to synchronously create file (Enabling Page Buffering requires PAGE file space strategy)",
        ));
    }
    let Some(name) = name else { return Ok(None) };
    if !matches!(mode, Mode::Replace | Mode::New) {
        return Err(PyValueError::new_err("Unable to set file space strategy of an existing file"));
    }
    let strategy = match name.extract::<String>().as_deref() {
        Ok("fsm") => SpaceStrategy::Managers,
        Ok("page") => SpaceStrategy::Pages,
        Ok("aggregate") => SpaceStrategy::Blocks,
        Ok("none") => SpaceStrategy::End,
        _ => return Err(PyValueError::new_err("Invalid file space strategy type")),
    };
    let mut space = FileSpace { strategy, ..FileSpace::default() };
    if matches!(strategy, SpaceStrategy::Managers | SpaceStrategy::Pages) {
        space.persist = value("fs_persist")?.map_or(Ok(false), |persist| persist.is_truthy())?;
        space.threshold = value("fs_threshold")?.map_or(Ok(1), |threshold| threshold.extract())?;
    }
    if let Some(size) = value("fs_page_size")?.filter(|_| is_paged) {
        space.page_size = size.extract()?;
    }
    if page_buffer > 0 && page_buffer < space.page_size {
        return Err(PyOSError::new_err(
            "Unable to synchronously create file (Page Buffer size must be >= to the page size)",
        ));
    }
    Ok(Some(space))
}

/// The size of blocks for metadata that libhdf5 uses by default, in bytes.
const DEFAULT_META_BLOCK: u64 = 2048;

/// Returns the locking that h5py has this value for.
pub(crate) fn locking(value: &Bound<'_, PyAny>) -> PyResult<Locking> {
    match value.extract::<bool>() {
        Ok(true) => return Ok(Locking::Required),
        Ok(false) => return Ok(Locking::No),
        Err(_) => {}
    }
    match value.extract::<&str>() {
        Ok("true") => Ok(Locking::Required),
        Ok("false") => Ok(Locking::No),
        Ok("best-effort") => Ok(Locking::BestEffort),
        _ => Err(PyValueError::new_err(format!(
            "Unsupported locking value: {value}; it is True, False or 'best-effort'"
        ))),
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
            Self::Change => options.write(true).find_free_space(Some(hyperslab_check::holes)),
            Self::Replace => options.create(true).truncate(true),
            Self::New => options.create_new(true),
            Self::Append => options.create(true).find_free_space(Some(hyperslab_check::holes)),
        }
    }
}

/// Returns the library version of the bound `name`: the oldest version that can read objects within the
/// bound.
fn version(name: &str) -> PyResult<LibVersion> {
    let unknown = || PyValueError::new_err(format!("Invalid library version bound {name:?}"));
    LibVersion::named(name).ok_or_else(unknown)
}

/// Warns, as h5py does, that `swmr=True` has no effect in modes that can write.
fn warn_swmr(py: Python<'_>) -> PyResult<()> {
    let text = c"swmr=True only affects read ('r') mode. For swmr write mode, set f.swmr_mode = True after opening the file.";
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), text, 2)
}

fn unknown(key: &str) -> PyErr {
    PyTypeError::new_err(format!("'{key}' is an invalid keyword argument for this function"))
}

/// Returns the bounds of the library versions in a keyword.
fn libver_of(value: &Bound<'_, PyAny>) -> PyResult<(String, String)> {
    let libver = match value.extract::<String>() {
        Ok(low) => bounds(&low),
        Err(_) => two_bounds(value)?,
    };
    if version(&libver.0)? > version(&libver.1)? {
        return Err(PyValueError::new_err("Invalid (low,high) combination of library version bound"));
    }
    Ok(libver)
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
