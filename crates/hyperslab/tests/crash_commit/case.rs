//! Random commits to real files, and the states that a recovered file may have.

use std::sync::Arc;

use hyperslab::driver::{Driver, Memory};
use hyperslab_format::superblock::Superblock;
use hyperslab_format::{Addr, Reader, Structure, Widths, Writer};
use hyperslab_store::commit::recovery::{Action, act, inspect};
use hyperslab_store::commit::{Commit, Durability, Overwrite};
use hyperslab_testkit::fuzz::Random;
use hyperslab_testkit::golden;

/// Files with superblocks of every version, with user blocks, and with addresses of four bytes.
pub(crate) const FILES: &[&str] = &[
    "libver_earliest.h5",
    "superblock_v1.h5",
    "libver_v108.h5",
    "libver_latest.h5",
    "userblock_512_earliest.h5",
    "userblock_1024_latest.h5",
    "sizes_4_4_earliest.h5",
    "sizes_4_4_v110.h5",
];

/// Returns a golden file, truncated at the End of File Address.
pub(crate) fn file(name: &str) -> Vec<u8> {
    let mut image = std::fs::read(golden::directory().join("files").join(name)).unwrap();
    let end = superblock(&image).1.end_of_file();
    image.truncate(usize::try_from(end).unwrap());
    image
}

/// Returns the offset of the superblock and the superblock.
fn superblock(file: &[u8]) -> (usize, Superblock) {
    let at = Superblock::candidate_offsets(file.len() as u64)
        .map(|at| usize::try_from(at).unwrap())
        .find(|&at| Superblock::is_signature(&file[at..]))
        .unwrap();
    let mut r = Reader::new(&file[at..], Widths::EIGHT, Addr::new(0));
    (at, r.structure(&()).unwrap())
}

/// Returns the bytes of the superblock.
pub(crate) fn image_of(file: &[u8]) -> Vec<u8> {
    let (at, superblock) = superblock(file);
    file[at..at + superblock.encoded_len(superblock.widths(), &())].to_vec()
}

/// The changes that a commit makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    /// A few overwritten bytes and one new block.
    Small,
    /// Many sectors.
    Large,
    /// Only new blocks.
    BlocksOnly,
    /// Only overwrites; the superblock does not change.
    OverwritesOnly,
    /// Overwrites and a smaller End of File Address.
    Shrinking,
    /// Only a smaller End of File Address.
    SuperblockOnly,
}

/// All sizes.
pub(crate) const EVERY_SIZE: [Size; 6] =
    [Size::Small, Size::Large, Size::BlocksOnly, Size::OverwritesOnly, Size::Shrinking, Size::SuperblockOnly];

/// A commit and the file after it.
pub(crate) struct Case {
    pub(crate) commit: Commit,
    blocks: Vec<(u64, Vec<u8>)>,
    pub(crate) after: Vec<u8>,
}

impl Case {
    pub(crate) fn random(
        before: &[u8],
        transaction: u64,
        durability: Durability,
        random: &mut Random,
        size: Size,
    ) -> Self {
        let (at, old) = superblock(before);
        let first = at + image_of(before).len();
        let (overwrites, blocks, longest) = match size {
            Size::Small => (2, 1, 60),
            Size::Large => (5, 3, 1500),
            Size::BlocksOnly => (0, 2, 700),
            Size::OverwritesOnly | Size::Shrinking => (3, 0, 200),
            Size::SuperblockOnly => (0, 0, 1),
        };
        let shrinks = matches!(size, Size::Shrinking | Size::SuperblockOnly);
        let cut = if shrinks { 1 + random.below(99) } else { 0 };
        let kept = before.len() - cut;
        let mut after = before[..kept].to_vec();

        // Each overwrite is in its own part of the file, so that overwrites do not overlap.
        let mut changes = Vec::new();
        let part = (kept - first) / overwrites.max(1);
        for number in 0..overwrites {
            let len = 1 + random.below(longest).min(part - 2);
            let offset = first + number * part + random.below(part - len);
            let bytes: Vec<u8> =
                bytes(random, len).iter().zip(&before[offset..]).map(|(new, old)| old ^ (new | 1)).collect();
            after[offset..offset + len].copy_from_slice(&bytes);
            changes.push(Overwrite { offset: offset as u64, bytes });
        }
        let mut new_blocks: Vec<(u64, Vec<u8>)> = Vec::new();
        for _ in 0..blocks {
            let len = 1 + random.below(longest);
            let bytes = bytes(random, len);
            new_blocks.push((after.len() as u64, bytes.clone()));
            after.extend(bytes);
        }
        let image = ending_at(&old, after.len() as u64);
        after[at..at + image.len()].copy_from_slice(&image);
        let commit = Commit {
            transaction,
            superblock_at: at as u64,
            before: Some(image_of(before)),
            after: image,
            overwrites: changes,
            durability,
        };
        Self { commit, blocks: new_blocks, after }
    }

    /// Writes the new blocks, as the store does before it commits.
    pub(crate) fn write_new_blocks(&self, driver: &dyn Driver) {
        for (offset, bytes) in &self.blocks {
            driver.write_at(*offset, bytes).unwrap();
        }
        if self.commit.durability == Durability::Power {
            driver.flush(false).unwrap();
        }
    }
}

fn bytes(random: &mut Random, count: usize) -> Vec<u8> {
    (0..count).map(|_| random.u64().to_be_bytes()[0]).collect()
}

/// Returns the bytes of the superblock with another End of File Address.
fn ending_at(superblock: &Superblock, end: u64) -> Vec<u8> {
    let mut changed = superblock.clone();
    match &mut changed {
        Superblock::V0(s) => s.end_of_file = end,
        Superblock::V2(s) => s.end_of_file = end,
    }
    let mut bytes = Vec::new();
    Writer::new(&mut bytes, changed.widths()).structure(&changed, &());
    bytes
}

/// Recovers the file in `image` and returns the index of its state in `states`, or an error that says what is
/// wrong.
///
/// A read-only view must show the same state, a second recovery must change nothing, and a program that does
/// not know the journal must see one of the states or refuse the file.
pub(crate) fn recovered(image: &[u8], states: &[Vec<u8>]) -> Result<usize, String> {
    let shown = |image: &[u8]| states.iter().position(|state| image.starts_with(state));
    let (_, stored) = superblock(image);
    if stored.end_of_file() <= image.len() as u64 && shown(image).is_none() {
        return Err("another program sees a mixture of states".into());
    }
    let driver = Arc::new(Memory::new(image.to_vec()));
    let report = inspect(&*driver).map_err(|error| error.to_string())?;
    if report.action == Action::Refuse {
        return Err(format!("refused: {report:?}"));
    }
    let view = bytes_of(&*report.view(Arc::clone(&driver) as Arc<dyn Driver>));
    if driver.len().ok() != Some(image.len() as u64) || bytes_of(&*driver) != image {
        return Err("inspecting or viewing has changed the file".into());
    }
    act(&*driver, &report).map_err(|error| error.to_string())?;
    let done = bytes_of(&*driver);
    let describe = || format!("{:?} {:?} {:?}", report.trailer, report.seal, report.action);
    let state = shown(&done).ok_or_else(|| format!("a mixture after {}", describe()))?;
    if !view.starts_with(&states[state]) || report.len_bytes() != done.len() as u64 {
        return Err(format!("a view shows another state than recovery: {}", describe()));
    }
    if inspect(&*driver).map_err(|error| error.to_string())?.action != Action::Nothing {
        return Err(format!("a second recovery has more to do after {}", describe()));
    }
    Ok(state)
}

fn bytes_of(driver: &dyn Driver) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(driver.len().unwrap()).unwrap()];
    driver.read_at(0, &mut bytes).unwrap();
    bytes
}
