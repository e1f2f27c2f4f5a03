//! What users hold: files, groups, datasets, committed datatypes and their attributes.
//!
//! An object is known by the address of its header. Headers are decoded once and kept in the store's cache; a handle
//! holds its header, so nothing it answers depends on the cache.

mod attribute;
mod copy;
mod dataset;
mod datatype;
mod delete;
mod dense;
mod element;
mod file;
mod group;
mod header;
mod limits;
mod path;
mod reference;
mod walk;

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use hyperslab_format::Addr;
use hyperslab_format::message::kind;
use parking_lot::RwLock;

use crate::error::{Error, RequestError, Result};
use crate::store::{Store, Txn};

pub use attribute::Attribute;
pub use attribute::value::AttributeValue;
pub use copy::CopyOptions;
pub use copy::repack::{RepackChunks, RepackOptions};
pub use dataset::Dataset;
pub use dataset::builder::DatasetBuilder;
pub use dataset::chunking::auto_chunks;
pub use dataset::create::{DatasetOptions, NewStorage};
pub use dataset::external::ExternalFile;
pub use dataset::filter_spec::{filter_spec, refitted_filter};
pub use datatype::NamedDatatype;
pub use element::record::{compound, decode, packed};
pub use element::{Element, FixedSize};
pub use file::File;
pub use file::options::OpenOptions;
pub use group::Group;
pub use header::versions::LibVersion;
pub use reference::ReferenceTarget;
pub use walk::{Step, Walk};

pub(crate) use dense::Dense;

use group::links::LinkStorage;
use header::read::Header;

/// What groups, datasets and committed datatypes have in common.
#[derive(Clone)]
pub struct Object {
    file: File,
    address: Addr,
    /// The generation of the file's metadata when the object was found: another may have its address since.
    found: u64,
    header: Arc<RwLock<Known<Arc<Header>>>>,
    path: Arc<str>,
}

/// A value that follows from the file's metadata, and the generation that it follows from.
#[derive(Debug)]
struct Known<T> {
    generation: u64,
    value: T,
}

/// An object of any kind.
#[derive(Debug, Clone)]
pub enum Node {
    /// A group.
    Group(Group),
    /// A dataset.
    Dataset(Dataset),
    /// A committed datatype.
    Datatype(NamedDatatype),
}

impl Object {
    /// The object with this header, which was read when the file's metadata were of this generation.
    fn new(file: File, header: Arc<Header>, generation: u64, path: Arc<str>) -> Self {
        let address = header.address();
        Self {
            file,
            address,
            found: generation,
            header: Arc::new(RwLock::new(Known { generation, value: header })),
            path,
        }
    }

    /// The path by which the object was reached; empty for one that was reached by its address.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The address of the object's header, which identifies it within its file.
    pub fn address(&self) -> Addr {
        self.address
    }

    /// The file that holds the object: another than the one first opened, behind an external link.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// How many hard links there are to the object.
    pub fn hard_links(&self) -> Result<u32> {
        self.header().and_then(|header| header.reference_count()).map_err(|error| error.at(&self.path))
    }

    fn store(&self) -> &Store {
        self.file.store()
    }

    /// The header as it is now: read again where the file was changed since it was read.
    fn header(&self) -> Result<Arc<Header>> {
        let generation = self.store().generation();
        // Tried, not waited for: in a forked child a thread that is not there may have the lock.
        let known = self.header.try_read_recursive();
        if let Some(known) = known.filter(|known| known.generation == generation) {
            return Ok(Arc::clone(&known.value));
        }
        let _reading = self.store().reading();
        self.check_alive()?;
        let header = Header::read(self.store(), self.address)?;
        if let Some(mut known) = self.header.try_write() {
            *known = Known { generation, value: Arc::clone(&header) };
        }
        Ok(header)
    }

    /// An error where the object was deleted.
    fn check_alive(&self) -> Result<()> {
        if self.store().is_over(self.address, self.found) {
            return Err(RequestError::NoSuchObject { name: self.path.to_string() }.into());
        }
        Ok(())
    }

    /// Begins a step that changes the object.
    fn begin(&self) -> Result<Txn<'_>> {
        let txn = self.store().begin()?;
        self.check_alive()?;
        Ok(txn)
    }

    /// Does `f` as one step that changes the object.
    fn step<R>(&self, f: impl FnOnce(&mut Txn<'_>) -> Result<R>) -> Result<R> {
        self.store().step(|txn| {
            self.check_alive()?;
            f(txn)
        })
    }

    fn describe(&self, kind: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(kind)
            .field("path", &self.path)
            .field("address", &self.address())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.describe("Object", f)
    }
}

/// Each of these is an object, with more to it.
macro_rules! objects {
    ($($kind:ident),*) => {$(
        impl Deref for $kind {
            type Target = Object;

            fn deref(&self) -> &Object {
                &self.object
            }
        }

        impl fmt::Debug for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.object.describe(stringify!($kind), f)
            }
        }
    )*};
}

objects!(Group, Dataset, NamedDatatype);

impl Node {
    /// Reads the header at `address` and finds out what it is the header of.
    fn open(file: &File, address: Addr, path: &Arc<str>) -> Result<Self> {
        Self::open_unnamed(file, address, path).map_err(|error| error.at(path))
    }

    fn open_unnamed(file: &File, address: Addr, path: &Arc<str>) -> Result<Self> {
        let store = file.store();
        let generation = store.generation();
        let _reading = store.reading();
        let header = Header::read(store, address)?;
        let is_group = LinkStorage::of(&header, store)?.is_some();
        let object = Object::new(file.clone(), Arc::clone(&header), generation, Arc::clone(path));
        if is_group {
            return Ok(Self::Group(Group::new(object)));
        }
        match (header.has(kind::DATATYPE), header.has(kind::LAYOUT)) {
            (true, true) => Dataset::new(object, &header).map(Self::Dataset),
            (true, false) => NamedDatatype::new(object, &header).map(Self::Datatype),
            (false, _) => Err(header.lacks("a link info, symbol table or datatype message")),
        }
    }

    /// The same object under another path.
    pub(super) fn with_path(mut self, path: Arc<str>) -> Self {
        match &mut self {
            Self::Group(group) => group.object.path = path,
            Self::Dataset(dataset) => dataset.object.path = path,
            Self::Datatype(datatype) => datatype.object.path = path,
        }
        self
    }

    /// The kind of object, as text: "group", "dataset" or "datatype".
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Group(_) => "group",
            Self::Dataset(_) => "dataset",
            Self::Datatype(_) => "datatype",
        }
    }

    /// The group, or an error if this is none.
    pub fn into_group(self) -> Result<Group> {
        match self {
            Self::Group(group) => Ok(group),
            other => Err(other.not_a("group")),
        }
    }

    /// The dataset, or an error if this is none.
    pub fn into_dataset(self) -> Result<Dataset> {
        match self {
            Self::Dataset(dataset) => Ok(dataset),
            other => Err(other.not_a("dataset")),
        }
    }

    /// The committed datatype, or an error if this is none.
    pub fn into_datatype(self) -> Result<NamedDatatype> {
        match self {
            Self::Datatype(datatype) => Ok(datatype),
            other => Err(other.not_a("datatype")),
        }
    }

    fn not_a(&self, expected: &'static str) -> Error {
        RequestError::WrongKind { name: self.path().to_owned(), found: self.kind(), expected }.into()
    }
}

impl Deref for Node {
    type Target = Object;

    fn deref(&self) -> &Object {
        match self {
            Self::Group(group) => group,
            Self::Dataset(dataset) => dataset,
            Self::Datatype(datatype) => datatype,
        }
    }
}

const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<File>();
    shared::<Node>();
};
