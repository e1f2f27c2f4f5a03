//! The builder of datasets.

use hyperslab_convert::Conversion;
use hyperslab_error::{Error, RequestError, Result};
use hyperslab_filters::FilterChoice;
use hyperslab_format::Widths;
use hyperslab_format::datatype::Datatype;
use hyperslab_format::layout::mappings::VirtualMapping;
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::message::fill::FillBytes;
use hyperslab_select::Selection;

use super::external::ExternalFile;
use super::options::{DatasetOptions, NewStorage};
use crate::object::element::{Element, FixedSize, packed};
use crate::object::{Dataset, Group, NamedDatatype};

/// A builder of a dataset, from [`Group::new_dataset`].
///
/// Without [`shape`](Self::shape), the dataset is a scalar. Elements are stored contiguously, unless the
/// dataset has [`chunks`](Self::chunks), filters or room to grow.
///
/// ```
/// use hyperslab::filter::{Shuffle, Zstd};
///
/// let file = hyperslab::File::in_memory()?;
/// let dataset = file
///     .root()
///     .new_dataset::<f32>("surface/t2m")
///     .shape([0, 72, 144])
///     .max_shape([None, Some(72), Some(144)])
///     .chunks([1, 72, 144])
///     .filter(Shuffle)
///     .filter(Zstd::default().level(6))
///     .fill_value(f32::NAN)
///     .create()?;
/// assert_eq!(dataset.chunk_shape(), Some(vec![1, 72, 144]));
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing is created before `create` is called"]
pub struct DatasetBuilder {
    group: Group,
    path: String,
    datatype: Datatype,
    shape: Option<Vec<u64>>,
    max_shape: Option<Vec<Option<u64>>>,
    chunks: Option<Vec<u64>>,
    filters: Vec<FilterChoice>,
    is_compact: bool,
    external: Vec<ExternalFile>,
    committed: Option<NamedDatatype>,
    fill: Option<(Datatype, Vec<u8>)>,
    track_order: bool,
    skip_fill_chunks: Option<bool>,
    mappings: Vec<(Selection, String, String, Selection)>,
}

impl Group {
    /// Returns a builder of a dataset at `path` with elements of type `T`. Missing groups on the way are
    /// created with the dataset.
    ///
    /// ```
    /// # fn main() -> hyperslab::Result<()> {
    /// use hyperslab::filter::{Shuffle, Zstd};
    ///
    /// # let file = hyperslab::File::in_memory()?;
    /// let group = file.root();
    /// let dataset = group
    ///     .new_dataset::<f32>("surface/t2m")
    ///     .shape([365, 721, 1440])
    ///     .chunks([1, 721, 1440])
    ///     .filter(Shuffle)
    ///     .filter(Zstd::default().level(6))
    ///     .fill_value(f32::NAN)
    ///     .create()?;
    /// assert_eq!(dataset.shape(), [365, 721, 1440]);
    /// # Ok(()) }
    /// ```
    pub fn new_dataset<T: Element>(&self, path: impl Into<String>) -> DatasetBuilder {
        self.new_dataset_of(path, T::datatype())
    }

    /// Returns a builder of a dataset at `path` with elements of this datatype.
    ///
    /// ```
    /// use hyperslab::{Element, File};
    ///
    /// let file = File::in_memory()?;
    /// let other = file.root().new_dataset::<i16>("a").shape([2]).create()?;
    /// let like = file.root().new_dataset_of("b", (*other.datatype()).clone()).shape([5]).create()?;
    /// assert_eq!(*like.datatype(), i16::datatype());
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn new_dataset_of(&self, path: impl Into<String>, datatype: Datatype) -> DatasetBuilder {
        DatasetBuilder {
            group: self.clone(),
            path: path.into(),
            datatype,
            shape: None,
            max_shape: None,
            chunks: None,
            filters: Vec::new(),
            is_compact: false,
            external: Vec::new(),
            committed: None,
            fill: None,
            track_order: false,
            skip_fill_chunks: None,
            mappings: Vec::new(),
        }
    }
}

impl DatasetBuilder {
    /// Sets the number of elements along each dimension.
    pub fn shape(mut self, shape: impl Into<Vec<u64>>) -> Self {
        self.shape = Some(shape.into());
        self
    }

    /// Sets the maximum length of each dimension. `None` stands for a dimension without limit. The dataset is
    /// chunked.
    pub fn max_shape(mut self, max_shape: impl Into<Vec<Option<u64>>>) -> Self {
        self.max_shape = Some(max_shape.into());
        self
    }

    /// Stores the elements in chunks of this shape.
    pub fn chunks(mut self, chunks: impl Into<Vec<u64>>) -> Self {
        self.chunks = Some(chunks.into());
        self
    }

    /// Adds a filter after the earlier ones. Without [`chunks`](Self::chunks), the builder chooses the shape
    /// of chunks.
    pub fn filter(mut self, filter: impl Into<FilterChoice>) -> Self {
        self.filters.push(filter.into());
        self
    }

    /// Stores the elements in the header of the dataset. This is for less than 64 KiB.
    pub fn compact(mut self) -> Self {
        self.is_compact = true;
        self
    }

    /// Stores the elements in parts of external files, one part after another. A file that does not exist is
    /// created by the first write. Such a dataset can grow along its first dimension.
    pub fn external(mut self, files: impl Into<Vec<ExternalFile>>) -> Self {
        self.external = files.into();
        self
    }

    /// Uses a committed datatype of the same file, in place of the datatype that the builder was made with.
    pub fn committed(mut self, datatype: NamedDatatype) -> Self {
        self.datatype = datatype.datatype().clone();
        self.committed = Some(datatype);
        self
    }

    /// Sets the value of elements that were never written. The default is zero. The value is converted like
    /// values that are written.
    pub fn fill_value<T: FixedSize>(mut self, value: T) -> Self {
        self.fill = Some((T::datatype(), packed(&[value])));
        self
    }

    /// Sets whether the dataset tracks the order in which its attributes are created.
    pub fn track_order(mut self, track: bool) -> Self {
        self.track_order = track;
        self
    }

    /// Sets whether chunks that hold only the fill value are left out of the file.
    pub fn skip_fill_chunks(mut self, skip: bool) -> Self {
        self.skip_fill_chunks = Some(skip);
        self
    }

    /// Makes the dataset virtual: the elements of `what` are those of `source` in the dataset at `dataset` of
    /// the file named `file`, in order. A relative name is sought beside this file; "." is this file.
    ///
    /// ```
    /// use hyperslab::File;
    ///
    /// let directory = tempfile::tempdir()?;
    /// for name in ["a.h5", "b.h5"] {
    ///     let file = File::create(directory.path().join(name))?;
    ///     file.root().new_dataset::<i32>("d").shape([2]).create_with(&[1, 2])?;
    ///     file.close()?;
    /// }
    /// let file = File::create(directory.path().join("all.h5"))?;
    /// let all = file.root().new_dataset::<i32>("d").shape([2, 2]);
    /// let all = all.map([0..1, 0..2], "a.h5", "d", ..).map([1..2, 0..2], "b.h5", "d", ..).create()?;
    /// assert_eq!(all.read::<i32>(..)?, [1, 2, 1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn map(
        mut self,
        what: impl Into<Selection>,
        file: impl Into<String>,
        dataset: impl Into<String>,
        source: impl Into<Selection>,
    ) -> Self {
        self.mappings.push((what.into(), file.into(), dataset.into(), source.into()));
        self
    }

    /// Creates the dataset.
    ///
    /// Errors: `Request` if the settings do not fit together, or if an object is at the path already.
    pub fn create(self) -> Result<Dataset> {
        let (group, path) = (self.group.clone(), self.path.clone());
        let options = self.options().map_err(|error| error.at(&path))?;
        group.create_dataset(&path, &options)
    }

    /// Creates the dataset and writes all of its elements, in row-major order. If the write fails, the
    /// dataset is removed, unless the removal fails as well, as on a disk that is gone.
    ///
    /// ```
    /// let file = hyperslab::File::in_memory()?;
    /// let names = ["Geneva", "Zürich"].map(str::to_owned);
    /// let dataset = file.root().new_dataset::<String>("names").shape([2]).create_with(&names)?;
    /// assert_eq!(dataset.read::<String>(1..2)?, ["Zürich"]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn create_with<T: Element>(self, values: &[T]) -> Result<Dataset> {
        let (group, path) = (self.group.clone(), self.path.clone());
        let dataset = self.create()?;
        if let Err(error) = dataset.write(Selection::All, values) {
            // The caller needs to know why the write failed. The removal may fail for the same reason.
            let _ = group.remove(&path);
            return Err(error);
        }
        Ok(dataset)
    }

    fn options(self) -> Result<DatasetOptions> {
        let widths = self.group.store().widths();
        let dataspace = match (self.shape, self.max_shape) {
            (Some(shape), max_shape) if !shape.is_empty() => Dataspace::Simple { shape, max_shape },
            (_, None) => Dataspace::Scalar,
            (_, Some(_)) => return Err(argument("maximum shape", "give the shape, too")),
        };
        let mut options = DatasetOptions::new(dataspace, self.datatype);
        options.committed = self.committed;
        options.external = self.external;
        options.track_order = self.track_order;
        options.skip_fill_chunks = self.skip_fill_chunks;
        if let Some((datatype, value)) = self.fill {
            let conversion = Conversion::with_widths(&datatype, &options.datatype, widths)?;
            let mut stored = vec![0; conversion.dst_size()];
            conversion.apply(&value, &mut stored, 1)?;
            check_fill((&options.datatype, &stored), (&datatype, &value), widths)?;
            options.fill = FillBytes::Defined(stored);
        }
        let storage = match (self.chunks, self.is_compact, self.mappings) {
            (chunks, false, mappings) if mappings.is_empty() => chunks.map(NewStorage::Chunked),
            (None, true, mappings) if mappings.is_empty() => Some(NewStorage::Compact),
            (None, false, mappings) => {
                let listed = self.group.file().version().listed_blocks();
                let mapping = |(what, file, dataset, source): (Selection, String, String, Selection)| {
                    let (target, source) = (what.to_stored(listed)?, source.to_stored(listed)?);
                    Ok::<_, Error>(VirtualMapping {
                        file: file.into(),
                        dataset: dataset.into(),
                        source,
                        target,
                    })
                };
                Some(NewStorage::Virtual(mappings.into_iter().map(mapping).collect::<Result<_>>()?))
            }
            _ => {
                let why = "elements are in chunks, in the header or in other datasets: choose one of these";
                return Err(argument("storage", why));
            }
        };
        let options = options.stored(storage, &self.filters, widths)?;
        let has_chunks = matches!(options.storage, NewStorage::Chunked(_) | NewStorage::Virtual(_));
        if options.skip_fill_chunks == Some(true) && !has_chunks {
            let why = "only chunks can be left out: give the shape of chunks";
            return Err(argument("skip_fill_chunks", why));
        }
        Ok(options)
    }
}

/// Refuses a fill value that an integer type cannot hold: the conversion would store another number.
fn check_fill(stored: (&Datatype, &[u8]), given: (&Datatype, &[u8]), widths: Widths) -> Result<()> {
    if !matches!(stored.0, Datatype::Integer(_)) {
        return Ok(());
    }
    let mut back = vec![0; given.1.len()];
    Conversion::with_widths(stored.0, given.0, widths)?.apply(stored.1, &mut back, 1)?;
    let why = "the datatype of the dataset cannot hold it";
    if back == given.1 { Ok(()) } else { Err(argument("fill value", why)) }
}

fn argument(what: &str, why: &'static str) -> Error {
    RequestError::Argument { what: what.to_owned(), why }.into()
}
