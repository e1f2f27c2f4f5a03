//! Modules of the engine whose threads wait for each other, or count without locks, run in every order that
//! matters and that the memory model of C11 allows (`make loom`, decision 0048).
//!
//! The modules are the engine's own files. They take locks and atomic numbers from the module `sync` beside
//! them, which here has loom's, with the functions of `parking_lot`. Without `--cfg loom` this crate is empty.

#![cfg(all(test, loom))]
#![expect(dead_code, unreachable_pub, reason = "the models use a part of the engine's modules")]

mod engine;

/// Runs `model` in every order of its threads, except that no order has more than `most` switches away from a
/// thread that could go on. Two or three find nearly all faults; `HYPERSLAB_MODELS=all` has no bound.
fn explore(most: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    let has_bound = std::env::var_os("HYPERSLAB_MODELS").is_none_or(|bound| bound != "all");
    builder.preemption_bound = has_bound.then_some(most);
    builder.check(model);
}
