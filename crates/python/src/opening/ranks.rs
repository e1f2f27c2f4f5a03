//! The ranks of a file that several processes change together, by a communicator of mpi4py.

use std::io;

use hyperslab::Ranks;
use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::interpreter::gil;

/// A communicator: an object with the methods `allgather` and `alltoall` of mpi4py.
#[derive(Debug)]
pub(crate) struct Communicator {
    comm: Py<PyAny>,
    rank: usize,
    size: usize,
}

impl Communicator {
    /// Returns the ranks of `comm`. Messages of the file have a communicator of their own. All ranks call
    /// this.
    pub(crate) fn new(comm: &Bound<'_, PyAny>) -> PyResult<Self> {
        let wrong = |error: PyErr| {
            let is_other = error.is_instance_of::<PyAttributeError>(comm.py());
            let why = "comm must be a communicator of mpi4py, such as MPI.COMM_WORLD";
            if is_other { PyTypeError::new_err(why) } else { error }
        };
        let own = comm.call_method0("Dup").map_err(wrong)?;
        let rank = own.call_method0("Get_rank")?.extract()?;
        let size = own.call_method0("Get_size")?.extract()?;
        gil::give_up_to_wait(comm.py());
        Ok(Self { comm: own.unbind(), rank, size })
    }

    fn call(
        &self,
        method: &str,
        argument: impl Fn(Python<'_>) -> PyResult<Bound<'_, PyAny>>,
    ) -> io::Result<Vec<Vec<u8>>> {
        let call = |py: Python<'_>| -> PyResult<Vec<Vec<u8>>> {
            let came = self.comm.bind(py).call_method1(method, (argument(py)?,))?;
            came.try_iter()?.map(|bytes| Ok(bytes?.cast::<PyBytes>()?.as_bytes().to_vec())).collect()
        };
        Python::attach(call).map_err(io::Error::other)
    }
}

impl Drop for Communicator {
    fn drop(&mut self) {
        let free = |py: Python<'_>| -> PyResult<()> {
            let is_finalized = py.import("mpi4py.MPI")?.call_method0("Is_finalized")?.is_truthy()?;
            if !is_finalized {
                self.comm.bind(py).call_method0("Free")?;
            }
            Ok(())
        };
        // Neither an interpreter that ends nor a communicator that is gone has anything to free.
        let _ = Python::try_attach(free);
    }
}

impl Ranks for Communicator {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn all_gather(&self, mine: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        self.call("allgather", |py| Ok(PyBytes::new(py, mine).into_any()))
    }

    fn exchange(&self, to: &[Vec<u8>]) -> io::Result<Vec<Vec<u8>>> {
        self.call("alltoall", |py| {
            Ok(PyList::new(py, to.iter().map(|bytes| PyBytes::new(py, bytes)))?.into_any())
        })
    }
}
