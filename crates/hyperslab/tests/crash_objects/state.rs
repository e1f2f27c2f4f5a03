//! The contents of a file that a reader can see.

use std::collections::BTreeMap;

use hyperslab::{Dataset, File, Group, Node, Object, Result};
use hyperslab_format::Addr;
use hyperslab_format::message::link::LinkTarget;
use hyperslab_testkit::crash_members::driver_of;

use super::base::FILL;

/// The links, attributes and shapes by path, and the elements of datasets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct State {
    objects: BTreeMap<String, String>,
    values: BTreeMap<String, Vec<u8>>,
}

/// The states before and after a change.
#[derive(Clone)]
pub(crate) struct Change {
    pub(crate) old: State,
    pub(crate) new: State,
    /// Whether each element may be old or new in either state.
    pub(crate) in_place: bool,
}

impl State {
    pub(crate) fn of(file: &File) -> Result<Self> {
        let mut state = Self { objects: BTreeMap::new(), values: BTreeMap::new() };
        let root = file.root();
        let mut seen = BTreeMap::from([(root.address(), "/".to_owned())]);
        state.group(&root, &mut seen)?;
        Ok(state)
    }

    /// Returns the state of a file or split file in memory that is opened for reading.
    pub(crate) fn of_image(image: &[u8]) -> Result<Self> {
        let file = File::options().open_on(driver_of(image))?;
        Self::of(&file)
    }

    fn group(&mut self, group: &Group, seen: &mut BTreeMap<Addr, String>) -> Result<()> {
        self.object(group, &format!("group of {}", group.names()?.join(", ")))?;
        assert_eq!(group.len()?, group.links()?.len() as u64);
        for link in group.links()? {
            let path = format!("{}/{}", group.path().trim_end_matches('/'), link.name);
            let LinkTarget::Hard(address) = &link.target else {
                self.objects.insert(path, format!("{:?}", link.target));
                continue;
            };
            if let Some(first) = seen.get(address) {
                self.objects.insert(path, format!("link to {first}"));
                continue;
            }
            seen.insert(*address, path);
            match group.open_link(&link)? {
                Node::Group(below) => self.group(&below, seen)?,
                Node::Dataset(dataset) => self.dataset(&dataset)?,
                Node::Datatype(datatype) => {
                    self.object(&datatype, &format!("datatype {:?}", datatype.datatype()))?;
                }
            }
        }
        Ok(())
    }

    fn dataset(&mut self, dataset: &Dataset) -> Result<()> {
        let text = format!("{:?} {:?}", dataset.dataspace(), dataset.datatype());
        self.object(dataset, &text)?;
        let mut bytes = vec![0xEE; usize::try_from(dataset.len_bytes()).unwrap()];
        dataset.read_into(.., &mut bytes)?;
        if dataset.datatype().has_variable_parts() {
            // The strings count, wherever they are.
            let file = dataset.file();
            bytes = file.vlen_many(&file.vlen_ids(&bytes)?, 1)?.join(&0);
        }
        self.values.insert(dataset.path().to_owned(), bytes);
        Ok(())
    }

    fn object(&mut self, object: &Object, text: &str) -> Result<()> {
        let links = object.hard_links()?;
        let attributes = object.attributes()?;
        assert_eq!(object.attribute_count()?, attributes.len() as u64);
        self.objects
            .insert(object.path().to_owned(), format!("{text}, {links} links, attributes {attributes:?}"));
        Ok(())
    }

    /// Returns a description of the first difference.
    pub(crate) fn difference(&self, other: &Self) -> String {
        let paths = self.objects.keys().chain(other.objects.keys());
        let differs = |path: &&String| {
            self.objects.get(*path) != other.objects.get(*path)
                || self.values.get(*path) != other.values.get(*path)
        };
        let Some(path) = paths.into_iter().find(differs) else { return "none".into() };
        let show = |state: &Self| {
            let text = state.objects.get(path).map_or_else(|| "nothing".into(), Clone::clone);
            format!("{text:.300} {:.300}", format!("{:?}", state.values.get(path)))
        };
        format!("{path}: {}; but {}", show(self), show(other))
    }
}

impl Change {
    /// Returns 0 if `found` is the old state and 1 if it is the new state. If the change writes only
    /// elements, in place, every state except the new one counts as 0.
    pub(crate) fn which(&self, found: &State) -> std::result::Result<usize, String> {
        if *found == self.new {
            return Ok(1);
        }
        let position = [&self.old, &self.new].into_iter().position(|state| self.is(found, state));
        position.ok_or_else(|| {
            let (old, new) = (found.difference(&self.old), found.difference(&self.new));
            format!("a mixture: not the old state at {old}\nnor the new one at {new}")
        })
    }

    fn is(&self, found: &State, state: &State) -> bool {
        if !self.in_place {
            return found == state;
        }
        let is_either = |(path, bytes): (&String, &Vec<u8>)| {
            let known =
                |state: &State, i: usize| state.values.get(path).and_then(|bytes| bytes.get(i)).copied();
            let len = state.values.get(path).map(Vec::len);
            len == Some(bytes.len())
                && bytes.iter().enumerate().all(|(i, byte)| {
                    [state, &self.old, &self.new].iter().any(|state| known(state, i) == Some(*byte))
                        || FILL.to_le_bytes()[i % 4] == *byte
                })
        };
        found.objects == state.objects && found.values.iter().all(is_either)
    }
}
