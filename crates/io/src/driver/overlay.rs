//! A view of another driver with some bytes replaced and another length. Shows a file as a write would leave
//! it, without writing.

use std::io;
use std::sync::Arc;

use super::{Capabilities, Driver, Hints};

/// A read-only view.
#[derive(Debug)]
pub struct Overlay {
    inner: Arc<dyn Driver>,
    /// Offsets and bytes, ascending and without overlaps.
    patches: Vec<(u64, Vec<u8>)>,
    len: u64,
}

impl Overlay {
    /// Returns a view of the first `len` bytes of `inner` with the bytes of `patches` at their offsets.
    /// Patches must not overlap.
    pub fn new(inner: Arc<dyn Driver>, mut patches: Vec<(u64, Vec<u8>)>, len: u64) -> Self {
        patches.sort_unstable_by_key(|(offset, _)| *offset);
        Self { inner, patches, len }
    }

    /// Errors if a range is outside the view. The second range of the driver has its own length.
    fn check(&self, offset: u64, len: usize) -> io::Result<()> {
        let end = offset.checked_add(len as u64);
        let is_second = self.inner.elements().is_some_and(|elements| elements.start() <= offset);
        let is_inside = is_second || end.is_some_and(|end| end <= self.len);
        if is_inside { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// Applies the patches to the bytes that were read from `offset`.
    fn patch(&self, offset: u64, dst: &mut [u8]) {
        let end = offset.saturating_add(dst.len() as u64);
        let ends_before = |(at, bytes): &(u64, Vec<u8>)| at.saturating_add(bytes.len() as u64) <= offset;
        let first = self.patches.partition_point(ends_before);
        let meeting = self.patches.iter().skip(first).take_while(|(at, _)| *at < end);
        for (at, bytes) in meeting {
            let from = offset.max(*at);
            // Both differences are at most the length of a slice, so they fit a `usize`.
            let skip = |start: u64| usize::try_from(from - start).unwrap_or(usize::MAX);
            let source = bytes.get(skip(*at)..).unwrap_or_default();
            let target = dst.get_mut(skip(offset)..).unwrap_or_default();
            target.iter_mut().zip(source).for_each(|(target, source)| *target = *source);
        }
    }
}

impl Driver for Overlay {
    fn len(&self) -> io::Result<u64> {
        Ok(self.len)
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> io::Result<()> {
        self.check(offset, dst.len())?;
        self.inner.read_at(offset, dst)?;
        self.patch(offset, dst);
        Ok(())
    }

    fn flush(&self, _: bool) -> io::Result<()> {
        Ok(())
    }

    fn capabilities(&self) -> Capabilities<'_> {
        let Capabilities { name, hints, is_lasting, description, elements, .. } = self.inner.capabilities();
        // The view serves one read at a time.
        let hints = Hints { queue_depth: 1, ..hints };
        Capabilities { is_lasting, description, elements, ..Capabilities::new(name, hints) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::Memory;

    #[test]
    fn every_range_shows_the_patches_over_the_file() {
        let bytes: Vec<u8> = (0..40).collect();
        let patches = vec![(20, vec![104; 5]), (3, vec![101; 4]), (7, vec![102]), (30, vec![])];
        let mut expected = bytes.clone();
        for (at, patch) in &patches {
            expected[*at..at + patch.len()].copy_from_slice(patch);
        }
        let patches = patches.into_iter().map(|(at, patch)| (at as u64, patch)).collect();
        let view = Overlay::new(Arc::new(Memory::new(bytes)), patches, 33);
        for start in 0..=33 {
            for end in start..=33 {
                let mut found = vec![0; end - start];
                view.read_at(start as u64, &mut found).unwrap();
                assert_eq!(found, expected[start..end]);
            }
        }
        assert!(view.read_at(33, &mut [0]).is_err() && view.read_at(u64::MAX, &mut [0; 2]).is_err());
        assert!(view.write_at(0, &[1]).is_err() && view.set_len(1).is_err());
        assert_eq!(view.len().unwrap(), 33);
    }
}
