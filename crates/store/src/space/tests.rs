//! Tests of the space of a file: what is allocated, freed, and reused when.

use proptest::prelude::*;

use super::aggregator::{LARGEST_SMALL, SMALLEST_BLOCK};
use super::free_extents::meet;
use super::*;

fn extent(at: u64, len: u64) -> Extent {
    Extent::new(Addr::new(at), len)
}

#[test]
fn metadata_are_allocated_together_and_data_elsewhere() {
    let start = LARGEST_SMALL + 1;
    let mut space = Space::new(start, u64::MAX);
    assert_eq!(space.allocate(SpaceKind::Metadata, 100), Some(extent(start, 100)));
    assert_eq!(space.allocate(SpaceKind::Raw, 50), Some(extent(start + SMALLEST_BLOCK, 50)));
    assert_eq!(space.allocate(SpaceKind::Metadata, 100), Some(extent(start + 100, 100)));
}

#[test]
fn a_small_file_has_no_hole_between_metadata_and_data() {
    let mut space = Space::new(48, u64::MAX);
    let mut at = 48;
    let kinds = [SpaceKind::Metadata, SpaceKind::Raw].into_iter().cycle();
    for (kind, len) in kinds.zip([100, 24, 50, 8000, 10]) {
        assert_eq!(space.allocate(kind, len), Some(extent(at, len)));
        at += len;
    }
    assert_eq!(space.end_after_commit(false), at);
}

#[test]
fn metadata_at_the_end_of_the_file_leave_no_holes() {
    let mut space = Space::new(0, u64::MAX);
    for (at, len) in [(0, 200), (200, 100), (300, 5000), (5300, 10)] {
        assert_eq!(space.allocate(SpaceKind::Metadata, len), Some(extent(at, len)));
    }
    assert_eq!(space.end_after_commit(false), 5310);
}

#[test]
fn small_holes_are_used_for_metadata_and_large_ones_for_data() {
    let mut space = Space::new(0, u64::MAX);
    let small = space.allocate(SpaceKind::Raw, 3000).unwrap();
    space.allocate(SpaceKind::Raw, 10).unwrap();
    let large = space.allocate(SpaceKind::Raw, 100_000).unwrap();
    space.allocate(SpaceKind::Raw, 10).unwrap();
    // With this block the holes are not needed.
    let block = space.allocate(SpaceKind::Metadata, 10).unwrap();
    space.release(SpaceKind::Raw, large);
    space.no_reads();
    assert_eq!(space.allocate(SpaceKind::Metadata, 100), Some(extent(block.addr.get() + 10, 100)));
    space.release(SpaceKind::Raw, small);
    space.no_reads();
    assert_eq!(space.allocate(SpaceKind::Metadata, 100), Some(extent(small.addr.get(), 100)));
    assert_eq!(space.allocate(SpaceKind::Raw, 100_000), Some(large));
}

#[test]
fn free_space_at_the_end_is_used_when_the_file_grows() {
    let mut space = Space::new(0, u64::MAX);
    space.allocate(SpaceKind::Raw, 10).unwrap();
    let last = space.allocate(SpaceKind::Raw, 100).unwrap();
    space.release(SpaceKind::Raw, last);
    space.no_reads();
    assert_eq!(space.allocate(SpaceKind::Raw, 300), Some(extent(10, 300)));
    assert_eq!((space.end(), space.free_bytes()), (310, 0));
}

#[test]
fn a_commit_and_a_roll_back_keep_unnamed_extents() {
    let mut space = Space::new(0, u64::MAX);
    let first = space.allocate_unnamed(SpaceKind::Raw, 100).unwrap();
    let second = space.allocate_unnamed(SpaceKind::Raw, 100).unwrap();
    space.committed(space.end());
    space.named(first);
    // The step that named the first extent is rolled back; the data of the second are still being
    // written.
    space.roll_back();
    space.no_reads();
    assert_eq!(space.free_bytes(), 100);
    assert_eq!(space.allocate(SpaceKind::Raw, 100), Some(first));
    space.named(second);
    space.committed(space.end());
    space.release(SpaceKind::Raw, second);
    assert!(!space.is_waiting(), "the committed state reaches it now");
}

#[test]
fn an_extent_grows_into_the_free_space_after_it() {
    let mut space = Space::new(0, u64::MAX);
    let first = space.allocate(SpaceKind::Metadata, 100).unwrap();
    assert_eq!(space.extend(first, 50), Some(extent(100, 50)), "the block");
    assert_eq!(space.extend(extent(0, 150), 1000), Some(extent(150, 1000)), "the block, which grows");
    space.allocate(SpaceKind::Raw, 6000).unwrap();
    assert_eq!(space.extend(extent(0, 1150), 5000), None, "the block is too short, and data follow it");
    let data = space.end() - 6000;
    assert_eq!(space.extend(extent(data, 6000), 10), Some(extent(data + 6000, 10)), "the end");
    let hole = space.allocate(SpaceKind::Raw, 300).unwrap();
    space.allocate(SpaceKind::Raw, 10).unwrap();
    space.release(SpaceKind::Raw, hole);
    space.no_reads();
    assert_eq!(space.extend(extent(data, 6010), 301), None);
    assert_eq!(space.extend(extent(data, 6010), 300), Some(hole), "a hole");
    assert_eq!(space.extend(extent(data, 6310), 1), None, "it is not free");
}

#[test]
fn an_extent_of_the_committed_state_is_not_extended() {
    let mut space = Space::new(0, u64::MAX);
    let old = space.allocate(SpaceKind::Metadata, 100).unwrap();
    space.committed(space.end_after_commit(false));
    assert_eq!(space.extend(old, 10), None);
}

#[test]
fn committed_space_is_reused_after_the_commit_that_drops_it() {
    let mut space = Space::new(0, u64::MAX);
    let old = space.allocate(SpaceKind::Raw, 5000).unwrap();
    let after = space.allocate(SpaceKind::Raw, 10).unwrap();
    space.committed(space.end_after_commit(false));
    space.release(SpaceKind::Raw, old);
    space.no_reads();
    assert_ne!(space.allocate(SpaceKind::Raw, 5000), Some(old));
    space.committed(space.end_after_commit(false));
    assert_ne!(space.allocate(SpaceKind::Raw, 4000), Some(extent(0, 4000)), "a read may be under way");
    space.no_reads();
    assert_eq!(space.allocate(SpaceKind::Raw, 5000), Some(old));
    assert!(!space.is_fresh(after.addr));
}

#[test]
fn fresh_space_is_reused_at_once() {
    let mut space = Space::new(0, u64::MAX);
    let first = space.allocate(SpaceKind::Raw, 10).unwrap();
    space.allocate(SpaceKind::Raw, 10).unwrap();
    space.release(SpaceKind::Raw, first);
    space.no_reads();
    assert_eq!(space.allocate(SpaceKind::Raw, 10), Some(first));
}

#[test]
fn free_space_at_the_end_is_cut_off() {
    let mut space = Space::new(0, u64::MAX);
    let first = space.allocate(SpaceKind::Raw, 100).unwrap();
    let second = space.allocate(SpaceKind::Raw, 100).unwrap();
    space.allocate(SpaceKind::Metadata, 10).unwrap();
    assert_eq!(space.end_after_commit(false), 210, "the rest of the block for metadata");
    space.committed(210);
    space.release(SpaceKind::Raw, first);
    space.release(SpaceKind::Raw, second);
    space.release(SpaceKind::Raw, extent(200, 10));
    space.no_reads();
    assert_eq!(space.end_after_commit(false), 0);
    space.committed(0);
    space.no_reads();
    assert_eq!((space.end(), space.free_bytes()), (0, 0));
}

#[test]
fn space_freed_twice_is_allocated_once() {
    let mut space = Space::new(0, u64::MAX);
    let all = space.allocate(SpaceKind::Raw, 100).unwrap();
    space.allocate(SpaceKind::Raw, 10).unwrap();
    for _ in 0..3 {
        space.release(SpaceKind::Raw, all);
        space.release(SpaceKind::Raw, extent(50, 100_000));
        space.no_reads();
    }
    assert_eq!(space.free_bytes(), 110, "space after the end is ignored");
    let again = [100, 10].map(|len| space.allocate(SpaceKind::Raw, len).unwrap());
    assert!(!meet(again[0], again[1]));
    space.committed(110);
    for _ in 0..3 {
        space.release(SpaceKind::Raw, all);
    }
    assert_eq!(space.free_bytes(), 100);
}

#[test]
fn space_is_not_allocated_beyond_the_address_limit() {
    let mut space = Space::new(90, 100);
    assert_eq!(space.allocate(SpaceKind::Raw, 11), None);
    assert_eq!(space.allocate(SpaceKind::Raw, 10), Some(extent(90, 10)));
}

#[derive(Debug, Clone)]
enum Step {
    Allocate(bool, u64),
    Extend(usize, u64),
    Release(usize),
    NoReads,
    Commit,
    RollBack,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (any::<bool>(), 1_u64..6000).prop_map(|(raw, len)| Step::Allocate(raw, len)),
        2 => (0_usize..20, 1_u64..3000).prop_map(|(which, len)| Step::Extend(which, len)),
        3 => (0_usize..50).prop_map(Step::Release),
        1 => Just(Step::NoReads),
        1 => Just(Step::Commit),
        1 => Just(Step::RollBack),
    ];
    proptest::collection::vec(step, 1..120)
}

proptest! {
    /// Compares with a list of the extents in use now and of those in use at the last commit.
    #[test]
    fn no_byte_in_use_or_committed_is_allocated(steps in steps()) {
        let mut space = Space::new(64, u64::MAX);
        let (mut used, mut committed): (Vec<Extent>, Vec<Extent>) = (Vec::new(), Vec::new());
        for step in steps {
            match step {
                Step::Allocate(raw, len) => {
                    let kind = if raw { SpaceKind::Raw } else { SpaceKind::Metadata };
                    let new = space.allocate(kind, len).unwrap();
                    for old in used.iter().chain(&committed) {
                        let apart = new.end().unwrap() <= old.addr || old.end().unwrap() <= new.addr;
                        prop_assert!(apart, "{new:?} meets {old:?}");
                    }
                    prop_assert!(space.is_fresh(new.addr) && new.end().unwrap().get() <= space.end());
                    used.push(new);
                }
                Step::Extend(i, len) if i < used.len() => {
                    let Some(new) = space.extend(used[i], len) else { continue };
                    prop_assert_eq!((Some(new.addr), new.len), (used[i].end(), len));
                    for old in used.iter().chain(&committed) {
                        prop_assert!(!meet(new, *old), "{new:?} meets {old:?}");
                    }
                    prop_assert!(!committed.iter().any(|old| meet(used[i], *old)));
                    used[i].len += len;
                }
                Step::Release(i) if i < used.len() => space.release(SpaceKind::Raw, used.swap_remove(i)),
                Step::Extend(..) | Step::Release(_) => {}
                Step::NoReads => space.no_reads(),
                Step::Commit => {
                    let end = space.end_after_commit(false);
                    prop_assert!(used.iter().all(|extent| extent.end().unwrap().get() <= end));
                    space.committed(end);
                    committed = used.clone();
                }
                Step::RollBack => {
                    space.roll_back();
                    used = committed.clone();
                }
            }
        }
        // No space is lost either.
        let in_use: u64 = used.iter().map(|extent| extent.len).sum();
        prop_assert_eq!(in_use + space.free_bytes() + 64, space.end());
    }
}
