//! What the transposes need of a vector register.

/// A register made of one or two lanes of 16 bytes; `zip` and `unzip` work within lanes.
///
/// Every method is unsafe for one reason: the caller must run on a processor that has the implementor's instructions.
/// Methods with pointers also need them valid for the bytes they name. No alignment is asked for.
pub(super) trait Vector: Copy {
    /// Bytes in the register: 16 or 32.
    const BYTES: usize;
    /// Whether `unzip` is one instruction a result; otherwise only one round of it pays.
    const UNZIPS: bool;

    /// All bytes equal.
    unsafe fn splat(byte: u8) -> Self;
    /// `BYTES` bytes.
    unsafe fn load(src: *const u8) -> Self;
    /// `BYTES` bytes.
    unsafe fn store(self, dst: *mut u8);
    /// 16 bytes from each address for each lane; a register of one lane does not touch `second`.
    #[inline(always)]
    unsafe fn load_lanes(first: *const u8, _second: *const u8) -> Self {
        // SAFETY: the same contract, for one lane.
        unsafe { Self::load(first) }
    }
    /// Writes the first lanes of the pair, 32 bytes, at `first` and the second lanes, if there are any, at `second`.
    #[inline(always)]
    unsafe fn store_lanes(pair: [Self; 2], first: *mut u8, _second: *mut u8) {
        // SAFETY: the same contract, for one lane.
        unsafe {
            pair[0].store(first);
            pair[1].store(first.add(16));
        }
    }
    /// `store_lanes` past the caches, where the processor can; addresses are multiples of 32, and `fence` comes after the
    /// last.
    #[inline(always)]
    unsafe fn stream_lanes(pair: [Self; 2], first: *mut u8, second: *mut u8) {
        // SAFETY: the same contract.
        unsafe { Self::store_lanes(pair, first, second) }
    }
    /// Makes what was streamed visible to other processors in its turn.
    #[inline(always)]
    unsafe fn fence() {}
    /// Bytes of the lower halves in turn: a0 b0 a1 b1 ...
    unsafe fn zip_low(self, other: Self) -> Self;
    /// Bytes of the upper halves in turn.
    unsafe fn zip_high(self, other: Self) -> Self;
    /// The even bytes of both, then the odd bytes of both: undoes `zip`.
    unsafe fn unzip(self, other: Self) -> (Self, Self);
    /// Bitwise and.
    unsafe fn and(self, other: Self) -> Self;
    /// Bitwise exclusive or.
    unsafe fn xor(self, other: Self) -> Self;
    /// Shifts left; bits may cross from one byte into the next, so the caller masks.
    unsafe fn shift_left<const BITS: i32>(self) -> Self;
    /// Shifts right; bits may cross from one byte into the next, so the caller masks.
    unsafe fn shift_right<const BITS: i32>(self) -> Self;
}

/// A register of one lane that can also be put together from 64-bit words.
pub(super) trait Lane: Vector {
    /// Two little-endian words.
    unsafe fn from_words(low: u64, high: u64) -> Self;
    /// Byte k is byte `indices[k]` of this register; 0 where that is 0x80. The caller's processor has the instruction, which
    /// SSE2 is without.
    unsafe fn pick(self, indices: Self) -> Self;
}

/// Methods of a register that are unsafe for the one reason that their trait states.
macro_rules! methods {
    ($(fn $name:ident $(<const $bits:ident: i32>)? ($($argument:tt)*) $(-> $result:ty)? { $($body:tt)* })*) => {
        $(
            #[inline(always)]
            unsafe fn $name $(<const $bits: i32>)? ($($argument)*) $(-> $result)? {
                // SAFETY: the caller has the instructions, and the bytes that the trait's contract names at the pointers.
                unsafe { $($body)* }
            }
        )*
    };
}
pub(super) use methods;
