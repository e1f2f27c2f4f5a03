//! A model of the commit protocol: enumerates every state that a crash can leave and applies the rules of
//! recovery to it.
//!
//! The model has two anchored blocks, two new blocks, a journal and a superblock. Between two flushes any
//! subset of the writes persists, and each write is whole or torn. With `torn_superblock` the superblock may
//! be torn as well.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, as tests do")]

use std::collections::BTreeMap;

use hyperslab_store::commit::recovery::{Action, Seal, Trailer, decide};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Value {
    None,
    Old,
    Guard,
    New,
    Torn,
}
use Value::{Guard, New, None as Nothing, Old, Torn};

/// The blocks of the model, as indexes into a [`State`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    Superblock,
    Anchor1,
    Anchor2,
    New1,
    New2,
    Journal,
}
use Block::{Anchor1, Anchor2, Journal, New1, New2, Superblock};

type State = [Value; 6];
type Epochs = Vec<Vec<(Block, Value)>>;

const START: State = [Old, Old, Old, Nothing, Nothing, Nothing];

#[derive(Debug, Clone, Copy, PartialEq)]
enum GuardIs {
    WithJournal,
    WithOverwrites,
    Absent,
}

fn protocol(guard: GuardIs) -> Epochs {
    let blocks = vec![(New1, New), (New2, New)];
    let (journal, guarded) = (vec![(Journal, New)], vec![(Superblock, Guard)]);
    let overwrites = vec![(Anchor1, New), (Anchor2, New)];
    let (last, cut) = (vec![(Superblock, New)], vec![(Journal, Nothing)]);
    match guard {
        GuardIs::WithJournal => vec![blocks, [journal, guarded].concat(), overwrites, last, cut],
        GuardIs::WithOverwrites => vec![blocks, journal, [guarded, overwrites].concat(), last, cut],
        GuardIs::Absent => vec![blocks, journal, overwrites, last, cut],
    }
}

fn without_flush(mut epochs: Epochs, number: usize) -> Epochs {
    let merged = epochs.remove(number + 1);
    epochs[number].extend(merged);
    epochs
}

fn crash_states(epochs: &Epochs, torn_superblock: bool) -> Vec<State> {
    let mut durable = START;
    let mut states = Vec::new();
    for epoch in epochs {
        let mut reached = vec![durable];
        for block in [Superblock, Anchor1, Anchor2, New1, New2, Journal] {
            let written: Vec<Value> = epoch.iter().filter(|(b, _)| *b == block).map(|(_, v)| *v).collect();
            if written.is_empty() {
                continue;
            }
            let tears = torn_superblock || block != Superblock;
            let choices: Vec<Value> =
                [durable[block as usize]].into_iter().chain(written).chain(tears.then_some(Torn)).collect();
            reached = reached
                .iter()
                .flat_map(|state| choices.iter().map(move |choice| with(*state, block, *choice)))
                .collect();
        }
        states.extend(reached);
        for (block, value) in epoch {
            durable[*block as usize] = *value;
        }
    }
    states.push(durable);
    states
}

fn with(mut state: State, block: Block, value: Value) -> State {
    state[block as usize] = value;
    state
}

fn seen(state: State) -> &'static str {
    let [superblock, anchor1, anchor2, new1, new2, _] = state;
    match superblock {
        Old if [anchor1, anchor2] == [Old; 2] => "old",
        New if [anchor1, anchor2, new1, new2] == [New; 4] => "new",
        _ => "MIXED",
    }
}

/// Returns which state a program sees that does not know of the journal.
fn others(state: State) -> &'static str {
    if matches!(state[Superblock as usize], Guard | Torn) { "refused" } else { seen(state) }
}

fn recovered(state: State) -> &'static str {
    let at = |block: Block| state[block as usize];
    let trailer = match at(Journal) {
        Nothing => Trailer::Absent,
        New => Trailer::Whole,
        _ => Trailer::Torn,
    };
    let seal = match at(Superblock) {
        Old => Seal::Before,
        Guard => Seal::Guarded,
        New => Seal::After,
        _ => Seal::Torn,
    };
    match decide(trailer, seal) {
        Action::Refuse => "refused",
        Action::Nothing | Action::DropTail => seen(state),
        Action::Unguard => seen(with(state, Superblock, Old)),
        Action::Redo => {
            let redone =
                [Anchor1, Anchor2, Superblock].iter().fold(state, |state, block| with(state, *block, New));
            seen(redone)
        }
    }
}

fn count(states: &[State], sees: fn(State) -> &'static str) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for state in states {
        *counts.entry(sees(*state)).or_default() += 1;
    }
    counts
}

#[test]
fn recovery_after_any_crash_gives_the_old_or_the_new_state() {
    let states = crash_states(&protocol(GuardIs::WithJournal), false);
    assert_eq!(states.len(), 30);
    assert_eq!(count(&states, recovered), BTreeMap::from([("old", 13), ("new", 17)]));
    assert_eq!(count(&states, others), BTreeMap::from([("old", 12), ("refused", 13), ("new", 5)]));
}

#[test]
fn a_torn_superblock_is_recovered_or_refused() {
    let states = crash_states(&protocol(GuardIs::WithJournal), true);
    assert_eq!(states.len(), 34);
    assert_eq!(count(&states, recovered), BTreeMap::from([("old", 14), ("new", 19), ("refused", 1)]));
    assert!(!count(&states, others).contains_key("MIXED"));
}

#[test]
fn leaving_out_any_flush_mixes_old_and_new_state() {
    for number in 0..4 {
        for torn_superblock in [false, true] {
            let states =
                crash_states(&without_flush(protocol(GuardIs::WithJournal), number), torn_superblock);
            assert!(count(&states, recovered).contains_key("MIXED"), "flush {number}");
        }
    }
}

#[test]
fn without_the_guard_or_its_flush_other_programs_see_mixed_states() {
    for guard in [GuardIs::WithOverwrites, GuardIs::Absent] {
        for torn_superblock in [false, true] {
            let states = crash_states(&protocol(guard), torn_superblock);
            assert!(count(&states, others).contains_key("MIXED"), "{guard:?}");
        }
    }
}

#[test]
fn a_superblock_that_the_journal_does_not_know_is_refused() {
    for trailer in [Trailer::Absent, Trailer::Torn, Trailer::Whole] {
        assert_eq!(decide(trailer, Seal::Foreign), Action::Refuse);
    }
}
