//! Random changes of a file against maps and vectors in memory: what is seen, what is in the file after it was flushed, closed,
//! killed or a transaction was taken back, and that no space is lost.
//!
//! `HYPERSLAB_SOAK=1` tries fifty times as many.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests")]

mod maps;
mod run;

use hyperslab::LibVersion;
use proptest::prelude::*;

use maps::Storage;
use run::Run;

/// One change; numbers choose among what there is.
#[derive(Debug, Clone)]
pub(crate) enum Action {
    MakeGroup { group: usize, name: usize, ordered: bool },
    MakeData { group: usize, name: usize, storage: Storage, len: usize },
    LinkSoft { group: usize, name: usize },
    LinkHard { group: usize, name: usize, data: usize },
    Remove { group: usize, name: usize },
    Rename { from: (usize, usize), to: (usize, usize) },
    SetAttribute { object: usize, name: usize, len: usize },
    RemoveAttribute { object: usize, name: usize },
    RenameAttribute { object: usize, from: usize, to: usize },
    Write { data: usize, from: usize, count: usize },
    Resize { data: usize, len: usize },
    Flush,
    Reopen,
    Kill,
    Begin,
    End { is_kept: bool },
}

/// Few enough that groups and objects have most of them now and then: more than fit a header.
const NAMES: usize = 13;

fn action() -> impl Strategy<Value = Action> {
    let (one, name) = (|| 0..1000_usize, || 0..NAMES);
    let storage = prop::sample::select(&Storage::ALL[..]);
    let attribute = prop_oneof![8 => 0..40_usize, 1 => 0..3000_usize];
    prop_oneof![
        2 => (one(), name(), any::<bool>())
            .prop_map(|(group, name, ordered)| Action::MakeGroup { group, name, ordered }),
        3 => (one(), name(), storage, 0..40_usize)
            .prop_map(|(group, name, storage, len)| Action::MakeData { group, name, storage, len }),
        4 => (one(), name()).prop_map(|(group, name)| Action::LinkSoft { group, name }),
        1 => (one(), name(), one()).prop_map(|(group, name, data)| Action::LinkHard { group, name, data }),
        3 => (one(), name()).prop_map(|(group, name)| Action::Remove { group, name }),
        2 => (one(), name(), one(), name())
            .prop_map(|(group, name, to, new)| Action::Rename { from: (group, name), to: (to, new) }),
        6 => (one(), name(), attribute)
            .prop_map(|(object, name, len)| Action::SetAttribute { object, name, len }),
        3 => (one(), name()).prop_map(|(object, name)| Action::RemoveAttribute { object, name }),
        1 => (one(), name(), name())
            .prop_map(|(object, from, to)| Action::RenameAttribute { object, from, to }),
        5 => (one(), one(), one()).prop_map(|(data, from, count)| Action::Write { data, from, count }),
        3 => (one(), 0..60_usize).prop_map(|(data, len)| Action::Resize { data, len }),
        1 => Just(Action::Flush),
        1 => Just(Action::Reopen),
        1 => Just(Action::Kill),
        1 => Just(Action::Begin),
        2 => any::<bool>().prop_map(|is_kept| Action::End { is_kept }),
    ]
}

fn versions() -> impl Strategy<Value = LibVersion> {
    prop::sample::select(&[LibVersion::Earliest, LibVersion::V18, LibVersion::V110, LibVersion::V200][..])
}

fn cases(few: u32) -> u32 {
    if std::env::var_os("HYPERSLAB_SOAK").is_some() { 50 * few } else { few }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(150),
        max_shrink_iters: 2000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_file_holds_what_was_done_to_it(
        version in versions(),
        actions in prop::collection::vec(action(), 1..120),
        // Plenty of memory for changes, or none.
        has_memory in any::<bool>(),
    ) {
        let mut run = Run::new(version, has_memory);
        for action in &actions {
            run.act(action);
        }
        run.finish();
    }

    #[test]
    fn space_of_what_is_gone_is_free_again(
        version in versions(),
        actions in prop::collection::vec(action(), 1..120),
    ) {
        let mut run = Run::new(version, true);
        run.drain();
        let used = run.used_bytes();
        // A file that is opened again, or read again since a transaction was taken back, knows neither what was free nor the
        // room that a heap has for the list of its free space.
        for action in &actions {
            match action {
                Action::Reopen | Action::Kill => {}
                Action::End { .. } => run.act(&Action::End { is_kept: true }),
                action => run.act(action),
            }
        }
        run.drain();
        prop_assert_eq!(run.used_bytes(), used);
    }
}
