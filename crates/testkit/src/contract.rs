//! The contract of [`Driver`]: tests that every driver passes, and a queue of ranges.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, as tests do")]

use std::io::ErrorKind;
use std::sync::Arc;

use hyperslab::driver::{Driver, ReadQueue, Request, WriteRequest};

/// Checks the whole contract, on drivers that `make` creates with the given contents.
pub fn keeps_the_contract(make: impl Fn(&[u8]) -> Arc<dyn Driver>) {
    keeps_the_contract_for_reads(&make);
    writing_past_the_end_grows_the_file_with_zeros(&*make(b"0123"));
    a_batch_writes_the_same_as_single_writes(&*make(b"0123456789"));
    reserving_space_changes_neither_length_nor_contents(&*make(b"0123456789"));
    set_len_truncates_and_extends_the_file(&*make(b"0123456789"));
}

/// Checks everything that the contract says of reads, on drivers that `make` creates with the given contents.
pub fn keeps_the_contract_for_reads(make: impl Fn(&[u8]) -> Arc<dyn Driver>) {
    let bytes: Vec<u8> = (0..=255).collect();
    reads_are_exact(&*make(b"0123456789"));
    reading_past_the_end_is_an_error(&*make(b"0123456789"));
    read_many_reads_each_range_once_in_any_order(&*make(&bytes));
    read_many_returns_the_error_of_a_range(&*make(&bytes));
    threads_read_at_the_same_time(&make(&bytes));
}

/// Checks reads of `0123456789`.
pub fn reads_are_exact(driver: &dyn Driver) {
    let mut bytes = [0; 4];
    driver.read_at(3, &mut bytes).unwrap();
    assert_eq!(&bytes, b"3456");
    driver.read_at(10, &mut []).unwrap();
    assert_eq!(driver.len().unwrap(), 10);
    assert!(!driver.is_empty().unwrap());
}

/// Checks that no byte is read past the end of `0123456789`.
pub fn reading_past_the_end_is_an_error(driver: &dyn Driver) {
    for offset in [7, 10, 1 << 40, u64::MAX - 1] {
        let error = driver.read_at(offset, &mut [0; 4]).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::InvalidInput),
            "{offset}: {error}"
        );
    }
}

/// Ranges to read. The last `later` ranges are requested only when another range has arrived.
#[derive(Debug)]
pub struct Ranges {
    /// The offset of each range, its bytes, and how often it has arrived.
    pub asked: Vec<(u64, Vec<u8>, usize)>,
    next: usize,
    later: usize,
}

impl Ranges {
    /// Creates a queue of ranges: their offsets and lengths.
    pub fn new(ranges: &[(u64, usize)], later: usize) -> Self {
        let asked = ranges.iter().map(|&(offset, len)| (offset, vec![0; len], 0)).collect();
        Self { asked, next: 0, later }
    }
}

impl ReadQueue for Ranges {
    fn next(&mut self) -> Option<Request> {
        let has_arrived = self.asked.iter().any(|(.., times)| *times > 0);
        let ready = self.asked.len() - if has_arrived { 0 } else { self.later };
        let (offset, bytes, _) = self.asked[..ready].get(self.next)?;
        self.next += 1;
        // An id may be any number.
        Some(Request { id: u64::MAX - self.next as u64, offset: *offset, len: bytes.len() })
    }

    fn place(&mut self, id: u64) -> std::io::Result<&mut [u8]> {
        let number = usize::try_from(u64::MAX - id).unwrap() - 1;
        assert!(
            number < self.next && self.asked[number].2 == 0,
            "a place is given only for a requested range"
        );
        Ok(&mut self.asked[number].1)
    }

    fn arrived(&mut self, id: u64) {
        self.asked[usize::try_from(u64::MAX - id).unwrap() - 1].2 += 1;
    }
}

/// Checks reads of many ranges of the numbers from 0 to 255.
pub fn read_many_reads_each_range_once_in_any_order(driver: &dyn Driver) {
    let ranges: Vec<(u64, usize)> = (0..700_usize).map(|n| (n as u64 * 7 % 251, n % 5)).collect();
    for later in [0, 1, 300, 699] {
        let mut queue = Ranges::new(&ranges, later);
        driver.read_many(&mut queue).unwrap();
        for (offset, bytes, times) in queue.asked {
            let expected: Vec<u8> =
                (offset..offset + bytes.len() as u64).map(|n| u8::try_from(n).unwrap()).collect();
            assert_eq!((bytes, times), (expected, 1), "from {offset}");
        }
    }
    driver.read_many(&mut Ranges::new(&[], 0)).unwrap();
}

/// Checks that a range past the end of the numbers from 0 to 255 is an error.
pub fn read_many_returns_the_error_of_a_range(driver: &dyn Driver) {
    for (at, range) in [(0, (255, 2)), (2, (1 << 40, 1)), (4, (u64::MAX, 3))] {
        let mut ranges = vec![(3, 4); 4];
        ranges.insert(at, range);
        let mut queue = Ranges::new(&ranges, 0);
        let error = driver.read_many(&mut queue).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::InvalidInput),
            "{range:?}: {error}"
        );
        assert_eq!(queue.asked[at].2, 0, "a range that failed has not arrived");
        assert!(queue.asked.iter().all(|(.., times)| *times <= 1));
    }
}

/// Checks reads of the numbers from 0 to 255 by several threads.
pub fn threads_read_at_the_same_time(driver: &Arc<dyn Driver>) {
    std::thread::scope(|scope| {
        for thread in 0..4_u8 {
            scope.spawn(move || {
                for offset in (thread..=251).step_by(4) {
                    let mut bytes = [0; 4];
                    driver.read_at(offset.into(), &mut bytes).unwrap();
                    assert_eq!(bytes, [offset, offset + 1, offset + 2, offset + 3]);
                }
            });
        }
    });
}

/// Checks writes beyond the end of `0123`, and flushes.
pub fn writing_past_the_end_grows_the_file_with_zeros(driver: &dyn Driver) {
    driver.write_at(6, b"89").unwrap();
    let mut bytes = [9; 8];
    driver.read_at(0, &mut bytes).unwrap();
    assert_eq!(&bytes, b"0123\0\x0089");
    driver.flush(false).unwrap();
    driver.flush(true).unwrap();
}

/// Checks several writes at once over `0123456789`.
pub fn a_batch_writes_the_same_as_single_writes(driver: &dyn Driver) {
    let write = |offset, src| WriteRequest { offset, src };
    driver.write_batch(&[]).unwrap();
    // Neighbours, one of them empty; one after a gap; one out of order; one beyond the end.
    driver
        .write_batch(&[
            write(2, b"ab"),
            write(4, b""),
            write(4, b"c"),
            write(7, b"d"),
            write(0, b"e"),
            write(12, b"f"),
        ])
        .unwrap();
    driver.write_batch(&[write(9, b""), write(9, b"")]).unwrap();
    let mut bytes = [9; 13];
    driver.read_at(0, &mut bytes).unwrap();
    assert_eq!((&bytes, driver.len().unwrap()), (b"e1abc56d89\0\0f", 13));
    // More neighbours than any system takes in one call, of different lengths.
    let many: Vec<Vec<u8>> = (0..2500_usize).map(|i| vec![i.to_le_bytes()[0]; i % 7]).collect();
    let mut offset = 3;
    let place = |src: &Vec<u8>| {
        offset += src.len() as u64;
        offset - src.len() as u64
    };
    let offsets: Vec<u64> = many.iter().map(place).collect();
    let requests: Vec<_> = many.iter().zip(offsets).map(|(src, offset)| write(offset, src)).collect();
    driver.write_batch(&requests).unwrap();
    let mut bytes = vec![9; many.concat().len()];
    driver.read_at(3, &mut bytes).unwrap();
    assert_eq!(bytes, many.concat());
}

/// Checks that space can be reserved behind `0123456789`.
pub fn reserving_space_changes_neither_length_nor_contents(driver: &dyn Driver) {
    driver.reserve(4, 1 << 20).unwrap();
    assert_eq!(driver.len().unwrap(), 10);
    let mut bytes = [0; 10];
    driver.read_at(0, &mut bytes).unwrap();
    assert_eq!(&bytes, b"0123456789");
    driver.write_at(12, b"23").unwrap();
    assert_eq!(driver.len().unwrap(), 14);
}

/// Checks shorter and longer lengths of `0123456789`.
pub fn set_len_truncates_and_extends_the_file(driver: &dyn Driver) {
    driver.set_len(2).unwrap();
    assert!(driver.read_at(0, &mut [0; 3]).is_err());
    driver.set_len(4).unwrap();
    let mut bytes = [9; 4];
    driver.read_at(0, &mut bytes).unwrap();
    assert_eq!(&bytes, b"01\0\0");
}
