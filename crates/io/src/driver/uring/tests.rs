//! Reads through rings, whether the page cache has the bytes or not.

use std::io::{ErrorKind, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;

/// A file of these bytes that are not in the page cache, read with `depth` reads at a time.
fn file(bytes: &[u8], depth: usize, direct: bool) -> Uring {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.sync_all().unwrap();
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
    let driver = Uring::new(Arc::new(Posix::new(file)), depth, direct);
    assert_eq!(driver.info().fallback, None, "the machine of the tests has rings and direct reads");
    assert_eq!(driver.info().is_direct, direct);
    driver
}

fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 31 + i / 251).to_le_bytes()[0]).collect()
}

/// Ranges to read, with the bytes that arrived. The place of a range is lost when the range arrives.
struct Ranges {
    asked: Vec<(Request, Vec<u8>, bool)>,
    next: usize,
    /// The number of ranges in progress now, and at most.
    in_progress: [usize; 2],
    panics_at: Option<u64>,
}

impl Ranges {
    fn new(ranges: &[(u64, usize)]) -> Self {
        let asked = ranges.iter().zip(0..).map(|(&(offset, len), id)| Request { id, offset, len });
        let asked = asked.map(|request| (request, vec![0; request.len], false)).collect();
        Self { asked, next: 0, in_progress: [0; 2], panics_at: None }
    }
}

impl ReadQueue for Ranges {
    fn next(&mut self) -> Option<Request> {
        let request = self.asked.get(self.next)?.0;
        self.next += 1;
        self.in_progress[0] += 1;
        self.in_progress[1] = self.in_progress[1].max(self.in_progress[0]);
        Some(request)
    }

    fn place(&mut self, id: u64) -> io::Result<&mut [u8]> {
        assert_ne!(self.panics_at, Some(id), "a panic on purpose");
        let (_, place, has_arrived) = &mut self.asked[usize::try_from(id).unwrap()];
        assert!(!*has_arrived, "range {id} arrives once");
        Ok(place)
    }

    fn arrived(&mut self, id: u64) {
        self.asked[usize::try_from(id).unwrap()].2 = true;
        self.in_progress[0] -= 1;
    }
}

#[test]
fn ranges_of_any_length_arrive_whole() {
    let bytes = bytes(1_000_003);
    let lengths = [0, 1, 3, 4096, 5000, SLOT - 1, SLOT, SLOT + 1, 300_000];
    let ranges: Vec<(u64, usize)> = (0..200_u64)
        .map(|n| (n * 104_729 % 700_000, lengths[usize::try_from(n).unwrap() % lengths.len()]))
        .chain([(999_999, 4), (0, 1_000_003), (1_000_003, 0), (995_328, 4675)])
        .collect();
    for depth in [1, 2, 7, 64] {
        for direct in [false, true] {
            let driver = file(&bytes, depth, direct);
            let mut queue = Ranges::new(&ranges);
            driver.read_through_ring(None, &mut queue).unwrap();
            for (request, read, has_arrived) in &queue.asked {
                let from = usize::try_from(request.offset).unwrap();
                assert!(
                    *has_arrived && *read == bytes[from..from + request.len],
                    "{depth} {direct} {request:?}"
                );
            }
            let kept = driver.rings().lock().len();
            assert_eq!(kept, 1, "one ring is used again");
            assert_eq!(driver.info().fallback, None, "direct reads begin and end between blocks");
        }
    }
}

#[test]
fn as_many_ranges_are_in_progress_as_the_depth_says() {
    for depth in [1, 5, 32] {
        let driver = file(&bytes(1 << 20), depth, true);
        let mut queue = Ranges::new(&(0..100).map(|n| (n * 8192, 4096)).collect::<Vec<_>>());
        driver.read_many(&mut queue).unwrap();
        assert_eq!(queue.in_progress, [0, depth]);
    }
}

#[test]
fn the_ring_is_whole_after_an_error_and_after_a_panic() {
    for direct in [false, true] {
        let driver = file(&bytes(100_000), 4, direct);
        for failing in [(99_999, 2), (100_000, 1), (1 << 40, 1), (u64::MAX, 3), (i64::MAX as u64, 1)] {
            let mut ranges = vec![(3, 4000); 8];
            ranges.insert(3, failing);
            let mut queue = Ranges::new(&ranges);
            let error = driver.read_through_ring(None, &mut queue).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::InvalidInput), "{error}");
            assert!(!queue.asked[3].2);
        }
        let mut queue =
            Ranges { panics_at: Some(2), ..Ranges::new(&[(0, 10), (50, 10), (80, 10), (90, 10)]) };
        let panicked = catch_unwind(AssertUnwindSafe(|| driver.read_through_ring(None, &mut queue)));
        assert!(panicked.is_err());
        let mut queue = Ranges::new(&[(3, 4000), (70_000, 30_000)]);
        driver.read_through_ring(None, &mut queue).unwrap();
        assert_eq!(queue.asked[0].1, bytes(100_000)[3..4003]);
        assert_eq!(queue.asked[1].1, bytes(100_000)[70_000..]);
    }
}

#[test]
fn a_long_direct_read_goes_through_a_ring_and_a_short_one_does_not() {
    let bytes = bytes(300_000);
    let driver = file(&bytes, 3, true);
    driver.rings().lock().clear();
    let mut read = vec![0; SLOT - 1];
    driver.read_at(7, &mut read).unwrap();
    assert_eq!(read, bytes[7..SLOT + 6]);
    assert!(driver.rings().lock().is_empty());
    let mut read = vec![0; 299_000];
    driver.read_at(999, &mut read).unwrap();
    assert_eq!(read, bytes[999..299_999]);
    assert_eq!(driver.rings().lock().len(), 1);
}

#[test]
fn a_file_without_direct_reads_says_so_and_is_read() {
    let driver = file(&bytes(10_000), 4, true);
    driver.refuse(&io::Error::from_raw_os_error(Errno::INVAL.raw_os_error()));
    assert!(driver.info().fallback.unwrap().contains("direct"));
    let mut queue = Ranges::new(&[(1, 9000), (5000, 5000)]);
    driver.read_many(&mut queue).unwrap();
    assert_eq!(queue.asked[0].1, bytes(10_000)[1..9001]);
    assert_eq!(queue.asked[1].1, bytes(10_000)[5000..]);
}
