//! Files whose bytes are distributed over several files: families, and one file for each kind of data.

#![allow(clippy::unwrap_used)] // helpers of tests may panic, as tests do

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyperslab::driver::{Members, Memory};
use hyperslab::{Error, File, LibVersion, RequestError};
use hyperslab_check::{CheckOptions, check_path};
use hyperslab_format::layout::Layout;
use hyperslab_format::superblock::driver_information::{
    DriverBlock, DriverInformation, MultiInformation, MultiMember,
};
use hyperslab_format::{Widths, Writer};
use hyperslab_testkit::sound::assert_sound;
use tempfile::TempDir;

/// Returns the bytes of a file in the oldest format, with a chunked and a contiguous dataset.
fn plain() -> Vec<u8> {
    let memory = Arc::new(Memory::default());
    let file = File::options().create(true).version(LibVersion::Earliest).open_on(memory.clone()).unwrap();
    fill(&file);
    file.close().unwrap();
    assert_sound(&memory.bytes());
    memory.bytes()
}

fn fill(file: &File) {
    let numbers: Vec<i32> = (0..5000).collect();
    let options = file.root().new_dataset::<i32>("g/chunked").shape([5000]).chunks([64]);
    options.create_with(&numbers).unwrap();
    file.root().new_dataset::<i32>("whole").shape([5000]).create_with(&numbers).unwrap();
    file.root().set_attribute("title", "in parts").unwrap();
}

/// Returns the file with a driver information block.
fn with_block(information: DriverInformation) -> Vec<u8> {
    let mut bytes = plain();
    let at = bytes.len() as u64;
    bytes[48..56].copy_from_slice(&at.to_le_bytes());
    Writer::new(&mut bytes, Widths::EIGHT).structure(&DriverBlock(information), &());
    let end = bytes.len() as u64;
    bytes[40..48].copy_from_slice(&end.to_le_bytes());
    bytes
}

/// Writes members of a family of `size` bytes each.
fn family(bytes: &[u8], size: usize) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    for (number, part) in bytes.chunks(size).enumerate() {
        fs::write(folder.path().join(format!("part{number}.h5")), part).unwrap();
    }
    let path = folder.path().join("part%d.h5");
    (folder, path)
}

/// Returns what the superblock of a file with members for three kinds states: metadata to address `cut`, the
/// raw data in two more members after it.
fn three(cuts: [u64; 2], names: [&str; 3]) -> DriverInformation {
    let [first, second] = cuts;
    let member = |(start, name): (u64, &str)| MultiMember { start, end: 1 << 30, name: name.into() };
    let members = [(0, names[0]), (first, names[1]), (second, names[2])].map(member).to_vec();
    DriverInformation::Multi(MultiInformation { map: [1, 1, 3, 4, 1, 1], members })
}

/// A file to cut in three: the second part has the elements of one dataset, the others have the rest. The
/// first part has room for the driver information block.
struct Roomy {
    bytes: Vec<u8>,
    room: usize,
    cuts: [usize; 2],
}

impl Roomy {
    fn new() -> Self {
        let memory = Arc::new(Memory::default());
        let options = File::options().create(true).version(LibVersion::Earliest);
        let file = options.open_on(memory.clone()).unwrap();
        file.root().new_dataset::<u8>("room").shape([512]).create_with(&[0; 512]).unwrap();
        file.flush().unwrap();
        fill(&file);
        let place = |name: &str| match file.dataset(name).unwrap().layout() {
            Layout::Contiguous(extent) => extent,
            other => panic!("{name}: {other:?}"),
        };
        let (room, whole) = (place("room"), place("whole"));
        file.close().unwrap();
        let mut bytes = memory.bytes();
        bytes[48..56].copy_from_slice(&room.addr.get().to_le_bytes());
        let at = |offset: u64| usize::try_from(offset).unwrap();
        let cuts = [at(whole.addr.get()), at(whole.addr.get() + whole.len)];
        Self { bytes, room: at(room.addr.get()), cuts }
    }

    /// The members where they are.
    fn stated(&self) -> DriverInformation {
        three(self.cuts.map(|cut| cut as u64), NAMES)
    }

    /// Writes three members with these names, and what is `stated` into the first.
    fn write(&self, names: [&str; 3], stated: DriverInformation) -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let (mut bytes, [first, second]) = (self.bytes.clone(), self.cuts);
        let mut block = Vec::new();
        Writer::new(&mut block, Widths::EIGHT).structure(&DriverBlock(stated), &());
        bytes[self.room..self.room + block.len()].copy_from_slice(&block);
        let parts = [&bytes[..first], &bytes[first..second], &bytes[second..]];
        for (name, part) in names.into_iter().zip(parts) {
            fs::write(folder.path().join(name.replace("%s", "all")), part).unwrap();
        }
        let path = folder.path().join("all");
        (folder, path)
    }
}

const NAMES: [&str; 3] = ["%s-s.h5", "%s-r.h5", "%s-g.h5"];

fn open(path: &Path, members: Members) -> hyperslab::Result<File> {
    File::options().members(members).open(path)
}

fn assert_read(file: &File) {
    let numbers: Vec<i32> = (0..5000).collect();
    for name in ["g/chunked", "whole"] {
        let dataset = file.dataset(name).unwrap();
        assert_eq!(dataset.read::<i32>(..).unwrap(), numbers);
        for (from, to) in [(0_u32, 1_u32), (63, 65), (1000, 1400), (4999, 5000)] {
            assert_eq!(
                dataset.read::<i32>(u64::from(from)..u64::from(to)).unwrap(),
                numbers[from as usize..to as usize]
            );
        }
    }
    assert_eq!(file.root().attribute_value::<String>("title").unwrap(), "in parts");
}

fn message(error: &Error) -> String {
    error.to_string()
}

#[test]
fn a_family_is_read_whatever_the_size_of_its_members() {
    for size in [97, 256, 1000, 4096, 1 << 20] {
        let stated = with_block(DriverInformation::Family { member_size: size as u64 });
        for bytes in [plain(), stated] {
            let (_folder, path) = family(&bytes, size);
            assert_read(&open(&path, Members::family()).unwrap());
            assert_read(&open(&path, Members::Family { member_size: Some(size as u64) }).unwrap());
            let report = check_path(&path, &CheckOptions::default().data(true), &mut |_| {}).unwrap();
            assert!(report.is_sound(), "{report:?}");
        }
    }
}

#[test]
fn members_of_the_wrong_size_are_refused_by_name() {
    let bytes = with_block(DriverInformation::Family { member_size: 4096 });
    let members = bytes.len().div_ceil(4096);
    let fail = |path: &Path| message(&open(path, Members::family()).unwrap_err());

    let (folder, path) = family(&bytes, 4096);
    let part = |number: usize| folder.path().join(format!("part{number}.h5"));
    // Left over from an older, longer family: not read.
    fs::write(part(members), b"").unwrap();
    fs::write(part(members + 1), b"left over").unwrap();
    assert_read(&open(&path, Members::family()).unwrap());
    let short = &bytes[4096..8000];
    fs::write(part(1), short).unwrap();
    assert!(fail(&path).contains("part1.h5 is shorter"), "{}", fail(&path));
    fs::write(part(1), [short, &[0; 1000]].concat()).unwrap();
    assert!(fail(&path).contains("member 1 of the family has 4904 bytes"), "{}", fail(&path));
    fs::remove_file(part(1)).unwrap();
    assert!(fail(&path).contains("part1.h5 is missing"), "{}", fail(&path));
    fs::create_dir(part(1)).unwrap();
    assert!(fail(&path).contains("not a regular file"), "{}", fail(&path));
}

#[test]
fn the_stated_size_of_members_counts() {
    let (_folder, path) = family(&with_block(DriverInformation::Family { member_size: 4096 }), 4096);
    let error = message(&open(&path, Members::Family { member_size: Some(5000) }).unwrap_err());
    assert!(error.contains("should be 4096") && error.contains("5000"), "{error}");
    assert_read(&open(&path, Members::Family { member_size: Some(0) }).unwrap());

    let (_folder, path) = family(&with_block(DriverInformation::Family { member_size: 0 }), 4096);
    let error = message(&open(&path, Members::family()).unwrap_err());
    assert!(error.contains("Size of Member File is 0") || error.contains("Size of Member File"), "{error}");

    let (_folder, path) = family(&with_block(DriverInformation::Family { member_size: u64::MAX }), 4096);
    let error = message(&open(&path, Members::family()).unwrap_err());
    assert!(error.contains("is missing or shorter") || error.contains("part0.h5 is shorter"), "{error}");
}

#[test]
fn the_first_member_says_how_to_open_the_file() {
    let (folder, _) = family(&with_block(DriverInformation::Family { member_size: 4096 }), 4096);
    let error = message(&File::open(folder.path().join("part0.h5")).unwrap_err());
    assert!(error.contains("part%d.h5\" with driver=\"family\""), "{error}");
    // The file does not state it, but the second member exists.
    let (folder, _) = family(&plain(), 4096);
    let error = message(&File::open(folder.path().join("part0.h5")).unwrap_err());
    assert!(error.contains("part%d.h5\" with driver=\"family\""), "{error}");
    fs::remove_file(folder.path().join("part1.h5")).unwrap();
    assert!(message(&File::open(folder.path().join("part0.h5")).unwrap_err()).contains("cut short"));

    let file = Roomy::new();
    let (folder, _) = file.write(NAMES, file.stated());
    let error = message(&File::open(folder.path().join("all-s.h5")).unwrap_err());
    assert!(error.contains("all\" with driver=\"multi\""), "{error}");
}

#[test]
fn multi_files_are_only_read_and_no_member_is_read_while_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let options = File::options().members(Members::Multi).create(true);
    let error = options.open(folder.path().join("f")).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let (_folder, path) = family(&plain(), 4096);
    let error = File::options().members(Members::family()).swmr(true).open(&path).unwrap_err();
    assert!(matches!(error, Error::Request(RequestError::Members { .. })), "{error}");
    let opened = File::options().members(Members::family()).write(true).open(&path).unwrap();
    assert!(message(&opened.start_swmr().unwrap_err()).contains("SWMR"));
    // A family of one member can be read as an ordinary file, and is not changed.
    let (folder, _) = family(&with_block(DriverInformation::Family { member_size: 1 << 20 }), 1 << 20);
    assert_read(&File::open(folder.path().join("part0.h5")).unwrap());
    let error = File::options().write(true).open(folder.path().join("part0.h5")).unwrap_err();
    assert!(error.to_string().contains("family"), "{error}");
}

/// Returns the lengths of the members of the family at `part%d.h5`.
fn lengths(folder: &TempDir) -> Vec<u64> {
    let len = |number| fs::metadata(folder.path().join(format!("part{number}.h5"))).map(|found| found.len());
    (0..).map_while(|number: u32| len(number).ok()).collect()
}

fn sized(size: u64) -> Members {
    Members::Family { member_size: Some(size) }
}

#[test]
fn a_family_is_created_and_changed() {
    for version in [LibVersion::Earliest, LibVersion::V18, LibVersion::V110] {
        for user_block in [0, 1024] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("part%d.h5");
            let options = File::options().members(sized(2048)).version(version).user_block(user_block);
            let file = options.clone().create_new(true).open(&path).unwrap();
            fill(&file);
            file.close().unwrap();
            let found = lengths(&folder);
            let (last, full) = found.split_last().unwrap();
            assert!(full.len() > 10 && full.iter().all(|&len| len == 2048) && *last <= 2048, "{found:?}");
            assert_read(&open(&path, Members::family()).unwrap());
            let report = check_path(&path, &CheckOptions::default().data(true), &mut |_| {}).unwrap();
            assert!(report.is_sound(), "{report:?}");

            let file = File::options().members(Members::family()).write(true).open(&path).unwrap();
            file.root().remove("whole").unwrap();
            let more = vec![7_u8; 30_000];
            file.root().new_dataset::<u8>("more").shape([30_000]).create_with(&more).unwrap();
            file.close().unwrap();
            let file = open(&path, Members::family()).unwrap();
            assert_eq!(file.dataset("more").unwrap().read::<u8>(..).unwrap(), more);
            file.close().unwrap();
            // A new file in its place is shorter, and leaves nothing of the old one.
            let file = options.clone().members(sized(1 << 16)).truncate(true).open(&path).unwrap();
            file.root().set_attribute("title", "short").unwrap();
            file.close().unwrap();
            assert_eq!(lengths(&folder).len(), 1);
            assert!(open(&path, sized(2048)).is_err());
            let file = open(&path, sized(1 << 16)).unwrap();
            assert_eq!(file.root().attribute_value::<String>("title").unwrap(), "short");
            assert!(options.clone().create_new(true).open(&path).is_err());
        }
    }
}

#[test]
fn opening_a_family_for_writing_changes_no_member() {
    let (folder, path) = family(&with_block(DriverInformation::Family { member_size: 4096 }), 4096);
    fs::write(folder.path().join("part99.h5"), b"another file").unwrap();
    let before: Vec<_> =
        (0..lengths(&folder).len()).map(|n| fs::read(folder.path().join(format!("part{n}.h5")))).collect();
    let file = File::options().members(Members::family()).write(true).open(&path).unwrap();
    assert_read(&file);
    file.close().unwrap();
    // A loss of power may leave a member after one that is short.
    let (short, path_of_short) =
        family(&with_block(DriverInformation::Family { member_size: 1 << 20 }), 1 << 20);
    fs::write(short.path().join("part1.h5"), vec![1; 500_000]).unwrap();
    let file = File::options().members(Members::family()).write(true).open(&path_of_short).unwrap();
    assert_read(&file);
    file.close().unwrap();
    assert_eq!(lengths(&short)[1], 500_000);
    for (n, bytes) in before.into_iter().enumerate() {
        assert_eq!(fs::read(folder.path().join(format!("part{n}.h5"))).unwrap(), bytes.unwrap());
    }
    assert_eq!(fs::read(folder.path().join("part99.h5")).unwrap(), b"another file");
}

#[test]
fn members_that_do_not_suit_commits_are_refused_for_writing() {
    let folder = tempfile::tempdir().unwrap();
    for (name, size, user_block) in [("a%d", 99, 0), ("b%d", 600, 512), ("c%d", 700, 2048)] {
        let options = File::options().members(sized(size)).user_block(user_block).create(true);
        let error = message(&options.open(folder.path().join(name)).unwrap_err());
        assert!(error.contains("its superblock is not in one member"), "{error}");
    }
    let (_folder, path) = family(&plain(), 97);
    let options = File::options().members(Members::family()).write(true);
    let error = message(&options.open(&path).unwrap_err());
    assert!(error.contains("its superblock is not in one member"), "{error}");
    assert_read(&open(&path, Members::family()).unwrap());
    // One member that states nothing.
    let (_folder, path) = family(&plain(), 1 << 20);
    let error = message(&options.open(&path).unwrap_err());
    assert!(error.contains("give the size"), "{error}");
    File::options().members(sized(1 << 20)).write(true).open(&path).unwrap().close().unwrap();
}

#[test]
fn a_family_is_open_once_in_a_process_and_its_members_are_locked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("part%d.h5");
    let options = File::options().members(sized(2048));
    let file = options.clone().create(true).open(&path).unwrap();
    fill(&file);
    let again = options.clone().open(&path).unwrap();
    assert!(again.is_same(&file));
    assert_read(&again);
    let error = message(&File::open(folder.path().join("part0.h5")).unwrap_err());
    assert!(error.contains("open in this process with another driver"), "{error}");
    assert!(message(&options.clone().truncate(true).open(&path).unwrap_err()).contains("unable to truncate"));
    again.close().unwrap();
    file.root().set_attribute("still", "open").unwrap();
    file.flush().unwrap();
    for number in 0..lengths(&folder).len() {
        let member = fs::File::open(folder.path().join(format!("part{number}.h5"))).unwrap();
        assert!(matches!(member.try_lock_shared(), Err(fs::TryLockError::WouldBlock)), "{number}");
    }
    file.close().unwrap();
    // Two openings for reading may look at different members.
    let whole = options.open(&path).unwrap();
    assert!(!open(&path, Members::family()).unwrap().is_same(&whole));
}

#[test]
fn members_by_kind_are_where_the_file_states() {
    let file = Roomy::new();
    let [first, second] = file.cuts.map(|cut| cut as u64);
    let (_folder, path) = file.write(NAMES, file.stated());
    assert_read(&open(&path, Members::Multi).unwrap());
    let split = Members::Split { metadata: b"%s-s.h5".to_vec(), raw: b"-r.h5".to_vec() };
    assert_read(&open(&path, split).unwrap());

    // With a member elsewhere, its data are outside, and there is a gap.
    let (_folder, path) = file.write(NAMES, three([first, 1 << 40], NAMES));
    let medium = File::options().members(Members::Multi).medium(&path).unwrap();
    let len = file.bytes.len() as u64 - second;
    assert_eq!(medium.parts(), [0..second, 1 << 40..(1 << 40) + len]);
    let mut read = [1; 4];
    medium.read_at(1 << 39, &mut read).unwrap();
    assert_eq!(read, [0; 4]);
    medium.read_at((1 << 40) + 2, &mut read).unwrap();
    assert_eq!(read, file.bytes[file.cuts[1] + 2..file.cuts[1] + 6]);
    let error = message(&open(&path, Members::Multi).unwrap_err());
    assert!(error.contains("bytes needed, only"), "{error}");
}

#[test]
fn a_missing_member_affects_only_its_own_data() {
    let file = Roomy::new();
    let (folder, path) = file.write(NAMES, file.stated());
    fs::remove_file(folder.path().join("all-r.h5")).unwrap();
    let opened = open(&path, Members::Multi).unwrap();
    assert_eq!(opened.dataset("g/chunked").unwrap().read::<i32>(7..9).unwrap(), [7, 8]);
    let error = message(&opened.dataset("whole").unwrap().read::<i32>(..).unwrap_err());
    assert!(error.contains("the member") && error.contains("all-r.h5"), "{error}");
    drop(opened);
    fs::remove_file(folder.path().join("all-s.h5")).unwrap();
    assert!(matches!(open(&path, Members::Multi), Err(Error::Io { op: "open", .. })));
}

#[test]
fn a_file_does_not_lead_to_members_elsewhere() {
    let file = Roomy::new();
    let cuts = file.cuts.map(|cut| cut as u64);
    let fail = |stated| {
        let (_folder, path) = file.write(["%s-s.h5", "gone", "gone"], stated);
        message(&open(&path, Members::Multi).unwrap_err())
    };
    for name in ["/etc/passwd", "%s/../x", "raw.h5", "%s%s", "%s%n", "%s", ""] {
        let error = fail(three(cuts, ["%s-s.h5", name, "%s-g.h5"]));
        assert!(error.contains("not a name beside the file"), "{name}: {error}");
    }
    for wrong in [[0, 5], [7, 7]] {
        let error = fail(three(wrong, NAMES));
        assert!(error.contains("another address for each member"), "{error}");
    }
    let DriverInformation::Multi(mut multi) = file.stated() else { unreachable!() };
    multi.members[0].start = 1;
    let error = fail(DriverInformation::Multi(multi.clone()));
    assert!(error.contains("0 for the first member"), "{error}");
    multi.map[2] = 7;
    let error = fail(DriverInformation::Multi(multi));
    assert!(error.contains("Member Mapping"), "{error}");
}

#[test]
fn sizes_are_checked_against_the_member_and_not_against_the_gap_after_it() {
    let mut file = Roomy::new();
    // The size of the root group's local heap. These bytes would fit before the address of the next member,
    // but must not be allocated.
    let heap = file.bytes.windows(4).position(|window| window == b"HEAP").unwrap();
    file.bytes[heap + 8..heap + 16].copy_from_slice(&(1_u64 << 50).to_le_bytes());
    file.cuts = [file.bytes.len(), file.bytes.len() + 1];
    file.bytes.extend([0; 2]);
    let (_folder, path) = file.write(NAMES, three([1 << 60, 1 << 61], NAMES));
    let error = message(&open(&path, Members::Multi).and_then(|file| file.root().names()).unwrap_err());
    assert!(error.contains("bytes needed, only") && error.contains("local heap"), "{error}");
}
