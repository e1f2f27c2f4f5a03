//! Which bytes of the file to read, and in which requests.

mod blosc_ranges;
pub(in crate::engine) mod window;

use hyperslab_error::Result;

use super::destination::Region;
use super::plan::pieces::ReadTask;
use super::plan::spans::Spans;
use super::plan::step::ChunkStep;
use super::scratch::WorkerScratch;

/// What becomes of the bytes that a [`Window`](window::Window) reads.
pub(in crate::engine) trait Finish {
    /// Finishes a task, given the stored bytes of its piece. Those that its step does not need are
    /// unspecified.
    fn finish(
        &self,
        task: &ReadTask,
        step: ChunkStep,
        stored: &[u8],
        scratch: &mut WorkerScratch,
    ) -> Result<()>;

    /// Copies the selected elements of one span to `region`, the first one to its byte `target`.
    fn copy_span(&self, spans: &mut Spans, bytes: &[u8], target: usize, region: &mut Region<'_>);
}
