//! Walks over a group and everything below it. Groups come before their members, and members of a group are
//! visited once even if links form cycles.

use std::collections::HashMap;
use std::sync::Arc;
use std::vec;

use hyperslab_error::{Error, Result};
use hyperslab_format::Addr;
use hyperslab_format::message::link::{Link, LinkTarget};

use super::{Group, Node};

/// An iterator over links. A group whose links cannot be listed gives an error with its path.
///
/// ```
/// use hyperslab::{File, Walk};
///
/// let file = File::in_memory()?;
/// file.root().create_group("a/b")?;
/// file.root().link_soft("a/c", "/a")?;
/// let mut paths = Vec::new();
/// for step in Walk::new(&file.root()) {
///     paths.push(step.map_err(|(_, error)| error)?.path.to_string());
/// }
/// assert_eq!(paths, ["a", "a/b", "a/c"]);
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Debug)]
pub struct Walk {
    list: fn(&Group) -> Result<Vec<Link>>,
    is_deep: bool,
    /// The groups on the way down, each with its remaining links. An explicit stack, because groups may be
    /// nested more deeply than calls.
    way: Vec<(Group, Arc<str>, vec::IntoIter<Link>)>,
    /// The group to list next.
    below: Option<(Group, Arc<str>)>,
    seen: HashMap<Addr, Arc<str>>,
}

/// A link that a walk met, and its target.
#[derive(Debug)]
#[non_exhaustive]
pub struct Step {
    /// The path from the group at which the walk began.
    pub path: Arc<str>,
    /// The link.
    pub link: Link,
    /// The target of a hard link, or the error from opening it. Other links are not followed.
    pub node: Option<Result<Node>>,
    /// The group that has the link.
    pub parent: Group,
    /// The path by which the same object was met earlier.
    pub before: Option<Arc<str>>,
}

impl Walk {
    /// Creates a walk over everything below `root`.
    pub fn new(root: &Group) -> Self {
        Self::ordered(root, Group::links)
    }

    /// Creates a walk over everything below `root` that takes the links of a group in the order in which
    /// `list` returns them.
    pub fn ordered(root: &Group, list: fn(&Group) -> Result<Vec<Link>>) -> Self {
        let path: Arc<str> = Arc::from(".");
        let seen = HashMap::from([(root.address(), Arc::clone(&path))]);
        Self { list, is_deep: true, way: Vec::new(), below: Some((root.clone(), path)), seen }
    }

    /// Limits the walk to the links of the first group.
    #[must_use]
    pub fn shallow(self) -> Self {
        Self { is_deep: false, ..self }
    }
}

impl Step {
    /// Returns the object if it is met for the first time and can be read.
    pub fn new_node(&self) -> Option<&Node> {
        self.node.as_ref()?.as_ref().ok().filter(|_| self.before.is_none())
    }
}

impl Iterator for Walk {
    type Item = std::result::Result<Step, (Arc<str>, Error)>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some((group, path)) = self.below.take() {
            match (self.list)(&group) {
                Ok(links) => self.way.push((group, path, links.into_iter())),
                Err(error) => return Some(Err((path, error))),
            }
        }
        let (link, is_root) = loop {
            let is_root = self.way.len() == 1;
            match self.way.last_mut()?.2.next() {
                Some(link) => break (link, is_root),
                None => _ = self.way.pop(),
            }
        };
        let (parent, base, _) = self.way.last()?;
        let parent = parent.clone();
        let path: Arc<str> =
            if is_root { Arc::from(&*link.name) } else { Arc::from(format!("{base}/{}", link.name)) };
        let LinkTarget::Hard(address) = link.target else {
            return Some(Ok(Step { path, link, node: None, parent, before: None }));
        };
        let before = self.seen.get(&address).cloned();
        let node = parent.open_link(&link);
        if before.is_none() {
            self.seen.insert(address, Arc::clone(&path));
            if let (true, Ok(Node::Group(group))) = (self.is_deep, &node) {
                self.below = Some((group.clone(), Arc::clone(&path)));
            }
        }
        Some(Ok(Step { path, link, node: Some(node), parent, before }))
    }
}
