//! References to chunks for the readers of Zarr: as kerchunk's dictionary, and as arrays of numbers.

use hyperslab::RequestError;
use hyperslab_cli::refs::{Array, Chunk, Options, Plan, Sink, group_entries, kerchunk};
use numpy::{PyArray1, ToPyArray as _};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

use crate::handles::group::Group;
use crate::interpreter::error::exception;
use crate::interpreter::progress::Progress;

/// Datasets that are left out, each with the reason.
type LeftOut = Vec<(String, String)>;

/// Returns the references below a group as kerchunk's dictionary of references, and the datasets without.
#[pyfunction]
#[pyo3(name = "_references")]
pub(crate) fn references<'py>(
    group: &Bound<'py, Group>,
    url: Option<String>,
    inline: u64,
    embed: u64,
    split: u64,
    imagecodecs: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Bound<'py, PyDict>, LeftOut)> {
    let plan = planned(group, Options { url, inline, embed, split, imagecodecs })?;
    let refs = PyDict::new(group.py());
    let dict = Dict { refs: refs.clone(), key: Vec::new(), prefix: 0, url: None };
    let progress = Progress::new(progress);
    let mut sink = Told { sink: dict, progress: &progress, total: plan.chunks(), before: 0, done: 0 };
    let written = plan.write(&mut sink).map_err(|error| raised(&error));
    progress.result(written)?;
    Ok((refs, left_out(&plan)))
}

/// Reports the chunks that another sink takes.
struct Told<'p, S> {
    sink: S,
    progress: &'p Progress,
    total: u64,
    /// The chunks of the arrays before this one, and the chunks that were taken since. Those that are not
    /// stored count at the end of an array.
    before: u64,
    done: u64,
}

impl<S: Sink> Sink for Told<'_, S> {
    fn group(&mut self, path: &str, attributes: &str) -> anyhow::Result<()> {
        self.sink.group(path, attributes)
    }

    fn array(&mut self, array: &Array) -> anyhow::Result<()> {
        self.sink.array(array)
    }

    fn chunk(&mut self, array: &Array, coord: &[u64], chunk: Chunk<'_>) -> anyhow::Result<()> {
        self.done += 1;
        if self.progress.tell(self.before + self.done, self.total).is_break() {
            // The exception that has ended the work is raised in place of this error.
            return Err(hyperslab::Error::from(RequestError::Stopped).into());
        }
        self.sink.chunk(array, coord, chunk)
    }

    fn end_array(&mut self, array: &Array) -> anyhow::Result<()> {
        self.before = self.before.saturating_add(array.chunk_count());
        self.done = 0;
        self.sink.end_array(array)
    }
}

fn planned(group: &Bound<'_, Group>, options: Options) -> PyResult<Plan> {
    let py = group.py();
    group.as_super().get().state.check()?;
    let core = hyperslab::Group::clone(&group.get().group);
    py.detach(|| Plan::new(&core, options)).map_err(|error| raised(&error))
}

fn left_out(plan: &Plan) -> LeftOut {
    plan.left_out().iter().map(|left| (left.path.clone(), left.why.clone())).collect()
}

/// Returns the exception for an error of the plan or of the sink.
fn raised(error: &anyhow::Error) -> PyErr {
    if let Some(cause) = error.chain().find_map(|cause| cause.downcast_ref::<PyErr>()) {
        return Python::attach(|py| cause.clone_ref(py));
    }
    if let Some(cause) = error.chain().find_map(|cause| cause.downcast_ref::<hyperslab::Error>()) {
        return exception(cause);
    }
    let message = format!("{error:#}");
    if error.chain().any(<dyn std::error::Error>::is::<std::io::Error>) {
        return PyOSError::new_err(message);
    }
    PyValueError::new_err(message)
}

/// Collects references in a dictionary.
struct Dict<'py> {
    refs: Bound<'py, PyDict>,
    /// The key of the last chunk, which begins with the path of its array.
    key: Vec<u8>,
    prefix: usize,
    /// The URL of the last chunk.
    url: Option<(String, Bound<'py, PyString>)>,
}

impl Dict<'_> {
    fn texts(&self, entries: [(String, &str); 2]) -> PyResult<()> {
        entries.into_iter().try_for_each(|(key, text)| self.refs.set_item(key, text))
    }
}

impl Sink for Dict<'_> {
    fn group(&mut self, path: &str, attributes: &str) -> anyhow::Result<()> {
        Ok(self.texts(group_entries(path, attributes))?)
    }

    fn array(&mut self, array: &Array) -> anyhow::Result<()> {
        self.texts(array.entries())?;
        self.key.clear();
        self.key.extend_from_slice(array.path.as_bytes());
        self.key.push(b'/');
        self.prefix = self.key.len();
        Ok(())
    }

    fn chunk(&mut self, _array: &Array, coord: &[u64], chunk: Chunk<'_>) -> anyhow::Result<()> {
        let py = self.refs.py();
        self.key.truncate(self.prefix);
        kerchunk::key(coord, &mut self.key);
        let key = str::from_utf8(&self.key)?;
        match chunk {
            Chunk::Stored { url, offset, len } => {
                let known = match &self.url {
                    Some((known, text)) if known == url => text.clone(),
                    _ => self.url.insert((url.to_owned(), PyString::new(py, url))).1.clone(),
                };
                let (offset, len) = (offset.into_pyobject(py)?, len.into_pyobject(py)?);
                self.refs.set_item(key, PyList::new(py, [known.as_any(), offset.as_any(), len.as_any()])?)?;
            }
            Chunk::Bytes(bytes) => self.refs.set_item(key, kerchunk::embedded(bytes))?,
        }
        Ok(())
    }
}

/// Groups: the path and the attributes of each.
type Groups = Vec<(String, String)>;

/// An array: path, metadata, attributes; the numbers of its stored chunks, their offsets and lengths, and
/// which of the URLs each has; the URLs; and the embedded chunks with their numbers.
type Arrays<'py> =
    (String, String, String, [Bound<'py, PyArray1<u64>>; 4], Vec<String>, Vec<(u64, Bound<'py, PyBytes>)>);

/// Returns the groups below a group with their attributes, the arrays, and the datasets without references.
#[pyfunction]
#[pyo3(name = "_reference_arrays")]
pub(crate) fn reference_arrays<'py>(
    group: &Bound<'py, Group>,
    url: Option<String>,
    embed: u64,
    split: u64,
    imagecodecs: bool,
) -> PyResult<(Groups, Vec<Arrays<'py>>, LeftOut)> {
    let py = group.py();
    let plan = planned(group, Options { url, inline: 0, embed, split, imagecodecs })?;
    let mut sink = ReferenceCollector::default();
    py.detach(|| plan.write(&mut sink)).map_err(|error| raised(&error))?;
    let arrays = sink.arrays.into_iter().map(|found| {
        let Columns { path, metadata, attributes, numbers, offsets, lens, which, urls, embedded } = found;
        let columns = [numbers, offsets, lens, which].map(|column| column.to_pyarray(py));
        let embedded = embedded.into_iter().map(|(number, bytes)| (number, PyBytes::new(py, &bytes)));
        (path, metadata, attributes, columns, urls, embedded.collect())
    });
    Ok((sink.groups, arrays.collect(), left_out(&plan)))
}

/// Collects references in columns.
#[derive(Default)]
struct ReferenceCollector {
    groups: Groups,
    arrays: Vec<Columns>,
}

#[derive(Default)]
struct Columns {
    path: String,
    metadata: String,
    attributes: String,
    numbers: Vec<u64>,
    offsets: Vec<u64>,
    lens: Vec<u64>,
    which: Vec<u64>,
    urls: Vec<String>,
    embedded: Vec<(u64, Vec<u8>)>,
}

impl Sink for ReferenceCollector {
    fn group(&mut self, path: &str, attributes: &str) -> anyhow::Result<()> {
        self.groups.push((path.to_owned(), attributes.to_owned()));
        Ok(())
    }

    fn array(&mut self, array: &Array) -> anyhow::Result<()> {
        let (path, metadata) = (array.path.clone(), array.metadata.clone());
        self.arrays.push(Columns {
            path,
            metadata,
            attributes: array.attributes.clone(),
            ..Columns::default()
        });
        Ok(())
    }

    fn chunk(&mut self, array: &Array, coord: &[u64], chunk: Chunk<'_>) -> anyhow::Result<()> {
        let Some(columns) = self.arrays.last_mut() else { return Ok(()) };
        let number = array.number(coord);
        match chunk {
            Chunk::Stored { url, offset, len } => {
                // The sources of a virtual dataset come one after another.
                if columns.urls.last().is_none_or(|known| known != url) {
                    columns.urls.push(url.to_owned());
                }
                columns.numbers.push(number);
                columns.offsets.push(offset);
                columns.lens.push(len);
                columns.which.push(columns.urls.len() as u64 - 1);
            }
            Chunk::Bytes(bytes) => columns.embedded.push((number, bytes.to_vec())),
        }
        Ok(())
    }
}
