//! Checks a file: walks everything that its superblock leads to, decodes each structure afresh, and accounts for every byte.
//!
//! What is found is data ([`Report`]), and a damaged part does not end the walk: it goes on with what else can be reached.
//! No block is visited twice, so no damage makes the walk longer than the file.

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
mod links;
mod report;
mod space;
mod superblock;
mod symbol_table;
mod values;

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::fmt::Display;
use std::sync::Arc;

use hyperslab_filters::{Registry, Scratch};
use hyperslab_format::heap::global::{GlobalHeapCollection, GlobalHeapId};
use hyperslab_format::{Addr, ErrorKind, Extent, FormatError, Structure};

use crate::driver::Driver;
use crate::error::{Error, Result};
use crate::object::File;
use crate::store::Store;
use crate::store::recovery::{self, Action};
use extents::{Coverage, Extents};

pub use report::{Finding, Report, Severity, Totals};

/// What to check.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CheckOptions {
    /// Whether to decode every chunk, and to follow variable-length elements and references in the data of datasets.
    pub data: bool,
    /// Chunks that are larger than this when decoded are not decoded, in bytes.
    pub max_chunk_bytes: u64,
    /// The filters that can be decoded.
    pub registry: Arc<Registry>,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self { data: false, max_chunk_bytes: 4 << 30, registry: Arc::default() }
    }
}

/// How far a check is.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'p> {
    /// The path of the object that is being checked.
    pub path: &'p str,
    /// What was checked so far.
    pub totals: &'p Totals,
}

/// Checks the file that `driver` has; nothing is written. `progress` is called now and then.
///
/// A file that a crash left half-way is checked as recovery would leave it. It is an error of this function if there is no
/// file to be checked: the medium fails, or what is there is not HDF5. All else that is wrong is in the report.
pub fn check(
    driver: Arc<dyn Driver>,
    options: &CheckOptions,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Report> {
    let recovery = recovery::inspect(&*driver).map(|report| report.action);
    let store = Store::open(Arc::clone(&driver), METADATA_CACHE);
    let (store, recovery) = match (store, recovery) {
        (Ok(store), Ok(recovery)) => (store, recovery),
        (Err(error), recovery) => return unopened(error, recovery.unwrap_or(Action::Nothing)),
        (_, Err(error)) => return Err(error),
    };
    let file_options = File::options().metadata_cache_bytes(METADATA_CACHE);
    // Only references in the data need it; whether the root group can be read is found out below.
    let file = if options.data { file_options.open_on(driver).ok() } else { None };
    let mut check = Check {
        store: &store,
        file,
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
        scratch: Scratch::default(),
        path: "".into(),
        unseen: None,
        progress,
    };
    check.superblock();
    while let Some(at) = check.waiting.pop_front() {
        check.object(at);
    }
    Ok(check.finish())
}

/// The report on a file that cannot be opened, if it is one.
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

/// A check under way.
struct Check<'c> {
    store: &'c Store,
    /// The file as its users see it, where data are checked and it can be opened.
    file: Option<File>,
    options: &'c CheckOptions,
    report: Report,
    extents: Extents,
    /// The structures that were met, by their addresses, each with its name.
    blocks: HashMap<Addr, &'static str>,
    /// The objects that links lead to.
    objects: HashMap<Addr, Object>,
    /// Those that are still to be checked.
    waiting: VecDeque<Addr>,
    /// The collections of the global heap, each with whether it could be read.
    collections: HashMap<Addr, bool>,
    /// The one that was used last.
    last_collection: Option<(Addr, Arc<GlobalHeapCollection>)>,
    /// Objects of the global heap whose elements lead further, and were followed.
    followed: HashSet<GlobalHeapId>,
    /// Where references lead, each with the path of an object that has one.
    referenced: BTreeMap<Addr, Arc<str>>,
    /// Buffers of filters.
    scratch: Scratch,
    /// The path of the object that is being checked.
    path: Arc<str>,
    /// Why there may be structures that this check did not look for: then space that nothing reaches may not be lost.
    unseen: Option<&'static str>,
    progress: &'c mut dyn FnMut(Progress<'_>),
}

/// An object that links lead to.
struct Object {
    /// The path by which it was found first.
    path: Arc<str>,
    /// Links that were found, and uses of a committed datatype.
    found: u64,
    /// How many its header says there are; none where the header cannot be read.
    stated: Option<u32>,
}

/// The name and the section of a structure.
type Name = (&'static str, &'static str);

const fn name_of<S: Structure>() -> Name {
    (S::NAME, S::SPEC)
}

impl Check<'_> {
    /// Notes a finding.
    fn find(&mut self, severity: Severity, (structure, spec): Name, at: Addr, message: impl Display) {
        let (path, message) = (self.path.to_string(), message.to_string());
        self.report.push(Finding { severity, structure, spec, at, path, message });
    }

    /// Notes what is wrong with the structure at `at`.
    fn wrong(&mut self, name: Name, at: Addr, message: impl Display) {
        self.find(Severity::Error, name, at, message);
    }

    /// Notes a number that is not what other structures say.
    fn expect(&mut self, name: Name, at: Addr, what: &str, stated: u64, found: u64) {
        if stated != found {
            self.wrong(name, at, format_args!("{what} is {stated}, found {found}"));
        }
    }

    /// The value, or a finding.
    fn noted<T, E: Into<Error>>(&mut self, result: Result<T, E>, at: Addr) -> Option<T> {
        let error = match result {
            Ok(value) => return Some(value),
            Err(error) => error.into(),
        };
        self.report.push(finding_of(&error, &self.path, at));
        None
    }

    /// Notes that a structure begins at `at`: once, whatever leads there. A finding if one was there before.
    fn claim(&mut self, name: Name, at: Addr) -> bool {
        if let Some(other) = self.blocks.get(&at).filter(|_| at.is_defined()) {
            let message = format!("the address is in use already, by a {other}");
            self.wrong(name, at, message);
            return false;
        }
        self.blocks.insert(at, name.0);
        true
    }

    /// The structure at `at`, which nothing else may lead to, and its extent noted.
    fn block<S: Structure>(&mut self, at: Addr, context: &S::Context) -> Option<S> {
        let value = self.read::<S>(at, context)?;
        let len = value.encoded_len(self.store.widths(), context) as u64;
        self.cover(Extent::new(at, len), name_of::<S>());
        Some(value)
    }

    /// The structure at `at`, which nothing else may lead to. The caller notes its extent.
    fn read<S: Structure>(&mut self, at: Addr, context: &S::Context) -> Option<S> {
        if !self.claim(name_of::<S>(), at) {
            return None;
        }
        self.report.totals.structures += 1;
        let value = self.store.read::<S>(at, context);
        self.noted(value, at)
    }

    /// Notes an extent that is in use. A finding, and false, if it reaches beyond the End of File Address.
    fn cover(&mut self, extent: Extent, name: Name) -> bool {
        let end = self.end();
        if extent.end().is_none_or(|reach| reach.get() > end) {
            let len = extent.len;
            let text = format!("its {len} bytes reach beyond the end of the file, {end:#x}");
            self.wrong(name, extent.addr, text);
            return false;
        }
        self.extents.add(extent, name, &self.path);
        true
    }

    /// The End of File Address, counted from the base address.
    fn end(&self) -> u64 {
        self.store.superblock().end_of_file().saturating_sub(self.store.base())
    }

    /// Says how far the check is.
    fn tick(&mut self) {
        (self.progress)(Progress { path: &self.path, totals: &self.report.totals });
    }

    /// What can be said when everything was visited.
    fn finish(mut self) -> Report {
        self.references();
        self.referenced_objects();
        self.path = "".into();
        let (end, extents) = (self.end(), std::mem::take(&mut self.extents));
        let (mut lost, mut holes) = (0, 0);
        let report = &mut self.report;
        extents.sweep(end, &mut |coverage| match coverage {
            Coverage::Hole(hole) => {
                lost += hole.len;
                holes += 1;
            }
            Coverage::Overlap { shared, first, second } => {
                let (structure, spec) = second.name;
                let message = format!(
                    "{} bytes are in use by a {}{} as well",
                    shared.len,
                    first.name.0,
                    if *first.path == *second.path { String::new() } else { format!(" of {}", first.path) },
                );
                let (severity, path) = (Severity::Error, second.path.to_string());
                report.push(Finding { severity, structure, spec, at: shared.addr, path, message });
            }
        });
        report.totals.bytes = end;
        (report.totals.lost_bytes, report.totals.holes) = (lost, holes);
        if lost > 0 {
            let (severity, why) = match self.unseen {
                Some(why) => (Severity::Note, format!("; {why}")),
                None => (Severity::Warning, String::new()),
            };
            let message = format!("{lost} bytes in {holes} pieces are reached by nothing{why}");
            self.find(severity, FILE_SPACE, Addr::UNDEFINED, message);
        }
        self.report
    }
}

/// What an error says, as a finding about the structure at `at`.
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

/// How findings name the file's space as a whole.
const FILE_SPACE: Name = ("file space", "II");
/// How findings name data that no structure wraps.
const RAW_DATA: Name = ("raw data", "IV.B");
/// Decoded metadata that are kept: a check reads nearly everything once.
const METADATA_CACHE: u64 = 4 << 20;
