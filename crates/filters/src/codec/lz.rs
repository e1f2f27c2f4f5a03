//! The parts that the encoders of LZF and BloscLZ share. Both codecs write runs of literals after a byte that
//! holds the run's length.

/// The longest run of literals.
pub(crate) const MAX_LITERALS: usize = 32;

/// Returns the length of the common prefix of two slices. This length is usually either small or very large.
#[inline]
pub(crate) fn common(a: &[u8], b: &[u8]) -> usize {
    let blocks = a.as_chunks::<32>().0.iter().zip(b.as_chunks::<32>().0);
    let mut len = 32 * blocks.take_while(|(a, b)| a == b).count();
    for (a, b) in a[len..].as_chunks::<8>().0.iter().zip(b[len..].as_chunks::<8>().0) {
        let difference = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        if difference != 0 {
            return len + difference.trailing_zeros() as usize / 8;
        }
        len += 8;
    }
    len + a[len..].iter().zip(&b[len..]).take_while(|(a, b)| a == b).count()
}

/// Returns the low byte of `value`.
#[inline]
pub(crate) fn low(value: usize) -> u8 {
    value.to_le_bytes()[0]
}

/// A buffer for encoded bytes. Every method that writes returns `None` if the buffer is full.
pub(crate) struct Output<'a> {
    out: &'a mut [u8],
    len: usize,
}

impl<'a> Output<'a> {
    /// Creates an empty output in the front of `out`.
    pub(crate) fn new(out: &'a mut [u8]) -> Self {
        Self { out, len: 0 }
    }

    /// Returns the number of bytes written.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Option<()> {
        self.out.get_mut(self.len..)?.get_mut(..bytes.len())?.copy_from_slice(bytes);
        self.len += bytes.len();
        Some(())
    }

    /// Writes the literals `src[from..to]` in runs. A byte with the run's length less 1 precedes each run.
    #[inline]
    pub(crate) fn literals(&mut self, src: &[u8], mut from: usize, to: usize) -> Option<()> {
        while from < to {
            let len = (to - from).min(MAX_LITERALS);
            let out = self.out.get_mut(self.len..)?;
            if let Some(run) = src.get(from..).and_then(|src| src.first_chunk::<MAX_LITERALS>())
                && let Some((count, literals)) = out.split_first_mut()
                && let Some(literals) = literals.first_chunk_mut()
            {
                // A copy of constant length is two instructions. The next write overwrites the surplus bytes.
                *count = low(len - 1);
                *literals = *run;
            } else {
                let (count, literals) = out.get_mut(..=len)?.split_first_mut()?;
                *count = low(len - 1);
                literals.copy_from_slice(&src[from..from + len]);
            }
            self.len += 1 + len;
            from += len;
        }
        Some(())
    }
}
