//! The trait that every on-disk structure implements, and its three laws.

use crate::bytes::{Reader, Widths, Writer};
use crate::error::Result;

/// Implements `decode_fields` and `encode_fields` from one list: the fields in disk order, each with the name
/// of its `Reader` and `Writer` method.
macro_rules! fields {
    ($type:ty { $($field:ident: $kind:ident),* $(,)? }) => {
        impl $type {
            pub(crate) fn decode_fields(r: &mut crate::Reader<'_>) -> crate::Result<Self> {
                Ok(Self { $($field: r.$kind()?),* })
            }

            pub(crate) fn encode_fields(&self, w: &mut crate::Writer<'_>) {
                $(w.$kind(self.$field);)*
            }
        }
    };
}
pub(crate) use fields;

/// One on-disk structure.
///
/// Laws, checked for every implementor in `tests/laws.rs`:
///
/// - **L1** `decode(encode(x)) == x`
/// - **L2** `encode(decode(b)) == b` for bytes that libhdf5 wrote (golden files)
/// - **L3** `encode` writes exactly `encoded_len` bytes; decoding a shorter prefix is an error, never a panic
///
/// A decoder gets a slice and reads nothing else from the file. Values that it needs from other structures,
/// such as the header that owns a block, are its `Context`.
pub trait Structure: Sized {
    /// The structure's name in the specification, such as "Fixed Array header".
    const NAME: &'static str;
    /// The section of the specification, such as "VII.C".
    const SPEC: &'static str;
    /// Values from other structures of the file that the decoder needs; `()` for most structures.
    type Context: ?Sized;

    /// Whether `read_len` is exact, because the size follows from the widths and the context.
    const FIXED: bool = false;

    /// Returns the number of bytes to fetch before decoding. Unless `FIXED`, this is a guess: a decoder that
    /// needs more bytes returns [`Truncated`](crate::ErrorKind::Truncated). Structures that are only read as
    /// parts of others keep the default.
    fn read_len(_widths: Widths, _context: &Self::Context) -> usize {
        64
    }

    /// Decodes from the reader's position.
    fn decode(r: &mut Reader<'_>, context: &Self::Context) -> Result<Self>;

    /// Appends the bytes that `decode` reads.
    fn encode(&self, w: &mut Writer<'_>, context: &Self::Context);

    /// Returns the number of bytes that `encode` appends.
    fn encoded_len(&self, widths: Widths, context: &Self::Context) -> usize {
        if Self::FIXED {
            return Self::read_len(widths, context);
        }
        let mut bytes = Vec::with_capacity(Self::read_len(widths, context));
        Writer::new(&mut bytes, widths).structure(self, context);
        bytes.len()
    }
}
