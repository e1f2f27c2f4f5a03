//! Fuzz target `open`: an input is a file. Checking, walking and reading it must succeed or fail without a
//! panic, whatever the file contains, and two ways to read the same elements must return the same bytes.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab::driver::Memory;
use hyperslab::{Dataset, File, Group, Node, Selection};
use hyperslab::{Dim, Slab};
use hyperslab_check::{CheckOptions, check};
use hyperslab_format::Addr;
use hyperslab_format::message::link::LinkTarget;

/// Runs the target on an input.
pub fn open(input: &[u8]) {
    let options = File::options().metadata_cache_bytes(CACHE_BYTES).chunk_cache_bytes(CACHE_BYTES);
    let driver = Arc::new(Memory::new(input.to_vec()));
    let mut checks = CheckOptions::default();
    (checks.data, checks.max_chunk_bytes) = (true, MAX_CHECKED_CHUNK);
    let _ = check(driver.clone(), &checks, &mut |_| {});
    let Ok(file) = options.open_on(driver) else { return };
    let mut walk =
        FuzzWalk { seen: HashSet::new(), soft: Vec::new(), leaves_file: false, budget: TOTAL_BYTES };
    walk.from(Node::Group(file.root()));
    // A path may lead through an external link to another file, which is not part of the input.
    if !walk.leaves_file {
        for (group, path) in std::mem::take(&mut walk.soft) {
            if let Ok(node) = group.get(&path) {
                walk.from(node);
            }
        }
    }
}

struct FuzzWalk {
    seen: HashSet<Addr>,
    soft: Vec<(Group, String)>,
    leaves_file: bool,
    /// The number of bytes that may still be read. Many datasets may claim the same bytes.
    budget: u64,
}

impl FuzzWalk {
    /// Visits every object that hard links lead to.
    fn from(&mut self, node: Node) {
        let mut waiting = vec![(node, 0)];
        while let Some((node, depth)) = waiting.pop() {
            if self.seen.len() >= MAX_OBJECTS || !self.seen.insert(node.address()) {
                continue;
            }
            attributes(&node);
            let _ = node.hard_links();
            match node {
                Node::Group(group) if depth < MAX_DEPTH => {
                    let members = self.members(&group);
                    waiting.extend(members.into_iter().map(|member| (member, depth + 1)));
                }
                Node::Group(_) | Node::Datatype(_) => {}
                Node::Dataset(dataset) => self.dataset(&dataset),
            }
        }
    }

    fn members(&mut self, group: &Group) -> Vec<Node> {
        let _ = (group.len(), group.is_empty());
        let mut members = Vec::new();
        for (number, link) in group.links().unwrap_or_default().iter().enumerate().take(MAX_OBJECTS) {
            if number < LOOKUPS {
                let _ = group.link(&link.name);
            }
            match &link.target {
                LinkTarget::Hard(_) => members.extend(group.open_link(link)),
                LinkTarget::Soft(path) if self.soft.len() < LOOKUPS => {
                    self.soft.push((group.clone(), path.clone()));
                }
                LinkTarget::Soft(_) => {}
                _ => self.leaves_file = true,
            }
        }
        members
    }

    fn dataset(&mut self, dataset: &Dataset) {
        let _ = (dataset.shape(), dataset.max_shape(), dataset.fill_value());
        chunks(dataset);
        // Reading one element of a chunk may require decoding the whole chunk.
        let size = dataset.element_size() as u64;
        let chunk = dataset.chunk_shape().unwrap_or_default();
        let chunk_bytes = chunk.iter().fold(size, |bytes, &len| bytes.saturating_mul(len));
        if chunk_bytes > MAX_CHUNK {
            return;
        }
        let small = small(&dataset.shape());
        let part = self.read(dataset, &small);
        let whole = self.read(dataset, &Selection::All);
        if let (Some(part), Some(whole)) = (part, whole) {
            assert_eq!(part, pick(&whole, dataset, &small), "{} {small:?}", dataset.path());
        }
    }

    /// Plans and reads a selection, unless it is too large or the budget is spent.
    fn read(&mut self, dataset: &Dataset, what: &Selection) -> Option<Vec<u8>> {
        let count = what.count(&dataset.shape()).ok()?;
        let bytes = count.checked_mul(dataset.element_size() as u64)?;
        self.budget = self.budget.checked_sub(bytes.max(1)).filter(|_| bytes <= MAX_READ)?;
        let whole: Vec<u64> = dataset.shape().iter().map(|&len| len.max(1)).collect();
        let chunk = dataset.chunk_shape().unwrap_or(whole);
        let chunks = what.tiling(&dataset.shape(), &chunk).ok()?.len();
        if chunks <= MAX_CHUNKS
            && let Ok(plan) = dataset.plan(what)
        {
            assert_eq!(plan.result_bytes, bytes, "{}", dataset.path());
            let _ = (plan.to_string(), plan.to_json());
        }
        let mut dst = vec![0; usize::try_from(bytes).ok()?];
        dataset.read_into(what, &mut dst).ok().map(|()| dst)
    }
}

fn attributes(node: &Node) {
    let names = node.attribute_names().unwrap_or_default();
    for name in names.iter().take(LOOKUPS) {
        let _ = node.attribute(name);
    }
    let _ = node.attribute_count();
    let file = node.file();
    for attribute in node.attributes().unwrap_or_default() {
        if attribute.datatype.has_variable_parts() {
            let mut total = 0_usize;
            let ids = file.vlen_ids(&attribute.data).unwrap_or_default();
            let _ = file.vlen_each(&ids, 1, &mut |bytes| total = total.saturating_add(bytes.len()));
        }
    }
}

fn chunks(dataset: &Dataset) {
    let mut stored = Vec::new();
    let mut count = 0;
    let _ = dataset.visit_chunks(&mut |coord, record| {
        if stored.len() < LOOKUPS {
            stored.push((coord.to_vec(), record));
        }
        count += 1;
        if count < MAX_CHUNKS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    for (coord, record) in stored {
        let _ = dataset.chunk_at(&coord);
        let _ = dataset.read_stored_chunk(record);
    }
}

/// Selects up to three elements along each axis, starting in the middle.
fn small(shape: &[u64]) -> Selection {
    if shape.contains(&0) {
        return Selection::All;
    }
    let most = if shape.len() > 8 { 1 } else { 3 };
    let dim = |&len: &u64| Dim { start: len / 2, step: 2, count: (len - len / 2).div_ceil(2).min(most) };
    Selection::Slab(Slab(shape.iter().map(dim).collect()))
}

/// Returns the elements of a [`small`] selection, given all elements.
fn pick(whole: &[u8], dataset: &Dataset, what: &Selection) -> Vec<u8> {
    let Selection::Slab(slab) = what else { return whole.to_vec() };
    let mut places = vec![0_u64];
    for (dim, len) in slab.0.iter().zip(dataset.shape()) {
        places = places.iter().flat_map(|outer| dim.iter().map(move |index| outer * len + index)).collect();
    }
    let size = dataset.element_size();
    let bytes = places.into_iter().filter_map(|place| {
        let start = usize::try_from(place).ok()?.checked_mul(size)?;
        whole.get(start..start + size)
    });
    bytes.flatten().copied().collect()
}

const CACHE_BYTES: u64 = 256 << 10;
/// The largest size of a dataset that is read whole.
const MAX_READ: u64 = 4 << 20;
/// The largest size of a chunk that is decoded.
const MAX_CHUNK: u64 = 16 << 20;
/// The largest size of a chunk that a check of the file decodes. A check decodes all such chunks, however
/// many there are.
const MAX_CHECKED_CHUNK: u64 = 256 << 10;
/// The total number of bytes that are read from one file.
const TOTAL_BYTES: u64 = 16 << 20;
const MAX_CHUNKS: u64 = 10_000;
const MAX_OBJECTS: usize = 2_000;
const MAX_DEPTH: usize = 64;
/// The number of names, chunks and paths that are looked up one by one.
const LOOKUPS: usize = 32;
