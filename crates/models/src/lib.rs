//! Modules of the engine whose threads wait for each other, or count without locks, run in every order that
//! matters and that the memory model of C11 allows (`make loom`, decision 0048).
//!
//! The modules are the engine's own files. They take locks and atomic numbers from the module `sync` beside
//! them, which here has loom's, with the functions of `parking_lot`. Without `--cfg loom` this crate is
//! empty.

#![cfg(all(test, loom))]
#![expect(clippy::unwrap_used, reason = "a thread that panics has failed the model")]
#![expect(dead_code, unreachable_pub, reason = "the models use a part of the engine's modules")]

mod engine;

/// Runs `model` in every order of its threads, except that no order takes more than `most` times the
/// processor away from a thread that could go on. loom's variable `LOOM_MAX_PREEMPTIONS` has another number.
fn explore(most: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(most));
    builder.check(model);
}
