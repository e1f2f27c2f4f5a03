//! Strings: of fixed length (class 3), and of variable length (class 9, type 1) (spec IV.A.2.d).

use super::head::{Head, head};
use super::{Charset, Datatype, Integer, Padding, Text, VariableText};
use crate::bytes::{Reader, Writer};
use crate::error::Result;

impl Text {
    pub(super) fn decode(r: &Reader<'_>, head: Head) -> Result<Self> {
        Ok(Self {
            size: head.size,
            padding: Padding::decode(r, head.field(0, 4))?,
            charset: Charset::decode(r, head.field(4, 4))?,
        })
    }

    pub(super) fn encode(self, w: &mut Writer<'_>) {
        head(w, 3, 1, (self.padding as u32) | (self.charset as u32) << 4, self.size);
    }
}

/// Decodes the class bits of a class 9 string. The caller decodes the base type.
pub(super) fn decode_variable(r: &Reader<'_>, head: Head) -> Result<VariableText> {
    Ok(VariableText {
        padding: Padding::decode(r, head.field(4, 4))?,
        charset: Charset::decode(r, head.field(8, 4))?,
    })
}

/// Encodes a string of variable length with the base type of libhdf5, an unsigned byte. (libhdf5 on a
/// big-endian machine marks this byte as big-endian. The mark has no effect and is not kept.)
pub(super) fn encode_variable(text: VariableText, w: &mut Writer<'_>) {
    const STRING: u32 = 1;
    let flags = STRING | (text.padding as u32) << 4 | (text.charset as u32) << 8;
    let size = Datatype::VariableText(text).stored_size(w.widths());
    head(w, 9, 1, flags, size);
    Integer::little(1, false).encode(w);
}

impl Padding {
    fn decode(r: &Reader<'_>, code: u32) -> Result<Self> {
        match code {
            0 => Ok(Self::NullTerminated),
            1 => Ok(Self::NullPadded),
            2 => Ok(Self::SpacePadded),
            other => Err(r.bad_value("string padding", other.into(), "0 to 2")),
        }
    }
}

impl Charset {
    /// Reads the character set of a name.
    pub(crate) fn decode_byte(r: &mut Reader<'_>) -> Result<Self> {
        let code = r.u8()?;
        Self::decode(r, code.into())
    }

    fn decode(r: &Reader<'_>, code: u32) -> Result<Self> {
        match code {
            0 => Ok(Self::Ascii),
            1 => Ok(Self::Utf8),
            other => Err(r.bad_value("character set", other.into(), "0 (ASCII) or 1 (UTF-8)")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{decode, decode_error, encode};
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn strings_of_h5py_encode_to_the_bytes_of_libhdf5() {
        let fixed = Datatype::Text(Text { size: 5, padding: Padding::NullPadded, charset: Charset::Ascii });
        let variable =
            Datatype::VariableText(VariableText { padding: Padding::NullTerminated, charset: Charset::Utf8 });
        for (datatype, hex) in
            [(fixed, "1301000005000000"), (variable, "1901010010000000100000000100000000000800")]
        {
            assert_eq!(decode(hex), datatype);
            assert_eq!(encode(&datatype, 1), hex);
        }
    }

    #[test]
    fn a_variable_string_with_a_size_other_than_a_heap_id_is_an_error() {
        let error = decode_error("1901010008000000100000000100000000000800");
        assert!(matches!(error.kind, ErrorKind::Value { field: "datatype size", value: 8, .. }), "{error}");
    }

    #[test]
    fn an_unknown_character_set_is_an_error() {
        let error = decode_error("1321000005000000");
        assert!(matches!(error.kind, ErrorKind::Value { field: "character set", value: 2, .. }), "{error}");
    }
}
