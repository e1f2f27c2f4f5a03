//! `hyperslab ls`: lists the contents of a file.

use std::io::Write;

use anyhow::{bail, ensure};
use hyperslab::{Attribute, Error, Node, Object, Step, Walk};
use hyperslab_format::message::link::LinkTarget;

use crate::place::Place;
use crate::show::table::Table;
use crate::show::value::Decoder;
use crate::show::{array, counted, dataspace, datatype, plain, shape, storage};

/// List the members of a group: kind, datatype, shape, storage
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  hyperslab ls -r climate.h5 /surface

Members have the same order as in h5py. Soft and external links show their target; a target that does
not exist is marked `dangling`.")]
pub(crate) struct Args {
    #[command(flatten)]
    place: Place,
    /// List the groups below, too
    #[arg(short, long)]
    recursive: bool,
    /// Show attributes
    #[arg(short, long)]
    long: bool,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    let node = args.place.open()?;
    let decoder = Decoder::new(node.file());
    let mut table = Table::new(out, &[]);
    let mut broken = Vec::new();
    let group = match &node {
        Node::Group(group) => group,
        other => {
            table.row(described(plain(other.path()), other)?)?;
            if args.long {
                attributes(other, &decoder, &mut table)?;
            }
            return Ok(table.finish()?);
        }
    };
    if args.long {
        attributes(group, &decoder, &mut table)?;
    }
    let mut failures = 0_u64;
    let walk = Walk::new(group);
    for step in if args.recursive { walk } else { walk.shallow() } {
        let step = match step {
            Ok(step) => step,
            Err((path, error)) => {
                broken.push(format!("{}: {}", plain(&path), plain(&error.to_string())));
                continue;
            }
        };
        let row = match &step.node {
            None => link(&step),
            Some(Ok(node)) => {
                let slash = if matches!(node, Node::Group(_)) { "/" } else { "" };
                let name = format!("{}{slash}", plain(&step.path));
                match &step.before {
                    Some(before) => vec![name, node.kind().to_owned(), format!("same as {}", plain(before))],
                    None => described(name, node)?,
                }
            }
            Some(Err(error)) => {
                failures += 1;
                vec![plain(&step.path), "broken".to_owned(), plain(&error.to_string())]
            }
        };
        table.row(row)?;
        if let (true, Some(node)) = (args.long, step.new_node())
            && let Err(error) = attributes(node, &decoder, &mut table)
        {
            ensure!(error.is::<Error>(), error);
            failures += 1;
            table.line(format!("  attributes: {}", plain(&error.to_string())))?;
        }
    }
    for line in &broken {
        table.line(format!("broken: {line}"))?;
    }
    table.finish()?;
    match failures + broken.len() as u64 {
        0 => Ok(()),
        1 => bail!("one object cannot be read"),
        count => bail!("{count} objects cannot be read"),
    }
}

/// Returns the cells of an object: name, kind, datatype, shape, storage.
fn described(name: String, node: &Node) -> hyperslab::Result<Vec<String>> {
    let kind = node.kind().to_owned();
    Ok(match node {
        Node::Group(group) => {
            vec![name, kind, counted(group.len()?, "member")]
        }
        Node::Datatype(named) => vec![name, kind, datatype::name(named.datatype())],
        Node::Dataset(dataset) => {
            let (datatype, shape) = (datatype::name(&dataset.datatype()), dataspace(&dataset.dataspace()));
            vec![name, kind, datatype, shape, storage::summary(dataset)]
        }
    })
}

/// Returns the cells of a link that is not hard: name, kind, target.
fn link(step: &Step) -> Vec<String> {
    let (kind, target) = match &step.link.target {
        LinkTarget::Soft(path) => ("soft link", plain(path)),
        LinkTarget::External { file, path } => ("external link", format!("{}:{}", plain(file), plain(path))),
        LinkTarget::User { kind, data } => {
            let target = format!("type {kind}, {} bytes", data.len());
            return vec![plain(&step.path), "user link".to_owned(), target];
        }
        LinkTarget::Hard(_) => return Vec::new(),
    };
    let found = match step.parent.open_link(&step.link) {
        Ok(node) => node.kind().to_owned(),
        Err(error) => match error.root() {
            Error::Request(_) => "dangling".to_owned(),
            error => plain(&error.to_string()),
        },
    };
    vec![plain(&step.path), kind.to_owned(), format!("-> {target} ({found})")]
}

/// The most items of an attribute that are shown.
const ITEMS: usize = 8;
/// The most letters of an attribute's value that are shown.
const LETTERS: usize = 72;

fn attributes(object: &Object, decoder: &Decoder<'_>, table: &mut Table<'_>) -> anyhow::Result<()> {
    for attribute in object.attributes()? {
        let datatype = datatype::name(&attribute.datatype);
        let mut line = format!("    @{}: {datatype}", plain(&attribute.name));
        let sizes = attribute.dataspace.shape();
        if !sizes.is_empty() {
            line.push_str(&shape(sizes));
        }
        let value =
            value(&attribute, decoder).unwrap_or_else(|error| format!("({})", plain(&error.to_string())));
        table.line(format!("{line} = {value}"))?;
    }
    Ok(())
}

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
