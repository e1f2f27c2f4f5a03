//! The identifier of a group.

use pyo3::prelude::*;

use crate::handles::group::Group;
use crate::handles::identifier::ObjectID;

/// The low-level identifier of a group.
///
/// Example:
///     >>> group.id.name
///     b'/surface'
///     >>> group.id == file["surface"].id
///     True
#[pyclass(frozen, subclass, extends = ObjectID, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct GroupID;

#[pymethods]
impl GroupID {
    #[new]
    fn new(object: &Bound<'_, Group>) -> PyClassInitializer<Self> {
        ObjectID::base(object.as_super()).add_subclass(Self)
    }
}
