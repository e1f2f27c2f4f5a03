//! Elements made of bytes of other elements: byte swaps, selected fields, or members in another order.

use super::kernels::Kernels;
use super::vector::Lane;

/// The bytes that one instruction picks from, and the bytes that it makes.
const WINDOW: usize = 16;

/// The source bytes of each register of the result, for one group of elements.
#[derive(Debug, Clone)]
pub(crate) struct Picks {
    /// The bytes of a group in the source, and in the result.
    src: usize,
    dst: usize,
    /// The bytes of an element of the result.
    size: usize,
    /// The source offset of each byte of a group, for data too short for a register.
    bytes: Box<[usize]>,
    /// The steps in ascending order of `to`. A register may also write bytes that later steps overwrite.
    steps: Box<[PickStep]>,
    /// The bytes that the steps of a group read and write, from the start of the group.
    reads: usize,
    writes: usize,
}

/// The step that makes one register of a group.
#[derive(Debug, Clone, Copy)]
pub(super) struct PickStep {
    from: usize,
    to: usize,
    picks: [u8; WINDOW],
}

/// The function that runs the steps. Arguments: steps, source, bytes of a source group, destination, bytes of
/// a destination group, number of groups.
pub(super) type Kernel = unsafe fn(&[PickStep], *const u8, usize, *mut u8, usize, usize);

impl Picks {
    /// Creates the picks for elements whose byte k is byte `map[k]` of an element of `size` bytes. Panics if
    /// `map` is empty or has an index out of bounds.
    pub(crate) fn new(size: usize, map: &[u16]) -> Self {
        assert!(
            !map.is_empty() && map.iter().all(|&byte| usize::from(byte) < size),
            "a byte map is empty or out of bounds"
        );
        let unit = unit(size, map);
        let (size, map) = if unit < size { (unit, &map[..unit]) } else { (size, map) };
        let group = (WINDOW / size).min(WINDOW / map.len()).max(1);
        let element = |number| map.iter().map(move |&byte| number * size + usize::from(byte));
        let bytes: Box<[usize]> = (0..group).flat_map(element).collect();
        let src = group * size;
        let steps = steps(&bytes, src);
        let reads = steps.iter().map(|step| step.from + WINDOW).max().unwrap_or(0);
        let writes = steps.iter().map(|step| step.to + WINDOW).max().unwrap_or(0);
        Self { src, dst: bytes.len(), size: map.len(), bytes, steps, reads, writes }
    }

    /// Makes as many elements as `dst` holds from the elements of `src`.
    pub(crate) fn run(&self, kernels: &Kernels, src: &[u8], dst: &mut [u8]) {
        let size = self.src / (self.dst / self.size);
        let elements = dst.len() / self.size;
        assert!(src.len() / size >= elements, "the source has too few elements");
        let groups =
            |len: usize, used: usize, pitch: usize| len.checked_sub(used).map_or(0, |rest| rest / pitch + 1);
        let groups = groups(src.len(), self.reads, self.src).min(groups(dst.len(), self.writes, self.dst));
        let groups = groups.min(elements * self.size / self.dst);
        let done = match kernels.pick {
            Some(pick) if groups > 0 => {
                // SAFETY: the last group starts where at least `reads` and `writes` bytes remain, and the
                // slices do not overlap.
                unsafe { pick(&self.steps, src.as_ptr(), self.src, dst.as_mut_ptr(), self.dst, groups) };
                groups
            }
            _ => 0,
        };
        let rest = elements * self.size;
        let (src, dst) = (&src[done * self.src..], &mut dst[done * self.dst..rest]);
        for (number, group) in dst.chunks_mut(self.dst).enumerate() {
            let src = &src[number * self.src..];
            for (to, &from) in group.iter_mut().zip(&self.bytes) {
                *to = src[from];
            }
        }
    }
}

/// Covers the bytes of a group with registers, greedily from the front. A group has `src` bytes in the
/// source.
fn steps(bytes: &[usize], src: usize) -> Box<[PickStep]> {
    let mut steps = Vec::new();
    let mut to = 0;
    while to < bytes.len() {
        let (mut low, mut high, mut len) = (bytes[to], bytes[to], 0);
        for &byte in bytes[to..].iter().take(WINDOW) {
            (low, high) = (low.min(byte), high.max(byte));
            if high - low >= WINDOW {
                break;
            }
            len += 1;
        }
        // A window that ends with the group reads no bytes of the next group, which does not exist after the
        // last group.
        let low = bytes[to..to + len].iter().copied().min().unwrap_or(0);
        let from = low.min(src.saturating_sub(WINDOW));
        let mut picks = [0x80; WINDOW];
        for (pick, byte) in picks.iter_mut().zip(&bytes[to..to + len]) {
            *pick = (byte - from).to_le_bytes()[0];
        }
        steps.push(PickStep { from, to, picks });
        to += len;
    }
    steps.into()
}

/// Returns the bytes of the smallest unit that divides an element of `size` bytes so that each unit is mapped
/// as the first one.
fn unit(size: usize, map: &[u16]) -> usize {
    let is_unit = |unit: &usize| {
        size.is_multiple_of(*unit)
            && map
                .iter()
                .enumerate()
                .all(|(at, &byte)| usize::from(byte) == at / unit * unit + usize::from(map[at % unit]))
    };
    if map.len() == size { (1..size).find(is_unit).unwrap_or(size) } else { size }
}

/// Makes `groups` groups.
///
/// # Safety
/// Each step may read and write `WINDOW` bytes at its places in every group. The destination does not overlap
/// the source. The processor has the instructions of `L`, including the instruction to pick.
#[inline(always)]
pub(super) unsafe fn pick<L: Lane>(
    steps: &[PickStep],
    mut src: *const u8,
    src_pitch: usize,
    mut dst: *mut u8,
    dst_pitch: usize,
    groups: usize,
) {
    // SAFETY: as the contract.
    unsafe {
        if let [step] = steps {
            let picks = L::load(step.picks.as_ptr());
            src = src.add(step.from);
            for _ in 0..groups {
                L::load(src).pick(picks).store(dst);
                (src, dst) = (src.wrapping_add(src_pitch), dst.wrapping_add(dst_pitch));
            }
            return;
        }
        for _ in 0..groups {
            for step in steps {
                let picks = L::load(step.picks.as_ptr());
                L::load(src.add(step.from)).pick(picks).store(dst.add(step.to));
            }
            (src, dst) = (src.wrapping_add(src_pitch), dst.wrapping_add(dst_pitch));
        }
    }
}
