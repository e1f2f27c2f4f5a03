//! Streams of bits, the most significant bit of a byte first: scale-offset, N-bit and szip.

/// Reads bits. Past the end of its bytes it reads zeros, and [`BitReader::is_past_end`] says so.
#[derive(Debug, Clone)]
pub(crate) struct BitReader<'a> {
    src: &'a [u8],
    /// The next byte to load. It exceeds the length if zeros were loaded.
    at: usize,
    /// The loaded bits, the next bit first. Bits after the first `count` are those of the next byte, or
    /// zeros.
    loaded: u64,
    count: u32,
}

impl<'a> BitReader<'a> {
    pub(crate) fn new(src: &'a [u8]) -> Self {
        Self { src, at: 0, loaded: 0, count: 0 }
    }

    /// Loads bytes until more than [`BitReader::MOST`] bits are loaded.
    #[inline]
    fn load(&mut self) {
        if let Some(word) = self.src.get(self.at..).and_then(|rest| rest.first_chunk::<8>()) {
            self.loaded |= u64::from_be_bytes(*word) >> self.count;
            let bytes = (63 - self.count) >> 3;
            self.at += bytes as usize;
            self.count += bytes << 3;
        } else {
            self.load_end();
        }
    }

    #[cold]
    fn load_end(&mut self) {
        while self.count <= 56 {
            let byte = self.src.get(self.at).copied().unwrap_or(0);
            self.loaded |= u64::from(byte) << (56 - self.count);
            self.at += 1;
            self.count += 8;
        }
    }

    /// The most bits of one `read`.
    pub(crate) const MOST: u32 = 56;

    /// Reads `n` bits as a number, at most [`BitReader::MOST`].
    #[inline]
    pub(crate) fn read(&mut self, n: u32) -> u64 {
        if self.count < n {
            self.load();
        }
        // Two shifts, since `n` may be 0.
        let value = self.loaded >> 1 >> (63 - n);
        self.loaded <<= n;
        self.count -= n;
        value
    }

    /// Reads `n` bits as a number, at most 64.
    #[inline]
    pub(crate) fn read_wide(&mut self, n: u32) -> u64 {
        if n <= Self::MOST {
            return self.read(n);
        }
        let high = self.read(n - 32);
        high << 32 | self.read(32)
    }

    /// Reads four numbers of `n` bits. All four have at most [`BitReader::MOST`] bits.
    #[inline]
    pub(crate) fn read_four(&mut self, n: u32) -> [u64; 4] {
        // Loading is what takes the time.
        let four = self.read(4 * n);
        let mask = (1 << n) - 1;
        [four >> (3 * n), four >> (2 * n) & mask, four >> n & mask, four & mask]
    }

    /// Reads zeros up to the next one bit, and that bit. Returns the number of zeros, or `None` if no one bit
    /// is left.
    #[inline]
    pub(crate) fn read_unary(&mut self) -> Option<u32> {
        if self.count < 32 {
            self.load();
        }
        let run = self.loaded.leading_zeros();
        if run >= self.count {
            return self.read_long_unary();
        }
        // The shift by all bits of the run and the one bit may be 64.
        self.loaded = self.loaded << run << 1;
        self.count -= run + 1;
        Some(run)
    }

    #[cold]
    fn read_long_unary(&mut self) -> Option<u32> {
        let mut zeros = 0;
        loop {
            let run = self.loaded.leading_zeros();
            if run < self.count {
                self.loaded = self.loaded << run << 1;
                self.count -= run + 1;
                return Some(zeros + run);
            }
            if self.at >= self.src.len() {
                return None;
            }
            zeros += self.count;
            (self.loaded, self.count) = (0, 0);
            self.load();
        }
    }

    /// Reads as many unary numbers as there is room for: the zeros before each one bit. Returns `None` if
    /// there are not enough one bits.
    #[inline]
    pub(crate) fn read_unaries(&mut self, numbers: &mut [u32]) -> Option<()> {
        let (mut done, mut zeros) = (0, 0);
        loop {
            if self.count < 32 {
                self.load();
            }
            // In reverse, the next one bit is the lowest one, which is found and removed at once.
            let mut ones = self.loaded.reverse_bits() & (u64::MAX >> (64 - self.count));
            let mut used = 0;
            while ones != 0 && done < numbers.len() {
                let at = ones.trailing_zeros();
                numbers[done] = zeros + at - used;
                (zeros, used) = (0, at + 1);
                ones &= ones - 1;
                done += 1;
            }
            if done == numbers.len() {
                // All 64 bits may be used.
                self.loaded = self.loaded.checked_shl(used).unwrap_or(0);
                self.count -= used;
                return Some(());
            }
            if self.at >= self.src.len() {
                return None;
            }
            zeros += self.count - used;
            (self.loaded, self.count) = (0, 0);
        }
    }

    /// Returns whether more bits were read than there are.
    pub(crate) fn is_past_end(&self) -> bool {
        self.at * 8 - self.count as usize > self.src.len() * 8
    }
}

/// Writes bits. Bits that do not fit are dropped, and [`BitWriter::finish`] returns `None`.
#[derive(Debug)]
pub(crate) struct BitWriter<'a> {
    dst: &'a mut [u8],
    at: usize,
    /// The last `count` bits are not written yet; there are fewer than 8.
    pending: u64,
    count: u32,
}

impl<'a> BitWriter<'a> {
    pub(crate) fn new(dst: &'a mut [u8]) -> Self {
        Self { dst, at: 0, pending: 0, count: 0 }
    }

    /// The most bits of one `write`.
    pub(crate) const MOST: u32 = 56;

    /// Writes `value` as `n` bits, at most [`BitWriter::MOST`]. `value` is less than 2^n.
    #[inline]
    pub(crate) fn write(&mut self, value: u64, n: u32) {
        self.pending = self.pending << n | value;
        self.count += n;
        // Two shifts, since `count` may be 0.
        let word = (self.pending << (63 - self.count) << 1).to_be_bytes();
        let bytes = (self.count >> 3) as usize;
        match self.dst.get_mut(self.at..) {
            Some(rest) if rest.len() >= 8 => rest[..8].copy_from_slice(&word),
            Some(rest) => rest.iter_mut().zip(word).for_each(|(to, byte)| *to = byte),
            None => {}
        }
        self.at += bytes;
        self.count &= 7;
    }

    /// Writes `value` as `n` bits, at most 64.
    #[inline]
    pub(crate) fn write_wide(&mut self, value: u64, n: u32) {
        if n <= Self::MOST {
            return self.write(value, n);
        }
        self.write(value >> 32, n - 32);
        self.write(value & 0xffff_ffff, 32);
    }

    /// Writes each value as `n` bits, at most 64. Each is less than 2^n.
    #[inline]
    pub(crate) fn write_all(&mut self, mut values: impl Iterator<Item = u64>, n: u32) {
        // A store is what takes the time, so four values share one if they fit.
        if 4 * n <= Self::MOST {
            loop {
                let four = [(); 4].map(|()| values.next());
                let [Some(a), Some(b), Some(c), Some(d)] = four else {
                    return four.into_iter().flatten().for_each(|value| self.write(value, n));
                };
                self.write(((a << n | b) << n | c) << n | d, 4 * n);
            }
        }
        values.for_each(|value| self.write_wide(value, n));
    }

    /// Writes `zeros` zero bits and a one bit.
    #[inline]
    pub(crate) fn write_unary(&mut self, mut zeros: u64) {
        while zeros >= u64::from(Self::MOST) {
            if self.at > self.dst.len() {
                return;
            }
            self.write(0, Self::MOST);
            zeros -= u64::from(Self::MOST);
        }
        #[expect(clippy::cast_possible_truncation, reason = "less than `MOST`")]
        self.write(1, zeros as u32 + 1);
    }

    /// Returns whether bits were dropped.
    pub(crate) fn is_full(&self) -> bool {
        self.at + usize::from(self.count > 0) > self.dst.len()
    }

    /// Fills the last byte with zero bits. Returns the number of bytes, or `None` if bits were dropped.
    pub(crate) fn finish(self) -> Option<usize> {
        (!self.is_full()).then_some(self.at + usize::from(self.count > 0))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_was_written_is_read(values in prop::collection::vec((any::<u64>(), 0u32..=64), 0..60)) {
            let bits: u32 = values.iter().map(|(_, n)| n).sum();
            let mut bytes = vec![0xEE; bits.div_ceil(8) as usize];
            let mut writer = BitWriter::new(&mut bytes);
            let cut = |value: u64, n: u32| if n == 64 { value } else { value & ((1 << n) - 1) };
            for &(value, n) in &values {
                writer.write_wide(cut(value, n), n);
            }
            prop_assert_eq!(writer.finish(), Some(bits.div_ceil(8) as usize));
            let mut reader = BitReader::new(&bytes);
            for &(value, n) in &values {
                prop_assert_eq!(reader.read_wide(n), cut(value, n));
            }
            prop_assert!(!reader.is_past_end());
            prop_assert_eq!(reader.read_wide(8), 0);
            prop_assert!(reader.is_past_end());
        }

        #[test]
        fn values_written_together_are_those_written_one_by_one(
            values in prop::collection::vec(any::<u64>(), 0..20),
            n in 0u32..=64,
            missing in 0usize..3,
        ) {
            let values: Vec<u64> = values.iter().map(|value| value.unbounded_shr(64 - n)).collect();
            let len = (values.len() * n as usize).div_ceil(8).saturating_sub(missing);
            let [mut together, mut alone] = [vec![0xEE; len], vec![0xEE; len]];
            let mut writer = BitWriter::new(&mut together);
            writer.write_all(values.iter().copied(), n);
            let written = writer.finish();
            if 4 * n <= BitReader::MOST && missing == 0 {
                let mut reader = BitReader::new(&together);
                for four in values.as_chunks::<4>().0 {
                    prop_assert_eq!(&reader.read_four(n), four);
                }
            }
            let mut writer = BitWriter::new(&mut alone);
            for &value in &values {
                writer.write_wide(value, n);
            }
            prop_assert_eq!(written, writer.finish());
            prop_assert_eq!(together, alone);
        }

        #[test]
        fn unary_numbers_are_read_and_end_with_the_bytes(numbers in prop::collection::vec(0u32..300, 0..20)) {
            let bits: u32 = numbers.iter().map(|n| n + 1).sum();
            let len = bits.div_ceil(8) as usize;
            let mut bytes = vec![0xEE; len];
            let mut writer = BitWriter::new(&mut bytes);
            for &n in &numbers {
                writer.write_unary(n.into());
            }
            prop_assert_eq!(writer.finish(), Some(len));
            let mut reader = BitReader::new(&bytes);
            for &n in &numbers {
                prop_assert_eq!(reader.read_unary(), Some(n));
            }
            prop_assert_eq!(reader.read_unary(), None);
            for group in 1..5 {
                let mut reader = BitReader::new(&bytes);
                let mut found = vec![0; numbers.len()];
                for group in found.chunks_mut(group) {
                    prop_assert_eq!(reader.read_unaries(group), Some(()));
                }
                prop_assert_eq!(&found, &numbers);
                prop_assert_eq!(reader.read_unaries(&mut [0]), None);
            }
            if len > 0 {
                let mut writer = BitWriter::new(&mut bytes[..len - 1]);
                for &n in &numbers {
                writer.write_unary(n.into());
            }
                prop_assert_eq!(writer.finish(), None);
            }
        }
    }
}
