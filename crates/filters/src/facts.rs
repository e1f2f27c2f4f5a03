//! The facts of a dataset that filters store in their client data.

/// The facts of a dataset that client data can contain.
#[derive(Debug, Clone, Copy)]
pub struct ChunkFacts<'a> {
    /// The datatype of an element.
    pub element: &'a Element,
    /// The fill value as one element; empty for zeros, and `None` if it is undefined.
    pub fill: Option<&'a [u8]>,
    /// The elements of a chunk along each dimension.
    pub shape: &'a [usize],
}

impl<'a> ChunkFacts<'a> {
    /// Returns the facts of chunks of a dataset whose fill value is zero.
    pub fn new(element: &'a Element, shape: &'a [usize]) -> Self {
        Self { element, fill: Some(&[]), shape }
    }

    /// Returns the elements of a chunk, or `None` if their number exceeds what filters can store.
    pub(crate) fn elements(&self) -> Option<u32> {
        let elements = self.shape.iter().try_fold(1_usize, |all, &side| all.checked_mul(side));
        elements.and_then(|elements| u32::try_from(elements).ok())
    }
}

/// A datatype, as far as filters distinguish datatypes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Element {
    /// A number.
    Number(Number),
    /// An array of elements.
    Array {
        /// The bytes of the whole array.
        size: usize,
        /// The datatype of an item.
        base: Box<Element>,
    },
    /// A compound of members with their offsets, in the order of the datatype.
    Compound {
        /// The bytes of an element.
        size: usize,
        /// The members.
        members: Vec<(usize, Element)>,
    },
    /// A sequence or a string of variable length. The bytes are those of its place in the heap.
    Variable {
        /// The bytes of an element.
        size: usize,
    },
    /// Anything else, such as strings and opaque bytes.
    Other {
        /// The bytes of an element.
        size: usize,
        /// The number of the datatype's class (spec IV.A.2.d).
        class: u8,
    },
}

/// A number, and which of its bits are significant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number {
    /// The kind of the number.
    pub kind: Kind,
    /// The bytes of an element.
    pub size: usize,
    /// The byte order.
    pub order: Order,
    /// The number of significant bits.
    pub precision: u32,
    /// The lowest significant bit.
    pub offset: u32,
}

/// The kinds of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Integers without sign.
    Unsigned,
    /// Integers in two's complement.
    Signed,
    /// Floating-point numbers.
    Float,
    /// Enumerations, which some filters treat as bytes, like the kinds below.
    Enumeration {
        /// Whether its values have a sign.
        signed: bool,
    },
    /// Bitfields.
    Bits,
    /// Times.
    Time,
}

impl Kind {
    /// Returns whether every filter for numbers treats the elements as numbers.
    pub(crate) fn is_number(self) -> bool {
        matches!(self, Self::Unsigned | Self::Signed | Self::Float)
    }
}

/// The orders of the bytes of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The least significant byte is first.
    Little,
    /// The most significant byte is first.
    Big,
    /// Another order (VAX).
    Other,
}

impl Element {
    /// Returns an integer of `size` bytes without sign, in little-endian order.
    pub fn unsigned(size: usize) -> Self {
        let precision = u32::try_from(size.saturating_mul(8)).unwrap_or(u32::MAX);
        Self::Number(Number { kind: Kind::Unsigned, size, order: Order::Little, precision, offset: 0 })
    }

    /// Returns the bytes of an element.
    pub fn size(&self) -> usize {
        match *self {
            Self::Number(Number { size, .. })
            | Self::Array { size, .. }
            | Self::Compound { size, .. }
            | Self::Variable { size }
            | Self::Other { size, .. } => size,
        }
    }

    /// Returns the bytes of an item, which is smaller than an element only in arrays.
    pub(crate) fn item_size(&self) -> usize {
        match self {
            Self::Array { base, .. } => base.size(),
            other => other.size(),
        }
    }

    /// Returns the number, or the one that an array consists of.
    pub(crate) fn number(&self) -> Option<Number> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Array { base, .. } => base.number(),
            _ => None,
        }
    }
}
