//! Stored bytes of several neighbouring chunks in one batch, near ones in one request.

use std::ops::Range;

use hyperslab_format::Extent;
use smallvec::SmallVec;

use super::ranges::RAW_DATA;
use crate::driver::{Hints, ReadRequest};
use crate::engine::scratch::sized;
use crate::error::{Error, Result};
use crate::store::Store;

/// Those of the extents from the first on that are worth reading together: small ones, until they are enough for one batch.
pub(in crate::engine) fn group(extents: impl Iterator<Item = Option<Extent>>) -> SmallVec<[Extent; 16]> {
    let mut total = 0;
    let mut group = SmallVec::new();
    for extent in extents.take(GROUP_CHUNKS) {
        let Some(extent) = extent else { break };
        total += extent.len;
        if !is_small(extent) || total > GROUP_BYTES {
            break;
        }
        group.push(extent);
    }
    group
}

/// Whether a chunk is worth reading with others.
pub(in crate::engine) fn is_small(extent: Extent) -> bool {
    extent.len <= SMALL_BYTES
}

/// Reads `extents` (in ascending order) into `buffer`; says where in it each lies.
pub(in crate::engine) fn batch(
    store: &Store,
    extents: &[Extent],
    buffer: &mut Vec<u8>,
) -> Result<Vec<Range<usize>>> {
    let hints = store.hints();
    let mut spans: Vec<Extent> = Vec::with_capacity(extents.len());
    let mut places = Vec::with_capacity(extents.len());
    let mut filled = 0;
    for &extent in extents {
        let len = store.check(extent, RAW_DATA)?;
        let joined = spans.last_mut().and_then(|last| {
            let more = extending(*last, extent, hints)?;
            last.len += more;
            usize::try_from(more).ok()
        });
        filled += joined.unwrap_or(len);
        if joined.is_none() {
            spans.push(extent);
        }
        places.push(filled - len..filled);
    }
    let mut rest = sized(buffer, filled)?;
    let mut requests = Vec::with_capacity(spans.len());
    for span in spans {
        // The sum of all spans is `filled`, a `usize`.
        let (dst, after) = rest.split_at_mut(usize::try_from(span.len).unwrap_or(0));
        requests.push(ReadRequest { offset: store.base().saturating_add(span.addr.get()), dst });
        rest = after;
    }
    let first = requests.first().map_or(0, |request| request.offset);
    store.check_readable()?;
    store.driver()?.read_batch(&mut requests).map_err(Error::io("read", first, filled as u64))?;
    Ok(places)
}

/// How many bytes `span` must grow by to end with `extent`, if that is worth while.
fn extending(span: Extent, extent: Extent, hints: Hints) -> Option<u64> {
    let end = span.end()?;
    let gap = extent.addr.get().checked_sub(end.get())?;
    let more = gap.checked_add(extent.len)?;
    (gap <= hints.coalesce_gap && span.len.checked_add(more)? <= hints.max_span).then_some(more)
}

/// A chunk of more bytes is read alone: the call costs little beside it, and its buffer stays in the cache.
const SMALL_BYTES: u64 = 32 << 10;
/// As much as a worker reads before it decodes.
const GROUP_BYTES: u64 = 256 << 10;
/// As many chunks as it takes at a time.
const GROUP_CHUNKS: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab_format::Addr;

    #[test]
    fn small_extents_are_grouped_until_they_are_enough_and_large_ones_stay_alone() {
        let extent = |len| Some(Extent::new(Addr::new(0), len));
        assert_eq!(group(std::iter::repeat_n(extent(64), 1000)).len(), GROUP_CHUNKS);
        assert_eq!(group(std::iter::repeat_n(extent(30 << 10), 1000)).len(), 8);
        assert_eq!(group([extent(1 << 20); 3].into_iter()).len(), 0);
        assert_eq!(group([extent(64), None, extent(64)].into_iter()).len(), 1);
    }

    #[test]
    fn near_extents_become_one_request() {
        let hints = Hints { coalesce_gap: 10, prefetch_gap: 0, max_span: 100, concurrent: true };
        let at = |addr, len| Extent::new(Addr::new(addr), len);
        assert_eq!(extending(at(0, 20), at(25, 5), hints), Some(10));
        assert_eq!(extending(at(0, 20), at(31, 5), hints), None, "too far");
        assert_eq!(extending(at(0, 20), at(20, 90), hints), None, "too long");
        assert_eq!(extending(at(0, 20), at(10, 20), hints), None, "overlapping");
    }
}
