//! One range of the file, from the server: pieces as they arrive, of the version that was opened.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::TryStreamExt;
use hyperslab::driver::Traffic;
use object_store::{GetOptions, GetRange, GetResult, ObjectMeta};

use crate::connect::Connection;
use crate::error::{changed, of_store, without_ranges};

/// What distinguishes one version of a file on a server from another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Version {
    pub(crate) len: u64,
    tag: Option<String>,
    /// The time of the last change in seconds, for servers without tags.
    modified: Option<i64>,
}

impl Version {
    pub(crate) fn of(meta: &ObjectMeta) -> Self {
        let modified = meta.e_tag.is_none().then(|| meta.last_modified.timestamp());
        Self { len: meta.size, tag: meta.e_tag.clone(), modified }
    }

    /// Returns the conditions under which the server may answer. Servers compare strong tags only; others
    /// are compared when the answer is there.
    fn conditions(&self) -> GetOptions {
        let is_strong = |tag: &String| !tag.starts_with("W/");
        GetOptions { if_match: self.tag.clone().filter(is_strong), ..GetOptions::default() }
    }
}

/// Counts requests and bytes of a file.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    requests: AtomicU64,
    bytes: AtomicU64,
}

impl Counts {
    pub(crate) fn traffic(&self) -> Traffic {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Traffic { requests: load(&self.requests), bytes: load(&self.bytes) }
    }
}

/// Gets the bytes of `range` from the server, and calls `take` with the offset of each piece and its bytes.
///
/// Errors: those of the server; the file has another version by now. A connection that ends early is made
/// again, for the rest.
pub(crate) async fn get(
    connection: &Connection,
    version: &Version,
    range: Range<u64>,
    counts: &Counts,
    take: &mut (dyn FnMut(u64, Bytes) + Send),
) -> io::Result<()> {
    let mut at = range.start;
    let mut pause = FIRST_PAUSE;
    for turn in 1.. {
        let options = GetOptions { range: Some(GetRange::Bounded(at..range.end)), ..version.conditions() };
        // The store has repeated a request without an answer already.
        let found = request(connection, options, counts).await.map_err(|error| of_store(&error))?;
        if Version::of(&found.meta) != *version {
            return Err(changed());
        }
        let ended = body(found, &mut at, range.end, counts, take).await;
        if at >= range.end {
            break;
        }
        if turn == MOST_TURNS {
            return Err(ended.err().unwrap_or_else(ended_early));
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
    Ok(())
}

/// Takes the pieces of an answer, from offset `at` on. On return, `at` is the end of what has arrived.
async fn body(
    found: GetResult,
    at: &mut u64,
    end: u64,
    counts: &Counts,
    take: &mut (dyn FnMut(u64, Bytes) + Send),
) -> io::Result<()> {
    let mut pieces = found.into_stream();
    while let Some(mut piece) = pieces.try_next().await.map_err(|error| of_store(&error))? {
        piece.truncate(usize::try_from(end - *at).unwrap_or(usize::MAX));
        counts.bytes.fetch_add(piece.len() as u64, Ordering::Relaxed);
        let start = *at;
        *at += piece.len() as u64;
        take(start, piece);
    }
    Ok(())
}

async fn request(
    connection: &Connection,
    options: GetOptions,
    counts: &Counts,
) -> Result<GetResult, object_store::Error> {
    counts.requests.fetch_add(1, Ordering::Relaxed);
    connection.store.get_opts(&connection.path, options).await
}

/// Gets the first `most` bytes of the file, or the whole file if it is shorter, and the version of the file.
///
/// A server that does not serve ranges sends the whole file, if it has at most `whole` bytes.
pub(crate) async fn front(
    connection: &Connection,
    most: u64,
    whole: u64,
    counts: &Counts,
) -> io::Result<(Version, Vec<u8>)> {
    let options = GetOptions { range: Some(GetRange::Bounded(0..most)), ..GetOptions::default() };
    let (found, has_ranges) = match request(connection, options, counts).await {
        Ok(found) => (found, true),
        Err(error) => {
            let text = error.to_string();
            if ![WHOLE, NO_RANGES, EMPTY].iter().any(|message| text.contains(message)) {
                return Err(of_store(&error));
            }
            // The server does not serve ranges, or an empty file has none.
            let found = request(connection, GetOptions::default(), counts).await;
            let found = found.map_err(|error| of_store(&error))?;
            if found.meta.size > whole {
                return Err(without_ranges(found.meta.size));
            }
            (found, false)
        }
    };
    let (version, end) = (Version::of(&found.meta), found.range.end);
    let mut bytes = Vec::new();
    let len = usize::try_from(end).unwrap_or(usize::MAX);
    bytes.try_reserve_exact(len).map_err(|_| io::ErrorKind::OutOfMemory)?;
    let mut take = |_, piece: Bytes| bytes.extend_from_slice(&piece);
    let mut at = 0;
    let ended = body(found, &mut at, end, counts, &mut take).await;
    if at < end && has_ranges {
        get(connection, &version, at..end, counts, &mut take).await?;
    } else if at < end {
        return Err(ended.err().unwrap_or_else(ended_early));
    }
    Ok((version, bytes))
}

fn ended_early() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionAborted, "the server ended its answer early, several times")
}

/// The beginning of the library's message about an answer that is the whole file.
const WHOLE: &str = "Received non-partial response";
/// The same of plain HTTP.
const NO_RANGES: &str = "Range request not supported";
/// The status of a range that is not in the file.
const EMPTY: &str = "416 Range Not Satisfiable";
/// How often a range, or the rest of it, is requested.
const MOST_TURNS: u32 = 6;
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
