//! Conversions of fixed-length strings to another length or padding.

use hyperslab_format::datatype::{Charset, Padding, Text};

/// A conversion from one fixed-length string type to another.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextConversion {
    from: Text,
    to: Text,
}

impl TextConversion {
    /// Returns the conversion, or the reason why there is none.
    pub(super) fn between(from: Text, to: Text) -> Result<Self, &'static str> {
        if from.charset == Charset::Utf8 && to.charset == Charset::Ascii {
            return Err("UTF-8 does not fit ASCII");
        }
        Ok(Self { from, to })
    }

    /// Returns whether the bytes are unchanged.
    pub(super) fn is_identity(&self) -> bool {
        self.from.size == self.to.size && self.from.padding == self.to.padding
    }

    /// Converts every element. Strings that are too long are truncated.
    pub(super) fn run(&self, src: &[u8], dst: &mut [u8], src_size: usize, dst_size: usize) {
        for (from, to) in src.chunks_exact(src_size).zip(dst.chunks_exact_mut(dst_size)) {
            let used = text_of(from, self.from.padding).len();
            let room = match self.to.padding {
                Padding::NullTerminated => to.len().saturating_sub(1),
                Padding::NullPadded | Padding::SpacePadded => to.len(),
            };
            let (text, rest) = to.split_at_mut(used.min(room));
            text.copy_from_slice(&from[..text.len()]);
            rest.fill(if self.to.padding == Padding::SpacePadded { b' ' } else { 0 });
        }
    }
}

/// Returns the bytes of a string without its padding.
pub fn text_of(bytes: &[u8], padding: Padding) -> &[u8] {
    let used = match padding {
        Padding::NullTerminated | Padding::NullPadded => {
            bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len())
        }
        Padding::SpacePadded => bytes.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1),
    };
    &bytes[..used]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(size: u32, padding: Padding) -> Text {
        Text { size, padding, charset: Charset::Ascii }
    }

    /// The results of libhdf5 2.0 (`h5py.h5d.DatasetID.read` with string types of these sizes and paddings).
    #[test]
    fn strings_are_cut_and_padded_as_libhdf5_does() {
        use Padding::{NullPadded, NullTerminated, SpacePadded};
        let cases: [(&[u8], Padding, Padding, &[u8]); 9] = [
            (b"abcd", NullPadded, NullTerminated, b"abc\0"),
            (b"abcd", NullPadded, NullPadded, b"abcd\0\0"),
            (b"ab\0d", NullPadded, SpacePadded, b"ab    "),
            (b"ab\0d", NullTerminated, NullPadded, b"ab\0\0"),
            (b"ab  ", SpacePadded, NullTerminated, b"ab\0"),
            (b"ab  ", SpacePadded, NullTerminated, b"a\0"),
            (b" a\0 ", SpacePadded, NullPadded, b" a\0\0"),
            (b"    ", SpacePadded, SpacePadded, b"  "),
            (b"abcd", SpacePadded, SpacePadded, b"ab"),
        ];
        for (from, from_padding, to_padding, expected) in cases {
            let size = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap();
            let (source, target) = (text(size(from), from_padding), text(size(expected), to_padding));
            let mut found = vec![0xee; expected.len()];
            TextConversion::between(source, target).unwrap().run(
                from,
                &mut found,
                from.len(),
                expected.len(),
            );
            assert_eq!(found, expected, "{from:?} {from_padding:?} {to_padding:?}");
        }
    }
}
