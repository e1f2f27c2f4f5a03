//! Walks over a group and all below it: groups before their members, each object's members once, whatever circles the links make.

use std::collections::HashMap;
use std::sync::Arc;
use std::vec;

use hyperslab_format::Addr;
use hyperslab_format::message::link::{Link, LinkTarget};

use super::{Group, Node};
use crate::error::{Error, Result};

/// A walk over links. A group whose links cannot be listed is an error with its path.
#[derive(Debug)]
pub struct Walk {
    list: fn(&Group) -> Result<Vec<Link>>,
    is_deep: bool,
    /// The groups on the way down, each with its links that are left. A stack of our own: groups may be nested more deeply
    /// than calls can be.
    way: Vec<(Group, Arc<str>, vec::IntoIter<Link>)>,
    /// The group to be listed next.
    below: Option<(Group, Arc<str>)>,
    seen: HashMap<Addr, Arc<str>>,
}

/// A link that a walk met, and what it leads to.
#[derive(Debug)]
pub struct Step {
    /// The path from the group at which the walk began.
    pub path: Arc<str>,
    /// The link.
    pub link: Link,
    /// What a hard link leads to, or the error that came of opening it. (Other links are not followed.)
    pub node: Option<Result<Node>>,
    /// The group that has the link.
    pub parent: Group,
    /// The path by which the same object was met before.
    pub before: Option<Arc<str>>,
}

impl Walk {
    /// A walk over all below `root`.
    pub fn new(root: &Group) -> Self {
        Self::ordered(root, Group::links)
    }

    /// A walk over all below `root` that takes the links of a group as `list` gives them.
    pub fn ordered(root: &Group, list: fn(&Group) -> Result<Vec<Link>>) -> Self {
        let path: Arc<str> = Arc::from(".");
        let seen = HashMap::from([(root.address(), Arc::clone(&path))]);
        Self { list, is_deep: true, way: Vec::new(), below: Some((root.clone(), path)), seen }
    }

    /// The same over the links of the group itself alone.
    #[must_use]
    pub fn shallow(self) -> Self {
        Self { is_deep: false, ..self }
    }
}

impl Step {
    /// The object, where it is met for the first time and can be read.
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
