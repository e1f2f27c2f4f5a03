//! Split files: metadata in one file, elements in another.

#![allow(clippy::unwrap_used)] // helpers of tests may panic, as tests do

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::{fs, io, thread};

use hyperslab::driver::{Driver, Locking, Members, Memory, Names, Overlay, Split};
use hyperslab::{Durability, Error, File, FileSpace, LibVersion, OpenOptions, RequestError, SpaceStrategy};
use hyperslab_check::{CheckOptions, Report, check_path};
use hyperslab_format::superblock::driver_information::{DriverBlock, DriverInformation, MultiInformation};
use hyperslab_format::{Addr, Reader, Widths, Writer};
use hyperslab_store::commit::recovery::{Action, act, inspect};
use hyperslab_testkit::crash_members::{MemberStep, RecordedMembers, driver_of, joined, parts};
use hyperslab_testkit::hooked::{Call, Hooked};
use hyperslab_testkit::sound::{assert_accounted, assert_sound};
use tempfile::TempDir;

fn options() -> OpenOptions {
    File::options().members(Members::split())
}

fn fill(file: &File) {
    let numbers: Vec<i32> = (0..5000).collect();
    let chunked = file.root().new_dataset::<i32>("g/chunked").shape([5000]).chunks([64]);
    chunked.create_with(&numbers).unwrap();
    file.root().new_dataset::<i32>("whole").shape([5000]).create_with(&numbers).unwrap();
    let words: Vec<String> = (0..200).map(|number| format!("word {number}")).collect();
    file.root().new_dataset::<String>("words").shape([200]).create_with(&words).unwrap();
    file.root().set_attribute("title", "in two files").unwrap();
}

fn assert_filled(file: &File) {
    let numbers: Vec<i32> = (0..5000).collect();
    for name in ["g/chunked", "whole"] {
        assert_eq!(file.dataset(name).unwrap().read::<i32>(..).unwrap(), numbers);
    }
    assert_eq!(file.dataset("words").unwrap().read::<String>(199..200).unwrap(), ["word 199"]);
    assert_eq!(file.root().attribute_value::<String>("title").unwrap(), "in two files");
}

struct Place {
    folder: TempDir,
    path: PathBuf,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        Self { folder, path }
    }

    fn filled() -> Self {
        let place = Self::new();
        let file = options().create(true).open(&place.path).unwrap();
        fill(&file);
        file.close().unwrap();
        place
    }

    fn member(&self, end: &str) -> PathBuf {
        self.folder.path().join(format!("run{end}.h5"))
    }

    fn lens(&self) -> [u64; 2] {
        ["-m", "-r"].map(|end| fs::metadata(self.member(end)).unwrap().len())
    }

    fn check(&self) -> Report {
        check_path(&self.path, &CheckOptions::default().data(true), &mut |_| {}).unwrap()
    }
}

fn message(error: &Error) -> String {
    error.to_string()
}

/// Returns the ends of both members that a file with superblock 0 states.
fn stated_ends(metadata: &[u8], user_block: usize) -> [u64; 2] {
    let at = u64::from_le_bytes(metadata[user_block + 48..][..8].try_into().unwrap());
    let block = &metadata[user_block + usize::try_from(at).unwrap()..];
    let DriverBlock(found) = Reader::new(block, Widths::EIGHT, Addr::new(at)).structure(&()).unwrap();
    let DriverInformation::Multi(multi) = found else { panic!("another driver") };
    assert!(multi.is_split());
    [multi.members[0].end, multi.members[1].end]
}

#[test]
fn a_split_file_is_created_and_changed() {
    for version in [LibVersion::Earliest, LibVersion::V18, LibVersion::V110] {
        for user_block in [0, 1024] {
            let place = Place::new();
            let new = options().version(version).user_block(user_block);
            let file = new.clone().create_new(true).open(&place.path).unwrap();
            fill(&file);
            assert_accounted(&file, 0);
            file.close().unwrap();
            let [metadata, elements] = place.lens();
            assert!(elements > 40_000 + 3200 && metadata < 20_000, "{metadata} {elements}");
            assert_filled(&options().open(&place.path).unwrap());
            let report = place.check();
            assert!(report.is_sound() && report.findings.is_empty(), "{report:?}");
            assert_eq!(report.totals.bytes + user_block, metadata + elements);
            if version == LibVersion::Earliest {
                let bytes = fs::read(place.member("-m")).unwrap();
                assert_eq!(stated_ends(&bytes, usize::try_from(user_block).unwrap()), [metadata, elements]);
            }

            let file = options().write(true).open(&place.path).unwrap();
            file.root().remove("whole").unwrap();
            let more = vec![7_u8; 30_000];
            file.root().new_dataset::<u8>("more").shape([30_000]).create_with(&more).unwrap();
            file.close().unwrap();
            let file = options().write(true).open(&place.path).unwrap();
            assert_eq!(file.dataset("more").unwrap().read::<u8>(..).unwrap(), more);
            // What is at the end is given back to the file system.
            let before = place.lens()[1];
            file.root().remove("more").unwrap();
            file.flush().unwrap();
            assert!(place.lens()[1] <= before - 30_000);
            file.close().unwrap();
            assert!(place.check().is_sound());
            let file = new.clone().truncate(true).open(&place.path).unwrap();
            assert_eq!(place.lens()[1], 0, "nothing of the old file is left");
            file.root().set_attribute("title", "short").unwrap();
            file.close().unwrap();
            assert!(new.clone().create_new(true).open(&place.path).is_err());
            let file = options().open(&place.path).unwrap();
            assert_eq!(file.root().attribute_value::<String>("title").unwrap(), "short");
        }
    }
}

#[test]
fn freed_elements_are_used_again_in_their_member() {
    let place = Place::new();
    let file = options().create(true).open(&place.path).unwrap();
    let bytes = vec![1_u8; 10_000];
    for turn in 0..20 {
        file.root().new_dataset::<u8>("a").shape([10_000]).create_with(&bytes).unwrap();
        file.root().new_dataset::<u8>(&format!("kept {turn}")).shape([10]).create_with(&bytes[..10]).unwrap();
        file.flush().unwrap();
        file.root().remove("a").unwrap();
        file.flush().unwrap();
    }
    assert_accounted(&file, 0);
    file.close().unwrap();
    assert!(place.lens()[1] < 30_000, "{:?}", place.lens());
}

#[test]
fn a_commit_without_changes_writes_nothing() {
    let place = Place::filled();
    let before = ["-m", "-r"].map(|end| fs::read(place.member(end)).unwrap());
    let file = options().write(true).open(&place.path).unwrap();
    assert_filled(&file);
    file.flush().unwrap();
    file.close().unwrap();
    assert_eq!(["-m", "-r"].map(|end| fs::read(place.member(end)).unwrap()), before);
}

#[test]
fn a_new_file_does_not_replace_a_member_of_another_one() {
    let place = Place::new();
    fs::write(place.member("-r"), b"elements").unwrap();
    for new in [options().create(true), options().create_new(true)] {
        let error = new.open(&place.path).unwrap_err();
        assert!(message(&error).contains("run-r.h5 exists and has bytes"), "{error}");
        assert!(!place.member("-m").exists());
    }
    // The file with the metadata exists, and is empty.
    fs::write(place.member("-m"), b"").unwrap();
    let error = options().create(true).open(&place.path).unwrap_err();
    assert!(message(&error).contains("exists and has bytes"), "{error}");
    assert_eq!(fs::read(place.member("-r")).unwrap(), b"elements");
    options().create(true).truncate(true).open(&place.path).unwrap().close().unwrap();
    assert_eq!(place.lens()[1], 0);
}

#[test]
fn a_split_file_is_open_once_in_a_process_and_both_members_are_locked() {
    let place = Place::new();
    let file = options().create(true).open(&place.path).unwrap();
    fill(&file);
    let again = options().open(&place.path).unwrap();
    assert!(again.is_same(&file));
    assert_filled(&again);
    let error = message(&File::open(place.member("-m")).unwrap_err());
    assert!(error.contains("open in this process with another driver"), "{error}");
    again.close().unwrap();
    for end in ["-m", "-r"] {
        let member = fs::File::open(place.member(end)).unwrap();
        assert!(matches!(member.try_lock_shared(), Err(fs::TryLockError::WouldBlock)), "{end}");
    }
    // Another file with the same elements.
    let other = Members::Split { metadata: b"-other.h5".to_vec(), raw: b"-r.h5".to_vec() };
    let error = File::options().members(other).create(true).truncate(true).open(&place.path).unwrap_err();
    assert!(message(&error).contains("lock"), "{error}");
    file.close().unwrap();
    assert_filled(&options().open(&place.path).unwrap());
    let reader = options().open(&place.path).unwrap();
    let member = fs::File::open(place.member("-r")).unwrap();
    assert!(matches!(member.try_lock(), Err(fs::TryLockError::WouldBlock)));
    reader.close().unwrap();
}

#[test]
fn both_members_are_different_files() {
    let place = Place::new();
    let same = Members::Split { metadata: b"-x.h5".to_vec(), raw: b"%s-x.h5".to_vec() };
    let options = File::options().members(same).locking(Locking::No);
    let error = options.clone().create(true).open(&place.path).unwrap_err();
    assert!(message(&error).contains("the same file"), "{error}");
    fs::copy(Place::filled().member("-m"), place.member("-x")).unwrap();
    for write in [false, true] {
        let error = options.clone().write(write).open(&place.path).unwrap_err();
        assert!(message(&error).contains("the same file"), "{error}");
    }
}

#[test]
fn what_libhdf5_refuses_is_refused_before_a_file_is_created() {
    let place = Place::new();
    let pages = FileSpace { strategy: SpaceStrategy::Pages, ..FileSpace::default() };
    for space in [pages, FileSpace { persist: true, ..FileSpace::default() }] {
        let error = options().space(space).create(true).open(&place.path).unwrap_err();
        assert!(message(&error).contains("allocates no pages"), "{error}");
        let split = RecordedMembers::split(&[]);
        let error = File::options().space(space).create(true).open_on(split.open()).unwrap_err();
        assert!(message(&error).contains("allocates no pages"), "{error}");
    }
    let error = options().swmr(true).open(&place.path).unwrap_err();
    assert!(matches!(error, Error::Request(RequestError::Members { .. })), "{error}");
    assert_eq!(fs::read_dir(place.folder.path()).unwrap().count(), 0);
    let file = options().create(true).open(&place.path).unwrap();
    assert!(message(&file.start_swmr().unwrap_err()).contains("SWMR"));
    file.close().unwrap();
    let blocks = FileSpace { strategy: SpaceStrategy::Blocks, ..FileSpace::default() };
    let file = options().space(blocks).create(true).truncate(true).open(&place.path).unwrap();
    fill(&file);
    file.close().unwrap();
    assert_filled(&options().open(&place.path).unwrap());
}

#[test]
fn a_member_that_is_missing_or_short_keeps_writers_out() {
    let place = Place::filled();
    let whole = fs::read(place.member("-r")).unwrap();
    let before = fs::read(place.member("-m")).unwrap();
    fs::write(place.member("-r"), &whole[..whole.len() - 1]).unwrap();
    let error = options().write(true).open(&place.path).unwrap_err();
    assert!(message(&error).contains("cut short or replaced"), "{error}");
    let report = place.check();
    assert!(!report.is_sound() && format!("{report:?}").contains("cut short or replaced"), "{report:?}");
    fs::write(place.member("-r"), [&whole[..], b"tail"].concat()).unwrap();
    assert!(format!("{:?}", place.check()).contains("4 bytes follow the stated end"));
    let file = options().write(true).open(&place.path).unwrap();
    file.root().set_attribute("more", 1).unwrap();
    file.close().unwrap();
    assert_eq!(fs::read(place.member("-r")).unwrap(), whole, "the tail is cut by a writer");
    fs::write(place.member("-m"), before).unwrap();
    fs::remove_file(place.member("-r")).unwrap();
    for write in [options().write(true), options().create(true)] {
        let error = write.open(&place.path).unwrap_err();
        assert!(message(&error).contains("run-r.h5"), "{error}");
        assert!(!place.member("-r").exists());
    }
    // A string of variable length is with the elements.
    let file = options().open(&place.path).unwrap();
    assert_eq!(file.root().names().unwrap(), ["g", "whole", "words"]);
    let error = file.root().attribute_value::<String>("title").unwrap_err();
    assert!(message(&error).contains("run-r.h5"), "{error}");
    let error = file.dataset("whole").unwrap().read::<i32>(..).unwrap_err();
    assert!(message(&error).contains("run-r.h5"), "{error}");
}

/// Changes what a file with superblock 0 states of its members.
fn restate(metadata: &Path, f: impl FnOnce(&mut MultiInformation)) {
    let mut bytes = fs::read(metadata).unwrap();
    let at = usize::try_from(u64::from_le_bytes(bytes[48..56].try_into().unwrap())).unwrap();
    let block = &bytes[at..];
    let DriverBlock(found) = Reader::new(block, Widths::EIGHT, Addr::new(96)).structure(&()).unwrap();
    let DriverInformation::Multi(mut multi) = found else { panic!("another driver") };
    f(&mut multi);
    let mut block = Vec::new();
    Writer::new(&mut block, Widths::EIGHT).structure(&DriverBlock(DriverInformation::Multi(multi)), &());
    bytes[at..at + block.len()].copy_from_slice(&block);
    fs::write(metadata, bytes).unwrap();
}

fn oldest() -> Place {
    let place = Place::new();
    let file = options().version(LibVersion::Earliest).create(true).open(&place.path).unwrap();
    fill(&file);
    file.close().unwrap();
    place
}

#[test]
fn members_that_libhdf5_arranges_otherwise_are_only_read() {
    let refused = |place: &Place| {
        let error = options().write(true).open(&place.path).unwrap_err();
        assert!(message(&error).contains("repack"), "{error}");
    };
    let place = oldest();
    restate(&place.member("-m"), |multi| multi.map = [1, 1, 3, 1, 1, 1]);
    assert_filled(&options().open(&place.path).unwrap());
    refused(&place);
    // 0 stands for the kind itself.
    restate(&place.member("-m"), |multi| multi.map = [0, 1, 0, 3, 1, 1]);
    options().write(true).open(&place.path).unwrap().close().unwrap();
    restate(&place.member("-m"), |multi| multi.members[1].start -= 1);
    refused(&place);
    // libhdf5 1.6 states the end of both members in the superblock.
    for elements in [0, 8000] {
        let place = oldest();
        let mut bytes = fs::read(place.member("-m")).unwrap();
        let end = MultiInformation::SPLIT_AT + elements;
        bytes[40..48].copy_from_slice(&end.to_le_bytes());
        fs::write(place.member("-m"), bytes).unwrap();
        assert_filled(&options().open(&place.path).unwrap());
        refused(&place);
    }
    // A file that states nothing.
    let place = oldest();
    let mut bytes = fs::read(place.member("-m")).unwrap();
    bytes[48..56].fill(0xff);
    fs::write(place.member("-m"), bytes).unwrap();
    assert_filled(&options().open(&place.path).unwrap());
    refused(&place);
}

#[test]
fn a_check_compares_the_stated_end_of_the_metadata() {
    let place = oldest();
    restate(&place.member("-m"), |multi| multi.members[0].end += 8);
    let report = place.check();
    assert!(report.is_sound() && format!("{report:?}").contains("libhdf5 takes the latter"), "{report:?}");
    // The next commit states what is so.
    let file = options().write(true).open(&place.path).unwrap();
    file.root().set_attribute("n", 1).unwrap();
    file.close().unwrap();
    assert!(place.check().findings.is_empty(), "{:?}", place.check());
}

/// Returns the images of a split file whose commit was interrupted after each change.
fn interrupted() -> Vec<Vec<u8>> {
    let split = RecordedMembers::split(&[]);
    let file = File::options().version(LibVersion::V110).create(true).open_on(split.open()).unwrap();
    fill(&file);
    file.close().unwrap();
    let split = RecordedMembers::split(&split.image());
    let file = File::options().write(true).open_on(split.open()).unwrap();
    file.dataset("words").unwrap().write(0..1, &["another word".to_owned()]).unwrap();
    file.root().new_dataset::<u8>("more").shape([3000]).create_with(&[1; 3000]).unwrap();
    file.close().unwrap();
    let mut images = Vec::new();
    split.after_kill(|image| images.push(image.to_vec()));
    images
}

#[test]
fn a_member_alone_is_not_recovered() {
    let mut refused = 0;
    for image in interrupted() {
        let (metadata, _) = parts(&image).unwrap();
        let whole = inspect(&*driver_of(&image)).unwrap();
        let alone = Memory::new(metadata.to_vec());
        let report = inspect(&alone).unwrap();
        if whole.action == Action::Redo {
            assert_eq!(report.action, Action::Refuse);
            assert!(report.refusal.unwrap().contains("driver=\"split\""));
            assert!(act(&alone, &report).is_err());
            assert_eq!(alone.bytes(), metadata);
            let error = File::options().open_on(Arc::new(alone)).unwrap_err();
            assert!(message(&error).contains("driver=\"split\""), "{error}");
            refused += 1;
        }
    }
    assert!(refused > 3, "{refused}");
}

#[test]
fn an_interrupted_commit_is_shown_as_recovery_leaves_it_and_recovered() {
    let (mut redone, mut cut) = (0, 0);
    for image in interrupted() {
        let driver = driver_of(&image);
        let report = inspect(&*driver).unwrap();
        redone += usize::from(report.action == Action::Redo);
        cut += usize::from(report.action == Action::DropTail);
        let is_new = File::options().open_on(Arc::clone(&driver)).unwrap().dataset("more").is_ok();
        assert!(report.action != Action::Redo || is_new);
        assert_eq!(parts(&image).unwrap().0.len() as u64, driver.len().unwrap(), "reading changes nothing");
        act(&*driver, &report).unwrap();
        assert_eq!(inspect(&*driver).unwrap().action, Action::Nothing);
        assert_eq!(File::options().open_on(driver).unwrap().dataset("more").is_ok(), is_new);
    }
    assert!(redone > 3 && cut > 0, "{redone} {cut}");
}

#[test]
fn a_commit_is_not_finished_with_a_wrong_member() {
    let metadata_of = |driver: &dyn Driver| {
        let mut bytes = vec![0; usize::try_from(driver.len().unwrap()).unwrap()];
        driver.read_at(0, &mut bytes).unwrap();
        bytes
    };
    let (mut refused, mut told) = (0, 0);
    for image in interrupted() {
        let (metadata, elements) = parts(&image).unwrap();
        if inspect(&*driver_of(&image)).unwrap().action != Action::Redo {
            continue;
        }
        for len in [0, elements.len() / 2] {
            let driver = driver_of(&joined(metadata, &elements[..len]));
            let error = File::options().write(true).open_on(Arc::clone(&driver)).unwrap_err();
            // A commit that has not begun its overwrites is compared with the file first.
            told += usize::from(message(&error).contains("restore it"));
            assert_eq!(driver.elements().unwrap().len().unwrap(), len as u64);
            let whole = RecordedMembers::split(&joined(&metadata_of(&*driver), elements));
            assert_eq!(inspect(&*whole.open()).unwrap().action, Action::Redo, "the journal is not lost");
        }
        refused += 1;
    }
    assert!(refused > 3 && told > 3, "{refused} {told}");
}

#[test]
fn a_view_shows_patches_of_both_ranges() {
    let split = RecordedMembers::split(&[]);
    let driver: Arc<dyn Driver> = split.open();
    let start = MultiInformation::SPLIT_AT;
    driver.write_at(0, b"metadata").unwrap();
    driver.write_at(start, b"elements").unwrap();
    let view = Overlay::new(driver, vec![(start + 2, b"EM".to_vec()), (1, b"E".to_vec())], 4);
    let read = |offset: u64, len: usize| {
        let mut bytes = vec![0; len];
        view.read_at(offset, &mut bytes).map(|()| bytes)
    };
    assert_eq!(read(0, 4).unwrap(), b"mEta");
    assert_eq!(read(start, 8).unwrap(), b"elEMents");
    assert!(read(3, 2).is_err() && read(start + 4, 5).is_err() && read(start - 1, 2).is_err());
    assert_eq!(view.capabilities().elements.unwrap().len().unwrap(), 8);
}

#[test]
fn threads_write_elements_while_others_commit() {
    let split = RecordedMembers::split(&[]);
    let file = File::options().create(true).open_on(split.open()).unwrap();
    let datasets: Vec<_> = (0..4)
        .map(|number| {
            let new = file.root().new_dataset::<u8>(&format!("d{number}")).shape([40, 100]).chunks([1, 100]);
            new.create().unwrap()
        })
        .collect();
    thread::scope(|scope| {
        for (number, dataset) in datasets.iter().enumerate() {
            scope.spawn(move || {
                for row in 0..40_u64 {
                    let values = [u8::try_from(row).unwrap() + u8::try_from(number).unwrap(); 100];
                    dataset.write([row..row + 1, 0..100], &values).unwrap();
                }
            });
        }
        scope.spawn(|| (0..60).for_each(|_| file.flush().unwrap()));
    });
    assert_accounted(&file, 0);
    file.close().unwrap();
    assert_sound(&split.image());
    let file = File::options().open_on(driver_of(&split.image())).unwrap();
    for number in 0..4_u8 {
        let found = file.dataset(&format!("d{number}")).unwrap().read::<u8>([39..40, 0..100]).unwrap();
        assert_eq!(found, [39 + number; 100]);
    }
}

/// Opens an image for writing, which needs all elements that the file states.
fn assert_openable(image: &[u8]) {
    let split = RecordedMembers::split(image);
    let opened = File::options().write(true).open_on(split.open());
    opened.unwrap_or_else(|error| panic!("{error}")).close().unwrap();
    assert_sound(image);
}

#[test]
fn the_member_has_the_stated_length_before_a_commit_states_it() {
    let new = RecordedMembers::split(&[]);
    let file = File::options().create(true).open_on(new.open()).unwrap();
    file.root().set_attribute("n", 1).unwrap();
    file.close().unwrap();
    for durability in [Durability::Kill, Durability::Power] {
        for is_zeroed in [false, true] {
            let split = RecordedMembers::split(&new.image());
            let options = File::options().durability(durability).write(true);
            let file = options.open_on(split.open()).unwrap();
            // Of metadata, only reachable blocks change. A thread has space that it has not written yet.
            file.root().set_attribute("n", 2).unwrap();
            let extent = file.store().allocate(10_000).unwrap();
            if is_zeroed {
                file.store().zero(extent).unwrap();
            }
            file.flush().unwrap();
            split.after_kill(assert_openable);
            if durability == Durability::Power {
                split.after_power_loss(7, 20, assert_openable);
            }
            file.store().release(extent);
            file.close().unwrap();
            assert_openable(&split.image());
        }
    }
}

#[derive(Debug)]
struct NoNames;

impl Names for NoNames {
    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn space_that_is_freed_during_a_commit_stays_in_the_member() {
    let metadata = Arc::new(Hooked::new(Memory::default()));
    let elements = Arc::new(Memory::default());
    let split = Split::new(metadata.clone(), elements.clone(), Box::new(NoNames));
    let file = File::options().create(true).open_on(Arc::new(split)).unwrap();
    fill(&file);
    file.flush().unwrap();
    let extent = file.store().allocate(10_000).unwrap();
    file.root().create_group("new").unwrap();
    let (other, is_released) = (file.clone(), AtomicBool::new(false));
    let (released, is_done) = channel();
    metadata.set(move |call| {
        if matches!(call, Call::Write(_)) && !is_released.swap(true, Ordering::SeqCst) {
            let other = other.clone();
            thread::spawn(move || other.store().release(extent)).join().unwrap();
            released.send(()).unwrap();
        }
        Ok(())
    });
    file.flush().unwrap();
    metadata.clear();
    is_done.try_recv().unwrap();
    assert_openable(&joined(&metadata.inner.bytes(), &elements.bytes()));
    file.close().unwrap();
    assert_openable(&joined(&metadata.inner.bytes(), &elements.bytes()));
}

#[test]
fn the_first_commit_makes_the_names_durable() {
    let split = RecordedMembers::split(&[]);
    let power = File::options().durability(Durability::Power);
    let file = power.create(true).open_on(split.open()).unwrap();
    fill(&file);
    file.close().unwrap();
    let steps = split.steps();
    let synced = steps.iter().position(|step| *step == MemberStep::Sync).unwrap();
    let sealed = steps.iter().rposition(|step| matches!(step, MemberStep::Write { file: 0, offset: 0, .. }));
    assert!(synced < sealed.unwrap(), "before the superblock");
}
