//! The ways to write and read the bytes of a file by MPI-IO.

use std::io;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use hyperslab::driver::Create;
use hyperslab::{File, Ranks};
use hyperslab_mpio::raw::CommonFile;
use hyperslab_mpio::{Communicator, MpiFile};

use crate::access::{Api, FileAccess, Hdf5Medium, OpenedFile, Raw, RawFile};
use crate::plan::Plan;

/// MPI's calls, on a file that all ranks open together.
pub(super) struct Mpiio(pub(super) Arc<Communicator>);

impl FileAccess for Mpiio {
    fn api(&self) -> Api {
        Api::Mpiio
    }

    fn create(&self, path: &Path, plan: &Plan, processes: u64) -> anyhow::Result<Box<dyn OpenedFile>> {
        let file = CommonFile::open(&self.0, path, true, plan.is_collective).context("create")?;
        Ok(Raw::boxed(Box::new(file), plan, processes, plan.is_collective))
    }

    fn open(&self, path: &Path, plan: &Plan, processes: u64) -> anyhow::Result<Box<dyn OpenedFile>> {
        let file = CommonFile::open(&self.0, path, false, plan.is_collective).context("open")?;
        Ok(Raw::boxed(Box::new(file), plan, processes, plan.is_collective))
    }
}

impl RawFile for CommonFile {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        CommonFile::write_at(self, offset, bytes)
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        CommonFile::read_at(self, offset, bytes)
    }

    fn close(self: Box<Self>) -> io::Result<()> {
        CommonFile::close(*self)
    }
}

/// HDF5 files by MPI-IO.
pub(super) struct ByMpi;

impl Hdf5Medium for ByMpi {
    fn api(&self) -> Api {
        Api::HyperslabMpiio
    }

    fn create(&self, path: &Path, ranks: &Arc<dyn Ranks>) -> anyhow::Result<File> {
        let driver = Arc::new(MpiFile::open_together(path, Create::New, &**ranks)?);
        Ok(File::options().create(true).ranks(Arc::clone(ranks)).open_on(driver)?)
    }

    fn open(&self, path: &Path) -> anyhow::Result<File> {
        Ok(File::options().open_on(Arc::new(MpiFile::open(path)?))?)
    }
}
