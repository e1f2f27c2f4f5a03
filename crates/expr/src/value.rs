//! Scalars: literals of an expression, and values that a caller gives to names.

/// A scalar of Python, whose type gives way to that of the other operand (NEP 50).
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// A float.
    Float(f64),
    /// A complex number.
    Complex(f64, f64),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A text.
    Text(String),
}

impl Value {
    /// Returns the value with the other sign, if it is a number.
    pub(crate) fn negated(&self) -> Option<Self> {
        match self {
            Self::Int(value) => value.checked_neg().map(Self::Int),
            Self::Float(value) => Some(Self::Float(-value)),
            Self::Complex(re, im) => Some(Self::Complex(-re, -im)),
            Self::Bool(_) | Self::Bytes(_) | Self::Text(_) => None,
        }
    }

    /// Returns the number as a float.
    #[expect(clippy::cast_precision_loss, reason = "Python rounds a large integer to a float as well")]
    pub(crate) fn float(&self) -> Option<f64> {
        match self {
            Self::Bool(value) => Some(f64::from(u8::from(*value))),
            Self::Int(value) => Some(*value as f64),
            Self::Float(value) => Some(*value),
            Self::Complex(..) | Self::Bytes(_) | Self::Text(_) => None,
        }
    }
}
