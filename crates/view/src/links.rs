//! Finds the object or the link at a path.

use axum::http::StatusCode;
use hyperslab::{Error, File, Group, Link, LinkTarget, Node};

use crate::answer::{Answered, Refusal};
use crate::query::Query;

/// Which soft and external links are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resolve {
    /// None.
    None,
    /// Those that lead to an object.
    Valid,
    /// All. A link that leads nowhere is an error.
    All,
}

impl Resolve {
    pub(crate) fn of(query: &Query) -> Answered<Self> {
        let Some(given) = query.one("resolve_links") else { return Ok(Self::Valid) };
        Ok(match given.to_lowercase().as_str() {
            "true" | "all" => Self::All,
            "false" | "none" => Self::None,
            "only_valid" => Self::Valid,
            _ => {
                let known = "all, none or only_valid";
                return Err(Refusal::argument(format!("resolve_links is {given:?}: it can be {known}")));
            }
        })
    }
}

/// What is at a path.
#[derive(Debug)]
pub(crate) enum Entity {
    Object(Node),
    /// A link that was not followed, or leads nowhere.
    Link(Link),
}

/// Returns what is at `path`.
pub(crate) fn find(file: &File, name: &str, path: &str, resolve: Resolve) -> Answered<Entity> {
    let invalid = || Refusal::new(StatusCode::NOT_FOUND, format!("{path} is not a valid path in {name}"));
    let trimmed = path.trim_matches('/');
    let (parent, last) = trimmed.rsplit_once('/').unwrap_or(("", trimmed));
    if last.is_empty() {
        return Ok(Entity::Object(Node::Group(file.root())));
    }
    let parent = match parent {
        "" => file.root(),
        parent => match file.get(parent) {
            Ok(node) => node.into_group().map_err(|_| invalid())?,
            Err(error) if matches!(error.root(), Error::Request(_)) => return Err(invalid()),
            Err(error) => return Err(error.into()),
        },
    };
    let link = parent.link(last)?.ok_or_else(invalid)?;
    followed(&parent, link, resolve, || format!("Cannot resolve the link at {path} of {name}"))
}

/// Returns the object that a link of a group leads to, or the link.
pub(crate) fn followed(
    parent: &Group,
    link: Link,
    resolve: Resolve,
    unresolved: impl FnOnce() -> String,
) -> Answered<Entity> {
    if matches!(link.target, LinkTarget::Hard(_)) {
        return Ok(Entity::Object(parent.open_link(&link)?));
    }
    if resolve == Resolve::None {
        return Ok(Entity::Link(link));
    }
    match parent.open_link(&link) {
        Ok(node) => Ok(Entity::Object(node)),
        Err(_) if resolve == Resolve::Valid => Ok(Entity::Link(link)),
        Err(error) => Err(Refusal::new(StatusCode::NOT_FOUND, format!("{}: {error}", unresolved()))),
    }
}

/// Returns the object at `path`, which links may lead to.
pub(crate) fn object(file: &File, name: &str, path: &str) -> Answered<Node> {
    match find(file, name, path, Resolve::All)? {
        Entity::Object(node) => Ok(node),
        Entity::Link(_) => Err(Refusal::argument(format!("{path} is a link that was not followed"))),
    }
}
