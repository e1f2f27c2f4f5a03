//! ZFP streams in chunks.

use zfp_rs::codec::block::encode_block;
use zfp_rs::{
    ZfpBitStream, ZfpBitStreamRef, ZfpBitStreamRefMut, ZfpConfig, ZfpDimensionality, ZfpFieldMetadata,
    ZfpFieldMut, ZfpHeaderMask, ZfpScalar, ZfpScalarType, ZfpStreamAlignment,
};

use super::ZfpMode;
use crate::error::{FilterError, Result};
use crate::facts::{ChunkFacts, Element, Kind, Order};
use crate::filter::{Encoded, Filter, FilterId, Scratch, expansion_bound, prefix};

/// The filter for one dataset.
#[derive(Debug)]
pub struct Zfp {
    config: ZfpConfig,
    scalar: ZfpScalarType,
    /// The lengths of the dimensions, the fastest one first, and zeros.
    dims: [usize; 4],
    /// Whether the other byte order was native where the dataset was created.
    is_swapped: bool,
    /// The bytes of a chunk.
    len: usize,
}

impl Zfp {
    const NAME: &'static str = "zfp";
    /// The version of ZFP, of its codec and of the plugin: those of hdf5plugin.
    const VERSION: u32 = 0x1010_5111;

    /// Creates the filter from its client data.
    pub fn new(client_data: &[u32]) -> Result<Self> {
        let words = client_data.get(1..).unwrap_or_default();
        let header = |words: &mut dyn Iterator<Item = u32>| {
            let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
            ZfpBitStream::from_bytes(&bytes).ok()?.read_header(ZfpHeaderMask::FULL).ok()
        };
        let native = header(&mut words.iter().copied());
        let is_swapped = native.is_none();
        let found = native.or_else(|| header(&mut words.iter().map(|word| word.swap_bytes())));
        let Some((Some(metadata), Some(config))) = found.map(|header| (header.metadata, header.config))
        else {
            let value = words.first().copied().unwrap_or(0).into();
            return Err(wrong("header", value, "a header of ZFP's codec 5"));
        };
        let ZfpFieldMetadata { scalar_type: scalar, dims } = metadata;
        let used = dims.iter().take_while(|&&len| len > 0);
        let len = used.fold(scalar.size(), |len, &side| len.saturating_mul(side));
        Ok(Self { config, scalar, dims, is_swapped, len })
    }

    /// Returns the client data for chunks of a dataset.
    pub(crate) fn client_data(mode: ZfpMode, chunk: &ChunkFacts<'_>) -> Result<Vec<u32>> {
        let Element::Number(number) = chunk.element else {
            return Err(wrong("element size", chunk.element.size() as u64, "that of an integer or a float"));
        };
        if number.order != Order::Little {
            return Err(wrong("byte order", 1, "little-endian: ZFP reads elements as native numbers"));
        }
        let scalar = match (number.kind, number.size) {
            (Kind::Unsigned | Kind::Signed, 4) => ZfpScalarType::I32,
            (Kind::Unsigned | Kind::Signed, 8) => ZfpScalarType::I64,
            (Kind::Float, 4) => ZfpScalarType::F32,
            (Kind::Float, 8) => ZfpScalarType::F64,
            (_, size) => return Err(wrong("element size", size as u64, "4 or 8, of an integer or a float")),
        };
        let Some((dims, rank)) = dims_of(chunk.shape) else { return Ok(mode.parameters()) };
        let config = match mode {
            ZfpMode::Rate(rate) => ZfpConfig::fixed_rate(rate, scalar, rank, ZfpStreamAlignment::Unaligned)
                .map_err(|_| wrong("rate", rate.to_bits(), "bits for each element"))?,
            ZfpMode::Precision(planes) => ZfpConfig::fixed_precision(planes),
            ZfpMode::Accuracy(tolerance) => ZfpConfig::fixed_accuracy(tolerance),
            ZfpMode::Reversible => ZfpConfig::reversible(),
            ZfpMode::Expert { min_bits, max_bits, max_precision, min_exponent } => {
                ZfpConfig::expert(min_bits, max_bits, max_precision, min_exponent)
                    .map_err(|_| wrong("minbits", min_bits.into(), "at most maxbits, and maxprec 1 to 64"))?
            }
        };
        header(&config, ZfpFieldMetadata { scalar_type: scalar, dims })
    }

    /// Returns the client data for chunks of another shape, or `None` if they do not fit the element.
    pub fn refitted(client_data: &[u32], element_size: usize, shape: &[usize]) -> Option<Vec<u32>> {
        let filter = Self::new(client_data).ok()?;
        let (dims, _) =
            dims_of(shape).filter(|_| filter.scalar.size() == element_size && !filter.is_swapped)?;
        header(&filter.config, ZfpFieldMetadata { scalar_type: filter.scalar, dims }).ok()
    }

    /// Returns the mode in client data, with all parameters of the codec. A rate depends on the dimensions.
    pub fn mode(client_data: &[u32]) -> Option<ZfpMode> {
        Some(mode_of(&Self::new(client_data).ok()?.config))
    }

    fn decode<T: ZfpScalar>(&self, stream: &[u64], dst: &mut [u8], aligned: &mut Vec<u64>) -> Result<()> {
        let damaged = || FilterError::damaged(Self::NAME, "the compressed bytes do not decode");
        let decode = |field: &mut [T]| -> Result<()> {
            let mut field = ZfpFieldMut::new(field, self.dims).map_err(|_| damaged())?;
            ZfpBitStreamRef::from_words(stream)
                .decompress(&self.config, &mut field)
                .map_err(|_| damaged())?;
            Ok(())
        };
        if let Ok(field) = bytemuck::try_cast_slice_mut(dst) {
            return decode(field);
        }
        let words = dst.len().div_ceil(8);
        if aligned.len() < words {
            aligned.resize(words, 0);
        }
        let bytes = &mut bytemuck::cast_slice_mut(&mut aligned[..words])[..dst.len()];
        decode(bytemuck::try_cast_slice_mut(bytes).map_err(|_| damaged())?)?;
        dst.copy_from_slice(bytes);
        Ok(())
    }

    /// Encodes all blocks. Returns the number of bits.
    fn encode<T: ZfpScalar>(&self, src: &[u8], stream: &mut [u64], aligned: &mut Vec<u64>) -> Result<u64> {
        let field: &[T] = if let Ok(field) = bytemuck::try_cast_slice(src) {
            field
        } else {
            let words = src.len().div_ceil(8);
            if aligned.len() < words {
                aligned.resize(words, 0);
            }
            let bytes = &mut bytemuck::cast_slice_mut(&mut aligned[..words])[..src.len()];
            bytes.copy_from_slice(src);
            let misaligned = |_| FilterError::damaged(Self::NAME, "the chunk cannot be encoded");
            bytemuck::try_cast_slice(bytes).map_err(misaligned)?
        };
        let mut stream = ZfpBitStreamRefMut::from_words(stream);
        let rank = self.dims.iter().take_while(|&&len| len > 0).count();
        let dimensionality = u32::try_from(rank).ok().and_then(|rank| ZfpDimensionality::try_from(rank).ok());
        let failed = || FilterError::damaged(Self::NAME, "the chunk cannot be encoded");
        let dimensionality = dimensionality.ok_or_else(failed)?;
        let [nx, ny, nz, nw] = self.dims.map(|len| len.max(1));
        let sides = std::array::from_fn(|axis| if axis < rank { SIDE } else { 1 });
        let mut block = [T::default(); SIDE * SIDE * SIDE * SIDE];
        let block = &mut block[..dimensionality.block_size()];
        for w in (0..nw).step_by(SIDE) {
            for z in (0..nz).step_by(SIDE) {
                for y in (0..ny).step_by(SIDE) {
                    for x in (0..nx).step_by(SIDE) {
                        gather(field, [nx, ny, nz, nw], [x, y, z, w], sides, block);
                        encode_block(&mut stream, &self.config, block, dimensionality)
                            .map_err(|_| failed())?;
                    }
                }
            }
        }
        let bits = stream.write_pos();
        stream.flush();
        if stream.overflowed() { Err(failed()) } else { Ok(bits) }
    }
}

/// Returns all parameters of the codec.
fn mode_of(config: &ZfpConfig) -> ZfpMode {
    ZfpMode::Expert {
        min_bits: config.min_bits(),
        max_bits: config.max_bits(),
        max_precision: config.max_prec(),
        min_exponent: config.min_exp(),
    }
}

fn wrong(parameter: &'static str, value: u64, expected: &'static str) -> FilterError {
    FilterError::Parameter { filter: Zfp::NAME, parameter, value, expected }
}

/// Returns the lengths of the dimensions that are longer than 1, the fastest one first, and their number.
/// `None` if there are none, or more than four.
fn dims_of(shape: &[usize]) -> Option<([usize; 4], ZfpDimensionality)> {
    let mut dims = [0; 4];
    let mut used = 0;
    for &side in shape.iter().rev().filter(|&&side| side > 1) {
        *dims.get_mut(used)? = side;
        used += 1;
    }
    let rank = ZfpDimensionality::try_from(u32::try_from(used).ok()?).ok()?;
    Some((dims, rank))
}

/// Returns the client data: the version, and ZFP's header.
fn header(config: &ZfpConfig, metadata: ZfpFieldMetadata) -> Result<Vec<u32>> {
    let mut header = [0; 3];
    let mut stream = ZfpBitStreamRefMut::from_words(&mut header);
    let bits = stream
        .write_header(config, &metadata, ZfpHeaderMask::FULL)
        .map_err(|_| wrong("chunk shape", metadata.dims[0] as u64, "sides that ZFP's header can hold"))?;
    stream.flush();
    let words = header.iter().flat_map(|word| {
        let [a, b, c, d, e, f, g, h] = word.to_le_bytes();
        [u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])]
    });
    Ok(std::iter::once(Zfp::VERSION).chain(words.take(bits.div_ceil(32))).collect())
}

/// The elements of a block along each dimension.
const SIDE: usize = 4;

/// Returns the element in place of each one of a block that has only `inside` elements along a dimension.
/// ZFP fills blocks so, to keep the differences small.
fn places(inside: usize) -> [usize; SIDE] {
    match inside {
        1 => [0, 0, 0, 0],
        2 => [0, 1, 1, 0],
        3 => [0, 1, 2, 0],
        _ => [0, 1, 2, 3],
    }
}

/// Copies the elements of a block.
#[inline]
fn gather<T: Copy>(field: &[T], shape: [usize; 4], at: [usize; 4], sides: [usize; 4], block: &mut [T]) {
    let pitch = [1, shape[0], shape[0] * shape[1], shape[0] * shape[1] * shape[2]];
    let start = (0..4).map(|axis| at[axis] * pitch[axis]).sum::<usize>();
    let rows = block.as_chunks_mut::<SIDE>().0;
    if (0..4).all(|axis| shape[axis] - at[axis] >= sides[axis]) {
        for (number, row) in rows.iter_mut().enumerate() {
            let (y, z, w) = (number % SIDE, number / SIDE % SIDE, number / SIDE / SIDE);
            let from = start + y * pitch[1] + z * pitch[2] + w * pitch[3];
            row.copy_from_slice(&field[from..from + SIDE]);
        }
        return;
    }
    let places: [_; 4] = std::array::from_fn(|axis| places(shape[axis] - at[axis]));
    for (number, row) in rows.iter_mut().enumerate() {
        let (y, z, w) = (number % SIDE, number / SIDE % SIDE, number / SIDE / SIDE);
        let from = start + places[1][y] * pitch[1] + places[2][z] * pitch[2] + places[3][w] * pitch[3];
        *row = places[0].map(|x| field[from + x]);
    }
}

/// Calls a generic method with the type of the elements.
macro_rules! with_scalar {
    ($self:ident . $method:ident ($($argument:expr),*)) => {
        match $self.scalar {
            ZfpScalarType::I32 => $self.$method::<i32>($($argument),*),
            ZfpScalarType::I64 => $self.$method::<i64>($($argument),*),
            ZfpScalarType::F32 => $self.$method::<f32>($($argument),*),
            ZfpScalarType::F64 => $self.$method::<f64>($($argument),*),
        }
    };
}

impl Filter for Zfp {
    fn id(&self) -> FilterId {
        FilterId::ZFP
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<usize> {
        let dst = prefix(Self::NAME, dst, self.len)?;
        let [stream, aligned] = &mut scratch.words;
        stream.clear();
        let (words, rest) = src.as_chunks();
        stream.extend(words.iter().map(|&word| u64::from_le_bytes(word)));
        if !rest.is_empty() {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            stream.push(u64::from_le_bytes(last));
        }
        with_scalar!(self.decode(stream, dst, aligned))?;
        if self.is_swapped {
            dst.chunks_exact_mut(self.scalar.size()).for_each(<[u8]>::reverse);
        }
        Ok(self.len)
    }

    fn encode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<Encoded> {
        if src.len() != self.len {
            let (expected, found) = (self.len as u64, src.len() as u64);
            return Err(FilterError::Length { filter: Self::NAME, expected, found });
        }
        if self.is_swapped {
            return Ok(Encoded::Skipped);
        }
        let most = self.config.maximum_size(self.scalar, self.dims).unwrap_or(usize::MAX);
        let [stream, aligned] = &mut scratch.words;
        if stream.len() < most.div_ceil(8) {
            stream.resize(most.div_ceil(8), 0);
        }
        let bits = with_scalar!(self.encode(src, stream, aligned))?;
        let len = usize::try_from(bits.div_ceil(8)).unwrap_or(usize::MAX);
        if len > self.decode_bound(src.len()) {
            return Ok(Encoded::Skipped);
        }
        let dst = prefix(Self::NAME, dst, len)?;
        for (to, word) in dst.chunks_mut(8).zip(&*stream) {
            to.copy_from_slice(&word.to_le_bytes()[..to.len()]);
        }
        Ok(Encoded::Stored(len))
    }

    fn encode_bound(&self, len: usize) -> usize {
        // Chunks of another length are not encoded.
        if len == self.len { self.config.maximum_size(self.scalar, self.dims).unwrap_or(0) } else { 0 }
    }

    fn decode_bound(&self, decoded: usize) -> usize {
        // Blocks that are filled up can have several times as many bits as their elements.
        let most = self.encode_bound(decoded).min(decoded.saturating_mul(16));
        expansion_bound(decoded).max(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_mode_is_the_default_of_the_library() {
        assert_eq!(mode_of(&ZfpConfig::new()), ZfpMode::default());
    }
}
