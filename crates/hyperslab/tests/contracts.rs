//! One suite for every driver.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests")]

use std::io::ErrorKind;
use std::sync::Arc;

use hyperslab::driver::{Driver, Memory, Operation, Posix, ReadRequest, Trace, WriteRequest};

/// What every driver keeps, whatever is below it.
fn keeps_the_contract(make: impl Fn(&[u8]) -> Arc<dyn Driver>) {
    reads_are_exact(&*make(b"0123456789"));
    reading_past_the_end_is_an_error_and_not_a_short_read(&*make(b"0123456789"));
    a_batch_reads_what_single_reads_do(&*make(b"0123456789"));
    writing_past_the_end_grows_the_file_with_zeros(&*make(b"0123"));
    a_batch_writes_what_single_writes_do(&*make(b"0123456789"));
    room_that_is_made_changes_nothing_to_be_seen(&*make(b"0123456789"));
    reads_that_are_announced_change_nothing_to_be_seen(&*make(b"0123456789"));
    a_file_is_cut_and_extended(&*make(b"0123456789"));
    threads_read_at_once(&make(&(0..=255).collect::<Vec<u8>>()));
}

fn reads_are_exact(driver: &dyn Driver) {
    let mut bytes = [0; 4];
    driver.read_at(3, &mut bytes).unwrap();
    assert_eq!(&bytes, b"3456");
    driver.read_at(10, &mut []).unwrap();
    assert_eq!(driver.len().unwrap(), 10);
    assert!(!driver.is_empty().unwrap());
}

fn reading_past_the_end_is_an_error_and_not_a_short_read(driver: &dyn Driver) {
    for offset in [7, 10, 1 << 40, u64::MAX - 1] {
        let error = driver.read_at(offset, &mut [0; 4]).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::InvalidInput),
            "{offset}: {error}"
        );
    }
}

fn a_batch_reads_what_single_reads_do(driver: &dyn Driver) {
    let (mut a, mut b) = ([0; 2], [0; 3]);
    let mut requests =
        [ReadRequest { offset: 8, dst: &mut a[..] }, ReadRequest { offset: 0, dst: &mut b[..] }];
    driver.read_batch(&mut requests).unwrap();
    assert_eq!((&a, &b), (b"89", b"012"));
    assert!(driver.read_batch(&mut [ReadRequest { offset: 9, dst: &mut a[..] }]).is_err());
}

fn writing_past_the_end_grows_the_file_with_zeros(driver: &dyn Driver) {
    driver.write_at(6, b"89").unwrap();
    let mut bytes = [9; 8];
    driver.read_at(0, &mut bytes).unwrap();
    assert_eq!(&bytes, b"0123\0\x0089");
    driver.flush(false).unwrap();
    driver.flush(true).unwrap();
}

fn a_batch_writes_what_single_writes_do(driver: &dyn Driver) {
    let write = |offset, src| WriteRequest { offset, src };
    driver.write_batch(&[]).unwrap();
    // Neighbours, one of them empty; one behind a gap; one that was written out of order; one beyond the end.
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
    // More neighbours than any system takes in one call, of lengths that differ.
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

fn room_that_is_made_changes_nothing_to_be_seen(driver: &dyn Driver) {
    driver.reserve(4, 1 << 20).unwrap();
    assert_eq!(driver.len().unwrap(), 10);
    let mut bytes = [0; 10];
    driver.read_at(0, &mut bytes).unwrap();
    assert_eq!(&bytes, b"0123456789");
    driver.write_at(12, b"23").unwrap();
    assert_eq!(driver.len().unwrap(), 14);
}

fn reads_that_are_announced_change_nothing_to_be_seen(driver: &dyn Driver) {
    for (offset, len) in [(0, 10), (3, 0), (7, 100), (1 << 40, 1), (5, u64::MAX), (u64::MAX, u64::MAX)] {
        driver.prefetch(offset, len);
        driver.is_at_hand(offset);
    }
    let mut bytes = [0; 10];
    driver.read_at(0, &mut bytes).unwrap();
    assert_eq!((&bytes, driver.len().unwrap()), (b"0123456789", 10));
    assert!(driver.is_at_hand(4), "it was read just now");
}

fn a_file_is_cut_and_extended(driver: &dyn Driver) {
    driver.set_len(2).unwrap();
    assert!(driver.read_at(0, &mut [0; 3]).is_err());
    driver.set_len(4).unwrap();
    let mut bytes = [9; 4];
    driver.read_at(0, &mut bytes).unwrap();
    assert_eq!(&bytes, b"01\0\0");
}

fn threads_read_at_once(driver: &Arc<dyn Driver>) {
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

#[test]
fn memory_keeps_the_contract() {
    keeps_the_contract(|bytes| Arc::new(Memory::new(bytes.to_vec())));
}

#[test]
fn posix_keeps_the_contract() {
    keeps_the_contract(|bytes| Arc::new(posix(bytes)));
}

#[test]
fn a_traced_driver_keeps_the_contract() {
    keeps_the_contract(|bytes| Arc::new(Trace::new(posix(bytes))));
}

#[test]
fn a_trace_has_every_operation_in_order() {
    let driver = Trace::new(Memory::new(vec![0; 10]));
    driver.read_at(1, &mut [0; 2]).unwrap();
    driver.read_batch(&mut [ReadRequest { offset: 4, dst: &mut [0; 3] }]).unwrap();
    driver.write_at(5, &[1]).unwrap();
    driver.write_batch(&[WriteRequest { offset: 6, src: &[2, 3] }]).unwrap();
    driver.prefetch(2, 6);
    driver.flush(true).unwrap();
    let expected = [
        Operation::Read { offset: 1, len: 2 },
        Operation::Read { offset: 4, len: 3 },
        Operation::Write { offset: 5, len: 1 },
        Operation::Write { offset: 6, len: 2 },
        Operation::Prefetch { offset: 2, len: 6 },
        Operation::Flush { closing: true },
    ];
    assert_eq!(driver.take(), expected);
    assert!(driver.take().is_empty());
}

#[test]
fn a_folder_is_no_file() {
    let error = Posix::open(&std::env::temp_dir()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::IsADirectory);
}

fn posix(bytes: &[u8]) -> Posix {
    let mut file = tempfile::tempfile().unwrap();
    std::io::Write::write_all(&mut file, bytes).unwrap();
    Posix::new(file)
}
