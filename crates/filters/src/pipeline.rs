//! A chain of filters, prepared once for a dataset (spec IV.A.2.l).
//!
//! Filters encode in their order and decode against it. With n active filters, n - 1 intermediate results alternate between
//! two scratch buffers and the last one goes to its destination. An intermediate result gets as much room as the encoded
//! form of the destination's bytes can need (`Filter::decode_bound` of the filters that are still to be undone): what a
//! chunk says of itself never decides how much is allocated. What only adds bytes at the end (Fletcher32) does so in place.

use std::sync::Arc;

use crate::blosc::Blosc;
use crate::convert::{Converting, hand};
use crate::error::{FilterError, Result};
use crate::filter::{Encoded, Filter, FilterId, Scratch, buffer};
use crate::gather::{Gather, Rows, Target, Walk};
use crate::planes::Planes;
use crate::registry::{Parameters, Registry, registered_name};
use crate::simd::Stores;
use crate::sink::{All, Feed, Sink};

/// The filters of a dataset, in the order in which they encode.
#[derive(Debug, Clone, Default)]
pub struct Pipeline {
    stages: Vec<Stage>,
}

/// One filter as a dataset names it.
#[derive(Debug, Clone, Copy)]
pub struct StageSpec<'a> {
    /// Its registered number.
    pub id: FilterId,
    /// Its name, if the file has it.
    pub name: Option<&'a str>,
    /// Flags; bit 0: optional.
    pub flags: u16,
    /// Its parameters.
    pub client_data: &'a [u32],
}

/// One filter of a pipeline.
#[derive(Debug, Clone)]
pub struct Stage {
    id: FilterId,
    optional: bool,
    /// Or why it cannot be made. That is an error only for a chunk that needs it: the rest of the dataset stays readable.
    filter: Result<Arc<dyn Filter>>,
}

/// Which filters a chunk is stored without: bit i is the i-th filter of the pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct FilterMask(pub u32);

impl FilterMask {
    /// Every filter was applied.
    pub const NONE_SKIPPED: Self = Self(0);
    /// No filter was applied.
    pub const ALL_SKIPPED: Self = Self(u32::MAX);

    /// Whether the chunk is stored without filter `index`.
    pub const fn skips(self, index: usize) -> bool {
        index < u32::BITS as usize && self.0 >> index & 1 != 0
    }

    /// The same without filter `index` as well.
    #[must_use]
    pub const fn skipping(self, index: usize) -> Self {
        if index < u32::BITS as usize { Self(self.0 | 1 << index) } else { self }
    }
}

impl Stage {
    /// Its registered number.
    pub fn id(&self) -> FilterId {
        self.id
    }

    /// Whether a chunk may be stored without it when it fails.
    pub fn is_optional(&self) -> bool {
        self.optional
    }

    /// The filter, or why it cannot be used.
    pub fn filter(&self) -> Result<&dyn Filter> {
        self.filter.as_deref().map_err(Clone::clone)
    }

    fn name(&self) -> &'static str {
        registered_name(self.id).unwrap_or("a filter without a registered name")
    }

    /// Encodes the `len` bytes at `place`: where the result is and how long, or `None` if it is not worth storing.
    fn encode(
        &self,
        raw: &[u8],
        place: Place,
        len: usize,
        buffers: &mut [Vec<u8>; 2],
        scratch: &mut Scratch,
    ) -> Result<Option<(Place, usize)>> {
        let filter = self.filter()?;
        let (src, (number, spare)) = place.and_spare(raw, buffers);
        let src = &src[..len];
        if let Place::Buffer(number) = place
            && let Some(appended) = filter.appended(src)
        {
            let end = len + appended.len();
            buffer(&mut buffers[number], end)[len..].copy_from_slice(&appended);
            return Ok(Some((place, end)));
        }
        let room = buffer(spare, filter.encode_bound(len));
        Ok(match filter.encode_into(src, room, scratch)? {
            Encoded::Stored(len) => Some((Place::Buffer(number), len)),
            Encoded::Skipped => None,
        })
    }
}

impl Pipeline {
    /// The most filters, as a chunk's mask has 32 bits.
    pub const MAX_FILTERS: usize = 32;

    /// Prepares the filters for chunks of `chunk_bytes`. A filter that is not available or has wrong parameters is no error
    /// here, but when a chunk needs it (or see `unavailable`).
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

    /// Whether there are no filters: chunks are stored as they are.
    pub fn is_empty(&self) -> bool {
        self.stages.is_empty()
    }

    /// The filters, in the order in which they encode.
    pub fn filters(&self) -> &[Stage] {
        &self.stages
    }

    /// Why the first filter that cannot be used cannot be used.
    pub fn unavailable(&self) -> Option<&FilterError> {
        self.stages.iter().find_map(|stage| stage.filter.as_ref().err())
    }

    /// Whether a chunk with this mask is stored as it is.
    pub fn is_identity(&self, mask: FilterMask) -> bool {
        self.active(mask).next().is_none()
    }

    /// Blosc, if a chunk with this mask is encoded by that alone: then parts of it can be decoded.
    pub fn as_blosc(&self, mask: FilterMask) -> Option<&Blosc> {
        let mut active = self.active(mask);
        let (_, stage) = active.next()?;
        if active.next().is_some() {
            return None;
        }
        stage.filter.as_ref().ok()?.as_blosc()
    }

    /// Decodes a chunk. It must give exactly as many bytes as `dst` has.
    pub fn decode_into(
        &self,
        mask: FilterMask,
        stored: &[u8],
        dst: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        self.decode(mask, stored, dst, scratch, Stores::Cached)
    }

    /// The same, written as `stores` says where a filter has the choice.
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

    /// Decodes a chunk and copies its selected elements to their places. Shuffled elements are put together there, without
    /// a pass through memory between. `room` is as long as the chunk, and clobbered.
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

    /// Decodes a chunk and hands its selected elements to `f`, converted as the selection says, while they are in the cache:
    /// runs of whole elements that follow each other in the chunk, of 64 KiB at most unless one element is longer, and where
    /// the first of them is in the chunk, in bytes. Runs ascend, but for chunks of n-dimensional blocks, of which one comes
    /// after the other. Places in a destination are not looked at. `room` is as long as the chunk, and clobbered.
    pub fn blocks(
        &self,
        mask: FilterMask,
        stored: &[u8],
        room: &mut [u8],
        gather: &Gather<'_>,
        scratch: &mut Scratch,
        f: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<()> {
        Feed::with(gather, scratch, f, |gather, converting, feed, scratch| {
            self.hand_on(mask, stored, room, gather, converting, feed, scratch)
        })
    }

    #[allow(clippy::too_many_arguments)] // those of the two above
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

    /// If the last filter to be undone is a shuffle of elements that can be put together on their way: its number, and their
    /// size.
    fn shuffle(&self, mask: FilterMask) -> Option<(usize, usize)> {
        let (index, stage) = self.active(mask).next()?;
        let size = stage.filter.as_ref().ok()?.as_shuffle()?;
        (size > 1).then_some((index, size))
    }

    /// Encodes a chunk: its stored form, and the mask that goes with it. A filter that is not optional and does not take the
    /// chunk is an error.
    pub fn encode<'s>(&self, raw: &'s [u8], scratch: &'s mut Scratch) -> Result<(&'s [u8], FilterMask)> {
        let mut buffers = std::mem::take(&mut scratch.pipeline);
        let encoded = self.encode_with(raw, scratch, &mut buffers);
        scratch.pipeline = buffers;
        let (place, len, mask) = encoded?;
        let stored = match place {
            Place::Given => raw,
            Place::Buffer(k) => &scratch.pipeline[k][..len],
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
        let (mut place, mut len) = (Place::Given, stored.len());
        for (index, stage) in self.active(mask).rev() {
            let filter = stage.filter()?;
            let (src, (number, spare)) = place.and_spare(stored, buffers);
            let src = &src[..len];
            let mut earlier = self.active(mask).take_while(|&(earlier, _)| earlier < index).peekable();
            if earlier.peek().is_none() {
                // Only the last result goes to memory; those before it stay in a cache until the next filter.
                scratch.stores = stores;
                let written = filter.decode_into(src, dst, scratch);
                scratch.stores = Stores::Cached;
                return self.check_length(index, dst.len(), written?);
            }
            if let Some(kept) = filter.kept(src) {
                len = kept?;
                continue;
            }
            let mut room = dst.len();
            for (_, stage) in earlier {
                room = stage.filter()?.decode_bound(room);
            }
            len = filter.decode_into(src, buffer(spare, room), scratch)?;
            place = Place::Buffer(number);
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
    ) -> Result<(Place, usize, FilterMask)> {
        let (mut place, mut len, mut mask) = (Place::Given, raw.len(), FilterMask::NONE_SKIPPED);
        for (index, stage) in self.stages.iter().enumerate() {
            match stage.encode(raw, place, len, buffers, scratch) {
                Ok(Some(encoded)) => (place, len) = encoded,
                Ok(None) | Err(_) if stage.optional => mask = mask.skipping(index),
                Ok(None) => return Err(FilterError::Declined { filter: stage.name() }),
                Err(error) => return Err(error),
            }
        }
        Ok((place, len, mask))
    }

    /// The filters that a chunk with this mask is encoded by.
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

/// Where the bytes are that the next filter works on.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// Where the caller gave them.
    Given,
    /// In a scratch buffer.
    Buffer(usize),
}

impl Place {
    /// These bytes, and a buffer with its number that they are not in.
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
