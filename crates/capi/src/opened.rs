//! A dataset with the facts that reads and writes need and that never change: looking them up in the state of
//! the file would cost as much as a small read.

use std::ops::Deref;
use std::sync::Arc;

use hyperslab::datatype::Datatype;
use hyperslab::{Dataset, Dataspace};
use hyperslab_format::Widths;

use crate::codes::HS_STORED;
use crate::types;

/// An open dataset.
#[derive(Debug)]
pub(crate) struct Opened {
    dataset: Dataset,
    /// The number of dimensions.
    pub(crate) rank: usize,
    /// The datatype in the file.
    pub(crate) datatype: Arc<Datatype>,
    pub(crate) widths: Widths,
    /// The bytes of an element in the file.
    pub(crate) element_size: u64,
    /// The dataset has no elements, and never will (a null dataspace).
    pub(crate) is_null: bool,
    /// The code of the datatype, if its elements are in memory what they are in the file.
    same: i32,
}

impl Opened {
    pub(crate) fn new(dataset: Dataset) -> Self {
        let space = dataset.dataspace();
        let (rank, is_null) = (space.shape().len(), space == Dataspace::Null);
        let (datatype, widths) = (dataset.datatype(), dataset.file().store().widths());
        let same = types::same_code(&datatype);
        Self { element_size: datatype.size(widths), dataset, rank, datatype, widths, is_null, same }
    }

    /// Returns whether elements of this type in memory have the bytes that are in the file.
    pub(crate) fn is_as_stored(&self, code: i32) -> bool {
        code == HS_STORED || code == self.same
    }
}

impl Deref for Opened {
    type Target = Dataset;

    fn deref(&self) -> &Dataset {
        &self.dataset
    }
}
