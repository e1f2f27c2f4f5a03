//! Filters in the notation of the command line: `zstd:3`, `blosc2:lz4:5:bitshuffle`.

use hyperslab_filters::{FilterChoice, NOTATION};

use crate::error::Usage;

/// Returns the notation of filters, for `--help`.
pub(crate) fn help() -> String {
    format!("{NOTATION}\n  none                             no filter at all")
}

/// A filter, or `None` for the word `none`.
pub(crate) type Choice = Option<FilterChoice>;

/// A filter or `none`, with its name as given.
#[cfg(any(feature = "pio", feature = "tune"))]
#[derive(Debug, Clone)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) choice: Choice,
}

/// Parses a filter and keeps its name.
#[cfg(any(feature = "pio", feature = "tune"))]
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
    if text == "none" {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|error: hyperslab_filters::NotationError| error.to_string())
}
