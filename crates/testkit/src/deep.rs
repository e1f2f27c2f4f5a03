//! A medium that takes 2 ms for each request and serves 16 requests at once, like a disk or an object store.
//! Tests use it to count concurrent requests, and a benchmark to show what they are worth.

use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyperslab::driver::{Capabilities, Driver, Hints, Memory, ReadQueue, Request};

/// A file in memory with slow requests.
#[derive(Debug)]
pub struct Deep {
    inner: Memory,
    at_once: usize,
    state: Mutex<DeepState>,
    is_free: Condvar,
}

#[derive(Debug, Default)]
struct DeepState {
    /// The number of requests being served now.
    under_way: usize,
    served: Served,
}

/// Counts of the requests served.
#[derive(Debug, Default, Clone, Copy)]
pub struct Served {
    /// The number of requests.
    pub requests: usize,
    /// The sum, over all requests, of the number of requests that were being served at the same time,
    /// including the request itself.
    pub together: usize,
}

impl Served {
    /// Returns the mean number of requests that were served at the same time.
    pub fn mean(&self) -> usize {
        self.together / self.requests.max(1)
    }
}

impl Deep {
    /// Creates a file with these bytes.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { inner: Memory::new(bytes), at_once: AT_ONCE, state: Mutex::default(), is_free: Condvar::new() }
    }

    /// Returns the medium that serves `at_once` requests at once.
    #[must_use]
    pub fn serving(self, at_once: usize) -> Self {
        Self { at_once, ..self }
    }

    /// Returns the counts since the last call, and resets them.
    pub fn take(&self) -> Served {
        std::mem::take(&mut self.state().served)
    }

    fn state(&self) -> MutexGuard<'_, DeepState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for room, calls `ask` with the number of requests there is room for, and serves the number of
    /// requests that it returns.
    fn serve(&self, ask: impl FnOnce(usize) -> usize) -> usize {
        let mut state = self.state();
        while state.under_way == self.at_once {
            state = self.is_free.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let room = self.at_once - state.under_way;
        state.under_way = self.at_once;
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

    /// Serves all requests of one round together, and completes them in reverse order.
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

    fn capabilities(&self) -> Capabilities<'_> {
        // `max_span` is small, so that no request covers two chunks of a test.
        Capabilities::new(
            "custom",
            Hints { queue_depth: self.at_once, max_span: 512, ..self.inner.capabilities().hints },
        )
    }
}

const AT_ONCE: usize = 16;
const TIME: Duration = Duration::from_millis(2);
