//! Tests `hyperslab recover` on files that a crash left half-way.

#![allow(clippy::unwrap_used)] // A test may fail loudly outside `#[test]` functions, too.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use hyperslab::driver::Memory;
use hyperslab_format::bytes::lookup3::lookup3;
use hyperslab_format::superblock::{OPEN_FOR_SWMR, OPEN_FOR_WRITING};
use hyperslab_store::commit::recovery::inspect;
use hyperslab_store::commit::{Commit, Durability, Outcome, Overwrite, commit};
use hyperslab_testkit::crash::CrashDriver;
use hyperslab_testkit::golden;

/// A golden file, a change of some bytes of a dataset, and every intermediate image.
struct Change {
    before: Vec<u8>,
    after: Vec<u8>,
    images: Vec<Vec<u8>>,
}

fn change() -> Change {
    let before = std::fs::read(golden::directory().join("files/libver_v110.h5")).unwrap();
    let superblock = inspect(&Memory::new(before.clone())).unwrap().superblock_bytes().to_vec();
    let offset = before.len() - 8;
    let bytes = vec![0x5a; 8];
    let driver = CrashDriver::new(before.clone());
    let commit_it = Commit {
        transaction: 12,
        superblock_at: 0,
        before: Some(superblock.clone()),
        after: superblock,
        overwrites: vec![Overwrite { offset: offset as u64, bytes }],
        durability: Durability::Kill,
    };
    assert!(matches!(commit(&driver, commit_it.clone()), Outcome::Committed));
    let mut images = Vec::new();
    let recording = driver.into_recording();
    recording.after_kill(|image| images.push(image.to_vec()));
    Change { before, after: recording.last_image(), images }
}

fn recover(file: &Path, more: &[&str]) -> (u8, String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let args = ["hyperslab", "recover"].iter().chain(more).map(OsString::from);
    let code = hyperslab_cli::run(args.chain([file.into()]), &mut out, &mut err);
    (code, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

/// A file of this test, removed at its end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, image: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("hyperslab-{}-{name}.h5", std::process::id()));
        std::fs::write(&path, image).unwrap();
        Self(path)
    }

    fn content(&self) -> Vec<u8> {
        std::fs::read(&self.0).unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn every_interrupted_commit_is_finished_or_undone() {
    let change = change();
    let mut finished = 0;
    for image in &change.images {
        let file = Scratch::new("interrupted", image);
        let (code, would, err) = recover(&file.0, &["--dry-run"]);
        assert_eq!((code, err.as_str()), (0, ""));
        assert_eq!(&file.content(), image, "a dry run must not write");
        let (code, did, err) = recover(&file.0, &[]);
        assert_eq!((code, err.as_str()), (0, ""));
        let content = file.content();
        // Without a trailer, the bytes of the tail may have any owner, so they are kept.
        assert!(content.starts_with(&change.before) || content == change.after);
        if would.contains("finish transaction 12 (1 overwrite)") {
            assert!(did.contains("done: finish transaction 12") && content == change.after, "{did}");
            finished += 1;
        }
        let (code, again, _) = recover(&file.0, &[]);
        assert!(code == 0 && again.ends_with("  nothing to do\n"), "{again}");
    }
    assert!(finished >= 3, "{finished}");
}

#[test]
fn an_intact_file_needs_no_recovery() {
    let file = Scratch::new("whole", &change().before);
    let shown = file.0.display();
    let expected = format!("{shown}: no transaction was interrupted\n  nothing to do\n");
    assert_eq!(recover(&file.0, &[]), (0, expected, String::new()));
}

#[test]
fn a_file_changed_by_another_program_is_not_recovered() {
    let change = change();
    // A complete journal under an unguarded superblock: other programs could write, and one did.
    let mut image = change
        .images
        .iter()
        .find(|image| inspect(&Memory::new((*image).clone())).unwrap().transaction().is_some())
        .unwrap()
        .clone();
    let target = change.before.len() - 8;
    image[target..target + 8].copy_from_slice(b"!another");
    let file = Scratch::new("changed", &image);
    let (code, out, err) = recover(&file.0, &[]);
    assert_eq!((code, file.content() == image), (1, true));
    assert!(out.contains("a complete journal, the superblock from before the transaction"), "{out}");
    assert!(err.contains("cannot be recovered: it was changed by another program"), "{err}");
}

#[test]
fn a_file_marked_as_open_for_writing_is_reported() {
    let mut image = std::fs::read(golden::directory().join("files/libver_v110.h5")).unwrap();
    // The File Consistency Flags of version 3, and a matching checksum.
    image[11] = 1;
    let sum = hyperslab_format::bytes::lookup3::lookup3(&image[..44]);
    image[44..48].copy_from_slice(&sum.to_le_bytes());
    let file = Scratch::new("marked", &image);
    let (code, out, _) = recover(&file.0, &[]);
    assert!(code == 0 && out.contains("marked as open for writing"), "{out}");
}

#[test]
fn a_file_that_is_cut_short_is_not_called_sound() {
    let whole = std::fs::read(golden::directory().join("files/libver_v110.h5")).unwrap();
    let file = Scratch::new("cut", &whole[..3000]);
    for more in [&[][..], &["--dry-run"]] {
        let (code, out, err) = recover(&file.0, more);
        assert_eq!(code, 1, "{out}{err}");
        let stated = format!(
            "the file is cut short: its superblock states {} bytes, and it has 3000; 3.5 KiB (54.7 %) are missing",
            whole.len()
        );
        let rescue = format!("truncate -s {} part.h5", whole.len());
        for text in [&*stated, "copy the file again", &*rescue, "missing elements read as zeros"] {
            assert!(out.contains(text), "{text}: {out}");
        }
        assert!(!out.contains("nothing to do") && err.contains("cannot be recovered"), "{out}{err}");
    }
    assert_eq!(file.content(), &whole[..3000]);
    // The advice holds: what is here is readable in a longer copy.
    let mut longer = whole[..3000].to_vec();
    longer.resize(whole.len(), 0);
    let longer = Scratch::new("lengthened", &longer);
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let args = ["hyperslab", "stat"].map(OsString::from).into_iter().chain([longer.0.clone().into()]);
    hyperslab_cli::run(args, &mut out, &mut err);
    assert!(String::from_utf8(out).unwrap().contains("superblock   version 3"));
}

/// Returns a golden file with these File Consistency Flags, which are byte 11 of the superblocks of versions
/// 2 and 3 (spec II.A). The checksum is made anew.
fn marked(name: &str, flags: u8) -> Vec<u8> {
    let mut image = std::fs::read(golden::directory().join("files").join(name)).unwrap();
    assert!(image[8] == 2 || image[8] == 3, "{name}");
    image[11] = flags;
    let checksum = lookup3(&image[..44]);
    image[44..48].copy_from_slice(&checksum.to_le_bytes());
    image
}

#[test]
fn the_mark_of_a_dead_writer_is_taken_away() {
    for name in ["libver_v108.h5", "libver_v110.h5"] {
        let before = marked(name, 0);
        for flags in [OPEN_FOR_WRITING, OPEN_FOR_WRITING | OPEN_FOR_SWMR] {
            let file = Scratch::new("marked", &marked(name, flags));
            let (code, would, _) = recover(&file.0, &["--dry-run"]);
            assert!(code == 0 && would.contains("  take away the mark"), "{would}");
            assert_eq!(file.content(), marked(name, flags), "a dry run must not write");
            let (code, did, _) = recover(&file.0, &[]);
            assert!(code == 0 && did.contains("  done: take away the mark"), "{did}");
            assert_eq!(file.content(), before);
            let (code, again, _) = recover(&file.0, &[]);
            assert!(code == 0 && again.ends_with("  nothing to do\n"), "{again}");
        }
    }
}

#[test]
fn a_marked_file_gets_the_end_that_it_has() {
    // libhdf5 does not state the end before it closes a file.
    let before = marked("libver_v110.h5", 0);
    let mut image = marked("libver_v110.h5", OPEN_FOR_WRITING | OPEN_FOR_SWMR);
    image[28..36].copy_from_slice(&500_u64.to_le_bytes());
    let checksum = lookup3(&image[..44]);
    image[44..48].copy_from_slice(&checksum.to_le_bytes());
    let file = Scratch::new("short", &image);
    assert_eq!(recover(&file.0, &[]).0, 0);
    assert_eq!(file.content(), before);
}
