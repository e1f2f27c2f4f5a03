//! Makes random changes to a file and compares the file with maps and vectors in memory: while it is open,
//! and after it was flushed, closed or killed, or a transaction was rolled back. No space may be lost.
//!
//! `HYPERSLAB_SOAK=1` runs fifty times as many cases.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, as tests do")]

mod maps;
mod run;

use hyperslab::LibVersion;
use hyperslab_store::Searches;
use proptest::prelude::*;

use maps::Storage;
use run::Run;

/// One change. The numbers select groups, names and objects of the model.
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

/// The number of names. Groups and objects often get most of them, which are more than compact storage holds.
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

/// Whether, and when, the file looks for space that was free when it was opened.
fn searches() -> impl Strategy<Value = Option<Searches>> {
    prop_oneof![Just(None), Just(Some(Searches::AtOnce)), Just(Some(Searches::AfterCommit))]
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
    fn a_randomly_changed_file_matches_the_model(
        version in versions(),
        actions in prop::collection::vec(action(), 1..120),
        // Whether changes are kept in memory until a commit, or written early.
        has_memory in any::<bool>(),
        searches in searches(),
    ) {
        let mut run = Run::new(version, has_memory, searches);
        for action in &actions {
            run.act(action);
        }
        run.finish();
    }

    #[test]
    fn deleting_everything_frees_all_space(
        version in versions(),
        actions in prop::collection::vec(action(), 1..120),
    ) {
        let mut run = Run::new(version, true, None);
        run.drain();
        let used = run.used_bytes();
        // Without reopening or rolling back: after either, a file knows neither its free space nor the space
        // that a heap has reserved for its list of free space.
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
