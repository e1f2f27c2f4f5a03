//! Applies changes to a file and to its model, and compares the two.

use std::collections::BTreeSet;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use hyperslab::Element;
use hyperslab::driver::Memory;
use hyperslab::storage::{DatasetOptions, NewStorage};
use hyperslab::{Attribute, Error, File, LibVersion, OpenOptions, RequestError};
use hyperslab_check as check;
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::message::fill::FillBytes;
use hyperslab_format::message::filters::FilterSpec;
use hyperslab_format::message::link::LinkTarget;
use hyperslab_store::Searches;
use hyperslab_testkit::sound::{assert_accounted_within, assert_sound};

use super::Action;
use super::maps::{Body, Maps, Storage, Target};

/// A file, the model of its contents, and the model at the last commit.
pub(crate) struct Run {
    driver: Arc<Memory>,
    file: Option<File>,
    options: OpenOptions,
    has_memory: bool,
    now: Maps,
    committed: Maps,
    /// Datasets whose elements were written in place since the last commit.
    loose: BTreeSet<usize>,
    in_transaction: bool,
    next_value: i32,
    /// Whether the file looks for free space.
    searches: Option<Searches>,
    /// The number of lost bytes when the file was opened.
    unknown: u64,
}

impl Run {
    pub(crate) fn new(version: LibVersion, has_memory: bool, searches: Option<Searches>) -> Self {
        let mut options = OpenOptions::new().version(version);
        if let Some(searches) = searches {
            options = options.find_free_space(Some(check::holes)).searches(searches);
        }
        if !has_memory {
            options = options.dirty_bytes(2000);
            options = options.metadata_cache_bytes(4000);
            options = options.chunk_cache_bytes(100);
        }
        let driver = Arc::new(Memory::default());
        let file = options.clone().create(true).truncate(true).open_on(driver.clone()).unwrap();
        file.root().create_group("top").unwrap();
        file.flush().unwrap();
        Self {
            driver,
            file: Some(file),
            options,
            has_memory,
            now: Maps::new(),
            committed: Maps::new(),
            loose: BTreeSet::new(),
            in_transaction: false,
            next_value: 1,
            searches,
            unknown: 0,
        }
    }

    fn file(&self) -> &File {
        self.file.as_ref().unwrap()
    }

    fn path(&self, number: usize) -> String {
        self.now.paths()[&number].clone()
    }

    pub(crate) fn act(&mut self, action: &Action) {
        match *action {
            Action::MakeGroup { group, name, ordered } => self.make_group(group, name, ordered),
            Action::MakeData { group, name, storage, len } => self.make_data(group, name, storage, len),
            Action::LinkSoft { group, name } => {
                let (group, name) = (self.now.group(group), link_name(name));
                let path = self.path(group);
                let done = self.file().group(&path).unwrap().link_soft(&name, "/top/somewhere");
                self.linked(done, group, name, Target::Soft("/top/somewhere".into()));
            }
            Action::LinkHard { group, name, data } => self.link_hard(group, name, data),
            Action::Remove { group, name } => self.remove(group, name),
            Action::Rename { from, to } => self.rename(from, to),
            Action::SetAttribute { object, name, len } => self.put_attribute(object, name, len),
            Action::RemoveAttribute { object, name } => self.remove_attribute(object, name),
            Action::RenameAttribute { object, from, to } => self.rename_attribute(object, from, to),
            Action::Write { data, from, count } => self.write(data, from, count),
            Action::Resize { data, len } => self.resize(data, len),
            Action::Flush => self.flush(),
            Action::Reopen => self.reopen(),
            Action::Kill => self.kill(),
            Action::Begin => self.begin(),
            Action::End { is_kept } => self.end(is_kept),
        }
        self.check(self.file());
    }

    /// Ends any transaction, closes the file and checks it once more.
    pub(crate) fn finish(mut self) {
        self.end(true);
        self.reopen();
        let file = self.file.take().unwrap();
        file.close().unwrap();
        let file = File::options().open_on(self.driver.clone()).unwrap();
        self.check(&file);
        assert_sound(&self.driver.bytes());
    }

    /// Deletes every object.
    pub(crate) fn drain(&mut self) {
        self.end(true);
        let root = self.file().root();
        root.remove("top").unwrap();
        // Freed space is reusable after the next commit.
        (0..2).for_each(|_| self.file().flush().unwrap());
        root.create_group("top").unwrap();
        (self.now, self.committed) = (Maps::new(), Maps::new());
        self.flush();
    }

    /// Returns the number of bytes in use.
    pub(crate) fn used_bytes(&self) -> u64 {
        let store = self.file().store();
        store.len_bytes() - store.free_bytes()
    }

    fn make_group(&mut self, group: usize, name: usize, ordered: bool) {
        let (group, name) = (self.now.group(group), link_name(name));
        let path = self.path(group);
        let done = self.file().group(&path).unwrap().create_group_with(&name, ordered).map(drop);
        let new = self.now.make(Body::Group(std::collections::BTreeMap::new()));
        self.linked(done, group, name, Target::Hard(new));
    }

    fn make_data(&mut self, group: usize, name: usize, storage: Storage, len: usize) {
        let (group, name) = (self.now.group(group), link_name(name));
        let path = self.path(group);
        let max_shape = storage.can_resize().then(|| vec![None]);
        let space = Dataspace::Simple { shape: vec![len as u64], max_shape };
        let mut options = DatasetOptions::new(space, i32::datatype());
        options.fill = FillBytes::Defined(FILL.to_le_bytes().to_vec());
        options.storage = match storage {
            Storage::Contiguous => NewStorage::Contiguous,
            Storage::Compact => NewStorage::Compact,
            Storage::Raw | Storage::Filtered => NewStorage::Chunked(vec![CHUNK as u64]),
        };
        if storage == Storage::Filtered {
            options.filters = vec![FilterSpec { id: 1, name: None, flags: 0, client_data: vec![1] }];
        }
        let done = self.file().group(&path).unwrap().create_dataset(&name, &options).map(drop);
        let new = self.now.make(Body::Data { storage, values: vec![FILL; len] });
        self.linked(done, group, name, Target::Hard(new));
    }

    fn link_hard(&mut self, group: usize, name: usize, data: usize) {
        let Some(data) = self.now.data(data) else { return };
        let (group, name) = (self.now.group(group), link_name(name));
        let (path, target) = (self.path(group), self.path(data));
        let target = self.file().get(&target).unwrap();
        let done = self.file().group(&path).unwrap().link_to(&name, &target);
        self.linked(done, group, name, Target::Hard(data));
    }

    /// Updates the model after creating a link, which must have failed if the name was taken.
    fn linked(&mut self, done: hyperslab::Result<()>, group: usize, name: String, target: Target) {
        match self.now.links(group).entry(name) {
            Entry::Occupied(_) => assert!(matches!(request(done), RequestError::Exists { .. })),
            Entry::Vacant(place) => {
                done.unwrap();
                place.insert(target);
            }
        }
        self.now.sweep();
    }

    fn remove(&mut self, group: usize, name: usize) {
        let (group, name) = (self.now.group(group), link_name(name));
        let done = self.file().group(&self.path(group)).unwrap().remove(&name);
        if self.now.links(group).remove(&name).is_none() {
            assert!(matches!(request(done), RequestError::NoSuchObject { .. }));
            return;
        }
        done.unwrap();
        self.now.sweep();
    }

    fn rename(&mut self, from: (usize, usize), to: (usize, usize)) {
        let (source, name) = (self.now.group(from.0), link_name(from.1));
        let (mut target, new) = (self.now.group(to.0), link_name(to.1));
        let link = self.now.links(source).get(&name).cloned();
        if let Some(Target::Hard(number)) = link
            && matches!(self.now.things[&number].body, Body::Group(_))
        {
            // A group must not be moved into itself.
            target = source;
        }
        let (old_path, new_path) =
            (format!("{}/{name}", self.path(source)), format!("{}/{new}", self.path(target)));
        let done = self.file().root().rename(&old_path, &new_path);
        let is_taken = self.now.links(target).contains_key(&new);
        match link {
            None => assert!(matches!(request(done), RequestError::NoSuchObject { .. })),
            // Renaming a link to its own name changes nothing, with or without an error.
            Some(_) if old_path == new_path => {}
            Some(_) if is_taken => assert!(matches!(request(done), RequestError::Exists { .. })),
            Some(link) => {
                done.unwrap();
                self.now.links(source).remove(&name);
                self.now.links(target).insert(new, link);
            }
        }
    }

    fn put_attribute(&mut self, object: usize, name: usize, len: usize) {
        let object = self.now.choose(object, |_| true).unwrap();
        let path = self.path(object);
        let data = vec![u8::try_from(self.value() & 0xff).unwrap(); len];
        let attribute = Attribute {
            name: link_name(name),
            datatype: u8::datatype(),
            dataspace: Dataspace::Simple { shape: vec![len as u64], max_shape: None },
            data: data.clone(),
        };
        self.file().get(&path).unwrap().put_attribute(&attribute).unwrap();
        self.now.things.get_mut(&object).unwrap().attributes.insert(attribute.name, data);
    }

    fn remove_attribute(&mut self, object: usize, name: usize) {
        let object = self.now.choose(object, |_| true).unwrap();
        let done = self.file().get(&self.path(object)).unwrap().remove_attribute(&link_name(name));
        let known = self.now.things.get_mut(&object).unwrap().attributes.remove(&link_name(name));
        match known {
            Some(_) => done.unwrap(),
            None => assert!(matches!(request(done), RequestError::NoSuchAttribute { .. })),
        }
    }

    fn rename_attribute(&mut self, object: usize, from: usize, to: usize) {
        let object = self.now.choose(object, |_| true).unwrap();
        let (from, to) = (link_name(from), link_name(to));
        let done = self.file().get(&self.path(object)).unwrap().rename_attribute(&from, &to);
        let attributes = &mut self.now.things.get_mut(&object).unwrap().attributes;
        if attributes.contains_key(&to) {
            assert!(matches!(request(done), RequestError::Exists { .. }));
        } else if let Some(value) = attributes.remove(&from) {
            done.unwrap();
            attributes.insert(to, value);
        } else {
            assert!(matches!(request(done), RequestError::NoSuchAttribute { .. }));
        }
    }

    fn write(&mut self, data: usize, from: usize, count: usize) {
        let Some(data) = self.now.data(data) else { return };
        let path = self.path(data);
        let first = self.value() * 1000;
        let Body::Data { storage, values } = &mut self.now.things.get_mut(&data).unwrap().body else {
            return;
        };
        if values.is_empty() || (self.in_transaction && storage.is_in_place()) {
            return;
        }
        if storage.is_in_place() {
            self.loose.insert(data);
        }
        let from = from % values.len();
        let count = count % (values.len() - from + 1);
        let new: Vec<i32> = (first..).take(count).collect();
        values[from..from + count].copy_from_slice(&new);
        let dataset = self.file().dataset(&path).unwrap();
        dataset.write(from as u64..(from + count) as u64, &new).unwrap();
    }

    fn resize(&mut self, data: usize, len: usize) {
        let Some(data) = self.now.data(data) else { return };
        let path = self.path(data);
        let Body::Data { storage, values } = &mut self.now.things.get_mut(&data).unwrap().body else {
            return;
        };
        let is_cut = storage.is_in_place() && len < values.len();
        if !storage.can_resize() || (self.in_transaction && is_cut) {
            return;
        }
        if is_cut {
            self.loose.insert(data);
        }
        values.resize(len, FILL);
        self.file().dataset(&path).unwrap().resize([len as u64]).unwrap();
    }

    fn flush(&mut self) {
        if self.in_transaction {
            self.file().flush().unwrap();
        } else {
            let fewest = if self.searches.is_some() { 0 } else { self.unknown };
            assert_accounted_within(self.file(), fewest..=self.unknown);
            self.committed = self.now.clone();
            self.loose.clear();
        }
    }

    /// Closes the file, and opens it again as another program would.
    fn reopen(&mut self) {
        if self.in_transaction {
            return;
        }
        self.flush();
        self.file = None;
        let bytes = self.driver.bytes();
        self.check(&File::from_bytes(bytes.clone()).unwrap());
        self.open(bytes);
    }

    /// Kills the program: uncommitted changes are lost.
    fn kill(&mut self) {
        // With little memory the file commits by itself, so the model does not know the last commit.
        if !self.has_memory {
            return self.reopen();
        }
        let bytes = self.driver.bytes();
        self.in_transaction = false;
        self.now = self.committed.clone();
        self.open(bytes);
        // Elements written in place may be old or new.
        for data in std::mem::take(&mut self.loose) {
            let Some(path) = self.now.paths().get(&data).cloned() else { continue };
            let found: Vec<i32> = self.file().dataset(&path).unwrap().read(..).unwrap();
            let Body::Data { values, .. } = &mut self.now.things.get_mut(&data).unwrap().body else {
                continue;
            };
            assert_eq!(found.len(), values.len());
            *values = found;
            self.clear_edge(data);
        }
        self.committed = self.now.clone();
    }

    /// Overwrites the part of the last chunk beyond the shape with the fill value. Elements written there in
    /// place may have survived, and would appear when the dataset grows.
    fn clear_edge(&mut self, data: usize) {
        let Body::Data { storage: Storage::Raw, values } = &self.now.things[&data].body else { return };
        let (len, end) = (values.len() as u64, values.len().next_multiple_of(CHUNK) as u64);
        let dataset = self.file().dataset(&self.path(data)).unwrap();
        dataset.resize([end]).unwrap();
        dataset.write(len..end, &vec![FILL; usize::try_from(end - len).unwrap()]).unwrap();
        dataset.resize([len]).unwrap();
        self.file().flush().unwrap();
    }

    fn open(&mut self, bytes: Vec<u8>) {
        self.unknown = assert_sound(&bytes).totals.lost_bytes;
        self.driver = Arc::new(Memory::new(bytes));
        self.file = Some(self.options.clone().write(true).open_on(self.driver.clone()).unwrap());
    }

    fn begin(&mut self) {
        let begun = self.file().begin_transaction();
        if self.in_transaction {
            assert!(matches!(request(begun), RequestError::Argument { .. }));
            return;
        }
        begun.unwrap();
        self.committed = self.now.clone();
        self.loose.clear();
        self.in_transaction = true;
    }

    fn end(&mut self, is_kept: bool) {
        if !self.in_transaction {
            return;
        }
        self.in_transaction = false;
        self.file().end_transaction(is_kept).unwrap();
        if is_kept {
            self.committed = self.now.clone();
        } else {
            self.now = self.committed.clone();
        }
    }

    fn value(&mut self) -> i32 {
        self.next_value += 1;
        self.next_value
    }

    /// Asserts that `file` matches the model.
    fn check(&self, file: &File) {
        for (number, path) in self.now.paths() {
            let thing = &self.now.things[&number];
            let node = file.get(&path).unwrap();
            let mut attributes = node.attributes().unwrap();
            attributes.sort_by(|a, b| a.name.cmp(&b.name));
            let found: Vec<_> = attributes.iter().map(|found| (&found.name, &found.data)).collect();
            assert_eq!(found, thing.attributes.iter().collect::<Vec<_>>(), "attributes of {path}");
            let references = self.now.references(number).max(1);
            assert_eq!(node.hard_links().unwrap() as usize, references, "links to {path}");
            match &thing.body {
                Body::Group(links) => {
                    let mut found = node.into_group().unwrap().links().unwrap();
                    found.sort_by(|a, b| a.name.cmp(&b.name));
                    let is_same = found.len() == links.len()
                        && found.iter().zip(links).all(|(found, (name, target))| {
                            found.name == *name
                                && match (&found.target, target) {
                                    (LinkTarget::Soft(found), Target::Soft(path)) => found == path,
                                    (found, target) => {
                                        matches!((found, target), (LinkTarget::Hard(_), Target::Hard(_)))
                                    }
                                }
                        });
                    assert!(is_same, "links of {path}: {found:?}; but {links:?}");
                }
                Body::Data { values, .. } => {
                    let found: Vec<i32> = node.into_dataset().unwrap().read(..).unwrap();
                    assert_eq!(found, *values, "elements of {path}");
                }
            }
        }
    }
}

fn link_name(number: usize) -> String {
    format!("name {number}")
}

/// Returns the reason why a call was refused.
fn request(done: hyperslab::Result<()>) -> RequestError {
    match done.unwrap_err().root() {
        Error::Request(why) => why.clone(),
        other => panic!("{other}"),
    }
}

const FILL: i32 = -7;
/// The number of elements in a chunk.
const CHUNK: usize = 7;
