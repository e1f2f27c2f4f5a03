//! Walks over a group and all below it, every object once.

use std::collections::HashSet;

use hyperslab::{Group, Node, Result};
use hyperslab_format::Addr;
use hyperslab_format::message::link::{Link, LinkTarget};

/// What a walk meets.
pub(crate) struct Step {
    /// The path from the group at which the walk began.
    pub(crate) path: String,
    /// The link.
    pub(crate) link: Link,
    /// The object behind it, if it is a hard link.
    pub(crate) node: Option<Node>,
}

/// A walk: groups before their members, members by name.
pub(crate) struct Walk {
    /// Groups yet to be finished, and the links of each that are left, the next one last.
    stack: Vec<(String, Group, Vec<Link>)>,
    /// Objects met.
    seen: HashSet<Addr>,
    /// Whether links to objects met before, and links that are not hard, count.
    every_link: bool,
}

impl Walk {
    /// A walk over the objects below `group`, or over all links.
    pub(crate) fn new(group: &Group, every_link: bool) -> Result<Self> {
        let mut walk = Self { stack: Vec::new(), seen: HashSet::from([group.address()]), every_link };
        walk.enter(String::new(), group.clone())?;
        Ok(walk)
    }

    fn enter(&mut self, prefix: String, group: Group) -> Result<()> {
        let mut links = group.links()?;
        links.sort_by(|a, b| b.name.cmp(&a.name));
        self.stack.push((prefix, group, links));
        Ok(())
    }

    /// The next object, or the next link.
    pub(crate) fn step(&mut self) -> Result<Option<Step>> {
        while let Some((prefix, group, links)) = self.stack.last_mut() {
            let Some(link) = links.pop() else {
                self.stack.pop();
                continue;
            };
            let path = format!("{prefix}{}", link.name);
            let LinkTarget::Hard(address) = link.target else {
                if self.every_link {
                    return Ok(Some(Step { path, link, node: None }));
                }
                continue;
            };
            let new = self.seen.insert(address);
            if !new && !self.every_link {
                continue;
            }
            let node = group.open_link(&link)?;
            if let (true, Node::Group(below)) = (new, &node) {
                self.enter(format!("{path}/"), below.clone())?;
            }
            return Ok(Some(Step { path, link, node: Some(node) }));
        }
        Ok(None)
    }
}
