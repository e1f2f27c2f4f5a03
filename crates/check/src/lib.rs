//! Checks a file: walks everything that its superblock leads to, decodes each structure anew, and accounts
//! for every byte.
//!
//! The result is data ([`Report`]). A damaged part does not end the walk, which continues with everything
//! else that it can reach. No block is visited twice, so damage cannot make the walk longer than the file.

mod attributes;
mod btree1;
mod btree2;
mod chunks;
mod data;
mod dataset;
mod extents;
mod fractal_heap;
mod global_heap;
mod header;
mod holes;
mod links;
mod report;
mod shared_messages;
mod space;
mod superblock;
mod symbol_table;
mod values;

use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

use hyperslab_error::{Error, RequestError, Result};
use hyperslab_filters::Registry;
use hyperslab_format::heap::global::{GlobalHeapCollection, GlobalHeapId};
use hyperslab_format::{Addr, ErrorKind, Extent, FormatError, Structure};
use hyperslab_io::driver::{Driver, Members};
use hyperslab_store::Store;
use hyperslab_store::commit::recovery::{self, Action};

use extents::{Coverage, Extents};
use hyperslab::File;
use shared_messages::SharedMessages;

pub use holes::holes;
pub use hyperslab_store::commit::recovery::Action as Recovery;
pub use report::{Finding, Report, Severity, Totals};

/// What a check does.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CheckOptions {
    /// Whether to decode every chunk, and to follow variable-length elements and references in the data of
    /// datasets.
    pub data: bool,
    /// The largest decoded size in bytes of chunks that are decoded. Larger chunks are not decoded.
    pub max_chunk_bytes: u64,
    /// The filters that can be decoded.
    pub registry: Arc<Registry>,
    /// The datasets of references whose elements are read although `data` is not set: those of at most this
    /// many bytes.
    reference_bytes: u64,
    /// The [work](Totals::work) after which the check stops.
    most_work: u64,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self {
            data: false,
            max_chunk_bytes: 4 << 30,
            registry: Registry::shared(),
            reference_bytes: 0,
            most_work: u64::MAX,
        }
    }
}

impl CheckOptions {
    /// Sets whether to decode every chunk.
    #[must_use]
    pub fn data(mut self, data: bool) -> Self {
        self.data = data;
        self
    }
}

/// The progress of a check.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Progress<'p> {
    /// The path of the object that is being checked.
    pub path: &'p str,
    /// The totals so far.
    pub totals: &'p Totals,
    /// The bytes whose use is known so far. They grow.
    pub done_bytes: u64,
    /// The bytes of the file.
    pub bytes: u64,
    is_stopped: &'p Cell<bool>,
}

impl Progress<'_> {
    /// Ends the check, which returns [`RequestError::Stopped`].
    pub fn stop(&self) {
        self.is_stopped.set(true);
    }
}

/// Checks the file at `path`, as [`check`] does. If there is no file at the path, but there are [members](Members)
/// of one, checks that file.
///
/// ```
/// use hyperslab_check::{CheckOptions, check_path};
///
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("climate.h5");
/// hyperslab::File::create(&path)?.close()?;
/// let report = check_path(&path, &CheckOptions::default().data(true), &mut |_| {})?;
/// assert!(report.is_sound());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check_path(
    path: impl AsRef<Path>,
    options: &CheckOptions,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Report> {
    let path = path.as_ref();
    let driver = File::options().members(Members::found(path)).medium(path)?;
    check(driver, options, progress)
}

/// Checks the file behind `driver` without writing to it. Calls `progress` now and then.
///
/// If a crash left the file unfinished, the check sees it as recovery would leave it. This function fails
/// only if there is no file to check: the medium fails, or its content is not HDF5; and if `progress` stops
/// it. All other faults are in the report.
pub fn check(
    driver: Arc<dyn Driver>,
    options: &CheckOptions,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Report> {
    walk(driver, options, progress, &mut |_| {}).map(|(report, _)| report)
}

/// Checks a file as [`check`] does, and calls `on_hole` with the extents that nothing uses, as far as the
/// check followed everything. Also returns whether it followed all that may lead to objects and to raw data.
fn walk(
    driver: Arc<dyn Driver>,
    options: &CheckOptions,
    progress: &mut dyn FnMut(Progress<'_>),
    on_hole: &mut dyn FnMut(Extent),
) -> Result<(Report, bool)> {
    let recovery = recovery::inspect(&*driver).map(|report| report.action);
    let store = Store::open(Arc::clone(&driver), METADATA_CACHE);
    let (store, recovery) = match (store, recovery) {
        (Ok(store), Ok(recovery)) => (store, recovery),
        (Err(error), recovery) => {
            return unopened(error, recovery.unwrap_or(Action::Nothing)).map(|report| (report, false));
        }
        (_, Err(error)) => return Err(error),
    };
    let mut check = Check {
        store: &store,
        driver,
        file: OnceCell::new(),
        options,
        report: Report::new(recovery),
        extents: Extents::default(),
        blocks: HashMap::new(),
        objects: HashMap::new(),
        waiting: VecDeque::new(),
        collections: HashMap::new(),
        last_collection: None,
        followed: HashSet::new(),
        referenced: BTreeMap::new(),
        small_work: 0,
        nulls: 0,
        shared: SharedMessages::default(),
        path: "".into(),
        unseen: None,
        passes_over: false,
        progress,
        is_stopped: Cell::new(false),
    };
    check.superblock();
    while let Some(at) = check.waiting.pop_front() {
        check.object(at);
        if check.is_stopped.get() {
            return Err(RequestError::Stopped.into());
        }
    }
    let passes_over = check.passes_over;
    Ok((check.finish(on_hole), !passes_over))
}

/// Returns the report on an HDF5 file that cannot be opened, or the error if it is not an HDF5 file.
fn unopened(error: Error, recovery: Action) -> Result<Report> {
    let is_file = match error.root() {
        Error::Format(FormatError { kind: ErrorKind::NotHdf5 { .. }, .. }) => false,
        Error::Format(_) | Error::NeedsRecovery { .. } => true,
        _ => false,
    };
    if !is_file {
        return Err(error);
    }
    let mut report = Report::new(recovery);
    report.push(finding_of(&error, "", Addr::new(0)));
    Ok(report)
}

/// A check in progress.
struct Check<'c> {
    store: &'c Store,
    driver: Arc<dyn Driver>,
    /// The file as its users see it, if there is a reference and the file can be opened.
    file: OnceCell<Option<File>>,
    options: &'c CheckOptions,
    report: Report,
    extents: Extents,
    /// The structures that were met: the name of each by its address.
    blocks: HashMap<Addr, &'static str>,
    /// The objects that hard links lead to.
    objects: HashMap<Addr, Object>,
    /// The objects that are still to be checked.
    waiting: VecDeque<Addr>,
    /// The collections of the global heap, and whether each could be read.
    collections: HashMap<Addr, bool>,
    /// The most recently used collection.
    last_collection: Option<(Addr, Arc<GlobalHeapCollection>)>,
    /// The objects of the global heap whose elements refer to others, and were followed.
    followed: HashSet<GlobalHeapId>,
    /// The targets of references, each with the path of an object that has such a reference.
    referenced: BTreeMap<Addr, Arc<str>>,
    /// The work that the totals do not count: 16 are 1 of theirs.
    small_work: u64,
    /// The number of null references.
    nulls: u64,
    /// The messages that objects share.
    shared: SharedMessages,
    /// The path of the object that is being checked.
    path: Arc<str>,
    /// The reason why there may be structures that this check did not look for. Unreachable space is then not
    /// certainly lost.
    unseen: Option<&'static str>,
    /// Whether something was passed over that may lead to objects or to raw data which nothing else leads to.
    passes_over: bool,
    progress: &'c mut dyn FnMut(Progress<'_>),
    /// Whether the progress function has stopped the check.
    is_stopped: Cell<bool>,
}

/// An object that hard links lead to.
struct Object {
    /// The path by which it was found first.
    path: Arc<str>,
    /// The number of links found, and uses of a committed datatype.
    found: u64,
    /// The reference count in its header, or `None` if the header cannot be read.
    stated: Option<u32>,
}

/// The name and the spec section of a structure.
type Name = (&'static str, &'static str);

const fn name_of<S: Structure>() -> Name {
    (S::NAME, S::SPEC)
}

impl Check<'_> {
    /// Adds a finding.
    fn find(&mut self, severity: Severity, (structure, spec): Name, at: Addr, message: impl Display) {
        let (path, message) = (self.path.to_string(), message.to_string());
        self.report.push(Finding { severity, structure, spec, at, path, message });
    }

    /// Adds an error about the structure at `at`.
    fn wrong(&mut self, name: Name, at: Addr, message: impl Display) {
        self.find(Severity::Error, name, at, message);
    }

    /// Adds an error if a stored number differs from the number that was found.
    fn expect(&mut self, name: Name, at: Addr, what: &str, stated: u64, found: u64) {
        self.compare(Severity::Error, name, at, what, stated, found);
    }

    fn compare(&mut self, severity: Severity, name: Name, at: Addr, what: &str, stated: u64, found: u64) {
        if stated != found {
            self.find(severity, name, at, format_args!("{what} is {stated}, found {found}"));
        }
    }

    /// Returns the value, or adds the error as a finding.
    fn noted<T, E: Into<Error>>(&mut self, result: Result<T, E>, at: Addr) -> Option<T> {
        let error = match result {
            Ok(value) => return Some(value),
            Err(error) => error.into(),
        };
        self.report.push(finding_of(&error, &self.path, at));
        None
    }

    /// Records that a structure begins at `at`, or adds a finding if another one begins there already.
    fn claim(&mut self, name: Name, at: Addr) -> bool {
        if let Some(other) = self.blocks.get(&at).filter(|_| at.is_defined()) {
            let message = format!("the address is already in use by a {other}");
            self.wrong(name, at, message);
            return false;
        }
        self.blocks.insert(at, name.0);
        true
    }

    /// Reads the structure at `at`, which must have no other owner, and records its extent.
    fn block<S: Structure>(&mut self, at: Addr, context: &S::Context) -> Option<S> {
        let value = self.read::<S>(at, context)?;
        let len = value.encoded_len(self.store.widths(), context) as u64;
        // 4 KiB take as long as a small structure.
        self.small_work += len / 256;
        self.cover(Extent::new(at, len), name_of::<S>());
        Some(value)
    }

    /// Reads the structure at `at`, which must have no other owner. The caller records its extent.
    fn read<S: Structure>(&mut self, at: Addr, context: &S::Context) -> Option<S> {
        if self.is_over() || !self.claim(name_of::<S>(), at) {
            return None;
        }
        self.report.totals.structures += 1;
        let value = self.store.read::<S>(at, context);
        self.noted(value, at)
    }

    /// Returns whether the check ends before its end. Findings from then on are of no use.
    fn is_over(&self) -> bool {
        if self.report.totals.work() + self.small_work / 16 > self.options.most_work {
            self.is_stopped.set(true);
        }
        self.is_stopped.get()
    }

    /// Returns the file as its users see it, for the targets of references. Whether its root group can be
    /// read is checked elsewhere.
    fn file(&self) -> Option<&File> {
        let open = || File::options().metadata_cache_bytes(METADATA_CACHE).open_on(Arc::clone(&self.driver));
        self.file.get_or_init(|| open().ok()).as_ref()
    }

    /// Records an extent that is in use. If it reaches beyond the End of File Address, adds a finding and
    /// returns false.
    fn cover(&mut self, extent: Extent, name: Name) -> bool {
        let end = self.end();
        if extent.end().is_none_or(|reach| reach.get() > end) {
            let len = extent.len;
            let text = format!("its {len} bytes reach beyond the end of the file at {end:#x}");
            self.wrong(name, extent.addr, text);
            return false;
        }
        self.extents.add(extent, name, &self.path);
        true
    }

    /// Returns the End of File Address relative to the base address. A writer that others may follow (SWMR)
    /// need not state it before it closes the file, and that of a file in several parts may be that of one
    /// part.
    fn end(&self) -> u64 {
        if self.store.superblock().is_marked_swmr() || self.store.has_gaps() {
            return self.store.end_of_addresses();
        }
        self.store.superblock().end_of_file().saturating_sub(self.store.base())
    }

    /// Reports the progress.
    fn tick(&mut self) {
        let bytes = self.end();
        (self.progress)(Progress {
            path: &self.path,
            totals: &self.report.totals,
            done_bytes: self.extents.bytes().min(bytes),
            bytes,
            is_stopped: &self.is_stopped,
        });
    }

    /// Adds the findings that need a complete walk, and returns the report.
    fn finish(mut self, on_hole: &mut dyn FnMut(Extent)) -> Report {
        self.references();
        self.shared_references();
        self.referenced_objects();
        self.path = "".into();
        let (end, extents) = (self.end(), std::mem::take(&mut self.extents));
        let (mut lost, mut holes) = (0, 0);
        let (report, store) = (&mut self.report, self.store);
        extents.sweep(end, &mut |coverage| match coverage {
            Coverage::Hole(hole) => {
                let unused = store.bytes_in_parts(hole);
                lost += unused;
                holes += u64::from(unused > 0);
                on_hole(hole);
            }
            Coverage::Overlap { shared, first, second } => {
                let (structure, spec) = second.name;
                let message = format!(
                    "{} bytes are also in use by a {}{}",
                    shared.len,
                    first.name.0,
                    if *first.path == *second.path { String::new() } else { format!(" of {}", first.path) },
                );
                let (severity, path) = (Severity::Error, second.path.to_string());
                report.push(Finding { severity, structure, spec, at: shared.addr, path, message });
            }
        });
        report.totals.bytes = store.bytes_in_parts(Extent::new(Addr::new(0), end));
        (report.totals.lost_bytes, report.totals.holes) = (lost, holes);
        let least = if self.unseen.is_some() { 1 } else { LEAST_LOSS };
        if lost >= least {
            let (severity, why) = match self.unseen {
                Some(why) => (Severity::Note, format!("; {why}")),
                None => (Severity::Warning, String::new()),
            };
            let pieces = if holes == 1 { "piece" } else { "pieces" };
            let message = format!("{lost} bytes in {holes} {pieces} are unreachable{why}");
            self.find(severity, FILE_SPACE, Addr::UNDEFINED, message);
        }
        self.report
    }
}

/// Converts an error to a finding about the structure at `at`.
fn finding_of(error: &Error, path: &str, at: Addr) -> Finding {
    let path = path.to_owned();
    match error.root() {
        Error::Format(FormatError { kind, structure, spec, at, offset }) => {
            let message = if *offset == 0 { kind.to_string() } else { format!("{kind}, at byte {offset}") };
            Finding { severity: Severity::Error, structure, spec, at: *at, path, message }
        }
        Error::Unsupported { feature, spec } => {
            let message = format!("{feature} is not checked");
            Finding { severity: Severity::Note, structure: "file", spec, at, path, message }
        }
        error => {
            let (structure, spec) = RAW_DATA;
            Finding { severity: Severity::Error, structure, spec, at, path, message: error.to_string() }
        }
    }
}

/// The name and the spec section of the file's space as a whole in findings.
const FILE_SPACE: Name = ("file space", "II");
/// The number of unreachable bytes from which on they are worth a finding. Any file may have fewer: the
/// unused part of its last block of metadata, or gaps between blocks that grew. The totals count them.
const LEAST_LOSS: u64 = 4096;
/// The name and the spec section of data without a structure in findings.
const RAW_DATA: Name = ("raw data", "IV.B");
/// The size in bytes of the cache of decoded metadata. It is small because a check reads nearly everything
/// only once.
const METADATA_CACHE: u64 = 4 << 20;
