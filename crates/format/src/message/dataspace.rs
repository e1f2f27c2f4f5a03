//! Dataspace message, type 1 (spec IV.A.2.b): the shape of a dataset or an attribute.

use crate::bytes::{Reader, Writer};
use crate::error::Result;
use crate::structure::Structure;

/// The number of elements and their arrangement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dataspace {
    /// No elements at all (h5py's `Empty`).
    Null,
    /// One element, without dimensions.
    Scalar,
    /// An array of one or more dimensions.
    Simple {
        /// The current size in each dimension.
        shape: Vec<u64>,
        /// The maximum sizes; `None` for an unlimited dimension. Absent if the array cannot grow.
        max_shape: Option<Vec<Option<u64>>>,
    },
}

/// A dataspace with the version of its encoding, as a message stores it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataspaceMessage {
    /// 1 or 2. Version 1 cannot encode [`Dataspace::Null`].
    pub version: u8,
    /// The dataspace.
    pub dataspace: Dataspace,
}

/// The largest number of dimensions of a dataspace.
pub const MAX_RANK: usize = 32;

/// Flags, bit 0: maximum sizes are stored.
const HAS_MAX: u8 = 1;

impl Dataspace {
    /// Returns the number of elements, or `None` if it overflows a `u64`.
    pub fn elements(&self) -> Option<u64> {
        match self {
            Self::Null => Some(0),
            Self::Scalar => Some(1),
            // A dimension of size 0 makes the product 0, however large the others are.
            Self::Simple { shape, .. } if shape.contains(&0) => Some(0),
            Self::Simple { shape, .. } => {
                shape.iter().try_fold(1_u64, |product, &size| product.checked_mul(size))
            }
        }
    }

    /// Returns the current size in each dimension; empty for scalar and null dataspaces.
    pub fn shape(&self) -> &[u64] {
        match self {
            Self::Null | Self::Scalar => &[],
            Self::Simple { shape, .. } => shape,
        }
    }

    fn decode_versioned(r: &mut Reader<'_>) -> Result<(u8, Self)> {
        let version = r.version_in(1..=2, "1 and 2")?;
        let rank = usize::from(r.u8()?);
        r.at_most(1, "Dimensionality", rank as u64, MAX_RANK as u64)?;
        let flags = r.u8()?;
        // Version 2 stores the type here; version 1 has reserved bytes.
        let class = if version == 1 { None } else { Some(r.u8()?) };
        if version == 1 {
            r.skip(5)?;
        }
        let dataspace = match (class, rank) {
            (None | Some(0 | 1), 0) => Self::Scalar,
            (Some(2), 0) => Self::Null,
            (None | Some(1), _) => {
                let shape = (0..rank).map(|_| r.length()).collect::<Result<Vec<_>>>()?;
                let max_shape = if flags & HAS_MAX == 0 {
                    None
                } else {
                    Some(shape.iter().map(|&size| max_size(r, size)).collect::<Result<Vec<_>>>()?)
                };
                Self::Simple { shape, max_shape }
            }
            (Some(0 | 2), rank) => {
                return Err(r.bad_value("Dimensionality", rank as u64, "0 for a scalar or null dataspace"));
            }
            (Some(class), _) => return Err(r.bad_value("Type", class.into(), "0, 1 or 2")),
        };
        Ok((version, dataspace))
    }

    pub(crate) fn encode_versioned(&self, version: u8, w: &mut Writer<'_>) {
        let (shape, max_shape) = match self {
            Self::Simple { shape, max_shape } => (shape.as_slice(), max_shape.as_deref()),
            Self::Null | Self::Scalar => (&[][..], None),
        };
        w.u8(version);
        // A decoded shape has at most MAX_RANK dimensions.
        w.u8(u8::try_from(shape.len()).unwrap_or(u8::MAX));
        w.u8(if max_shape.is_some() { HAS_MAX } else { 0 });
        if version == 1 {
            w.zeros(5);
        } else {
            w.u8(match self {
                Self::Scalar => 0,
                Self::Simple { .. } => 1,
                Self::Null => 2,
            });
        }
        for &size in shape {
            w.length(size);
        }
        for &size in max_shape.unwrap_or_default() {
            w.length_or_max(size);
        }
    }
}

/// Encodes as version 2. [`DataspaceMessage`] keeps the version.
impl Structure for Dataspace {
    const NAME: &'static str = "dataspace message";
    const SPEC: &'static str = "IV.A.2.b";
    type Context = ();

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        Self::decode_versioned(r).map(|(_, dataspace)| dataspace)
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        self.encode_versioned(2, w);
    }
}

impl Structure for DataspaceMessage {
    const NAME: &'static str = Dataspace::NAME;
    const SPEC: &'static str = Dataspace::SPEC;
    type Context = ();

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        Dataspace::decode_versioned(r).map(|(version, dataspace)| Self { version, dataspace })
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        self.dataspace.encode_versioned(self.version, w);
    }
}

/// Reads the maximum size of a dimension whose current size is `size`.
fn max_size(r: &mut Reader<'_>, size: u64) -> Result<Option<u64>> {
    let max = r.length_or_max()?;
    match max {
        Some(max) if max < size => {
            Err(r.bad_value("Dimension Maximum Size", max, "at least the current size"))
        }
        _ => Ok(max),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::golden;

    /// Shape (10, 6), growing in the first dimension, written by h5py 3.16 with both bounds of `libver`.
    #[test]
    fn both_versions_round_trip_bytes_of_libhdf5() {
        let dataspace = Dataspace::Simple { shape: vec![10, 6], max_shape: Some(vec![None, Some(6)]) };
        let sizes = "0a00000000000000 0600000000000000 ff*8 0600000000000000";
        let old: DataspaceMessage = golden::golden(&format!("01 02 01 00*5 {sizes}"), &());
        assert_eq!(old, DataspaceMessage { version: 1, dataspace: dataspace.clone() });
        let new: DataspaceMessage = golden::golden(&format!("02 02 01 01 {sizes}"), &());
        assert_eq!(new, DataspaceMessage { version: 2, dataspace });
    }

    /// `h5py.Empty` and a number, written by h5py 3.16.
    #[test]
    fn null_and_scalar_dataspaces_are_distinguished() {
        assert_eq!(golden::golden::<Dataspace>("02 00 00 02", &()), Dataspace::Null);
        assert_eq!(golden::golden::<Dataspace>("02 00 00 00", &()), Dataspace::Scalar);
        assert_eq!(golden::golden::<DataspaceMessage>("01 00*7", &()).dataspace, Dataspace::Scalar);
    }

    #[test]
    fn elements_returns_the_product_or_none_on_overflow() {
        let elements =
            |shape: &[u64]| Dataspace::Simple { shape: shape.to_vec(), max_shape: None }.elements();
        assert_eq!((elements(&[3, 4]), elements(&[1 << 40, 0, 1 << 40])), (Some(12), Some(0)));
        assert_eq!(elements(&[1 << 40, 1 << 40]), None);
    }

    #[test]
    fn a_dimension_larger_than_its_maximum_is_refused() {
        let error = golden::error::<Dataspace>("02 01 01 01 0500000000000000 0400000000000000", &());
        assert!(
            matches!(error, ErrorKind::Value { field: "Dimension Maximum Size", value: 4, .. }),
            "{error}"
        );
    }

    #[test]
    fn a_rank_above_32_is_refused() {
        let error = golden::error::<Dataspace>("02 21 00 01 00*264", &());
        assert_eq!(error, ErrorKind::TooLarge { field: "Dimensionality", value: 33, limit: 32 });
    }
}
