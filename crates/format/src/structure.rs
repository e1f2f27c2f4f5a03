//! The trait of every on-disk structure, and its three laws.

use crate::bytes::{Reader, Widths, Writer};
use crate::error::Result;

/// The fields of a struct in disk order, each with the methods of `Reader` and `Writer` for it: one list for both.
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
/// - **L2** `encode(decode(b)) == b` for bytes written by libhdf5 (golden files)
/// - **L3** `encode` writes exactly `encoded_len` bytes; decoding any shorter prefix is an error, never a panic
///
/// A decoder sees a slice and never fetches. What it must know beyond the slice (the header that owns a block, say)
/// is its `Context`.
pub trait Structure: Sized {
    /// The structure's name in the specification: "Fixed Array header".
    const NAME: &'static str;
    /// The section that defines it: "VII.C".
    const SPEC: &'static str;
    /// What is known of the structure from elsewhere in the file; `()` for most.
    type Context: ?Sized;

    /// Whether `read_len` is exact: the size follows from the context.
    const FIXED: bool = false;

    /// How many bytes a reader should fetch before it decodes: a guess unless `FIXED`; a decoder that needs more says
    /// [`Truncated`](crate::ErrorKind::Truncated). Structures that are only read as parts of others need none of their own.
    fn read_len(_widths: Widths, _context: &Self::Context) -> usize {
        64
    }

    /// Decodes from the reader's position.
    fn decode(r: &mut Reader<'_>, context: &Self::Context) -> Result<Self>;

    /// Appends the bytes that `decode` reads.
    fn encode(&self, w: &mut Writer<'_>, context: &Self::Context);

    /// How many bytes `encode` appends.
    fn encoded_len(&self, widths: Widths, context: &Self::Context) -> usize {
        if Self::FIXED {
            return Self::read_len(widths, context);
        }
        let mut bytes = Vec::with_capacity(Self::read_len(widths, context));
        Writer::new(&mut bytes, widths).structure(self, context);
        bytes.len()
    }
}
