//! Decoding of one block: the codec decodes its streams, then the filters are undone on the way to the
//! destination.

use super::chunk::{Chunk, Stream};
use super::codec::Codec;
use super::encode::Encoding;
use super::forward::delta_width;
use crate::codec::Contexts;
use crate::convert::{Converting, Room, User, hand};
use crate::error::{FilterError, Result};
use crate::filter::buffer;
use crate::planes::{MAX_FEW, Planes};
use crate::simd::{Kernels, Plane, Stores};
use crate::sink::{All, Sink};
use crate::source::{DecodedSource, Rows};
use crate::walk::Walk;

/// The bytes after each plane, so that wide copies need not stop at its end.
const SLACK: usize = 64;

/// The buffers and decoder states that are kept from chunk to chunk.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    /// The decoded streams of a block.
    streams: Vec<u8>,
    /// A block with its filters undone, if it cannot be written to its destination directly.
    rows: Vec<u8>,
    /// The first block, if the chunk stores differences from it.
    reference: Vec<u8>,
    /// The working memory of bit transposes.
    transposed: Vec<u8>,
    contexts: Contexts,
    /// The buffers of the encoder.
    pub(super) encoding: Encoding,
    /// How long runs of elements are written to the destination.
    pub(super) stores: Stores,
}

/// The filters to undo after the codec.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Filters {
    /// No filter.
    None,
    /// One byte shuffle, of elements of this width.
    Shuffle(usize),
    /// Any other filters, listed in `Decoder::steps`.
    Steps,
}

/// One filter to undo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UndoStep {
    Unshuffle(usize),
    BitUnshuffle,
}

/// A decoder for the blocks of one chunk.
pub(super) struct Decoder<'a> {
    chunk: Chunk<'a>,
    codec: Codec,
    filters: Filters,
    steps: [Option<UndoStep>; 6],
    /// Whether the last step undoes the difference from the first block.
    delta: bool,
    /// Whether `Buffers::reference` holds the first block of this chunk.
    has_reference: bool,
    /// Whether a block ends at the start of the next stored block. Otherwise its bounds end at the end of the
    /// chunk.
    strict: bool,
    /// The conversion of the elements.
    converting: Option<Converting<'a>>,
    room: &'a mut Room,
}

impl<'a> Decoder<'a> {
    /// Creates a decoder for a chunk of ordinary blocks. If the elements are converted, each block must hold
    /// whole elements.
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

    /// Derives the steps that undo the chunk's filters.
    fn plan(&mut self) -> Result<()> {
        let filter = self.chunk.filter;
        let unsupported = |feature: String| Err(FilterError::Unsupported { filter, feature });
        let mut steps = 0;
        for &(id, meta) in self.chunk.filters.iter().rev() {
            let step = match id {
                // Truncated precision cannot be restored.
                0 | 4 => continue,
                1 => {
                    let width = if meta == 0 { self.chunk.type_size } else { usize::from(meta) };
                    if width == 1 {
                        continue;
                    }
                    UndoStep::Unshuffle(width)
                }
                2 => UndoStep::BitUnshuffle,
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
            (1, Some(UndoStep::Unshuffle(width)), false) => Filters::Shuffle(width),
            _ => Filters::Steps,
        };
        Ok(())
    }

    /// Decodes block `index` as far as `walk` reaches, and passes the elements of the walk to `sink`.
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

    /// Decodes the first `need` bytes of block `index` and passes their elements to `user`. At a time, `user`
    /// takes a multiple of `grain` stored bytes, starting at a multiple of `grain`.
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

    /// Returns the offset of the first byte of block `index`, and an upper bound of the offset of its end.
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

    /// Decodes the streams of block `index` one after the other, up to `need` bytes. `out` is at least as
    /// long as the block, and its bytes after the first `need` are clobbered.
    fn decode(&self, index: usize, need: usize, out: &mut [u8], contexts: &mut Contexts) -> Result<()> {
        let (mut at, end) = self.bounds(index)?;
        let len = self.chunk.block_len(index);
        let streams = self.chunk.streams(index);
        let part = len / streams;
        if part * streams != len {
            return Err(self.damaged("the length of a split block is not a multiple of the element size"));
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

    /// Decodes the byte planes of block `index` that `order` names, or all planes, as far as the elements in
    /// the first `need` bytes use them.
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

    /// Returns the planes of a block with one stream for each plane, decoding only the planes that `order`
    /// names.
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
        let count = order.map_or(width, <[u16]>::len);
        if count > MAX_FEW {
            self.wanted_streams(index, (elements, width), order, |k, stream| {
                self.stream(stream, &mut streams[k * pitch..][..pitch], elements, need, contexts)
            })?;
            return Ok(Planes::of(streams, pitch, (elements, width), order, *stores));
        }
        let mut planes = [Plane::of(&[]); MAX_FEW];
        let mut outs = streams.chunks_exact_mut(pitch);
        self.wanted_streams(index, (elements, width), order, |k, stream| {
            let plane = match stream {
                Stream::Run(byte) => Plane::repeated(byte),
                Stream::Stored(bytes) => Plane::of(bytes),
                Stream::Coded(_) => {
                    let out = outs.next().unwrap_or_default();
                    self.stream(stream, out, elements, need, contexts)?;
                    Plane::of(out)
                }
            };
            match order {
                None => planes[k] = plane,
                Some(order) => {
                    let wanted =
                        planes.iter_mut().zip(order).filter(|(_, wanted)| usize::from(**wanted) == k);
                    wanted.for_each(|(place, _)| *place = plane);
                }
            }
            Ok(())
        })?;
        Ok(Planes::few(&planes, count, width, *stores))
    }

    /// Calls `f` with each stream of a split block that `order` names, or with all streams.
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

    /// Decodes the first `need` of the `len` bytes of a stream. `out` has at least `len` bytes, and its bytes
    /// after the first `need` are clobbered.
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

    /// Decodes block `index` into `Buffers::rows` and undoes all its filters. Block 0 of a chunk of
    /// differences goes to `Buffers::reference` instead.
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

    /// Decodes block `index` into `Buffers::rows` and undoes all its filters but the difference.
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
    fn undo(&self, step: UndoStep, src: &[u8], dst: &mut [u8], transposed: &mut Vec<u8>) {
        match step {
            UndoStep::Unshuffle(width) => Kernels::fastest().unshuffle(width, src, dst, Stores::Cached),
            UndoStep::BitUnshuffle => {
                let width = self.chunk.type_size;
                // Version 2 of the format does not transpose a block unless it is a multiple of eight
                // elements.
                if self.chunk.version == 2 && !(src.len() / width).is_multiple_of(8) {
                    dst.copy_from_slice(src);
                } else {
                    Kernels::fastest().bitunshuffle(width, src, dst, transposed);
                }
            }
        }
    }
}

/// Returns the greatest possible end of the block that starts at `start`, in a chunk of `stored` bytes: the
/// start of the next stored block. Blocks may be stored in any order.
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

/// A user that fills a buffer with the block.
struct Fill<'a>(&'a mut [u8]);

impl User for Fill<'_> {
    #[inline]
    fn take<S: DecodedSource>(&mut self, source: &S) {
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
