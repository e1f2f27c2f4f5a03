//! PyTables' layout of an index: a group `_i_<table>/<column>` with datasets and attributes.

use hyperslab::internals::refitted_filter;
use hyperslab::storage::DatasetOptions;
use hyperslab::storage::FilterSpec;
use hyperslab::{Attribute, Dataset, Dataspace, Element, Group, Node, Object};
use hyperslab_filters::FilterId;
use hyperslab_format::datatype::{Bits, Datatype};
use hyperslab_format::message::link::LinkTarget;

use super::sizes::Sizes;
use super::value::ValueType;
use super::{Filters, Kind};
use crate::error::{Error, Result};
use crate::node::{describe, is_class, is_marked};

/// The group of the index of one column, and what its attributes say.
#[derive(Debug, Clone)]
pub(super) struct IndexLayout {
    pub(super) group: Group,
    pub(super) kind: Kind,
    pub(super) optlevel: u8,
    pub(super) sizes: Sizes,
    /// The type of the values in the index.
    pub(super) values: ValueType,
    /// The number of whole slices.
    pub(super) slices: u64,
    /// The number of positions in the last row.
    pub(super) last: u64,
    pub(super) is_dirty: bool,
    pub(super) sorted: Dataset,
    pub(super) indices: Dataset,
    pub(super) ranges: Dataset,
    pub(super) bounds: Dataset,
    pub(super) sorted_last: Dataset,
    pub(super) indices_last: Dataset,
}

/// The classes of groups: of one index, of the indexes of a table, and of those of nested columns.
pub(super) const INDEX: &str = "INDEX";
pub(super) const CONTAINER: &str = "TINDEX";
pub(super) const NESTED: &str = "DINDEX";
/// The attributes of a group.
const VERSION: &str = "2.1";
/// Marks an index that does not hold what the table holds.
const DIRTY: &str = "DIRTY";
const IS_SORTED: &str = "is_csi";
const LAST_COUNT: &str = "nelements";
const FILTERS: &str = "FILTERS";
const AUTO: &str = "AUTO_INDEX";
/// An index has fewer attributes and datasets than this.
const MEMBERS: u16 = 20;
/// The most bytes of a chunk of an index. Those that PyTables writes have a few megabytes at most.
const MOST_OF_CHUNK: u64 = 64 << 20;
/// The filters that PyTables gives to indexes: zlib at level 1 after a shuffle, packed into one number.
const DEFAULT_FILTERS: i64 = 0x01_01_01;

/// Returns the path of the indexes of the table at a path. `None` for the root group, and for no path.
pub(super) fn beside(path: &str) -> Option<String> {
    let path = path.trim_end_matches('/');
    match path.rsplit_once('/') {
        None if path.is_empty() => None,
        None => Some(format!("_i_{path}")),
        Some((parent, name)) => Some(format!("{parent}/_i_{name}")),
    }
}

/// Returns the path of the indexes of a table.
///
/// Errors: `Object` if no path leads to the table.
pub(super) fn table_path(table: &Dataset) -> Result<String> {
    let known = if leads_to(table, table.path())? { Some(table.path().to_owned()) } else { searched(table)? };
    known.as_deref().and_then(beside).ok_or_else(|| {
        damaged(table, "a table without a path has no indexes: give it a name, and open it by its path")
    })
}

/// Returns whether the path leads to the table. The table may have been moved since it was opened.
fn leads_to(table: &Dataset, path: &str) -> Result<bool> {
    let Some((parent, name)) = path.rsplit_once('/') else { return Ok(false) };
    let root = table.file().root();
    let parent = if parent.is_empty() {
        root
    } else {
        match root.get(parent) {
            Ok(Node::Group(group)) => group,
            _ => return Ok(false),
        }
    };
    Ok(match parent.link(name)? {
        None => false,
        Some(link) => match link.target {
            LinkTarget::Hard(address) => address == table.address(),
            _ => parent.open_link(&link).is_ok_and(|node| node.address() == table.address()),
        },
    })
}

/// Searches the file for a table that was moved, or was opened by a reference.
fn searched(table: &Dataset) -> Result<Option<String>> {
    Ok(if table.hard_links()? == 0 { None } else { table.file().path_of(table.address())? })
}

/// Returns the path of the index of a column of nested names, joined by `/`.
pub(super) fn path(table: &Dataset, column: &str) -> Result<String> {
    Ok(format!("{}/{column}", table_path(table)?))
}

/// Returns the error for an index whose parts contradict each other.
pub(super) fn damaged(object: &Object, why: impl Into<String>) -> Error {
    Error::Object { path: object.path().to_owned(), why: why.into() }
}

/// Returns the error for an index of which a part is missing or cannot be decoded. Other errors are not the
/// index's.
pub(super) fn unreadable(group: &Group, error: Error) -> Error {
    match error {
        Error::Hdf5(error) if !matches!(error.root(), hyperslab::Error::Io { .. }) => {
            damaged(group, format!("{error}: build the index again"))
        }
        error => error,
    }
}

impl IndexLayout {
    /// Opens the index of a column, if there is one.
    ///
    /// Errors: `Object` if the parts of the index contradict each other.
    pub(super) fn open(table: &Dataset, column: &str) -> Result<Option<Self>> {
        let (root, path) = (table.file().root(), path(table, column)?);
        if !root.contains(&path)? {
            return Ok(None);
        }
        let Node::Group(group) = root.get(&path)? else { return Ok(None) };
        // Others are groups of nested columns, and indexes of PyTables 1.x, which PyTables ignores, too.
        if !is_class(&group, INDEX)? {
            return Ok(None);
        }
        Self::of(group.clone()).map(Some).map_err(|error| unreadable(&group, error))
    }

    fn of(group: Group) -> Result<Self> {
        let number = |name: &str| group.attribute_value::<u64>(name);
        let version = group.attribute("VERSION")?.data;
        let is_old = version.as_slice() < b"2.1";
        let sizes = Sizes {
            superblock: number("superblocksize")?,
            block: number("blocksize")?,
            slice: number("slicesize")?,
            chunk: number("chunksize")?,
            reduction: if is_old { 1 } else { number("reduction")? },
        };
        let [sorted, indices, ranges, bounds, sorted_last, indices_last] =
            ["sorted", "indices", "ranges", "bounds", "sortedLR", "indicesLR"]
                .map(|name| group.dataset(name));
        let (sorted, indices, indices_last) = (sorted?, indices?, indices_last?);
        let kind = Kind::of_size(indices.element_size());
        let values = ValueType::of_index(&sorted.datatype());
        let (Some(kind), Some(values)) = (kind, values) else {
            return Err(damaged(&group, "its datasets have unknown datatypes: build the index again"));
        };
        let last = if is_old {
            let len = indices_last.size();
            indices_last.read::<u64>(len.saturating_sub(1)..len)?.first().copied().unwrap_or(0)
        } else {
            indices_last.attribute_value(LAST_COUNT)?
        };
        let layout = Self {
            kind,
            optlevel: u8::try_from(number("optlevel")?).unwrap_or(u8::MAX),
            sizes,
            values,
            slices: sorted.with_shape(|shape| shape.first().copied().unwrap_or(0)),
            last,
            is_dirty: is_set(&group, DIRTY)?,
            sorted,
            indices,
            ranges: ranges?,
            bounds: bounds?,
            sorted_last: sorted_last?,
            indices_last,
            group,
        };
        layout.check()?;
        Ok(layout)
    }

    /// Checks that the datasets have the shapes that the attributes say.
    fn check(&self) -> Result<()> {
        let Sizes { slice, chunk, reduction, block, .. } = self.sizes;
        let are_sizes = reduction > 0
            && chunk >= reduction
            && slice >= chunk
            && block >= slice
            && chunk.is_multiple_of(reduction)
            && slice.is_multiple_of(chunk)
            && self.last <= slice
            && self.slices.checked_mul(slice).is_some_and(|rows| rows.checked_add(self.last).is_some());
        if !are_sizes {
            return Err(damaged(
                &self.group,
                "the sizes of its parts contradict each other: build the index again",
            ));
        }
        // A search reads a chunk of values and a chunk of row numbers, as the attribute says.
        if chunk.saturating_mul(self.values.size().max(8) as u64) > MOST_OF_CHUNK {
            return Err(damaged(&self.group, "its chunks are too large: build the index again"));
        }
        let slices = self.slices;
        let bound = self.bounds_in_slice();
        let parts = [
            (&self.sorted, vec![slices, slice / reduction]),
            (&self.indices, vec![slices, slice]),
            (&self.ranges, vec![slices, 2]),
            (&self.bounds, vec![slices, bound]),
        ];
        for (dataset, shape) in &parts {
            if dataset.shape() != *shape {
                return Err(damaged(dataset, format!("its shape is not {shape:?}: build the index again")));
            }
        }
        let ends = if self.last == 0 { 0 } else { self.last_values() + self.last_chunks() + 1 };
        for (dataset, len) in [(&self.sorted_last, ends), (&self.indices_last, self.last)] {
            if dataset.with_shape(<[u64]>::len) != 1 || dataset.size() < len {
                return Err(damaged(dataset, format!("it has no {len} elements: build the index again")));
            }
        }
        let all = parts.iter().map(|(dataset, _)| *dataset).chain([&self.sorted_last, &self.indices_last]);
        for dataset in all {
            let chunk = dataset.chunk_shape().unwrap_or_default();
            let elements = chunk.iter().fold(1_u64, |product, &side| product.saturating_mul(side));
            if elements.saturating_mul(dataset.element_size() as u64) > MOST_OF_CHUNK {
                return Err(damaged(dataset, "its chunks are too large: build the index again"));
            }
        }
        for dataset in [&self.ranges, &self.bounds, &self.sorted_last] {
            if ValueType::of_index(&dataset.datatype()) != Some(self.values) {
                return Err(damaged(dataset, "its values have another datatype: build the index again"));
            }
        }
        Ok(())
    }

    /// Creates the groups and datasets of an index without rows. The index is marked dirty.
    pub(super) fn create(
        table: &Dataset,
        column: &str,
        values: ValueType,
        kind: Kind,
        optlevel: u8,
        sizes: Sizes,
        filters: &Filters,
    ) -> Result<Self> {
        let root = table.file().root();
        let mut at = table_path(table)?;
        if !root.contains(&at)? {
            let title = format!("Indexes container for table {}", table.path());
            describe(&*root.create_group(&at)?, CONTAINER, &title, "1.0")?;
        }
        let (parents, name) = column.rsplit_once('/').unwrap_or(("", column));
        let mut nested = String::new();
        for parent in parents.split('/').filter(|parent| !parent.is_empty()) {
            nested = if nested.is_empty() { parent.to_owned() } else { format!("{nested}/{parent}") };
            at = format!("{at}/{parent}");
            if !root.contains(&at)? {
                let title = format!("Indexes container for sub-description {nested}");
                describe(&*root.create_group(&at)?, NESTED, &title, "1.0")?;
            }
        }
        let group = root.create_compact_group(&format!("{at}/{name}"), MEMBERS)?;
        group.set_attribute(DIRTY, 1_i32)?;
        describe(&group, INDEX, &format!("Index for {name} column"), VERSION)?;
        let packed = match filters {
            Filters::New(_) => (*filters == Filters::default()).then_some(DEFAULT_FILTERS),
            Filters::Kept(_, packed) => *packed,
        };
        // In a file without this version, PyTables takes the number for the filters themselves.
        if let Some(packed) = packed
            && is_marked(root.file())?
        {
            group.set_attribute(FILTERS, packed)?;
        }
        group.set_attribute("superblocksize", sizes.superblock)?;
        group.set_attribute("blocksize", sizes.block)?;
        group.set_attribute("slicesize", u32::try_from(sizes.slice).unwrap_or(u32::MAX))?;
        group.set_attribute("chunksize", u32::try_from(sizes.chunk).unwrap_or(u32::MAX))?;
        group.set_attribute("optlevel", i64::from(optlevel))?;
        group.set_attribute("reduction", i64::try_from(sizes.reduction).unwrap_or(1))?;
        let make = Maker { group: &group, filters };
        let unknown = || damaged(&group, "its values have no datatype");
        let value = values.indexed().datatype().ok_or_else(unknown)?;
        let number = kind.datatype();
        let (slice, chunk) = (sizes.slice / sizes.reduction, sizes.chunk / sizes.reduction);
        let bounds = (slice - 1) / chunk;
        let rows_of = |bytes: u64, width: u64| (bytes / (width * values.size() as u64)).max(1);
        make.growing("sorted", "INDEXARRAY", "Sorted Values", &value, &[slice], &[1, chunk])?;
        make.growing(
            "indices",
            "INDEXARRAY",
            "Number of chunk in table",
            &number,
            &[sizes.slice],
            &[1, sizes.chunk],
        )?;
        make.growing("ranges", "CACHEARRAY", "Range Values", &value, &[2], &[rows_of(1 << 16, 2), 2])?;
        make.growing("bounds", "CACHEARRAY", "Boundary Values", &value, &[bounds], &[1, bounds])?;
        // PyTables optimises an index with these, and leaves them empty.
        let unused = [
            ("mranges", "Median ranges"),
            ("abounds", "Start bounds"),
            ("zbounds", "End bounds"),
            ("mbounds", "Median bounds"),
        ];
        for (name, title) in unused {
            make.growing(name, "EARRAY", title, &value, &[], &[rows_of(1 << 16, 1)])?;
        }
        let len = slice + 2 + bounds;
        make.last_row("sortedLR", "Last Row sorted values + bounds", &value, len, chunk)?;
        make.last_row("indicesLR", "Last Row indices", &number, sizes.slice, sizes.chunk)?;
        Self::of(group)
    }

    /// Sets the number of slices and of positions in the last row. New positions hold nothing yet.
    pub(super) fn resize(&mut self, slices: u64, last: u64) -> Result<()> {
        for dataset in [&self.sorted, &self.indices, &self.ranges, &self.bounds] {
            dataset.resize_axis(0, slices)?;
        }
        // Without filters, elements are written where the old ones are. They get new places, so that those of
        // the last commit are whole after a crash, and after a transaction that is undone.
        for dataset in [&self.ranges, &self.bounds, &self.sorted_last, &self.indices_last] {
            if dataset.filters().filters.is_empty() {
                let len = dataset.with_shape(|shape| shape.first().copied().unwrap_or(0));
                dataset.resize_axis(0, 0)?;
                dataset.resize_axis(0, len)?;
            }
        }
        (self.slices, self.last) = (slices, last);
        let count = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        self.sorted_last.set_attribute(LAST_COUNT, count(self.last_values()))?;
        self.indices_last.set_attribute(LAST_COUNT, count(last))?;
        Ok(())
    }

    /// Sets whether the index holds what the table holds.
    pub(super) fn set_dirty(&mut self, is_dirty: bool) -> Result<()> {
        self.is_dirty = is_dirty;
        Ok(self.group.set_attribute(DIRTY, i32::from(is_dirty))?)
    }

    /// Writes for PyTables whether all positions are in the order of the values.
    pub(super) fn set_sorted(&self, is_sorted: bool) -> Result<()> {
        let value = Attribute {
            name: IS_SORTED.to_owned(),
            datatype: Datatype::Bits(Bits::little(1)),
            dataspace: Dataspace::Scalar,
            data: vec![u8::from(is_sorted)],
        };
        Ok(self.group.put_attribute(&value)?)
    }

    /// Returns the filters of the index, for another index.
    pub(super) fn filters(&self) -> Filters {
        // In some files it is a pickled object.
        let packed = self.group.attribute_value(FILTERS).ok();
        Filters::Kept(self.sorted.filters().filters.clone(), packed)
    }

    /// Returns the number of positions.
    pub(super) fn len(&self) -> u64 {
        self.slices * self.sizes.slice + self.last
    }

    /// Returns the number of values in `positions` of a slice or the last row, from its start.
    pub(super) fn values_in(&self, positions: u64) -> u64 {
        positions.div_ceil(self.sizes.reduction)
    }

    /// Returns the number of values in a chunk.
    pub(super) fn values_in_chunk(&self) -> u64 {
        self.sizes.chunk / self.sizes.reduction
    }

    /// Returns the number of values in the last row.
    pub(super) fn last_values(&self) -> u64 {
        self.values_in(self.last)
    }

    /// Returns the number of chunks of the last row.
    pub(super) fn last_chunks(&self) -> u64 {
        self.last_values().div_ceil(self.values_in_chunk())
    }

    /// Returns the number of chunks of all positions.
    pub(super) fn chunks(&self) -> u64 {
        self.slices * self.sizes.chunks_in_slice() + self.last_chunks()
    }

    fn bounds_in_slice(&self) -> u64 {
        self.sizes.chunks_in_slice() - 1
    }
}

/// Returns a filter for elements of another size and chunks of another shape.
fn fitted(filter: &FilterSpec, size: usize, chunk: &[u64]) -> hyperslab::Result<FilterSpec> {
    let mut fitted = refitted_filter(filter, size, chunk)?;
    if fitted.id == FilterId::SHUFFLE.0 {
        fitted.client_data = vec![u32::try_from(size).unwrap_or(u32::MAX)];
    }
    Ok(fitted)
}

/// Marks the index of a column as out of date, whatever else is in its group.
pub(super) fn mark_dirty(table: &Dataset, column: &str) -> Result<()> {
    let group = table.file().root().group(&path(table, column)?)?;
    if !is_set(&group, DIRTY).unwrap_or(false) {
        group.set_attribute(DIRTY, 1_i32)?;
    }
    Ok(())
}

/// Returns whether the indexes of a table follow its changes: without an attribute they do.
pub(super) fn is_automatic(table: &Dataset) -> Result<bool> {
    let (root, path) = (table.file().root(), table_path(table)?);
    if !root.contains(&path)? {
        return Ok(true);
    }
    let group = root.group(&path)?;
    Ok(!group.has_attribute(AUTO)? || is_set(&group, AUTO)?)
}

/// Sets whether the indexes of a table follow its changes.
pub(super) fn set_automatic(table: &Dataset, is_automatic: bool) -> Result<()> {
    let (root, path) = (table.file().root(), table_path(table)?);
    let group = if root.contains(&path)? {
        root.group(&path)?
    } else {
        let group = root.create_group(&path)?;
        describe(&group, CONTAINER, &format!("Indexes container for table {}", table.path()), "1.0")?;
        group
    };
    Ok(group.set_attribute(AUTO, i32::from(is_automatic))?)
}

/// Returns whether a truth value is an attribute and true.
fn is_set(group: &Group, name: &str) -> Result<bool> {
    Ok(group.has_attribute(name)? && group.attribute(name)?.data.iter().any(|&byte| byte != 0))
}

/// Creates datasets in the group of an index.
struct Maker<'a> {
    group: &'a Group,
    filters: &'a Filters,
}

impl Maker<'_> {
    /// Creates a dataset that grows along its first axis. `width` are its other sides.
    fn growing(
        &self,
        name: &str,
        class: &str,
        title: &str,
        datatype: &Datatype,
        width: &[u64],
        chunk: &[u64],
    ) -> Result<()> {
        let shape: Vec<u64> = [0].iter().chain(width).copied().collect();
        let max = [None].into_iter().chain(width.iter().map(|&len| Some(len))).collect();
        let space = Dataspace::Simple { shape, max_shape: Some(max) };
        let dataset = self.make(name, space, datatype, chunk)?;
        describe(&dataset, class, title, "1.1")?;
        Ok(dataset.set_attribute("EXTDIM", 0_i32)?)
    }

    /// Creates a dataset of a fixed number of elements, of which the first `nelements` are used.
    fn last_row(&self, name: &str, title: &str, datatype: &Datatype, len: u64, chunk: u64) -> Result<()> {
        let space = Dataspace::Simple { shape: vec![len], max_shape: Some(vec![Some(len)]) };
        let dataset = self.make(name, space, datatype, &[chunk])?;
        describe(&dataset, "LASTROWARRAY", title, "1.1")?;
        Ok(dataset.set_attribute(LAST_COUNT, 0_i64)?)
    }

    fn make(&self, name: &str, space: Dataspace, datatype: &Datatype, chunk: &[u64]) -> Result<Dataset> {
        let options = DatasetOptions::new(space, datatype.clone());
        let options = match self.filters {
            Filters::New(filters) => options.chunked(chunk, filters)?,
            Filters::Kept(filters, _) => {
                let size = usize::try_from(datatype.size(self.group.file().store().widths())).unwrap_or(0);
                let fitted = filters.iter().map(|filter| fitted(filter, size, chunk));
                let mut options = options.chunked(chunk, &[])?;
                options.filters = fitted.collect::<hyperslab::Result<_>>()?;
                options
            }
        };
        Ok(self.group.create_dataset(name, &options)?)
    }
}

impl Kind {
    /// Returns the kind whose row numbers have this size in bytes.
    fn of_size(size: usize) -> Option<Self> {
        [Self::Ultralight, Self::Light, Self::Medium, Self::Full].into_iter().find(|kind| kind.size() == size)
    }

    /// Returns the size of a row number in bytes.
    fn size(self) -> usize {
        match self {
            Self::Ultralight => 1,
            Self::Light => 2,
            Self::Medium => 4,
            Self::Full => 8,
        }
    }

    /// Returns the datatype of numbers of rows.
    pub(super) fn datatype(self) -> Datatype {
        match self {
            Self::Ultralight => u8::datatype(),
            Self::Light => u16::datatype(),
            Self::Medium => u32::datatype(),
            Self::Full => u64::datatype(),
        }
    }
}
