//! Byte k of many elements, one after the other or all the same.

/// Bytes that a kernel loads at a time at most.
const WIDEST: usize = 32;

/// A register's worth of each byte.
static REPEATED: [[u8; WIDEST]; 256] = {
    let mut repeated = [[0; WIDEST]; 256];
    let mut byte = 0u8;
    loop {
        repeated[byte as usize] = [byte; WIDEST];
        if byte == 255 {
            break repeated;
        }
        byte += 1;
    }
};

/// One byte of every element.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plane<'a> {
    bytes: &'a [u8],
    /// All ones, or zero if every load is from the start of `bytes`, which then has `WIDEST` equal ones.
    mask: usize,
}

impl<'a> Plane<'a> {
    /// Bytes in memory.
    #[inline]
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        Self { bytes, mask: usize::MAX }
    }

    /// The same byte for any number of elements.
    #[inline]
    pub(crate) fn repeated(byte: u8) -> Self {
        Self { bytes: &REPEATED[usize::from(byte)], mask: 0 }
    }

    /// The byte of element `index`.
    #[inline]
    pub(crate) fn byte(&self, index: usize) -> u8 {
        self.bytes[index & self.mask]
    }

    /// Fills `into` with the bytes from element `first` on.
    pub(super) fn copy(&self, first: usize, into: &mut [u8]) {
        if self.mask == 0 {
            into.fill(self.bytes[0]);
        } else {
            into.copy_from_slice(&self.bytes[first..first + into.len()]);
        }
    }

    /// Whether there are `count` elements.
    #[inline]
    pub(super) fn has(&self, count: usize) -> bool {
        self.mask == 0 || count <= self.bytes.len()
    }

    /// Where a kernel finds the bytes from element `index` on: up to 32 of those that the plane has.
    ///
    /// # Safety
    /// The plane has more than `index` elements.
    #[inline(always)]
    pub(super) unsafe fn from(&self, index: usize) -> *const u8 {
        // SAFETY: the caller's `index` is inside `bytes`, or the mask makes it zero.
        unsafe { self.bytes.as_ptr().add(index & self.mask) }
    }
}

/// Planes of any number at equal distances, from the first byte of `bytes` on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rack<'a> {
    bytes: &'a [u8],
    pitch: usize,
    /// Elements of each plane.
    elements: usize,
    order: Order<'a>,
}

/// Which planes make an element.
#[derive(Debug, Clone, Copy)]
pub(super) enum Order<'a> {
    /// The first ones.
    First(usize),
    /// These.
    Given(&'a [u16]),
}

impl<'a> Rack<'a> {
    /// The planes that `order` names, or else the first `width`, of `elements` bytes, which `bytes` has.
    pub(crate) fn new(
        bytes: &'a [u8],
        pitch: usize,
        elements: usize,
        width: usize,
        order: Option<&'a [u16]>,
    ) -> Self {
        let order = order.map_or(Order::First(width), Order::Given);
        let last = match order {
            Order::First(count) => count.checked_sub(1),
            Order::Given(planes) => planes.iter().max().map(|&last| usize::from(last)),
        };
        let end =
            last.map_or(Some(0), |last| last.checked_mul(pitch).and_then(|at| at.checked_add(elements)));
        assert!(end.is_some_and(|end| end <= bytes.len()), "every plane is in the rack");
        Self { bytes, pitch, elements, order }
    }

    /// How many planes there are.
    #[inline]
    pub(crate) fn count(&self) -> usize {
        match self.order {
            Order::First(count) => count,
            Order::Given(planes) => planes.len(),
        }
    }

    /// Plane `k`.
    #[inline]
    pub(crate) fn plane(&self, k: usize) -> Plane<'a> {
        let k = match self.order {
            Order::First(_) => k,
            Order::Given(planes) => usize::from(planes[k]),
        };
        Plane::of(&self.bytes[k * self.pitch..][..self.elements])
    }

    /// Whether there are `count` elements.
    #[inline]
    pub(super) fn has(&self, count: usize) -> bool {
        count <= self.elements
    }

    /// The first plane, the distance of one from the next, and which of them make an element.
    #[inline(always)]
    pub(super) fn parts(&self) -> (*const u8, usize, Order<'a>) {
        (self.bytes.as_ptr(), self.pitch, self.order)
    }
}

/// Where the bytes of each plane are: byte k of every element.
pub(super) trait Planes: Copy {
    /// Plane `k` from element `index` on, up to the widest register.
    ///
    /// # Safety
    /// The plane and the element must exist.
    unsafe fn at(self, k: usize, index: usize) -> *const u8;
}

/// Planes at equal distances.
#[derive(Clone, Copy)]
pub(super) struct Strided {
    pub(super) first: *const u8,
    pub(super) stride: usize,
}

impl Planes for Strided {
    #[inline(always)]
    unsafe fn at(self, k: usize, index: usize) -> *const u8 {
        // SAFETY: the caller says that the element of plane k exists, so it is inside the buffer.
        unsafe { self.first.add(k * self.stride + index) }
    }
}

/// Some planes of those at equal distances, in any order.
#[derive(Clone, Copy)]
pub(super) struct Picked<'a> {
    pub(super) all: Strided,
    pub(super) order: &'a [u16],
}

impl Planes for Picked<'_> {
    #[inline(always)]
    unsafe fn at(self, k: usize, index: usize) -> *const u8 {
        // SAFETY: the caller says that plane k of the order and the element exist.
        unsafe { self.all.at(usize::from(*self.order.get_unchecked(k)), index) }
    }
}

/// Planes anywhere, from an element on.
#[derive(Clone, Copy)]
pub(super) struct From<P> {
    pub(super) planes: P,
    pub(super) first: usize,
}

impl<P: Planes> Planes for From<P> {
    #[inline(always)]
    unsafe fn at(self, k: usize, index: usize) -> *const u8 {
        // SAFETY: the same contract for the element, counted from the first of all.
        unsafe { self.planes.at(k, self.first + index) }
    }
}

impl Planes for &[Plane<'_>] {
    #[inline(always)]
    unsafe fn at(self, k: usize, index: usize) -> *const u8 {
        // SAFETY: the caller says that plane k and the element exist.
        unsafe { self.get_unchecked(k).from(index) }
    }
}

impl Planes for &Rack<'_> {
    #[inline(always)]
    unsafe fn at(self, k: usize, index: usize) -> *const u8 {
        // SAFETY: the caller says that plane k and the element exist.
        unsafe { self.plane(k).from(index) }
    }
}

impl<const N: usize> Planes for [Plane<'_>; N] {
    #[inline(always)]
    unsafe fn at(self, k: usize, index: usize) -> *const u8 {
        // SAFETY: the caller says that plane k and the element exist.
        unsafe { self.get_unchecked(k).from(index) }
    }
}
