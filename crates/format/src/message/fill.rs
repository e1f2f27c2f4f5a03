//! Fill value messages, types 4 and 5 (spec IV.A.2.e and f).

use crate::bytes::{Reader, Writer};
use crate::error::{ErrorKind, Result};
use crate::structure::Structure;

/// The fill value of a dataset: the value of elements that were never written, and when it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FillValue {
    /// The version of the message: 1, 2 or 3.
    pub version: u8,
    /// When space for data is allocated.
    pub allocation: AllocationTime,
    /// When the fill value is written.
    pub write: FillTime,
    /// The value.
    pub value: FillBytes,
}

/// The value of elements that were never written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FillBytes {
    /// The library's default: all bytes are zero.
    Default,
    /// Explicitly undefined: elements that were never written may hold any value.
    Undefined,
    /// One element of the dataset's datatype.
    Defined(Vec<u8>),
}

/// The fill value message of old libraries, type 4. It has only the value, which is empty if none was set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OldFillValue {
    /// One element of the dataset's datatype, or nothing.
    pub value: Vec<u8>,
}

/// When space for data is allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllocationTime {
    /// When the dataset is created.
    Early = 1,
    /// When data are first written.
    Late = 2,
    /// Chunk by chunk.
    Incremental = 3,
}

/// When fill values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FillTime {
    /// On allocation.
    OnAllocation = 0,
    /// Never.
    Never = 1,
    /// On allocation, if the user set a value.
    IfSet = 2,
}

/// Version 3, flags, bit 4: the fill value is undefined.
const UNDEFINED: u8 = 16;
/// Version 3, flags, bit 5: a fill value is stored.
const DEFINED: u8 = 32;

/// Libraries that wrote the old message allocated space late, and wrote the fill value if it was set.
impl From<OldFillValue> for FillValue {
    fn from(old: OldFillValue) -> Self {
        let value = if old.value.is_empty() { FillBytes::Undefined } else { FillBytes::Defined(old.value) };
        Self { version: 2, allocation: AllocationTime::Late, write: FillTime::IfSet, value }
    }
}

impl Structure for FillValue {
    const NAME: &'static str = "fill value message";
    const SPEC: &'static str = "IV.A.2.f";
    type Context = ();

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        let version = r.version_in(1..=3, "1 to 3")?;
        if version == 3 {
            let flags = r.u8()?;
            let allocation = AllocationTime::from_number(r, flags & 3)?;
            let write = FillTime::from_number(r, flags >> 2 & 3)?;
            let value = match flags & !15 {
                0 => FillBytes::Default,
                UNDEFINED => FillBytes::Undefined,
                DEFINED => {
                    let size = r.u32()?;
                    FillBytes::Defined(value(r, size)?)
                }
                _ => return Err(r.bad_value("Flags", flags.into(), "bits 0 to 5, not both 4 and 5")),
            };
            return Ok(Self { version, allocation, write, value });
        }
        let allocation = r.u8().and_then(|number| AllocationTime::from_number(r, number))?;
        let write = r.u8().and_then(|number| FillTime::from_number(r, number))?;
        let is_defined = r.u8()? != 0;
        // Version 1 always stores the size; version 2 stores it if a value is defined. libhdf5 writes a
        // negative size for an undefined value.
        let size = if version == 1 || is_defined { r.u32()? } else { 0 };
        let value = match size {
            _ if !is_defined => FillBytes::Undefined,
            0 => FillBytes::Default,
            0x8000_0000.. => FillBytes::Undefined,
            size => FillBytes::Defined(value(r, size)?),
        };
        Ok(Self { version, allocation, write, value })
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        w.u8(self.version);
        let (allocation, write) = (self.allocation as u8, self.write as u8);
        if self.version == 3 {
            let value = match self.value {
                FillBytes::Default => 0,
                FillBytes::Undefined => UNDEFINED,
                FillBytes::Defined(_) => DEFINED,
            };
            w.u8(allocation | write << 2 | value);
        } else {
            w.u8(allocation);
            w.u8(write);
            w.u8((self.value != FillBytes::Undefined).into());
        }
        match &self.value {
            FillBytes::Defined(value) => {
                w.uint(value.len() as u64, 4);
                w.bytes(value);
            }
            FillBytes::Default if self.version < 3 => w.u32(0),
            FillBytes::Undefined if self.version < 2 => w.u32(u32::MAX), // -1
            FillBytes::Default | FillBytes::Undefined => {}
        }
    }
}

impl Structure for OldFillValue {
    const NAME: &'static str = "old fill value message";
    const SPEC: &'static str = "IV.A.2.e";
    type Context = ();

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        let size = r.u32()?;
        Ok(Self { value: value(r, size)? })
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        w.uint(self.value.len() as u64, 4);
        w.bytes(&self.value);
    }
}

fn value(r: &mut Reader<'_>, size: u32) -> Result<Vec<u8>> {
    r.bytes(usize::try_from(size).unwrap_or(usize::MAX)).map(<[u8]>::to_vec)
}

impl AllocationTime {
    fn from_number(r: &Reader<'_>, number: u8) -> Result<Self> {
        match number {
            1 => Ok(Self::Early),
            2 => Ok(Self::Late),
            3 => Ok(Self::Incremental),
            _ => Err(bad(r, "Space Allocation Time", number, "1, 2 or 3")),
        }
    }
}

impl FillTime {
    fn from_number(r: &Reader<'_>, number: u8) -> Result<Self> {
        match number {
            0 => Ok(Self::OnAllocation),
            1 => Ok(Self::Never),
            2 => Ok(Self::IfSet),
            _ => Err(bad(r, "Fill Value Write Time", number, "0, 1 or 2")),
        }
    }
}

fn bad(r: &Reader<'_>, field: &'static str, value: u8, expected: &'static str) -> crate::error::FormatError {
    r.error_back(1, ErrorKind::Value { field, value: value.into(), expected })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden;

    fn value(value: FillBytes, version: u8) -> FillValue {
        FillValue { version, allocation: AllocationTime::Incremental, write: FillTime::IfSet, value }
    }

    /// The value -3 of a chunked `i2` dataset, written by h5py 3.16 with both bounds of `libver`.
    #[test]
    fn versions_2_and_3_round_trip_bytes_of_libhdf5() {
        let minus_three = || FillBytes::Defined(vec![0xfd, 0xff]);
        assert_eq!(golden::golden::<FillValue>("02 03 02 01 02000000 fdff", &()), value(minus_three(), 2));
        assert_eq!(golden::golden::<FillValue>("03 2b 02000000 fdff", &()), value(minus_three(), 3));
        assert_eq!(golden::golden::<FillValue>("03 0b", &()), value(FillBytes::Default, 3));
    }

    /// From `attr-u16.h5` of `PyTables`' tests, written by HDF5 1.6.
    #[test]
    fn an_undefined_value_of_version_1_has_a_negative_size() {
        assert_eq!(golden::golden::<FillValue>("01 03 02 00 ff*4", &()), value(FillBytes::Undefined, 1));
    }

    #[test]
    fn an_old_message_without_a_value_has_an_undefined_fill_value() {
        let old: OldFillValue = golden::golden("00*4", &());
        assert_eq!(FillValue::from(old).value, FillBytes::Undefined);
    }

    #[test]
    fn a_fill_value_both_stored_and_undefined_is_refused() {
        let error = golden::error::<FillValue>("03 3b 00*4", &());
        assert!(matches!(error, ErrorKind::Value { field: "Flags", value: 0x3b, .. }), "{error}");
    }
}
