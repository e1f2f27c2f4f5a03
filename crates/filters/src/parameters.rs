//! The parameters of filters in the order of their plug-ins, as `H5Pset_filter` and h5py's `compression_opts`
//! take them.

use crate::choice::{BitshuffleCodec, BloscCodec, BloscFilter, FilterChoice, SzipMethod};
use crate::chosen::{Bzip2, Deflate, Szip, Zstd};
use crate::error::{FilterError, Result};
use crate::filter::FilterId;
use crate::registry::registered_name;
use crate::zfp::{Zfp, ZfpMode};

/// The options of szip: entropy coding, alone or of differences.
const ENTROPY: u32 = 4;
const NEAREST_NEIGHBOR: u32 = 32;

impl FilterChoice {
    /// Returns the filter `id` with parameters in the order of its plug-in. Missing parameters have the
    /// plug-in's defaults. A filter that is not in this crate keeps all of its parameters.
    ///
    /// Errors: a parameter that the plug-in does not have.
    ///
    /// ```
    /// use hyperslab_filters::{FilterChoice, FilterId};
    ///
    /// let zstd = FilterChoice::from_parameters(FilterId::ZSTD, &[9])?;
    /// assert_eq!(zstd, FilterChoice::Zstd { level: 9 });
    /// # Ok::<(), hyperslab_filters::FilterError>(())
    /// ```
    pub fn from_parameters(id: FilterId, given: &[i64]) -> Result<Self> {
        let filter = registered_name(id).unwrap_or("filter");
        let wrong = |parameter, value: i64, expected| FilterError::Parameter {
            filter,
            parameter,
            value: value.unsigned_abs(),
            expected,
        };
        let option = |index: usize, otherwise: i64| given.get(index).copied().unwrap_or(otherwise);
        let number = |parameter, index, otherwise| {
            let value = option(index, otherwise);
            u32::try_from(value).map_err(|_| wrong(parameter, value, "0 to 2^32 - 1"))
        };
        Ok(match id {
            FilterId::DEFLATE => {
                Self::Deflate { level: number("level", 0, Deflate::default().level.into())? }
            }
            FilterId::SHUFFLE => Self::Shuffle,
            FilterId::FLETCHER32 => Self::Fletcher32,
            FilterId::SZIP => {
                let method = match number("options mask", 0, NEAREST_NEIGHBOR.into())? {
                    mask if mask & ENTROPY != 0 => SzipMethod::Entropy,
                    mask if mask & NEAREST_NEIGHBOR != 0 => SzipMethod::NearestNeighbor,
                    mask => return Err(wrong("options mask", mask.into(), "with 4 (ec) or 32 (nn)")),
                };
                let pixels = Szip::default().pixels_per_block.into();
                Self::Szip { method, pixels_per_block: number("pixels per block", 1, pixels)? }
            }
            FilterId::NBIT => Self::NBit,
            // The scale type follows from the datatype.
            FilterId::SCALE_OFFSET => Self::ScaleOffset { factor: level(option(1, 0)) },
            FilterId::BZIP2 => {
                Self::Bzip2 { block_size: number("block size", 0, Bzip2::default().block_size.into())? }
            }
            FilterId::LZF => Self::Lzf,
            FilterId::SNAPPY => Self::Snappy,
            FilterId::ZFP => {
                let mode = zfp_mode(given);
                let mode = mode.ok_or_else(|| wrong("mode", option(0, 0), "1 to 5"))?;
                Self::Zfp { mode }
            }
            FilterId::LZ4 => Self::Lz4 { block_size: number("block size", 0, 0)? },
            FilterId::ZSTD => Self::Zstd { level: level(option(0, Zstd::default().level.into())) },
            FilterId::BITSHUFFLE => Self::Bitshuffle {
                block: number("block size", 0, 0)?,
                codec: match option(1, 2) {
                    0 => BitshuffleCodec::None,
                    2 => BitshuffleCodec::Lz4,
                    3 => BitshuffleCodec::Zstd { level: level(option(2, Zstd::default().level.into())) },
                    other => return Err(wrong("codec", other, "0, 2 (LZ4) or 3 (Zstandard)")),
                },
            },
            FilterId::BLOSC | FilterId::BLOSC2 => {
                let (level, shuffle, codec) = (number("level", 4, 5)?, option(5, 1), option(6, 0));
                let found = u32::try_from(shuffle).ok().and_then(BloscFilter::of);
                let filter = found.ok_or_else(|| wrong("shuffle", shuffle, "0 to 4"))?;
                let found = u32::try_from(codec).ok().and_then(BloscCodec::of);
                let codec = found.ok_or_else(|| wrong("codec", codec, "0 to 5"))?;
                if id == FilterId::BLOSC {
                    Self::Blosc { codec, level, filter }
                } else {
                    Self::Blosc2 { codec, level, filter }
                }
            }
            id => {
                let value = |&value: &i64| {
                    u32::try_from(value).map_err(|_| wrong("client data", value, "0 to 2^32 - 1"))
                };
                Self::Registered { id, client_data: given.iter().map(value).collect::<Result<_>>()? }
            }
        })
    }

    /// Returns the parameters in the order of the filter's plug-in: [`from_parameters`](Self::from_parameters)
    /// returns the same filter.
    pub fn to_parameters(&self) -> Vec<i64> {
        match self {
            Self::Shuffle | Self::Fletcher32 | Self::NBit | Self::Lzf | Self::Snappy => Vec::new(),
            Self::Deflate { level } => vec![i64::from(*level)],
            Self::Szip { method, pixels_per_block } => {
                let mask = if *method == SzipMethod::Entropy { ENTROPY } else { NEAREST_NEIGHBOR };
                vec![mask.into(), i64::from(*pixels_per_block)]
            }
            Self::ScaleOffset { factor } => vec![0, i64::from(*factor)],
            Self::Bzip2 { block_size } | Self::Lz4 { block_size } => vec![i64::from(*block_size)],
            Self::Zfp { mode } => zfp_words(*mode).map(i64::from).to_vec(),
            Self::Zstd { level } => vec![i64::from(*level)],
            Self::Bitshuffle { block, codec } => match codec {
                BitshuffleCodec::None => vec![i64::from(*block), 0],
                BitshuffleCodec::Lz4 => vec![i64::from(*block), 2],
                BitshuffleCodec::Zstd { level } => vec![i64::from(*block), 3, i64::from(*level)],
            },
            Self::Blosc { codec, level, filter } | Self::Blosc2 { codec, level, filter } => {
                vec![0, 0, 0, 0, i64::from(*level), *filter as i64, *codec as i64]
            }
            Self::Registered { client_data, .. } => client_data.iter().map(|&word| word.into()).collect(),
        }
    }
}

/// Returns the parameters of ZFP's plug-in for a mode.
fn zfp_words(mode: ZfpMode) -> [u32; 6] {
    let float = |kind, limit: f64| {
        let [a, b, c, d, e, f, g, h] = limit.to_le_bytes();
        [kind, 0, u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]), 0, 0]
    };
    match mode {
        ZfpMode::Rate(rate) => float(1, rate),
        ZfpMode::Precision(planes) => [2, 0, planes, 0, 0, 0],
        ZfpMode::Accuracy(error) => float(3, error),
        ZfpMode::Expert { min_bits, max_bits, max_precision, min_exponent } => {
            [4, 0, min_bits, max_bits, max_precision, min_exponent.cast_unsigned()]
        }
        ZfpMode::Reversible => [5, 0, 0, 0, 0, 0],
    }
}

/// Returns the mode of ZFP in the parameters of its plug-in, or in stored client data.
fn zfp_mode(given: &[i64]) -> Option<ZfpMode> {
    let words: Vec<u32> = given.iter().map(|&value| level(value).cast_unsigned()).collect();
    let word = |place: usize| words.get(place).copied().unwrap_or(0);
    let float = || f64::from_bits(u64::from(word(2)) | u64::from(word(3)) << 32);
    Some(match word(0) {
        0 if given.is_empty() => ZfpMode::default(),
        1 => ZfpMode::Rate(float()),
        2 => ZfpMode::Precision(word(2)),
        3 => ZfpMode::Accuracy(float()),
        4 => ZfpMode::Expert {
            min_bits: word(2),
            max_bits: word(3),
            max_precision: word(4),
            min_exponent: word(5).cast_signed(),
        },
        5 => ZfpMode::Reversible,
        _ => return Zfp::mode(&words),
    })
}

/// Returns a level that is given as a signed number, or as its two's complement in an unsigned number.
fn level(value: i64) -> i32 {
    i32::try_from(value).or_else(|_| u32::try_from(value).map(u32::cast_signed)).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_give_the_filter_that_they_come_from() {
        let texts = [
            "gzip:7",
            "zstd:-5",
            "bzip2:3",
            "lz4",
            "lzf",
            "snappy",
            "shuffle",
            "fletcher32",
            "nbit",
            "szip:ec:16",
            "szip",
            "scaleoffset:3",
            "zfp:rate:3.5",
            "zfp:precision:16",
            "zfp:accuracy:1e-3",
            "zfp:reversible",
            "bitshuffle",
            "bitshuffle:zstd:7",
            "bitshuffle:none",
            "blosc",
            "blosc2:lz4:9:truncate",
        ];
        let expert = ZfpMode::Expert { min_bits: 1, max_bits: 2, max_precision: 3, min_exponent: -4 };
        let registered = FilterChoice::Registered { id: FilterId(400), client_data: vec![1, u32::MAX] };
        let parsed = texts.map(|text| text.parse::<FilterChoice>().unwrap());
        for filter in parsed.into_iter().chain([FilterChoice::Zfp { mode: expert }, registered]) {
            let parameters = filter.to_parameters();
            assert_eq!(FilterChoice::from_parameters(filter.id(), &parameters), Ok(filter));
        }
    }
}
