//! A dataset with the facts that reads and writes need and that never change: looking them up in the state of
//! the file would cost as much as a small read.

use std::ops::Deref;
use std::sync::Arc;

use hyperslab::Dataset;
use hyperslab::datatype::Datatype;
use hyperslab_format::Widths;

/// An open dataset.
#[derive(Debug)]
pub(crate) struct Opened {
    dataset: Dataset,
    /// The number of dimensions.
    pub(crate) rank: usize,
    /// The datatype in the file.
    pub(crate) datatype: Arc<Datatype>,
    pub(crate) widths: Widths,
}

impl Opened {
    pub(crate) fn new(dataset: Dataset) -> Self {
        let rank = dataset.dataspace().shape().len();
        let (datatype, widths) = (dataset.datatype(), dataset.file().store().widths());
        Self { dataset, rank, datatype, widths }
    }
}

impl Deref for Opened {
    type Target = Dataset;

    fn deref(&self) -> &Dataset {
        &self.dataset
    }
}
