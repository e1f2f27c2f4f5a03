//! Reads of a medium that has the bytes of the file in memory: a task is finished with them where they are.

use std::io;

use hyperslab_error::{Error, Result};

use crate::engine::plan::pieces::ReadTask;
use crate::engine::plan::place::Users;
use crate::engine::plan::route::Route;
use crate::engine::read::decode::{Need, Run};
use crate::engine::scratch::WorkerScratch;

impl Run<'_> {
    /// Finishes a task that needs `need` with the bytes of the file.
    pub(super) fn finish_in_memory(
        &self,
        file: &[u8],
        task: &ReadTask,
        need: Need,
        users: Users<'_>,
        scratch: &mut WorkerScratch,
    ) -> Result<()> {
        let (extent, way) = match need {
            Need::Ready(kept) => return self.copy(task, users, kept, scratch),
            Need::Spans(extent) => (extent, None),
            Need::Front(extent, _, wanted) => (extent, Some((Route::Blocks, wanted))),
            Need::Whole(extent, way) => (extent, way),
        };
        let raw = self.reading.raw();
        let len = raw.check(extent)?;
        let offset = raw.base().saturating_add(extent.addr.get());
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let stored = file.get(start..start.saturating_add(len));
        let is_cut = || Error::io("read", offset, extent.len)(io::ErrorKind::UnexpectedEof.into());
        self.finish(task, users, way, stored.ok_or_else(is_cut)?, scratch)
    }
}
