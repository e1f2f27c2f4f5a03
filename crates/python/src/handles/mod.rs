//! The objects that programs hold: files, groups, datasets, committed datatypes and attributes, and what
//! their methods create: datasets, links and dimension scales.

pub(crate) mod attrs;
pub(crate) mod classes;
pub(crate) mod create;
pub(crate) mod dataset;
pub(crate) mod datatype;
pub(crate) mod file;
pub(crate) mod group;
pub(crate) mod identifier;
pub(crate) mod links;
pub(crate) mod object;
pub(crate) mod opened;
pub(crate) mod regionref;
pub(crate) mod relations;
pub(crate) mod scales;
