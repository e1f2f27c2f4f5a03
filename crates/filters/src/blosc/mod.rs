//! Blosc 1 and 2, implemented here because most compressed HDF5 files are read through them.

mod block;
mod blocks;
mod blosclz;
mod chunk;
mod codec;
mod encode;
mod filter;
mod forward;
mod frame;
mod msgpack;
mod nd;
mod note;
mod span;

pub(crate) use self::block::Buffers;
use self::block::Decoder;
use self::chunk::{Chunk, Pattern, Special};
use self::frame::{First, Frame};
use self::nd::Grid;
pub use self::note::{MAX_NOTE, Note, note};
pub use self::span::Spans;
use crate::convert::{Converting, Room, User, hand};
use crate::error::{FilterError, Result};
use crate::filter::{FilterId, Scratch};
use crate::gather::{Gather, Target};
use crate::repeated::hand_repeated;
use crate::sink::{All, Feed, Handed, Sink};
use crate::source::{DecodedSource, Rows};
use crate::walk::{Runs, Walk};

/// Returns whether the stored chunk of Blosc 2 has blocks that versions of c-blosc2 before 2.21.2 take in
/// another order than newer ones, so that the writer's version decides what its elements are. Looks only at
/// the header of the frame, which does not say the version.
pub fn is_order_disputed(stored: &[u8]) -> bool {
    let frame = Frame::parse(stored, stored.len(), name(FilterId::BLOSC2));
    frame.is_ok_and(|frame| frame.grid.is_some_and(|grid| grid.is_disputed()))
}

/// The Blosc 1 or Blosc 2 filter of one dataset.
#[derive(Debug, Clone)]
pub struct Blosc {
    id: FilterId,
    /// The bytes of the dataset's chunks.
    chunk_bytes: usize,
    /// The encoding parameters, as stored in the file. Decoding does not use them.
    parameters: Parameters,
}

/// The values of the client data.
#[derive(Debug, Clone)]
struct Parameters {
    type_size: usize,
    /// In bytes, or 0 for the usual size.
    block_size: usize,
    level: u32,
    shuffle: u32,
    codec: u32,
    /// The chunk's shape, for n-dimensional blocks.
    shape: Vec<usize>,
}

/// A stored chunk whose headers have been read.
struct Content<'a> {
    body: Body<'a>,
    /// The decoded length of the body with padding, in bytes.
    decoded: usize,
    /// The bytes of an element, according to Blosc.
    type_size: usize,
    /// The division of the body into n-dimensional blocks, if it has them.
    grid: Option<Grid>,
}

enum Body<'a> {
    Blocks(Chunk<'a>),
    Pattern(Pattern<'a>),
}

impl Blosc {
    /// Creates the filter with the number `id` (32001 or 32026) and these parameters, for chunks of
    /// `chunk_bytes`.
    pub fn new(id: FilterId, client_data: &[u32], element_size: usize, chunk_bytes: usize) -> Result<Self> {
        let value = |at: usize, default: u32| client_data.get(at).copied().unwrap_or(default);
        let size = |value: u32| usize::try_from(value).unwrap_or(usize::MAX);
        let type_size = match size(value(2, 0)) {
            0 => element_size,
            type_size => type_size,
        };
        let blosc2 = id == FilterId::BLOSC2;
        let rank = if blosc2 { size(value(7, 0)) } else { 0 };
        let shape = client_data.get(8..).and_then(|shape| shape.get(..rank));
        if rank > 0 && shape.is_none() {
            return Err(FilterError::Parameter {
                filter: name(id),
                parameter: "chunk rank",
                value: rank as u64,
                expected: "a length for each dimension",
            });
        }
        let parameters = Parameters {
            type_size: type_size.max(1),
            block_size: if blosc2 { size(value(1, 0)) } else { 0 },
            level: value(4, 5),
            shuffle: value(5, 1),
            codec: value(6, 0),
            shape: shape.unwrap_or(&[]).iter().map(|&extent| size(extent)).collect(),
        };
        Ok(Self { id, chunk_bytes, parameters })
    }

    /// Decodes the whole chunk into the front of `dst`, and returns the decoded length in bytes.
    pub fn decode_into(&self, stored: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<usize> {
        let (buffers, room) = (&mut scratch.blosc, &mut scratch.room);
        buffers.stores = scratch.stores;
        let content = self.open(stored, buffers)?;
        let len = match &content.grid {
            Some(grid) => grid.elements().and_then(|n| n.checked_mul(content.type_size)),
            None => Some(content.decoded),
        };
        let available = dst.len();
        let Some(dst) = len.and_then(|len| dst.get_mut(..len)) else {
            return Err(self.length(available, len));
        };
        match &content.grid {
            None => content.copy_bytes(&Walk::bytes(dst.len()), None, dst, buffers, room)?,
            Some(grid) => {
                let (shape, axes) = (grid.shape(), grid.axes(content.type_size));
                let gather = Gather::new(content.type_size, shape, &axes[..shape.len()], 0);
                content.copy_blocks(grid, &gather, None, dst, buffers, room)?;
            }
        }
        Ok(dst.len())
    }

    /// Copies the selected elements of the chunk to their destinations. Decodes only the blocks that hold
    /// them, and of these blocks only the streams that are needed.
    ///
    /// Only the bytes of `stored` that [`Blosc::spans`] names for the same selection need to be valid.
    pub fn scatter_into<T: Target + ?Sized>(
        &self,
        stored: &[u8],
        gather: &Gather<'_>,
        target: &mut T,
        scratch: &mut Scratch,
    ) -> Result<()> {
        self.hand_on(stored, gather, gather.converting(), target, scratch)
    }

    /// As [`Pipeline::blocks`](crate::Pipeline::blocks), for the blocks that the selection touches. Only the
    /// bytes of `stored` that [`Blosc::spans`] names for the same selection need to be valid.
    pub fn blocks(
        &self,
        stored: &[u8],
        gather: &Gather<'_>,
        scratch: &mut Scratch,
        f: &mut dyn FnMut(Handed<'_>),
    ) -> Result<()> {
        Feed::with(gather, scratch, f, |gather, converting, feed, scratch| {
            self.hand_on(stored, gather, converting, feed, scratch)
        })
    }

    pub(crate) fn hand_on<K: Sink + ?Sized>(
        &self,
        stored: &[u8],
        gather: &Gather<'_>,
        converting: Option<Converting<'_>>,
        sink: &mut K,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let (buffers, room) = (&mut scratch.blosc, &mut scratch.room);
        buffers.stores = gather.stores();
        let content = self.open(stored, buffers)?;
        match &content.grid {
            None => {
                if content.decoded != self.chunk_bytes {
                    return Err(self.length(self.chunk_bytes, Some(content.decoded)));
                }
                let Some(walk) = Walk::of(gather) else { return Ok(()) };
                let any_bytes = K::IS_MEMORY && converting.is_none();
                if any_bytes || content.has_whole(gather.element_size) {
                    return content.copy_bytes(&walk, converting, sink, buffers, room);
                }
            }
            Some(grid) if content.type_size == gather.element_size && grid.shape() == gather.chunk_shape => {
                return content.copy_blocks(grid, gather, converting, sink, buffers, room);
            }
            // The array's description differs from the dataset's, but may have as many bytes.
            Some(_) => {}
        }
        let mut whole = std::mem::take(&mut scratch.filter[0]);
        whole.resize(self.chunk_bytes, 0);
        let decoded = self.decode_into(stored, &mut whole, scratch);
        let result = decoded.and_then(|len| {
            if len != whole.len() {
                return Err(self.length(whole.len(), Some(len)));
            }
            if let Some(walk) = Walk::of(gather) {
                hand(&Rows(&whole), converting, &mut scratch.room, &mut All { walk: &walk, sink });
            }
            Ok(())
        });
        scratch.filter[0] = whole;
        result
    }

    fn name(&self) -> &'static str {
        name(self.id)
    }

    fn length(&self, expected: usize, found: Option<usize>) -> FilterError {
        let found = found.map_or(u64::MAX, |found| found as u64);
        FilterError::Length { filter: self.name(), expected: expected as u64, found }
    }

    fn damaged(&self, what: &'static str) -> FilterError {
        FilterError::damaged(self.name(), what)
    }

    /// Finds the one chunk in `stored`.
    fn open<'a>(&self, stored: &'a [u8], buffers: &mut Buffers) -> Result<Content<'a>> {
        let filter = self.name();
        if self.id == FilterId::BLOSC {
            return Content::of(Chunk::parse(stored, filter)?, None);
        }
        let frame = Frame::parse(stored, stored.len(), filter)?;
        let only = match stored.get(frame.header..) {
            Some(rest) if frame.stored > 0 => Chunk::parse(rest, filter).ok(),
            _ => None,
        };
        if let Some(chunk) = only.filter(|chunk| frame.is_only(chunk.bytes.len())) {
            return Content::of(chunk, frame.grid.as_ref());
        }
        match self.first(&frame, stored, buffers)? {
            First::At(at) => {
                let rest = stored.get(at..frame.len).ok_or(self.damaged("the chunk is outside the frame"))?;
                Content::of(Chunk::parse(rest, filter)?, frame.grid.as_ref())
            }
            First::Special(special) => {
                let pattern = match special {
                    Special::NaN => chunk::nan(frame.type_size, filter)?,
                    _ => Pattern::Zero,
                };
                let decoded = frame.chunk_size.min(frame.decoded);
                let type_size = match &frame.grid {
                    Some(grid) => item_size(grid, frame.block_size, decoded, filter)?,
                    None => frame.type_size,
                };
                Ok(Content { body: Body::Pattern(pattern), decoded, type_size, grid: frame.grid })
            }
        }
    }

    /// Looks up the first chunk of a frame in the frame's offsets.
    fn first(&self, frame: &Frame, stored: &[u8], buffers: &mut Buffers) -> Result<First> {
        let offsets =
            stored.get(frame.offsets()..frame.len).ok_or(self.damaged("the frame has no chunk offsets"))?;
        let content = Content::of(Chunk::parse(offsets, self.name())?, None)?;
        let mut first = [0; 8];
        // Each chunk has one offset of 8 bytes.
        let most = frame.decoded.div_ceil(frame.chunk_size.max(1)).saturating_mul(first.len());
        if content.decoded < first.len() || content.decoded > most.max(first.len()) {
            return Err(self.damaged("the offsets are not those of the frame's chunks"));
        }
        content.copy_bytes(&Walk::bytes(8), None, &mut first[..], buffers, &mut Room::default())?;
        frame.first(i64::from_le_bytes(first), self.name())
    }
}

impl<'a> Content<'a> {
    fn of(chunk: Chunk<'a>, grid: Option<&Grid>) -> Result<Self> {
        let body = match chunk.pattern()? {
            Some(pattern) => Body::Pattern(pattern),
            None => Body::Blocks(chunk),
        };
        let type_size = match grid {
            Some(grid) => item_size(grid, chunk.block_size, chunk.decoded, chunk.filter)?,
            None => chunk.type_size,
        };
        Ok(Self { body, decoded: chunk.decoded, type_size, grid: grid.copied() })
    }

    /// Returns whether no element extends over two blocks.
    fn has_whole(&self, element_size: usize) -> bool {
        match &self.body {
            Body::Pattern(_) => true,
            Body::Blocks(chunk) => chunk.block_size.is_multiple_of(element_size) || chunk.blocks() < 2,
        }
    }

    /// Passes the elements of `walk` to `sink`, from a chunk that is a row of bytes.
    fn copy_bytes<K: Sink + ?Sized>(
        &self,
        walk: &Walk,
        converting: Option<Converting<'_>>,
        sink: &mut K,
        buffers: &mut Buffers,
        room: &mut Room,
    ) -> Result<()> {
        // A chunk of no bytes has no blocks.
        if walk.source_end() == 0 {
            return Ok(());
        }
        let chunk = match &self.body {
            Body::Pattern(pattern) => {
                hand_repeated(pattern.bytes(), converting, room, &mut All { walk, sink });
                return Ok(());
            }
            Body::Blocks(chunk) => *chunk,
        };
        let mut decoder = Decoder::new(chunk, span::is_sparse(&chunk, walk), converting, room)?;
        let grain = greatest_common_divisor(walk.element_size(), chunk.block_size);
        let end = walk.source_end();
        let mut runs = walk.runs();
        while let Some(position) = runs.position() {
            let index = position / chunk.block_size;
            let start = index * chunk.block_size;
            let block = start..start + chunk.block_len(index);
            if K::IS_MEMORY
                && converting.is_none()
                && let Some(run) = runs.whole(&block)
                && let Some(out) = sink.place(run)
            {
                decoder.whole(index, out, buffers)?;
                continue;
            }
            let mut pieces = Pieces { runs: &mut runs, start, end: block.end, sink };
            decoder.with(index, end.min(block.end) - start, grain, buffers, &mut pieces)?;
        }
        Ok(())
    }

    /// Passes the selected elements to `sink`, from a chunk of n-dimensional blocks.
    fn copy_blocks<K: Sink + ?Sized>(
        &self,
        grid: &Grid,
        gather: &Gather<'_>,
        converting: Option<Converting<'_>>,
        sink: &mut K,
        buffers: &mut Buffers,
        room: &mut Room,
    ) -> Result<()> {
        match &self.body {
            Body::Pattern(pattern) => {
                if let Some(walk) = Walk::of(gather) {
                    hand_repeated(pattern.bytes(), converting, room, &mut All { walk: &walk, sink });
                }
                Ok(())
            }
            Body::Blocks(chunk) => {
                let strict = span::is_sparse_grid(chunk, grid, gather);
                let mut decoder = Decoder::new(*chunk, strict, converting, room)?;
                grid.visit(gather, |index, walk| decoder.copy(index, walk, sink, buffers))
            }
        }
    }
}

/// Returns the bytes of an element of an array whose chunk decodes to `decoded` bytes in blocks of
/// `block_size`.
fn item_size(grid: &Grid, block_size: usize, decoded: usize, filter: &'static str) -> Result<usize> {
    let item_size = grid.item_size(block_size).filter(|_| grid.padded(block_size) == Some(decoded));
    item_size.ok_or(FilterError::damaged(filter, "the chunk's length does not match the b2nd shape"))
}

/// Returns the filter's name in errors.
fn name(id: FilterId) -> &'static str {
    if id == FilterId::BLOSC { "Blosc" } else { "Blosc2" }
}

/// The pieces of runs that are in one block.
struct Pieces<'a, 'r, K: ?Sized> {
    runs: &'a mut Runs<'r>,
    /// The bounds of the block in the chunk.
    start: usize,
    end: usize,
    sink: &'a mut K,
}

impl<K: Sink + ?Sized> User for Pieces<'_, '_, K> {
    #[inline]
    fn take<S: DecodedSource>(&mut self, source: &S) {
        while let Some(run) = self.runs.before(self.end) {
            self.sink.piece(run, run.source - self.start, source);
        }
    }
}

/// Returns the greatest common divisor of two numbers that are not both zero.
fn greatest_common_divisor(mut a: usize, mut b: usize) -> usize {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
