//! A chain of filters, prepared once for a dataset (spec IV.A.2.l).
//!
//! Filters encode in order and decode in reverse order. With n active filters, n - 1 intermediate results
//! alternate between two scratch buffers, and the last result goes to its destination. The length of an
//! intermediate buffer is the most that the encoded form of the destination's bytes can have
//! (`Filter::decode_bound` of the filters that are still to be undone). Sizes stored in a chunk therefore
//! never decide how much is allocated. A filter that only appends bytes (Fletcher32) works in place.

use std::sync::Arc;

use crate::blosc::Blosc;
use crate::convert::{Converting, hand};
use crate::error::{FilterError, Result};
use crate::filter::{Encoded, Filter, FilterId, Scratch, buffer, expansion_bound};
use crate::gather::{Gather, Target};
use crate::planes::Planes;
use crate::registry::{Parameters, Registry, registered_name};
use crate::simd::Stores;
use crate::sink::{All, Feed, Handed, Sink};
use crate::source::Rows;
use crate::walk::Walk;

/// The filters of a dataset, in the order in which they encode.
#[derive(Debug, Clone, Default)]
pub struct Pipeline {
    stages: Vec<Stage>,
}

/// One filter as a dataset describes it.
#[derive(Debug, Clone, Copy)]
pub struct StageSpec<'a> {
    /// The filter's registered number.
    pub id: FilterId,
    /// The filter's name, if the file stores one.
    pub name: Option<&'a str>,
    /// The flags. Bit 0: the filter is optional.
    pub flags: u16,
    /// The filter's parameters.
    pub client_data: &'a [u32],
}

/// One filter of a pipeline.
#[derive(Debug, Clone)]
pub struct Stage {
    id: FilterId,
    optional: bool,
    /// The filter, or the error that its construction gave. The error is returned only for a chunk that needs
    /// the filter, so the rest of the dataset stays readable.
    filter: Result<Arc<dyn Filter>>,
}

/// The filters that were skipped when a chunk was stored: bit i is the i-th filter of the pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct FilterMask(pub u32);

impl FilterMask {
    /// Every filter was applied.
    pub const NONE_SKIPPED: Self = Self(0);
    /// No filter was applied.
    pub const ALL_SKIPPED: Self = Self(u32::MAX);

    /// Returns whether the chunk is stored without filter `index`.
    pub const fn skips(self, index: usize) -> bool {
        index < u32::BITS as usize && self.0 >> index & 1 != 0
    }

    /// Returns the mask with filter `index` skipped as well.
    #[must_use]
    pub const fn skipping(self, index: usize) -> Self {
        if index < u32::BITS as usize { Self(self.0 | 1 << index) } else { self }
    }
}

impl Stage {
    /// Returns the filter's registered number.
    pub fn id(&self) -> FilterId {
        self.id
    }

    /// Returns whether a chunk may be stored without the filter if encoding fails.
    pub fn is_optional(&self) -> bool {
        self.optional
    }

    /// Returns the filter, or the reason why it cannot be used.
    pub fn filter(&self) -> Result<&dyn Filter> {
        self.filter.as_deref().map_err(Clone::clone)
    }

    fn name(&self) -> &'static str {
        registered_name(self.id).unwrap_or("a filter without a registered name")
    }

    /// Encodes the `len` bytes at `place`. Returns the place and length of the result, or `None` if the
    /// filter skips the chunk.
    fn encode(
        &self,
        raw: &[u8],
        place: InputBuffer,
        len: usize,
        buffers: &mut [Vec<u8>; 2],
        scratch: &mut Scratch,
    ) -> Result<Option<(InputBuffer, usize)>> {
        let filter = self.filter()?;
        let (src, (number, spare)) = place.and_spare(raw, buffers);
        let src = &src[..len];
        if let InputBuffer::Buffer(number) = place
            && let Some(appended) = filter.appended(src)
        {
            let end = len + appended.len();
            buffer(&mut buffers[number], end)[len..].copy_from_slice(&appended);
            return Ok(Some((place, end)));
        }
        let room = buffer(spare, filter.encode_bound(len));
        Ok(match filter.encode_into(src, room, scratch)? {
            Encoded::Stored(len) => Some((InputBuffer::Buffer(number), len)),
            Encoded::Skipped => None,
        })
    }
}

impl Pipeline {
    /// The most filters of a pipeline. A chunk's mask has 32 bits.
    pub const MAX_FILTERS: usize = 32;

    /// Prepares the filters for chunks of `chunk_bytes`. A filter that is not available or has wrong
    /// parameters is not an error here, but for a chunk that needs the filter.
    pub fn new(
        specs: &[StageSpec<'_>],
        element_size: usize,
        chunk_bytes: usize,
        registry: &Registry,
    ) -> Result<Self> {
        if specs.len() > Self::MAX_FILTERS {
            let value = specs.len() as u64;
            return Err(FilterError::Parameter {
                filter: "pipeline",
                parameter: "number of filters",
                value,
                expected: "at most 32",
            });
        }
        let prepare = |spec: &StageSpec<'_>| {
            let parameters = Parameters { client_data: spec.client_data, element_size, chunk_bytes };
            let filter = registry.filter(spec.id, spec.name, &parameters);
            Stage { id: spec.id, optional: spec.flags & 1 != 0, filter }
        };
        Ok(Self { stages: specs.iter().map(prepare).collect() })
    }

    /// Returns whether there are no filters, so that chunks are stored unchanged.
    pub fn is_empty(&self) -> bool {
        self.stages.is_empty()
    }

    /// Returns the filters, in the order in which they encode.
    pub fn filters(&self) -> &[Stage] {
        &self.stages
    }

    /// Returns whether a chunk with this mask is stored unchanged.
    pub fn is_identity(&self, mask: FilterMask) -> bool {
        self.active(mask).next().is_none()
    }

    /// Returns Blosc, if it is the only filter that encodes a chunk with this mask. Parts of such a chunk can
    /// be decoded.
    pub fn as_blosc(&self, mask: FilterMask) -> Option<&Blosc> {
        let mut active = self.active(mask);
        let (_, stage) = active.next()?;
        if active.next().is_some() {
            return None;
        }
        stage.filter.as_ref().ok()?.as_blosc()
    }

    /// Decodes a chunk into `dst`. A chunk that does not decode to exactly the length of `dst` is an error.
    pub fn decode_into(
        &self,
        mask: FilterMask,
        stored: &[u8],
        dst: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        self.decode(mask, stored, dst, scratch, Stores::Cached)
    }

    /// Decodes a chunk as `decode_into` does. If the last filter has a choice, it writes as `stores` says.
    pub fn decode(
        &self,
        mask: FilterMask,
        stored: &[u8],
        dst: &mut [u8],
        scratch: &mut Scratch,
        stores: Stores,
    ) -> Result<()> {
        let mut buffers = std::mem::take(&mut scratch.pipeline);
        let decoded = self.decode_with(mask, stored, dst, scratch, &mut buffers, stores);
        scratch.pipeline = buffers;
        decoded
    }

    /// Decodes a chunk and copies its selected elements to their destinations. Shuffled elements are
    /// assembled directly in the destination, without another pass through memory. `room` must be as long as
    /// the chunk, and is clobbered.
    pub fn scatter_into<T: Target + ?Sized>(
        &self,
        mask: FilterMask,
        stored: &[u8],
        room: &mut [u8],
        gather: &Gather<'_>,
        target: &mut T,
        scratch: &mut Scratch,
    ) -> Result<()> {
        self.hand_on(mask, stored, room, gather, gather.converting(), target, scratch)
    }

    /// Decodes a chunk and passes its selected elements to `f` while they are cached, converted as the
    /// selection says.
    ///
    /// Each call of `f` gets a run of whole elements that are contiguous in the chunk. Runs have at most 64
    /// KiB unless one element is longer, or all elements of a run are equal. Runs ascend, except that chunks
    /// of n-dimensional blocks are passed block by block. Destination offsets are ignored. `room` must be as
    /// long as the chunk, and is clobbered.
    pub fn blocks(
        &self,
        mask: FilterMask,
        stored: &[u8],
        room: &mut [u8],
        gather: &Gather<'_>,
        scratch: &mut Scratch,
        f: &mut dyn FnMut(Handed<'_>),
    ) -> Result<()> {
        Feed::with(gather, scratch, f, |gather, converting, feed, scratch| {
            self.hand_on(mask, stored, room, gather, converting, feed, scratch)
        })
    }

    #[allow(clippy::too_many_arguments)] // the arguments of the two functions above
    fn hand_on<K: Sink + ?Sized>(
        &self,
        mask: FilterMask,
        stored: &[u8],
        room: &mut [u8],
        gather: &Gather<'_>,
        converting: Option<Converting<'_>>,
        sink: &mut K,
        scratch: &mut Scratch,
    ) -> Result<()> {
        if let Some(blosc) = self.as_blosc(mask) {
            return blosc.hand_on(stored, gather, converting, sink, scratch);
        }
        let shuffle = self.shuffle(mask).filter(|&(_, size)| size == gather.element_size);
        let without = shuffle.map_or(mask, |(index, _)| mask.skipping(index));
        self.decode_into(without, stored, room, scratch)?;
        let Some(walk) = Walk::of(gather) else { return Ok(()) };
        let user = &mut All { walk: &walk, sink };
        let Some((_, size)) = shuffle else {
            hand(&Rows(room), converting, &mut scratch.room, user);
            return Ok(());
        };
        let order = converting.and_then(|converting| converting.planes(size));
        let elements = room.len() / size;
        let planes = Planes::of(room, elements, (elements, size), order, gather.stores());
        hand(&planes, converting.filter(|_| order.is_none()), &mut scratch.room, user);
        Ok(())
    }

    /// Returns the number of the last filter to be undone, and its element size, if it is a shuffle whose
    /// elements can be assembled in their destination.
    fn shuffle(&self, mask: FilterMask) -> Option<(usize, usize)> {
        let (index, stage) = self.active(mask).next()?;
        let size = stage.filter.as_ref().ok()?.as_shuffle()?;
        (size > 1).then_some((index, size))
    }

    /// Encodes a chunk. Returns its stored form and the mask to store with it. If a filter that is not
    /// optional cannot encode the chunk, the result is an error.
    pub fn encode<'s>(&self, raw: &'s [u8], scratch: &'s mut Scratch) -> Result<(&'s [u8], FilterMask)> {
        let mut buffers = std::mem::take(&mut scratch.pipeline);
        let encoded = self.encode_with(raw, scratch, &mut buffers);
        scratch.pipeline = buffers;
        let (place, len, mask) = encoded?;
        let stored = match place {
            InputBuffer::Given => raw,
            InputBuffer::Buffer(k) => &scratch.pipeline[k][..len],
        };
        Ok((stored, mask))
    }

    fn decode_with(
        &self,
        mask: FilterMask,
        stored: &[u8],
        dst: &mut [u8],
        scratch: &mut Scratch,
        buffers: &mut [Vec<u8>; 2],
        stores: Stores,
    ) -> Result<()> {
        let (mut place, mut len) = (InputBuffer::Given, stored.len());
        for (index, stage) in self.active(mask).rev() {
            let filter = stage.filter()?;
            let (src, (number, spare)) = place.and_spare(stored, buffers);
            let src = &src[..len];
            let mut earlier = self.active(mask).take_while(|&(earlier, _)| earlier < index).peekable();
            if earlier.peek().is_none() {
                // Only the last result is written as `stores` says. Results before it stay cached until the
                // next filter.
                scratch.stores = stores;
                let written = filter.decode_into(src, dst, scratch);
                scratch.stores = Stores::Cached;
                return self.check_length(index, dst.len(), written?);
            }
            if let Some(kept) = filter.kept(src) {
                len = kept?;
                continue;
            }
            // The bounds of many filters multiply. So the first try has room for one that cannot compress.
            let (mut room, mut most) = (expansion_bound(dst.len()), dst.len());
            for (_, stage) in earlier {
                most = stage.filter()?.decode_bound(most);
                room = room.saturating_add(4096);
            }
            let most = most.min(dst.len().saturating_mul(MOST_EXPANSION).saturating_add(1 << 20));
            len = loop {
                let decoded = filter.decode_into(src, buffer(spare, room.min(most)), scratch);
                match decoded {
                    Err(FilterError::Length { .. }) if room < most => room = room.saturating_mul(2),
                    decoded => break decoded?,
                }
            };
            place = InputBuffer::Buffer(number);
        }
        self.check_length(0, dst.len(), len)?;
        dst.copy_from_slice(stored);
        Ok(())
    }

    fn encode_with(
        &self,
        raw: &[u8],
        scratch: &mut Scratch,
        buffers: &mut [Vec<u8>; 2],
    ) -> Result<(InputBuffer, usize, FilterMask)> {
        let (mut place, mut len, mut mask) = (InputBuffer::Given, raw.len(), FilterMask::NONE_SKIPPED);
        for (index, stage) in self.stages.iter().enumerate() {
            match stage.encode(raw, place, len, buffers, scratch) {
                Ok(Some(encoded)) => (place, len) = encoded,
                // The error of a program's own code is the program's to see. A codec that was left out would
                // leave chunks as they are without a word.
                Err(error @ (FilterError::Failed { .. } | FilterError::NotBuilt { .. })) => {
                    return Err(error);
                }
                Ok(None) | Err(_) if stage.optional => mask = mask.skipping(index),
                Ok(None) => return Err(FilterError::Declined { filter: stage.name() }),
                Err(error) => return Err(error),
            }
        }
        Ok((place, len, mask))
    }

    /// Returns the filters that encode a chunk with this mask.
    fn active(&self, mask: FilterMask) -> impl DoubleEndedIterator<Item = (usize, &Stage)> {
        self.stages.iter().enumerate().filter(move |(index, _)| !mask.skips(*index))
    }

    fn check_length(&self, index: usize, expected: usize, found: usize) -> Result<()> {
        if expected == found {
            return Ok(());
        }
        let filter = self.stages.get(index).map_or("pipeline", Stage::name);
        Err(FilterError::Length { filter, expected: expected as u64, found: found as u64 })
    }
}

/// The most times that the results between filters may be longer than the chunk.
const MOST_EXPANSION: usize = 16;

/// The location of the bytes that are the next filter's input.
#[derive(Debug, Clone, Copy)]
enum InputBuffer {
    /// In the caller's slice.
    Given,
    /// In the scratch buffer with this number.
    Buffer(usize),
}

impl InputBuffer {
    /// Returns these bytes, and a scratch buffer that does not hold them, with its number.
    fn and_spare<'b>(
        self,
        given: &'b [u8],
        buffers: &'b mut [Vec<u8>; 2],
    ) -> (&'b [u8], (usize, &'b mut Vec<u8>)) {
        let [first, second] = buffers;
        match self {
            Self::Given => (given, (0, first)),
            Self::Buffer(0) => (first, (1, second)),
            Self::Buffer(_) => (second, (0, first)),
        }
    }
}
