//! Scale-offset, filter 6: elements are stored as differences from the smallest one, each in as few bits as
//! the largest difference needs. Floats are scaled by a power of ten and rounded first.
//!
//! A chunk starts with the number of bits (4 bytes), the length of the smallest element (1 byte, always 8)
//! and the smallest element (16 bytes, of which 8 are used), all little-endian. Bits follow, the most
//! significant bit of an element first. One pattern of bits, all ones, stands for the fill value. With as
//! many bits as an element has, the elements follow as they are.

mod decimal;
mod integer;
mod word;

use std::iter::repeat_with;

use crate::bits::{BitReader, BitWriter};
use crate::error::{FilterError, Result};
use crate::facts::{self, ChunkFacts, Element, Kind, Number};
use crate::filter::{Encoded, Filter, FilterId, Scratch, prefix};

use decimal::Decimal;
use integer::Integer;
use word::{Order, Word};

/// The filter for one dataset.
#[derive(Debug)]
pub struct ScaleOffset {
    method: Method,
    elements: usize,
    order: Order,
    /// The fill value in the low bytes.
    fill: Option<u64>,
}

/// The datatype, and what the user chose for it.
#[derive(Debug, Clone, Copy)]
enum Method {
    /// Elements of this size, in bytes, which are stored as they are: the user chose all their bits.
    Whole(usize),
    I8(Integer),
    I16(Integer),
    I32(Integer),
    I64(Integer),
    F32(Decimal),
    F64(Decimal),
}

/// What precedes the elements of a chunk.
#[derive(Debug, Clone, Copy)]
struct Header {
    bits: u32,
    smallest: u64,
}

impl Header {
    const LEN: usize = 21;

    fn decode(src: &[u8]) -> Result<(Self, &[u8])> {
        let damaged = FilterError::damaged(ScaleOffset::NAME, "data ends early");
        let (header, elements) = src.split_first_chunk::<{ Self::LEN }>().ok_or(damaged)?;
        let bits = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
        // Machines whose longest integer is shorter store fewer bytes.
        let stored = header[5..13].iter().take(header[4].into()).enumerate();
        let smallest = stored.fold(0, |value, (i, &byte)| value | u64::from(byte) << (8 * i));
        Ok((Self { bits, smallest }, elements))
    }

    fn encode(self, dst: &mut [u8; Self::LEN]) {
        *dst = [0; Self::LEN];
        dst[..4].copy_from_slice(&self.bits.to_le_bytes());
        dst[4] = 8;
        dst[5..13].copy_from_slice(&self.smallest.to_le_bytes());
    }
}

/// How elements of one chunk become numbers of a few bits, and back.
trait Coder {
    type Word: Word;

    /// Returns the coder for a chunk, given the fill value.
    fn decoder(&self, header: Header, fill: Option<Self::Word>) -> impl Fn(u64) -> Self::Word;

    /// Returns what to store before the elements, and the coder.
    fn encoder(
        &self,
        elements: impl Iterator<Item = Self::Word> + Clone,
        fill: Option<Self::Word>,
    ) -> (Header, impl Fn(Self::Word) -> u64);
}

impl ScaleOffset {
    const NAME: &'static str = "scaleoffset";
    /// The number of values of the client data, the fill value's unused ones included.
    const VALUES: usize = 20;
    /// The scale type of floats.
    const DECIMAL: u32 = 0;
    /// The scale type of integers.
    const INTEGER: u32 = 2;
    /// The scale type of floats with a fixed number of bits, which libhdf5 does not implement.
    const BINARY: u32 = 1;

    /// Creates the filter from its client data: the scale type, the scale factor, and facts of the dataset.
    pub fn new(client_data: &[u32]) -> Result<Self> {
        let wrong = |parameter, value: u32, expected| {
            Err(FilterError::Parameter { filter: Self::NAME, parameter, value: value.into(), expected })
        };
        let Some(&[scale, factor, elements, class, size, sign, order, has_fill, low, high]) =
            client_data.first_chunk().filter(|_| client_data.len() == Self::VALUES)
        else {
            let number = u32::try_from(client_data.len()).unwrap_or(u32::MAX);
            return wrong("number of values", number, "20");
        };
        if scale == Self::BINARY {
            let feature = "scaling by powers of two".to_owned();
            return Err(FilterError::Unsupported { filter: Self::NAME, feature });
        }
        let method = match (class, scale) {
            (0, Self::INTEGER) => {
                if sign > 1 {
                    return wrong("sign", sign, "0 or 1");
                }
                // A negative number of bits stands for none, as in libhdf5.
                let bits = u32::try_from(factor.cast_signed()).unwrap_or(0);
                match u64::from(size) * 8 {
                    all if u64::from(bits) > all => {
                        return wrong("number of bits", bits, "at most the bits of an element");
                    }
                    all if u64::from(bits) == all => Method::Whole(size as usize),
                    _ => {
                        let integer = Integer { is_signed: sign == 1, bits };
                        match size {
                            1 => Method::I8(integer),
                            2 => Method::I16(integer),
                            4 => Method::I32(integer),
                            8 => Method::I64(integer),
                            _ => return wrong("size of an integer", size, "1, 2, 4 or 8"),
                        }
                    }
                }
            }
            (1, Self::DECIMAL) => match size {
                4 => Method::F32(Decimal { places: factor.cast_signed() }),
                8 => Method::F64(Decimal { places: factor.cast_signed() }),
                _ => return wrong("size of a float", size, "4 or 8"),
            },
            (0 | 1, _) => return wrong("scale type", scale, "0 for floats, 2 for integers"),
            _ => return wrong("datatype class", class, "0 or 1"),
        };
        let order = match order {
            0 => Order::Little,
            1 => Order::Big,
            _ => return wrong("byte order", order, "0 or 1"),
        };
        let fill = (has_fill == 1).then_some(u64::from(low) | u64::from(high) << 32);
        Ok(Self { method, elements: elements as usize, order, fill })
    }

    /// Returns the client data for chunks of a dataset.
    pub(crate) fn client_data(factor: i32, chunk: &ChunkFacts<'_>) -> Result<Vec<u32>> {
        let wrong = |parameter, value: usize, expected| {
            Err(FilterError::Parameter { filter: Self::NAME, parameter, value: value as u64, expected })
        };
        let (scale, class, sign, number) = match *chunk.element {
            Element::Number(number @ Number { kind: Kind::Unsigned, .. }) => (Self::INTEGER, 0, 0, number),
            Element::Number(number @ Number { kind: Kind::Signed, .. }) => (Self::INTEGER, 0, 1, number),
            Element::Number(number @ Number { kind: Kind::Float, .. }) => (Self::DECIMAL, 1, 0, number),
            _ => return wrong("element size", chunk.element.size(), "that of an integer or a float"),
        };
        let order = match number.order {
            facts::Order::Little => 0,
            facts::Order::Big => 1,
            facts::Order::Other => return wrong("byte order", 2, "little-endian or big-endian"),
        };
        let size = match (class, number.size) {
            (0, 1 | 2 | 4 | 8) | (1, 4 | 8) => u32::try_from(number.size).unwrap_or(u32::MAX),
            (0, size) => return wrong("size of an integer", size, "1, 2, 4 or 8"),
            (_, size) => return wrong("size of a float", size, "4 or 8"),
        };
        let Some(elements) = chunk.elements() else {
            return wrong("chunk size", usize::MAX, "less than 2^32 elements");
        };
        let mut fill = [0; 8];
        if let Some(value) = chunk.fill {
            fill.iter_mut().zip(value).for_each(|(to, &byte)| *to = byte);
            if order == 1 {
                fill[..number.size.min(value.len())].reverse();
            }
        }
        let [a, b, c, d, e, f, g, h] = fill;
        let (low, high) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
        let has_fill = chunk.fill.is_some().into();
        let mut data = vec![0; Self::VALUES];
        data[..10].copy_from_slice(&[
            scale,
            factor.cast_unsigned(),
            elements,
            class,
            size,
            sign,
            order,
            has_fill,
            low,
            high,
        ]);
        // Whether the factor is possible.
        Self::new(&data)?;
        Ok(data)
    }

    fn decode<C: Coder>(&self, coder: &C, src: &[u8], dst: &mut [u8]) -> Result<usize> {
        let damaged = |what| FilterError::damaged(Self::NAME, what);
        let (header, src) = Header::decode(src)?;
        let len = self.elements.checked_mul(C::Word::SIZE);
        let dst = prefix(Self::NAME, dst, len.unwrap_or(usize::MAX))?;
        if header.bits > C::Word::BITS {
            return Err(damaged("a number of bits above the size of an element"));
        }
        if header.bits == C::Word::BITS {
            let src = src.get(..dst.len()).ok_or_else(|| damaged("data ends early"))?;
            let read = C::Word::reader(Order::Little);
            C::Word::fill(dst, self.order, src.chunks_exact(C::Word::SIZE).map(read));
            return Ok(dst.len());
        }
        if (src.len() as u64) < (self.elements as u64 * u64::from(header.bits)).div_ceil(8) {
            return Err(damaged("data ends early"));
        }
        let decode = coder.decoder(header, self.fill.map(C::Word::of));
        let mut reader = BitReader::new(src);
        let len = dst.len();
        let (fours, rest) = dst.split_at_mut(len - len % (4 * C::Word::SIZE));
        if 4 * header.bits <= BitReader::MOST {
            for four in fours.chunks_exact_mut(4 * C::Word::SIZE) {
                C::Word::fill(four, self.order, reader.read_four(header.bits).map(&decode).into_iter());
            }
        } else {
            C::Word::fill(fours, self.order, repeat_with(|| decode(reader.read_wide(header.bits))));
        }
        C::Word::fill(rest, self.order, repeat_with(|| decode(reader.read_wide(header.bits))));
        Ok(len)
    }

    fn encode<C: Coder>(&self, coder: &C, src: &[u8], dst: &mut [u8]) -> Result<Encoded> {
        let len = self.elements.checked_mul(C::Word::SIZE);
        if len != Some(src.len()) || self.elements == 0 {
            let (expected, found) = (len.unwrap_or(usize::MAX) as u64, src.len() as u64);
            return Err(FilterError::Length { filter: Self::NAME, expected, found });
        }
        let elements = src.chunks_exact(C::Word::SIZE).map(C::Word::reader(self.order));
        let (header, encode) = coder.encoder(elements.clone(), self.fill.map(C::Word::of));
        let total = (src.len() as u64 * u64::from(header.bits) / u64::from(C::Word::BITS)).saturating_add(1);
        let is_whole = header.bits == C::Word::BITS;
        let total = if is_whole { src.len() } else { usize::try_from(total).unwrap_or(usize::MAX) };
        let dst = prefix(Self::NAME, dst, total.saturating_add(Header::LEN))?;
        let Some((front, dst)) = dst.split_first_chunk_mut() else { return Ok(Encoded::Skipped) };
        header.encode(front);
        if is_whole {
            C::Word::fill(dst, Order::Little, elements);
        } else {
            let mut writer = BitWriter::new(dst);
            writer.write_all(elements.map(encode), header.bits);
            // libhdf5 stores a byte more if the last one is full.
            let written = writer.finish().unwrap_or(total);
            dst[written..].fill(0);
        }
        Ok(Encoded::Stored(Header::LEN + total))
    }
}

/// Calls a generic method with the coder of the datatype.
macro_rules! with_coder {
    ($self:ident, $src:ident, $dst:ident, $method:ident, $size:ident => $whole:expr) => {
        match $self.method {
            Method::Whole($size) => $whole,
            Method::I8(coder) => $self.$method(&integer::Sized::<u8>::of(coder), $src, $dst),
            Method::I16(coder) => $self.$method(&integer::Sized::<u16>::of(coder), $src, $dst),
            Method::I32(coder) => $self.$method(&integer::Sized::<u32>::of(coder), $src, $dst),
            Method::I64(coder) => $self.$method(&integer::Sized::<u64>::of(coder), $src, $dst),
            Method::F32(coder) => $self.$method(&decimal::Sized::<f32>::of(coder), $src, $dst),
            Method::F64(coder) => $self.$method(&decimal::Sized::<f64>::of(coder), $src, $dst),
        }
    };
}

impl Filter for ScaleOffset {
    fn id(&self) -> FilterId {
        FilterId::SCALE_OFFSET
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> Result<usize> {
        with_coder!(self, src, dst, decode, _size => {
            prefix(Self::NAME, dst, src.len())?.copy_from_slice(src);
            Ok(src.len())
        })
    }

    fn encode_into(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> Result<Encoded> {
        with_coder!(self, src, dst, encode, _size => {
            prefix(Self::NAME, dst, src.len())?.copy_from_slice(src);
            Ok(Encoded::Stored(src.len()))
        })
    }

    fn decode_bound(&self, decoded: usize) -> usize {
        decoded.saturating_add(Header::LEN + 1)
    }
}
