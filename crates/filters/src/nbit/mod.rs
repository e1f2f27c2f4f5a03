//! N-bit, filter 5: of each number only its significant bits are stored, the most significant bit first. The
//! client data describe the datatype.
//!
//! Bits that are not significant are zeros after decoding. Elements that are not numbers are stored whole.

mod describe;
mod layout;

use crate::bits::{BitReader, BitWriter};
use crate::error::{FilterError, Result};
use crate::facts::{ChunkFacts, Element, Kind, Number};
use crate::filter::{Encoded, Filter, FilterId, Scratch, prefix};

use describe::Description;
use layout::{Layout, Significant};

/// The filter for one dataset.
#[derive(Debug)]
pub struct NBit {
    elements: usize,
    /// `None` if all bits of the datatype are significant, so that chunks are stored unchanged.
    layout: Option<Layout>,
    /// Whether libhdf5 stores all parts of an element.
    is_complete: bool,
}

impl NBit {
    const NAME: &'static str = "nbit";
    /// The most values of the client data that libhdf5 writes.
    const MAX_VALUES: u32 = 4096;

    /// Creates the filter from its client data: their number, whether chunks are stored unchanged, the number
    /// of elements of a chunk, and the datatype.
    pub fn new(client_data: &[u32]) -> Result<Self> {
        let &[count, is_whole, elements, ref datatype @ ..] = client_data else {
            return Err(wrong("number of values", client_data.len() as u64, "3 or more"));
        };
        if count as usize != client_data.len() {
            return Err(wrong("number of values", count.into(), "the number that the file stores"));
        }
        let elements = elements as usize;
        if is_whole != 0 {
            return Ok(Self { elements, layout: None, is_complete: true });
        }
        let layout = Layout::decode(datatype, true)?;
        let is_complete = Layout::decode(datatype, false).is_ok_and(|complete| complete == layout);
        Ok(Self { elements, layout: Some(layout), is_complete })
    }

    /// Returns the client data for chunks of a dataset.
    pub(crate) fn client_data(chunk: &ChunkFacts<'_>) -> Result<Vec<u32>> {
        let elements = chunk.elements();
        let elements = elements.ok_or_else(|| wrong("chunk size", u64::MAX, "less than 2^32 elements"))?;
        let mut description = Description { data: vec![0, 0, elements], is_whole: true };
        // libhdf5 describes no other datatypes that are not inside another one.
        if let Element::Number(Number { kind: Kind::Unsigned | Kind::Signed | Kind::Float, .. })
        | Element::Array { .. }
        | Element::Compound { .. } = chunk.element
        {
            description.element(chunk.element)?;
        }
        let mut data = description.data;
        data[0] =
            u32::try_from(data.len()).ok().filter(|&count| count <= Self::MAX_VALUES).ok_or_else(|| {
                wrong("number of values", data.len() as u64, "at most 4096: the datatype has fewer members")
            })?;
        data[1] = description.is_whole.into();
        Ok(data)
    }
}

fn wrong(parameter: &'static str, value: u64, expected: &'static str) -> FilterError {
    FilterError::Parameter { filter: NBit::NAME, parameter, value, expected }
}

impl Filter for NBit {
    fn id(&self) -> FilterId {
        FilterId::NBIT
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> Result<usize> {
        let Some(layout) = &self.layout else {
            prefix(Self::NAME, dst, src.len())?.copy_from_slice(src);
            return Ok(src.len());
        };
        let len = self.elements.saturating_mul(layout.size());
        let dst = prefix(Self::NAME, dst, len)?;
        if (src.len() as u64) < layout.bits().saturating_mul(self.elements as u64).div_ceil(8) {
            return Err(FilterError::damaged(Self::NAME, "data ends early"));
        }
        dst.fill(0);
        let mut reader = BitReader::new(src);
        if let &Layout::Number(number) = layout {
            decode_numbers(number, dst, &mut reader);
        } else {
            dst.chunks_exact_mut(layout.size())
                .for_each(|element| decode_element(layout, element, &mut reader));
        }
        Ok(len)
    }

    fn encode_into(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> Result<Encoded> {
        let Some(layout) = &self.layout else {
            prefix(Self::NAME, dst, src.len())?.copy_from_slice(src);
            return Ok(Encoded::Stored(src.len()));
        };
        let len = self.elements.saturating_mul(layout.size());
        if len != src.len() {
            let (expected, found) = (len as u64, src.len() as u64);
            return Err(FilterError::Length { filter: Self::NAME, expected, found });
        }
        if !self.is_complete {
            return Ok(Encoded::Skipped);
        }
        let bits = layout.bits().saturating_mul(self.elements as u64);
        // libhdf5 stores a byte more if the last one is full.
        let total = usize::try_from(bits / 8 + 1).unwrap_or(usize::MAX);
        let dst = prefix(Self::NAME, dst, total)?;
        let mut writer = BitWriter::new(dst);
        if let &Layout::Number(number) = layout {
            encode_numbers(number, src, &mut writer);
        } else {
            src.chunks_exact(layout.size()).for_each(|element| encode_element(layout, element, &mut writer));
        }
        let written = writer.finish().unwrap_or(total);
        dst[written..].fill(0);
        Ok(Encoded::Stored(total))
    }

    fn decode_bound(&self, decoded: usize) -> usize {
        decoded.saturating_add(1)
    }
}

/// Calls a function with the size of a number as a constant, so that its bytes are moved at once.
macro_rules! with_size {
    ($number:expr, $function:ident($($argument:expr),*)) => {
        match $number.size {
            1 => $function::<1>($($argument),*),
            2 => $function::<2>($($argument),*),
            4 => $function::<4>($($argument),*),
            8 => $function::<8>($($argument),*),
            _ => $function::<0>($($argument),*),
        }
    };
}

fn decode_numbers(number: Significant, dst: &mut [u8], reader: &mut BitReader<'_>) {
    fn numbers<const N: usize>(number: Significant, dst: &mut [u8], reader: &mut BitReader<'_>) {
        if N == 0 {
            dst.chunks_exact_mut(number.size).for_each(|to| decode_long(number, to, reader));
            return;
        }
        for to in dst.as_chunks_mut::<N>().0 {
            let value = reader.read_wide(number.precision) << number.offset;
            if number.is_big_endian {
                to.copy_from_slice(&value.to_be_bytes()[8 - N..]);
            } else {
                to.copy_from_slice(&value.to_le_bytes()[..N]);
            }
        }
    }
    with_size!(number, numbers(number, dst, reader));
}

fn encode_numbers(number: Significant, src: &[u8], writer: &mut BitWriter<'_>) {
    fn numbers<const N: usize>(number: Significant, src: &[u8], writer: &mut BitWriter<'_>) {
        if N == 0 {
            src.chunks_exact(number.size).for_each(|from| encode_long(number, from, writer));
            return;
        }
        let mask = u64::MAX >> (64 - number.precision);
        for from in src.as_chunks::<N>().0 {
            let mut bytes = [0; 8];
            let value = if number.is_big_endian {
                bytes[8 - N..].copy_from_slice(from);
                u64::from_be_bytes(bytes)
            } else {
                bytes[..N].copy_from_slice(from);
                u64::from_le_bytes(bytes)
            };
            writer.write_wide(value >> number.offset & mask, number.precision);
        }
    }
    with_size!(number, numbers(number, src, writer));
}

/// The significant bits of byte `place`, counted from the least significant byte: their number, and the
/// number of the lowest one. Descending places are the order of the bits.
fn part(number: Significant, place: usize) -> (u32, u32) {
    #[expect(clippy::cast_possible_truncation, reason = "the places of a number's bits")]
    let first = place as u32 * 8;
    let low = number.offset.saturating_sub(first);
    let high = (number.offset + number.precision - first).min(8);
    (high - low, low)
}

/// Decodes a number of any size.
fn decode_long(number: Significant, to: &mut [u8], reader: &mut BitReader<'_>) {
    for place in number.places().rev() {
        let (bits, low) = part(number, place);
        let at = if number.is_big_endian { number.size - 1 - place } else { place };
        #[expect(clippy::cast_possible_truncation, reason = "at most 8 bits")]
        let byte = reader.read(bits) as u8;
        to[at] = byte << low;
    }
}

/// Encodes a number of any size.
fn encode_long(number: Significant, from: &[u8], writer: &mut BitWriter<'_>) {
    for place in number.places().rev() {
        let (bits, low) = part(number, place);
        let at = if number.is_big_endian { number.size - 1 - place } else { place };
        let value = u64::from(from[at]) >> low & ((1 << bits) - 1);
        writer.write(value, bits);
    }
}

fn decode_element(layout: &Layout, to: &mut [u8], reader: &mut BitReader<'_>) {
    match layout {
        &Layout::Number(number) => decode_numbers(number, to, reader),
        #[expect(clippy::cast_possible_truncation, reason = "eight bits")]
        Layout::Bytes(len) => to[..*len].iter_mut().for_each(|byte| *byte = reader.read(8) as u8),
        Layout::Array { base, count, .. } => match &**base {
            &Layout::Number(number) => decode_numbers(number, &mut to[..count * number.size], reader),
            base => {
                let items = to.chunks_exact_mut(base.size()).take(*count);
                items.for_each(|item| decode_element(base, item, reader));
            }
        },
        Layout::Compound { members, .. } => {
            for (at, member) in members {
                decode_element(member, &mut to[*at..at + member.size()], reader);
            }
        }
    }
}

fn encode_element(layout: &Layout, from: &[u8], writer: &mut BitWriter<'_>) {
    match layout {
        &Layout::Number(number) => encode_numbers(number, from, writer),
        Layout::Bytes(len) => from[..*len].iter().for_each(|&byte| writer.write(byte.into(), 8)),
        Layout::Array { base, count, .. } => match &**base {
            &Layout::Number(number) => encode_numbers(number, &from[..count * number.size], writer),
            base => {
                let items = from.chunks_exact(base.size()).take(*count);
                items.for_each(|item| encode_element(base, item, writer));
            }
        },
        Layout::Compound { members, .. } => {
            for (at, member) in members {
                encode_element(member, &from[*at..at + member.size()], writer);
            }
        }
    }
}
