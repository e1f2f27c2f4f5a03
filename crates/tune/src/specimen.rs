//! A sample that is written as a dataset, in a file without a name or in memory.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use hyperslab::WriteOptions;
use hyperslab::driver::{Create, Posix};
use hyperslab::internals::{filter_spec, refitted_filter};
use hyperslab::storage::{DatasetOptions, NewStorage};
use hyperslab::{Dataset, File, Selection};
use hyperslab_filters::FilterChoice;
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::message::filters::FilterSpec;

use crate::medium;
use crate::sample::Sample;
use crate::search::{Candidate, Origin};

/// The properties that every specimen takes from the original dataset.
#[derive(Debug)]
pub(crate) struct Recipe<'a> {
    /// The original dataset.
    pub(crate) dataset: &'a Dataset,
    /// The requested filters; `None` for those of the dataset.
    pub(crate) filters: Option<Vec<FilterChoice>>,
}

/// A sample in one chunk shape, on the medium.
#[derive(Debug)]
pub(crate) struct Specimen {
    dataset: Dataset,
    /// The same file, opened to drop its pages.
    file: fs::File,
    /// The bytes of the file.
    pub(crate) bytes: u64,
}

impl Recipe<'_> {
    /// Returns whether chunks have filters.
    pub(crate) fn is_filtered(&self) -> bool {
        match &self.filters {
            Some(chosen) => !chosen.is_empty(),
            None => !self.dataset.filters().filters.is_empty(),
        }
    }

    /// Returns the filters of chunks of this shape.
    fn filters(&self, chunk: &[u64]) -> hyperslab::Result<Vec<FilterSpec>> {
        let (datatype, widths) = (self.dataset.datatype(), self.dataset.file().store().widths());
        if let Some(chosen) = &self.filters {
            let fill = self.dataset.fill_value().value;
            let stored = |choice| filter_spec(choice, (&datatype, &fill), chunk, widths);
            return chosen.iter().map(stored).collect();
        }
        let own = self.dataset.filters();
        let size = self.dataset.element_size();
        own.filters.iter().map(|filter| refitted_filter(filter, size, chunk)).collect()
    }

    /// Writes `sample` to a new dataset of `file`, in chunks of this shape or contiguous.
    pub(crate) fn write(&self, file: &File, sample: &Sample, chunk: Option<&[u64]>) -> hyperslab::Result<()> {
        let dataspace = Dataspace::Simple { shape: sample.shape.clone(), max_shape: None };
        let mut options = DatasetOptions::new(dataspace, (*self.dataset.datatype()).clone());
        if let Some(chunk) = chunk {
            options.filters = self.filters(chunk)?;
            options.storage = NewStorage::Chunked(chunk.to_vec());
        }
        let written = file.root().create_dataset(NAME, &options)?;
        written.write_with(.., &sample.bytes, &WriteOptions::default())
    }
}

impl Specimen {
    /// Writes `sample` in the shape of `candidate` to a file in the folder `scratch`. The name of the file is
    /// removed before anything is written to it. The space is therefore free again when the program ends,
    /// however it ends.
    pub(crate) fn write(
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
        // Pages that have not been written out cannot be dropped.
        file.sync_all()?;
        let bytes = file.metadata()?.len();
        // There is no cache of decoded chunks, because the first read of each position is to be measured.
        let options = File::options().chunk_cache_bytes(0);
        let opened = options.open_on(Arc::new(Posix::new(file.try_clone()?)))?;
        Ok(Self { dataset: opened.dataset(NAME)?, file, bytes })
    }

    /// Drops the file's pages from memory.
    pub(crate) fn drop_pages(&self) -> io::Result<()> {
        medium::drop_pages(&self.file)
    }

    /// Reads a selection.
    pub(crate) fn read(&self, what: &Selection, dst: &mut [u8]) -> hyperslab::Result<()> {
        self.dataset.read_into(what, dst)
    }
}

/// Creates a file in this folder and removes its name. Returns it once for writing, and once for reading.
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

/// The name of the dataset in a specimen.
pub(crate) const NAME: &str = "sample";
/// The most names to try for a file. Another thread, or a crashed program, may have used some.
const NAMES: u32 = 100;
