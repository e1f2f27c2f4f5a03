//! Resolving paths: `/a/b` step by step through hard, soft and external links, with a limit against circles.

use std::sync::Arc;

use hyperslab_format::message::link::{Link, LinkTarget};

use super::file::external;
use super::{Group, Node};
use crate::error::{Error, RequestError, Result};

/// How many soft and external links one path may lead through. libhdf5 stops at 16; nobody nests 64 by intent.
pub(super) const LINK_LIMIT: u32 = 64;

/// What is left of [`LINK_LIMIT`] while one path is followed, across files.
#[derive(Debug)]
pub(super) struct Budget {
    left: u32,
}

impl Budget {
    /// A budget for one request.
    pub(super) fn new() -> Self {
        Self { left: LINK_LIMIT }
    }

    fn spend(&mut self, name: &str) -> Result<()> {
        self.left = self
            .left
            .checked_sub(1)
            .ok_or_else(|| RequestError::TooManyLinks { name: name.to_owned(), limit: LINK_LIMIT })?;
        Ok(())
    }
}

/// The object at `path`, from the root of the file if it begins with `/`, else from `start`.
pub(super) fn resolve(start: &Group, path: &str, budget: &mut Budget) -> Result<Node> {
    let (parent, Some(last)) = parent(start, path, budget)? else {
        let here = if path.starts_with('/') { start.file().root() } else { start.clone() };
        return if path.is_empty() { Err(missing(path)) } else { Ok(Node::Group(here)) };
    };
    let Some(parent) = parent else { return Err(missing(path)) };
    let link = parent.link(last)?.ok_or_else(|| missing(path))?;
    follow(&parent, &link, budget)
}

/// Whether there is a link at `path`; like h5py, without asking whether the last link leads anywhere.
pub(super) fn exists(start: &Group, path: &str) -> Result<bool> {
    let found = match parent(start, path, &mut Budget::new()) {
        Ok(found) => found,
        Err(error) if is_absence(&error) => return Ok(false),
        Err(error) => return Err(error),
    };
    match found {
        (_, None) => Ok(!path.is_empty()),
        (None, Some(_)) => Ok(false),
        (Some(parent), Some(last)) => Ok(parent.link(last)?.is_some()),
    }
}

/// The object that `link`, a link of `group`, leads to.
///
/// Its path is that of the link, whatever lies behind a soft link; behind an external link it is the path in the other
/// file. That is how libhdf5 names objects.
pub(super) fn follow(group: &Group, link: &Link, budget: &mut Budget) -> Result<Node> {
    let path = join(group.path(), &link.name);
    match &link.target {
        LinkTarget::Hard(address) => Node::open(group.file(), *address, &path),
        LinkTarget::Soft(target) => {
            budget.spend(&path)?;
            // What is missing is the link's target, but what the caller knows is the link.
            let node = resolve(group, target, budget).map_err(|error| error.at(&path))?;
            Ok(node.with_path(path))
        }
        LinkTarget::External { file, path: target } => {
            budget.spend(&path)?;
            let other = external::open(group.file(), file).map_err(|error| error.at(&path))?;
            // The path in an external link always starts at the root, with or without a slash.
            resolve(&other.root(), target, budget).map_err(|error| error.at(&path))
        }
        LinkTarget::User { kind, .. } => {
            Err(Error::unsupported(format!("a user-defined link of type {kind}"), "IV.A.2.g").at(&path))
        }
    }
}

/// The components of a path.
pub(super) fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|component| !matches!(*component, "" | "."))
}

/// The path of the member `name` of the group at `group`; empty if that is not known.
pub(super) fn join(group: &str, name: &str) -> Arc<str> {
    match group {
        "" => "".into(),
        "/" => format!("/{name}").into(),
        _ => format!("{group}/{name}").into(),
    }
}

/// The group that holds the last component of `path`, and that component; no component if the path names `start`
/// itself or the root; no group if a component before the last is not a group.
fn parent<'p>(start: &Group, path: &'p str, budget: &mut Budget) -> Result<(Option<Group>, Option<&'p str>)> {
    let mut here = if path.starts_with('/') { start.file().root() } else { start.clone() };
    let mut components = names(path).peekable();
    while let Some(component) = components.next() {
        if components.peek().is_none() {
            return Ok((Some(here), Some(component)));
        }
        let link = here.link(component)?.ok_or_else(|| missing(path))?;
        match follow(&here, &link, budget)? {
            Node::Group(group) => here = group,
            _ => return Ok((None, components.last())),
        }
    }
    Ok((Some(here), None))
}

/// Where a new link goes, or where one is.
pub(super) struct Place<'p> {
    /// The last group on the way that is there.
    pub(super) group: Group,
    /// Groups to be made below it.
    pub(super) missing: Vec<&'p str>,
    /// The name of the link.
    pub(super) name: &'p str,
}

impl Place<'_> {
    /// The path of the link.
    pub(super) fn path(&self) -> Arc<str> {
        let names = self.missing.iter().chain([&self.name]);
        names.fold(self.group.path().into(), |path: Arc<str>, name| join(&path, name))
    }
}

/// The place of a link at `path`, from the root of the file if it begins with `/`, else from `start`.
pub(super) fn place<'p>(start: &Group, path: &'p str) -> Result<Place<'p>> {
    let mut budget = Budget::new();
    let mut group = if path.starts_with('/') { start.file().root() } else { start.clone() };
    let mut components: Vec<&str> = names(path).collect();
    // As in libhdf5: `group/.` is the group itself, and no link.
    let is_itself = path.rsplit('/').find(|component| !component.is_empty()) == Some(".");
    let Some(name) = components.pop().filter(|_| !is_itself) else {
        let why = "it ends without the name of a link";
        return Err(RequestError::Argument { what: format!("path {path:?}"), why }.into());
    };
    for (depth, component) in components.iter().enumerate() {
        let Some(link) = group.link(component)? else {
            return Ok(Place { group, missing: components[depth..].to_vec(), name });
        };
        group = follow(&group, &link, &mut budget)?.into_group()?;
    }
    Ok(Place { group, missing: Vec::new(), name })
}

fn missing(path: &str) -> Error {
    RequestError::NoSuchObject { name: path.to_owned() }.into()
}

/// Whether the error says that a link leads to nothing.
pub(super) fn leads_nowhere(error: &Error) -> bool {
    is_absence(error) || matches!(error.root(), Error::Request(RequestError::TooManyLinks { .. }))
}

/// Whether the error says that there is no such object, rather than that something is wrong.
fn is_absence(error: &Error) -> bool {
    matches!(
        error.root(),
        Error::Request(
            RequestError::NoSuchObject { .. }
                | RequestError::NoSuchFile { .. }
                | RequestError::WrongKind { .. }
        )
    )
}
