//! The operations on vector registers that the transposes use.

/// A register of one or two lanes of 16 bytes. `zip` and `unzip` work within lanes.
///
/// All methods are unsafe for the same reason: the caller must run on a processor that has the implementor's
/// instructions. Pointers must be valid for the bytes that a method names, and need not be aligned.
pub(super) trait Vector: Copy {
    /// The bytes of the register: 16 or 32.
    const BYTES: usize;
    /// Whether each result of `unzip` takes one instruction. Otherwise only one round of it pays.
    const UNZIPS: bool;

    /// Returns a register with all bytes equal to `byte`.
    unsafe fn splat(byte: u8) -> Self;
    /// Loads `BYTES` bytes.
    unsafe fn load(src: *const u8) -> Self;
    /// Stores `BYTES` bytes.
    unsafe fn store(self, dst: *mut u8);
    /// Loads 16 bytes from each address, one lane from each. A register of one lane does not access `second`.
    #[inline(always)]
    unsafe fn load_lanes(first: *const u8, _second: *const u8) -> Self {
        // SAFETY: the same contract, for one lane.
        unsafe { Self::load(first) }
    }
    /// Stores the first lanes of the pair, 32 bytes, at `first`, and the second lanes, if the registers have
    /// them, at `second`.
    #[inline(always)]
    unsafe fn store_lanes(pair: [Self; 2], first: *mut u8, _second: *mut u8) {
        // SAFETY: the same contract, for one lane.
        unsafe {
            pair[0].store(first);
            pair[1].store(first.add(16));
        }
    }
    /// Stores as `store_lanes` does, but past the caches if the processor can. Addresses must be multiples of
    /// 32, and a call of `fence` must follow the last store.
    #[inline(always)]
    unsafe fn stream_lanes(pair: [Self; 2], first: *mut u8, second: *mut u8) {
        // SAFETY: the same contract.
        unsafe { Self::store_lanes(pair, first, second) }
    }
    /// Makes streamed stores visible to other processors in order.
    #[inline(always)]
    unsafe fn fence() {}
    /// Interleaves the bytes of the lower halves: a0 b0 a1 b1 ...
    unsafe fn zip_low(self, other: Self) -> Self;
    /// Interleaves the bytes of the upper halves.
    unsafe fn zip_high(self, other: Self) -> Self;
    /// Returns the even bytes of both registers, then the odd bytes of both. Undoes `zip`.
    unsafe fn unzip(self, other: Self) -> (Self, Self);
    /// Returns the bitwise and.
    unsafe fn and(self, other: Self) -> Self;
    /// Returns the bitwise exclusive or.
    unsafe fn xor(self, other: Self) -> Self;
    /// Shifts left; bits may cross from one byte into the next, so the caller must mask them.
    unsafe fn shift_left<const BITS: i32>(self) -> Self;
    /// Shifts right; bits may cross from one byte into the next, so the caller must mask them.
    unsafe fn shift_right<const BITS: i32>(self) -> Self;
}

/// A register of one lane, which can also be assembled from 64-bit words.
pub(super) trait Lane: Vector {
    /// Assembles a register from two little-endian words.
    unsafe fn from_words(low: u64, high: u64) -> Self;
    /// Returns a register whose byte k is byte `indices[k]` of this register, or 0 if that index is 0x80. The
    /// processor must have the instruction, which SSE2 lacks.
    unsafe fn pick(self, indices: Self) -> Self;
}

/// Defines methods of a register, all unsafe for the reason that the trait states.
macro_rules! methods {
    ($(fn $name:ident $(<const $bits:ident: i32>)? ($($argument:tt)*) $(-> $result:ty)? { $($body:tt)* })*) => {
        $(
            #[inline(always)]
            unsafe fn $name $(<const $bits: i32>)? ($($argument)*) $(-> $result)? {
                // SAFETY: the caller guarantees the instructions, and the bytes that the trait's contract
                // names at the pointers.
                unsafe { $($body)* }
            }
        )*
    };
}
pub(super) use methods;
