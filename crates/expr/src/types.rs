//! The types of elements, with NumPy's names for them.

use std::fmt;

/// The type of an element, in native byte order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Type {
    /// A truth value in one byte, 0 or 1.
    Bool,
    /// An integer of 8 bits.
    I8,
    /// An integer of 16 bits.
    I16,
    /// An integer of 32 bits.
    I32,
    /// An integer of 64 bits.
    I64,
    /// An unsigned integer of 8 bits.
    U8,
    /// An unsigned integer of 16 bits.
    U16,
    /// An unsigned integer of 32 bits.
    U32,
    /// An unsigned integer of 64 bits.
    U64,
    /// A float of 16 bits.
    F16,
    /// A float of 32 bits.
    F32,
    /// A float of 64 bits.
    F64,
    /// A complex number of two floats of 32 bits.
    C64,
    /// A complex number of two floats of 64 bits.
    C128,
    /// Bytes of this length, padded with zeros: NumPy's `S`.
    Bytes(usize),
    /// A text of this many characters of 32 bits, padded with zeros: NumPy's `U`.
    Text(usize),
    /// A time in 64 bits, counted from 1970 in this unit.
    Datetime(Unit),
    /// A duration in 64 bits, in this unit.
    Timedelta(Unit),
}

/// The unit of times and durations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unit {
    /// No unit: a number that takes the unit of the other operand.
    Generic,
    /// Years.
    Years,
    /// Months.
    Months,
    /// Weeks.
    Weeks,
    /// Days.
    Days,
    /// Hours.
    Hours,
    /// Minutes.
    Minutes,
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// Nanoseconds.
    Nanoseconds,
    /// Picoseconds.
    Picoseconds,
    /// Femtoseconds.
    Femtoseconds,
    /// Attoseconds.
    Attoseconds,
}

/// What kind of number a type is: the order is that of NumPy's promotion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    Bool,
    Signed,
    Unsigned,
    Float,
    Complex,
    Bytes,
    Text,
    Datetime,
    Timedelta,
}

impl Type {
    /// Returns the size of an element in bytes.
    #[must_use]
    pub fn size(self) -> usize {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 | Self::F16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 | Self::C64 | Self::Datetime(_) | Self::Timedelta(_) => 8,
            Self::C128 => 16,
            Self::Bytes(len) => len,
            Self::Text(len) => len * 4,
        }
    }

    /// Returns the least and the largest value of a type of integers.
    #[must_use]
    pub fn range(self) -> Option<(i128, i128)> {
        let bits = self.size() * 8;
        match self.class() {
            Class::Signed => Some((-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1)),
            Class::Unsigned => Some((0, (1_i128 << bits) - 1)),
            _ => None,
        }
    }

    pub(crate) fn class(self) -> Class {
        match self {
            Self::Bool => Class::Bool,
            Self::I8 | Self::I16 | Self::I32 | Self::I64 => Class::Signed,
            Self::U8 | Self::U16 | Self::U32 | Self::U64 => Class::Unsigned,
            Self::F16 | Self::F32 | Self::F64 => Class::Float,
            Self::C64 | Self::C128 => Class::Complex,
            Self::Bytes(_) => Class::Bytes,
            Self::Text(_) => Class::Text,
            Self::Datetime(_) => Class::Datetime,
            Self::Timedelta(_) => Class::Timedelta,
        }
    }

    /// Returns whether elements are cast to another type by the rule that NumPy calls `same_kind`.
    #[must_use]
    pub fn is_same_kind(self, to: Self) -> bool {
        let kind = |kind: Self| match kind.class() {
            Class::Bool => 0,
            Class::Unsigned => 1,
            Class::Signed => 2,
            Class::Float => 3,
            Class::Complex => 4,
            _ => 5,
        };
        match (self, to) {
            (Self::Bytes(_), Self::Bytes(_)) | (Self::Text(_), Self::Text(_)) => self == to,
            (Self::Datetime(_), Self::Datetime(_)) | (Self::Timedelta(_), Self::Timedelta(_)) => true,
            (from, to) => from.is_number() && to.is_number() && kind(from) <= kind(to),
        }
    }

    /// Returns whether elements are numbers or truth values.
    pub(crate) fn is_number(self) -> bool {
        self.class() <= Class::Complex
    }

    /// Returns whether elements are integers: truth values are not.
    pub(crate) fn is_integer(self) -> bool {
        matches!(self.class(), Class::Signed | Class::Unsigned)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let timed = |f: &mut fmt::Formatter<'_>, name: &str, unit: Unit| match unit.symbol() {
            "" => f.write_str(name),
            symbol => write!(f, "{name}[{symbol}]"),
        };
        match self {
            Self::Bool => f.write_str("bool"),
            Self::I8 => f.write_str("int8"),
            Self::I16 => f.write_str("int16"),
            Self::I32 => f.write_str("int32"),
            Self::I64 => f.write_str("int64"),
            Self::U8 => f.write_str("uint8"),
            Self::U16 => f.write_str("uint16"),
            Self::U32 => f.write_str("uint32"),
            Self::U64 => f.write_str("uint64"),
            Self::F16 => f.write_str("float16"),
            Self::F32 => f.write_str("float32"),
            Self::F64 => f.write_str("float64"),
            Self::C64 => f.write_str("complex64"),
            Self::C128 => f.write_str("complex128"),
            Self::Bytes(len) => write!(f, "bytes of length {len}"),
            Self::Text(len) => write!(f, "string of length {len}"),
            Self::Datetime(unit) => timed(f, "datetime64", *unit),
            Self::Timedelta(unit) => timed(f, "timedelta64", *unit),
        }
    }
}

impl Unit {
    /// Returns NumPy's symbol of the unit. Generic times have none.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Generic => "",
            Self::Years => "Y",
            Self::Months => "M",
            Self::Weeks => "W",
            Self::Days => "D",
            Self::Hours => "h",
            Self::Minutes => "m",
            Self::Seconds => "s",
            Self::Milliseconds => "ms",
            Self::Microseconds => "us",
            Self::Nanoseconds => "ns",
            Self::Picoseconds => "ps",
            Self::Femtoseconds => "fs",
            Self::Attoseconds => "as",
        }
    }

    /// Returns the number of `finer` units in one unit, if it is fixed and fits.
    pub(crate) fn in_units_of(self, finer: Self) -> Option<i64> {
        const STEPS: [(Unit, i64); 11] = [
            (Unit::Weeks, 1),
            (Unit::Days, 7),
            (Unit::Hours, 24),
            (Unit::Minutes, 60),
            (Unit::Seconds, 60),
            (Unit::Milliseconds, 1000),
            (Unit::Microseconds, 1000),
            (Unit::Nanoseconds, 1000),
            (Unit::Picoseconds, 1000),
            (Unit::Femtoseconds, 1000),
            (Unit::Attoseconds, 1000),
        ];
        if self == finer || self == Self::Generic {
            return Some(1);
        }
        if (self, finer) == (Self::Years, Self::Months) {
            return Some(12);
        }
        let place = |unit: Self| STEPS.iter().position(|(known, _)| *known == unit);
        let (from, to) = (place(self)?, place(finer)?);
        let steps = STEPS.get(from + 1..=to)?;
        steps.iter().try_fold(1_i64, |product, (_, step)| product.checked_mul(*step))
    }
}
