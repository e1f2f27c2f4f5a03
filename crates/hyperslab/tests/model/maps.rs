//! The model of a file: maps and vectors.

use std::collections::BTreeMap;

/// How a dataset stores its elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Storage {
    Contiguous,
    Compact,
    /// In unfiltered chunks, which are written in place.
    Raw,
    /// In filtered chunks.
    Filtered,
}

impl Storage {
    pub(crate) const ALL: [Self; 4] = [Self::Contiguous, Self::Compact, Self::Raw, Self::Filtered];

    /// Returns whether elements are written in place, so that a rollback does not restore them.
    pub(crate) fn is_in_place(self) -> bool {
        matches!(self, Self::Contiguous | Self::Raw)
    }

    pub(crate) fn can_resize(self) -> bool {
        matches!(self, Self::Raw | Self::Filtered)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    Hard(usize),
    Soft(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Body {
    Group(BTreeMap<String, Target>),
    Data { storage: Storage, values: Vec<i32> },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Thing {
    pub(crate) attributes: BTreeMap<String, Vec<u8>>,
    pub(crate) body: Body,
}

/// All objects by number. Object 0 is the group that has all others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Maps {
    pub(crate) things: BTreeMap<usize, Thing>,
    next: usize,
}

impl Maps {
    pub(crate) fn new() -> Self {
        let mut maps = Self { things: BTreeMap::new(), next: 0 };
        maps.make(Body::Group(BTreeMap::new()));
        maps
    }

    pub(crate) fn make(&mut self, body: Body) -> usize {
        let number = self.next;
        self.next += 1;
        self.things.insert(number, Thing { attributes: BTreeMap::new(), body });
        number
    }

    pub(crate) fn links(&mut self, group: usize) -> &mut BTreeMap<String, Target> {
        match &mut self.things.get_mut(&group).unwrap().body {
            Body::Group(links) => links,
            Body::Data { .. } => panic!("object {group} is not a group"),
        }
    }

    /// Returns the number of an object of a kind, selected by `any`.
    pub(crate) fn choose(&self, any: usize, is_kind: impl Fn(&Body) -> bool) -> Option<usize> {
        let of_kind: Vec<usize> =
            self.things.iter().filter(|(_, thing)| is_kind(&thing.body)).map(|(&number, _)| number).collect();
        (!of_kind.is_empty()).then(|| of_kind[any % of_kind.len()])
    }

    pub(crate) fn group(&self, any: usize) -> usize {
        self.choose(any, |body| matches!(body, Body::Group(_))).unwrap()
    }

    pub(crate) fn data(&self, any: usize) -> Option<usize> {
        self.choose(any, |body| matches!(body, Body::Data { .. }))
    }

    /// Returns the number of hard links to an object.
    pub(crate) fn references(&self, object: usize) -> usize {
        let links = self.things.values().filter_map(|thing| match &thing.body {
            Body::Group(links) => Some(links),
            Body::Data { .. } => None,
        });
        links.flat_map(BTreeMap::values).filter(|target| **target == Target::Hard(object)).count()
    }

    /// Removes objects without a hard link.
    pub(crate) fn sweep(&mut self) {
        while let Some(gone) =
            self.things.keys().copied().find(|&number| number > 0 && self.references(number) == 0)
        {
            self.things.remove(&gone);
        }
    }

    /// Returns one path below `/top` for each object.
    pub(crate) fn paths(&self) -> BTreeMap<usize, String> {
        let mut paths = BTreeMap::from([(0, "/top".to_owned())]);
        let mut open = vec![0];
        while let Some(group) = open.pop() {
            let Body::Group(links) = &self.things[&group].body else { continue };
            for (name, target) in links {
                if let Target::Hard(number) = target
                    && !paths.contains_key(number)
                {
                    let path = format!("{}/{name}", paths[&group]);
                    paths.insert(*number, path);
                    open.push(*number);
                }
            }
        }
        paths
    }
}
