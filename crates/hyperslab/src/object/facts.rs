//! What the header of an object says of the object itself.

use hyperslab_error::Result;
use hyperslab_format::header::Prefix;
use hyperslab_format::message::group_info::PhaseChange;
use hyperslab_format::message::small::{Comment, ModificationTime, OldModificationTime};

use super::Object;

/// Facts about an object that its header holds (spec IV.A).
#[derive(Debug, Clone)]
pub struct HeaderFacts {
    /// The version of the header.
    pub version: u8,
    /// The number of messages.
    pub messages: usize,
    /// The number of chunks: the first one and all continuations.
    pub chunks: usize,
    /// The time of the last change in seconds since 1970, if it is stored.
    pub modified: Option<u32>,
    /// The comment, if there is one.
    pub comment: Option<String>,
    /// Whether the creation order of attributes is stored.
    pub tracks_attribute_order: bool,
    /// Whether the creation order of attributes has an index.
    pub indexes_attribute_order: bool,
    /// The numbers of attributes at which these move between the header and a heap.
    pub phase_change: PhaseChange,
}

impl Object {
    /// Returns what the header says of the object.
    #[doc(hidden)]
    pub fn header_facts(&self) -> Result<HeaderFacts> {
        let facts = || {
            let (header, store) = (self.header()?, self.store());
            let modified = match header.find::<ModificationTime>(store)? {
                Some(time) => Some(time.seconds),
                None => header.find::<OldModificationTime>(store)?.and_then(|old| seconds(old.digits)),
            };
            let inner = header.object_header();
            Ok(HeaderFacts {
                version: match inner.prefix {
                    Prefix::V1 { .. } => 1,
                    Prefix::V2(_) => 2,
                },
                messages: inner.messages().count(),
                chunks: inner.chunks.len(),
                modified,
                comment: header.find::<Comment>(store)?.map(|comment| comment.text),
                tracks_attribute_order: header.tracks_attribute_order(),
                indexes_attribute_order: header.indexes_attribute_order(),
                phase_change: header.phase_change(),
            })
        };
        facts().map_err(|error: crate::Error| error.at(&self.path))
    }
}

/// Returns the seconds since 1970 of a date `YYYYMMDDhhmmss`, or `None` if it is not one.
fn seconds(digits: [u8; 14]) -> Option<u32> {
    let number =
        |range: std::ops::Range<usize>| std::str::from_utf8(&digits[range]).ok()?.parse::<i64>().ok();
    let (year, month, day) = (number(0..4)?, number(4..6)?, number(6..8)?);
    let (hour, minute, second) = (number(8..10)?, number(10..12)?, number(12..14)?);
    // The days from 1 March of the year 0, when leap days end a year.
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    let since_1970 = days - 719_468;
    u32::try_from(((since_1970 * 24 + hour) * 60 + minute) * 60 + second).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_become_seconds() {
        assert_eq!(seconds(*b"19700101000000"), Some(0));
        assert_eq!(seconds(*b"20000229235959"), Some(951_868_799));
        assert_eq!(seconds(*b"2000022923595x"), None);
    }

    #[test]
    fn a_new_object_has_no_time_and_no_comment() {
        let file = crate::File::in_memory().unwrap();
        let facts = file.root().create_group("g").unwrap().header_facts().unwrap();
        assert_eq!((facts.version, facts.modified, facts.comment), (2, None, None));
        assert!(facts.messages > 0 && facts.chunks == 1 && !facts.tracks_attribute_order);
    }
}
