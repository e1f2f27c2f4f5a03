//! The canonical text of a file: the same for equal contents, whatever program reads the file.
//!
//! Objects are in the order of a walk that takes the links of each group sorted by name. `scripts/canon.py`
//! prints the same text through h5py.

mod datatype;

use std::io::Write;

use hyperslab::{Attribute, Dataset, Group, Node, Object, Selection, Walk};
use hyperslab_format::layout::Layout;
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::message::fill::{FillBytes, FillTime};
use hyperslab_format::message::link::{Link, LinkTarget};
use hyperslab_format::name;
use hyperslab_present::hex;
use hyperslab_select::{axes, batches};
use sha2::{Digest as _, Sha256};

use crate::show::value::{Decoder, Value};
use crate::show::{json, json_numbers};

/// The most elements that are printed. Of more elements the checksums are printed.
const SHOWN: u64 = 64;
/// The elements of one checksum.
const BLOCK: u64 = 65_536;

/// Prints the canonical text of an object and of everything below it, without the elements of datasets that
/// have more than `most`.
pub(crate) fn write(node: &Node, most: u64, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut text = Text { decoder: Decoder::exact(node.file()), most, out };
    let root = node.path();
    text.object(root, node)?;
    let Node::Group(group) = node else { return Ok(()) };
    for step in Walk::ordered(group, sorted) {
        match step {
            Ok(step) => {
                let path = joined(root, &step.path);
                match (&step.node, &step.before) {
                    (None, _) => text.link(&path, &step.link.target)?,
                    (Some(_), Some(before)) => {
                        let before = if **before == *"." { root.to_owned() } else { joined(root, before) };
                        writeln!(text.out, "link {} hard {}", json(&path), json(&before))?;
                    }
                    (Some(Ok(node)), None) => text.object(&path, node)?,
                    (Some(Err(_)), None) => writeln!(text.out, "object {} unreadable", json(&path))?,
                }
            }
            Err((path, _)) => {
                let path = if *path == *"." { root.to_owned() } else { joined(root, &path) };
                writeln!(text.out, "links of {} unreadable", json(&path))?;
            }
        }
    }
    Ok(())
}

/// Returns the links of a group, sorted by the bytes of their names.
fn sorted(group: &Group) -> hyperslab::Result<Vec<Link>> {
    let mut links = group.links()?;
    links.sort_by(|a, b| name::order(&a.name, &b.name));
    Ok(links)
}

fn joined(root: &str, path: &str) -> String {
    format!("{}/{path}", root.trim_end_matches('/'))
}

struct Text<'f, 'o> {
    decoder: Decoder<'f>,
    most: u64,
    out: &'o mut dyn Write,
}

impl Text<'_, '_> {
    fn object(&mut self, path: &str, node: &Node) -> anyhow::Result<()> {
        writeln!(self.out, "object {} {}", json(path), node.kind())?;
        match node {
            Node::Group(_) => {}
            Node::Datatype(named) => writeln!(self.out, " type {}", datatype::text(named.datatype()))?,
            Node::Dataset(dataset) => self.dataset(dataset)?,
        }
        self.attributes(node)
    }

    fn link(&mut self, path: &str, target: &LinkTarget) -> anyhow::Result<()> {
        let target = match target {
            LinkTarget::Hard(_) => return Ok(()),
            LinkTarget::Soft(target) => format!("soft {}", json(target)),
            LinkTarget::External { file, path } => format!("external {} {}", json(file), json(path)),
            LinkTarget::User { kind, .. } => format!("user {kind}"),
        };
        Ok(writeln!(self.out, "link {} {target}", json(path))?)
    }

    fn attributes(&mut self, object: &Object) -> anyhow::Result<()> {
        let Ok(mut attributes) = object.attributes() else {
            return Ok(writeln!(self.out, " attributes unreadable")?);
        };
        attributes.sort_by(|a, b| name::order(&a.name, &b.name));
        for attribute in &attributes {
            let (name, kind) = (json(&attribute.name), datatype::text(&attribute.datatype));
            writeln!(self.out, " attribute {name} {kind} {}", space(&attribute.dataspace))?;
            if attribute.dataspace != Dataspace::Null {
                self.attribute_values(attribute)?;
            }
        }
        Ok(())
    }

    fn attribute_values(&mut self, attribute: &Attribute) -> anyhow::Result<()> {
        let mut values = Values::new(attribute.dataspace.shape().iter().product());
        match self.decoder.attribute(attribute, usize::MAX) {
            Ok(found) => {
                for value in &found {
                    values.push(value);
                }
                values.write("  ", self.out)
            }
            Err(_) => Ok(writeln!(self.out, "  values unreadable")?),
        }
    }

    fn dataset(&mut self, dataset: &Dataset) -> anyhow::Result<()> {
        let datatype = dataset.datatype();
        writeln!(self.out, " type {}", datatype::text(&datatype))?;
        writeln!(self.out, " shape {}", space(&dataset.dataspace()))?;
        writeln!(self.out, " layout {}", layout(dataset))?;
        for file in dataset.external_files()? {
            let len = file.len.map_or("rest".to_owned(), |len| len.to_string());
            writeln!(self.out, " external {} {} {len}", json(&file.name), file.offset)?;
        }
        for filter in &dataset.filters().filters {
            writeln!(self.out, " filter {} {} {:?}", filter.id, filter.flags, filter.client_data)?;
        }
        let fill = dataset.fill_value();
        match &fill.value {
            FillBytes::Default => writeln!(self.out, " fill default")?,
            FillBytes::Undefined => writeln!(self.out, " fill undefined")?,
            FillBytes::Defined(bytes) => match self.decoder.value(&datatype, bytes) {
                Ok(value) => writeln!(self.out, " fill {}", value.json())?,
                Err(_) => writeln!(self.out, " fill unreadable")?,
            },
        }
        if dataset.dataspace() == Dataspace::Null {
            return Ok(());
        }
        // Elements that were never written are then whatever the memory or the disk had.
        if fill.write == FillTime::Never && dataset.chunk_shape().is_some() {
            return Ok(writeln!(self.out, " values undefined")?);
        }
        if dataset.size() > self.most {
            return Ok(writeln!(self.out, " values too many")?);
        }
        let mut values = Values::new(dataset.size());
        match self.elements(dataset, &mut values) {
            Ok(()) => values.write(" ", self.out),
            Err(_) => Ok(writeln!(self.out, " values unreadable")?),
        }
    }

    /// Decodes all elements, some megabytes at a time.
    fn elements(&self, dataset: &Dataset, values: &mut Values) -> anyhow::Result<()> {
        const BATCH_BYTES: usize = 8 << 20;
        let (size, datatype) = (dataset.element_size().max(1), dataset.datatype());
        let most = (BATCH_BYTES / size).max(1) as u64;
        let axes = axes(&Selection::All, &dataset.shape()).unwrap_or_default();
        let mut bytes = Vec::new();
        for part in batches(axes, most) {
            bytes.resize(usize::try_from(part.count(&dataset.shape())?)? * size, 0);
            self.decoder.read(dataset, &part, &mut bytes, |decoder, bytes| {
                for element in bytes.chunks_exact(size) {
                    values.push(&decoder.value(&datatype, element)?);
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// Returns `null`, or the shape and the largest shape of a dataspace.
fn space(dataspace: &Dataspace) -> String {
    match dataspace {
        Dataspace::Null => "null".to_owned(),
        Dataspace::Scalar => "[]".to_owned(),
        Dataspace::Simple { shape, max_shape } => {
            let fixed = || shape.iter().map(u64::to_string).collect();
            let most: Vec<String> = max_shape.as_ref().map_or_else(fixed, |most| {
                most.iter().map(|size| size.map_or("null".to_owned(), |size| size.to_string())).collect()
            });
            format!("{} max [{}]", json_numbers(shape), most.join(", "))
        }
    }
}

fn layout(dataset: &Dataset) -> String {
    match (dataset.layout(), dataset.chunk_shape()) {
        (_, Some(chunk)) => format!("chunked {}", json_numbers(&chunk)),
        (layout @ (Layout::Compact { .. } | Layout::Virtual { .. }), None) => layout.name().to_owned(),
        _ => "contiguous".to_owned(),
    }
}

/// The text of elements: themselves if they are few, or else one checksum of each block.
struct Values {
    count: u64,
    pushed: u64,
    shown: Vec<String>,
    hash: Sha256,
    blocks: Vec<String>,
}

impl Values {
    fn new(count: u64) -> Self {
        Self { count, pushed: 0, shown: Vec::new(), hash: Sha256::new(), blocks: Vec::new() }
    }

    fn push(&mut self, value: &Value) {
        let text = value.json();
        self.pushed += 1;
        if self.count <= SHOWN {
            self.shown.push(text);
            return;
        }
        self.hash.update(text.as_bytes());
        self.hash.update(b"\n");
        if self.pushed.is_multiple_of(BLOCK) || self.pushed == self.count {
            let digest = self.hash.finalize_reset();
            let first = (self.pushed - 1) / BLOCK * BLOCK;
            self.blocks.push(format!("values {first}:{} sha256 {}", self.pushed, hex(&digest)));
        }
    }

    fn write(&self, indent: &str, out: &mut dyn Write) -> anyhow::Result<()> {
        if self.count <= SHOWN {
            writeln!(out, "{indent}values [{}]", self.shown.join(","))?;
        }
        for block in &self.blocks {
            writeln!(out, "{indent}{block}")?;
        }
        Ok(())
    }
}
