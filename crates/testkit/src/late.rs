//! A medium that delays chosen writes, for tests of what other threads can do in the meantime.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyperslab::driver::Memory;

use crate::hooked::{Call, Hooked};

/// Decides whether a write is delayed, given its offset and its bytes.
pub type IsLate = Box<dyn Fn(u64, &[u8]) -> bool + Send + Sync>;

/// Gates before the writes to a file. At each gate, the first write that the gate selects waits until
/// [`go_on`](Self::go_on) is called, or for at most about 0.3 s. If it waits that long, the other threads had
/// to wait for the write.
#[derive(Debug)]
pub struct Gates(Vec<Gate>);

struct Gate {
    is_late: IsLate,
    has_begun: AtomicBool,
    may_end: AtomicBool,
}

impl Gates {
    /// Creates an empty file with these gates.
    pub fn new(gates: Vec<IsLate>) -> (Arc<Self>, Arc<Hooked>) {
        let gate =
            |is_late| Gate { is_late, has_begun: AtomicBool::new(false), may_end: AtomicBool::new(false) };
        let gates = Arc::new(Self(gates.into_iter().map(gate).collect()));
        let before = Arc::clone(&gates);
        let mut driver = Hooked::with(Memory::default(), move |call| {
            if let Call::Write(requests) = call {
                for request in requests {
                    before.meet(request.offset, request.src);
                }
            }
            Ok(())
        });
        driver.one_by_one = true;
        (gates, Arc::new(driver))
    }

    fn meet(&self, offset: u64, src: &[u8]) {
        for gate in &self.0 {
            if (gate.is_late)(offset, src) && !gate.has_begun.swap(true, Ordering::SeqCst) {
                wait(&gate.may_end);
            }
        }
    }

    /// Waits until a write has arrived at gate `gate`.
    pub fn wait(&self, gate: usize) {
        wait(&self.0[gate].has_begun);
    }

    /// Lets the write at gate `gate` continue.
    pub fn go_on(&self, gate: usize) {
        self.0[gate].may_end.store(true, Ordering::SeqCst);
    }
}

/// Waits until `flag` is set, but at most about 0.3 s.
fn wait(flag: &AtomicBool) {
    let is_left = || !flag.load(Ordering::SeqCst);
    (0..300).take_while(|_| is_left()).for_each(|_| std::thread::sleep(Duration::from_millis(1)));
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate").finish_non_exhaustive()
    }
}
