//! Which ranges to request: parts of long requests, and neighbours together. Nothing is read here.

use std::ops::Range;

use hyperslab::driver::{Hints, Request};

/// One range to get from the server, and the parts of requests that it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Get {
    pub(crate) range: Range<u64>,
    /// Parts of requests, in the order of their offsets.
    pub(crate) parts: Vec<Part>,
}

/// A part of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// The request that it belongs to.
    pub(crate) id: u64,
    /// The offset in the file.
    pub(crate) offset: u64,
    /// The place in the memory of the request.
    pub(crate) place: Range<usize>,
}

impl Part {
    fn end(&self) -> u64 {
        self.offset + self.place.len() as u64
    }
}

/// Returns the ranges to get for `requests`, in the order of their offsets. Every range has at most
/// `hints.max_span` bytes, and at most `hints.coalesce_gap` bytes between two of its parts.
///
/// The requests end within the file, and none is empty.
pub(crate) fn plan(requests: &[Request], hints: Hints) -> Vec<Get> {
    let most = usize::try_from(hints.max_span).unwrap_or(usize::MAX);
    let mut parts: Vec<Part> = requests.iter().flat_map(|request| cut(request, most)).collect();
    parts.sort_by_key(|part| part.offset);
    let mut gets: Vec<Get> = Vec::new();
    for part in parts {
        if let Some(last) = gets.last_mut() {
            let end = last.range.end.max(part.end());
            let is_near = part.offset <= last.range.end.saturating_add(hints.coalesce_gap);
            if is_near && end - last.range.start <= hints.max_span {
                last.range.end = end;
                last.parts.push(part);
                continue;
            }
        }
        gets.push(Get { range: part.offset..part.end(), parts: vec![part] });
    }
    gets
}

/// Returns the parts of a request, of about the same length.
fn cut(request: &Request, most: usize) -> impl Iterator<Item = Part> {
    let Request { id, offset, len } = *request;
    let count = len.div_ceil(most.max(1)).max(1);
    let each = len.div_ceil(count).max(1);
    (0..len).step_by(each).map(move |start| {
        let place = start..(start + each).min(len);
        Part { id, offset: offset + start as u64, place }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HINTS: Hints = Hints { coalesce_gap: 10, max_span: 100, queue_depth: 4, concurrent: true };

    fn planned(requests: &[(u64, usize)]) -> Vec<(Range<u64>, usize)> {
        let requests: Vec<_> =
            (0..).zip(requests).map(|(id, &(offset, len))| Request { id, offset, len }).collect();
        plan(&requests, HINTS).into_iter().map(|get| (get.range, get.parts.len())).collect()
    }

    #[test]
    fn neighbours_are_one_range_unless_the_gap_or_the_range_is_too_long() {
        assert_eq!(planned(&[(0, 10), (20, 10)]), [(0..30, 2)]);
        assert_eq!(planned(&[(0, 10), (21, 10)]), [(0..10, 1), (21..31, 1)]);
        assert_eq!(planned(&[(60, 41), (0, 60)]), [(0..60, 1), (60..101, 1)]);
        assert_eq!(planned(&[(60, 40), (0, 60)]), [(0..100, 2)]);
        // A range within another, and the same range twice.
        assert_eq!(planned(&[(0, 50), (10, 5), (10, 5)]), [(0..50, 3)]);
        assert_eq!(planned(&[]), []);
    }

    #[test]
    fn a_long_request_is_cut_into_equal_parts() {
        assert_eq!(planned(&[(7, 201)]), [(7..74, 1), (74..141, 1), (141..208, 1)]);
        assert_eq!(planned(&[(7, 100)]), [(7..107, 1)]);
    }

    #[test]
    fn parts_cover_their_requests() {
        let requests = [(3, 250), (240, 30), (1000, 1)];
        let all: Vec<_> =
            (0..).zip(requests).map(|(id, (offset, len))| Request { id, offset, len }).collect();
        let mut covered = requests.map(|(_, len)| vec![0; len]);
        for get in plan(&all, HINTS) {
            assert!(get.range.end - get.range.start <= HINTS.max_span);
            for part in get.parts {
                assert!(get.range.start <= part.offset && part.end() <= get.range.end);
                let request = usize::try_from(part.id).unwrap();
                assert_eq!(part.offset, requests[request].0 + part.place.start as u64);
                covered[request][part.place].iter_mut().for_each(|times| *times += 1);
            }
        }
        assert!(covered.iter().flatten().all(|&times| times == 1));
    }
}
