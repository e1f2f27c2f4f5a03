//! Creating objects and links from the arguments that `hyperslab._create` has parsed.

use hyperslab::ExternalFile;
use hyperslab::storage::{DatasetOptions, NewStorage};
use hyperslab::{Dim, Selection};
use hyperslab_format::datatype::Datatype as StoredDatatype;
use hyperslab_format::layout::mappings::VirtualMapping;
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::message::fill::{AllocationTime, FillBytes, FillTime};
use hyperslab_format::selection::{RegularAxis, StoredSelection};
use numpy::PyUntypedArray;
use numpy::prelude::*;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::filters;
use crate::handles::dataset::Dataset;
use crate::handles::datatype::Datatype;
use crate::interpreter::error::OrRaise;
use crate::opening::state::FileState;
use crate::values::buffer;
use crate::values::description::described;
use crate::values::dtype::{descr_of, translated};
use crate::values::memory::datatype_of;
use crate::values::objects_write;
use crate::values::stored::stored_datatype;

/// The arguments of `_create_dataset`: a dict with one item for each field.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct CreateRequest<'py> {
    /// `None` for a null dataspace.
    shape: Option<Vec<u64>>,
    maxshape: Option<Vec<Option<u64>>>,
    /// A dtype, or a committed datatype.
    dtype: Bound<'py, PyAny>,
    chunks: Option<Vec<u64>>,
    compact: bool,
    /// The name, the offset and the size of each part of external files.
    external: Vec<(String, u64, u64)>,
    filters: Vec<filters::Given>,
    fillvalue: Option<Bound<'py, PyUntypedArray>>,
    fill_time: String,
    /// When space is allocated: the number of libhdf5. None is its default.
    allocation: Option<u8>,
    track_order: bool,
    modification: Option<u32>,
    skip_fill_chunks: Option<bool>,
    /// Whether the datatype has PyTables' form.
    is_table: bool,
    /// A dataset whose datatype is taken: it may say more than a dtype.
    stored_as: Option<Bound<'py, Dataset>>,
    /// The mappings of a virtual dataset.
    mappings: Option<Vec<Mapping>>,
}

/// A mapping of a virtual dataset: its elements, the file, the dataset, and the elements there.
type Mapping = (Option<Vec<AxisIndices>>, String, String, Option<Vec<AxisIndices>>);

/// The indices along one axis.
#[derive(FromPyObject)]
enum AxisIndices {
    /// Start, stride, count and block. A count without end is `None`.
    Regular(u64, u64, Option<u64>, Option<u64>),
    List(Vec<u64>),
}

impl CreateRequest<'_> {
    /// Returns the options for the engine.
    pub(crate) fn options(self, state: &FileState) -> PyResult<DatasetOptions> {
        let (mut datatype, committed) = datatype(&self.dtype, state)?;
        if let Some(other) = &self.stored_as {
            datatype = (*other.get().core.datatype()).clone();
        } else if self.is_table {
            datatype = hyperslab_tables::row_datatype(datatype);
        }
        let dataspace = dataspace(self.shape, self.maxshape);
        let fill = self.fillvalue.map(|value| fill_bytes(&value, &datatype, state)).transpose()?;
        let mut options = DatasetOptions::new(dataspace, datatype);
        options.committed = committed;
        options.storage = match (self.chunks, self.mappings) {
            (Some(chunks), _) => NewStorage::Chunked(chunks),
            (None, Some(mappings)) => NewStorage::Virtual(virtual_mappings(mappings, state)?),
            (None, None) if self.compact => NewStorage::Compact,
            (None, None) => NewStorage::Contiguous,
        };
        let part = |(name, offset, size): (String, u64, u64)| {
            ExternalFile::new(name, offset, (size != UNLIMITED).then_some(size))
        };
        options.external = self.external.into_iter().map(part).collect();
        options.fill = fill.unwrap_or(FillBytes::Default);
        options.filters = filters::stored(self.filters, &options, state.core.store().widths())?;
        options.fill_time = match &*self.fill_time {
            "ifset" => FillTime::IfSet,
            "alloc" => FillTime::OnAllocation,
            "never" => FillTime::Never,
            other => {
                let message = format!("fill time must be one of 'ifset', 'alloc' and 'never', not {other:?}");
                return Err(PyValueError::new_err(message));
            }
        };
        options.allocation = match self.allocation {
            None | Some(0) => None,
            Some(1) => Some(AllocationTime::Early),
            Some(2) => Some(AllocationTime::Late),
            Some(3) => Some(AllocationTime::Incremental),
            Some(other) => {
                return Err(PyValueError::new_err(format!("allocation time {other}: only 0 to 3 exist")));
            }
        };
        options.track_order = self.track_order;
        options.modification = self.modification;
        options.skip_fill_chunks = self.skip_fill_chunks;
        Ok(options)
    }
}

/// h5py's number for a size without limit.
pub(crate) const UNLIMITED: u64 = u64::MAX;

fn virtual_mappings(mappings: Vec<Mapping>, state: &FileState) -> PyResult<Vec<VirtualMapping>> {
    let listed = state.core.version().listed_blocks();
    let mapping = |(target, file, dataset, source): Mapping| {
        let (target, source) = (stored_selection(target, listed)?, stored_selection(source, listed)?);
        Ok(VirtualMapping { file: file.into(), dataset: dataset.into(), source, target })
    };
    mappings.into_iter().map(mapping).collect()
}

/// Returns the selection of a product of axes, or of all elements.
fn stored_selection(axes: Option<Vec<AxisIndices>>, listed: Option<u64>) -> PyResult<StoredSelection> {
    let Some(axes) = axes else { return Ok(StoredSelection::All) };
    let is_regular = axes.iter().all(|axis| matches!(axis, AxisIndices::Regular(..)));
    if !is_regular {
        let axis = |axis| match axis {
            AxisIndices::Regular(start, _, Some(1), Some(block)) => {
                Ok(hyperslab::Axis::Range(Dim::range(start, start + block)))
            }
            AxisIndices::Regular(start, step, Some(count), Some(1)) => {
                Ok(hyperslab::Axis::Range(Dim { start, step, count }))
            }
            AxisIndices::Regular(..) => {
                Err(PyTypeError::new_err("a list of indices and a slice without end do not go together"))
            }
            AxisIndices::List(list) => Ok(hyperslab::Axis::from_indices(list)),
        };
        let axes = axes.into_iter().map(axis).collect::<PyResult<Vec<_>>>()?;
        return Selection::Grid(axes).to_stored(listed).or_raise();
    }
    if axes.iter().any(|axis| {
        matches!(axis, AxisIndices::Regular(_, _, Some(0), _) | AxisIndices::Regular(_, _, _, Some(0)))
    }) {
        return Ok(StoredSelection::None);
    }
    let axes = axes.into_iter().filter_map(|axis| match axis {
        AxisIndices::Regular(start, stride, count, block) => {
            Some(RegularAxis { start, stride, count, block })
        }
        AxisIndices::List(_) => None,
    });
    Ok(StoredSelection::regular_within(axes.collect(), listed))
}

/// Returns the stored datatype for `dtype`, and the committed datatype if `dtype` is one of the same file.
pub(crate) fn datatype(
    dtype: &Bound<'_, PyAny>,
    state: &FileState,
) -> PyResult<(StoredDatatype, Option<hyperslab::NamedDatatype>)> {
    // The identifier of a committed datatype stands for the datatype.
    let inner = dtype.getattr_opt("_committed")?.filter(|inner| !inner.is_none());
    let inner = inner.map(|inner| inner.getattr("_object")).transpose()?;
    let dtype = inner.as_ref().unwrap_or(dtype);
    if let Some(description) = dtype.getattr_opt("_description")? {
        return Ok((described(&description)?, None));
    }
    if let Ok(committed) = dtype.cast::<Datatype>() {
        if committed.get().transient.get(dtype.py()).is_some() {
            return Ok((committed.get().stored(dtype.py())?, None));
        }
        let named = committed.get().datatype.clone();
        if !named.file().is_same(&state.core) {
            // A file cannot refer to a committed datatype of another file, so the new object stores a copy.
            return Ok((named.datatype().clone(), None));
        }
        return Ok((named.datatype().clone(), Some(named)));
    }
    let descr = descr_of(dtype)?;
    Ok((stored_datatype(&descr, state.core.store().widths().offset.bytes())?, None))
}

/// Returns the dataspace of a shape, or the null dataspace without a shape.
pub(crate) fn dataspace(shape: Option<Vec<u64>>, max_shape: Option<Vec<Option<u64>>>) -> Dataspace {
    match shape {
        None => Dataspace::Null,
        Some(shape) if shape.is_empty() => Dataspace::Scalar,
        Some(shape) => Dataspace::Simple { shape, max_shape },
    }
}

/// Returns the fill value as one element of the stored datatype.
fn fill_bytes(
    value: &Bound<'_, PyUntypedArray>,
    datatype: &StoredDatatype,
    state: &FileState,
) -> PyResult<FillBytes> {
    let widths = state.core.store().widths();
    let given = if let Ok(same) = stored_datatype(&value.dtype(), widths.offset.bytes())
        && same == *datatype
    {
        Some(same)
    } else {
        datatype_of(&value.dtype())
    };
    let size = usize::try_from(datatype.size(widths))?;
    if value.dtype().has_object() {
        let translation = translated(value.py(), datatype, widths)?;
        return objects_write::elements(&state.core, &translation, value).map(FillBytes::Defined);
    }
    let given =
        given.ok_or_else(|| PyTypeError::new_err("the fill value has a dtype that HDF5 does not know"))?;
    let conversion = hyperslab_convert::Conversion::with_widths(&given, datatype, widths).or_raise()?;
    let mut stored = vec![0; size];
    conversion.apply(&buffer::bytes(value)?[..conversion.src_size()], &mut stored, 1).or_raise()?;
    Ok(FillBytes::Defined(stored))
}
