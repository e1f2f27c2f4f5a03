//! Comparison of two objects and everything below them.

use std::collections::{BTreeMap, HashSet};

use hyperslab::{Attribute, Dataset, Group, Node, Object};
use hyperslab_format::Addr;
use hyperslab_format::datatype::Datatype;
use hyperslab_format::message::link::{Link, LinkTarget};

use super::finding::{Finding, What};
use super::tolerance::Tolerance;
use super::values::Comparison;
use crate::show::value::Decoder;
use crate::show::{array, dataspace, datatype, plain};

/// A comparison of two objects.
pub(super) struct Trees<'t> {
    pub(super) decoders: [&'t Decoder<'t>; 2],
    pub(super) tolerance: Tolerance,
    /// The most differing elements of a dataset to report.
    pub(super) most: usize,
    /// Whether to stop at the first difference.
    pub(super) first_alone: bool,
    pub(super) found: Vec<Finding>,
}

impl Trees<'_> {
    /// Compares `a` and `b`, and everything below them that hard links lead to. Calls `begin` with each path,
    /// and `done` with the bytes of elements that have been compared.
    pub(super) fn compare(&mut self, a: Node, b: Node, begin: &dyn Fn(&str), done: &(dyn Fn(u64) + Sync)) {
        let mut seen: HashSet<[Addr; 2]> = HashSet::new();
        let mut pending = vec![(String::new(), a, b)];
        while let Some((path, a, b)) = pending.pop() {
            if !seen.insert([a.address(), b.address()]) {
                continue;
            }
            if self.first_alone && !self.found.is_empty() {
                return;
            }
            let shown = if path.is_empty() { "/" } else { &path };
            begin(shown);
            let below = self.objects(shown, &a, &b, done);
            match below {
                Ok(below) => pending
                    .extend(below.into_iter().rev().map(|(name, a, b)| (format!("{path}/{name}"), a, b))),
                Err(error) => self.trouble(shown, &error),
            }
        }
    }

    fn objects(
        &mut self,
        path: &str,
        a: &Node,
        b: &Node,
        done: &(dyn Fn(u64) + Sync),
    ) -> anyhow::Result<Vec<(String, Node, Node)>> {
        self.attributes(path, a, b)?;
        match (a, b) {
            (Node::Group(a), Node::Group(b)) => return self.groups(path, a, b),
            (Node::Dataset(a), Node::Dataset(b)) => self.datasets(path, a, b, done)?,
            (Node::Datatype(a), Node::Datatype(b)) => _ = self.types(path, a.datatype(), b.datatype()),
            _ => self.property(path, "kind", [a.kind().to_owned(), b.kind().to_owned()]),
        }
        Ok(Vec::new())
    }

    fn groups(&mut self, path: &str, a: &Group, b: &Group) -> anyhow::Result<Vec<(String, Node, Node)>> {
        let by_name = |links: Vec<Link>| links.into_iter().map(|link| (link.name.clone(), link));
        let (a_links, mut b_links): (BTreeMap<_, _>, BTreeMap<_, _>) =
            (by_name(a.links()?).collect(), by_name(b.links()?).collect());
        let base = if path == "/" { "" } else { path };
        let mut below = Vec::new();
        for (name, a_link) in a_links {
            let member = format!("{base}/{name}");
            let Some(b_link) = b_links.remove(&name) else {
                self.add(&member, What::Only(0));
                continue;
            };
            match (&a_link.target, &b_link.target) {
                (LinkTarget::Hard(_), LinkTarget::Hard(_)) => {
                    match (a.open_link(&a_link), b.open_link(&b_link)) {
                        (Ok(a), Ok(b)) => below.push((name, a, b)),
                        (Err(error), _) | (_, Err(error)) => self.trouble(&member, &error.into()),
                    }
                }
                (a, b) if a == b => {}
                (a, b) => self.property(&member, "link", [target(a), target(b)]),
            }
        }
        for name in b_links.into_keys() {
            self.add(&format!("{base}/{name}"), What::Only(1));
        }
        Ok(below)
    }

    fn attributes(&mut self, path: &str, a: &Object, b: &Object) -> anyhow::Result<()> {
        let by_name = |all: Vec<Attribute>| all.into_iter().map(|one| (one.name.clone(), one));
        let (a, mut b): (BTreeMap<_, _>, BTreeMap<_, _>) =
            (by_name(a.attributes()?).collect(), by_name(b.attributes()?).collect());
        for (name, a) in a {
            let path = format!("{path}@{name}");
            match b.remove(&name) {
                None => self.add(&path, What::Only(0)),
                Some(b) => {
                    if let Err(error) = self.attribute(&path, [&a, &b]) {
                        self.trouble(&path, &error);
                    }
                }
            }
        }
        for name in b.into_keys() {
            self.add(&format!("{path}@{name}"), What::Only(1));
        }
        Ok(())
    }

    fn attribute(&mut self, path: &str, both: [&Attribute; 2]) -> anyhow::Result<()> {
        let [a, b] = both;
        let are_alike = self.types(path, &a.datatype, &b.datatype);
        if a.dataspace.shape() != b.dataspace.shape() || a.dataspace.elements() != b.dataspace.elements() {
            self.property(path, "shape", both.map(|one| dataspace(&one.dataspace)));
            return Ok(());
        }
        if !are_alike {
            return Ok(());
        }
        let a_values = self.decoders[0].attribute(a, usize::MAX)?;
        let b_values = self.decoders[1].attribute(b, usize::MAX)?;
        let same = a_values.len() == b_values.len()
            && a_values.iter().zip(&b_values).all(|(a, b)| self.tolerance.same_values(a, b));
        if !same {
            let shown = |one: &Attribute, values: &[_]| {
                array::one_line(one.dataspace.shape(), &values[..values.len().min(MOST_ITEMS)], MOST_ITEMS)
            };
            self.add(path, What::Value([shown(a, &a_values), shown(b, &b_values)]));
        }
        Ok(())
    }

    fn datasets(
        &mut self,
        path: &str,
        a: &Dataset,
        b: &Dataset,
        done: &(dyn Fn(u64) + Sync),
    ) -> anyhow::Result<()> {
        let are_alike = self.types(path, &a.datatype(), &b.datatype());
        let spaces = [a.dataspace(), b.dataspace()];
        if spaces[0].shape() != spaces[1].shape() || spaces[0].elements() != spaces[1].elements() {
            self.property(path, "shape", spaces.map(|space| dataspace(&space)));
            return Ok(());
        }
        if !are_alike || (self.first_alone && !self.found.is_empty()) {
            return Ok(());
        }
        let comparison = Comparison {
            datasets: [a, b],
            decoders: self.decoders,
            tolerance: self.tolerance,
            most: self.most,
        };
        let outcome = comparison.run(done)?;
        if outcome.count > 0 {
            self.add(path, What::Elements(outcome, a.size()));
        }
        Ok(())
    }

    /// Compares datatypes, and returns whether their values can be compared.
    fn types(&mut self, path: &str, a: &Datatype, b: &Datatype) -> bool {
        if a == b {
            return true;
        }
        let is_number =
            |t: &Datatype| matches!(t, Datatype::Integer(_) | Datatype::Float(_) | Datatype::Bits(_));
        let is_text = |t: &Datatype| matches!(t, Datatype::Text(_) | Datatype::VariableText(_));
        let [a_name, b_name] = [a, b].map(datatype::name);
        // Some differences, such as unused bits, do not appear in the names.
        if a_name != b_name {
            self.property(path, "type", [a_name, b_name]);
        }
        std::mem::discriminant(a) == std::mem::discriminant(b)
            || (is_number(a) && is_number(b))
            || (is_text(a) && is_text(b))
    }

    fn property(&mut self, path: &str, name: &'static str, both: [String; 2]) {
        self.add(path, What::Property(name, both));
    }

    fn trouble(&mut self, path: &str, error: &anyhow::Error) {
        self.add(path, What::Trouble(crate::error::message(error)));
    }

    fn add(&mut self, path: &str, what: What) {
        self.found.push(Finding { path: path.to_owned(), what });
    }
}

fn target(target: &LinkTarget) -> String {
    match target {
        LinkTarget::Hard(_) => "hard".to_owned(),
        LinkTarget::Soft(path) => format!("soft -> {}", plain(path)),
        LinkTarget::External { file, path } => format!("external -> {}:{}", plain(file), plain(path)),
        LinkTarget::User { kind, .. } => format!("user-defined of type {kind}"),
    }
}

/// The most elements of an attribute that are shown as text.
const MOST_ITEMS: usize = 16;
