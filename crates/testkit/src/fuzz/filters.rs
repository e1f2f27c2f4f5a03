//! Fuzz target `filters`: runs arbitrary bytes through arbitrary pipelines in both directions, and compares
//! parts of Blosc chunks with whole chunks.
//!
//! An input consists of a header (see `Case`) and the stored chunk.

use hyperslab::Element;
use hyperslab::derive_support::compound;
use hyperslab::internals::engine::{Bounds, Columns};
use hyperslab_filters::blosc::{Blosc, MAX_NOTE, Spans, note};
use hyperslab_filters::{
    Axis, Encoded, FilterId, FilterMask, Gather, Pipeline, Registry, Scratch, StageSpec,
};

use super::input::{Input, Random};

/// Runs the target on an input.
pub fn filters(input: &[u8]) {
    let mut input = Input(input);
    let Some(case) = Case::take(&mut input) else { return };
    let content = input.rest();
    let mut scratch = Scratch::default();
    let registry = Registry::default();
    let specs: Vec<StageSpec<'_>> = case.stages.iter().map(FilterStage::spec).collect();
    let bytes = case.bytes();
    let Ok(pipeline) = Pipeline::new(&specs, case.element_size, bytes, &registry) else { return };
    let mut decoded = vec![0; bytes];
    let _ = pipeline.decode_into(FilterMask(case.mask), content, &mut decoded, &mut scratch);
    for stage in pipeline.filters() {
        let Ok(filter) = stage.filter() else { continue };
        // Outputs of other sizes than the chunk's. The mask serves as a number by which to shorten one.
        for room in [bytes, bytes.saturating_sub(case.mask as usize % 64), 0] {
            if let Ok(len) = filter.decode_into(content, &mut decoded[..room], &mut scratch) {
                assert!(len <= room, "{} wrote {len} bytes into {room}", filter.id());
            }
        }
        if let Some(Ok(kept)) = filter.kept(content) {
            assert!(kept <= content.len(), "{} keeps {kept} bytes", filter.id());
        }
        if let Some(blosc) = filter.as_blosc() {
            parts(blosc, content, &case, &mut scratch);
        }
    }
    bounds(content);
    if let Some(note) = note(content) {
        assert!(note.bytes.len() < content.len());
        bounds(note.bytes);
        // A note is looked for before the chunk is decoded, and means nothing if it is not intact.
        let _ = note.is_intact();
    }
    there_and_back(&pipeline, content, &case, &mut scratch);
}

/// A chunk of a dataset, and the filters of the dataset.
pub(super) struct Case {
    pub(super) element_size: usize,
    pub(super) shape: Vec<usize>,
    pub(super) mask: u32,
    pub(super) stages: Vec<FilterStage>,
}

/// A filter and its parameters.
pub(super) struct FilterStage {
    pub(super) id: FilterId,
    pub(super) client_data: Vec<u32>,
}

impl Case {
    fn take(input: &mut Input<'_>) -> Option<Self> {
        let element_size = usize::from(input.u8()).max(1);
        let mask = u32::from(input.u8());
        let rank = 1 + input.below(4);
        let shape: Vec<usize> = (0..rank).map(|_| usize::from(input.u16())).collect();
        let count = 1 + input.below(3);
        let stages = (0..count).map(|_| FilterStage::take(input)).collect();
        let case = Self { element_size, shape, mask, stages };
        let bytes = case.shape.iter().try_fold(element_size, |bytes, &len| bytes.checked_mul(len))?;
        (1..=MAX_BYTES).contains(&bytes).then_some(case)
    }

    /// Encodes the header that [`Case::take`] reads.
    pub(super) fn encode(&self) -> Option<Vec<u8>> {
        let byte = |value: usize| u8::try_from(value).ok();
        let mut header =
            vec![byte(self.element_size)?, self.mask.to_le_bytes()[0], byte(self.shape.len() - 1)?];
        for &len in &self.shape {
            header.extend(u16::try_from(len).ok()?.to_le_bytes());
        }
        header.push(byte(self.stages.len() - 1)?);
        for stage in &self.stages {
            header.push(byte(FILTERS.iter().position(|&id| id == stage.id)?)?);
            header.push(byte(stage.client_data.len())?);
            stage.client_data.iter().for_each(|value| header.extend(value.to_le_bytes()));
        }
        Some(header)
    }

    pub(super) fn bytes(&self) -> usize {
        self.element_size * self.shape.iter().product::<usize>()
    }
}

impl FilterStage {
    fn take(input: &mut Input<'_>) -> Self {
        let id = FILTERS[usize::from(input.u8()) % FILTERS.len()];
        let count = input.below(33);
        Self { id, client_data: (0..count).map(|_| input.u32()).collect() }
    }

    pub(super) fn spec(&self) -> StageSpec<'_> {
        StageSpec { id: self.id, name: None, flags: 1, client_data: &self.client_data }
    }
}

pub(super) const FILTERS: [FilterId; 15] = [
    FilterId::DEFLATE,
    FilterId::SHUFFLE,
    FilterId::FLETCHER32,
    FilterId::LZF,
    FilterId::BLOSC,
    FilterId::LZ4,
    FilterId::BITSHUFFLE,
    FilterId::ZSTD,
    FilterId::BLOSC2,
    FilterId::SZIP,
    FilterId::NBIT,
    FilterId::SCALE_OFFSET,
    FilterId::BZIP2,
    FilterId::SNAPPY,
    FilterId::ZFP,
];

/// The filters that lose something, depending on their parameters.
const LOSSY: [FilterId; 3] = [FilterId::NBIT, FilterId::SCALE_OFFSET, FilterId::ZFP];

/// The largest size of a decoded chunk.
const MAX_BYTES: usize = 256 << 10;
/// The largest size of a chunk to encode. Encoding is slow, and does not read untrusted input.
const MAX_ENCODED: usize = 16 << 10;

/// Checks that a pipeline and each of its filters decode what they encoded.
fn there_and_back(pipeline: &Pipeline, content: &[u8], case: &Case, scratch: &mut Scratch) {
    if case.bytes() > MAX_ENCODED || content.is_empty() {
        return;
    }
    let raw: Vec<u8> = content.iter().copied().cycle().take(case.bytes()).collect();
    let given = &content[..content.len().min(MAX_NOTE)];
    for stage in pipeline.filters() {
        let Ok(filter) = stage.filter() else { continue };
        let mut encoded = vec![0xEE; filter.encode_bound(raw.len())];
        scratch.note = Some(given.to_vec());
        if let Ok(Encoded::Stored(stored)) = filter.encode_into(&raw, &mut encoded, scratch) {
            let mut decoded = vec![0; raw.len()];
            let len = filter.decode_into(&encoded[..stored], &mut decoded, scratch);
            assert!(stored <= filter.decode_bound(raw.len()), "{} exceeds its bound", filter.id());
            if LOSSY.contains(&filter.id()) {
                continue;
            }
            assert_eq!(len, Ok(raw.len()), "{}", filter.id());
            assert!(decoded == raw, "{} decodes to other bytes than it encoded", filter.id());
            if let Some(note) = note(&encoded[..stored]).filter(|_| filter.id() == FilterId::BLOSC2) {
                assert!(
                    note.bytes == given && note.is_intact(),
                    "a note differs from the one that was stored"
                );
            }
        }
    }
    let Ok((stored, mask)) = pipeline.encode(&raw, scratch) else { return };
    let stored = stored.to_vec();
    let mut decoded = vec![0; raw.len()];
    let result = pipeline.decode_into(mask, &stored, &mut decoded, scratch);
    if case.stages.iter().any(|stage| LOSSY.contains(&stage.id)) {
        return;
    }
    assert_eq!(result, Ok(()));
    assert!(decoded == raw, "a pipeline decodes to other bytes than it encoded");
}

/// Reads bytes as the bounds of the columns of a record.
fn bounds(content: &[u8]) {
    let datatype =
        compound([("a", f32::datatype(), 4), ("b", i16::datatype(), 2), ("c", u64::datatype(), 8)]);
    let columns = Columns::of(&datatype, 14);
    let bounds = columns.as_ref().and_then(|columns| Bounds::decode(content, columns));
    for column in [0..4, 4..6, 6..14] {
        let Some(bounds) = bounds else { return };
        let bound = bounds.column(column.clone());
        let extremes = bound.and_then(|bound| bound.extremes);
        assert!(bound.is_some() && bounds.column(column.start..column.end + 1).is_none());
        assert!(extremes.is_none_or(|(low, high)| low.len() == column.len() && high.len() == column.len()));
    }
}

/// Checks that random parts of a chunk equal those of the whole chunk, even if only the requested bytes are
/// available.
fn parts(blosc: &Blosc, stored: &[u8], case: &Case, scratch: &mut Scratch) {
    let mut whole = vec![0; case.bytes()];
    let is_whole = blosc.decode_into(stored, &mut whole, scratch) == Ok(whole.len());
    let is_lz4 = is_lz4(blosc, stored);
    let mut random = Random::of(stored);
    for _ in 0..3 {
        let (axes, len) = selection(&mut random, case);
        let gather = Gather::new(case.element_size, &case.shape, &axes, 3);
        let mut expected = vec![0xEE; len + 5];
        hyperslab_filters::scatter::scatter(&gather, &whole, &mut expected[..]);
        let check = |stored: &[u8], scratch: &mut Scratch| {
            let mut out = vec![0xEE; len + 5];
            let result = blosc.scatter_into(stored, &gather, &mut out[..], scratch);
            assert!(out[..3] == [0xEE; 3] && out[len + 3..] == [0xEE; 2], "outside the selection: {axes:?}");
            if is_whole && result.is_ok() && !is_lz4 {
                assert!(out == expected, "a part differs from the whole: {axes:?} of {:?}", case.shape);
            }
        };
        check(stored, scratch);
        if let Some(asked) = asked_for(blosc, stored, &gather) {
            check(&asked, scratch);
        }
    }
}

/// Returns whether the chunk consists of LZ4 streams. The LZ4 library accepts a distance of 0, and then
/// copies whatever the memory contained before.
fn is_lz4(blosc: &Blosc, stored: &[u8]) -> bool {
    let chunk = match stored.first_chunk::<15>() {
        // The length of a frame's header is a MessagePack number in the header.
        Some(frame) if hyperslab_filters::Filter::id(blosc) == FilterId::BLOSC2 => {
            usize::try_from(u32::from_be_bytes([frame[11], frame[12], frame[13], frame[14]])).unwrap_or(0)
        }
        _ => 0,
    };
    stored.get(chunk.saturating_add(2)).is_some_and(|flags| flags >> 5 == 1)
}

/// Returns the stored chunk with garbage in place of the bytes that a selection does not need. `None` if the
/// selection needs all bytes.
fn asked_for(blosc: &Blosc, stored: &[u8], gather: &Gather<'_>) -> Option<Vec<u8>> {
    let mut ranges = Vec::new();
    let mut known = 0;
    loop {
        match blosc.spans(&stored[..known], stored.len(), gather, &mut ranges).ok()? {
            Spans::More(_) if known == stored.len() => return None,
            Spans::More(more) => known = more.clamp(known + 1, stored.len()),
            Spans::Whole => return None,
            Spans::Parts => break,
        }
    }
    let mut asked = vec![0xA5; stored.len()];
    asked[..known].copy_from_slice(&stored[..known]);
    for range in ranges {
        assert!(range.start <= range.end && range.end <= stored.len(), "{range:?} of {}", stored.len());
        asked[range.clone()].copy_from_slice(&stored[range]);
    }
    Some(asked)
}

/// Returns a selection of the chunk and its packed size in bytes.
fn selection(random: &mut Random, case: &Case) -> (Vec<Axis>, usize) {
    let mut stride = case.element_size;
    let mut axes = Vec::new();
    for &extent in case.shape.iter().rev() {
        let start = if random.once_in(3) { 0 } else { random.below(extent) };
        let step = if random.once_in(2) { 1 } else { 1 + random.below(5) };
        let most = (extent - start).div_ceil(step);
        let count = if random.once_in(3) { most } else { 1 + random.below(most) };
        axes.insert(0, Axis { start, step, count, stride: stride.cast_signed() });
        stride *= count;
    }
    (axes, stride)
}
