//! A new file that replaces an old one (decision 0040). A program that dies before the first flush leaves the
//! old file or an empty one, and later the empty or the new one.

use std::sync::Arc;

use hyperslab::driver::{Driver, Memory};
use hyperslab::{Durability, File, FileSpace, LibVersion, SpaceStrategy};
use hyperslab_testkit::counts::say_counts;
use hyperslab_testkit::crash::{CrashDriver, Recording};
use hyperslab_testkit::sound::assert_sound;

use super::base::{self, VERSIONS};
use super::state::State;
use super::{PLENTY, options};

/// What a new file has.
#[derive(Debug, Clone)]
struct New {
    version: LibVersion,
    user_block: u64,
    space: FileSpace,
    durability: Durability,
    dirty_bytes: u64,
}

impl New {
    fn begin(&self, driver: Arc<dyn Driver>) -> File {
        let options = options(self.durability, self.dirty_bytes).version(self.version).space(self.space);
        options.user_block(self.user_block).create(true).truncate(true).open_on(driver).unwrap()
    }

    /// Creates the file over `old`, fills it twice, with a flush after each.
    fn recorded(&self, old: &[u8]) -> Recording {
        let driver = Arc::new(CrashDriver::new(old.to_vec()));
        let file = self.begin(driver.clone());
        file.root().set_attribute("not in the old file", 1).unwrap();
        if self.dirty_bytes == PLENTY {
            base::fill(&file).unwrap();
        } else {
            // Blocks are written early, and nothing is committed.
            file.begin_transaction().unwrap();
            base::fill(&file).unwrap();
            file.end_transaction(true).unwrap();
        }
        file.flush().unwrap();
        file.root().set_attribute("last", 1).unwrap();
        file.flush().unwrap();
        drop(file);
        Arc::into_inner(driver).unwrap().into_recording()
    }

    fn empty(&self) -> State {
        let memory = Arc::new(Memory::default());
        self.begin(memory.clone()).close().unwrap();
        State::of_image(&memory.bytes()).unwrap()
    }
}

/// The states that are seen one after another.
struct Seen(Vec<State>);

impl Seen {
    fn add(&mut self, image: &[u8], new: &New) {
        let state = State::of_image(image).unwrap_or_else(|error| panic!("{new:?}: {error}"));
        assert_sound(image);
        if self.0.last() != Some(&state) {
            assert!(!self.0.contains(&state), "{new:?}: an earlier state is there again");
            self.0.push(state);
        }
    }
}

fn all() -> impl Iterator<Item = New> {
    let spaces = [
        FileSpace::default(),
        FileSpace { strategy: SpaceStrategy::Pages, page_size: 4096, ..FileSpace::default() },
    ];
    let of = move |version, user_block, dirty_bytes| {
        spaces.map(|space| New { version, user_block, space, durability: Durability::Kill, dirty_bytes })
    };
    let blocks = [(0, PLENTY), (0, 0), (512, PLENTY), (1024, PLENTY), (4096, PLENTY)];
    VERSIONS.into_iter().flat_map(move |version| {
        blocks.into_iter().flat_map(move |(user_block, dirty_bytes)| of(version, user_block, dirty_bytes))
    })
}

/// Files to replace: long, with a user block, short, not HDF5.
fn old_files() -> Vec<Vec<u8>> {
    let base = |version| base::image(version, FileSpace::default());
    let behind = Arc::new(Memory::default());
    let file = File::options().user_block(512).create(true).truncate(true).open_on(behind.clone()).unwrap();
    base::fill(&file).unwrap();
    file.close().unwrap();
    let short = Arc::new(Memory::default());
    File::options().create(true).truncate(true).open_on(short.clone()).unwrap().close().unwrap();
    vec![base(VERSIONS[0]), base(VERSIONS[2]), behind.bytes(), short.bytes()]
}

#[test]
fn a_kill_of_a_program_that_replaces_a_file_leaves_the_old_one_an_empty_one_or_the_new_one() {
    let mut images = 0;
    for (old, new) in old_files().iter().flat_map(|old| all().map(move |new| (old, new))) {
        let (recording, mut seen) = (new.recorded(old), Seen(Vec::new()));
        images += recording.after_kill(|image| seen.add(image, &new)).images;
        let (old, empty) = (State::of_image(old).unwrap(), new.empty());
        let first: &[State] = if old == empty { &[empty] } else { &[old, empty] };
        assert!(seen.0.starts_with(first), "{new:?}: {} states", seen.0.len());
        let early = usize::from(new.dirty_bytes == 0);
        assert_eq!(seen.0.len(), first.len() + 2 + early, "{new:?}");
    }
    say_counts(format_args!("crash_objects: created over a file, killed: {images} images"));
    assert!(images > 1000);
}

#[test]
fn a_kill_of_a_program_that_replaces_what_is_not_hdf5_leaves_that_or_a_file() {
    for new in all().filter(|new| new.user_block == 0) {
        let text = vec![b'x'; 3000];
        let mut seen = Seen(Vec::new());
        new.recorded(&text).after_kill(|image| {
            // Step 1 may have extended it.
            if !image.starts_with(&text[..100]) {
                seen.add(image, &new);
            }
        });
        assert_eq!(seen.0.first(), Some(&new.empty()), "{new:?}");
    }
}

#[test]
fn a_loss_of_power_after_the_first_flush_leaves_the_empty_or_the_new_file() {
    let old = base::image(VERSIONS[2], FileSpace::default());
    for version in VERSIONS {
        let new = New {
            version,
            user_block: 0,
            space: FileSpace::default(),
            durability: Durability::Power,
            dirty_bytes: PLENTY,
        };
        let recording = new.recorded(&old);
        let (empty, last) = (new.empty(), State::of_image(&recording.last_image()).unwrap());
        let mut found = 0;
        let flushes = recording.flushes();
        recording.after_power_loss(1, |epoch, image| {
            // The first flush is that of the opening, which cuts the old file; the second one is before the
            // first journal.
            if epoch < 2 {
                return;
            }
            let state = State::of_image(image).unwrap_or_else(|error| panic!("{new:?}, {epoch}: {error}"));
            assert!(epoch < flushes || state == last, "{new:?}");
            found += usize::from(state == empty);
        });
        assert!(found > 0 && flushes > 4, "{new:?}");
    }
}

/// The journal of a transaction that was interrupted would be taken for one of the new file.
#[test]
fn a_file_that_a_crash_left_unfinished_is_replaced() {
    let image = base::image(VERSIONS[2], FileSpace::default());
    let driver = Arc::new(CrashDriver::new(image));
    let file = options(Durability::Kill, PLENTY).write(true).open_on(driver.clone()).unwrap();
    base::set(&file.root(), "changed", 1, 100).unwrap();
    file.flush().unwrap();
    drop(file);
    let unfinished = Arc::into_inner(driver).unwrap().into_recording();
    for count in 0..=unfinished.len() {
        let old = unfinished.replayed(count).image();
        for new in all().filter(|new| new.user_block == 0) {
            let mut seen = Seen(Vec::new());
            new.recorded(&old).after_kill(|image| seen.add(image, &new));
            assert!(seen.0.contains(&new.empty()), "{new:?}");
        }
    }
}
