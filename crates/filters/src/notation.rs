//! Filters in words: `zstd:3`, `blosc2:lz4:5:bitshuffle`. One notation for everything that takes text.

use std::str::FromStr;

use crate::choice::{BitshuffleCodec, BloscCodec, BloscFilter, FilterChoice, SzipMethod};
use crate::chosen::{Bitshuffle, Blosc, Blosc2, Bzip2, Deflate, Lz4, Szip, Zstd};
use crate::zfp::ZfpMode;

/// The notation, for help texts.
pub const NOTATION: &str = "\
Filters:
  gzip[:LEVEL]                     LEVEL is 0 to 9, by default 4
  zstd[:LEVEL]                     LEVEL is at most 22, by default 3
  bzip2[:SIZE]                     SIZE is 1 to 9 times 100,000 bytes, by default 9
  lz4   lzf   snappy   shuffle   fletcher32   nbit
  szip[:nn|:ec[:PIXELS]]           PIXELS of a block, an even number up to 32, by default 8
  scaleoffset[:FACTOR]             bits of integers (0: as many as needed), decimal places of floats
  zfp:rate:BITS   zfp:precision:PLANES   zfp:accuracy:ERROR   zfp:reversible
  bitshuffle[:lz4|:zstd[:LEVEL]|:none]   by default with lz4
  blosc[:CODEC[:LEVEL[:shuffle|bitshuffle|noshuffle]]]
  blosc2, with the same parts      CODEC is blosclz (default of blosc2), lz4 (default of blosc),
                                   lz4hc, zlib, zstd, or snappy (blosc only); LEVEL is by default 5, and
                                   the filter shuffle; blosc2 has delta and truncate, too";

/// The names of filters, for messages.
const NAMES: &str = "gzip, zstd, bzip2, lz4, lzf, snappy, shuffle, fletcher32, nbit, szip, scaleoffset, zfp, \
                     bitshuffle, blosc and blosc2";

/// Why a text is not a filter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotationError(String);

impl From<String> for NotationError {
    fn from(why: String) -> Self {
        Self(why)
    }
}

/// Parses a filter in the [notation](NOTATION).
///
/// ```
/// use hyperslab_filters::FilterChoice;
///
/// let zstd: FilterChoice = "zstd:9".parse()?;
/// assert_eq!(zstd, FilterChoice::Zstd { level: 9 });
/// assert!("zstd:99".parse::<FilterChoice>().is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl FromStr for FilterChoice {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Self, NotationError> {
        let mut parts = text.split(':');
        let name = parts.next().unwrap_or_default();
        let choice = match name {
            "gzip" | "deflate" => Deflate { level: number(parts.next(), Deflate::default().level)? }.into(),
            "zstd" => Zstd { level: number(parts.next(), Zstd::default().level)? }.into(),
            "lz4" => Lz4::default().into(),
            "bzip2" => Bzip2 { block_size: number(parts.next(), Bzip2::default().block_size)? }.into(),
            "szip" => szip(&mut parts)?,
            "nbit" => Self::NBit,
            "scaleoffset" => Self::ScaleOffset { factor: number(parts.next(), 0)? },
            "zfp" => Self::Zfp { mode: zfp_mode(&mut parts)? },
            "snappy" => Self::Snappy,
            "lzf" => Self::Lzf,
            "shuffle" => Self::Shuffle,
            "fletcher32" => Self::Fletcher32,
            "bitshuffle" => Bitshuffle::default().codec(bitshuffle_codec(&mut parts)?).into(),
            "blosc" => {
                let Blosc { codec, level, filter } = Blosc::default();
                let (codec, level, filter) = blosc(&mut parts, codec, level, filter)?;
                Self::Blosc { codec, level, filter }
            }
            "blosc2" => {
                let Blosc2 { codec, level, filter } = Blosc2::default();
                let (codec, level, filter) = blosc(&mut parts, codec, level, filter)?;
                Self::Blosc2 { codec, level, filter }
            }
            other => return Err(format!("the filter must be one of {NAMES}, not {other:?}").into()),
        };
        if let Some(rest) = parts.next() {
            return Err(format!("{name} takes no parameter {rest:?}").into());
        }
        choice.check().map_err(|error| error.to_string())?;
        Ok(choice)
    }
}

fn number<T: std::str::FromStr>(text: Option<&str>, otherwise: T) -> Result<T, String> {
    text.map_or(Ok(otherwise), |text| text.parse().map_err(|_| format!("{text:?} is not a number")))
}

/// Returns what a word stands for; `otherwise` if there is none.
fn word<T: Copy>(what: &str, text: Option<&str>, words: &[(&str, T)], otherwise: T) -> Result<T, String> {
    let Some(text) = text else { return Ok(otherwise) };
    let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
    let known = || words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
    found.ok_or_else(|| format!("{what} must be one of {}, not {text:?}", known()))
}

fn szip<'t>(parts: &mut impl Iterator<Item = &'t str>) -> Result<FilterChoice, String> {
    let usual = Szip::default();
    let method = word("the method of szip", parts.next(), &SZIP_METHODS, usual.method)?;
    Ok(FilterChoice::Szip { method, pixels_per_block: number(parts.next(), usual.pixels_per_block)? })
}

fn zfp_mode<'t>(parts: &mut impl Iterator<Item = &'t str>) -> Result<ZfpMode, String> {
    let Some(mode) = parts.next().filter(|mode| *mode != "reversible") else {
        return Ok(ZfpMode::Reversible);
    };
    let mut limit = || parts.next().ok_or_else(|| format!("zfp:{mode} needs a number")).map(Some);
    Ok(match mode {
        "rate" => ZfpMode::Rate(number(limit()?, 0.0)?),
        "precision" => ZfpMode::Precision(number(limit()?, 0)?),
        "accuracy" => ZfpMode::Accuracy(number(limit()?, 0.0)?),
        _ => {
            let modes = "rate, precision, accuracy, reversible";
            return Err(format!("the mode of zfp must be one of {modes}, not {mode:?}"));
        }
    })
}

fn bitshuffle_codec<'t>(parts: &mut impl Iterator<Item = &'t str>) -> Result<BitshuffleCodec, String> {
    let usual = BitshuffleCodec::Zstd { level: Zstd::default().level };
    let codecs = [("none", BitshuffleCodec::None), ("lz4", BitshuffleCodec::Lz4), ("zstd", usual)];
    match word("the codec of bitshuffle", parts.next(), &codecs, Bitshuffle::default().codec)? {
        BitshuffleCodec::Zstd { level } => Ok(BitshuffleCodec::Zstd { level: number(parts.next(), level)? }),
        other => Ok(other),
    }
}

/// Parses the parameters of Blosc 1 and 2, with defaults.
fn blosc<'t>(
    parts: &mut impl Iterator<Item = &'t str>,
    codec: BloscCodec,
    level: u32,
    filter: BloscFilter,
) -> Result<(BloscCodec, u32, BloscFilter), String> {
    let codec = word("the codec of Blosc", parts.next(), &BLOSC_CODECS, codec)?;
    let level = number(parts.next(), level)?;
    Ok((codec, level, word("the filter of Blosc", parts.next(), &BLOSC_FILTERS, filter)?))
}

const SZIP_METHODS: [(&str, SzipMethod); 2] =
    [("nn", SzipMethod::NearestNeighbor), ("ec", SzipMethod::Entropy)];
const BLOSC_CODECS: [(&str, BloscCodec); 6] = [
    ("blosclz", BloscCodec::BloscLz),
    ("lz4", BloscCodec::Lz4),
    ("lz4hc", BloscCodec::Lz4Hc),
    ("snappy", BloscCodec::Snappy),
    ("zlib", BloscCodec::Zlib),
    ("zstd", BloscCodec::Zstd),
];
const BLOSC_FILTERS: [(&str, BloscFilter); 5] = [
    ("shuffle", BloscFilter::Shuffle),
    ("bitshuffle", BloscFilter::BitShuffle),
    ("noshuffle", BloscFilter::None),
    ("delta", BloscFilter::Delta),
    ("truncate", BloscFilter::Truncate),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_parsed_with_their_parameters() {
        let blosc2 = |codec, level, filter| FilterChoice::Blosc2 { codec, level, filter };
        let cases = [
            ("gzip", FilterChoice::Deflate { level: 4 }),
            ("zstd:-5", FilterChoice::Zstd { level: -5 }),
            ("lzf", FilterChoice::Lzf),
            ("gzip:9", FilterChoice::Deflate { level: 9 }),
            ("bzip2:5", FilterChoice::Bzip2 { block_size: 5 }),
            ("szip", Szip::default().into()),
            ("szip:ec:16", FilterChoice::Szip { method: SzipMethod::Entropy, pixels_per_block: 16 }),
            ("scaleoffset:3", FilterChoice::ScaleOffset { factor: 3 }),
            ("zfp:accuracy:1e-3", FilterChoice::Zfp { mode: ZfpMode::Accuracy(1e-3) }),
            ("zfp:reversible", FilterChoice::Zfp { mode: ZfpMode::Reversible }),
            ("blosc", Blosc::default().into()),
            ("blosc2", blosc2(BloscCodec::BloscLz, 5, BloscFilter::Shuffle)),
            ("bitshuffle", Bitshuffle::default().into()),
            ("bitshuffle:none", Bitshuffle::default().codec(BitshuffleCodec::None).into()),
            ("blosc2:lz4:9:bitshuffle", blosc2(BloscCodec::Lz4, 9, BloscFilter::BitShuffle)),
            (
                "bitshuffle:zstd:1",
                FilterChoice::Bitshuffle { block: 0, codec: BitshuffleCodec::Zstd { level: 1 } },
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(text.parse(), Ok(expected), "{text}");
        }
        for text in [
            "",
            "zip",
            "gzip:x",
            "gzip:10",
            "gzip:4:5",
            "bzip2:0",
            "zstd:23",
            "blosc2:lz4:10",
            "lzf:1",
            "blosc:lz5",
            "bitshuffle:gzip",
            "zstd:3:4",
            "zfp:rate",
            "szip:x",
            "none",
            "blosc:lz4:5:delta",
        ] {
            assert!(text.parse::<FilterChoice>().is_err(), "{text}");
        }
    }
}
