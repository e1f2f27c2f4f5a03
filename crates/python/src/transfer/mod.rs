//! Reading and writing the elements of a selection: the calls behind `dataset[...]`, the views that convert
//! what they read, the values of attributes, and the plan that describes a read before it happens.

pub(crate) mod attribute;
pub(crate) mod plan;
pub(crate) mod read;
pub(crate) mod views;
pub(crate) mod write;
