//! Object and region references. Only a file can resolve a reference to an object.

use hyperslab_format::datatype::{Reference as StoredReference, ReferenceKind};
use hyperslab_format::{Addr, Width};
use pyo3::prelude::*;
use smallvec::SmallVec;

use crate::object::hash_of;

/// A reference to an object of a file.
///
/// `HLObject.ref` makes a reference, `file[reference]` gives the object. Datasets and attributes of dtype
/// `ref_dtype` hold references. A reference is the address of an object: only the file that it comes from can
/// follow it. `Reference()` is a null reference, which refers to nothing. The truth value of a null reference
/// is False. Two references are equal if they hold the same address.
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
pub(crate) struct Reference {
    /// The datatype of the reference.
    pub(crate) kind: StoredReference,
    /// The reference as stored in the file.
    pub(crate) bytes: SmallVec<[u8; 16]>,
}

/// A reference to a part of a dataset.
///
/// Region references are read from datasets and attributes of dtype `regionref_dtype`. `file[reference]`
/// gives the dataset. Selecting the part with a region reference and making new ones are not supported.
/// `RegionReference()` is a null reference.
///
/// Example:
///     >>> hs.RegionReference()
///     <HDF5 region reference (null)>
///     >>> hs.RegionReference().typecode
///     1
#[pyclass(frozen, extends = Reference, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct RegionReference;

impl Reference {
    /// Returns the reference stored in `bytes`, an element of a dataset or attribute.
    pub(crate) fn stored(kind: StoredReference, bytes: &[u8]) -> Self {
        Self { kind, bytes: SmallVec::from_slice(bytes) }
    }

    /// Returns the reference to the object at `address`, in a file with addresses of the width `width`.
    pub(crate) fn to(address: Addr, width: Width) -> Self {
        Self::stored(object_kind(width.bytes()), &address.get().to_le_bytes()[..width.bytes()])
    }
}

impl RegionReference {
    /// Returns the region reference stored in `bytes`, an element of a dataset or attribute.
    pub(crate) fn stored(kind: StoredReference, bytes: &[u8]) -> PyClassInitializer<Self> {
        PyClassInitializer::from(Reference::stored(kind, bytes)).add_subclass(Self)
    }
}

fn object_kind(size: usize) -> StoredReference {
    // The size is an address width, which is at most 8 bytes.
    StoredReference { size: u32::try_from(size).unwrap_or(8), kind: ReferenceKind::Object1 }
}

#[pymethods]
impl Reference {
    #[new]
    fn new() -> Self {
        Self::stored(object_kind(8), &[0; 8])
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

    fn __bool__(&self) -> bool {
        self.bytes.iter().any(|&byte| byte != 0)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().bytes == self.bytes)
    }

    fn __hash__(&self) -> u64 {
        hash_of(&self.bytes)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> String {
        let kind = if slf.is_instance_of::<RegionReference>() { "region" } else { "object" };
        format!("<HDF5 {kind} reference{}>", if slf.get().__bool__() { "" } else { " (null)" })
    }
}

#[pymethods]
impl RegionReference {
    #[new]
    fn new() -> PyClassInitializer<Self> {
        Self::stored(StoredReference { size: 12, kind: ReferenceKind::Region1 }, &[0; 12])
    }
}
