//! The public handles: files, groups, datasets, committed datatypes and their attributes.
//!
//! An object is identified by the address of its header. Headers are decoded once and cached in the store. A
//! handle holds its header, so its answers do not depend on the cache.

mod attribute;
mod axes;
mod copy;
mod dataset;
mod datatype;
mod delete;
mod dense;
mod element;
mod facts;
mod file;
mod group;
mod header;
mod limits;
mod path;
mod reference;
mod region;
mod shared;
mod walk;

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use hyperslab_format::Addr;
use hyperslab_format::message::kind;
use parking_lot::RwLock;

use hyperslab_error::{Error, RequestError, Result};
use hyperslab_store::{Store, Txn};

pub use attribute::Attribute;
pub use attribute::value::AttributeValue;
pub use attribute::value::scalar as scalar_attribute;
pub use axes::AxisNames;
pub use copy::CopyOptions;
pub use copy::repack::{RepackChunks, RepackOptions};
pub use dataset::Dataset;
pub use dataset::builder::DatasetBuilder;
pub use dataset::chunking::auto_chunks;
pub use dataset::external::ExternalFile;
pub use dataset::items::VlenItems;
pub use dataset::mapped_view::InPlace;
pub use dataset::options::{DatasetOptions, NewStorage};
pub use dataset::vds::VirtualSource;
pub use dataset::vlen_read::{Found, Place, StoredIds, VlenElements, VlenSink};
pub use dataset::vlen_write::{VlenData, VlenKind};
pub use datatype::NamedDatatype;
pub use element::enumeration::{enumeration, no_variant};
pub use element::fixed::decode;
pub use element::record::{compound, in_member, next, no_variant_in, packed};
pub use element::{Element, FixedSize};
pub use facts::HeaderFacts;
pub use file::File;
pub use file::external::LinkAccess;
pub use file::options::OpenOptions;
pub use file::space::{FileSpace, SpaceStrategy};
pub use group::Group;
pub use header::versions::LibVersion;
pub use reference::ReferenceTarget;
pub use region::Region;
pub use walk::{Step, Walk};

use group::links::LinkStorage;
use header::read::Header;

/// The common part of groups, datasets and committed datatypes.
///
/// ```
/// let file = hyperslab::File::in_memory()?;
/// let group = file.root().create_group("surface")?; // a group is an object, too
/// group.set_attribute("model", "ERA5")?;
/// assert_eq!((group.path(), group.attribute_names()?), ("/surface", vec!["model".to_owned()]));
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Clone)]
pub struct Object {
    file: File,
    address: Addr,
    /// The generation of the file's metadata when the object was found. A later object may have the same
    /// address.
    found: u64,
    header: Arc<RwLock<Known<Arc<Header>>>>,
    path: Arc<str>,
}

/// A value derived from the file's metadata, and the generation of these metadata.
#[derive(Debug)]
struct Known<T> {
    generation: u64,
    value: T,
}

/// An object of any kind.
///
/// ```
/// use hyperslab::Node;
///
/// let file = hyperslab::File::in_memory()?;
/// file.root().new_dataset::<u8>("d").shape([4]).create()?;
/// match file.get("d")? {
///     Node::Group(group) => println!("a group of {}", group.len()?),
///     Node::Dataset(dataset) => println!("a dataset of {:?}", dataset.shape()),
///     Node::Datatype(datatype) => println!("a datatype: {:?}", datatype.datatype()),
/// }
/// # Ok::<(), hyperslab::Error>(())
/// ```
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
    /// Wraps a header that was read when the file's metadata had this generation.
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

    /// Returns the path by which the object was reached, or an empty path if it was reached by its address.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the address of the object's header, which identifies it within its file.
    pub fn address(&self) -> Addr {
        self.address
    }

    /// Returns the file that holds the object. Behind an external link, this is not the file that was opened
    /// first.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Returns the number of hard links to the object.
    pub fn hard_links(&self) -> Result<u32> {
        self.header().and_then(|header| header.reference_count()).map_err(|error| error.at(&self.path))
    }

    fn store(&self) -> &Store {
        self.file.store()
    }

    /// Returns the current header, which is read again if the file was changed.
    fn header(&self) -> Result<Arc<Header>> {
        let generation = self.store().generation();
        // Does not block: in a forked child, the lock may be held by a thread that does not exist there.
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

    /// Whether the object was deleted since this handle was made.
    pub fn is_deleted(&self) -> bool {
        self.store().is_over(self.address, self.found)
    }

    /// Fails if the object was deleted.
    fn check_alive(&self) -> Result<()> {
        if self.is_deleted() {
            return Err(RequestError::Deleted { name: self.path.to_string() }.into());
        }
        Ok(())
    }

    /// Begins a step that changes the object.
    fn begin(&self) -> Result<Txn<'_>> {
        let txn = self.store().begin()?;
        self.check_alive()?;
        Ok(txn)
    }

    /// Runs `f` as one step that changes the object.
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

/// Lets each of these types dereference to [`Object`].
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
    /// Reads the header at `address` and returns an object of its kind.
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

    /// Returns the same object under another path.
    pub(super) fn with_path(mut self, path: Arc<str>) -> Self {
        match &mut self {
            Self::Group(group) => group.object.path = path,
            Self::Dataset(dataset) => dataset.object.path = path,
            Self::Datatype(datatype) => datatype.object.path = path,
        }
        self
    }

    /// Returns the kind of object as text: "group", "dataset" or "datatype".
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Group(_) => "group",
            Self::Dataset(_) => "dataset",
            Self::Datatype(_) => "datatype",
        }
    }

    /// Returns the group, or an error if this is not a group.
    pub fn into_group(self) -> Result<Group> {
        match self {
            Self::Group(group) => Ok(group),
            other => Err(other.not_a("group")),
        }
    }

    /// Returns the dataset, or an error if this is not a dataset.
    ///
    /// ```
    /// let file = hyperslab::File::in_memory()?;
    /// file.root().new_dataset::<u8>("d").shape([1]).create()?;
    /// assert_eq!(file.get("d")?.into_dataset()?.size(), 1);
    /// assert!(file.get("d")?.into_group().is_err());
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn into_dataset(self) -> Result<Dataset> {
        match self {
            Self::Dataset(dataset) => Ok(dataset),
            other => Err(other.not_a("dataset")),
        }
    }

    /// Returns the committed datatype, or an error if this is not one.
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
