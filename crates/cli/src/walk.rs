//! Visits what a group leads to, each object's members once, whatever circles the links make.

use std::collections::HashMap;
use std::rc::Rc;
use std::vec;

use hyperslab::{Group, Node};
use hyperslab_format::Addr;
use hyperslab_format::message::link::{Link, LinkTarget};

/// A link that was met, and what it leads to.
pub(crate) struct Visit<'v> {
    /// The path from the group where the walk began.
    pub path: &'v str,
    /// The link.
    pub link: &'v Link,
    /// What a hard link leads to, or the error that came of opening it. (Other links are not followed.)
    pub node: Option<&'v hyperslab::Result<Node>>,
    /// The group that has the link.
    pub parent: &'v Group,
    /// The path by which the same object was met before.
    pub before: Option<&'v str>,
}

/// Calls `visit` with every link under `root`, in h5py's order, groups before their members; with `deep`, of groups
/// below too. A group whose links cannot be listed is told to `broken`, with its path.
pub(crate) fn walk(
    root: &Group,
    deep: bool,
    visit: &mut dyn FnMut(&Visit<'_>) -> anyhow::Result<()>,
    broken: &mut dyn FnMut(&str, hyperslab::Error),
) -> anyhow::Result<()> {
    let mut seen: HashMap<Addr, Rc<str>> = HashMap::from([(root.address(), Rc::from("."))]);
    // A stack of our own: groups may be nested more deeply than calls can be.
    let mut stack: Vec<(Group, Rc<str>, vec::IntoIter<Link>)> = Vec::new();
    match root.links() {
        Ok(links) => stack.push((root.clone(), Rc::from(""), links.into_iter())),
        Err(error) => broken(".", error),
    }
    while let Some((group, base, links)) = stack.last_mut() {
        let Some(link) = links.next() else {
            stack.pop();
            continue;
        };
        let path: Rc<str> =
            if base.is_empty() { Rc::from(&*link.name) } else { Rc::from(format!("{base}/{}", link.name)) };
        let LinkTarget::Hard(address) = link.target else {
            visit(&Visit { path: &path, link: &link, node: None, parent: group, before: None })?;
            continue;
        };
        let before = seen.get(&address).cloned();
        let node = group.open_link(&link);
        let before_path = before.as_deref();
        visit(&Visit { path: &path, link: &link, node: Some(&node), parent: group, before: before_path })?;
        if before.is_some() {
            continue;
        }
        seen.insert(address, Rc::clone(&path));
        if let (true, Ok(Node::Group(member))) = (deep, node) {
            match member.links() {
                Ok(links) => stack.push((member, path, links.into_iter())),
                Err(error) => broken(&path, error),
            }
        }
    }
    Ok(())
}
