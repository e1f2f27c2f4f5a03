//! Files by MPI-IO.

use std::cell::Cell;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use hyperslab::driver::{Create, Driver};
use hyperslab_mpio::mpi::Threading;
use hyperslab_mpio::raw::CommonFile;
use hyperslab_mpio::{Communicator, MpiFile};
use hyperslab_testkit::contract::{
    a_batch_writes_the_same_as_single_writes, keeps_the_contract,
    read_many_reads_each_range_once_in_any_order, reading_past_the_end_is_an_error,
};

use crate::World;
use crate::native::{Calls, calls};

pub(crate) fn a_file_of_mpi_keeps_the_contract(test: &World) {
    let made = Cell::new(0);
    for most in [1 << 30, 3] {
        let make = |bytes: &[u8]| -> Arc<dyn Driver> {
            made.set(made.get() + 1);
            let path = test.own(&format!("contract{}", made.get()));
            fs::write(&path, bytes).unwrap();
            Arc::new(MpiFile::open_writable(path, Create::No).unwrap().with_most_bytes(most))
        };
        if test.level >= Threading::Serialized {
            keeps_the_contract(make);
        } else {
            // One thread only.
            a_batch_writes_the_same_as_single_writes(&*make(b"0123456789"));
            read_many_reads_each_range_once_in_any_order(&*make(&(0..=255).collect::<Vec<u8>>()));
            reading_past_the_end_is_an_error(&*make(b"0123456789"));
        }
    }
    let driver = MpiFile::open(test.own("contract1")).unwrap();
    assert_eq!(driver.capabilities().hints.concurrent, test.level == Threading::Multiple);
    assert_eq!(driver.capabilities().name, "mpiio");
}

pub(crate) fn a_transfer_is_divided_into_calls_that_mpi_can_count(test: &World) {
    let driver = MpiFile::open_writable(test.own("divided"), Create::New).unwrap().with_most_bytes(3);
    let mut bytes = [0; 10];
    assert_eq!(calls(|| driver.write_at(5, b"0123456789").unwrap()).moves, 4);
    assert_eq!(calls(|| driver.read_at(5, &mut bytes).unwrap()).moves, 4);
    assert_eq!(&bytes, b"0123456789");
    assert_eq!(calls(|| driver.write_at(5, b"").unwrap()).moves, 0);
}

pub(crate) fn errors_have_the_words_of_mpi(test: &World) {
    let path = test.own("words");
    let missing = MpiFile::open(&path).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
    assert!(missing.to_string().strip_prefix("MPI: ").is_some_and(|words| !words.is_empty()), "{missing}");
    assert!(MpiFile::open_writable(&path, Create::No).is_err());
    let driver = MpiFile::open_writable(&path, Create::New).unwrap();
    driver.write_at(0, b"0123").unwrap();
    driver.flush(true).unwrap();
    assert!(driver.len().unwrap_err().to_string().contains("closed by its last flush"));
    assert!(driver.write_at(0, b"0").unwrap_err().to_string().contains("open it again"));
    assert_eq!(MpiFile::open_writable(&path, Create::New).unwrap_err().kind(), ErrorKind::AlreadyExists);
    let driver = MpiFile::open(&path).unwrap();
    for refused in [driver.write_at(0, b"0"), driver.set_len(1)] {
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::ReadOnlyFilesystem);
    }
    driver.flush(false).unwrap();
    driver.flush(true).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"0123");
    let driver = MpiFile::open_writable(&path, Create::IfMissing).unwrap();
    for offset in [i64::MAX as u64 - 1, i64::MAX as u64 + 1, u64::MAX] {
        assert_eq!(driver.write_at(offset, b"0123").unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(driver.read_at(offset, &mut [0; 4]).unwrap_err().kind(), ErrorKind::InvalidInput);
    }
    assert_eq!(driver.set_len(u64::MAX).unwrap_err().kind(), ErrorKind::InvalidInput);
    assert_eq!(MpiFile::open(Path::new("a\0b")).unwrap_err().kind(), ErrorKind::InvalidInput);
    assert!(MpiFile::open(&test.folder).and_then(|file| file.read_at(0, &mut [0])).is_err());
}

/// Every write to this device fails.
pub(crate) fn a_full_medium_is_an_error(_test: &World) {
    let path = Path::new("/dev/full");
    if let Ok(driver) = MpiFile::open_writable(path, Create::No) {
        let error = driver.write_at(0, &[1; 100]).unwrap_err();
        assert!(!error.to_string().is_empty());
    }
}

pub(crate) fn a_close_does_not_wait_for_the_disk(test: &World) {
    let open = |name: &str| MpiFile::open_writable(test.own(name), Create::New).unwrap();
    let none = Calls { syncs: 0, closes: 0, frees: 0, moves: 0 };
    let driver = open("closed");
    driver.write_at(0, b"01").unwrap();
    let flushed = |closing| calls(|| driver.flush(closing).unwrap());
    assert_eq!(flushed(false), Calls { syncs: 1, ..none });
    driver.write_at(2, b"23").unwrap();
    // Closing a file may free what the library had for it.
    let closed = Calls { frees: 0, ..flushed(true) };
    assert_eq!(closed, Calls { closes: 1, ..none });
    assert_eq!(flushed(true), none);
    assert_eq!(calls(|| drop(driver)), none, "a file is closed once");
    assert_eq!(fs::read(test.own("closed")).unwrap(), b"0123");
    let left = open("left");
    let dropped = Calls { frees: 0, ..calls(|| drop(left)) };
    assert_eq!(dropped, Calls { closes: 1, ..none });
    let read = MpiFile::open(test.own("left")).unwrap();
    assert_eq!(calls(|| read.flush(false).unwrap()), none);
}

pub(crate) fn a_file_is_opened_by_all_or_by_none(test: &World) {
    let path = test.path("together");
    let open = |create| MpiFile::open_together(&path, create, &*test.ranks);
    assert!(open(Create::No).is_err());
    drop(open(Create::New).unwrap());
    let error = open(Create::New).unwrap_err();
    match test.rank() {
        0 => assert_eq!(error.kind(), ErrorKind::AlreadyExists),
        _ => assert!(error.to_string().starts_with("rank 0 failed to open the file: MPI: "), "{error}"),
    }
    // One rank cannot open what rank 0 has created.
    let last = test.size() - 1;
    let own = if test.rank() == last && last > 0 { test.path("no/such/folder") } else { path.clone() };
    let opened = MpiFile::open_together(own, Create::IfMissing, &*test.ranks);
    assert_eq!(opened.is_err(), last > 0);
    drop(opened);
    open(Create::No).unwrap();
}

pub(crate) fn a_common_file_has_the_bytes_of_all(test: &World) {
    let ranks = Communicator::new(&test.comm).unwrap();
    for is_collective in [false, true] {
        let path = test.path(&format!("common{is_collective}"));
        let mine = vec![u8::try_from(test.rank()).unwrap() + 1; 1000];
        let file = CommonFile::open(&ranks, &path, true, is_collective).unwrap();
        file.write_at(1000 * test.rank() as u64, &mine).unwrap();
        file.close().unwrap();
        let file = CommonFile::open(&ranks, &path, false, is_collective).unwrap();
        let other = (test.rank() + 1) % test.size();
        let mut bytes = vec![0; 1000];
        file.read_at(1000 * other as u64, &mut bytes).unwrap();
        assert_eq!(bytes, vec![u8::try_from(other).unwrap() + 1; 1000]);
        let beyond = file.read_at(1000 * test.size() as u64 - 10, &mut bytes);
        // Open MPI says of collective reads of many ranks that they have read everything.
        if !is_collective {
            assert_eq!(beyond.unwrap_err().kind(), ErrorKind::UnexpectedEof);
        }
        file.close().unwrap();
    }
}
