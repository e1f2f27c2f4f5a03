//! Checking files. `hyperslab._check` converts the findings to objects with named fields.

use std::sync::Arc;

use hyperslab::File;
use hyperslab::driver::Members;
use hyperslab_check::{self as checking, CheckOptions, Finding, Report};
use hyperslab_remote::{Location, RemoteOptions};
use pyo3::prelude::*;

use crate::interpreter::error::open_exception;
use crate::interpreter::name::path_of;
use crate::interpreter::progress::Progress;
use crate::opening::fileobj::FileObject;

/// A finding: severity, message, structure, section of the specification, address, path.
type FindingTuple = (String, String, &'static str, &'static str, Option<u64>, Option<String>);

/// Checks the file at the path `file`, or the file of a file object. `progress` is called with bytes.
#[pyfunction(name = "_check")]
pub(crate) fn check(
    file: &Bound<'_, PyAny>,
    data: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<FindingTuple>> {
    let py = file.py();
    let options = CheckOptions::default().data(data);
    let progress = Progress::new(progress);
    let mut tell = |now: checking::Progress<'_>| {
        if progress.tell(now.done_bytes, now.bytes).is_break() {
            now.stop();
        }
    };
    let (name, report) = if file.hasattr("read")? && file.hasattr("seek")? {
        let medium = Arc::new(FileObject::new(file, true));
        (file.repr()?.to_string(), py.detach(|| checking::check(medium, &options, &mut tell)))
    } else {
        let path = path_of(file)?;
        let location = Location::named(&path);
        let checked = py.detach(|| {
            let opened = File::options().members(Members::found(&path));
            checking::check(location.medium(&opened, &RemoteOptions::default())?, &options, &mut tell)
        });
        (location.shown(), checked)
    };
    progress.result(report.map_err(|error| open_exception(&error, &name))).map(found)
}

fn found(report: Report) -> Vec<FindingTuple> {
    let described = |finding: Finding| {
        let Finding { severity, structure, spec, at, path, message, .. } = finding;
        let path = Some(path).filter(|path| !path.is_empty());
        (severity.to_string(), message, structure, spec, at.defined().map(hyperslab_format::Addr::get), path)
    };
    report.findings.into_iter().map(described).collect()
}
