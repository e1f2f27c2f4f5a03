//! `hyperslab dump`: prints the values of a dataset.

use std::io::Write;

use anyhow::Context as _;
use hyperslab::{Dataset, Node, Object};
use hyperslab_format::datatype::Datatype;
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_select::{axes, batches};

use super::{Outputs, Selected};
use crate::canon;
use crate::error::Usage;
use crate::place::{NamedObject, ObjectPaths, shown};
use crate::show::array::{self, ArrayWriter, Style};
use crate::show::paint::HEAD;
use crate::show::value::{Decoder, Value};
use crate::show::{dataspace, datatype, json, json_numbers, plain};

/// Print the attributes of objects and the values of datasets
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  hyperslab dump climate.h5 /surface/t2m --select '[0, 100:110, ::4]'
  hyperslab dump climate.h5 /surface/t2m --json --limit 10
  hyperslab dump climate.h5 --canon > climate.txt

Several objects are printed one after the other, with --json as lines. Selections have NumPy's syntax:
slices with steps of 1 or more, indices, lists, `...`. NumPy's dates (opaque, with a tag such as
`NUMPY:<M8[us]`) are printed as dates. In JSON, dates, NaN and infinities are strings, bytes are
{\"hex\": \"...\"}, and references are {\"object\": \"/path\"}.")]
pub(crate) struct Args {
    #[command(flatten)]
    places: ObjectPaths,
    #[command(flatten)]
    selected: Selected,
    /// Print at most N elements, or all if N is 0 [default: 1000, or all with --json and --canon]. With
    /// --canon: no elements of datasets that have more than N
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print the canonical text of the object and of all objects below it: equal texts, equal contents
    #[arg(long, conflicts_with_all = ["json", "select"])]
    canon: bool,
}

impl Args {
    fn limit(&self) -> u64 {
        match self.limit {
            None if !self.json && !self.canon => 1000,
            None | Some(0) => u64::MAX,
            Some(limit) => limit,
        }
    }
}

pub(super) fn run(args: &Args, to: &mut Outputs<'_>) -> anyhow::Result<()> {
    let named = args.places.named()?;
    if args.canon && named.len() > 1 {
        return Err(Usage("--canon prints one object and all below it: name one".to_owned()).into());
    }
    to.each(&named, |to, one| {
        if named.len() > 1 && !args.json {
            writeln!(to.out, "{}", to.paint.styled(HEAD, &format!("{}:", plain(&one.shown()))))?;
        }
        dump(args, one, to.out)
    })
}

fn dump(args: &Args, named: &NamedObject, out: &mut dyn Write) -> anyhow::Result<()> {
    let node = named.open()?;
    if args.canon {
        return canon::write(&node, args.limit(), out);
    }
    let decoder = Decoder::new(node.file());
    // Wrong selections are reported before anything is printed.
    let parsed = match &node {
        Node::Dataset(dataset) => Some(args.selected.elements(&dataset.shape())?),
        other if args.selected.select.is_some() => {
            let (shown, kind) = (named.shown(), other.kind());
            let why = "name a dataset (`hyperslab ls -r FILE` lists them)";
            return Err(Usage(format!(
                "--select selects elements of a dataset, and {shown} is a {kind}: {why}"
            ))
            .into());
        }
        _ => None,
    };
    if args.json {
        as_json(args, named, &node, parsed.as_ref(), &decoder, out)
    } else {
        as_text(args, &node, parsed.as_ref(), &decoder, out)
    }
}

fn as_text(
    args: &Args,
    node: &Node,
    parsed: Option<&hyperslab_select::Selected>,
    decoder: &Decoder<'_>,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let (path, kind) = (plain(node.path()), node.kind());
    match node {
        Node::Group(_) => writeln!(out, "{path}  {kind}")?,
        Node::Datatype(named) => writeln!(out, "{path}  {kind}  {}", datatype::name(named.datatype()))?,
        Node::Dataset(dataset) => {
            let (name, shape) = (datatype::name(&dataset.datatype()), dataspace(&dataset.dataspace()));
            writeln!(out, "{path}  {kind}  {name}  {shape}")?;
        }
    }
    let limit = args.limit();
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    for attribute in node.attributes()? {
        let shape = attribute.dataspace.shape();
        let values =
            decoder.attribute(&attribute, most).with_context(|| format!("attribute {:?}", attribute.name))?;
        let name = datatype::name(&attribute.datatype);
        let value = match attribute.dataspace {
            Dataspace::Null => "null".to_owned(),
            _ => array::one_line(shape, &values, most),
        };
        writeln!(out, "  @{}: {name} {} = {value}", plain(&attribute.name), dataspace(&attribute.dataspace))?;
    }
    let (Node::Dataset(dataset), Some(parsed)) = (node, parsed) else { return Ok(()) };
    if dataset.dataspace() == Dataspace::Null {
        writeln!(out, "null")?;
        return Ok(());
    }
    let mut writer = ArrayWriter::new(out, &parsed.shape(&dataset.shape()), Style::Lines, most);
    each_value(dataset, parsed, limit, decoder, &mut |values| Ok(writer.push(values)?))?;
    writer.finish()?;
    writeln!(out)?;
    let total = parsed.selection.count(&dataset.shape())?;
    if total > limit {
        writeln!(out, "({} more; --limit 0 prints all)", total - limit)?;
    }
    Ok(())
}

fn as_json(
    args: &Args,
    named: &NamedObject,
    node: &Node,
    parsed: Option<&hyperslab_select::Selected>,
    decoder: &Decoder<'_>,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let file = json(&shown(&named.file));
    write!(out, r#"{{"file":{file},"path":{},"kind":"{}""#, json(node.path()), node.kind())?;
    match node {
        Node::Group(_) => {}
        Node::Datatype(named) => write!(out, r#","dtype":{}"#, json(&datatype::name(named.datatype())))?,
        Node::Dataset(dataset) => {
            let (name, shape) =
                (json(&datatype::name(&dataset.datatype())), json_shape(&dataset.dataspace()));
            write!(out, r#","dtype":{name},"shape":{shape}"#)?;
        }
    }
    write!(out, r#","attributes":{}"#, json_attributes(node, decoder)?)?;
    if let (Node::Dataset(dataset), Some(parsed)) = (node, parsed) {
        let shape = parsed.shape(&dataset.shape());
        let limit = args.limit();
        let truncated = parsed.selection.count(&dataset.shape())? > limit;
        write!(out, r#","selected":{},"truncated":{truncated},"value":"#, json_numbers(&shape))?;
        if dataset.dataspace() == Dataspace::Null {
            write!(out, "null")?;
        } else {
            let mut writer = ArrayWriter::new(out, &shape, Style::Json, usize::MAX);
            each_value(dataset, parsed, limit, decoder, &mut |values| Ok(writer.push(values)?))?;
            writer.finish()?;
        }
    }
    writeln!(out, "}}")?;
    Ok(())
}

pub(super) fn json_attributes(object: &Object, decoder: &Decoder<'_>) -> anyhow::Result<String> {
    let mut members = Vec::new();
    for attribute in object.attributes()? {
        let values = decoder.attribute(&attribute, usize::MAX)?;
        let mut value = Vec::new();
        let mut writer = ArrayWriter::new(&mut value, attribute.dataspace.shape(), Style::Json, usize::MAX);
        writer.push(&values)?;
        writer.finish()?;
        let value = match attribute.dataspace {
            Dataspace::Null => "null".to_owned(),
            _ => String::from_utf8(value)?,
        };
        let (name, datatype) = (json(&attribute.name), json(&datatype::name(&attribute.datatype)));
        let shape = json_shape(&attribute.dataspace);
        members.push(format!(r#"{name}:{{"dtype":{datatype},"shape":{shape},"value":{value}}}"#));
    }
    Ok(format!("{{{}}}", members.join(",")))
}

fn json_shape(dataspace: &Dataspace) -> String {
    if *dataspace == Dataspace::Null { "null".to_owned() } else { json_numbers(dataspace.shape()) }
}

/// The bytes that are read at a time.
const BATCH_BYTES: u64 = 8 << 20;
/// The elements that are decoded and aligned at a time.
const BLOCK: usize = 4096;

/// Calls `f` with the first `limit` elements of a selection, block by block.
fn each_value(
    dataset: &Dataset,
    parsed: &hyperslab_select::Selected,
    limit: u64,
    decoder: &Decoder<'_>,
    f: &mut dyn FnMut(&[Value]) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let size = dataset.element_size().max(1);
    let axes = axes(&parsed.selection, &dataset.shape()).context("a selection without axes")?;
    let most = (BATCH_BYTES / size as u64).clamp(1, limit.max(1));
    let mut left = limit;
    let mut bytes = Vec::new();
    for part in batches(axes, most) {
        let count = part.count(&dataset.shape())?;
        bytes.resize(usize::try_from(count)? * size, 0);
        let wanted = usize::try_from(count.min(left))? * size;
        decoder.read(dataset, &part, &mut bytes, |decoder, bytes| {
            each_block(&dataset.datatype(), &bytes[..wanted], size, decoder, f)
        })?;
        left -= count.min(left);
        if left == 0 {
            break;
        }
    }
    Ok(())
}

fn each_block(
    datatype: &Datatype,
    bytes: &[u8],
    size: usize,
    decoder: &Decoder<'_>,
    f: &mut dyn FnMut(&[Value]) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    for block in bytes.chunks(BLOCK * size) {
        let values = block.chunks_exact(size).map(|element| decoder.value(datatype, element));
        f(&values.collect::<anyhow::Result<Vec<_>>>()?)?;
    }
    Ok(())
}
