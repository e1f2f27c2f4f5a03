//! A medium that delays chosen writes, for tests of what other threads can do in the meantime.

use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyperslab::driver::{Capabilities, Driver, Memory};

/// Decides whether a write is delayed, given its offset and its bytes.
pub type IsLate = Box<dyn Fn(u64, &[u8]) -> bool + Send + Sync>;

/// A file in memory with gates. At each gate, the first write that the gate selects waits until
/// [`go_on`](Self::go_on) is called, or for at most about 0.3 s. If it waits that long, the other threads had
/// to wait for the write.
pub struct Late {
    inner: Memory,
    gates: Vec<Gate>,
}

struct Gate {
    is_late: IsLate,
    has_begun: AtomicBool,
    may_end: AtomicBool,
}

impl Late {
    /// Creates an empty file with these gates.
    pub fn new(gates: Vec<IsLate>) -> Self {
        let gate =
            |is_late| Gate { is_late, has_begun: AtomicBool::new(false), may_end: AtomicBool::new(false) };
        Self { inner: Memory::default(), gates: gates.into_iter().map(gate).collect() }
    }

    /// Waits until a write has arrived at gate `gate`.
    pub fn wait(&self, gate: usize) {
        wait(&self.gates[gate].has_begun);
    }

    /// Lets the write at gate `gate` continue.
    pub fn go_on(&self, gate: usize) {
        self.gates[gate].may_end.store(true, Ordering::SeqCst);
    }
}

/// Waits until `flag` is set, but at most about 0.3 s.
fn wait(flag: &AtomicBool) {
    let is_left = || !flag.load(Ordering::SeqCst);
    (0..300).take_while(|_| is_left()).for_each(|_| std::thread::sleep(Duration::from_millis(1)));
}

impl fmt::Debug for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Late").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl Driver for Late {
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> io::Result<()> {
        self.inner.read_at(offset, dst)
    }

    fn write_at(&self, offset: u64, src: &[u8]) -> io::Result<()> {
        for gate in &self.gates {
            if (gate.is_late)(offset, src) && !gate.has_begun.swap(true, Ordering::SeqCst) {
                wait(&gate.may_end);
            }
        }
        self.inner.write_at(offset, src)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.inner.set_len(len)
    }

    fn flush(&self, closing: bool) -> io::Result<()> {
        self.inner.flush(closing)
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities::new("custom", self.inner.capabilities().hints)
    }
}
