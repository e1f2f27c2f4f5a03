//! A driver that calls a function before each operation, for tests that watch, delay or fail operations.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use hyperslab::driver::{Capabilities, Driver, Hints, Medium, Memory, WriteRequest};

/// An operation that the driver is asked for, and has not begun.
#[derive(Debug)]
pub enum Call<'a> {
    /// A read at this offset. The function may fill a part of the destination before it fails.
    Read(u64, &'a mut [u8]),
    /// Writes that are done together.
    Write(&'a [WriteRequest<'a>]),
    /// A change of the length of the file.
    SetLen(u64),
    /// A flush.
    Flush,
}

type Hook = Arc<dyn Fn(Call<'_>) -> io::Result<()> + Send + Sync>;

/// A driver whose operations fail if the hook does.
pub struct Hooked<D = Memory> {
    /// The driver that does the operations.
    pub inner: D,
    /// How the medium performs best; by default, as `inner`.
    pub hints: Hints,
    /// Whether a long file takes no more space than what was written.
    pub is_sparse: bool,
    /// Whether the hook is called for each write of a batch.
    pub one_by_one: bool,
    hook: Mutex<Option<Hook>>,
}

impl<D: Driver> Hooked<D> {
    /// Wraps `inner`, without a hook.
    pub fn new(inner: D) -> Self {
        let hints = inner.capabilities().hints;
        Self { inner, hints, is_sparse: false, one_by_one: false, hook: Mutex::default() }
    }

    /// Sets the hook.
    pub fn set(&self, hook: impl Fn(Call<'_>) -> io::Result<()> + Send + Sync + 'static) {
        *self.hook.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(hook));
    }

    /// Wraps `inner` with this hook.
    #[must_use]
    pub fn with(inner: D, hook: impl Fn(Call<'_>) -> io::Result<()> + Send + Sync + 'static) -> Self {
        let hooked = Self::new(inner);
        hooked.set(hook);
        hooked
    }

    /// Removes the hook.
    pub fn clear(&self) {
        *self.hook.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn meet(&self, call: Call<'_>) -> io::Result<()> {
        let hook = self.hook.lock().unwrap_or_else(PoisonError::into_inner).clone();
        hook.map_or(Ok(()), |hook| hook(call))
    }
}

impl<D> fmt::Debug for Hooked<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hooked")
    }
}

impl<D: Driver> Driver for Hooked<D> {
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> io::Result<()> {
        self.meet(Call::Read(offset, dst))?;
        self.inner.read_at(offset, dst)
    }

    fn write_at(&self, offset: u64, src: &[u8]) -> io::Result<()> {
        self.meet(Call::Write(&[WriteRequest { offset, src }]))?;
        self.inner.write_at(offset, src)
    }

    fn write_batch(&self, requests: &[WriteRequest<'_>]) -> io::Result<()> {
        if self.one_by_one {
            return requests.iter().try_for_each(|request| self.write_at(request.offset, request.src));
        }
        self.meet(Call::Write(requests))?;
        self.inner.write_batch(requests)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.meet(Call::SetLen(len))?;
        self.inner.set_len(len)
    }

    fn flush(&self, closing: bool) -> io::Result<()> {
        self.meet(Call::Flush)?;
        self.inner.flush(closing)
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities { is_sparse: self.is_sparse, ..Capabilities::new("custom", self.hints) }
    }
}

impl Medium for Hooked {}
