//! Fuzz target `change`: an input is a file. Changing it must succeed or fail without a panic. If a check
//! finds no error before, and the changes succeed, a check finds none after them, and other datasets keep
//! their values.

use std::collections::BTreeMap;
use std::sync::Arc;

use hyperslab::driver::Memory;
use hyperslab::filter::Deflate;
use hyperslab::{File, Node, Result};
use hyperslab_check::{CheckOptions, Severity, check};
use hyperslab_format::message::link::LinkTarget;

/// The largest size of a dataset that is compared, and of a chunk that is decoded.
const MAX_READ: u64 = 256 << 10;
/// The number of members of the root group that are compared.
const MEMBERS: usize = 32;
const CACHE_BYTES: u64 = 256 << 10;

/// Runs the target on an input.
///
/// # Panics
/// If changes that succeed damage a sound file.
pub fn change(input: &[u8]) {
    let Some(before) = errors(input) else { return };
    let driver = Arc::new(Memory::new(input.to_vec()));
    let options =
        File::options().write(true).metadata_cache_bytes(CACHE_BYTES).chunk_cache_bytes(CACHE_BYTES);
    let Ok(file) = options.open_on(driver.clone()) else { return };
    // A soft link may lead to what is removed.
    let links = file.root().links().unwrap_or_default().into_iter();
    let hard = links.filter(|link| matches!(link.target, LinkTarget::Hard(_)));
    let names: Vec<String> = hard.map(|link| link.name).collect();
    let (first, second) = (names.first().cloned(), names.get(1).cloned());
    let kept = values(&file, &names);
    let changed = changes(&file, first.as_deref(), second.as_deref());
    let closed = file.close();
    if changed.is_err() || closed.is_err() || !before.is_empty() {
        return;
    }
    let bytes = driver.bytes();
    assert_eq!(errors(&bytes), Some(Vec::new()), "a check after the changes");
    let Ok(file) = File::from_bytes(bytes) else { panic!("the changed file cannot be opened") };
    let left: Vec<String> = names.into_iter().filter(|name| Some(name) != first.as_ref()).collect();
    let moved = |name: &String| if Some(name) == second.as_ref() { MOVED.to_owned() } else { name.clone() };
    let found = values(&file, &left.iter().map(moved).collect::<Vec<_>>());
    for name in &left {
        let now = found.get(&moved(name));
        assert!(now == kept.get(name), "the dataset {name} has other values after the changes");
    }
    assert_eq!(
        file.dataset(NEW).and_then(|new| new.read::<i32>(..)).ok(),
        Some(elements()),
        "the new dataset"
    );
}

const NEW: &str = "new of the fuzz target/d";
const MOVED: &str = "moved by the fuzz target";

fn elements() -> Vec<i32> {
    (0..1000).map(|number: i32| number.wrapping_mul(number)).collect()
}

/// Deletes an object, renames another, and adds a group, datasets and attributes.
fn changes(file: &File, first: Option<&str>, second: Option<&str>) -> Result<()> {
    let root = file.root();
    if let Some(name) = first {
        root.remove(name)?;
    }
    if let Some(name) = second {
        root.rename(name, MOVED)?;
    }
    let group = root.create_group("new of the fuzz target")?;
    group.new_dataset::<i32>("d").shape([1000]).create_with(&elements())?;
    let chunked = group.new_dataset::<i32>("c").shape([1000]).max_shape([None]).chunks([64]);
    chunked.filter(Deflate::default()).create_with(&elements())?;
    for number in 0..12 {
        group.set_attribute(&format!("a{number}"), number)?;
    }
    root.set_attribute("of the fuzz target", 1.5)?;
    file.flush()
}

/// Returns the errors that a check finds; `None` if the file cannot be checked.
fn errors(input: &[u8]) -> Option<Vec<String>> {
    let mut options = CheckOptions::default();
    (options.data, options.max_chunk_bytes) = (true, MAX_READ);
    let report = check(Arc::new(Memory::new(input.to_vec())), &options, &mut |_| {}).ok()?;
    let errors = report.findings.iter().filter(|finding| finding.severity == Severity::Error);
    Some(errors.map(|finding| format!("{finding:?}")).collect())
}

/// Returns the bytes of the small datasets among the members of the root group. Elements of variable length
/// and references are ids, which changes do not alter.
fn values(file: &File, names: &[String]) -> BTreeMap<String, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    for name in names.iter().take(MEMBERS) {
        let Ok(Node::Dataset(dataset)) = file.root().get(name) else { continue };
        let chunk = dataset.chunk_shape().unwrap_or_default();
        let size = dataset.element_size() as u64;
        let chunk = chunk.iter().fold(size, |bytes, &len| bytes.saturating_mul(len));
        let bytes = dataset.size().saturating_mul(size);
        if bytes <= MAX_READ && chunk <= MAX_READ && !dataset.is_virtual() {
            let mut whole = vec![0; usize::try_from(bytes).unwrap_or(0)];
            let is_read = dataset.read_into(.., &mut whole).is_ok();
            found.insert(name.clone(), is_read.then_some(whole));
        }
    }
    found
}
