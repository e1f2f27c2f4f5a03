//! One ring of the kernel, and the memory that the kernel reads into.
//!
//! # Soundness
//!
//! The kernel writes to a slot of [`Slots`] from the submission of a read until its completion is taken. In
//! that time no reference to the slot exists: [`Ring::bytes`] is called only for a slot whose read has ended,
//! and borrows the ring, so that no read of that slot can begin meanwhile. The memory outlives all reads:
//! dropping a ring waits for them, and gives the memory up to the kernel if it cannot.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;

use io_uring::{IoUring, opcode, types};

/// The bytes of a slot: the longest read.
pub(super) const SLOT: usize = 64 << 10;
/// What offsets, lengths and memory are multiples of in a direct read. No medium in use has larger blocks.
pub(super) const BLOCK: usize = 4 << 10;

/// A ring with a slot of memory for each read in progress.
pub(super) struct Ring {
    kernel: IoUring,
    slots: Slots,
    free: Vec<u16>,
    /// The number of reads whose completion was not taken.
    in_progress: usize,
    is_registered: bool,
}

/// A read that has ended: its slot, and the number of bytes or the error.
pub(super) type Ended = (u16, io::Result<usize>);

impl Ring {
    /// Creates a ring for `depth` reads at a time.
    ///
    /// Errors: the kernel has no rings, or refuses them to this process.
    pub(super) fn new(depth: u16) -> io::Result<Self> {
        let kernel = IoUring::new(depth.into())?;
        let slots = Slots::new(depth.into());
        let buffers: Vec<libc::iovec> = (0..depth).map(|slot| slots.iovec(slot)).collect();
        // SAFETY: the memory of `slots` lives until the ring has no reads in progress, see `drop`.
        let registered = unsafe { kernel.submitter().register_buffers(&buffers) };
        // A process may pin only so much memory. Without registration, each read pins its own.
        let is_registered = registered.is_ok();
        Ok(Self { kernel, slots, free: (0..depth).rev().collect(), in_progress: 0, is_registered })
    }

    /// Whether the kernel has pinned the memory once, instead of at each read.
    pub(super) fn is_registered(&self) -> bool {
        self.is_registered
    }

    /// Returns whether another read can begin.
    pub(super) fn has_room(&self) -> bool {
        !self.free.is_empty()
    }

    /// Returns whether no read is in progress.
    pub(super) fn is_idle(&self) -> bool {
        self.in_progress == 0
    }

    /// Takes a free slot for a read.
    pub(super) fn take(&mut self) -> Option<u16> {
        self.free.pop()
    }

    /// Begins to read at most `len` bytes at `offset` into a slot that was taken and has no read in progress.
    /// The kernel learns of it at the next [`wait`](Self::wait).
    pub(super) fn read(
        &mut self,
        slot: u16,
        file: BorrowedFd<'_>,
        offset: u64,
        len: usize,
    ) -> io::Result<()> {
        let (to, len) = (self.slots.start(slot).as_ptr(), u32::try_from(len.min(SLOT)).unwrap_or(0));
        let fd = types::Fd(file.as_raw_fd());
        let entry = if self.is_registered {
            opcode::ReadFixed::new(fd, to, len, slot).offset(offset).build()
        } else {
            opcode::Read::new(fd, to, len).offset(offset).build()
        };
        // SAFETY: `to` begins a slot of `SLOT` bytes that nothing else uses until the read ends.
        unsafe { self.kernel.submission().push(&entry.user_data(slot.into())) }
            .map_err(|_| io::Error::other("the ring has more reads than slots"))?;
        self.in_progress += 1;
        Ok(())
    }

    /// Waits until a read ends, and appends all that have ended.
    pub(super) fn wait(&mut self, ended: &mut Vec<Ended>) -> io::Result<()> {
        while let Err(error) = self.kernel.submit_and_wait(1) {
            // A kernel that is short of memory begins no more reads before completions are taken.
            if !self.kernel.completion().is_empty() {
                break;
            }
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
        let before = ended.len();
        ended.extend(self.kernel.completion().map(|entry| {
            let slot = u16::try_from(entry.user_data()).unwrap_or(u16::MAX);
            let result = usize::try_from(entry.result());
            (slot, result.map_err(|_| io::Error::from_raw_os_error(-entry.result())))
        }));
        self.in_progress -= ended.len() - before;
        Ok(())
    }

    /// Returns the bytes that a read which has ended put into its slot.
    pub(super) fn bytes(&self, slot: u16, len: usize) -> &[u8] {
        // SAFETY: the memory is initialised and `SLOT` bytes long, and the kernel has ended the read.
        unsafe { std::slice::from_raw_parts(self.slots.start(slot).as_ptr(), len.min(SLOT)) }
    }

    /// Gives back the slot of a read that has ended.
    pub(super) fn give_back(&mut self, slot: u16) {
        self.free.push(slot);
    }

    /// Waits for all reads in progress, and gives all slots back. Returns whether all have ended.
    pub(super) fn drain(&mut self) -> bool {
        let mut ended = Vec::new();
        while !self.is_idle() {
            if self.wait(&mut ended).is_err() {
                return false;
            }
        }
        self.free.clear();
        self.free.extend((0..self.slots.count).rev().filter_map(|slot| u16::try_from(slot).ok()));
        true
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        if !self.drain() {
            self.slots.leak();
        }
    }
}

/// Memory for reads, in slots that begin at multiples of [`BLOCK`].
struct Slots {
    start: NonNull<u8>,
    count: usize,
    is_leaked: bool,
}

// SAFETY: the memory belongs to this value alone.
unsafe impl Send for Slots {}

impl Slots {
    /// Allocates memory that has no pages before it is used.
    fn new(count: usize) -> Self {
        let layout = Self::layout(count);
        // SAFETY: the layout is not empty: a ring has at least one slot.
        let start = unsafe { alloc_zeroed(layout) };
        let start = NonNull::new(start).unwrap_or_else(|| handle_alloc_error(layout));
        Self { start, count, is_leaked: false }
    }

    fn layout(count: usize) -> Layout {
        // At most 2^16 slots of 2^16 bytes fit in any address space that has rings.
        Layout::from_size_align(count.max(1) * SLOT, BLOCK).expect("the size fits in an isize")
    }

    fn start(&self, slot: u16) -> NonNull<u8> {
        assert!(usize::from(slot) < self.count, "a slot of this ring");
        // SAFETY: the slot is inside the allocation, by the assertion.
        unsafe { self.start.add(usize::from(slot) * SLOT) }
    }

    fn iovec(&self, slot: u16) -> libc::iovec {
        libc::iovec { iov_base: self.start(slot).as_ptr().cast(), iov_len: SLOT }
    }

    /// Never frees the memory.
    fn leak(&mut self) {
        self.is_leaked = true;
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        if !self.is_leaked {
            // SAFETY: allocated by `new` with this layout, and no read is in progress.
            unsafe { dealloc(self.start.as_ptr(), Self::layout(self.count)) }
        }
    }
}
