//! A driver for Python file objects: any object with the methods `read` and `seek`.

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use hyperslab::driver::{Driver, DriverInfo, Hints};
use hyperslab::internals::process::PerProcess;
use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyBytes;

use crate::gil;

/// The driver of a file behind a Python file object.
#[derive(Debug)]
pub(crate) struct FileObject {
    object: Py<PyAny>,
    /// Held during each access: all threads share the position of the object. A forked child has its own
    /// lock.
    alone: PerProcess<Mutex<()>>,
    /// Whether anything was written since the last flush.
    is_dirty: AtomicBool,
}

impl FileObject {
    /// Returns a driver for `object`.
    pub(crate) fn new(object: &Bound<'_, PyAny>) -> Self {
        gil::give_up_to_wait();
        let alone = PerProcess::new(Mutex::new(()));
        Self { object: object.clone().unbind(), alone, is_dirty: AtomicBool::new(false) }
    }

    /// Calls `f` with the object, under the lock. Other threads can use the interpreter during the wait for
    /// it.
    fn with<T>(&self, f: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> io::Result<T> {
        Python::attach(|py| {
            let object = self.object.bind(py);
            if self.alone.own().is_none() && object.call_method0("fileno").is_ok() {
                let why = "this process shares the position of the file object with its parent process: open the \
                           file again in this process";
                return Err(io::Error::other(PyRuntimeError::new_err(why)));
            }
            let _alone = self.alone.get(|_| Mutex::new(())).lock_py_attached(py);
            f(object).map_err(io::Error::other)
        })
    }
}

impl Driver for FileObject {
    fn len(&self) -> io::Result<u64> {
        self.with(|object| {
            object
                .call_method1("seek", (0, 2))?
                .extract::<Option<u64>>()?
                .map_or_else(|| object.call_method0("tell")?.extract(), Ok)
        })
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> io::Result<()> {
        let read = self.with(|object| {
            object.call_method1("seek", (offset,))?;
            let mut filled = 0;
            while filled < dst.len() {
                let bytes = object.call_method1("read", (dst.len() - filled,))?;
                let bytes = bytes.cast::<PyBytes>()?.as_bytes();
                if bytes.is_empty() || bytes.len() > dst.len() - filled {
                    break;
                }
                dst[filled..filled + bytes.len()].copy_from_slice(bytes);
                filled += bytes.len();
            }
            Ok(filled)
        })?;
        if read == dst.len() { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    fn write_at(&self, offset: u64, src: &[u8]) -> io::Result<()> {
        self.is_dirty.store(true, Ordering::Release);
        self.with(|object| {
            object.call_method1("seek", (offset,))?;
            let mut written = 0;
            while written < src.len() {
                let rest = PyBytes::new(object.py(), &src[written..]);
                // A raw file returns the number of written bytes. Without a number, all bytes are written.
                let taken = object.call_method1("write", (rest,))?.extract::<Option<usize>>()?;
                match taken.unwrap_or(src.len() - written) {
                    0 => return Err(PyOSError::new_err("write() of the file object returned 0")),
                    taken => written += taken,
                }
            }
            Ok(())
        })
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let is_longer = self.len()? < len;
        if is_longer && len > 0 {
            // `truncate` does not extend every kind of file object; writing the last byte does.
            return self.write_at(len - 1, &[0]);
        }
        self.is_dirty.store(true, Ordering::Release);
        self.with(|object| object.call_method1("truncate", (len,)).map(drop))
    }

    fn flush(&self, _: bool) -> io::Result<()> {
        if !self.is_dirty.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        let flushed =
            self.with(
                |object| {
                    if object.hasattr("flush")? { object.call_method0("flush").map(drop) } else { Ok(()) }
                },
            );
        flushed.inspect_err(|_| self.is_dirty.store(true, Ordering::Release))
    }

    fn hints(&self) -> Hints {
        Hints { coalesce_gap: 64 << 10, max_span: 16 << 20, queue_depth: 1, concurrent: false }
    }

    fn info(&self) -> DriverInfo {
        DriverInfo::new("fileobj")
    }
}
