//! Attribute message, type 12 (spec IV.A.2.m), versions 1 to 3.

use crate::bytes::{Reader, Widths, Writer};
use crate::datatype::{Charset, Datatype};
use crate::error::Result;
use crate::message::dataspace::{Dataspace, DataspaceMessage};
use crate::message::shared::{MaybeShared, SharedLocation};
use crate::name;
use crate::structure::Structure;

/// An attribute.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute {
    /// The version of the message: 1, 2 or 3.
    pub version: u8,
    /// The name of the attribute.
    pub name: String,
    /// The character set of the name.
    pub charset: Charset,
    /// The datatype of the elements, or the location of the committed datatype.
    pub datatype: MaybeShared<Datatype>,
    /// The shape, or the location of the shared dataspace.
    pub dataspace: MaybeShared<Dataspace>,
    /// The version of the dataspace's encoding, 1 or 2.
    pub dataspace_version: u8,
    /// The elements, as stored. If the datatype or the dataspace is shared, the size of the elements is not
    /// known here. Then `data` has all remaining bytes of the message, and may end with up to seven bytes of
    /// padding.
    pub data: Vec<u8>,
}

/// Flags, bit 0: the datatype is shared.
const SHARED_DATATYPE: u8 = 1;
/// Flags, bit 1: the dataspace is shared.
const SHARED_DATASPACE: u8 = 2;

impl Attribute {
    /// Returns the size of the elements in bytes. `None` on overflow, or if datatype or dataspace is shared.
    fn data_len(&self, widths: Widths) -> Option<u64> {
        let (datatype, dataspace) = (self.datatype.here()?, self.dataspace.here()?);
        dataspace.elements()?.checked_mul(datatype.size(widths))
    }
}

impl Structure for Attribute {
    const NAME: &'static str = "attribute message";
    const SPEC: &'static str = "IV.A.2.m";
    type Context = ();

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        let version = r.version_in(1..=3, "1 to 3")?;
        // In version 1 this byte is reserved.
        let known = if version == 1 { u8::MAX } else { SHARED_DATATYPE | SHARED_DATASPACE };
        let flags = r.flags(known, "only bits 0 and 1")?;
        let flags = if version == 1 { 0 } else { flags };
        let [name_len, datatype_len, dataspace_len] = [r.u16()?, r.u16()?, r.u16()?].map(usize::from);
        let charset = if version == 3 { Charset::decode_byte(r)? } else { Charset::Ascii };
        let padding = |len| padding(version, len);

        let name = decode_name(r.bytes(name_len)?, r)?;
        r.skip(padding(name_len))?;
        let datatype = MaybeShared::decode(&mut r.sub(datatype_len)?, flags & SHARED_DATATYPE != 0)?;
        r.skip(padding(datatype_len))?;
        let mut space = r.sub(dataspace_len)?;
        let (dataspace, dataspace_version) = if flags & SHARED_DATASPACE != 0 {
            (MaybeShared::Shared(space.structure::<SharedLocation>(&())?), 2)
        } else {
            let DataspaceMessage { version, dataspace } = space.structure(&())?;
            (MaybeShared::Here(dataspace), version)
        };
        r.skip(padding(dataspace_len))?;

        let mut attribute =
            Self { version, name, charset, datatype, dataspace, dataspace_version, data: Vec::new() };
        let data = match (attribute.datatype.here(), attribute.dataspace.here()) {
            (Some(_), Some(_)) => {
                let len = attribute.data_len(r.widths()).and_then(|len| usize::try_from(len).ok());
                r.bytes(len.unwrap_or(usize::MAX))?
            }
            _ => r.rest(),
        };
        attribute.data = data.to_vec();
        Ok(attribute)
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        let (mut datatype, mut dataspace) = (Vec::new(), Vec::new());
        let part = &mut Writer::new(&mut datatype, w.widths());
        match &self.datatype {
            MaybeShared::Here(datatype) => part.structure(datatype, &()),
            MaybeShared::Shared(location) => part.structure(location, &()),
        }
        let part = &mut Writer::new(&mut dataspace, w.widths());
        match &self.dataspace {
            MaybeShared::Here(dataspace) => dataspace.encode_versioned(self.dataspace_version, part),
            MaybeShared::Shared(location) => part.structure(location, &()),
        }
        let parts = [&[&*name::to_bytes(&self.name), &[0]].concat(), &datatype, &dataspace];
        w.u8(self.version);
        let datatype_flag = if self.datatype.here().is_none() { SHARED_DATATYPE } else { 0 };
        let dataspace_flag = if self.dataspace.here().is_none() { SHARED_DATASPACE } else { 0 };
        w.u8(datatype_flag | dataspace_flag);
        for part in parts {
            w.uint(part.len() as u64, 2);
        }
        if self.version == 3 {
            w.u8((self.charset == Charset::Utf8).into());
        }
        for part in parts {
            w.bytes(part);
            w.zeros(padding(self.version, part.len()));
        }
        w.bytes(&self.data);
    }
}

/// Returns the padding after a part of `len` bytes. Version 1 pads every part to a multiple of eight bytes.
fn padding(version: u8, len: usize) -> usize {
    if version == 1 { len.next_multiple_of(8) - len } else { 0 }
}

/// Returns the name in `bytes`, without the zero that ends it. An empty name and a name with a zero inside
/// are accepted, although no writer should create them, so that users can delete such an attribute.
fn decode_name(bytes: &[u8], r: &Reader<'_>) -> Result<String> {
    let Some((0, text)) = bytes.split_last() else {
        return Err(r.bad_value("Name Size", bytes.len() as u64, "the length of name and final zero"));
    };
    Ok(name::from_bytes(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addr::Addr;
    use crate::error::ErrorKind;
    use crate::golden;

    /// `attrs["zeta"] = [1., 2., 3.]`, written by h5py 3.16 with both bounds of `libver`.
    #[test]
    fn versions_1_and_3_round_trip_bytes_of_libhdf5() {
        let name = "7a65746100";
        let datatype = "11203f00 08000000 0000 4000 34 0b 00 34 ff030000";
        let data = "000000000000f03f 0000000000000040 0000000000000840";
        let old: Attribute = golden::golden(
            &format!("01 00 0500 1400 1800 {name} 00*3 {datatype} 00*4 01 01 01 00*5 03 00*7 03 00*7 {data}"),
            &(),
        );
        let new: Attribute = golden::golden(
            &format!("03 00 0500 1400 1400 00 {name} {datatype} 02 01 01 01 03 00*7 03 00*7 {data}"),
            &(),
        );
        assert_eq!((old.version, old.name.as_str(), old.data.len()), (1, "zeta", 24));
        assert_eq!((new.version, &new.name, &new.data), (3, &old.name, &old.data));
        assert_eq!((&new.datatype, &new.dataspace), (&old.datatype, &old.dataspace));
    }

    /// An attribute of a committed datatype, written by h5py 3.16 with `libver="earliest"`.
    #[test]
    fn the_data_of_an_attribute_with_a_shared_datatype_is_the_rest_of_the_message() {
        let bytes = golden::unhex("02 01 0200 0a00 0800 6e00 02025b35000000000000 01 00*7 01000000");
        let mut r = Reader::new(&bytes, Widths::EIGHT, Addr::new(0));
        let attribute: Attribute = r.structure(&()).unwrap();
        assert_eq!(attribute.datatype, MaybeShared::Shared(SharedLocation::Header(Addr::new(0x355b))));
        assert_eq!(attribute.dataspace, MaybeShared::Here(Dataspace::Scalar));
        assert_eq!(attribute.data, [1, 0, 0, 0]);
        let mut again = Vec::new();
        Writer::new(&mut again, Widths::EIGHT).structure(&attribute, &());
        assert_eq!(again, bytes);
    }

    #[test]
    fn more_elements_than_can_be_counted_are_an_error() {
        let huge = "02 02 00 01 ff*7 7f ff*7 7f";
        let error = golden::error::<Attribute>(
            &format!("03 00 0200 0c00 1400 00 6100 10080000 04000000 0000 2000 {huge} 00*8"),
            &(),
        );
        assert!(matches!(error, ErrorKind::Truncated { .. }), "{error}");
    }
}
