//! A medium that takes 2 ms for each request and serves 16 at once, as a disk or an object store does: for tests of how many
//! requests are under way.

use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyperslab::driver::{Driver, Hints, Memory, ReadQueue, Request};

/// A file in memory behind a slow line.
#[derive(Debug, Default)]
pub struct Deep {
    inner: Memory,
    state: Mutex<State>,
    is_free: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Requests under way now.
    under_way: usize,
    served: Served,
}

/// What was asked of it.
#[derive(Debug, Default, Clone, Copy)]
pub struct Served {
    /// How many requests.
    pub requests: usize,
    /// For each of them, how many were under way with it, itself among them; all of these added up.
    pub together: usize,
}

impl Served {
    /// How many requests were under way at a time, on average.
    pub fn mean(&self) -> usize {
        self.together / self.requests.max(1)
    }
}

impl Deep {
    /// The file with these bytes.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { inner: Memory::new(bytes), ..Self::default() }
    }

    /// What was asked of it since the last call.
    pub fn take(&self) -> Served {
        std::mem::take(&mut self.state().served)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Serves as many requests as there is room for, and as `ask` has.
    fn serve(&self, ask: impl FnOnce(usize) -> usize) -> usize {
        let mut state = self.state();
        while state.under_way == AT_ONCE {
            state = self.is_free.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let room = AT_ONCE - state.under_way;
        state.under_way = AT_ONCE;
        drop(state);
        let asked = ask(room);
        let mut state = self.state();
        state.under_way -= room - asked;
        state.served.requests += asked;
        state.served.together += asked * state.under_way;
        drop(state);
        self.is_free.notify_all();
        if asked > 0 {
            std::thread::sleep(TIME);
        }
        self.state().under_way -= asked;
        self.is_free.notify_all();
        asked
    }
}

impl Driver for Deep {
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> io::Result<()> {
        self.serve(|_| 1);
        self.inner.read_at(offset, dst)
    }

    /// Those that were asked for together come together, the last one first.
    fn read_many(&self, queue: &mut dyn ReadQueue) -> io::Result<()> {
        let mut asked: Vec<Request> = Vec::new();
        loop {
            let count = self.serve(|room| {
                asked.extend(std::iter::from_fn(|| queue.next()).take(room));
                asked.len()
            });
            if count == 0 {
                return Ok(());
            }
            for request in asked.drain(..).rev() {
                self.inner.read_at(request.offset, queue.place(request.id)?)?;
                queue.arrived(request.id);
            }
        }
    }

    fn write_at(&self, offset: u64, src: &[u8]) -> io::Result<()> {
        self.inner.write_at(offset, src)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.inner.set_len(len)
    }

    fn flush(&self, closing: bool) -> io::Result<()> {
        self.inner.flush(closing)
    }

    fn hints(&self) -> Hints {
        // No two chunks of a test in one request.
        Hints { queue_depth: AT_ONCE, max_span: 512, ..self.inner.hints() }
    }
}

const AT_ONCE: usize = 16;
const TIME: Duration = Duration::from_millis(2);
