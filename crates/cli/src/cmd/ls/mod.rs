//! `hyperslab ls`: lists the contents of files.

mod tree;

use std::io::Write;

use anyhow::{bail, ensure};
use hyperslab::{Attribute, Error, Node, Object, Step, Walk};
use hyperslab_format::message::link::LinkTarget;
use serde_json::{Value, json};

use self::tree::Tree;
use super::Outputs;
use crate::error::message;
use crate::indexes::Indexes;
use crate::place::{NamedObject, ObjectPaths, shown};
use crate::show::paint::{BROKEN, DATATYPE, FAINT, GROUP, HEAD, LINK};
use crate::show::table::{Cell, Table};
use crate::show::value::Decoder;
use crate::show::{array, bytes, counted, dataspace, datatype, plain, shape, storage};

/// List the members of groups: kind, datatype, shape, size, storage
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  hyperslab ls climate.h5
  hyperslab ls -r climate.h5 /surface
  hyperslab ls --tree run*.h5
  hyperslab ls -r --json climate.h5 | jq 'select(.kind == \"dataset\") | .path'

Members have the same order as in h5py. A size is that of all elements, decoded. Soft and external links
show their target; a target that does not exist is marked `dangling`. A long compound type is shortened;
--long lists its members. The indexes of tables (groups such as _i_readings) are listed with --all only. --json prints a line for each object, with its path from the root.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
pub(crate) struct Args {
    #[command(flatten)]
    places: ObjectPaths,
    /// Also list the groups below
    #[arg(short, long)]
    recursive: bool,
    /// Also list the indexes of tables
    #[arg(short, long)]
    all: bool,
    /// Draw the groups below as a tree
    #[arg(short, long)]
    tree: bool,
    /// Show attributes, and all members of compound types
    #[arg(short, long)]
    long: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "tree")]
    json: bool,
}

pub(super) fn run(args: &Args, to: &mut Outputs<'_>) -> anyhow::Result<()> {
    let named = args.places.named()?;
    let mut is_first = true;
    to.each(&named, |to, one| {
        let node = one.open()?;
        if named.len() > 1 && !args.json {
            let gap = if std::mem::take(&mut is_first) { "" } else { "\n" };
            let head = format!("{}:", plain(&one.shown()));
            writeln!(to.out, "{gap}{}", to.paint.styled(HEAD, &head))?;
        }
        if args.json { as_json(args, one, &node, to.out) } else { as_text(args, &node, to) }
    })
}

/// Returns the walk over the members of a group.
fn walk(args: &Args, node: &Node) -> Option<Walk> {
    let Node::Group(group) = node else { return None };
    let walk = Walk::new(group);
    Some(if args.recursive || args.tree { walk } else { walk.shallow() })
}

/// Counts the objects that cannot be read.
#[derive(Default)]
struct Failures(u64);

impl Failures {
    fn result(&self) -> anyhow::Result<()> {
        match self.0 {
            0 => Ok(()),
            1 => bail!("one object cannot be read"),
            count => bail!("{count} objects cannot be read"),
        }
    }
}

fn as_text(args: &Args, node: &Node, to: &mut Outputs<'_>) -> anyhow::Result<()> {
    let decoder = Decoder::new(node.file());
    let mut table = Table::new(to.out, &[4]).painted(to.paint);
    let mut tree = Tree::new(args.tree);
    if !matches!(node, Node::Group(_)) {
        tree.push(&mut table, 0, described(plain(node.path()), node)?)?;
    } else if args.tree {
        let path = format!("{}/", plain(node.path()).trim_end_matches('/'));
        tree.push(&mut table, 0, vec![Cell::styled(path, GROUP)])?;
    }
    if args.long {
        details(node, &decoder, &mut tree, &mut table)?;
    }
    let (mut failures, mut broken) = (Failures::default(), Vec::new());
    let mut indexes = Indexes::default();
    for step in walk(args, node).into_iter().flatten() {
        let step = match step {
            Ok(step) => step,
            Err((path, error)) => {
                broken.push(format!("broken: {}: {}", plain(&path), plain(&error.to_string())));
                continue;
            }
        };
        if !args.all && indexes.have(&step) {
            continue;
        }
        let depth = 1 + step.path.matches('/').count();
        let name = if args.tree { step.path.rsplit('/').next().unwrap_or_default() } else { &step.path };
        tree.push(&mut table, depth, row(&step, plain(name), &mut failures))?;
        if let (true, Some(node)) = (args.long, step.new_node())
            && let Err(error) = details(node, &decoder, &mut tree, &mut table)
        {
            ensure!(error.is::<Error>(), error);
            failures.0 += 1;
            let why = format!("attributes: {}", plain(&error.to_string()));
            tree.line(&mut table, Cell::styled(why, BROKEN))?;
        }
    }
    tree.finish(&mut table)?;
    failures.0 += broken.len() as u64;
    for line in broken {
        table.line(Cell::styled(line, BROKEN))?;
    }
    if indexes.count > 0 {
        let count = counted(indexes.count, "group");
        table
            .line(Cell::styled(format!("not listed: {count} of table indexes (--all lists them)"), FAINT))?;
    }
    table.finish()?;
    failures.result()
}

/// Returns the cells of a link and of its target.
fn row(step: &Step, name: String, failures: &mut Failures) -> Vec<Cell> {
    match (&step.node, &step.before) {
        (None, _) => link(step, name),
        (Some(Ok(node)), Some(before)) => {
            let slash = if matches!(node, Node::Group(_)) { "/" } else { "" };
            vec![
                Cell::styled(format!("{name}{slash}"), LINK),
                node.kind().into(),
                Cell::styled(format!("same as {}", plain(before)), LINK),
            ]
        }
        (Some(Ok(node)), None) => {
            described(name.clone(), node).unwrap_or_else(|error| broken(name, &error, failures))
        }
        (Some(Err(error)), _) => broken(name, error, failures),
    }
}

fn broken(name: String, error: &hyperslab::Error, failures: &mut Failures) -> Vec<Cell> {
    failures.0 += 1;
    [name, "broken".to_owned(), plain(&error.to_string())].map(|text| Cell::styled(text, BROKEN)).into()
}

/// The columns of a datatype.
const ROOM: usize = 44;

/// Returns the cells of an object: name, kind, datatype, shape, size, storage.
fn described(name: String, node: &Node) -> hyperslab::Result<Vec<Cell>> {
    let kind = Cell::from(node.kind());
    let short = |datatype| Cell::styled(datatype::short(datatype, ROOM), DATATYPE);
    Ok(match node {
        Node::Group(group) => {
            let slash = if name.ends_with('/') { "" } else { "/" };
            let members = Cell::styled(counted(group.len()?, "member"), FAINT);
            vec![Cell::styled(format!("{name}{slash}"), GROUP), kind, members]
        }
        Node::Datatype(named) => vec![name.into(), kind, short(named.datatype())],
        Node::Dataset(dataset) => vec![
            name.into(),
            kind,
            short(&dataset.datatype()),
            dataspace(&dataset.dataspace()).into(),
            bytes(dataset.len_bytes()).into(),
            Cell::styled(storage::summary(dataset), FAINT),
        ],
    })
}

/// Returns the kind of a link that is not hard, and its target.
fn target(step: &Step) -> (&'static str, String) {
    match &step.link.target {
        LinkTarget::Soft(path) => ("soft link", path.clone()),
        LinkTarget::External { file, path } => ("external link", format!("{file}:{path}")),
        LinkTarget::User { kind, data } => ("user link", format!("type {kind}, {} bytes", data.len())),
        LinkTarget::Hard(_) => ("hard link", step.path.to_string()),
    }
}

/// Returns what a link leads to: the kind of an object, or why there is none.
fn found(step: &Step) -> String {
    match step.parent.open_link(&step.link) {
        Ok(node) => node.kind().to_owned(),
        Err(error) => match error.root() {
            Error::Request(_) => "dangling".to_owned(),
            error => error.to_string(),
        },
    }
}

/// Returns the cells of a link that is not hard: name, kind, target.
fn link(step: &Step, name: String) -> Vec<Cell> {
    let (kind, target) = target(step);
    if matches!(step.link.target, LinkTarget::User { .. }) {
        return vec![Cell::styled(name, LINK), kind.into(), target.into()];
    }
    let found = found(step);
    let style = if found == "dangling" { BROKEN } else { LINK };
    let shown = format!("-> {} ({})", plain(&target), plain(&found));
    vec![Cell::styled(name, LINK), kind.into(), Cell::styled(shown, style)]
}

/// Prints an object for each line.
fn as_json(args: &Args, named: &NamedObject, node: &Node, out: &mut dyn Write) -> anyhow::Result<()> {
    let file = shown(&named.file);
    let decoder = Decoder::new(node.file());
    let mut failures = Failures::default();
    let one = |path: &str, node: &Node| -> anyhow::Result<Value> {
        let mut said = facts(&file, path, node)?;
        if args.long {
            said["attributes"] = serde_json::from_str(&super::dump::json_attributes(node, &decoder)?)?;
        }
        Ok(said)
    };
    let Some(walk) = walk(args, node) else { return Ok(writeln!(out, "{}", one(node.path(), node)?)?) };
    let base = node.path().trim_end_matches('/').to_owned();
    let unread =
        |path: &str, error: &str| json!({ "file": file, "path": path, "kind": "broken", "error": error });
    let mut indexes = Indexes::default();
    for step in walk {
        let step = match step {
            Ok(step) if !args.all && indexes.have(&step) => continue,
            Ok(step) => step,
            Err((path, error)) => {
                failures.0 += 1;
                let path = if &*path == "." { node.path().to_owned() } else { format!("{base}/{path}") };
                writeln!(out, "{}", unread(&path, &error.to_string()))?;
                continue;
            }
        };
        let path = format!("{base}/{}", step.path);
        let said = match (&step.node, &step.before) {
            (None, _) => {
                let (kind, target) = target(&step);
                let mut said = json!({ "file": file, "path": path, "kind": kind, "target": target });
                if !matches!(step.link.target, LinkTarget::User { .. }) {
                    said["found"] = found(&step).into();
                }
                said
            }
            (Some(Ok(node)), Some(before)) => {
                let before = if &**before == "." { base.clone() } else { format!("{base}/{before}") };
                let before = if before.is_empty() { "/" } else { &*before };
                json!({ "file": file, "path": path, "kind": node.kind(), "same_as": before })
            }
            (Some(Ok(node)), None) => match one(&path, node) {
                Ok(said) => said,
                Err(error) => {
                    failures.0 += 1;
                    unread(&path, &message(&error))
                }
            },
            (Some(Err(error)), _) => {
                failures.0 += 1;
                unread(&path, &error.to_string())
            }
        };
        writeln!(out, "{said}")?;
    }
    failures.result()
}

/// Returns the facts of an object, without reading elements.
fn facts(file: &str, path: &str, node: &Node) -> hyperslab::Result<Value> {
    let mut said = json!({ "file": file, "path": path, "kind": node.kind() });
    match node {
        Node::Group(group) => said["members"] = group.len()?.into(),
        Node::Datatype(named) => said["dtype"] = datatype::name(named.datatype()).into(),
        Node::Dataset(dataset) => {
            let filters: Vec<String> = dataset.filters().filters.iter().map(storage::filter).collect();
            said["dtype"] = datatype::name(&dataset.datatype()).into();
            said["shape"] = dataset.shape().into();
            said["max_shape"] = dataset.max_shape().into();
            said["bytes"] = dataset.len_bytes().into();
            said["index"] = storage::layout(dataset).into();
            said["chunk_shape"] = dataset.chunk_shape().into();
            said["filters"] = filters.into();
        }
    }
    Ok(said)
}

/// The most items of an attribute that are shown.
const ITEMS: usize = 8;
/// The most letters of an attribute's value that are shown.
const LETTERS: usize = 72;

/// Adds lines for the members of a long compound type, and for the attributes.
fn details(node: &Node, decoder: &Decoder<'_>, tree: &mut Tree, table: &mut Table<'_>) -> anyhow::Result<()> {
    let members = match node {
        Node::Dataset(dataset) => datatype::long_members(&dataset.datatype(), ROOM),
        Node::Datatype(named) => datatype::long_members(named.datatype(), ROOM),
        Node::Group(_) => None,
    };
    for member in members.into_iter().flatten() {
        tree.line(table, Cell::styled(format!(".{member}"), DATATYPE))?;
    }
    attributes(node, decoder, tree, table)
}

fn attributes(
    object: &Object,
    decoder: &Decoder<'_>,
    tree: &mut Tree,
    table: &mut Table<'_>,
) -> anyhow::Result<()> {
    for attribute in object.attributes()? {
        let datatype = datatype::short(&attribute.datatype, ATTRIBUTE_ROOM);
        let mut line = format!("@{}: {datatype}", plain(&attribute.name));
        let sizes = attribute.dataspace.shape();
        if !sizes.is_empty() {
            line.push_str(&shape(sizes));
        }
        let value =
            value(&attribute, decoder).unwrap_or_else(|error| format!("({})", plain(&error.to_string())));
        tree.line(table, Cell::from(format!("{line} = {value}")))?;
    }
    Ok(())
}

/// The columns of the datatype of an attribute.
const ATTRIBUTE_ROOM: usize = 72;

/// Returns the value of an attribute, shortened to fit a line.
fn value(attribute: &Attribute, decoder: &Decoder<'_>) -> anyhow::Result<String> {
    let values = decoder.attribute(attribute, ITEMS)?;
    if values.is_empty() && attribute.dataspace.shape().is_empty() {
        return Ok("null".to_owned());
    }
    let text = array::one_line(attribute.dataspace.shape(), &values, ITEMS);
    Ok(match text.char_indices().nth(LETTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    })
}
