//! Resolves paths such as `/a/b` link by link through hard, soft and external links, with a limit against
//! cycles.

use std::sync::Arc;

use hyperslab_error::{Error, RequestError, Result};
use hyperslab_format::message::link::{Link, LinkTarget};

use super::file::external::{self, LinkAccess};
use super::{Group, Node, Object};

/// The number of soft and external links that one path may lead through. libhdf5 stops at 16; deeper nesting
/// than 64 is a cycle or a mistake.
pub(super) const LINK_LIMIT: u32 = 64;

/// The links left of [`LINK_LIMIT`] while one path is followed, across files, and how the files are opened.
#[derive(Debug)]
pub(super) struct Budget {
    left: u32,
    access: LinkAccess,
    /// Whether an external link was followed.
    is_external: bool,
}

impl Budget {
    /// Creates the budget of one request.
    pub(super) fn new() -> Self {
        Self::with(LinkAccess::default())
    }

    /// Creates the budget of one request that opens files with this access.
    pub(super) fn with(access: LinkAccess) -> Self {
        Self { left: LINK_LIMIT, access, is_external: false }
    }

    fn spend(&mut self, name: &str) -> Result<()> {
        self.left = self.left.checked_sub(1).ok_or_else(|| RequestError::TooManyLinks {
            name: name.to_owned(),
            limit: LINK_LIMIT,
            is_external: self.is_external,
        })?;
        Ok(())
    }
}

/// Returns the object at `path`, from the root of the file if `path` begins with `/`, else from `start`.
pub(super) fn resolve(start: &Group, path: &str, budget: &mut Budget) -> Result<Node> {
    let (parent, Some(last)) = parent(start, path, budget)? else {
        let here = if path.starts_with('/') { start.file().root() } else { start.clone() };
        return if path.is_empty() { Err(missing(path)) } else { Ok(Node::Group(here)) };
    };
    let Some(parent) = parent else { return Err(missing(path)) };
    let link = parent.link(last)?.ok_or_else(|| missing(path))?;
    follow(&parent, &link, budget)
}

/// Whether there is a link at `path`. As in h5py, the last link's target need not exist.
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

/// Returns the object that `link`, a link of `group`, leads to.
///
/// The path of the object is that of the link, even if the link is soft. For an external link, it is the path
/// in the other file. libhdf5 names objects in the same way.
pub(super) fn follow(group: &Group, link: &Link, budget: &mut Budget) -> Result<Node> {
    let path = join(group.path(), &link.name);
    match &link.target {
        LinkTarget::Hard(address) => Node::open(group.file(), *address, &path),
        LinkTarget::Soft(target) => {
            budget.spend(&path)?;
            // The target is missing, but the caller only knows the link, so the error names the link.
            let node = resolve(group, target, budget).map_err(|error| error.at(&path))?;
            Ok(node.with_path(path))
        }
        LinkTarget::External { file, path: target } => {
            budget.is_external = true;
            budget.spend(&path)?;
            let other = external::open(group.file(), file, budget.access)
                .map_err(|error| unopened(&path, file, error).at(&path))?;
            // The path in an external link starts at the root, with or without a slash.
            resolve(&other.root(), target, budget).map_err(|error| error.at(&path))
        }
        LinkTarget::User { kind, .. } => {
            Err(RequestError::UserLink { name: path.to_string(), kind: *kind }.into())
        }
    }
}

/// Returns the components of a path.
pub(super) fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|component| !matches!(*component, "" | "."))
}

/// Returns the path of the member `name` of the group at `group`, or an empty path if `group` is empty
/// (unknown).
pub(super) fn join(group: &str, name: &str) -> Arc<str> {
    match group {
        "" => "".into(),
        "/" => format!("/{name}").into(),
        _ => format!("{group}/{name}").into(),
    }
}

/// Returns the group that holds the last component of `path`, and this component. The component is `None` if
/// the path names `start` itself or the root. The group is `None` if a component before the last is not a
/// group.
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

/// The place of a link that exists or will be created.
pub(super) struct LinkPlace<'p> {
    /// The last existing group on the way.
    pub(super) group: Group,
    /// The missing groups below it, to be created.
    pub(super) missing: Vec<&'p str>,
    /// The name of the link.
    pub(super) name: &'p str,
}

impl LinkPlace<'_> {
    /// Returns the path of the link.
    pub(super) fn path(&self) -> Arc<str> {
        let names = self.missing.iter().chain([&self.name]);
        names.fold(self.group.path().into(), |path: Arc<str>, name| join(&path, name))
    }
}

/// Returns the place of a link at `path`, from the root of the file if `path` begins with `/`, else from
/// `start`.
pub(super) fn place<'p>(start: &Group, path: &'p str) -> Result<LinkPlace<'p>> {
    let mut components: Vec<&str> = names(path).collect();
    // As in libhdf5, `group/.` is the group itself and not a link.
    let is_itself = path.rsplit('/').find(|component| !component.is_empty()) == Some(".");
    let Some(name) = components.pop().filter(|_| !is_itself) else {
        let why = "must end with a name, as in \"group/name\"";
        return Err(RequestError::Argument { what: format!("path {path:?}"), why }.into());
    };
    let (group, passed) = groups_on_the_way(start, path, |_| {})?;
    Ok(LinkPlace { group, missing: components[passed..].to_vec(), name })
}

/// Follows `path` up to its last component, as far as groups exist. Calls `f` with each group on the way, and
/// returns the last with the number of components that lead to it.
fn groups_on_the_way(start: &Group, path: &str, mut f: impl FnMut(&Group)) -> Result<(Group, usize)> {
    let mut budget = Budget::new();
    let mut group = if path.starts_with('/') { start.file().root() } else { start.clone() };
    f(&group);
    let mut components = names(path).peekable();
    let mut passed = 0;
    while let Some(component) = components.next()
        && components.peek().is_some()
        && let Some(link) = group.link(component)?
    {
        group = follow(&group, &link, &mut budget)?.into_group()?;
        f(&group);
        passed += 1;
    }
    Ok((group, passed))
}

/// Whether `path` leads through `object`. A relative path also leads through the groups above `start`.
pub(super) fn leads_through(start: &Group, path: &str, object: &Object) -> Result<bool> {
    let mut found = false;
    let mut look = |group: &Group| {
        found |= group.address() == object.address() && group.file().is_same(object.file());
    };
    groups_on_the_way(start, path, &mut look)?;
    if !path.starts_with('/') {
        // A path that leads nowhere is stale: the groups above `start` are unknown then.
        groups_on_the_way(&start.file().root(), start.path(), &mut look).ok();
    }
    Ok(found)
}

fn missing(path: &str) -> Error {
    RequestError::NoSuchObject { name: path.to_owned() }.into()
}

/// Returns the error of a link whose file cannot be opened: any that is not the caller's.
fn unopened(link: &str, file: &str, error: Error) -> Error {
    if let Error::Request(RequestError::NoSuchFile { .. } | RequestError::Argument { .. }) = error.root() {
        return error;
    }
    RequestError::UnopenedFile { link: link.to_owned(), name: file.to_owned(), why: error.to_string() }.into()
}

/// Whether the error says that a link is broken.
pub(super) fn leads_nowhere(error: &Error) -> bool {
    is_absence(error) || matches!(error.root(), Error::Request(RequestError::TooManyLinks { .. }))
}

/// Whether the error says that there is no such object, rather than that the request or the file is faulty.
pub(super) fn is_absence(error: &Error) -> bool {
    matches!(
        error.root(),
        Error::Request(
            RequestError::NoSuchObject { .. }
                | RequestError::Deleted { .. }
                | RequestError::NoSuchFile { .. }
                | RequestError::UnopenedFile { .. }
                | RequestError::WrongKind { .. }
        )
    )
}
