//! Finds the data of many elements of variable length: each collection of the global heap is read once, and
//! several at a time (spec III.E).

use std::ops::Range;

use hyperslab_error::{Error, Result};
use hyperslab_format::heap::global::VariableElement;
use hyperslab_format::{Addr, Structure, Widths};
use hyperslab_select::sort;
use hyperslab_store::heap::{Collections, Objects, missing};
use parking_lot::Mutex;

use crate::engine::{each_number, worked};
use crate::object::File;

/// Elements of variable length.
pub trait VlenElements: Sync {
    /// Returns the number of elements.
    fn count(&self) -> usize;

    /// Returns element `index`, which is below the number of elements.
    fn element(&self, index: usize) -> VariableElement;
}

impl VlenElements for [VariableElement] {
    fn count(&self) -> usize {
        self.len()
    }

    fn element(&self, index: usize) -> VariableElement {
        self[index]
    }
}

/// Elements of variable length in the bytes of a dataset.
#[derive(Debug, Clone, Copy)]
pub struct StoredIds<'b> {
    bytes: &'b [u8],
    /// The distance between elements, and the number of elements.
    pitch: usize,
    count: usize,
    widths: Widths,
}

impl<'b> StoredIds<'b> {
    /// Returns the elements at the offset `at` of each `pitch` bytes.
    pub fn new(bytes: &'b [u8], at: usize, pitch: usize, widths: Widths) -> Self {
        let len = VariableElement::read_len(widths, &());
        let bytes = bytes.get(at..).unwrap_or_default();
        let count = bytes.len().checked_sub(len).map_or(0, |most| most / pitch.max(1) + 1);
        Self { bytes, pitch, count, widths }
    }
}

impl VlenElements for StoredIds<'_> {
    fn count(&self) -> usize {
        self.count
    }

    #[inline]
    fn element(&self, index: usize) -> VariableElement {
        let bytes = self.bytes.get(index * self.pitch..).unwrap_or_default();
        // There are enough bytes for an element.
        VariableElement::get(bytes, self.widths).unwrap_or(VariableElement::EMPTY)
    }
}

/// Receives the data of elements, on several threads.
pub trait VlenSink: Sync {
    /// What one thread collects of a part of the elements.
    type Part: Default;

    /// Takes the data of some elements, which are in one collection.
    fn take(&self, part: &mut Self::Part, found: &Found<'_>) -> Result<()>;

    /// Ends a part of the elements.
    fn finish(&self, part: Self::Part) -> Result<()>;
}

/// Data of elements that are in one collection.
#[derive(Debug, Clone, Copy)]
pub struct Found<'f> {
    /// Bytes with the data.
    pub bytes: &'f [u8],
    /// The places of the data.
    pub places: &'f [Place],
}

/// The place of the data of one element.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// The index of the element.
    pub element: usize,
    /// The offset of the data.
    pub start: usize,
    /// The length of the data in bytes, which is not 0.
    pub len: usize,
}

impl<'f> Found<'f> {
    /// Returns each element's index and data.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (usize, &'f [u8])> + use<'f> {
        let bytes = self.bytes;
        self.places.iter().map(move |place| (place.element, &bytes[place.start..place.start + place.len]))
    }
}

/// Neighbouring elements whose data are in one collection, with empty elements between them.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CollectionRun {
    collection: Addr,
    elements: Range<usize>,
}

impl File {
    /// Hands the data of all elements that have any to `sink`: sequences of elements of `element_size` bytes
    /// (1 for strings).
    #[doc(hidden)]
    pub fn vlen_gather<S: VlenSink>(
        &self,
        elements: &(impl VlenElements + ?Sized),
        element_size: usize,
        sink: &S,
    ) -> Result<()> {
        let runs = runs(elements)?;
        let parts = parts(&runs);
        let idle: Mutex<Vec<(Collections<'_>, Vec<Place>)>> = Mutex::default();
        // Few elements are likely to be followed by others of the same collections.
        let is_cached = elements.count() < FEW;
        each_number(parts.len() as u64, &|number| {
            let number = usize::try_from(number).unwrap_or(usize::MAX);
            let runs = &runs[parts[number].clone()];
            let waiting = idle.lock().pop();
            let (mut heap, mut places) =
                waiting.unwrap_or_else(|| (Collections::new(self.store()), Vec::new()));
            heap.restart();
            let mut part = S::Part::default();
            let mut rest = runs;
            while let [first, ..] = rest {
                let same = rest.iter().take_while(|run| run.collection == first.collection).count();
                let (mine, after) = rest.split_at(same);
                rest = after;
                let objects = if is_cached {
                    heap.cached(first.collection)?
                } else {
                    heap.get(first.collection, after.iter().map(|run| run.collection))?
                };
                places.clear();
                for run in mine {
                    match &objects {
                        Objects::Known(known) => {
                            find(elements, run, element_size, |index| known.place(index), &mut places)?;
                        }
                        Objects::Read(_, read) => {
                            find(elements, run, element_size, |index| read.get(index), &mut places)?;
                        }
                    }
                }
                sink.take(&mut part, &Found { bytes: objects.bytes(), places: &places })?;
                worked("read", objects.bytes().len())?;
            }
            sink.finish(part)?;
            idle.lock().push((heap, places));
            Ok::<_, Error>(())
        })
    }
}

/// Adds the places of the data of a run's elements.
fn find(
    elements: &(impl VlenElements + ?Sized),
    run: &CollectionRun,
    element_size: usize,
    object: impl Fn(u32) -> Option<Range<usize>>,
    places: &mut Vec<Place>,
) -> Result<()> {
    for index in run.elements.clone() {
        let element = elements.element(index);
        if !has_data(&element) {
            continue;
        }
        let place = object(element.id.index);
        let needed = u64::from(element.count) * element_size as u64;
        match &place {
            // The length of an object in memory fits.
            #[expect(clippy::cast_possible_truncation, reason = "see above")]
            Some(place) if needed <= place.len() as u64 => {
                places.push(Place { element: index, start: place.start, len: needed as usize });
            }
            _ => return Err(missing(element, needed, place.map(|place| place.len() as u64))),
        }
    }
    Ok(())
}

fn has_data(element: &VariableElement) -> bool {
    element.count > 0 && !element.id.is_null()
}

/// Returns the runs of the elements in the order of their collections.
fn runs(elements: &(impl VlenElements + ?Sized)) -> Result<Vec<CollectionRun>> {
    let mut runs: Vec<CollectionRun> = Vec::new();
    for index in 0..elements.count() {
        let element = elements.element(index);
        if !has_data(&element) {
            continue;
        }
        let collection = element.id.collection;
        match runs.last_mut() {
            Some(run) if run.collection == collection => run.elements.end = index + 1,
            _ => runs.push(CollectionRun { collection, elements: index..index + 1 }),
        }
    }
    if !runs.is_sorted_by_key(|run| run.collection) {
        sort(&mut runs, |run| (run.collection, run.elements.start), &mut |bytes| worked("read", bytes))?;
    }
    Ok(runs)
}

/// Divides the runs into parts of about [`PART_ELEMENTS`], each with all runs of its collections.
fn parts(runs: &[CollectionRun]) -> Vec<Range<usize>> {
    let (mut parts, mut start, mut elements) = (Vec::new(), 0, 0);
    for (at, run) in runs.iter().enumerate() {
        let is_new = at > start && runs[at - 1].collection != run.collection;
        if is_new && elements >= PART_ELEMENTS {
            parts.push(start..at);
            (start, elements) = (at, 0);
        }
        elements += run.elements.len();
    }
    if start < runs.len() {
        parts.push(start..runs.len());
    }
    parts
}

/// The least number of elements that one thread takes at a time.
const PART_ELEMENTS: usize = 8192;
/// Collections of fewer elements than this are kept in the cache of the file.
const FEW: usize = 256;

#[cfg(test)]
mod tests {
    use hyperslab_format::heap::global::GlobalHeapId;

    use super::*;

    fn in_collection(collection: u64, index: u32) -> VariableElement {
        VariableElement { count: 1, id: GlobalHeapId { collection: Addr::new(collection), index } }
    }

    #[test]
    fn a_part_has_all_runs_of_its_collections() {
        let ids: Vec<_> =
            (0..40_000).map(|number| in_collection(64 + u64::from(number) % 3, number)).collect();
        let runs = runs(&ids[..]).unwrap();
        assert_eq!(runs.len(), 40_000);
        let collections: Vec<Vec<u64>> = parts(&runs)
            .into_iter()
            .map(|part| {
                let mut found: Vec<u64> = runs[part].iter().map(|run| run.collection.get()).collect();
                found.dedup();
                found
            })
            .collect();
        assert_eq!(collections, [[64], [65], [66]]);
        let mut seen: Vec<usize> = runs.into_iter().flat_map(|run| run.elements).collect();
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..40_000));
    }

    #[test]
    fn empty_elements_belong_to_no_run_or_are_inside_one() {
        let null = VariableElement::EMPTY;
        let empty = VariableElement { count: 0, ..in_collection(8, 9) };
        let ids = [
            null,
            empty,
            in_collection(64, 1),
            null,
            in_collection(64, 2),
            empty,
            in_collection(32, 1),
            null,
        ];
        let run = |collection, elements| CollectionRun { collection: Addr::new(collection), elements };
        assert_eq!(runs(&ids[..]).unwrap(), [run(32, 6..7), run(64, 2..5)]);
    }

    #[test]
    fn stored_ids_end_with_the_last_whole_element() {
        let bytes = [7; 40];
        let counts = [(0, 16), (8, 16), (9, 16), (0, 24), (24, 1), (25, 1), (41, 1)]
            .map(|(at, pitch)| StoredIds::new(&bytes, at, pitch, Widths::EIGHT).count());
        assert_eq!(counts, [2, 2, 1, 2, 1, 0, 0]);
    }
}
