//! One test suite that every driver passes: the contract of [`Driver`].

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, as tests do")]

use std::io::ErrorKind;
use std::sync::Arc;

use hyperslab::driver::{
    Arranged, Create, Driver, Locking, Mapped, MemberFiles, Members, Memory, Operation, Overlay, Posix,
    Trace, Unchanged, WriteRequest,
};
use hyperslab_testkit::contract::{
    Ranges, keeps_the_contract, read_many_reads_each_range_once_in_any_order,
    read_many_returns_the_error_of_a_range, reading_past_the_end_is_an_error, reads_are_exact,
    threads_read_at_the_same_time,
};
use hyperslab_testkit::crash_members::{MemberStep, RecordedMembers, joined};
use hyperslab_testkit::deep::Deep;

#[path = "../../examples/driver.rs"]
mod example;

#[test]
fn memory_keeps_the_contract() {
    keeps_the_contract(|bytes| Arc::new(Memory::new(bytes.to_vec())));
}

#[test]
fn a_driver_that_answers_out_of_order_keeps_the_contract() {
    keeps_the_contract(|bytes| Arc::new(Deep::new(bytes.to_vec())));
}

#[test]
fn an_overlay_keeps_the_contract_for_reads() {
    let bytes: Vec<u8> = (0..=255).collect();
    let mut below = bytes.clone();
    below[10..20].fill(0);
    below[250..].fill(0);
    let patches = vec![(10, bytes[10..20].to_vec()), (250, bytes[250..].to_vec())];
    let view = Overlay::new(Arc::new(Memory::new(below)), patches, 256);
    read_many_reads_each_range_once_in_any_order(&view);
    read_many_returns_the_error_of_a_range(&view);
}

#[test]
fn members_keep_the_contract_for_reads() {
    let bytes: Vec<u8> = (0..=255).collect();
    let folder = tempfile::tempdir().unwrap();
    for (number, part) in bytes.chunks(51).enumerate() {
        std::fs::write(folder.path().join(format!("m{number}")), part).unwrap();
    }
    let family = read_family(&folder.path().join("m%d"));
    assert_eq!(family.len().unwrap(), 256);
    read_many_reads_each_range_once_in_any_order(&family);
    read_many_returns_the_error_of_a_range(&family);
    reading_past_the_end_is_an_error(&ten_bytes(folder.path()));
    reads_are_exact(&ten_bytes(folder.path()));
    threads_read_at_the_same_time(&(Arc::new(family) as Arc<dyn Driver>));
}

/// Returns members that have the bytes `0123456789` together.
fn ten_bytes(folder: &std::path::Path) -> MemberFiles {
    for (number, part) in ["0123", "4567", "89"].into_iter().enumerate() {
        std::fs::write(folder.join(format!("ten{number:02x}")), part).unwrap();
    }
    read_family(&folder.join("ten%02x"))
}

/// Opens the family at `path` by its names alone.
fn read_family(path: &std::path::Path) -> MemberFiles {
    let name = path.to_str().unwrap().replace("%02x", "00").replace("%d", "0");
    let first = Posix::open(name).unwrap();
    let family = Arranged::open(path, &Members::family(), first, Locking::No, false).unwrap();
    family.as_given().unwrap()
}

#[test]
fn a_family_for_writing_keeps_the_contract() {
    for size in [251, 256, 1000, 1 << 20] {
        keeps_the_contract(|bytes| RecordedMembers::family(bytes, size).open());
    }
    for size in [512, 1000] {
        let folders = std::cell::RefCell::new(Vec::new());
        keeps_the_contract(|bytes| {
            let folder = tempfile::tempdir().unwrap();
            let first = Posix::open_writable(folder.path().join("m0"), Create::New).unwrap();
            let path = folder.path().join("m%d");
            let family = Arranged::create(&path, first, size, 0, Locking::BestEffort).unwrap();
            family.write_at(0, bytes).unwrap();
            folders.borrow_mut().push(folder);
            Arc::new(family)
        });
    }
}

#[test]
fn members_of_a_family_are_full_up_to_the_last_and_others_are_removed() {
    let folder = RecordedMembers::family(b"0123456789", 4);
    folder.leave(3, b"left");
    folder.leave(4, b"over");
    let family = folder.open();
    assert_eq!(family.len().unwrap(), 10);
    family.write_at(10, b"ab").unwrap();
    assert_eq!(folder.image(), b"0123456789ab", "what is left over is no part of the file");
    family.write_at(17, b"c").unwrap();
    assert_eq!(folder.image(), b"0123456789ab\0\0\0\0\0c");
    assert_eq!(family.len().unwrap(), 18);
    family.set_len(8).unwrap();
    assert_eq!(folder.lengths().into_iter().collect::<Vec<_>>(), [(0, 4), (1, 4)]);
    family.reserve(8, 8).unwrap();
    assert_eq!(family.len().unwrap(), 8);
    family.write_at(15, b"d").unwrap();
    assert_eq!(folder.image(), b"01234567\0\0\0\0\0\0\0d");
    family.set_len(0).unwrap();
    assert_eq!((folder.lengths().len(), family.len().unwrap()), (1, 0));
}

#[test]
fn a_flush_makes_each_changed_member_durable_once_and_a_close_after_it_none() {
    let folder = RecordedMembers::family(&[1; 20], 4);
    let family = folder.open();
    let flushed = |closing| {
        let before = folder.steps().len();
        family.flush(closing).unwrap();
        folder.steps().split_off(before)
    };
    assert_eq!(flushed(false), [MemberStep::Sync]);
    family.write_at(3, b"ab").unwrap();
    family.write_at(17, b"c").unwrap();
    let expected = [MemberStep::Flush(0), MemberStep::Flush(1), MemberStep::Flush(4), MemberStep::Sync];
    assert_eq!(flushed(false), expected);
    assert_eq!(flushed(true), []);
    family.write_at(0, b"d").unwrap();
    assert_eq!(flushed(false), [MemberStep::Flush(0), MemberStep::Sync]);
}

#[test]
fn a_split_file_keeps_the_contract_in_its_first_range() {
    keeps_the_contract(|bytes| RecordedMembers::split(&joined(bytes, b"elements")).open());
}

#[test]
fn the_second_range_of_a_split_file_is_the_other_member() {
    let recorded = RecordedMembers::split(&joined(b"0123", b"abcd"));
    let split = recorded.open();
    let range = split.elements().unwrap();
    let start = range.start();
    assert_eq!((start, range.len().unwrap(), split.len().unwrap()), (u64::MAX / 2, 4, 4));
    let mut bytes = [0; 3];
    split.read_at(start + 1, &mut bytes).unwrap();
    assert_eq!(&bytes, b"bcd");
    for offset in [start - 1, start + 2, u64::MAX - 1] {
        assert!(split.read_at(offset, &mut bytes).is_err(), "{offset}");
    }
    let mut queue = Ranges::new(&[(start, 2), (1, 2), (start + 3, 1)], 0);
    split.read_many(&mut queue).unwrap();
    let read: Vec<_> = queue.asked.iter().map(|(_, bytes, times)| (&bytes[..], *times)).collect();
    assert_eq!(read, [(&b"ab"[..], 1), (b"12", 1), (b"d", 1)]);
    let write = |offset, src| WriteRequest { offset, src };
    split
        .write_batch(&[write(start + 4, b"ef"), write(start, b"A"), write(0, b"!"), write(start + 1, b"B")])
        .unwrap();
    assert_eq!(recorded.image(), joined(b"!123", b"ABcdef"));
    for offset in [start - 1, start - 2] {
        assert_eq!(split.write_at(offset, b"xyz").unwrap_err().kind(), ErrorKind::FileTooLarge);
        assert!(split.write_batch(&[write(offset, b"xyz")]).is_err() && split.reserve(offset, 3).is_err());
    }
    split.reserve(start + 10, 100).unwrap();
    range.set_len(8).unwrap();
    split.set_len(2).unwrap();
    assert_eq!(recorded.image(), joined(b"!1", b"ABcdef\0\0"));
    range.set_len(1).unwrap();
    assert_eq!(recorded.image(), joined(b"!1", b"A"));
}

#[test]
fn a_flush_makes_elements_durable_before_metadata_and_each_member_once() {
    let recorded = RecordedMembers::split(&joined(b"0123", b"abcd"));
    let split = recorded.open();
    let flushed = |closing| {
        let before = recorded.steps().len();
        split.flush(closing).unwrap();
        recorded.steps().split_off(before)
    };
    assert_eq!(flushed(false), [MemberStep::Sync]);
    split.write_at(0, b"x").unwrap();
    split.write_at(u64::MAX / 2, b"y").unwrap();
    assert_eq!(flushed(false), [MemberStep::Flush(1), MemberStep::Flush(0), MemberStep::Sync]);
    split.elements().unwrap().set_len(9).unwrap();
    assert_eq!(flushed(false), [MemberStep::Flush(1), MemberStep::Sync]);
    split.set_len(9).unwrap();
    assert_eq!(flushed(true), []);
    assert_eq!(flushed(false), [MemberStep::Flush(0), MemberStep::Sync]);
}

#[test]
fn posix_keeps_the_contract() {
    keeps_the_contract(|bytes| Arc::new(posix(bytes)));
}

#[test]
#[cfg(target_os = "linux")]
fn a_ring_keeps_the_contract() {
    for (depth, direct) in [(1, false), (64, false), (1, true), (3, true), (64, true)] {
        keeps_the_contract(|bytes| {
            Arc::new(hyperslab::driver::Uring::new(Arc::new(posix(bytes)), depth, direct))
        });
    }
}

#[test]
fn a_gap_in_a_file_on_disk_costs_nothing() {
    assert_eq!(posix(&[]).capabilities().is_sparse, cfg!(unix));
    assert_eq!(Trace::new(posix(&[])).capabilities().is_sparse, cfg!(unix));
    #[cfg(target_os = "linux")]
    assert!(hyperslab::driver::Uring::new(Arc::new(posix(&[])), 1, false).capabilities().is_sparse);
    assert!(
        !Memory::default().capabilities().is_sparse
            && !Trace::new(Memory::default()).capabilities().is_sparse
    );
}

#[test]
fn a_mapping_keeps_the_contract_for_reads() {
    let bytes: Vec<u8> = (0..=255).collect();
    // SAFETY: the files have no names, and only their mappings have them.
    let unchanged = unsafe { Unchanged::promised() };
    let map = |bytes: &[u8]| Mapped::new(Arc::new(posix(bytes)), unchanged).unwrap();
    reads_are_exact(&map(b"0123456789"));
    reading_past_the_end_is_an_error(&map(b"0123456789"));
    read_many_reads_each_range_once_in_any_order(&map(&bytes));
    read_many_returns_the_error_of_a_range(&map(&bytes));
    threads_read_at_the_same_time(&(Arc::new(map(&bytes)) as Arc<dyn Driver>));
    let mapped: Arc<dyn Driver> = Arc::new(map(&bytes));
    assert_eq!(mapped.bytes().unwrap(), Some(&bytes[..]));
    assert_eq!(map(b"").len().unwrap(), 0);
    assert_eq!(map(b"12").write_at(0, b"3").unwrap_err().kind(), ErrorKind::ReadOnlyFilesystem);
}

#[test]
fn a_read_of_a_mapping_of_a_file_that_was_cut_is_an_error() {
    let file = tempfile::tempfile().unwrap();
    file.set_len(10_000).unwrap();
    // SAFETY: the promise is broken below, but no slice of the mapping exists then, and none is made later:
    // all reads are errors.
    let unchanged = unsafe { Unchanged::promised() };
    let map = Mapped::new(Arc::new(Posix::new(file.try_clone().unwrap())), unchanged).unwrap();
    map.read_at(0, &mut [0; 10]).unwrap();
    let is_cut = file.set_len(9_999);
    if cfg!(windows) {
        assert!(is_cut.is_err(), "Windows does not cut a file that is mapped");
        return;
    }
    is_cut.unwrap();
    let cut =
        |error: std::io::Error| error.kind() == ErrorKind::UnexpectedEof && error.to_string().contains("cut");
    assert!(cut(map.read_at(0, &mut [0; 10]).unwrap_err()));
    assert!(cut(map.read_many(&mut Ranges::new(&[(0, 1)], 0)).unwrap_err()));
    let map: &dyn Driver = &map;
    assert!(cut(map.bytes().unwrap_err()));
}

#[test]
fn a_memory_file_writes_its_backing_file_once_for_each_change() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("backing");
    let memory = Memory::backed(b"0123".to_vec(), path.clone());
    memory.flush(true).unwrap();
    assert!(!path.exists(), "nothing has changed");
    memory.write_at(4, b"4").unwrap();
    memory.flush(false).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"01234");
    std::fs::write(&path, b"another").unwrap();
    memory.flush(true).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"another", "the image was written already");
    memory.set_len(2).unwrap();
    memory.flush(true).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"01");
}

#[test]
fn the_example_of_a_driver_keeps_the_contract() {
    example::main().unwrap();
    keeps_the_contract(|bytes| {
        let pages = example::Pages::default();
        pages.write_at(0, bytes).unwrap();
        Arc::new(pages)
    });
}

#[test]
fn a_traced_driver_keeps_the_contract() {
    keeps_the_contract(|bytes| Arc::new(Trace::new(posix(bytes))));
}

#[test]
fn a_trace_has_every_operation_in_order() {
    let driver = Trace::new(Memory::new(vec![0; 10]));
    driver.read_at(1, &mut [0; 2]).unwrap();
    driver.read_many(&mut Ranges::new(&[(4, 3)], 0)).unwrap();
    driver.write_at(5, &[1]).unwrap();
    driver.write_batch(&[WriteRequest { offset: 6, src: &[2, 3] }]).unwrap();
    driver.flush(true).unwrap();
    let expected = [
        Operation::Read { offset: 1, len: 2 },
        Operation::Read { offset: 4, len: 3 },
        Operation::Write { offset: 5, len: 1 },
        Operation::Write { offset: 6, len: 2 },
        Operation::Flush { closing: true },
    ];
    assert_eq!(driver.take(), expected);
    assert!(driver.take().is_empty());
}

#[test]
fn opening_a_directory_is_an_error() {
    let error = Posix::open(std::env::temp_dir()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::IsADirectory);
}

fn posix(bytes: &[u8]) -> Posix {
    let mut file = tempfile::tempfile().unwrap();
    std::io::Write::write_all(&mut file, bytes).unwrap();
    Posix::new(file)
}
