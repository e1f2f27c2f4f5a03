//! The modes of ZFP.

/// What a user wants of ZFP.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum ZfpMode {
    /// A fixed number of bits for each element.
    Rate(f64),
    /// A fixed number of bit planes.
    Precision(u32),
    /// An error of at most this number.
    Accuracy(f64),
    /// No loss.
    Reversible,
    /// All parameters of the codec.
    Expert {
        /// The fewest bits of a block.
        min_bits: u32,
        /// The most bits of a block.
        max_bits: u32,
        /// The most bit planes.
        max_precision: u32,
        /// The exponent of the lowest bit plane.
        min_exponent: i32,
    },
}

impl Default for ZfpMode {
    /// Returns the mode of the library's defaults: all bits, by an expert's parameters.
    fn default() -> Self {
        Self::Expert { min_bits: 1, max_bits: 16_658, max_precision: 64, min_exponent: -1074 }
    }
}

impl ZfpMode {
    /// Returns the parameters as users give them to the plugin. It stores them as they are if chunks have no
    /// shape for ZFP, and then stores chunks without the filter.
    pub(super) fn parameters(self) -> Vec<u32> {
        let [low, high] = match self {
            Self::Rate(value) | Self::Accuracy(value) => {
                let [a, b, c, d, e, f, g, h] = value.to_le_bytes();
                [u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])]
            }
            Self::Precision(planes) => [planes, 0],
            _ => [0, 0],
        };
        match self {
            // The library's defaults are no parameters at all.
            _ if self == Self::default() => Vec::new(),
            Self::Rate(_) => vec![1, 0, low, high, 0, 0],
            Self::Precision(_) => vec![2, 0, low, high, 0, 0],
            Self::Accuracy(_) => vec![3, 0, low, high, 0, 0],
            Self::Expert { min_bits, max_bits, max_precision, min_exponent } => {
                vec![4, 0, min_bits, max_bits, max_precision, min_exponent.cast_unsigned()]
            }
            Self::Reversible => vec![5, 0, 0, 0, 0, 0],
        }
    }
}
