//! A driver for Python file objects: any object with the methods `read` and `seek`.

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use hyperslab::driver::{Capabilities, Driver, Hints, ReadQueue, Request};
use hyperslab_io::process::PerProcess;
use pyo3::exceptions::{PyBaseException, PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyList};

use crate::interpreter::gil;

/// The driver of a file behind a Python file object.
#[derive(Debug)]
pub(crate) struct FileObject {
    object: Py<PyAny>,
    /// Held during each access: all threads share the position of the object. A forked child has its own
    /// lock.
    alone: PerProcess<Mutex<()>>,
    /// Whether anything was written since the last flush.
    is_dirty: AtomicBool,
    /// The way to many ranges at once, if the object has one.
    ranges: Option<Ranges>,
}

/// A file of a file system of fsspec, whose method `cat_ranges` reads many ranges with one call.
#[derive(Debug)]
struct Ranges {
    system: Py<PyAny>,
    path: Py<PyAny>,
    /// Whether many threads may call the file system at once. One that does its work in a loop of events
    /// serves all threads; others may have one connection.
    is_concurrent: bool,
}

impl Ranges {
    /// Returns the file behind `object`, if the bytes of the object are those of the file: it is not open for
    /// writing, and decompresses nothing.
    fn of(object: &Bound<'_, PyAny>) -> Option<Self> {
        let attribute = |name: &str| object.getattr_opt(name).ok().flatten().filter(|value| !value.is_none());
        let (system, path) = (attribute("fs")?, attribute("path")?);
        let is_plain = attribute("compression").is_none()
            && attribute("mode").is_none_or(|mode| mode.eq("rb").unwrap_or(false));
        if !is_plain || !system.getattr("cat_ranges").is_ok_and(|method| method.is_callable()) {
            return None;
        }
        let is_concurrent = system.getattr("async_impl").and_then(|value| value.is_truthy()).unwrap_or(false);
        Some(Self { system: system.unbind(), path: path.unbind(), is_concurrent })
    }

    /// Reads the ranges of `requests` into their places.
    fn read(&self, py: Python<'_>, requests: &[Request], queue: &mut dyn ReadQueue) -> io::Result<()> {
        let ends = requests.iter().map(|request| request.offset.checked_add(request.len as u64));
        let ends: Vec<u64> = ends.collect::<Option<_>>().ok_or(io::ErrorKind::UnexpectedEof)?;
        let call = || -> PyResult<Vec<Bound<'_, PyAny>>> {
            let paths = PyList::new(py, requests.iter().map(|_| self.path.bind(py)))?;
            let starts = PyList::new(py, requests.iter().map(|request| request.offset))?;
            let found =
                self.system.bind(py).call_method1("cat_ranges", (paths, starts, PyList::new(py, ends)?))?;
            found.try_iter()?.collect()
        };
        let found = call().map_err(io::Error::other)?;
        if found.len() != requests.len() {
            let why = format!("cat_ranges() returned {} results for {} ranges", found.len(), requests.len());
            return Err(io::Error::other(PyOSError::new_err(why)));
        }
        for (request, found) in requests.iter().zip(found) {
            if found.is_instance_of::<PyBaseException>() {
                return Err(io::Error::other(PyErr::from_value(found)));
            }
            let bytes =
                found.cast::<PyBytes>().map_err(|error| io::Error::other(PyErr::from(error)))?.as_bytes();
            let place = queue.place(request.id)?;
            if bytes.len() != place.len() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            place.copy_from_slice(bytes);
        }
        Ok(())
    }
}

impl FileObject {
    /// Returns a driver for `object`. With `read_only`, the driver may read the file behind it in other ways.
    pub(crate) fn new(object: &Bound<'_, PyAny>, read_only: bool) -> Self {
        gil::give_up_to_wait(object.py());
        let alone = PerProcess::new(Mutex::new(()));
        let ranges = if read_only { Ranges::of(object) } else { None };
        Self { object: object.clone().unbind(), alone, is_dirty: AtomicBool::new(false), ranges }
    }

    /// Takes requests from the queue for one call.
    fn next_batch(queue: &mut dyn ReadQueue) -> Vec<Request> {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while batch.len() < BATCH
            && bytes < BATCH_BYTES
            && let Some(request) = queue.next()
        {
            bytes += request.len;
            batch.push(request);
        }
        batch
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

    /// One range is read by the object itself, which may have a cache; several are read by one call of
    /// `cat_ranges`.
    fn read_many(&self, queue: &mut dyn ReadQueue) -> io::Result<()> {
        loop {
            let batch = match self.ranges {
                Some(_) => Self::next_batch(queue),
                None => queue.next().into_iter().collect(),
            };
            match (&batch[..], &self.ranges) {
                ([], _) => return Ok(()),
                (requests, Some(ranges)) if requests.iter().filter(|request| request.len > 0).count() > 1 => {
                    let (some, empty): (Vec<_>, Vec<_>) = batch.into_iter().partition(|one| one.len > 0);
                    for request in empty {
                        queue.arrived(request.id);
                    }
                    Python::attach(|py| {
                        let mutex = self.alone.get(|_| Mutex::new(()));
                        let _alone = (!ranges.is_concurrent).then(|| mutex.lock_py_attached(py));
                        ranges.read(py, &some, queue)
                    })?;
                    // The queue decodes now, while other threads have the interpreter.
                    for request in some {
                        queue.arrived(request.id);
                    }
                }
                (requests, _) => {
                    for request in requests {
                        self.read_at(request.offset, queue.place(request.id)?)?;
                        queue.arrived(request.id);
                    }
                }
            }
        }
    }

    fn capabilities(&self) -> Capabilities<'_> {
        let (queue_depth, concurrent) = match &self.ranges {
            Some(ranges) => (BATCH, ranges.is_concurrent),
            None => (1, false),
        };
        let hints = Hints { coalesce_gap: 64 << 10, max_span: 16 << 20, queue_depth, concurrent };
        Capabilities { is_lasting: false, ..Capabilities::new("fileobj", hints) }
    }
}

/// The most ranges of one call of `cat_ranges`.
const BATCH: usize = 64;
/// The bytes after which a call takes no further range: the results are in memory twice.
const BATCH_BYTES: usize = 32 << 20;
