//! `/meta`, `/attr` and `/paths`: objects, attributes and links.

use hyperslab::{Attribute, Dataset, Dataspace, Group, Link, LinkTarget, Node, Object, Walk};
use hyperslab_format::message::filters::FilterSpec;
use serde_json::{Map, Value, json};

use crate::answer::{Answered, Limited, Refusal};
use crate::datatype::described;
use crate::links::{self, Entity, Resolve};
use crate::request::Asked;
use crate::value::{Nest, Values};

/// Writes the description of the entity at the path, and of the members of a group.
pub(crate) fn meta(asked: &Asked<'_>, out: &mut Limited) -> Answered<()> {
    let path = asked.query.path();
    let entity = links::find(asked.file, asked.name, path, Resolve::of(asked.query)?)?;
    let name = path.rsplit('/').next().unwrap_or_default();
    let described = describe(name, &entity)?;
    let Entity::Object(Node::Group(group)) = &entity else { return out.json(&described) };
    // The members of a large group are written one by one.
    let mut text = described.to_string();
    text.truncate(text.len() - 1);
    out.push(text.as_bytes())?;
    out.push(br#","children":["#)?;
    for (at, link) in group.links()?.into_iter().enumerate() {
        asked.cancelled.check()?;
        if at > 0 {
            out.push(b",")?;
        }
        out.json(&member(group, link))?;
    }
    out.push(b"]}")
}

/// Returns the description of a member of a group. A member that cannot be read does not hide the others.
fn member(group: &Group, link: Link) -> Value {
    let name = link.name.clone();
    let found = links::followed(group, link, Resolve::Valid, String::new);
    let described = found.and_then(|entity| describe(&name, &entity));
    described.unwrap_or_else(|_| json!({ "name": name, "kind": "other" }))
}

fn describe(name: &str, entity: &Entity) -> Answered<Value> {
    let node = match entity {
        Entity::Link(link) => return Ok(describe_link(name, link)),
        Entity::Object(node) => node,
    };
    let mut members = Map::new();
    members.insert("name".to_owned(), name.into());
    members.insert("attributes".to_owned(), attributes(node)?);
    let widths = node.file().store().widths();
    match node {
        Node::Group(_) => _ = members.insert("kind".to_owned(), "group".into()),
        Node::Dataset(dataset) => {
            members.insert("kind".to_owned(), "dataset".into());
            members.insert("shape".to_owned(), shape(&dataset.dataspace()));
            members.insert("type".to_owned(), described(&dataset.datatype(), widths));
            members.insert(
                "chunks".to_owned(),
                dataset.chunk_shape().map_or(Value::Null, |chunks| json!(chunks)),
            );
            members.insert("filters".to_owned(), filters(dataset));
        }
        Node::Datatype(named) => {
            members.insert("kind".to_owned(), "datatype".into());
            members.insert("type".to_owned(), described(named.datatype(), widths));
        }
    }
    Ok(Value::Object(members))
}

fn describe_link(name: &str, link: &Link) -> Value {
    match &link.target {
        LinkTarget::Soft(path) => json!({ "name": name, "kind": "soft_link", "target_path": path }),
        LinkTarget::External { file, path } => {
            json!({ "name": name, "kind": "external_link", "target_file": file, "target_path": path })
        }
        LinkTarget::Hard(_) | LinkTarget::User { .. } => json!({ "name": name, "kind": "other" }),
    }
}

fn attributes(object: &Object) -> Answered<Value> {
    let widths = object.file().store().widths();
    let mut found = object.attributes()?;
    found.sort_by(|a, b| a.name.cmp(&b.name));
    let described = found.iter().map(|attribute| {
        let (shape, datatype) = (shape(&attribute.dataspace), described(&attribute.datatype, widths));
        json!({ "name": attribute.name, "shape": shape, "type": datatype })
    });
    Ok(described.collect())
}

fn shape(dataspace: &Dataspace) -> Value {
    match dataspace {
        Dataspace::Null => Value::Null,
        other => json!(other.shape()),
    }
}

fn filters(dataset: &Dataset) -> Value {
    let filters = dataset.filters();
    if filters.filters.is_empty() {
        return Value::Null;
    }
    filters.filters.iter().map(|filter| json!({ "id": filter.id, "name": filter_name(filter) })).collect()
}

/// Returns the name of a filter: the stored one, or libhdf5's.
fn filter_name(filter: &FilterSpec) -> &str {
    match (&filter.name, filter.id) {
        (Some(name), _) => name,
        (None, 1) => "deflate",
        (None, 2) => "shuffle",
        (None, 3) => "fletcher32",
        (None, 4) => "szip",
        (None, 5) => "nbit",
        (None, 6) => "scaleoffset",
        (None, _) => "",
    }
}

/// Writes the values of the attributes of the object at the path.
pub(crate) fn attr(asked: &Asked<'_>, out: &mut Limited) -> Answered<()> {
    let node = links::object(asked.file, asked.name, asked.query.path())?;
    let wanted: Vec<&str> = asked.query.all("attr_keys").collect();
    let found = if wanted.is_empty() {
        node.attributes()?
    } else {
        wanted.into_iter().map(|name| node.attribute(name)).collect::<hyperslab::Result<_>>()?
    };
    let values = Values::new(node.file());
    out.push(b"{")?;
    for (at, attribute) in found.iter().enumerate() {
        asked.cancelled.check()?;
        if at > 0 {
            out.push(b",")?;
        }
        out.json(&attribute.name.as_str())?;
        out.push(b":")?;
        value(values, attribute, out)?;
    }
    out.push(b"}")
}

fn value(values: Values<'_>, attribute: &Attribute, out: &mut Limited) -> Answered<()> {
    if attribute.dataspace == Dataspace::Null {
        return out.push(b"null");
    }
    let mut nest = Nest::new(attribute.dataspace.shape());
    let size = values.size(&attribute.datatype)?.max(1);
    for element in attribute.data.chunks_exact(size) {
        nest.next(out)?;
        values.write(&attribute.datatype, element, out)?;
    }
    nest.finish(out)
}

/// Writes the paths of the group at the path and of everything below it. Soft and external links are not
/// followed.
pub(crate) fn paths(asked: &Asked<'_>, out: &mut Limited) -> Answered<()> {
    let path = asked.query.path();
    Resolve::of(asked.query)?;
    let Node::Group(group) = links::object(asked.file, asked.name, path)? else {
        return Err(Refusal::argument(format!("{path} is not a group")));
    };
    let base = path.trim_end_matches('/');
    out.push(b"[")?;
    out.json(&if base.is_empty() { "/" } else { base })?;
    for step in Walk::new(&group) {
        asked.cancelled.check()?;
        // A group that cannot be listed has no paths.
        let Ok(step) = step else { continue };
        out.push(b",")?;
        out.json(&format!("{base}/{}", step.path).as_str())?;
    }
    out.push(b"]")
}
