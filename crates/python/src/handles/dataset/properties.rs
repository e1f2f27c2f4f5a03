//! The properties of a dataset.

use hyperslab::{ExternalFile, Node};
use hyperslab_filters::FilterId;
use hyperslab_format::message::fill::FillBytes;
use hyperslab_format::selection::StoredSelection;
use numpy::PyArrayDescr;
use numpy::prelude::*;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::Dataset;
use crate::filters;
use crate::handles::classes::wrap;
use crate::handles::create::UNLIMITED;
use crate::interpreter::error::OrRaise;
use crate::opening::state::writable;
use crate::values::buffer;
use crate::values::objects;

#[pymethods]
impl Dataset {
    /// The length of each axis in elements: () for a scalar, None for an empty dataset.
    ///
    /// Assigning a shape is the same as `resize`.
    ///
    /// Example:
    ///     >>> dataset.shape
    ///     (4, 2, 3)
    #[getter]
    pub(super) fn shape<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        if self.is_null() { Ok(None) } else { PyTuple::new(py, self.core.shape()).map(Some) }
    }

    #[setter]
    fn set_shape(&self, py: Python<'_>, shape: &Bound<'_, PyAny>) -> PyResult<()> {
        self.resize(py, shape, None)
    }

    /// The dtype of the elements. Strings, enumerations and references have h5py's metadata in the dtype.
    ///
    /// Raises:
    ///     UnsupportedDtypeError: NumPy has no dtype for the datatype. The class is also a TypeError and a
    ///         ValueError.
    ///
    /// Example:
    ///     >>> dataset.dtype
    ///     dtype('float32')
    ///     >>> hs.check_string_dtype(names.dtype).encoding
    ///     'utf-8'
    #[getter]
    fn dtype(&self, py: Python<'_>) -> PyResult<Py<PyArrayDescr>> {
        Ok(self.translation(py)?.descr.clone_ref(py))
    }

    /// The number of axes.
    ///
    /// Example:
    ///     >>> dataset.ndim
    ///     3
    #[getter]
    fn ndim(&self) -> usize {
        self.core.shape().len()
    }

    /// The number of elements, or None for an empty dataset.
    ///
    /// Example:
    ///     >>> dataset.size
    ///     24
    #[getter]
    fn size(&self) -> Option<u64> {
        (!self.is_null()).then(|| self.core.size())
    }

    /// The size of all elements in memory in bytes: `size` times the item size of `dtype`.
    ///
    /// Strings of variable length and other Python objects count as pointers. The stored size is
    /// `dataset.id.get_storage_size()`.
    ///
    /// Raises:
    ///     UnsupportedDtypeError: NumPy has no dtype for the datatype.
    ///
    /// Example:
    ///     >>> dataset.nbytes
    ///     96
    #[getter]
    fn nbytes(&self, py: Python<'_>) -> PyResult<u64> {
        let itemsize = self.translation(py)?.descr.bind(py).itemsize();
        Ok(if self.is_null() { 0 } else { self.core.size().saturating_mul(itemsize as u64) })
    }

    /// The maximum length of each axis, where None means without limit; None for an empty dataset.
    ///
    /// Example:
    ///     >>> dataset.maxshape
    ///     (None, 2, 3)
    ///     >>> stations.maxshape
    ///     (2,)
    #[getter]
    fn maxshape<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        match (self.is_null(), self.core.max_shape()) {
            (true, _) => Ok(None),
            (false, Some(most)) => PyTuple::new(py, most).map(Some),
            (false, None) => PyTuple::new(py, self.core.shape()).map(Some),
        }
    }

    /// The shape of a chunk in elements, or None if the dataset is not stored in chunks.
    ///
    /// Example:
    ///     >>> dataset.chunks
    ///     (1, 2, 3)
    ///     >>> stations.chunks is None
    ///     True
    #[getter]
    fn chunks<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.core.chunk_shape().map(|chunk| PyTuple::new(py, chunk)).transpose()
    }

    /// The compression: "gzip", "lzf", "szip", "unknown" for another filter, or None.
    ///
    /// `filter_names` names every filter.
    ///
    /// Example:
    ///     >>> dataset.compression
    ///     'gzip'
    ///     >>> temps = file.create_dataset("temps", data=np.arange(10), compression=hs.Blosc2("lz4"))
    ///     >>> temps.compression, temps.filter_names
    ///     ('unknown', ('blosc2',))
    #[getter]
    fn compression(&self) -> Option<&'static str> {
        filters::compression(&self.core.filters())
    }

    /// The level of gzip (0 to 9), the method and the block size of szip, or None.
    ///
    /// Raises:
    ///     TypeError: The file has an unknown method of szip.
    ///
    /// Example:
    ///     >>> dataset.compression_opts
    ///     4
    #[getter]
    fn compression_opts<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        filters::compression_opts(py, &self.core.filters())
    }

    /// Whether the shuffle filter reorders the bytes of each chunk.
    ///
    /// Example:
    ///     >>> dataset.shuffle
    ///     True
    #[getter]
    fn shuffle(&self) -> bool {
        filters::find(&self.core.filters(), FilterId::SHUFFLE).is_some()
    }

    /// Whether each chunk has a Fletcher-32 checksum.
    ///
    /// Example:
    ///     >>> dataset.fletcher32
    ///     False
    #[getter]
    fn fletcher32(&self) -> bool {
        filters::find(&self.core.filters(), FilterId::FLETCHER32).is_some()
    }

    /// The number of bits or decimal places that the scale-offset filter keeps, or None.
    ///
    /// Example:
    ///     >>> dataset.scaleoffset is None
    ///     True
    #[getter]
    fn scaleoffset(&self) -> Option<u32> {
        filters::scale_offset(&self.core.filters())
    }

    /// The registered numbers of the filters, in the order in which a writer applies the filters.
    ///
    /// Example:
    ///     >>> dataset.filter_ids
    ///     (2, 1)
    #[getter]
    fn filter_ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.core.filters().filters.iter().map(|filter| filter.id))
    }

    /// The names of the filters, in the order in which a writer applies the filters.
    ///
    /// Example:
    ///     >>> dataset.filter_names
    ///     ('shuffle', 'deflate')
    #[getter]
    fn filter_names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.core.filters().filters.iter().map(filters::name))
    }

    /// The filters, in the order in which they are applied to a chunk that is written.
    ///
    /// Pass the tuple as `compression=` to create a dataset with the same filters, or one of them.
    ///
    /// Example:
    ///     >>> options = {"shuffle": True, "compression": hs.Zstd(9)}
    ///     >>> made = file.create_dataset("made", (1000,), "i4", chunks=(100,), **options)
    ///     >>> made.filters
    ///     (<Filter shuffle ()>, <Zstd (9,)>)
    ///     >>> file.create_dataset("same", (1000,), "i4", chunks=(100,), compression=made.filters).filters
    ///     (<Filter shuffle ()>, <Zstd (9,)>)
    #[getter]
    fn filters<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("hyperslab._create")?.getattr("filters_of")?.call1((slf,))
    }

    /// Returns the client data of each filter.
    #[getter]
    fn _filter_data(&self) -> Vec<Vec<u32>> {
        self.core.filters().filters.iter().map(|filter| filter.client_data.clone()).collect()
    }

    /// Whether the dataset records the order in which its attributes are created.
    #[getter]
    fn _track_order(&self) -> bool {
        self.core.tracks_attribute_order()
    }

    /// Whether chunks that hold only the fill value are left out when they are written.
    ///
    /// A stored chunk that comes to hold only the fill value is removed from the file. The property can be
    /// set. It lasts while the file is open, and is not stored in the file. It has no effect if space is
    /// allocated early or with `fill_time="never"`, because other readers would not find the fill value.
    /// Chunks that `DatasetID.write_direct_chunk` stores are not examined.
    ///
    /// Raises:
    ///     ValueError: The property is set, and the file is open for reading.
    ///
    /// Example:
    ///     >>> dataset.skip_fill_chunks = True
    ///     >>> dataset[:3] = 0
    ///     >>> dataset.id.get_num_chunks()
    ///     1
    #[getter]
    fn skip_fill_chunks(&self) -> PyResult<bool> {
        self.state.check()?;
        Ok(self.core.skips_fill_chunks())
    }

    #[setter]
    fn set_skip_fill_chunks(&self, skips: bool) -> PyResult<()> {
        writable::<PyValueError>(&self.state, "set skip_fill_chunks")?;
        self.core.set_skip_fill_chunks(skips);
        Ok(())
    }

    /// The value of elements that were never written.
    ///
    /// The value is a NumPy scalar, or `bytes` for strings of variable length. For references and sequences
    /// without a fill value the property is None.
    ///
    /// Raises:
    ///     UnsupportedDtypeError: NumPy has no dtype for the datatype.
    ///     RuntimeError: The fill value is undefined.
    ///
    /// Example:
    ///     >>> dataset.fillvalue
    ///     np.float32(0.0)
    ///     >>> file.create_dataset("depth", (3,), "f4", fillvalue=-1.0)[()]
    ///     array([-1., -1., -1.], dtype=float32)
    #[getter]
    fn fillvalue<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.state.check()?;
        if self.core.fill_value().value == FillBytes::Undefined {
            return Err(PyRuntimeError::new_err("Can't get fill value (fill value is undefined)"));
        }
        let translation = self.translation(py)?;
        if translation.recipe.as_ref().is_some_and(|recipe| !recipe.is_text())
            && !matches!(self.core.fill_value().value, FillBytes::Defined(_))
        {
            // As in h5py, an element of objects without a fill value is empty.
            return buffer::empty(py, &[1], translation.descr.bind(py))?.get_item(0);
        }
        let stored = match &self.core.fill_value().value {
            FillBytes::Defined(value) if value.len() == self.core.element_size() => value.clone(),
            _ => vec![0; self.core.element_size()],
        };
        let widths = self.core.file().store().widths();
        let raw = objects::convert(&self.core.datatype(), &translation.memory, widths, stored)?;
        let array = if translation.recipe.is_some() {
            objects::array(py, self.core.file(), translation, &raw, &[1])?
        } else {
            let mut array = buffer::empty(py, &[1], translation.descr.bind(py))?;
            buffer::bytes_mut(&mut array)?.copy_from_slice(&raw);
            array
        };
        array.get_item(0)
    }

    /// Whether the dataset is virtual: its elements are in other datasets.
    ///
    /// Example:
    ///     >>> dataset.is_virtual
    ///     False
    #[getter]
    fn is_virtual(&self) -> bool {
        self.core.is_virtual()
    }

    /// Lists the mappings of a virtual dataset.
    ///
    /// Args:
    ///     missing_only: True lists only the mappings whose file or dataset does not exist. Their elements
    ///         read as the fill value.
    ///
    /// Returns:
    ///     One named tuple for each mapping, in order: `vspace`, the elements of this dataset; `file_name`,
    ///     "." for this file; `dset_name`; and `src_space`, the elements of the source.
    ///
    /// Raises:
    ///     RuntimeError: The dataset is not virtual.
    ///
    /// Example:
    ///     >>> with file.build_virtual_dataset("row", (3,), "f4") as layout:
    ///     ...     layout[:] = hs.VirtualSource("gone.h5", "t2m", (3,))
    ///     >>> [(one.file_name, one.dset_name) for one in file["row"].virtual_sources(missing_only=True)]
    ///     [('gone.h5', 't2m')]
    #[pyo3(signature = (missing_only=false))]
    fn virtual_sources<'py>(slf: &Bound<'py, Self>, missing_only: bool) -> PyResult<Bound<'py, PyAny>> {
        slf.get().state.check()?;
        let module = slf.py().import("hyperslab._virtual")?;
        module.getattr("virtual_sources")?.call1((slf, missing_only))
    }

    /// Sets the folder in which a virtual dataset looks for source files with relative names.
    fn _set_virtual_prefix(&self, prefix: &str) {
        self.core.set_virtual_prefix(prefix);
    }

    /// The folder that was set, or None.
    #[getter]
    fn _virtual_prefix(&self) -> Option<String> {
        Some(self.core.virtual_prefix()).filter(|prefix| !prefix.is_empty())
    }

    /// Returns the mappings: for each the elements of this dataset, the file, the dataset, the elements of
    /// the source, and whether the source is missing if `find` is true.
    fn _virtual_sources<'py>(&self, py: Python<'py>, find: bool) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let sources =
            py.detach(|| if find { self.core.virtual_sources_found() } else { self.core.virtual_sources() });
        let sources = sources.or_raise()?.into_iter().map(|source| {
            let (target, elements) = (space(py, &source.target)?, space(py, &source.source)?);
            let is_missing = source.is_missing.unwrap_or(false);
            Ok((target, source.file, source.dataset, elements, is_missing).into_pyobject(py)?.into_any())
        });
        sources.collect()
    }

    /// The external files that hold the elements, or None if the elements are in this file.
    ///
    /// Each item is the name of a file, the offset of the first byte, and the size in bytes. A size of
    /// 2**64-1 means without limit.
    ///
    /// Example:
    ///     >>> dataset.external is None
    ///     True
    #[getter]
    fn external(&self) -> PyResult<Option<Vec<(String, u64, u64)>>> {
        let files = self.core.external_files().or_raise()?;
        let part = |file: ExternalFile| (file.name, file.offset, file.len.unwrap_or(UNLIMITED));
        Ok((!files.is_empty()).then(|| files.into_iter().map(part).collect()))
    }

    /// The folder in which this handle looks for external files, or None.
    #[getter]
    fn _efile_prefix(&self) -> Option<&str> {
        self.core.external_prefix()
    }

    /// Returns a handle of the dataset that looks for external files in the folder `prefix`.
    fn _with_efile_prefix<'py>(&self, py: Python<'py>, prefix: &str) -> PyResult<Bound<'py, PyAny>> {
        self.state.check()?;
        wrap(py, &self.state, Node::Dataset(self.core.clone().with_external_prefix(prefix)))
    }

    /// Whether the dataset is a dimension scale.
    ///
    /// Example:
    ///     >>> dataset.is_scale
    ///     False
    ///     >>> dataset.make_scale("time")
    ///     >>> dataset.is_scale
    ///     True
    #[getter]
    fn is_scale(&self, py: Python<'_>) -> PyResult<bool> {
        self.state.check()?;
        Ok(py.detach(|| self.core.is_scale()).unwrap_or(false))
    }

    /// The axes of the dataset: labels, and the attached dimension scales.
    ///
    /// Example:
    ///     >>> dataset.dims[0].label = "time"
    ///     >>> [axis.label for axis in dataset.dims]
    ///     ['time', '', '']
    #[getter]
    fn dims<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("hyperslab._dims")?.getattr("DimensionManager")?.call1((slf,))
    }
}

/// Returns a stored selection as the arguments of `hyperslab._virtual.Space`.
fn space<'py>(py: Python<'py>, stored: &StoredSelection) -> PyResult<Bound<'py, PyAny>> {
    let made = match stored {
        StoredSelection::All => ("all",).into_pyobject(py)?.into_any(),
        StoredSelection::None => ("none",).into_pyobject(py)?.into_any(),
        StoredSelection::Regular(slab) => {
            let axes = slab.axes.iter().map(|axis| (axis.start, axis.stride, axis.count, axis.block));
            ("regular", axes.collect::<Vec<_>>()).into_pyobject(py)?.into_any()
        }
        StoredSelection::Blocks(blocks) if blocks.blocks().len() == 1 => {
            let axes = blocks.blocks().flat_map(|(first, last)| first.iter().zip(last));
            let axes = axes.map(|(first, last)| (*first, 1, 1, (last - first).saturating_add(1)));
            ("regular", axes.collect::<Vec<_>>()).into_pyobject(py)?.into_any()
        }
        StoredSelection::Blocks(blocks) => {
            let blocks = blocks.blocks().map(|(first, last)| (first.to_vec(), last.to_vec()));
            ("blocks", blocks.collect::<Vec<_>>()).into_pyobject(py)?.into_any()
        }
        StoredSelection::Points(points) => {
            let points = points.points().map(<[u64]>::to_vec);
            ("points", points.collect::<Vec<_>>()).into_pyobject(py)?.into_any()
        }
    };
    Ok(made)
}
