//! Facts about objects and links that only the low-level API of h5py shows.

use hyperslab::{Link, LinkTarget, Node};
use hyperslab_format::datatype::Charset;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::handles::group::Group;
use crate::handles::object::HLObject;
use crate::interpreter::error::OrRaise;
use crate::opening::state::openings;

/// Returns the address, the kind, the number of hard links, the version of the header, its messages and
/// chunks, the time of the last change, the comment and the number of attributes of an object.
#[pyfunction]
#[pyo3(name = "_object_facts")]
pub(crate) fn object_facts<'py>(object: &Bound<'py, HLObject>) -> PyResult<Bound<'py, PyTuple>> {
    let (py, this) = (object.py(), object.get());
    this.state.check()?;
    let node = &this.node;
    let (facts, links, attributes) = py
        .detach(|| {
            Ok::<_, hyperslab::Error>((node.header_facts()?, node.hard_links()?, node.attribute_count()?))
        })
        .or_raise()?;
    let kind = match &**node {
        Node::Group(_) => 0,
        Node::Dataset(_) => 1,
        Node::Datatype(_) => 2,
    };
    let header = (facts.version, facts.messages, facts.chunks);
    (node.address().get(), kind, links, header, facts.modified, facts.comment, attributes).into_pyobject(py)
}

/// Returns whether an object tracks and indexes the creation order of attributes, and the numbers of
/// attributes at which these move between the header and a heap; and whether a group tracks the creation
/// order of links.
#[pyfunction]
#[pyo3(name = "_order_facts")]
pub(crate) fn attribute_facts(object: &Bound<'_, HLObject>) -> PyResult<(bool, bool, (u16, u16), bool)> {
    let (py, this) = (object.py(), object.get());
    this.state.check()?;
    let node = &this.node;
    let facts = py.detach(|| node.header_facts()).or_raise()?;
    let tracks_links = match &**node {
        Node::Group(group) => py.detach(|| group.tracks_creation_order()).or_raise()?,
        _ => false,
    };
    let phase_change = (facts.phase_change.max_compact, facts.phase_change.min_dense);
    Ok((facts.tracks_attribute_order, facts.indexes_attribute_order, phase_change, tracks_links))
}

/// Returns the kind of a link (0 hard, 1 soft, 64 external, or that of the application), its place in the
/// order of creation, the character set of its name, and its target: an address, or bytes.
#[pyfunction]
#[pyo3(name = "_link_facts")]
pub(crate) fn link_facts<'py>(group: &Bound<'py, Group>, name: &str) -> PyResult<Bound<'py, PyTuple>> {
    let py = group.py();
    group.as_super().get().state.check()?;
    let Some(link) = group.get().link(py, name)? else {
        return Err(PyKeyError::new_err(format!("Unable to get link info (name doesn't exist: '{name}')")));
    };
    let Link { creation_order, charset, target, .. } = &link;
    let bytes = |parts: &[&[u8]]| PyBytes::new(py, &parts.concat()).into_any();
    let (kind, target) = match target {
        LinkTarget::Hard(address) => (0, address.get().into_pyobject(py)?.into_any()),
        LinkTarget::Soft(path) => (1, bytes(&[path.as_bytes()])),
        LinkTarget::External { file, path } => (64, bytes(&[file.as_bytes(), b"\0", path.as_bytes()])),
        LinkTarget::User { kind, data } => (*kind, bytes(&[data])),
    };
    (kind, *creation_order, *charset == Charset::Utf8, target).into_pyobject(py)
}

/// Returns the numbers of handles of open files, datasets, groups and committed datatypes: of all files, or
/// of the file of an object.
#[pyfunction]
#[pyo3(name = "_handle_counts", signature = (object=None))]
pub(crate) fn handle_counts(object: Option<&Bound<'_, HLObject>>) -> [usize; 4] {
    let wanted = object.map(|object| object.get().state.identity());
    let mut counts = [0; 4];
    for state in openings() {
        if state.is_open() && wanted.is_none_or(|wanted| wanted == state.identity()) {
            for (sum, count) in counts.iter_mut().zip(state.handles.counts()) {
                *sum += count;
            }
        }
    }
    counts
}
