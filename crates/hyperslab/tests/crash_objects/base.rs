//! The file that operations change. It has groups, datasets and attributes in every kind of storage, some of
//! them about to change to another kind.

use std::sync::Arc;

use hyperslab::Element;
use hyperslab::driver::{Driver, Memory};
use hyperslab::storage::{DatasetOptions, NewStorage};
use hyperslab::{Attribute, File, FileSpace, LibVersion, Object, Result, Selection};
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::message::fill::{AllocationTime, FillBytes};
use hyperslab_format::message::filters::FilterSpec;

/// Superblocks 0, 2 and 3.
pub(crate) const VERSIONS: [LibVersion; 3] = [LibVersion::Earliest, LibVersion::V18, LibVersion::V110];

/// The fill value.
pub(crate) const FILL: i32 = -7;

/// A kind of chunked dataset.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) shape: &'static [u64],
    max_shape: Option<&'static [Option<u64>]>,
    chunk: &'static [u64],
    /// Whether chunks go through filters. Filtered chunks are never written in place.
    pub(crate) is_filtered: bool,
    is_early: bool,
}

/// Datasets with every chunk index: Single Chunk, Implicit, Fixed Array, Extensible Array, version 2 B-tree.
/// In files of earlier versions all of them have version 1 B-trees.
pub(crate) const KINDS: [Kind; 7] = [
    kind("single", &[6, 7], None, &[6, 7], true),
    Kind { is_early: true, ..kind("implicit", &[5, 6], Some(&[Some(12), Some(20)]), &[4, 3], false) },
    kind("fixed", &[5, 6], Some(&[Some(12), Some(20)]), &[4, 3], true),
    kind("fixed_raw", &[5, 6], Some(&[Some(12), Some(20)]), &[4, 3], false),
    kind("extensible", &[5, 6], Some(&[Some(12), None]), &[4, 3], true),
    kind("tree", &[5, 6], Some(&[None, None]), &[4, 3], true),
    kind("tree_raw", &[5, 6], Some(&[None, None]), &[4, 3], false),
];

const fn kind(
    name: &'static str,
    shape: &'static [u64],
    max_shape: Option<&'static [Option<u64>]>,
    chunk: &'static [u64],
    is_filtered: bool,
) -> Kind {
    Kind { name, shape, max_shape, chunk, is_filtered, is_early: false }
}

impl Kind {
    pub(crate) fn options(&self) -> DatasetOptions {
        let max_shape = self.max_shape.map(<[_]>::to_vec);
        let space = Dataspace::Simple { shape: self.shape.to_vec(), max_shape };
        let mut options = DatasetOptions::new(space, i32::datatype());
        options.storage = NewStorage::Chunked(self.chunk.to_vec());
        options.fill = FillBytes::Defined(FILL.to_le_bytes().to_vec());
        options.allocation = self.is_early.then_some(AllocationTime::Early);
        if self.is_filtered {
            options.filters = vec![FilterSpec { id: 1, name: None, flags: 0, client_data: vec![4] }];
        }
        options
    }

    pub(crate) fn can_grow(&self) -> bool {
        self.max_shape.is_some()
    }

    pub(crate) fn elements(&self) -> usize {
        self.shape.iter().map(|&len| usize::try_from(len).unwrap()).product()
    }
}

/// Returns the options of a dataset of `elements` elements that is not chunked.
pub(crate) fn plain(storage: NewStorage, elements: u64) -> DatasetOptions {
    let space = Dataspace::Simple { shape: vec![elements], max_shape: None };
    let mut options = DatasetOptions::new(space, i32::datatype());
    options.storage = storage;
    options
}

/// Returns `count` consecutive values from `first` on.
pub(crate) fn values(first: i32, count: usize) -> Vec<i32> {
    (first..).take(count).collect()
}

/// Sets an attribute of `len` bytes.
pub(crate) fn set(object: &Object, name: &str, byte: u8, len: usize) -> Result<()> {
    let space = Dataspace::Simple { shape: vec![len as u64], max_shape: None };
    object.put_attribute(&Attribute {
        name: name.to_owned(),
        datatype: u8::datatype(),
        dataspace: space,
        data: vec![byte; len],
    })
}

/// Returns the bytes of the file, which manages its space in this way.
pub(crate) fn image(version: LibVersion, space: FileSpace) -> Vec<u8> {
    let driver = Arc::new(Memory::default());
    make(driver.clone(), version, space);
    driver.bytes()
}

/// Creates the file on `driver`.
pub(crate) fn make(driver: Arc<dyn Driver>, version: LibVersion, space: FileSpace) {
    let options = File::options().version(version).space(space).create(true).truncate(true);
    let file = options.open_on(driver).unwrap();
    fill(&file).unwrap();
    file.close().unwrap();
}

/// Returns the bytes of the file with unused space that no list names.
pub(crate) fn image_with_holes(version: LibVersion) -> Vec<u8> {
    let driver = Arc::new(Memory::default());
    let options = File::options().version(version).create(true).truncate(true);
    let file = options.open_on(driver.clone()).unwrap();
    for (number, len) in [300, 2000, 10].into_iter().enumerate() {
        let name = format!("deleted {number}");
        let dataset = file.root().create_dataset(&name, &plain(NewStorage::Contiguous, len)).unwrap();
        dataset.write(Selection::All, &values(5000, usize::try_from(len).unwrap())).unwrap();
        set(&file.root(), &name, 5, 200).unwrap();
    }
    fill(&file).unwrap();
    file.close().unwrap();
    let file = File::options().write(true).open_on(driver.clone()).unwrap();
    for number in 0..3 {
        file.root().remove(&format!("deleted {number}")).unwrap();
        file.root().remove_attribute(&format!("deleted {number}")).unwrap();
    }
    file.close().unwrap();
    driver.bytes()
}

pub(crate) fn fill(file: &File) -> Result<()> {
    let root = file.root();
    for (group, links) in [("few", 3), ("full", 8), ("many", 10), ("hardly_many", 8)] {
        let ordered = group == "many";
        let group = root.create_group_with(group, ordered)?;
        (0..links).try_for_each(|i| group.link_soft(&format!("link {i}"), "/few"))?;
    }
    // Nine links are too many for compact storage. With six left, one more deletion would end dense
    // storage.
    let hardly = root.group("hardly_many")?;
    hardly.link_soft("link 8", "/few")?;
    ["link 8", "link 7", "link 6"].iter().try_for_each(|name| hardly.remove(name))?;
    for (object, count) in [("few", 3), ("full", 8), ("many", 10), ("hardly_many", 9)] {
        let object = root.create_group(&format!("attributes/{object}"))?;
        (0..count).try_for_each(|i| set(&object, &format!("attribute {i}"), i, 20))?;
    }
    let hardly = root.group("attributes/hardly_many")?;
    (6..9).try_for_each(|i| hardly.remove_attribute(&format!("attribute {i}")))?;
    for kind in KINDS {
        let dataset = root.create_dataset(&format!("data/{}", kind.name), &kind.options())?;
        dataset.write(Selection::All, &values(1000, kind.elements()))?;
    }
    let contiguous = root.create_dataset("data/contiguous", &plain(NewStorage::Contiguous, 300))?;
    contiguous.write(Selection::All, &values(2000, 300))?;
    root.create_dataset("data/unwritten", &plain(NewStorage::Contiguous, 300))?;
    let compact = root.create_dataset("data/compact", &plain(NewStorage::Compact, 10))?;
    compact.write(Selection::All, &values(3000, 10))?;
    let datatype = root.commit_datatype("datatype", &f64::datatype())?;
    set(&datatype, "unit", b'm', 1)?;
    root.link_to("data/tree again", &*root.get("data/tree")?)?;
    root.create_group("empty")?;
    let deep = root.create_dataset("deep/below/data", &KINDS[2].options())?;
    deep.write(Selection::All, &values(4000, KINDS[2].elements()))?;
    set(&deep, "unit", b's', 1)
}
