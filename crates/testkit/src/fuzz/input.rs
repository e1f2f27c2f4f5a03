//! Numbers from the bytes of an input, and pseudo-random numbers.

/// Takes numbers from the front of an input. After its end, all numbers are zero.
#[derive(Debug, Clone)]
pub(super) struct Input<'a>(pub(super) &'a [u8]);

impl<'a> Input<'a> {
    fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut taken = [0; N];
        let count = N.min(self.0.len());
        let (front, rest) = self.0.split_at(count);
        taken[..count].copy_from_slice(front);
        self.0 = rest;
        taken
    }

    pub(super) fn u8(&mut self) -> u8 {
        self.array::<1>()[0]
    }

    pub(super) fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.array())
    }

    pub(super) fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }

    pub(super) fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.array())
    }

    /// Takes a number below `limit`, which must not be 0, from one byte.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        u64::from(self.u8()) % limit
    }

    pub(super) fn rest(self) -> &'a [u8] {
        self.0
    }
}

/// A small pseudo-random number generator (xorshift), so that every run makes the same choices.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Creates the generator with the seed `seed`.
    pub fn new(seed: u64) -> Self {
        // Zero is the only state that never changes.
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Creates the generator with a seed made from the content of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        let fold = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        Self::new(bytes.iter().fold(0xcbf2_9ce4_8422_2325, fold))
    }

    /// Returns the next number.
    pub fn u64(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a number below `limit`, or 0 if `limit` is 0.
    #[allow(clippy::cast_possible_truncation)] // a remainder of a `usize`
    pub fn below(&mut self, limit: usize) -> usize {
        ((self.u64() >> 16) % (limit.max(1) as u64)) as usize
    }

    /// Returns true with a probability of one in `many`.
    pub fn once_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }
}
