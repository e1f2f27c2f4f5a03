//! What stands in for the codecs whose features are off: functions that encode and decode nothing. Filters
//! call [`External::check`](super::External::check) before, whose error names the feature.

/// The working memory of a codec that does nothing.
#[derive(Debug, Default)]
pub(crate) struct Nothing;

/// In place of zlib and of Zstandard.
pub(crate) mod leveled {
    pub(crate) use super::Nothing as Context;
    use crate::codec::CodecError;

    pub(crate) fn decompress(_: &[u8], _: &mut [u8], _: &mut Context) -> Result<usize, CodecError> {
        Err(CodecError::Damaged)
    }

    pub(crate) fn compress(_: &[u8], _: &mut [u8], _: i32, _: &mut Context) -> Option<usize> {
        None
    }

    pub(crate) const fn compress_bound(len: usize) -> usize {
        len
    }
}

/// In place of bzip2.
pub(crate) mod bzip2 {
    use crate::codec::CodecError;

    pub(crate) fn decompress(_: &[u8], _: &mut [u8]) -> Result<usize, CodecError> {
        Err(CodecError::Damaged)
    }

    pub(crate) fn compress(_: &[u8], _: &mut [u8], _: u32) -> Option<usize> {
        None
    }

    pub(crate) const fn compress_bound(len: usize) -> usize {
        len
    }
}

/// In place of Snappy.
pub(crate) mod snappy {
    pub(crate) use super::Nothing as Context;
    use crate::codec::CodecError;

    pub(crate) fn decode(_: &[u8], _: &mut [u8]) -> Result<usize, CodecError> {
        Err(CodecError::Damaged)
    }

    pub(crate) fn stream<'c>(_: &[u8], _: &'c mut Context) -> Option<&'c [u8]> {
        None
    }

    pub(crate) fn encode(_: &[u8], _: &mut [u8], _: &mut Context) -> Option<usize> {
        None
    }
}

/// In place of LZ4.
pub(crate) mod lz4 {
    pub(crate) fn decode(_: &[u8], _: &mut [u8]) -> Option<usize> {
        None
    }

    pub(crate) fn decode_prefix(_: &[u8], _: &mut [u8], _: usize) -> bool {
        false
    }

    pub(crate) fn encode(_: &[u8], _: &mut [u8], _: i32) -> Option<usize> {
        None
    }

    pub(crate) fn encode_high(_: &[u8], _: &mut [u8], _: i32) -> Option<usize> {
        None
    }
}
