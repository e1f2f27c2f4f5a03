//! The ways to write and read the bytes of a file: raw, or in datasets.

use std::fs;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use hyperslab::{Dataset, DatasetBuilder, File, Ranks, Transfer, WriteOptions};

use crate::plan::Plan;

/// A way to write and read files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// The system's calls, on a file of bytes.
    Posix,
    /// MPI-IO, on a file of bytes.
    Mpiio,
    /// Datasets of an HDF5 file, by the system's calls.
    Hyperslab,
    /// Datasets of an HDF5 file, by MPI-IO.
    HyperslabMpiio,
}

impl Api {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Posix, Self::Mpiio, Self::Hyperslab, Self::HyperslabMpiio];

    /// Returns the name, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Posix => "posix",
            Self::Mpiio => "mpiio",
            Self::Hyperslab => "hyperslab",
            Self::HyperslabMpiio => "hyperslab-mpiio",
        }
    }

    /// Returns a line that says what it is.
    pub fn about(self) -> &'static str {
        match self {
            Self::Posix => "The system's calls, on a file of bytes",
            Self::Mpiio => "MPI-IO, on a file of bytes; needs mpirun",
            Self::Hyperslab => "Datasets of an HDF5 file, by the system's calls",
            Self::HyperslabMpiio => "Datasets of an HDF5 file, by MPI-IO; needs mpirun",
        }
    }

    /// Returns the one with this name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|api| api.name() == name)
    }

    /// Returns whether the file is one of bytes, and not HDF5.
    pub fn is_raw(self) -> bool {
        matches!(self, Self::Posix | Self::Mpiio)
    }

    pub(crate) fn needs_mpi(self) -> bool {
        matches!(self, Self::Mpiio | Self::HyperslabMpiio)
    }

    pub(crate) fn extension(self) -> &'static str {
        if self.is_raw() { "raw" } else { "h5" }
    }
}

/// Opens files. All processes make the same calls.
pub(crate) trait FileAccess {
    fn api(&self) -> Api;

    /// Creates a file for `processes` processes, with its datasets.
    fn create(&self, path: &Path, plan: &Plan, processes: u64) -> anyhow::Result<Box<dyn OpenedFile>>;

    /// Opens a file for reading.
    fn open(&self, path: &Path, plan: &Plan, processes: u64) -> anyhow::Result<Box<dyn OpenedFile>>;
}

/// An open file.
pub(crate) trait OpenedFile {
    fn write(&mut self, dataset: u64, offset: u64, bytes: &[u8]) -> anyhow::Result<()>;

    fn read(&mut self, dataset: u64, offset: u64, bytes: &mut [u8]) -> anyhow::Result<()>;

    /// Ends a series of transfers. Returns the error of one that could not be returned before.
    fn settle(&mut self) -> anyhow::Result<()> {
        Ok(())
    }

    fn close(self: Box<Self>) -> anyhow::Result<()>;
}

/// A file of bytes.
pub(crate) trait RawFile {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()>;

    fn close(self: Box<Self>) -> io::Result<()>;
}

impl RawFile for fs::File {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.write_all_at(bytes, offset)
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.read_exact_at(bytes, offset)
    }

    fn close(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}

/// The system's calls.
pub(crate) struct Posix;

impl FileAccess for Posix {
    fn api(&self) -> Api {
        Api::Posix
    }

    fn create(&self, path: &Path, plan: &Plan, processes: u64) -> anyhow::Result<Box<dyn OpenedFile>> {
        // Any process may be the first.
        let file = fs::File::options().read(true).write(true).create(true).truncate(false).open(path);
        Ok(Raw::boxed(Box::new(file.context("create")?), plan, processes, false))
    }

    fn open(&self, path: &Path, plan: &Plan, processes: u64) -> anyhow::Result<Box<dyn OpenedFile>> {
        Ok(Raw::boxed(Box::new(fs::File::open(path).context("open")?), plan, processes, false))
    }
}

/// A raw file, with the bytes of one dataset after those of another.
pub(crate) struct Raw {
    file: Box<dyn RawFile>,
    dataset_bytes: u64,
    /// Whether every process must make all calls, since the others wait in theirs.
    is_collective: bool,
    failed: Option<anyhow::Error>,
}

impl Raw {
    pub(crate) fn boxed(
        file: Box<dyn RawFile>,
        plan: &Plan,
        processes: u64,
        is_collective: bool,
    ) -> Box<dyn OpenedFile> {
        Box::new(Self { file, dataset_bytes: plan.bytes * processes, is_collective, failed: None })
    }

    /// Returns the result of a call, or keeps its error for later.
    fn note(&mut self, done: anyhow::Result<()>) -> anyhow::Result<()> {
        match done {
            Err(error) if self.is_collective => {
                self.failed.get_or_insert(error);
                Ok(())
            }
            done => done,
        }
    }
}

impl OpenedFile for Raw {
    fn write(&mut self, dataset: u64, offset: u64, bytes: &[u8]) -> anyhow::Result<()> {
        let done = self.file.write_at(dataset * self.dataset_bytes + offset, bytes).context("write");
        self.note(done)
    }

    fn read(&mut self, dataset: u64, offset: u64, bytes: &mut [u8]) -> anyhow::Result<()> {
        let done = self.file.read_at(dataset * self.dataset_bytes + offset, bytes).context("read");
        self.note(done)
    }

    fn settle(&mut self) -> anyhow::Result<()> {
        self.failed.take().map_or(Ok(()), Err)
    }

    fn close(self: Box<Self>) -> anyhow::Result<()> {
        self.file.close().context("close")
    }
}

/// How the files of datasets are opened.
pub(crate) trait Hdf5Medium {
    fn api(&self) -> Api;

    fn create(&self, path: &Path, ranks: &Arc<dyn Ranks>) -> anyhow::Result<File>;

    fn open(&self, path: &Path) -> anyhow::Result<File>;
}

/// Files at their paths.
pub(crate) struct AtPath;

impl Hdf5Medium for AtPath {
    fn api(&self) -> Api {
        Api::Hyperslab
    }

    fn create(&self, path: &Path, ranks: &Arc<dyn Ranks>) -> anyhow::Result<File> {
        Ok(File::options().create_new(true).ranks(Arc::clone(ranks)).open(path)?)
    }

    fn open(&self, path: &Path) -> anyhow::Result<File> {
        Ok(File::open(path)?)
    }
}

/// HDF5 files, whose datasets all processes write.
pub(crate) struct Hdf5<M> {
    pub(crate) ranks: Arc<dyn Ranks>,
    pub(crate) medium: M,
}

impl<M: Hdf5Medium> FileAccess for Hdf5<M> {
    fn api(&self) -> Api {
        self.medium.api()
    }

    fn create(&self, path: &Path, plan: &Plan, processes: u64) -> anyhow::Result<Box<dyn OpenedFile>> {
        let file = self.medium.create(path, &self.ranks)?;
        let create = |number: u64| {
            let new = file.root().new_dataset::<u8>(&name(number)).shape([plan.bytes * processes]);
            let new = plan.chunk.into_iter().fold(new, |new, chunk| new.chunks([chunk]));
            plan.filters.iter().cloned().fold(new, DatasetBuilder::filter).create()
        };
        let datasets = (0..plan.datasets).map(create).collect::<hyperslab::Result<_>>()?;
        // Chunks get their places by all processes together.
        let is_collective = plan.is_collective || plan.chunk.is_some();
        let transfer = if is_collective { Transfer::Collective } else { Transfer::Independent };
        let options = WriteOptions::default().transfer(transfer);
        Ok(Box::new(Hdf5File { file, datasets, options }))
    }

    fn open(&self, path: &Path, plan: &Plan, _processes: u64) -> anyhow::Result<Box<dyn OpenedFile>> {
        let file = self.medium.open(path)?;
        let datasets = (0..plan.datasets).map(|number| file.dataset(&name(number)));
        let datasets = datasets.collect::<hyperslab::Result<_>>()?;
        Ok(Box::new(Hdf5File { file, datasets, options: WriteOptions::default() }))
    }
}

/// An open HDF5 file. If it is dropped without being closed, it ends on all processes.
struct Hdf5File {
    file: File,
    datasets: Vec<Dataset>,
    options: WriteOptions,
}

impl Hdf5File {
    fn dataset(&self, number: u64) -> &Dataset {
        // All datasets of the plan are here.
        &self.datasets[usize::try_from(number).unwrap_or(usize::MAX)]
    }
}

impl OpenedFile for Hdf5File {
    fn write(&mut self, dataset: u64, offset: u64, bytes: &[u8]) -> anyhow::Result<()> {
        let place = offset..offset + bytes.len() as u64;
        Ok(self.dataset(dataset).write_with(place, bytes, &self.options)?)
    }

    fn read(&mut self, dataset: u64, offset: u64, bytes: &mut [u8]) -> anyhow::Result<()> {
        let place = offset..offset + bytes.len() as u64;
        Ok(self.dataset(dataset).read_into(place, bytes)?)
    }

    fn close(self: Box<Self>) -> anyhow::Result<()> {
        Ok(self.file.close()?)
    }
}

/// Returns the name of a dataset.
fn name(number: u64) -> String {
    format!("dataset{number}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::plan;

    #[test]
    fn every_api_has_a_name_of_its_own() {
        for api in Api::ALL {
            assert_eq!(Api::of(api.name()), Some(api));
        }
        assert_eq!(Api::of("hdf5"), None);
    }

    /// A file whose every write fails.
    struct Full;

    impl RawFile for Full {
        fn write_at(&self, _offset: u64, _bytes: &[u8]) -> io::Result<()> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn read_at(&self, _offset: u64, _bytes: &mut [u8]) -> io::Result<()> {
            Ok(())
        }

        fn close(self: Box<Self>) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_process_that_fails_makes_the_calls_that_others_wait_in() {
        let mut alone = Raw::boxed(Box::new(Full), &plan(), 1, false);
        assert!(alone.write(0, 0, &[1]).is_err());
        let mut collective = Raw::boxed(Box::new(Full), &plan(), 1, true);
        collective.write(0, 0, &[1]).unwrap();
        collective.write(0, 1, &[1]).unwrap();
        assert!(collective.settle().is_err());
        assert!(collective.settle().is_ok());
    }
}
