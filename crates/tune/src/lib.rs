//! Finds the chunk shape that suits the reads of a dataset, by prediction and then by measurement.
//!
//! `model` computes the cost of a read, and `search` the shapes that are worth trying. `medium` and `codec`
//! measure the machine for the model. `measure` times the shapes themselves, with a `sample` that `specimen`
//! writes to files without names.

#![forbid(unsafe_code)]

mod access;
mod codec;
mod error;
mod measure;
mod medium;
mod model;
mod report;
mod run;
mod sample;
mod search;
mod specimen;

pub use access::{Access, accesses};
pub use error::WrongArgument;
pub use model::{ArrayFacts, Machine, Medium, Ratio, Times};
pub use report::{Report, Row, SampleFacts};
pub use run::{Sampling, Tuning, check, tune};
pub use search::{Candidate, Origin};
