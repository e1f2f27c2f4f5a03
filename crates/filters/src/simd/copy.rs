//! The output of an LZ decoder, which writes literals and matches in wide copies.

use std::marker::PhantomData;

/// The bytes of the widest copy. With this much room, a short copy is one instruction.
const WIDE: usize = 32;

/// A buffer that is filled from its front. Matches copy bytes that have already been written.
///
/// The bytes before `limit` belong to the stream. Wide copies may also write garbage between the current
/// position and the end of the buffer.
pub(crate) struct Window<'a> {
    base: *mut u8,
    capacity: usize,
    limit: usize,
    at: usize,
    buffer: PhantomData<&'a mut [u8]>,
}

impl<'a> Window<'a> {
    /// Creates a window on `buffer` that takes `limit` bytes. The bytes after `limit` are clobbered.
    pub(crate) fn new(buffer: &'a mut [u8], limit: usize) -> Self {
        assert!(limit <= buffer.len(), "the limit of a window is outside its buffer");
        Self { base: buffer.as_mut_ptr(), capacity: buffer.len(), limit, at: 0, buffer: PhantomData }
    }

    /// Returns the number of bytes that still fit.
    #[inline(always)]
    pub(crate) fn room(&self) -> usize {
        self.limit - self.at
    }

    /// Appends `len` bytes of `src`, starting at `from`. Returns `false` if either side has fewer bytes.
    #[inline(always)]
    pub(crate) fn literal(&mut self, src: &[u8], from: usize, len: usize) -> bool {
        if len > self.room() || from > src.len() || len > src.len() - from {
            return false;
        }
        // SAFETY: `from` is inside `src` and `at` is inside the buffer, as checked above (`at <= limit <=
        // capacity`).
        let (source, target) = unsafe { (src.as_ptr().add(from), self.base.add(self.at)) };
        if len <= WIDE && src.len() - from >= WIDE && self.capacity - self.at >= WIDE {
            // SAFETY: both sides have `WIDE` bytes. `buffer` is borrowed exclusively, so they do not overlap.
            unsafe {
                target.cast::<[u8; WIDE]>().write_unaligned(source.cast::<[u8; WIDE]>().read_unaligned());
            };
        } else {
            // SAFETY: both sides have `len` bytes, as checked above, and do not overlap.
            unsafe { source.copy_to_nonoverlapping(target, len) };
        }
        self.at += len;
        true
    }

    /// Appends a copy of the `len` bytes that start `distance` bytes back. The copy may overlap its source.
    /// Returns `false` if the distance is out of bounds or the window is full.
    #[inline(always)]
    pub(crate) fn repeat(&mut self, distance: usize, len: usize) -> bool {
        if len > self.room() || distance == 0 || distance > self.at {
            return false;
        }
        // SAFETY: `distance <= at <= capacity`, so both pointers are inside the buffer.
        let (source, target) = unsafe { (self.base.add(self.at - distance), self.base.add(self.at)) };
        let slack = self.capacity - self.at >= len + WIDE;
        // SAFETY: `distance` initialised bytes precede `target`, starting at `source`. `target` has room for
        // `len` bytes, and for `WIDE` more bytes if `slack` is true.
        unsafe {
            if !slack {
                repeat_exactly(source, target, distance, len);
            } else if distance <= 8 && distance.is_power_of_two() {
                repeat_word(source, target, distance, len);
            } else if distance >= WIDE {
                copy_by::<WIDE>(source, target, len);
            } else if distance >= 16 {
                copy_by::<16>(source, target, len);
            } else {
                repeat_near(source, target, distance, len);
            }
        }
        self.at += len;
        true
    }
}

/// Repeats the `distance` bytes before `target` from a register. `distance` is 1, 2, 4 or 8.
///
/// # Safety
/// `source` is `distance` bytes before `target`. `target` has room for `len + WIDE` bytes. All of these bytes
/// are initialised.
#[inline(always)]
unsafe fn repeat_word(source: *const u8, target: *mut u8, distance: usize, len: usize) {
    // SAFETY: the 8 bytes at `source` are inside the memory of the contract, and every store starts before
    // `len`.
    unsafe {
        let word = u64::from_le_bytes(source.cast::<[u8; 8]>().read_unaligned());
        let word = match distance {
            1 => (word & 0xff) * 0x0101_0101_0101_0101,
            2 => (word & 0xffff) * 0x0001_0001_0001_0001,
            4 => (word & 0xffff_ffff) * 0x0000_0001_0000_0001,
            _ => word,
        };
        let bytes = twice(word.to_le());
        let mut done = 0;
        loop {
            target.add(done).cast::<[Register; 2]>().write_unaligned([bytes; 2]);
            done += WIDE;
            if done >= len {
                return;
            }
        }
    }
}

/// 16 bytes, which one instruction stores.
#[cfg(target_arch = "x86_64")]
type Register = std::arch::x86_64::__m128i;
#[cfg(not(target_arch = "x86_64"))]
type Register = [u64; 2];

/// Returns a register with `word` in both halves.
#[inline(always)]
fn twice(word: u64) -> Register {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has SSE2.
    unsafe {
        std::arch::x86_64::_mm_set1_epi64x(word.cast_signed())
    }
    #[cfg(not(target_arch = "x86_64"))]
    [word; 2]
}

/// Copies at least `len` bytes, `N` bytes at a time.
///
/// # Safety
/// `target` is at least `N` bytes after `source`, all bytes between them are initialised, and `target` has
/// room for `len + N` bytes.
#[inline(always)]
unsafe fn copy_by<const N: usize>(source: *const u8, target: *mut u8, len: usize) {
    let mut done = 0;
    // SAFETY: every step reads N bytes that end at or before the first byte that it writes, so these bytes
    // are initialised. A step writes at most N bytes past `len`.
    unsafe {
        loop {
            let bytes = source.add(done).cast::<[u8; N]>().read_unaligned();
            target.add(done).cast::<[u8; N]>().write_unaligned(bytes);
            done += N;
            if done >= len {
                return;
            }
        }
    }
}

/// Repeats the `distance` bytes before `target`, which are 3 to 15 bytes.
///
/// # Safety
/// `source` is `distance` initialised bytes before `target`, and `target` has room for `len + WIDE` bytes.
#[inline]
unsafe fn repeat_near(source: *const u8, target: *mut u8, distance: usize, len: usize) {
    // The smallest multiple of the period that is at least 16 bytes. Whole registers repeat from there on.
    let period = distance * 16usize.div_ceil(distance);
    let head = (period - distance).min(len);
    // SAFETY: `head <= len`. The rest starts `period >= 16` bytes after `source`, and all bytes before it are
    // initialised by then.
    unsafe {
        for i in 0..head {
            target.add(i).write(source.add(i).read());
        }
        if len > head {
            copy_by::<16>(source, target.add(head), len - head);
        }
    }
}

/// Copies exactly `len` bytes. Used at the end of the buffer.
///
/// # Safety
/// `source` is `distance` initialised bytes before `target`, and `target` has room for `len` bytes.
#[cold]
unsafe fn repeat_exactly(source: *const u8, target: *mut u8, distance: usize, len: usize) {
    // SAFETY: reads and writes stay within the buffer, and every byte is written before it is read.
    unsafe {
        if distance == 1 {
            target.write_bytes(source.read(), len);
        } else if distance >= len {
            source.copy_to_nonoverlapping(target, len);
        } else {
            // The copied length doubles: the bytes written so far are a whole number of periods.
            let mut done = 0;
            let mut have = distance;
            while done < len {
                let n = have.min(len - done);
                source.copy_to_nonoverlapping(target.add(done), n);
                done += n;
                have += n;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_window_gives_the_same_bytes_as_a_byte_loop(
            seed in prop::collection::vec(any::<u8>(), 1..80),
            repeats in prop::collection::vec((1usize..90, 0usize..120), 1..6),
            slack in 0usize..80,
        ) {
            let limit = 400;
            let mut model = Vec::new();
            let mut buffer = vec![0xAA; limit + slack];
            let mut window = Window::new(&mut buffer, limit);
            prop_assert!(window.literal(&seed, 0, seed.len()));
            model.extend_from_slice(&seed);
            for (distance, len) in repeats {
                let fits = distance <= model.len() && model.len() + len <= limit;
                prop_assert_eq!(window.repeat(distance, len), fits);
                if fits {
                    for _ in 0..len {
                        model.push(model[model.len() - distance]);
                    }
                }
            }
            prop_assert_eq!(window.room(), limit - model.len());
            prop_assert_eq!(&buffer[..model.len()], &model[..]);
        }
    }

    #[test]
    fn a_literal_that_is_out_of_bounds_or_does_not_fit_is_refused() {
        let mut buffer = [0; 8];
        let mut window = Window::new(&mut buffer, 6);
        assert!(!window.literal(&[1, 2, 3], 2, 2));
        assert!(!window.literal(&[1, 2, 3], 4, 0));
        assert!(!window.literal(&[0; 10], 0, 7));
        assert!(window.literal(&[1, 2, 3], 1, 2));
        assert!(!window.repeat(3, 1));
        assert!(!window.repeat(0, 1));
        assert!(window.repeat(2, 4));
        assert_eq!(buffer[..6], [2, 3, 2, 3, 2, 3]);
    }
}
