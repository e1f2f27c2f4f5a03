//! Files on a web server, whose answers are spoiled.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, as tests do")]

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use hyperslab::driver::{Driver, Memory};
use hyperslab::{File, Node, Walk};
use hyperslab_remote::{Location, Remote, RemoteOptions};
use hyperslab_testkit::contract::{Ranges, keeps_the_contract_for_reads};
use hyperslab_testkit::server::Server;

/// Options with which nothing is kept in memory.
fn bare() -> RemoteOptions {
    RemoteOptions::default().front_bytes(1).cache_bytes(0)
}

/// Returns bytes that differ from their neighbours.
fn noise(len: usize) -> Vec<u8> {
    (0..len).map(|n| (n.wrapping_mul(0x9E37_79B1) >> 11).to_le_bytes()[0]).collect()
}

/// Opens the file on a server.
fn open(server: &Server) -> hyperslab::Result<File> {
    Location::named(server.url()).open(&File::options(), &RemoteOptions::default())
}

fn opened(server: &Server, options: &RemoteOptions) -> Remote {
    Remote::open(&server.url(), options).unwrap()
}

/// Reads `len` bytes at `offset`.
fn read(remote: &Remote, offset: u64, len: usize) -> std::io::Result<Vec<u8>> {
    let mut bytes = vec![0; len];
    remote.read_at(offset, &mut bytes).map(|()| bytes)
}

#[test]
fn a_file_on_a_server_keeps_the_contract_for_reads() {
    for options in [bare(), bare().queue_depth(1), RemoteOptions::default(), bare().cache_bytes(1 << 20)] {
        keeps_the_contract_for_reads(|bytes| Arc::new(opened(&Server::start(bytes.to_vec()), &options)));
    }
    let server = Server::start((0..=255).collect());
    server.state().ignores_ranges = true;
    keeps_the_contract_for_reads(|bytes| {
        server.state().bytes = bytes.to_vec();
        Arc::new(opened(&server, &bare()))
    });
}

#[test]
fn an_empty_file_has_no_bytes() {
    let server = Server::start(Vec::new());
    let remote = opened(&server, &RemoteOptions::default());
    assert_eq!(remote.len().unwrap(), 0);
    assert_eq!(read(&remote, 0, 1).unwrap_err().kind(), ErrorKind::UnexpectedEof);
    assert!(open(&server).is_err());
}

#[test]
fn neighbouring_ranges_are_one_request_and_long_ranges_are_several() {
    let bytes = noise(12 << 20);
    let server = Server::start(bytes.clone());
    let remote = opened(&server, &bare());
    server.take_requests();
    // 100 ranges of 1000 bytes, 2000 bytes apart, in one request; one 300 KiB away from it; one of 9 MiB.
    let mut ranges: Vec<(u64, usize)> = (0..100).map(|n| (5000 + n * 2000, 1000)).collect();
    ranges.extend([(600_000, 10), (2 << 20, 9 << 20)]);
    let mut queue = Ranges::new(&ranges, 0);
    remote.read_many(&mut queue).unwrap();
    for (offset, found, times) in queue.asked {
        let start = usize::try_from(offset).unwrap();
        assert!(found == bytes[start..start + found.len()] && times == 1, "at {offset}");
    }
    let mut requests = server.take_requests();
    requests.sort_by_key(|range| range.as_ref().unwrap().start);
    let third = 3 << 20;
    let long = [2 << 20, 5 << 20, 8 << 20].map(|start| Some(start..start + third));
    assert_eq!(requests[..2], [Some(5000..204_000), Some(600_000..600_010)]);
    assert_eq!(requests[2..], long);
    let traffic = remote.capabilities().description.unwrap().info().traffic.unwrap();
    assert_eq!((traffic.requests, traffic.bytes), (6, 1 + 199_000 + 10 + (9 << 20)));
}

#[test]
fn as_many_requests_as_the_queue_is_deep_are_in_progress() {
    let server = Server::start(noise(16 << 20));
    let ranges: Vec<(u64, usize)> = (0..24).map(|n| (n * (512 << 10), 10)).collect();
    for depth in [1, 7] {
        let remote = opened(&server, &bare().queue_depth(depth));
        server.state().most_at_once = 0;
        server.state().delay = Duration::from_millis(50);
        remote.read_many(&mut Ranges::new(&ranges, 0)).unwrap();
        assert_eq!(server.state().most_at_once, depth);
    }
}

#[test]
fn small_reads_request_blocks_that_grow_and_are_kept() {
    let bytes = noise(8 << 20);
    let server = Server::start(bytes.clone());
    let remote = opened(&server, &RemoteOptions::default());
    server.take_requests();
    for offset in (0..4 << 20).step_by(1000) {
        assert_eq!(read(&remote, offset as u64, 300).unwrap(), bytes[offset..offset + 300]);
    }
    let block = 256 << 10;
    // The front is 4 blocks; then 1, 2, 4 and 8 blocks.
    let expected = [(4, 5), (5, 7), (7, 11), (11, 19)].map(|(from, to)| Some(from * block..to * block));
    assert_eq!(server.take_requests(), expected);
    // Everything is kept, for reads of many ranges, too.
    remote.read_many(&mut Ranges::new(&[(5, 10), (3 << 20, 10)], 0)).unwrap();
    assert_eq!(server.take_requests(), []);
}

#[test]
fn requests_that_fail_are_repeated_and_cut_answers_are_continued() {
    let bytes = noise(3 << 20);
    for tag in [Some("\"one\""), Some("W/\"one\""), None] {
        let server = Server::start(bytes.clone());
        server.state().tag = tag;
        server.state().fails = [503, 500].into();
        let remote = opened(&server, &bare());
        assert_eq!(server.take_requests().len(), 3);
        server.state().fails = [503].into();
        server.state().cuts = 2;
        assert!(read(&remote, 10, 2 << 20).unwrap() == bytes[10..10 + (2 << 20)]);
        let requests = server.take_requests();
        assert_eq!(requests.len(), 4, "one failed, two were cut: {requests:?}");
        assert_eq!(requests[3].as_ref().unwrap().start, 10 + (2 << 20) * 3 / 4, "only the rest is repeated");
    }
}

#[test]
fn a_server_that_fails_always_is_an_error() {
    let server = Server::start(noise(100));
    let options = bare().set("max_retries", "1");
    let remote = opened(&server, &options);
    server.state().fails = [503, 503].into();
    let error = read(&remote, 10, 20).unwrap_err();
    assert!(error.to_string().contains("file.h5") && error.to_string().contains("503"), "{error}");
    server.take_requests();
    server.state().cuts = 100;
    assert!(read(&remote, 10, 80).is_err());
    assert!((2..20).contains(&server.take_requests().len()));
}

#[test]
fn a_file_that_changes_while_it_is_open_is_an_error() {
    for (tag, other, modified, ignores) in [
        (Some("\"one\""), Some("\"two\""), None, false),
        (Some("\"one\""), Some("\"two\""), None, true),
        (Some("W/\"one\""), Some("W/\"two\""), None, true),
        (None, None, Some("Wed, 21 Oct 2015 07:28:00 GMT"), false),
        (None, Some("\"two\""), None, false),
    ] {
        let server = Server::start(noise(2000));
        server.state().tag = tag;
        server.state().ignores_conditions = ignores;
        let remote = opened(&server, &bare());
        assert_eq!(read(&remote, 5, 10).unwrap(), noise(2000)[5..15]);
        server.state().tag = other;
        server.state().modified = modified;
        let error = read(&remote, 5, 10).unwrap_err();
        assert!(error.to_string().contains("file.h5: the file was changed on the server"), "{error}");
    }
    let server = Server::start(noise(2000));
    server.state().tag = None;
    let remote = opened(&server, &bare());
    server.state().bytes.push(0);
    assert!(read(&remote, 5, 10).unwrap_err().to_string().contains("changed"));
}

#[test]
fn a_large_file_on_a_server_without_ranges_is_an_error() {
    let server = Server::start(vec![0; (64 << 20) + 1]);
    server.state().ignores_ranges = true;
    let error = Remote::open(&server.url(), &bare()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("does not serve ranges") && error.to_string().contains("download"));
    server.state().bytes.pop();
    assert_eq!(opened(&server, &bare()).len().unwrap(), 64 << 20);
    server.state().cuts = 100;
    assert!(Remote::open(&server.url(), &bare()).is_err(), "the file is not whole");
}

#[test]
fn errors_have_their_kinds_and_no_secrets() {
    let server = Server::start(noise(100));
    let url = server.url().replace("http://", "http://me:secret@") + "?token=secret";
    for (status, kind) in [
        (404, ErrorKind::NotFound),
        (403, ErrorKind::PermissionDenied),
        (401, ErrorKind::PermissionDenied),
        (400, ErrorKind::Other),
        (503, ErrorKind::Other),
    ] {
        server.state().fails = [status; 2].into();
        let options = RemoteOptions::default().set("max_retries", "0").set("bearer_token", "secret");
        let error = Remote::open(&url, &options).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(!format!("{error} {error:?} {options:?}").contains("secret"), "{error:?}");
    }
    server.state().fails.clear();
    let remote = Remote::open(&url, &bare()).unwrap();
    assert_eq!(server.state().authorization.as_deref(), Some("Basic bWU6c2VjcmV0"));
    server.state().fails = [404].into();
    let error = read(&remote, 5, 10).unwrap_err();
    assert!(!format!("{error} {error:?} {remote:?}").contains("secret"), "{error:?}");
    assert!(error.to_string().contains("/folder/file.h5: the server has no such file"), "{error}");
}

#[test]
fn settings_that_are_unknown_or_wrong_are_errors() {
    let url = Server::start(noise(100)).url();
    for (url, name, value) in [
        (url.as_str(), "aws_region", "x"),
        (&url, "timeout", "long"),
        (&url, "max_retries", "-1"),
        (&url, "retry_timeout", "NaN"),
        (&url, "bearer_token", "two\nlines"),
        ("s3://bucket/key", "azure_storage_account_name", "x"),
        ("s3://bucket/key", "colour", "x"),
        ("gs://bucket/key", "aws_region", "x"),
        ("az://bucket/key", "aws_region", "x"),
        ("s3://bucket//key", "aws_region", "x"),
    ] {
        let error = Remote::open(url, &RemoteOptions::default().set(name, value)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{url} {name}: {error}");
    }
    let server = Server::start(noise(100));
    let options = RemoteOptions::default().set("bearer_token", "abc").set("TIMEOUT", "5 seconds");
    opened(&server, &options);
    assert_eq!(server.state().authorization.as_deref(), Some("Bearer abc"));
}

#[test]
fn opening_and_listing_takes_one_request_and_a_plane_few() {
    let memory = Arc::new(Memory::default());
    let file = File::options().create(true).open_on(memory.clone()).unwrap();
    for number in 0..200 {
        file.root().create_group(&format!("run{number}/results")).unwrap();
    }
    let shape = [64, 128, 128];
    let cube = file.root().new_dataset::<i32>("cube").shape(shape).chunks([8, 64, 64]).create().unwrap();
    let values: Vec<i32> = (0..64 * 128 * 128).collect();
    cube.write([0..64, 0..128, 0..128], &values).unwrap();
    file.close().unwrap();
    let server = Server::start(memory.bytes());

    let file = open(&server).unwrap();
    let is_group = |step: &hyperslab::Step| matches!(step.new_node(), Some(Node::Group(_)));
    let groups = Walk::new(&file.root()).filter(|step| step.as_ref().is_ok_and(is_group));
    assert_eq!(groups.count(), 400);
    assert_eq!(server.take_requests(), [Some(0..1 << 20)]);
    let plane: Vec<i32> = file.dataset("cube").unwrap().read([0..64, 5..6, 0..128]).unwrap();
    let expected: Vec<i32> =
        (0..64).flat_map(|z| (0..128).map(move |x| z * 128 * 128 + 5 * 128 + x)).collect();
    assert_eq!(plane, expected);
    let requests = server.take_requests();
    assert!((1..=16).contains(&requests.len()), "{requests:?}");
    assert_eq!(file.driver_info().unwrap().name, "object_store");
}
