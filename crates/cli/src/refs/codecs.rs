//! The codecs of Zarr (of the package numcodecs) for filters of HDF5.

use hyperslab::storage::FilterSpec;

/// The numbers of registered filters.
const DEFLATE: u16 = 1;
const SHUFFLE: u16 = 2;
const FLETCHER32: u16 = 3;
const BZIP2: u16 = 307;
const BLOSC: u16 = 32001;
const LZ4: u16 = 32004;
const ZSTD: u16 = 32015;

/// The compressors of Blosc, by number.
const BLOSC_COMPRESSORS: [&str; 6] = ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"];

/// Returns the codecs, in the order in which they encode, as JSON; or why there are none.
///
/// A filter whose bit in `skipped` is set is left out. With `imagecodecs`, codecs of that package are used,
/// too.
pub(super) fn codecs(filters: &[FilterSpec], skipped: u32, imagecodecs: bool) -> Result<Vec<String>, String> {
    let mut codecs = Vec::with_capacity(filters.len());
    // Zarr's shuffle wants whole elements, which HDF5's does not.
    let mut is_whole = true;
    for (index, filter) in filters.iter().enumerate() {
        let bit = u32::try_from(index).ok().and_then(|index| 1_u32.checked_shl(index)).unwrap_or(0);
        if skipped & bit != 0 {
            continue;
        }
        let parameter = |at: usize, default: u32| filter.client_data.get(at).copied().unwrap_or(default);
        let codec = match filter.id {
            DEFLATE => format!(r#"{{"id":"zlib","level":{}}}"#, parameter(0, 6).min(9)),
            SHUFFLE if parameter(0, 1) <= 1 => continue,
            SHUFFLE if is_whole => format!(r#"{{"id":"shuffle","elementsize":{}}}"#, parameter(0, 1)),
            SHUFFLE => return Err("Zarr has no shuffle after another filter".to_owned()),
            FLETCHER32 => r#"{"id":"fletcher32"}"#.to_owned(),
            BZIP2 => format!(r#"{{"id":"bz2","level":{}}}"#, parameter(0, 9).clamp(1, 9)),
            BLOSC => {
                let name = BLOSC_COMPRESSORS.get(parameter(6, 0) as usize).copied().unwrap_or("lz4");
                let (level, shuffle) = (parameter(4, 5).min(9), parameter(5, 1).min(2));
                format!(
                    r#"{{"id":"blosc","cname":"{name}","clevel":{level},"shuffle":{shuffle},"blocksize":0}}"#
                )
            }
            ZSTD => format!(r#"{{"id":"zstd","level":{}}}"#, parameter(0, 3).cast_signed()),
            LZ4 if imagecodecs => r#"{"id":"imagecodecs_lz4h5"}"#.to_owned(),
            id => return Err(unmapped(id, filter.name.as_deref())),
        };
        is_whole = false;
        codecs.push(codec);
    }
    Ok(codecs)
}

fn unmapped(id: u16, name: Option<&str>) -> String {
    let known = hyperslab_filters::registry::registered_name(hyperslab_filters::FilterId(id)).or(name);
    let known = known.map_or_else(|| format!("filter {id}"), |name| format!("filter {id} ({name})"));
    let more = if id == LZ4 { "; the package imagecodecs has one (--imagecodecs)" } else { "" };
    format!("numcodecs has no codec for {known}{more}: `hyperslab repack` can change the filters")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(id: u16, client_data: &[u32]) -> FilterSpec {
        FilterSpec { id, name: None, flags: 0, client_data: client_data.to_vec() }
    }

    #[test]
    fn a_filter_without_a_codec_is_refused_unless_all_chunks_skip_it() {
        let filters = [filter(SHUFFLE, &[4]), filter(32026, &[]), filter(DEFLATE, &[4])];
        assert!(codecs(&filters, 0, false).unwrap_err().contains("32026"));
        assert!(codecs(&filters, 2, false).is_ok_and(|codecs| codecs.len() == 2));
        assert!(codecs(&[filter(LZ4, &[])], 0, false).unwrap_err().contains("--imagecodecs"));
        assert!(codecs(&[filter(LZ4, &[])], 0, true).is_ok());
    }

    #[test]
    fn shuffle_comes_first_or_is_refused() {
        let filters = [filter(DEFLATE, &[4]), filter(SHUFFLE, &[4])];
        assert!(codecs(&filters, 0, false).is_err());
        assert_eq!(codecs(&filters, 1, false).unwrap(), [r#"{"id":"shuffle","elementsize":4}"#]);
        assert_eq!(codecs(&[filter(SHUFFLE, &[1])], 0, false).unwrap(), [""; 0]);
    }
}
