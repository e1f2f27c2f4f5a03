//! The files of the engine, what they use of it, and their models.

mod chunks;
mod sync;

#[path = "../../../hyperslab/src/engine/claims.rs"]
mod claims;
#[path = "../../../hyperslab/src/engine/first_error.rs"]
mod first_error;
#[path = "../../../hyperslab/src/engine/help.rs"]
mod help;
#[path = "../../../hyperslab/src/engine/in_flight.rs"]
mod in_flight;

mod models {
    mod claims;
    mod dirty;
    mod first_error;
    mod help;
    mod in_flight;
    mod requests;
}

mod task_queue {
    use hyperslab_error::Result;

    /// No model ends its reads.
    #[expect(clippy::unnecessary_wraps, reason = "as in the engine")]
    pub(super) fn worked(_: &'static str, _: usize) -> Result<()> {
        Ok(())
    }
}
