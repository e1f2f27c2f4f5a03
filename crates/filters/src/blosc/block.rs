//! One block of a chunk: its streams decoded, then its filters undone on the way to the destination.

use super::chunk::{Chunk, Stream};
use super::codec::Codec;
use super::encode::Encoding;
use super::forward::delta_width;
use crate::codec::Contexts;
use crate::convert::{Converting, Room, User, hand};
use crate::error::{FilterError, Result};
use crate::filter::buffer;
use crate::gather::{Rows, Source, Walk};
use crate::planes::{MAX_FEW, Planes};
use crate::simd::{Kernels, Plane, Stores};
use crate::sink::{All, Sink};

/// Room after each plane, so that wide copies need no care at its end.
const SLACK: usize = 64;

/// Buffers and decoder states that are kept from chunk to chunk.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    /// The streams of a block, decoded.
    streams: Vec<u8>,
    /// A block with its filters undone, where it cannot go to its destination at once.
    rows: Vec<u8>,
    /// The first block, if the chunk's differences are taken from it.
    reference: Vec<u8>,
    /// What bit transposes need.
    transposed: Vec<u8>,
    contexts: Contexts,
    /// What encoding needs.
    pub(super) encoding: Encoding,
    /// How long runs of elements are written to the destination.
    pub(super) stores: Stores,
}

/// What has to be undone after the codec.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Filters {
    /// Nothing.
    None,
    /// Only a byte shuffle of elements this wide.
    Shuffle(usize),
    /// Anything else, in `Decoder::steps`.
    Steps,
}

/// A filter to undo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Unshuffle(usize),
    BitUnshuffle,
}

/// Decodes the blocks of one chunk.
pub(super) struct Decoder<'a> {
    chunk: Chunk<'a>,
    codec: Codec,
    filters: Filters,
    steps: [Option<Step>; 6],
    /// Whether the last thing to undo is the difference from the first block.
    delta: bool,
    /// Whether `Buffers::reference` is this chunk's.
    has_reference: bool,
    /// Blocks are cut at the next block that is stored after them, not just at the chunk's end.
    strict: bool,
    /// What becomes of the elements.
    converting: Option<Converting<'a>>,
    room: &'a mut Room,
}

impl<'a> Decoder<'a> {
    /// A decoder for a chunk of ordinary blocks, which are whole elements if these are converted.
    pub(super) fn new(
        chunk: Chunk<'a>,
        strict: bool,
        converting: Option<Converting<'a>>,
        room: &'a mut Room,
    ) -> Result<Self> {
        let codec = if chunk.is_memcpyed() { Codec::BloscLz } else { Codec::of(&chunk)? };
        let mut decoder = Self {
            chunk,
            codec,
            filters: Filters::None,
            steps: [None; 6],
            delta: false,
            has_reference: false,
            strict,
            converting,
            room,
        };
        if !chunk.is_memcpyed() {
            decoder.plan()?;
        }
        Ok(decoder)
    }

    /// Turns the chunk's filters into what undoes them.
    fn plan(&mut self) -> Result<()> {
        let filter = self.chunk.filter;
        let unsupported = |feature: String| Err(FilterError::Unsupported { filter, feature });
        let mut steps = 0;
        for &(id, meta) in self.chunk.filters.iter().rev() {
            let step = match id {
                // Truncated precision stays lost.
                0 | 4 => continue,
                1 => {
                    let width = if meta == 0 { self.chunk.type_size } else { usize::from(meta) };
                    if width == 1 {
                        continue;
                    }
                    Step::Unshuffle(width)
                }
                2 => Step::BitUnshuffle,
                3 if self.delta => return unsupported("delta applied twice".into()),
                3 => {
                    self.delta = true;
                    continue;
                }
                32 => return unsupported("the filter NDCELL".into()),
                33 => return unsupported("the filter NDMEAN".into()),
                34 | 35 => return unsupported("the filter bytedelta".into()),
                36 => return unsupported("the filter int-trunc".into()),
                other => return unsupported(format!("the filter with number {other}")),
            };
            if self.delta {
                return unsupported("delta after another filter".into());
            }
            self.steps[steps] = Some(step);
            steps += 1;
        }
        self.filters = match (steps, self.steps[0], self.delta) {
            (0, _, false) => Filters::None,
            (1, Some(Step::Unshuffle(width)), false) => Filters::Shuffle(width),
            _ => Filters::Steps,
        };
        Ok(())
    }

    /// Decodes block `index` as far as `walk` over its elements reaches, and hands them to `sink`.
    pub(super) fn copy<K: Sink + ?Sized>(
        &mut self,
        index: usize,
        walk: &Walk,
        sink: &mut K,
        buffers: &mut Buffers,
    ) -> Result<()> {
        if self.converting.is_none()
            && let Some(run) = walk.single()
            && run.source == 0
            && run.len == self.chunk.block_len(index)
            && let Some(out) = sink.place(run)
        {
            return self.whole(index, out, buffers);
        }
        self.with(index, walk.source_end(), walk.element_size(), buffers, &mut All { walk, sink })
    }

    /// Decodes all of block `index` into `out`.
    pub(super) fn whole(&mut self, index: usize, out: &mut [u8], buffers: &mut Buffers) -> Result<()> {
        let len = out.len();
        match self.filters {
            Filters::None if !self.chunk.is_memcpyed() => self.decode(index, len, out, &mut buffers.contexts),
            Filters::Steps if !self.delta => {
                let mut steps = self.steps.iter().flatten();
                let (Some(&last), None) = (steps.next(), steps.next()) else {
                    return self.with(index, len, len, buffers, &mut Fill(out));
                };
                let stream = buffer(&mut buffers.streams, len);
                self.decode(index, len, stream, &mut buffers.contexts)?;
                self.undo(last, stream, out, &mut buffers.transposed);
                Ok(())
            }
            _ => self.with(index, len, len, buffers, &mut Fill(out)),
        }
    }

    /// Decodes the first `need` bytes of block `index` and hands their elements to `user`, which takes `grain` stored bytes or a
    /// multiple of it at a time, at multiples of it.
    pub(super) fn with<U: User>(
        &mut self,
        index: usize,
        need: usize,
        grain: usize,
        buffers: &mut Buffers,
        user: &mut U,
    ) -> Result<()> {
        let len = self.chunk.block_len(index);
        if self.chunk.is_memcpyed() {
            let start = self.chunk.header + index * self.chunk.block_size;
            let Some(rows) = self.chunk.bytes.get(start..).and_then(|b| b.get(..len)) else {
                return Err(self.damaged("chunk is cut short"));
            };
            hand(&Rows(rows), self.converting, self.room, user);
            return Ok(());
        }
        match self.filters {
            Filters::None => {
                buffer(&mut buffers.streams, len + SLACK);
                self.decode(index, need, &mut buffers.streams, &mut buffers.contexts)?;
                hand(&Rows(&buffers.streams[..need]), self.converting, self.room, user);
            }
            Filters::Shuffle(width) if grain.is_multiple_of(width) && len.is_multiple_of(width) => {
                let order = self.converting.and_then(|converting| converting.planes(width));
                let planes = self.planes(index, width, need, order, buffers)?;
                hand(&planes, self.converting.filter(|_| order.is_none()), self.room, user);
            }
            _ => {
                buffer(&mut buffers.rows, len);
                self.block(index, buffers)?;
                let rows = if self.delta && index == 0 { &buffers.reference } else { &buffers.rows };
                hand(&Rows(&rows[..len]), self.converting, self.room, user);
            }
        }
        Ok(())
    }

    fn damaged(&self, what: &'static str) -> FilterError {
        FilterError::damaged(self.chunk.filter, what)
    }

    /// The first byte of block `index`, and one past the last that can be its own.
    fn bounds(&self, index: usize) -> Result<(usize, usize)> {
        let start = self.chunk.block_start(index)?;
        let end = if self.strict {
            stored_end(&self.chunk, start, self.chunk.bytes.len())?
        } else {
            self.chunk.bytes.len()
        };
        if start < self.chunk.header || start > end {
            return Err(self.damaged("a block is outside the chunk"));
        }
        Ok((start, end))
    }

    /// Decodes the streams of block `index` one after the other, up to `need` bytes. `out` is at least as long as the
    /// block, and clobbered after those.
    fn decode(&self, index: usize, need: usize, out: &mut [u8], contexts: &mut Contexts) -> Result<()> {
        let (mut at, end) = self.bounds(index)?;
        let len = self.chunk.block_len(index);
        let streams = self.chunk.streams(index);
        let part = len / streams;
        if part * streams != len {
            return Err(self.damaged("a split block is no whole number of elements"));
        }
        for start in (0..len).step_by(part.max(1)) {
            if start >= need {
                break;
            }
            let stream = self.chunk.stream(&mut at, end, part)?;
            self.stream(stream, &mut out[start..], part, part.min(need - start), contexts)?;
        }
        Ok(())
    }

    /// The byte planes of block `index` that `order` names, or else all, as far as the elements in its first `need` bytes use
    /// them.
    fn planes<'b>(
        &self,
        index: usize,
        width: usize,
        need: usize,
        order: Option<&'b [u16]>,
        buffers: &'b mut Buffers,
    ) -> Result<Planes<'b>>
    where
        'a: 'b,
    {
        let len = self.chunk.block_len(index);
        let elements = len / width;
        let need = need.div_ceil(width);
        let streams = self.chunk.streams(index);
        let pitch = elements + SLACK;
        buffer(&mut buffers.streams, pitch * width);
        if streams == width {
            return self.split_planes(index, (elements, need), order, buffers);
        }
        let (mut at, end) = self.bounds(index)?;
        let only = if streams == 1 { Some(self.chunk.stream(&mut at, end, len)?) } else { None };
        let whole: &[u8] = if let Some(Stream::Stored(bytes)) = only {
            bytes
        } else {
            let last = order.and_then(|order| order.iter().max()).map_or(width - 1, |&last| last.into());
            self.decode(index, elements * last + need, &mut buffers.streams, &mut buffers.contexts)?;
            &buffers.streams
        };
        Ok(Planes::of(whole, elements, (elements, width), order, buffers.stores))
    }

    /// The planes of a block that has a stream for each, of which only those are decoded that `order` names.
    fn split_planes<'b>(
        &self,
        index: usize,
        (elements, need): (usize, usize),
        order: Option<&'b [u16]>,
        buffers: &'b mut Buffers,
    ) -> Result<Planes<'b>>
    where
        'a: 'b,
    {
        let width = self.chunk.type_size;
        let pitch = elements + SLACK;
        let Buffers { streams, contexts, stores, .. } = buffers;
        if width > MAX_FEW {
            self.wanted_streams(index, (elements, width), order, |k, stream| {
                self.stream(stream, &mut streams[k * pitch..][..pitch], elements, need, contexts)
            })?;
            return Ok(Planes::of(streams, pitch, (elements, width), order, *stores));
        }
        let mut planes = [Plane::of(&[]); MAX_FEW];
        let mut outs = streams.chunks_exact_mut(pitch);
        self.wanted_streams(index, (elements, width), order, |k, stream| {
            planes[k] = match stream {
                Stream::Run(byte) => Plane::repeated(byte),
                Stream::Stored(bytes) => Plane::of(bytes),
                Stream::Coded(_) => {
                    let out = outs.next().unwrap_or_default();
                    self.stream(stream, out, elements, need, contexts)?;
                    Plane::of(out)
                }
            };
            Ok(())
        })?;
        Ok(Planes::few(&planes, width, order, *stores))
    }

    /// Calls `f` with those streams of a split block that `order` names, or else with all.
    #[inline]
    fn wanted_streams(
        &self,
        index: usize,
        (elements, width): (usize, usize),
        order: Option<&[u16]>,
        mut f: impl FnMut(usize, Stream<'a>) -> Result<()>,
    ) -> Result<()> {
        let (mut at, end) = self.bounds(index)?;
        for k in 0..width {
            let stream = self.chunk.stream(&mut at, end, elements)?;
            if order.is_none_or(|order| order.iter().any(|&wanted| usize::from(wanted) == k)) {
                f(k, stream)?;
            }
        }
        Ok(())
    }

    /// Decodes the first `need` of the `len` bytes of a stream. `out` has room for all, and is clobbered after those.
    #[inline]
    fn stream(
        &self,
        stream: Stream<'_>,
        out: &mut [u8],
        len: usize,
        need: usize,
        contexts: &mut Contexts,
    ) -> Result<()> {
        match stream {
            Stream::Run(byte) => out[..need].fill(byte),
            Stream::Stored(bytes) => out[..need].copy_from_slice(&bytes[..need]),
            Stream::Coded(bytes) => {
                if !self.codec.decode(bytes, out, len, need, contexts) {
                    return Err(self.damaged("a stream does not decode to its length"));
                }
            }
        }
        Ok(())
    }

    /// Decodes block `index` with all filters undone into `Buffers::rows`; block 0 of a chunk of differences into
    /// `Buffers::reference`.
    fn block(&mut self, index: usize, buffers: &mut Buffers) -> Result<()> {
        if self.delta && !self.has_reference {
            let len = self.chunk.block_len(0);
            self.unfiltered(0, buffers)?;
            std::mem::swap(&mut buffers.rows, &mut buffers.reference);
            undo_first_delta(&mut buffers.reference[..len], delta_width(self.chunk.type_size));
            self.has_reference = true;
        }
        if self.delta && index == 0 {
            return Ok(());
        }
        self.unfiltered(index, buffers)?;
        if self.delta {
            let len = self.chunk.block_len(index);
            let whole = len - len % delta_width(self.chunk.type_size);
            for (byte, reference) in buffers.rows[..whole].iter_mut().zip(&buffers.reference) {
                *byte ^= reference;
            }
        }
        Ok(())
    }

    /// Decodes block `index` with all filters but the difference undone into `Buffers::rows`.
    fn unfiltered(&self, index: usize, buffers: &mut Buffers) -> Result<()> {
        let len = self.chunk.block_len(index);
        self.decode(index, len, buffer(&mut buffers.rows, len), &mut buffers.contexts)?;
        for step in self.steps.iter().flatten() {
            std::mem::swap(&mut buffers.rows, &mut buffers.streams);
            let dst = buffer(&mut buffers.rows, len);
            self.undo(*step, &buffers.streams[..len], dst, &mut buffers.transposed);
        }
        Ok(())
    }

    /// Undoes one filter.
    fn undo(&self, step: Step, src: &[u8], dst: &mut [u8], transposed: &mut Vec<u8>) {
        match step {
            Step::Unshuffle(width) => Kernels::fastest().unshuffle(width, src, dst, Stores::Cached),
            Step::BitUnshuffle => {
                let width = self.chunk.type_size;
                // Format 2 left a block alone unless it was a multiple of eight elements.
                if self.chunk.version == 2 && !(src.len() / width).is_multiple_of(8) {
                    dst.copy_from_slice(src);
                } else {
                    Kernels::fastest().bitunshuffle(width, src, dst, transposed);
                }
            }
        }
    }
}

/// One past the last byte that a block from `start` on can have in a chunk of `stored` bytes: where the next one starts, in whatever order they are.
pub(super) fn stored_end(chunk: &Chunk<'_>, start: usize, stored: usize) -> Result<usize> {
    let mut end = stored;
    for index in 0..chunk.blocks() {
        let other = chunk.block_start(index)?;
        if other > start {
            end = end.min(other);
        }
    }
    Ok(end)
}

/// Fills a buffer with the block.
struct Fill<'a>(&'a mut [u8]);

impl User for Fill<'_> {
    #[inline]
    fn take<S: Source>(&mut self, source: &S) {
        source.copy(0, self.0);
    }
}

/// Undoes the differences between neighbouring elements.
fn undo_first_delta(bytes: &mut [u8], width: usize) {
    fn undo<const N: usize>(bytes: &mut [u8]) {
        let (elements, _) = bytes.as_chunks_mut::<N>();
        let mut last = [0; N];
        for element in elements {
            for (byte, last) in element.iter_mut().zip(&last) {
                *byte ^= last;
            }
            last = *element;
        }
    }
    match width {
        1 => undo::<1>(bytes),
        2 => undo::<2>(bytes),
        4 => undo::<4>(bytes),
        _ => undo::<8>(bytes),
    }
}
