//! Planes: byte k of many elements, either stored consecutively or all equal.

/// The most bytes that a kernel loads at a time.
const WIDEST: usize = 32;

/// For each byte value, a register's worth of that byte.
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
    /// All ones, or 0 if every load is from the start of `bytes`, which then holds `WIDEST` equal bytes.
    mask: usize,
}

impl<'a> Plane<'a> {
    /// Creates a plane of bytes in memory.
    #[inline]
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        Self { bytes, mask: usize::MAX }
    }

    /// Creates a plane that has the same byte for any number of elements.
    #[inline]
    pub(crate) fn repeated(byte: u8) -> Self {
        Self { bytes: &REPEATED[usize::from(byte)], mask: 0 }
    }

    /// Returns whether the plane has the same byte for all elements by construction.
    #[inline]
    pub(crate) fn is_repeated(&self) -> bool {
        self.mask == 0
    }

    /// Returns the byte of element `index`.
    #[inline]
    pub(crate) fn byte(&self, index: usize) -> u8 {
        self.bytes[index & self.mask]
    }

    /// Fills `into` with the bytes of elements, starting at element `first`.
    pub(super) fn copy(&self, first: usize, into: &mut [u8]) {
        if self.mask == 0 {
            into.fill(self.bytes[0]);
        } else {
            into.copy_from_slice(&self.bytes[first..first + into.len()]);
        }
    }

    /// Returns whether the plane has at least `count` elements.
    #[inline]
    pub(super) fn has(&self, count: usize) -> bool {
        self.mask == 0 || count <= self.bytes.len()
    }

    /// Returns the address from which a kernel reads the bytes of elements, starting at element `index`. The
    /// kernel may read up to 32 bytes, and no further than the plane's end.
    ///
    /// # Safety
    /// The plane has more than `index` elements.
    #[inline(always)]
    pub(super) unsafe fn from(&self, index: usize) -> *const u8 {
        // SAFETY: the caller guarantees that `index` is inside `bytes`, or the mask makes the index zero.
        unsafe { self.bytes.as_ptr().add(index & self.mask) }
    }
}

/// Any number of planes at equal distances. The first plane starts at the first byte of `bytes`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rack<'a> {
    bytes: &'a [u8],
    pitch: usize,
    /// The elements of each plane.
    elements: usize,
    order: PlaneOrder<'a>,
}

/// The planes that make up an element.
#[derive(Debug, Clone, Copy)]
pub(super) enum PlaneOrder<'a> {
    /// The first planes, this many.
    First(usize),
    /// These planes.
    Given(&'a [u16]),
}

impl<'a> Rack<'a> {
    /// Creates a rack of the planes that `order` names, or of the first `width` planes. Each plane has
    /// `elements` bytes. Panics if a plane is not inside `bytes`.
    pub(crate) fn new(
        bytes: &'a [u8],
        pitch: usize,
        elements: usize,
        width: usize,
        order: Option<&'a [u16]>,
    ) -> Self {
        let order = order.map_or(PlaneOrder::First(width), PlaneOrder::Given);
        let last = match order {
            PlaneOrder::First(count) => count.checked_sub(1),
            PlaneOrder::Given(planes) => planes.iter().max().map(|&last| usize::from(last)),
        };
        let end =
            last.map_or(Some(0), |last| last.checked_mul(pitch).and_then(|at| at.checked_add(elements)));
        assert!(end.is_some_and(|end| end <= bytes.len()), "a plane is outside the rack");
        Self { bytes, pitch, elements, order }
    }

    /// Returns the number of planes.
    #[inline]
    pub(crate) fn count(&self) -> usize {
        match self.order {
            PlaneOrder::First(count) => count,
            PlaneOrder::Given(planes) => planes.len(),
        }
    }

    /// Returns plane `k`.
    #[inline]
    pub(crate) fn plane(&self, k: usize) -> Plane<'a> {
        let k = match self.order {
            PlaneOrder::First(_) => k,
            PlaneOrder::Given(planes) => usize::from(planes[k]),
        };
        Plane::of(&self.bytes[k * self.pitch..][..self.elements])
    }

    /// Returns whether each plane has at least `count` elements.
    #[inline]
    pub(super) fn has(&self, count: usize) -> bool {
        count <= self.elements
    }

    /// Returns the first plane, the distance from one plane to the next, and the planes that make up an
    /// element.
    #[inline(always)]
    pub(super) fn parts(&self) -> (*const u8, usize, PlaneOrder<'a>) {
        (self.bytes.as_ptr(), self.pitch, self.order)
    }
}

/// The addresses of the planes. Plane k holds byte k of every element.
pub(super) trait Planes: Copy {
    /// Returns the address of element `index` in plane `k`, from which up to a widest register may be read.
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
        // SAFETY: the caller guarantees that the element of plane k exists, so the address is inside the
        // buffer.
        unsafe { self.first.add(k * self.stride + index) }
    }
}

/// Some of the planes at equal distances, in any order.
#[derive(Clone, Copy)]
pub(super) struct Picked<'a> {
    pub(super) all: Strided,
    pub(super) order: &'a [u16],
}

impl Planes for Picked<'_> {
    #[inline(always)]
    unsafe fn at(self, k: usize, index: usize) -> *const u8 {
        // SAFETY: the caller guarantees that plane k of the order and the element exist.
        unsafe { self.all.at(usize::from(*self.order.get_unchecked(k)), index) }
    }
}

/// Planes at any addresses, starting at an element.
#[derive(Clone, Copy)]
pub(super) struct From<P> {
    pub(super) planes: P,
    pub(super) first: usize,
}

impl<P: Planes> Planes for From<P> {
    #[inline(always)]
    unsafe fn at(self, k: usize, index: usize) -> *const u8 {
        // SAFETY: the same contract, with the element counted from the first element of the planes.
        unsafe { self.planes.at(k, self.first + index) }
    }
}

impl Planes for &[Plane<'_>] {
    #[inline(always)]
    unsafe fn at(self, k: usize, index: usize) -> *const u8 {
        // SAFETY: the caller guarantees that plane k and the element exist.
        unsafe { self.get_unchecked(k).from(index) }
    }
}

impl Planes for &Rack<'_> {
    #[inline(always)]
    unsafe fn at(self, k: usize, index: usize) -> *const u8 {
        // SAFETY: the caller guarantees that plane k and the element exist.
        unsafe { self.plane(k).from(index) }
    }
}

impl<const N: usize> Planes for [Plane<'_>; N] {
    #[inline(always)]
    unsafe fn at(self, k: usize, index: usize) -> *const u8 {
        // SAFETY: the caller guarantees that plane k and the element exist.
        unsafe { self.get_unchecked(k).from(index) }
    }
}
