//! A sample written as a dataset of its own: in a file without a name, or in memory.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use hyperslab::WriteOptions;
use hyperslab::driver::{Create, Posix};
use hyperslab::internals::{DatasetOptions, NewStorage, filter_spec, refitted_filter};
use hyperslab::{Dataset, File, Selection};
use hyperslab_filters::FilterChoice;
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::message::filters::FilterSpec;

use super::medium;
use super::sample::Sample;
use super::search::{Candidate, Origin};

/// What every specimen has of the dataset that it is made from.
#[derive(Debug)]
pub(super) struct Recipe<'a> {
    /// The dataset.
    pub(super) dataset: &'a Dataset,
    /// The filters that were asked for, if not the dataset's own.
    pub(super) filters: Option<Vec<FilterChoice>>,
}

/// A sample in one shape of chunks, on the medium.
#[derive(Debug)]
pub(super) struct Specimen {
    dataset: Dataset,
    /// The same file, to drop its pages.
    file: fs::File,
    /// Bytes of the file.
    pub(super) bytes: u64,
}

impl Recipe<'_> {
    /// Whether chunks go through filters.
    pub(super) fn is_filtered(&self) -> bool {
        match &self.filters {
            Some(chosen) => !chosen.is_empty(),
            None => !self.dataset.filters().filters.is_empty(),
        }
    }

    /// The filters of chunks of this shape.
    fn filters(&self, chunk: &[u64]) -> hyperslab::Result<Vec<FilterSpec>> {
        let (datatype, widths) = (self.dataset.datatype(), self.dataset.file().store().widths());
        if let Some(chosen) = &self.filters {
            return chosen.iter().map(|choice| filter_spec(choice, &datatype, chunk, widths)).collect();
        }
        let own = self.dataset.filters();
        let size = self.dataset.element_size();
        own.filters.iter().map(|filter| refitted_filter(filter, size, chunk)).collect()
    }

    /// Writes `sample` to a new dataset of `file`; contiguous without a shape of chunks.
    pub(super) fn write(&self, file: &File, sample: &Sample, chunk: Option<&[u64]>) -> hyperslab::Result<()> {
        let dataspace = Dataspace::Simple { shape: sample.shape.clone(), max_shape: None };
        let mut options = DatasetOptions::new(dataspace, (*self.dataset.datatype()).clone());
        if let Some(chunk) = chunk {
            options.filters = self.filters(chunk)?;
            options.storage = NewStorage::Chunked(chunk.to_vec());
        }
        let written = file.root().create_dataset(NAME, &options)?;
        written.write_with(&Selection::All, &sample.bytes, &WriteOptions::default())
    }
}

impl Specimen {
    /// Writes `sample` in the shape of `candidate` to a file in the folder `scratch`. The file has lost its name when this
    /// returns, and before anything is written to it: its room is free again when the program ends, however it ends.
    pub(super) fn write(
        recipe: &Recipe<'_>,
        sample: &Sample,
        candidate: &Candidate,
        scratch: &Path,
    ) -> anyhow::Result<Self> {
        let (driver, file) =
            unnamed(scratch).with_context(|| format!("making a file in {}", scratch.display()))?;
        let chunk: Vec<u64> =
            candidate.chunk.iter().zip(&sample.shape).map(|(&side, &len)| side.min(len)).collect();
        let written = File::options().create(true).truncate(true).open_on(Arc::new(driver))?;
        recipe.write(&written, sample, (candidate.origin != Origin::Contiguous).then_some(&chunk[..]))?;
        written.close()?;
        // Pages that have not been written out would stay in memory.
        file.sync_all()?;
        let bytes = file.metadata()?.len();
        // A chunk that was decoded before is decoded again: what is measured is the first read of each place.
        let options = File::options().chunk_cache_bytes(0);
        let opened = options.open_on(Arc::new(Posix::new(file.try_clone()?)))?;
        Ok(Self { dataset: opened.dataset(NAME)?, file, bytes })
    }

    /// Puts the file's pages out of memory.
    pub(super) fn drop_pages(&self) -> io::Result<()> {
        medium::drop_pages(&self.file)
    }

    /// Reads what a selection names.
    pub(super) fn read(&self, what: &Selection, dst: &mut [u8]) -> hyperslab::Result<()> {
        self.dataset.read_into(what, dst)
    }
}

/// A file in this folder that has no name any more: to write, and to read.
fn unnamed(scratch: &Path) -> io::Result<(Posix, fs::File)> {
    let tried = (0..NAMES).find_map(|number| {
        let path = scratch.join(format!(".hyperslab-tune-{}-{number}", std::process::id()));
        match Posix::open_writable(&path, Create::New) {
            Ok(driver) => Some(Ok((path, driver))),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => None,
            Err(error) => Some(Err(error)),
        }
    });
    let (path, driver) = tried.unwrap_or_else(|| Err(io::ErrorKind::AlreadyExists.into()))?;
    let opened = fs::File::open(&path);
    fs::remove_file(&path)?;
    Ok((driver, opened?))
}

/// The dataset in a specimen.
pub(super) const NAME: &str = "sample";
/// Names that are tried for a file: another thread, or what a crash has left, may have some.
const NAMES: u32 = 100;
