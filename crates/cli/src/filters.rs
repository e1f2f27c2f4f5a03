//! Filters in the notation of the command line: `zstd:3`, `blosc2:lz4:5:bitshuffle`.

use hyperslab::filter::{Bitshuffle, Blosc, Blosc2, Bzip2, Deflate, Lz4, Szip, Zstd};
use hyperslab_filters::{BitshuffleCodec, BloscCodec, BloscFilter, FilterChoice, SzipMethod, ZfpMode};

use crate::error::Usage;

/// The notation of filters, for `--help`.
pub(crate) const HELP: &str = "\
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
                                   the filter shuffle
  none                             no filter at all";

/// The names of filters, for messages.
const NAMES: &str = "gzip, zstd, bzip2, lz4, lzf, snappy, shuffle, fletcher32, nbit, szip, scaleoffset, zfp, \
                     bitshuffle, blosc, blosc2 and none";

/// A filter, or `None` for the word `none`.
pub(crate) type Choice = Option<FilterChoice>;

/// A filter or `none`, with its name as given.
#[derive(Debug, Clone)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) choice: Choice,
}

/// Parses a filter and keeps its name.
pub(crate) fn named(text: &str) -> Result<Named, String> {
    Ok(Named { name: text.to_owned(), choice: parse(text)? })
}

/// Returns the given filters, or `None` if no filter was given. The word `none` gives an empty list, and must
/// not be combined with other filters.
pub(crate) fn chosen(named: &[Choice]) -> Result<Option<Vec<FilterChoice>>, Usage> {
    if named.len() > 1 && named.contains(&None) {
        return Err(Usage("--filter none cannot be combined with other filters".to_owned()));
    }
    Ok((!named.is_empty()).then(|| named.iter().flatten().cloned().collect()))
}

/// Parses a filter.
pub(crate) fn parse(text: &str) -> Result<Choice, String> {
    let mut parts = text.split(':');
    let name = parts.next().unwrap_or_default();
    let choice = match name {
        "none" => None,
        "gzip" | "deflate" => {
            Some(Deflate::default().level(number(parts.next(), Deflate::default().level)?).into())
        }
        "zstd" => Some(Zstd::default().level(number(parts.next(), Zstd::default().level)?).into()),
        "lz4" => Some(Lz4::default().into()),
        "bzip2" => {
            Some(Bzip2::default().block_size(number(parts.next(), Bzip2::default().block_size)?).into())
        }
        "szip" => Some(szip(&mut parts)?),
        "nbit" => Some(FilterChoice::NBit),
        "scaleoffset" => Some(FilterChoice::ScaleOffset { factor: number(parts.next(), 0)? }),
        "zfp" => Some(FilterChoice::Zfp { mode: zfp(&mut parts)? }),
        "snappy" => Some(FilterChoice::Snappy),
        "lzf" => Some(FilterChoice::Lzf),
        "shuffle" => Some(FilterChoice::Shuffle),
        "fletcher32" => Some(FilterChoice::Fletcher32),
        "bitshuffle" => Some(Bitshuffle::default().codec(bitshuffle_codec(&mut parts)?).into()),
        "blosc" => {
            let Blosc { codec, level, filter, .. } = Blosc::default();
            let (codec, level, filter) = blosc(&mut parts, codec, level, filter)?;
            Some(FilterChoice::Blosc { codec, level, filter })
        }
        "blosc2" => {
            let Blosc2 { codec, level, filter, .. } = Blosc2::default();
            let (codec, level, filter) = blosc(&mut parts, codec, level, filter)?;
            Some(FilterChoice::Blosc2 { codec, level, filter })
        }
        other => return Err(format!("the filter must be one of {NAMES}, not {other:?}")),
    };
    if let Some(rest) = parts.next() {
        return Err(format!("{name} takes no parameter {rest:?}"));
    }
    choice.as_ref().map_or(Ok(()), FilterChoice::check).map_err(|error| error.to_string())?;
    Ok(choice)
}

fn number<T: std::str::FromStr>(text: Option<&str>, otherwise: T) -> Result<T, String> {
    text.map_or(Ok(otherwise), |text| text.parse().map_err(|_| format!("{text:?} is not a number")))
}

fn szip<'t>(parts: &mut impl Iterator<Item = &'t str>) -> Result<FilterChoice, String> {
    let method = match parts.next() {
        None | Some("nn") => SzipMethod::NearestNeighbor,
        Some("ec") => SzipMethod::Entropy,
        Some(other) => return Err(format!("szip has no method {other:?}: nn or ec")),
    };
    Ok(FilterChoice::Szip {
        method,
        pixels_per_block: number(parts.next(), Szip::default().pixels_per_block)?,
    })
}

fn zfp<'t>(parts: &mut impl Iterator<Item = &'t str>) -> Result<ZfpMode, String> {
    let missing = |what| format!("zfp:{what} needs a number");
    Ok(match parts.next() {
        None | Some("reversible") => ZfpMode::Reversible,
        Some(what @ "rate") => ZfpMode::Rate(number(Some(parts.next().ok_or_else(|| missing(what))?), 0.0)?),
        Some(what @ "precision") => {
            ZfpMode::Precision(number(Some(parts.next().ok_or_else(|| missing(what))?), 0)?)
        }
        Some(what @ "accuracy") => {
            ZfpMode::Accuracy(number(Some(parts.next().ok_or_else(|| missing(what))?), 0.0)?)
        }
        Some(other) => return Err(format!("zfp has no mode {other:?}")),
    })
}

fn bitshuffle_codec<'t>(parts: &mut impl Iterator<Item = &'t str>) -> Result<BitshuffleCodec, String> {
    Ok(match parts.next() {
        None => Bitshuffle::default().codec,
        Some("none") => BitshuffleCodec::None,
        Some("lz4") => BitshuffleCodec::Lz4,
        Some("zstd") => BitshuffleCodec::Zstd { level: number(parts.next(), Zstd::default().level)? },
        Some(other) => return Err(format!("bitshuffle has no codec {other:?}")),
    })
}

/// Parses the parameters of Blosc 1 and 2, with defaults.
fn blosc<'t>(
    parts: &mut impl Iterator<Item = &'t str>,
    codec: BloscCodec,
    level: u32,
    filter: BloscFilter,
) -> Result<(BloscCodec, u32, BloscFilter), String> {
    Ok((blosc_codec(parts.next(), codec)?, number(parts.next(), level)?, blosc_filter(parts.next(), filter)?))
}

fn blosc_codec(text: Option<&str>, otherwise: BloscCodec) -> Result<BloscCodec, String> {
    Ok(match text {
        None => otherwise,
        Some("blosclz") => BloscCodec::BloscLz,
        Some("lz4") => BloscCodec::Lz4,
        Some("lz4hc") => BloscCodec::Lz4Hc,
        Some("snappy") => BloscCodec::Snappy,
        Some("zlib") => BloscCodec::Zlib,
        Some("zstd") => BloscCodec::Zstd,
        Some(other) => return Err(format!("Blosc has no codec {other:?}")),
    })
}

fn blosc_filter(text: Option<&str>, otherwise: BloscFilter) -> Result<BloscFilter, String> {
    Ok(match text {
        None => otherwise,
        Some("shuffle") => BloscFilter::Shuffle,
        Some("bitshuffle") => BloscFilter::BitShuffle,
        Some("noshuffle") => BloscFilter::None,
        Some(other) => return Err(format!("Blosc has no filter {other:?}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_parsed_with_their_parameters() {
        let blosc2 = |codec, level, filter| FilterChoice::Blosc2 { codec, level, filter };
        let cases = [
            ("none", None),
            ("gzip", Some(FilterChoice::Deflate { level: 4 })),
            ("zstd:-5", Some(FilterChoice::Zstd { level: -5 })),
            ("lzf", Some(FilterChoice::Lzf)),
            ("gzip:9", Some(FilterChoice::Deflate { level: 9 })),
            ("bzip2:5", Some(FilterChoice::Bzip2 { block_size: 5 })),
            ("szip", Some(Szip::default().into())),
            ("szip:ec:16", Some(FilterChoice::Szip { method: SzipMethod::Entropy, pixels_per_block: 16 })),
            ("scaleoffset:3", Some(FilterChoice::ScaleOffset { factor: 3 })),
            ("zfp:accuracy:1e-3", Some(FilterChoice::Zfp { mode: ZfpMode::Accuracy(1e-3) })),
            ("zfp:reversible", Some(FilterChoice::Zfp { mode: ZfpMode::Reversible })),
            ("blosc", Some(Blosc::default().into())),
            ("blosc2", Some(blosc2(BloscCodec::BloscLz, 5, BloscFilter::Shuffle))),
            ("bitshuffle", Some(Bitshuffle::default().into())),
            ("bitshuffle:none", Some(Bitshuffle::default().codec(BitshuffleCodec::None).into())),
            ("blosc2:lz4:9:bitshuffle", Some(blosc2(BloscCodec::Lz4, 9, BloscFilter::BitShuffle))),
            (
                "bitshuffle:zstd:1",
                Some(FilterChoice::Bitshuffle { block: 0, codec: BitshuffleCodec::Zstd { level: 1 } }),
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text), Ok(expected), "{text}");
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
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
