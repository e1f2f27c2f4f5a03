//! Which elements: the expression between the brackets of `dataset[...]` as a selection, references to parts
//! of datasets, and the chunks of a region.

pub(crate) mod chunks;
pub(crate) mod index;
pub(crate) mod region;
