//! Reports of progress to a function of Python, and the end of work on Ctrl-C.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use pyo3::prelude::*;

/// Tells a function of Python how much of a piece of work is done. An exception that the function or a
/// handler of a signal raises ends the work.
pub(crate) struct Progress {
    function: Option<Py<PyAny>>,
    /// The least time between two reports.
    pause: Duration,
    /// Whether handlers of signals are called while the work goes on.
    answers: bool,
    state: Mutex<ProgressState>,
}

#[derive(Default)]
struct ProgressState {
    /// The time of the last report, and what was done and the total in it.
    told: Option<(Instant, u64, u64)>,
    /// The last total that the work named.
    total: Option<u64>,
    /// The exception of the function or a handler.
    raised: Option<PyErr>,
}

/// The least time between two reports of work that reports often.
const PAUSE: Duration = Duration::from_millis(50);

impl Progress {
    /// Returns the reports to `function`, at a bounded rate. Without a function, only signals end the work.
    pub(crate) fn new(function: Option<Py<PyAny>>) -> Self {
        Self { function, pause: PAUSE, answers: true, state: Mutex::default() }
    }

    /// Does the same for work that holds locks of a file: no handler is called, because it may use the file.
    /// The work has to [end on Ctrl-C](crate::interpreter::signals) by itself.
    pub(crate) fn under_locks(function: Option<Py<PyAny>>) -> Self {
        Self { answers: false, ..Self::new(function) }
    }

    /// Does the same for work that reports each of its long steps, and may begin again: each is passed on.
    pub(crate) fn of_steps(function: Option<Py<PyAny>>) -> Self {
        Self { pause: Duration::ZERO, ..Self::new(function) }
    }

    /// Reports that `done` of `total` is done, unless the last report was a short time ago or had as much.
    /// Breaks if the work has to end. Any thread may call this, with or without the GIL.
    pub(crate) fn tell(&self, done: u64, total: u64) -> ControlFlow<()> {
        // A thread that reports may wait for the GIL, which this thread may have, so nothing waits for it.
        let Some(mut state) = self.state.try_lock() else { return ControlFlow::Continue(()) };
        if state.raised.is_some() {
            return ControlFlow::Break(());
        }
        let done = done.min(total);
        state.total = Some(total);
        // An exception at the end must come before the work is kept.
        let is_due = self.pause.is_zero()
            || done == total && state.told.is_none_or(|(_, before, of)| (before, of) != (done, total))
            || state.told.is_none_or(|(when, before, _)| done > before && when.elapsed() >= self.pause);
        if !is_due {
            return ControlFlow::Continue(());
        }
        state.told = Some((Instant::now(), done, total));
        match self.call(done, total) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                state.raised = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    fn call(&self, done: u64, total: u64) -> PyResult<()> {
        if !self.answers && self.function.is_none() {
            return Ok(());
        }
        Python::attach(|py| {
            if self.answers {
                // Python calls handlers on its main thread only.
                py.check_signals()?;
            }
            self.function.as_ref().map_or(Ok(()), |function| function.call1(py, (done, total)).map(drop))
        })
    }

    /// Returns the result of the work, or raises the exception that ended it. Reports the end of work that is
    /// complete, unless the last report did. Work without any total has one step.
    pub(crate) fn result<T>(self, done: PyResult<T>) -> PyResult<T> {
        let state = self.state.lock();
        if let Some(error) = &state.raised {
            return Err(Python::attach(|py| error.clone_ref(py)));
        }
        let done = done?;
        let total = state.total.unwrap_or(1);
        if state.told.is_none_or(|(_, told, of)| (told, of) != (total, total)) {
            self.call(total, total)?;
        }
        Ok(done)
    }
}
