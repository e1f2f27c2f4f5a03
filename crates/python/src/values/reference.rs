//! Object and region references. Only a file can resolve a reference to an object.

use hyperslab::{Error, File, Node, ReferenceTarget};
use hyperslab_format::Addr;
use hyperslab_format::datatype::{Reference as StoredReference, ReferenceKind};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use smallvec::SmallVec;

use crate::interpreter::error::{OrRaise, exception};
use crate::interpreter::hash::hash_of;

/// A reference to an object of a file.
///
/// `HLObject.ref` makes a reference, `file[reference]` gives the object. Datasets and attributes of dtype
/// `ref_dtype` hold references. A reference is the address of an object: only the file that it comes from can
/// follow it. `Reference()` is a null reference, which refers to nothing. The truth value of a null reference
/// is False. Two references are equal if they refer to the same.
///
/// Example:
///     >>> reference = dataset.ref
///     >>> file[reference]
///     <HDF5 dataset "t2m": shape (4, 2, 3), type "<f4">
///     >>> file["links"] = np.array([reference], dtype=hs.ref_dtype)
///     >>> file["links"][0] == reference
///     True
///     >>> bool(hs.Reference())
///     False
#[pyclass(frozen, subclass, module = "hyperslab")]
#[derive(Debug, Clone)]
pub(crate) struct Reference(Value);

/// A reference to a part of a dataset.
///
/// `dataset.regionref[...]` makes a reference, and `dataset[reference]` reads the part. Datasets and
/// attributes of dtype `regionref_dtype` hold references. `file[reference]` gives the dataset.
/// `RegionReference()` is a null reference.
///
/// Example:
///     >>> part = dataset.regionref[1:3, :, 0]
///     >>> dataset[part]
///     array([[[ 6.],
///             [ 9.]],
///     <BLANKLINE>
///            [[12.],
///             [15.]]], dtype=float32)
///     >>> file["parts"] = np.array([part], dtype=hs.regionref_dtype)
///     >>> file[file["parts"][0]]
///     <HDF5 dataset "t2m": shape (4, 2, 3), type "<f4">
///     >>> hs.RegionReference()
///     <HDF5 region reference (null)>
///     >>> hs.RegionReference().typecode
///     1
#[pyclass(frozen, extends = Reference, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct RegionReference;

/// What a reference refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Value {
    Null,
    /// An object of the same file.
    Object(Addr),
    /// A part of a dataset that a file names in its heap: the stored reference.
    Stored(SmallVec<[u8; 16]>),
    Target(Box<ReferenceTarget>),
}

impl Reference {
    /// Returns the reference to the object at `address`.
    pub(crate) fn to(address: Addr) -> Self {
        Self(Value::Object(address))
    }

    /// Returns the reference to a target.
    fn of(target: Option<ReferenceTarget>) -> Self {
        Self(match target {
            None => Value::Null,
            Some(target) if target == ReferenceTarget::object(target.object) => Value::Object(target.object),
            Some(target) => Value::Target(Box::new(target)),
        })
    }

    /// Returns what the reference refers to in `file`, or `None` for a null reference.
    pub(crate) fn target(&self, file: &File) -> hyperslab::Result<Option<ReferenceTarget>> {
        match &self.0 {
            Value::Null => Ok(None),
            Value::Object(address) => Ok(Some(ReferenceTarget::object(*address))),
            Value::Stored(bytes) => file.reference_target(&region_kind(bytes.len()), bytes),
            Value::Target(target) => Ok(Some((**target).clone())),
        }
    }

    /// Returns the object that the reference refers to in `file`. Raises `ValueError` for a null reference,
    /// and `KeyError` if there is no object.
    pub(crate) fn node(&self, py: Python<'_>, file: &File) -> PyResult<Node> {
        let node = py.detach(|| self.target(file)?.map(|target| file.referenced(&target)).transpose());
        let node = node.map_err(|error| match error.root() {
            // Nothing says that a reference is stale, except what is now at its address.
            Error::Format(_) => PyKeyError::new_err(format!(
                "Unable to open object by token: no object is at the address of the reference, which may be of \
                 a deleted object or of another file ({})",
                error.root()
            )),
            _ => exception(&error),
        })?;
        node.ok_or_else(|| PyValueError::new_err("Invalid HDF5 object reference"))
    }
}

/// Returns the Python object for the reference in `bytes`, an element of a dataset or attribute of `file`.
pub(crate) fn stored<'py>(
    py: Python<'py>,
    file: &File,
    kind: StoredReference,
    bytes: &[u8],
) -> PyResult<Bound<'py, PyAny>> {
    if kind.kind == ReferenceKind::Region1 {
        // The part in the heap is read when it is needed.
        let is_null = bytes.iter().all(|&byte| byte == 0);
        let value = if is_null { Value::Null } else { Value::Stored(SmallVec::from_slice(bytes)) };
        return region(py, Reference(value));
    }
    let reference = Reference::of(py.detach(|| file.reference_target(&kind, bytes)).or_raise()?);
    match &reference.0 {
        Value::Target(target) if target.selection.is_some() => region(py, reference),
        _ => Ok(Bound::new(py, reference)?.into_any()),
    }
}

/// Returns the reference to a part of a dataset.
pub(crate) fn region_to(py: Python<'_>, target: ReferenceTarget) -> PyResult<Bound<'_, PyAny>> {
    region(py, Reference::of(Some(target)))
}

fn region(py: Python<'_>, reference: Reference) -> PyResult<Bound<'_, PyAny>> {
    let made = PyClassInitializer::from(reference).add_subclass(RegionReference);
    Ok(Bound::new(py, made)?.into_any())
}

/// Returns the stored bytes of a reference: an element of datatype `kind` in `file`.
pub(crate) fn element(file: &File, kind: StoredReference, object: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let is_region = object.is_instance_of::<RegionReference>();
    let fits = match kind.kind {
        ReferenceKind::Object1 => !is_region,
        ReferenceKind::Region1 => is_region,
        ReferenceKind::Object2 | ReferenceKind::Region2 | ReferenceKind::Attribute => true,
    };
    let Some(reference) = object.cast::<Reference>().ok().filter(|_| fits) else {
        let wanted = if kind.kind == ReferenceKind::Region1 { "region" } else { "object" };
        let message = format!("Can't convert incompatible object to HDF5 {wanted} reference");
        return Err(PyTypeError::new_err(message));
    };
    let len = kind.size as usize;
    let reference = reference.get();
    match &reference.0 {
        Value::Null => Ok(vec![0; len]),
        Value::Stored(bytes) if kind.kind == ReferenceKind::Region1 && bytes.len() == len => {
            Ok(bytes.to_vec())
        }
        _ => {
            let put = || match reference.target(file)? {
                Some(target) => file.stored_reference(&kind, &target),
                None => Ok(vec![0; len]),
            };
            object.py().detach(put).or_raise()
        }
    }
}

fn region_kind(size: usize) -> StoredReference {
    // The size is at most that of an address and an index.
    StoredReference { size: u32::try_from(size).unwrap_or(12), kind: ReferenceKind::Region1 }
}

#[pymethods]
impl Reference {
    #[new]
    fn new() -> Self {
        Self(Value::Null)
    }

    /// The kind of the reference: 0 for a reference to an object, 1 for a reference to a region.
    ///
    /// Example:
    ///     >>> dataset.ref.typecode
    ///     0
    #[getter]
    fn typecode(slf: &Bound<'_, Self>) -> u8 {
        u8::from(slf.is_instance_of::<RegionReference>())
    }

    /// The name of the attribute, if the reference is to an attribute of an object. Otherwise None.
    ///
    /// Programs of HDF5 1.12 and later write such references. `file[reference]` gives the object.
    ///
    /// Example:
    ///     >>> dataset.ref.attribute is None
    ///     True
    #[getter]
    fn attribute(&self) -> Option<&str> {
        match &self.0 {
            Value::Target(target) => target.attribute.as_deref(),
            _ => None,
        }
    }

    fn __bool__(&self) -> bool {
        self.0 != Value::Null
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().0 == self.0)
    }

    fn __hash__(&self) -> u64 {
        match &self.0 {
            Value::Null => hash_of(0),
            Value::Object(address) => hash_of(address.get()),
            Value::Stored(bytes) => hash_of(bytes),
            Value::Target(target) => hash_of(target.object.get()),
        }
    }

    fn __repr__(slf: &Bound<'_, Self>) -> String {
        let kind = match slf.get().attribute() {
            _ if slf.is_instance_of::<RegionReference>() => "region",
            Some(_) => "attribute",
            None => "object",
        };
        format!("<HDF5 {kind} reference{}>", if slf.get().__bool__() { "" } else { " (null)" })
    }
}

#[pymethods]
impl RegionReference {
    #[new]
    fn new() -> PyClassInitializer<Self> {
        PyClassInitializer::from(Reference(Value::Null)).add_subclass(Self)
    }
}
