//! Checking files. `hyperslab._check` converts the findings to objects with named fields.

use std::sync::Arc;

use hyperslab::Error;
use hyperslab::check::{CheckOptions, Finding, Report};
use hyperslab::driver::{Driver, Posix};
use pyo3::prelude::*;

use crate::error::open_exception;
use crate::file::path_of;
use crate::fileobj::FileObject;

/// A finding: severity, message, structure, section of the specification, address, path.
type Found = (String, String, &'static str, &'static str, Option<u64>, Option<String>);

/// Checks the file at the path `file`, or the file of a file object.
#[pyfunction(name = "_check")]
pub(crate) fn check(file: &Bound<'_, PyAny>, data: bool) -> PyResult<Vec<Found>> {
    let py = file.py();
    let mut options = CheckOptions::default();
    options.data = data;
    let (name, medium): (_, Arc<dyn Driver>) = if file.hasattr("read")? && file.hasattr("seek")? {
        (file.repr()?.to_string(), Arc::new(FileObject::new(file)))
    } else {
        let path = path_of(file)?;
        let name = path.to_string_lossy().into_owned();
        let opened = py.detach(|| Posix::open(&path)).map_err(Error::io("open", 0, 0));
        (name.clone(), Arc::new(opened.map_err(|error| open_exception(&error, &name))?))
    };
    let report = py.detach(|| hyperslab::check::check(medium, &options, &mut |_| {}));
    Ok(found(report.map_err(|error| open_exception(&error, &name))?))
}

fn found(report: Report) -> Vec<Found> {
    let described = |finding: Finding| {
        let Finding { severity, structure, spec, at, path, message } = finding;
        let path = Some(path).filter(|path| !path.is_empty());
        (severity.to_string(), message, structure, spec, at.defined().map(hyperslab_format::Addr::get), path)
    };
    report.findings.into_iter().map(described).collect()
}
